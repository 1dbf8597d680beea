/* Samplers that list folders, where a folder cannot be read to its end: what they knew stays, and
 * half of a list is not shown as the whole. Each look is tried with the disk failing after 0, 1, 2
 * ... names. */
#include <dirent.h>
#include <sys/resource.h>

#include "probe/gpu/gpu_sample.h"
#include "sampled.h"

extern const struct sampler_ops sampler_infiniband, sampler_cgroup, sampler_intel, sampler_amd;

enum { TRIES = 200 };

/* Names that are still read before the disk fails with error; -1: it does not. */
static int left = -1, error = EIO;
static bool failed;

struct dirent *__real_readdir64(DIR *dir);
struct dirent *__wrap_readdir64(DIR *dir);
struct dirent *__wrap_readdir64(DIR *dir)
{
    if (left == 0) {
        failed = true;
        errno = error;
        return NULL;
    }
    left -= left > 0;
    return __real_readdir64(dir);
}

/* Looks at second and later, with each of its reads failing once: how many of them showed other
 * rows than want. What is looked for is due at each of these seconds. */
static int looks(struct sampled *s, int second, int want, int *tries)
{
    int wrong = 0;

    *tries = 0;
    do {
        failed = false;
        left = (*tries)++;
        wrong += sampled_at(s, second += 31) != want && failed;
    } while (failed && *tries < TRIES);
    left = -1;
    return wrong;
}

static void test_known(struct sampled *s, const char *what, int rows)
{
    int tries;

    left = -1;
    is_int(sampled_open(s), 0, "the sampler of %s opens", what);
    is_int(sampled_at(s, 0), rows, "the sampler of %s has rows", what);
    is_int(looks(s, 0, rows, &tries), 0, "%s keep their rows when a folder fails", what);
    ok(tries > 3, "the folders of %s failed at each of their names: %d", what, tries);
}

/* The first look fails: nothing is shown, and the next tick looks again. */
static void test_first(struct sampled *s, const char *what, int rows)
{
    int wrong = 0, tries = 0;

    do {
        sampled_close(s);
        folder_need(sampled_open(s), what);
        failed = false;
        left = tries++;
        wrong += sampled_at(s, 0) != 0 && failed;
        left = -1;
        wrong += sampled_at(s, 1) != rows && failed;
    } while (failed && tries < TRIES);
    is_int(wrong, 0, "%s are shown all or not at all", what);
    ok(tries > 3, "the first look for %s failed at each of its names: %d", what, tries);
}

static void test_infiniband(void)
{
    struct sampled s;

    sampled_make(&s, &sampler_infiniband);
    for (int i = 0; i < 5; i++) {
        char path[128];

        snprintf(path, sizeof(path), "sys/class/infiniband/mlx5_%d/ports/1/counters/port_rcv_data",
                 i);
        folder_text(s.folder, path, "1\n");
    }
    test_known(&s, "ports", 5);
    test_first(&s, "ports", 5);
    folder_text(s.folder, "sys/class/infiniband/mlx5_9/ports/1/counters/port_rcv_data", "1\n");
    is_int(sampled_at(&s, 40), 6, "a port that came is found once its folder is read");
    sampled_remove(&s);
}

static void test_cgroups(void)
{
    struct sampled s;

    sampled_make(&s, &sampler_cgroup);
    folder_text(s.folder, "sys/fs/cgroup/cgroup.controllers", "cpu io memory\n");
    for (int i = 0; i < 5; i++) {
        char path[128];

        snprintf(path, sizeof(path),
                 "sys/fs/cgroup/system.slice/slurmstepd.scope/job_%d/memory.current", i);
        folder_text(s.folder, path, "1\n");
    }
    folder_text(s.folder, "sys/fs/cgroup/agent.slice/x.scope/memory.current", "77\n");
    folder_text(s.folder, "proc/self/cgroup", "0::/agent.slice/x.scope\n");
    test_known(&s, "groups", 6);
    test_first(&s, "groups", 6);
    sampled_remove(&s);
}

static void add_card(const struct sampled *s, int i, const char *driver, const char *id)
{
    char path[128], text[128];

    snprintf(path, sizeof(path), "sys/class/drm/card%d/device/uevent", i);
    snprintf(text, sizeof(text), "DRIVER=%s\nPCI_ID=%s\nPCI_SLOT_NAME=0000:%da:00.0\n", driver, id,
             i + 1);
    folder_text(s->folder, path, text);
    snprintf(path, sizeof(path), "sys/class/drm/card%d/device/hwmon/hwmon%d/name", i, i);
    snprintf(text, sizeof(text), "%s\n", driver);
    folder_text(s->folder, path, text);
    snprintf(path, sizeof(path), "sys/class/drm/card%d/device/hwmon/hwmon%d/energy1_input", i, i);
    folder_text(s->folder, path, "7000000\n");
}

static void test_cards(void)
{
    const char *first;
    struct sampled s;
    int tries = 0;

    sampled_make(&s, &sampler_intel);
    for (int i = 0; i < 3; i++)
        add_card(&s, i, "i915", "8086:0BD5");
    do {
        int rc;

        sampled_close(&s);
        failed = false;
        left = tries++;
        rc = sampled_open(&s);
        ok(rc == (failed ? -EIO : 0), "a look for the first cards that fails says so: %d", rc);
    } while (failed && tries < TRIES);
    left = -1;
    is_int(sampled_at(&s, 0), 3, "the sampler of cards has rows");
    is_int(looks(&s, 0, 3, &tries), 0, "cards keep their rows when a folder fails");
    add_card(&s, 3, "i915", "8086:0BD5");
    add_card(&s, 4, "i915", "8086:0BD5");
    is_int(looks(&s, 10000, 3, &tries), 0, "cards that came have no number before all are seen");
    is_int(sampled_at(&s, 20000), 5, "cards that came are found once their folder is read");
    first = signal_fact(tick_find(&s.tick, &gpu_set, "intel3"), "pci");
    is_str(first, "0000:4a:00.0", "cards that came are numbered by their place");
    sampled_remove(&s);
}

#define RAS "sys/class/drm/card0/device/ras/"

static void test_errors(void)
{
    const struct signal_row *row;
    struct sampled s;
    int wrong = 0, tries = 0;

    sampled_make(&s, &sampler_amd);
    add_card(&s, 0, "amdgpu", "1002:74A1");
    folder_text(s.folder, RAS "umc_err_count", "ue: 1\nce: 4\n");
    folder_text(s.folder, RAS "sdma_err_count", "ue: 2\nce: 3\n");
    folder_text(s.folder, RAS "gfx_err_count", "ue: 4\nce: 8\n");
    folder_need(sampled_open(&s), "cards");
    do {
        failed = false;
        left = tries;
        (void)sampled_at(&s, 31 * ++tries);
        row = tick_find(&s.tick, &gpu_error_set, "amd0");
        wrong += row && !isnan(row->values[GPU_ECC_CORRECTED]) &&
                 row->values[GPU_ECC_CORRECTED] != 15;
    } while (failed && tries < TRIES);
    left = -1;
    ok(row && row->values[GPU_ECC_CORRECTED] == 15, "errors of all parts of a card are summed");
    is_int(wrong, 0, "errors of some parts of a card are not told as those of all");
    ok(tries > 3, "the folder of errors failed at each of its names: %d", tries);
    sampled_remove(&s);
}

static void test_reasons(void)
{
    const struct signal_row *row;
    struct sampled s;

    sampled_make(&s, &sampler_intel);
    add_card(&s, 0, "i915", "8086:0BD5");
    folder_text(s.folder, "sys/class/drm/card0/gt/gt0/throttle_reason_status", "1\n");
    folder_text(s.folder, "sys/class/drm/card0/gt/gt0/throttle_reason_pl1", "1\n");
    folder_need(sampled_open(&s), "a card");
    left = 0;
    is_int(sampled_at(&s, 1), 1, "a card whose reasons were not read has no row of reasons");
    left = -1;
    (void)sampled_at(&s, 2);
    row = tick_find(&s.tick, &gpu_throttle_set, "intel0");
    ok(row && row->values[GPU_THROTTLED_POWER] == 1, "a reason that was read is told");
    sampled_remove(&s);
}

/* What was removed while it was read has no more names. */
static void test_removed(void)
{
    struct sampled s;

    sampled_make(&s, &sampler_infiniband);
    folder_text(s.folder, "sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_data", "1\n");
    folder_need(sampled_open(&s), "ports");
    is_int(sampled_at(&s, 0), 1, "a port has a row");
    error = ENOENT;
    left = 0;
    is_int(sampled_at(&s, 31), 0, "ports whose folder was removed are gone");
    left = -1;
    error = EIO;
    sampled_remove(&s);
}

/* A process that has no descriptor left cannot tell what is there. */
static void test_descriptors(void)
{
    struct rlimit was, none;
    struct sampled s;

    sampled_make(&s, &sampler_cgroup);
    folder_text(s.folder, "sys/fs/cgroup/cgroup.controllers", "memory\n");
    folder_text(s.folder, "sys/fs/cgroup/slurmstepd.scope/job_7/memory.current", "1\n");
    folder_need(sampled_open(&s), "groups");
    is_int(sampled_at(&s, 0), 1, "a group has a row");
    folder_need(getrlimit(RLIMIT_NOFILE, &was), "limits");
    none = (struct rlimit){ 3, was.rlim_max };
    folder_need(setrlimit(RLIMIT_NOFILE, &none), "limits");
    (void)sampled_at(&s, 11);
    folder_need(setrlimit(RLIMIT_NOFILE, &was), "limits");
    is_int(sampled_at(&s, 12), 1, "a group that could not be looked for is kept");
    folder_text(s.folder, "sys/fs/cgroup/slurmstepd.scope/job_8/memory.current", "1\n");
    is_int(sampled_at(&s, 13), 1, "a walk that came to its end is good for ten seconds");
    sampled_remove(&s);
}

int main(void)
{
    test_infiniband();
    test_cgroups();
    test_cards();
    test_errors();
    test_reasons();
    test_removed();
    test_descriptors();
    return done();
}
