/* Settings of the machine: read and set in copies of the kernel's files, and through a driver's
 * library that plays a script ("now"; "absent": there is none); allocations failing. */
#include "run/setting/machine_setting.h"

#include "base/file.h"
#include "fixture.h"
#include "folder.h"
#include "oom.h"
#include "tap.h"

#define FAKE "FAKE_NVML"
#define KB "queue/read_ahead_kb"
#define POLICY "sys/devices/system/cpu/cpufreq/policy"

static const char gpus[] = "[gpu 0]\nbdf = 1:00.0\npower_limit_mw = 700000\n"
                           "[gpu 1]\nbdf = 2:00.0\npower_limit_mw = 287500\n"
                           "[live]\nlimit_least_mw = 200000\nlimit_most_mw = 700000\n";

static int put(struct machine_settings *l, const char *target, const char *thing, const char *value,
               struct err *e)
{
    struct machine_setting_line line;

    snprintf(line.target, sizeof(line.target), "%s", target);
    snprintf(line.thing, sizeof(line.thing), "%s", thing);
    snprintf(line.value, sizeof(line.value), "%s", value);
    return machine_setting_put(l, &line, e);
}

static const char *text_of(const char *root, const char *path)
{
    static char text[64];
    char full[PATH_MAX];
    FILE *f;

    folder_path(root, path, full);
    f = fopen(full, "re");
    text[f ? fread(text, 1, sizeof(text) - 1, f) : 0] = 0;
    if (f)
        fclose(f);
    return text;
}

static void is_read(struct machine_settings *l, const char *target, const char *want)
{
    CLEANUP(str_done) struct str out = STR_INIT(4096);
    struct err e = { "" };

    is_int(machine_setting_read(l, target, &out, &e), 0, "machine_setting_read reads '%s': %s",
           target, e.text);
    is_str(str_text(&out), want, "%s as it is", target);
}

static void is_absent(struct machine_settings *l, const char *target, const char *why)
{
    CLEANUP(str_done) struct str out = STR_INIT(4096);
    struct err e = { "" };

    ok(machine_setting_read(l, target, &out, &e) < 0, "%s: there is none", target);
    ok(strstr(e.text, why), "the error of %s names what is missing: %s", target, e.text);
}

static void check_disks(const char *root)
{
    struct machine_settings l;
    struct err e = { "" };

    folder_text(root, "sys/block/nvme0n1/stat", "  10  0 1000 0 0\n");
    folder_text(root, "sys/block/nvme0n1/" KB, "128\n");
    folder_text(root, "sys/block/dm-0/stat", "10 0 1000 0 0\n");
    folder_text(root, "sys/block/dm-0/" KB, "256\n");
    folder_text(root, "sys/block/loop0/stat", "10 0 9000 0 0\n");
    machine_settings_init(&l, &(const struct machine_setting_about){ .root = root });
    is_absent(&l, "disk.readahead", "no disk of this machine was read from");
    folder_text(root, "sys/block/nvme0n1/stat", "90 0 5000 0 0\n");
    folder_text(root, "sys/block/loop0/stat", "90 0 99000 0 0\n");
    is_read(&l, "disk.readahead", "disk.readahead nvme0n1 128\n");
    folder_text(root, "sys/block/dm-0/stat", "90 0 50000 0 0\n");
    is_read(&l, "disk.readahead", "disk.readahead nvme0n1 128\n");
    is_int(put(&l, "disk.readahead", "nvme0n1", "4096", &e), 0, "read-ahead of a disk is set: %s",
           e.text);
    is_str(text_of(root, "sys/block/nvme0n1/" KB), "4096", "the kernel has it");
    ok(put(&l, "disk.readahead", "../x", "1", &e) < 0, "a path is no disk: %s", e.text);
    ok(put(&l, "disk.readahead", "nvme0n1", "lots", &e) < 0, "a word is no number: %s", e.text);
    machine_settings_init(&l, &(const struct machine_setting_about){ .root = root });
    folder_text(root, "sys/block/dm-0/stat", "99 0 90000 0 0\n");
    folder_text(root, "sys/block/nvme0n1/stat", "99 0 50000 0 0\n");
    is_read(&l, "disk.readahead", "disk.readahead dm-0 256\n");
}

/* One of a machine's disks, which have read so many sectors so far. */
static void set_disk(const char *root, const char *name, unsigned sectors)
{
    char path[128], text[64];

    snprintf(path, sizeof(path), "sys/block/%s/stat", name);
    snprintf(text, sizeof(text), "  7 3 %u 9 9\n", sectors);
    folder_text(root, path, text);
    snprintf(path, sizeof(path), "sys/block/%s/" KB, name);
    folder_text(root, path, "64\n");
}

/* Which disk a job reads: the busiest one, and what lies upon it where that counts half as much. */
static void check_choice(const char *folder)
{
    static const struct {
        unsigned sda, sdb, dm, md; /* sectors that were read since */
        const char *name;          /* NULL: none */
    } cases[] = {
        { 0, 0, 0, 0, NULL },
        { 1, 0, 0, 0, "sda" },
        { 1, 2, 0, 0, "sdb" },
        { 3, 2, 0, 0, "sda" },
        { 0, 0, 1, 0, "dm-0" },
        { 0, 0, 1, 2, "md127" },
        { 0, 0, 3, 2, "dm-0" },
        { 4000, 0, 1999, 0, "sda" },
        { 4000, 0, 2000, 0, "dm-0" },
        { 900, 4000, 0, 1999, "sdb" },
        { 900, 4001, 0, 2000, "md127" },
    };
    static const char *const none[] = { "ram0", "loop3", "zram0", "sr0", "fd0", ".x" };
    struct err e = { "" };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct machine_settings l;
        char root[PATH_MAX], want[128];

        snprintf(want, sizeof(want), "choice%zu", i);
        folder_folder(folder, want);
        snprintf(root, sizeof(root), "%.4000s/choice%zu", folder, i);
        set_disk(root, "sda", 10000);
        set_disk(root, "sdb", 20000);
        set_disk(root, "dm-0", 30000);
        set_disk(root, "md127", 40000);
        set_disk(root, "zram0", 0);
        machine_settings_init(&l, &(const struct machine_setting_about){ .root = root });
        is_int((long long)l.n_disks, 4, "case %zu has four disks", i);
        set_disk(root, "sda", 10000 + cases[i].sda);
        set_disk(root, "sdb", 20000 + cases[i].sdb);
        set_disk(root, "dm-0", 30000 + cases[i].dm);
        set_disk(root, "md127", 40000 + cases[i].md);
        set_disk(root, "zram0", 999999);
        if (!cases[i].name) {
            is_absent(&l, "disk.readahead", "no disk of this machine was read from");
            continue;
        }
        snprintf(want, sizeof(want), "disk.readahead %s 64\n", cases[i].name);
        is_read(&l, "disk.readahead", want);
        for (size_t k = 0; k < ARRAY_SIZE(none); k++)
            ok(put(&l, "disk.readahead", none[k], "1", &e) < 0 &&
                   strstr(e.text, "is no read-ahead"),
               "'%s' is no disk: %s", none[k], e.text);
    }
}

static void check_lines(void)
{
    static const struct {
        const char *text;
        size_t n;          /* lines that are whole */
        const char *value; /* that all have; NULL: they differ */
    } cases[] = {
        { "a b 1\n", 1, "1" },           { "a b 1", 1, "1" },           { "a b\n", 0, NULL },
        { "a b 1 2\n", 0, NULL },        { "a b 1 \n", 1, "1" },        { "\n\na b 1\n", 1, "1" },
        { "a b 1\nx\na c 1\n", 2, "1" }, { "a b 1\na c 2\n", 2, NULL }, { "a  1\n", 0, NULL },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct machine_setting_line line;
        const char *at = cases[i].text;
        char value[LEVER_WORD];
        size_t n = 0;

        while (machine_setting_next(&at, &line))
            n++;
        is_int((long long)n, (long long)cases[i].n, "text %zu has its lines", i);
        is_str(machine_setting_same(cases[i].text, value), cases[i].value, "text %zu has its value",
               i);
    }
}

static void check_governors(const char *root)
{
    struct machine_settings l;
    struct err e = { "" };
    char value[LEVER_WORD];

    machine_settings_init(&l, &(const struct machine_setting_about){ .root = root });
    is_absent(&l, "cpu.governor", "have no governor");
    folder_text(root, POLICY "0/scaling_governor", "powersave\n");
    is_read(&l, "cpu.governor", "cpu.governor policy0 powersave\n");
    is_int(put(&l, "cpu.governor", "policy0", "performance", &e), 0,
           "the governor of a policy is set: %s", e.text);
    is_str(text_of(root, POLICY "0/scaling_governor"), "performance", "the kernel has it");
    ok(put(&l, "cpu.governor", "policy9", "performance", &e) < 0 && strstr(e.text, "policy9"),
       "CPUs that there are not: %s", e.text);
    is_absent(&l, "fan.speed", "no setting 'fan.speed'");
    ok(!machine_setting_same("a x 1\na y 2\n", value), "things that differ have no value");
    is_str(machine_setting_same("a x 1\na y 1\n", value), "1", "things that agree have one value");
    ok(!machine_setting_same("", value), "nothing has none");
}

static void check_power(void)
{
    struct machine_settings l;
    struct err e = { "" };
    char limits[256];

    fixture_script(FAKE, gpus);
    machine_settings_init(&l, &(const struct machine_setting_about){ .root = "" });
    is_read(&l, "power.limit", "power.limit 0 700\npower.limit 1 287.5\n");
    is_int(put(&l, "power.limit", "1", "250", &e), 0, "a lower limit of power is set: %s", e.text);
    is_read(&l, "power.limit", "power.limit 0 700\npower.limit 1 250\n");
    is_int(put(&l, "power.limit", "1", "287.5", &e), 0, "the first limit of power is set again: %s",
           e.text);
    ok(put(&l, "power.limit", "0", "100", &e) < 0, "less than it takes");
    is_str(e.text, "GPU 0 takes limits of power from 200 to 700 W",
           "the error names the limits that the GPU takes");
    ok(put(&l, "power.limit", "7", "300", &e) < 0, "a GPU that there is not: %s", e.text);
    machine_settings_done(&l);
    machine_settings_init(&l, &(const struct machine_setting_about){ .root = "", .gpus = "1" });
    is_read(&l, "power.limit", "power.limit 1 287.5\n");
    machine_settings_done(&l);
    fixture_script(FAKE, "[fake]\nnvmlDeviceSetPowerManagementLimit = no_permission\n"
                         "[gpu 0]\nbdf = 1:00.0\npower_limit_mw = 700000\n");
    machine_settings_init(&l, &(const struct machine_setting_about){ .root = "" });
    ok(put(&l, "power.limit", "0", "300", &e) < 0,
       "a limit of power cannot be set without permission");
    is_str(e.text, "the limit of power of GPU 0 can be set by root alone",
           "the error names that root alone sets the limit");
    machine_settings_done(&l);
    snprintf(limits, sizeof(limits), "%s.limits", getenv(FAKE));
    unlink(limits);
}

static void check_clocks(void)
{
    static const char script[] = "[gpu 0]\nbdf = 1:00.0\nsm_clock_max_mhz = 1980\n"
                                 "[gpu 1]\nbdf = 2:00.0\nsm_clock_max_mhz = 1410\n";
    struct machine_settings l;
    struct err e = { "" };
    char clocks[256];
    struct str told = STR_INIT(4096);

    fixture_script(FAKE, script);
    snprintf(clocks, sizeof(clocks), "%s.clocks", getenv(FAKE));
    machine_settings_init(&l, &(const struct machine_setting_about){ .root = "" });
    is_read(&l, "clock.limit", "clock.limit 0 1980\nclock.limit 1 1410\n");
    is_int(put(&l, "clock.limit", "1", "1100", &e), 0, "a clock is locked: %s", e.text);
    is_read(&l, "clock.limit", "clock.limit 0 1980\nclock.limit 1 1100\n");
    is_int(put(&l, "clock.limit", "1", "1410", &e), 0, "the highest clock lifts a lock: %s",
           e.text);
    is_read(&l, "clock.limit", "clock.limit 0 1980\nclock.limit 1 1410\n");
    is_int(file_read(clocks, &told, NULL), 0, "the driver was asked for both");
    is_str(str_text(&told), "1 1100\n1 0\n", "the driver has locked the clock and lifted the lock");
    str_done(&told);
    ok(put(&l, "clock.limit", "0", "0", &e) < 0, "no clock at all is no lock: %s", e.text);
    ok(put(&l, "clock.limit", "x", "900", &e) < 0, "a word is no GPU for a lock: %s", e.text);
    ok(put(&l, "clock.limit", "7", "900", &e) < 0, "a GPU that is not there has no lock: %s",
       e.text);
    machine_settings_done(&l);
    unlink(clocks);
    fixture_script(FAKE, "[fake]\nnvmlDeviceSetGpuLockedClocks = no_permission\n"
                         "[gpu 0]\nbdf = 1:00.0\nsm_clock_max_mhz = 1980\n");
    machine_settings_init(&l, &(const struct machine_setting_about){ .root = "" });
    ok(put(&l, "clock.limit", "0", "900", &e) < 0, "a clock can not be locked without permission");
    is_str(e.text, "the locked clock of GPU 0 can be set by root alone",
           "the error names that root alone locks clocks");
    is_read(&l, "clock.limit", "clock.limit 0 1980\n");
    machine_settings_done(&l);
}

/* What an operator has locked is seen by the clock alone. */
static void check_locks(void)
{
    static const struct {
        const char *gpu, *gpus; /* lines of GPU 1; what the job has */
        int rc;
        const char *why;
    } cases[] = {
        { "sm_clock_mhz = 1410\nsm_clock_max_mhz = 1410\n", NULL, 0, "" },
        { "sm_clock_mhz = 1425\nsm_clock_max_mhz = 1410\n", NULL, 0, "" },
        { "sm_clock_mhz = 1395\nsm_clock_max_mhz = 1410\n", NULL, -EBUSY,
          "GPU 1 runs at 1395 of 1410 MHz: its clock may be locked already, which no driver tells, "
          "and could not be put back" },
        { "sm_clock_mhz = 1395\nsm_clock_max_mhz = 1410\n", "0", 0, "" },
        { "sm_clock_max_mhz = 1410\n", NULL, -ENOTSUP,
          "GPU 1 has no locked clock that could be set" },
        { "sm_clock_mhz = 1410\n", NULL, -ENOTSUP, "GPU 1 has no locked clock that could be set" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct machine_settings l;
        struct err e = { "" };
        char script[512];

        snprintf(script, sizeof(script),
                 "[gpu 0]\nbdf = 1:00.0\nsm_clock_mhz = 1980\nsm_clock_max_mhz = 1980\n"
                 "[gpu 1]\nbdf = 2:00.0\n%s",
                 cases[i].gpu);
        fixture_script(FAKE, script);
        machine_settings_init(
            &l, &(const struct machine_setting_about){ .root = "", .gpus = cases[i].gpus });
        is_int(machine_setting_check(&l, "clock.limit", &e), cases[i].rc,
               "case %zu of clocks is checked: %s", i, e.text);
        is_str(e.text, cases[i].why, "case %zu of clocks has its sentence", i);
        is_int(machine_setting_check(&l, "power.limit", &e), 0, "a limit of power can be put back");
        is_int(machine_setting_check(&l, "fan.speed", &e), -ENOENT, "no fan can be put back");
        machine_settings_done(&l);
    }
}

static void check_memory(const char *root)
{
    bool failed;

    do {
        CLEANUP(str_done) struct str out = STR_INIT(4096);
        struct machine_settings l;
        struct err e = { "" };
        int rc;

        machine_settings_init(&l, &(const struct machine_setting_about){ .root = root });
        oom_next();
        rc = machine_setting_read(&l, "cpu.governor", &out, &e);
        failed = oom_end();
        ok(failed ? rc == -ENOMEM : rc == 0,
           "machine_setting_read with allocation %d failing returns %d", oom_at, rc);
        machine_settings_done(&l);
    } while (failed);
}

int main(int argc, char **argv)
{
    char root[PATH_MAX];

    folder_make(root);
    if (argc > 1 && !strcmp(argv[1], "absent")) {
        struct machine_settings l;

        machine_settings_init(&l, &(const struct machine_setting_about){ .root = root });
        is_absent(&l, "power.limit", "no NVIDIA driver library");
        machine_settings_done(&l);
    } else {
        check_disks(root);
        check_choice(root);
        check_lines();
        check_governors(root);
        check_power();
        check_clocks();
        check_locks();
        check_memory(root);
    }
    fixture_done();
    folder_remove(root);
    return done();
}
