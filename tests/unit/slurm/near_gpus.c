/* Which CPUs are beside the GPUs of a task of Slurm, and whether it is bound to them: of the plugin
 * (plugins/slurm/near.c). */
#include "../../../plugins/slurm/near.h"

#include "folder.h"
#include "tap.h"

static void test_gpus(void)
{
    static const struct {
        const char *visible, *granted;
        uint64_t want; /* 0: that cannot be told */
    } cases[] = {
        { "0", "0", 1 },
        { "0,1", "0,1", 3 },
        { "1", "0,1", 2 },
        { "0", "5", 1 << 5 }, /* counted among those that Slurm confines it to */
        { "0,1", "4,6", 0x50 },
        { "6", "4,6", 1 << 6 }, /* not confined */
        { "1", "1,2", 0 },      /* 1, or the second of them */
        { "0", "1,2", 2 },
        { "2", "1,2", 4 },
        { "3", "1,2", 0 },
        { "0", "", 0 },
        { "", "0", 0 },
        { "", "", 0 },
        { "GPU-1234", "0", 0 },
        { "0x", "0", 0 },
        { "0,", "0", 0 },
        { "64", "64", 0 },
        { "63", "63", UINT64_C(1) << 63 },
        { "99999999999999999999", "0", 0 },
        { "-1", "0", 0 },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        uint64_t got = 0;
        const char *why = near_gpus(cases[i].visible, cases[i].granted, &got);

        ok(!why == (cases[i].want != 0), "GPUs '%s' of '%s' are told or not (%s)", cases[i].visible,
           cases[i].granted, why ? why : "told");
        ok(got == cases[i].want, "GPUs '%s' of '%s' are these", cases[i].visible, cases[i].granted);
    }
}

/* A GPU with a minor number, beside CPUs. */
static void add_gpu(const char *root, const char *address, int minor, const char *cpus)
{
    char path[256], text[256];

    snprintf(path, sizeof(path), "proc/driver/nvidia/gpus/%s/information", address);
    snprintf(text, sizeof(text), "Model: \t\t H100\nDevice Minor: \t %d\nBus Location: x\n", minor);
    folder_text(root, path, text);
    snprintf(path, sizeof(path), "sys/bus/pci/devices/%s/local_cpulist", address);
    folder_text(root, path, cpus);
}

static int count(const char *root, uint64_t gpus)
{
    cpu_set_t set;

    return near_cpus(root, gpus, &set) ? -1 : CPU_COUNT(&set);
}

static void test_cpus(void)
{
    char root[PATH_MAX];
    cpu_set_t set;

    folder_make(root);
    is_int(count(root, 1), -1, "a node without GPUs tells nothing");
    add_gpu(root, "0000:81:00.0", 0, "4-7,12-15\n");
    add_gpu(root, "0000:01:00.0", 1, "0-3\n");
    add_gpu(root, "0000:02:00.0", 2, "0-3\n");
    add_gpu(root, "0000:03:00.0", 3, "\n");
    add_gpu(root, "0000:04:00.0", 4, "3-1\n");
    add_gpu(root, "0000:05:00.0", 5, "0-999999999999\n");
    add_gpu(root, "0000:07:00.0", 7, "0-3 5\n");
    folder_text(root, "proc/driver/nvidia/gpus/0000:06:00.0/information", "Device Minor: x\n");
    is_int(count(root, 1), 8, "a GPU is known by its minor number");
    ok(!near_cpus(root, 1, &set) && CPU_ISSET(15, &set) && !CPU_ISSET(8, &set),
       "a GPU has the CPUs of its list");
    is_int(count(root, 6), 4, "two GPUs at one place have the same CPUs");
    is_int(count(root, 3), 12, "two GPUs have the CPUs of both");
    is_int(count(root, 1 << 3 | 1), -1, "a GPU without CPUs leaves all untold");
    is_int(count(root, 1 << 4), -1, "a list that falls is none");
    is_int(count(root, 1 << 5), -1, "a list with a CPU that no set holds is none");
    is_int(count(root, 1 << 6), -1, "a GPU that is not there is not told");
    is_int(count(root, 1 << 7), -1, "a list with something behind it is none");
    is_int(count(root, 0), -1, "no GPUs have no CPUs");
    folder_remove(root);
}

static cpu_set_t cpus(int first, int last)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    for (int i = first; i <= last; i++)
        CPU_SET((size_t)i, &set);
    return set;
}

static void test_choice(void)
{
    static const struct {
        int may[2], near[2];
        unsigned tasks, each;
        int want; /* so many CPUs; 0: it has no others; -1: it is let alone */
    } cases[] = {
        { { 0, 15 }, { 0, 7 }, 1, 1, 8 },  { { 0, 15 }, { 0, 7 }, 1, 8, 8 },
        { { 0, 15 }, { 0, 7 }, 1, 9, -1 }, { { 0, 15 }, { 0, 7 }, 2, 1, 8 },
        { { 0, 16 }, { 0, 7 }, 2, 1, -1 }, /* half of 17 are 9 */
        { { 0, 15 }, { 0, 15 }, 4, 4, 0 }, { { 0, 3 }, { 0, 15 }, 4, 4, 0 },
        { { 0, 3 }, { 4, 7 }, 1, 1, -1 }, /* never beyond what it may use */
        { { 0, 3 }, { 3, 7 }, 1, 0, 1 },   { { 0, 3 }, { 4, 7 }, 1, 0, -1 },
        { { 0, 3 }, { 3, 7 }, 0, 1, 1 },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        cpu_set_t may = cpus(cases[i].may[0], cases[i].may[1]), got;
        cpu_set_t near = cpus(cases[i].near[0], cases[i].near[1]);
        const char *why = near_choose(&may, &near, cases[i].tasks, cases[i].each, &got);

        is_int(!why ? CPU_COUNT(&got) : *why ? -1 : 0, cases[i].want, "the choice %zu is right", i);
    }
}

int main(void)
{
    test_gpus();
    test_cpus();
    test_choice();
    return done();
}
