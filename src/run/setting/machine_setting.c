#include "run/setting/machine_setting.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/parse.h"
#include "probe/nvidia/nvml_power.h"
#include "run/job/environ.h"

enum { PATH_MOST = 512, TEXT = 512, SECTORS_AT = 3 /* word of a disk's stat: sectors read */ };

static const char power_limit[] = "power.limit", clock_limit[] = "clock.limit",
                  disk_readahead[] = "disk.readahead", cpu_governor[] = "cpu.governor";
static const char blocks[] = "/sys/block", policies[] = "/sys/devices/system/cpu/cpufreq";
static const double mw_per_w = 1000, watts_most = 1e5;

enum { MHZ_MOST = 100000, CLOCK_LOOKS = 10, CLOCK_PAUSE_MS = 20 };

/* ---- files ---- */

/* A short text, without what is behind its first line; "" on failure. */
static int read_line(const struct machine_settings *l, const char *path, char *buf, size_t size)
{
    char full[PATH_MOST];
    ssize_t n;
    int fd;

    buf[0] = 0;
    if (snprintf(full, sizeof(full), "%s%s", l->about.root, path) >= (int)sizeof(full))
        return -ENAMETOOLONG;
    fd = open(full, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    n = read(fd, buf, size - 1);
    close(fd);
    if (n < 0)
        return -EIO;
    buf[n] = 0;
    buf[strcspn(buf, "\n")] = 0;
    return 0;
}

static int write_line(const struct machine_settings *l, const char *path, const char *text,
                      struct err *e)
{
    char full[PATH_MOST];
    size_t len = strlen(text);
    int fd, error = 0;

    if (snprintf(full, sizeof(full), "%s%s", l->about.root, path) >= (int)sizeof(full))
        return err_set(e, -ENAMETOOLONG, "%s: the name is too long", path);
    fd = open(full, O_WRONLY | O_TRUNC | O_CLOEXEC);
    if (fd < 0 || write(fd, text, len) != (ssize_t)len)
        error = errno ? errno : EIO;
    closep(&fd);
    if (error == EACCES || error == EPERM)
        return err_set(e, -error, "%s can be written by root alone", path);
    if (error == EROFS)
        return err_set(e, -error, "%s can not be written here: a container sees it read-only",
                       path);
    return error ? err_set(e, -error, "%s: %s", path, strerror(error)) : 0;
}

static int add_line(struct str *out, const char *target, const char *thing, const char *value,
                    struct err *e)
{
    str_addf(out, "%s %s %s\n", target, thing, value);
    return str_error(out) ? err_nomem(e) : 0;
}

/* ---- limits of power ---- */

static int open_power(struct machine_settings *l, struct err *e)
{
    return l->power ? 0 : nvml_power_open(&l->power, e);
}

/* A line for each of the job's GPUs. */
static int read_gpus(struct machine_settings *l, const char *target,
                     int (*value)(struct machine_settings *l, unsigned gpu, double *ret,
                                  struct err *e),
                     struct str *out, struct err *e)
{
    int rc = open_power(l, e);

    for (unsigned i = 0; rc == 0 && i < nvml_power_count(l->power) && i < LEVER_GPUS; i++) {
        char thing[LEVER_WORD], text[LEVER_WORD];
        double number = 0;

        snprintf(thing, sizeof(thing), "%u", i);
        if (l->about.gpus && !environ_has_gpu(l->about.gpus, thing))
            continue;
        rc = value(l, i, &number, e);
        snprintf(text, sizeof(text), "%.15g", number);
        if (rc == 0)
            rc = add_line(out, target, thing, text, e);
    }
    return rc;
}

static int watts_of(struct machine_settings *l, unsigned gpu, double *ret, struct err *e)
{
    unsigned mw = 0;
    int rc = nvml_power_get(l->power, gpu, &mw, e);

    *ret = mw / mw_per_w;
    return rc;
}

static int read_power(struct machine_settings *l, struct str *out, struct err *e)
{
    return read_gpus(l, power_limit, watts_of, out, e);
}

static int put_power(struct machine_settings *l, const struct machine_setting_line *line,
                     struct err *e)
{
    double watts;
    uint64_t gpu;
    int rc;

    if (parse_u64(line->thing, &gpu) < 0 || gpu > UINT16_MAX ||
        parse_double(line->value, &watts) < 0 || !(watts > 0 && watts < watts_most))
        return err_set(e, -EINVAL, "'%s' of GPU '%s' is no limit of power", line->value,
                       line->thing);
    rc = open_power(l, e);
    return rc < 0 ? rc
                  : nvml_power_set(l->power, (unsigned)gpu, (unsigned)round(watts * mw_per_w), e);
}

/* ---- clocks ---- */

static int mhz_of(struct machine_settings *l, unsigned gpu, double *ret, struct err *e)
{
    unsigned mhz = 0;
    int rc = nvml_clock_highest(l->power, gpu, &mhz, e);

    *ret = l->locked_mhz[gpu] ? l->locked_mhz[gpu] : mhz;
    return rc;
}

static int read_clocks(struct machine_settings *l, struct str *out, struct err *e)
{
    return read_gpus(l, clock_limit, mhz_of, out, e);
}

/* While the job computes a GPU runs at its highest clock, unless something holds it back: what, the
 * driver tells nobody. A lock could not be put back by who does not know it. */
static int is_free(struct machine_settings *l, unsigned gpu, double *ret, struct err *e)
{
    unsigned highest = 0, now = 0;
    int rc = nvml_clock_highest(l->power, gpu, &highest, e);

    for (int looks = 0; rc == 0 && now < highest && looks < CLOCK_LOOKS; looks++) {
        if (looks)
            (void)poll(NULL, 0, CLOCK_PAUSE_MS);
        rc = nvml_clock_now(l->power, gpu, &now, e);
    }
    *ret = now;
    if (rc == 0 && now < highest)
        rc = err_set(e, -EBUSY,
                     "GPU %u runs at %u of %u MHz: its clock may be locked already, which no "
                     "driver tells, and could not be put back",
                     gpu, now, highest);
    return rc;
}

static int check_clocks(struct machine_settings *l, struct err *e)
{
    CLEANUP(str_done) struct str unused = STR_INIT(LEVER_TEXT_MAX);

    return read_gpus(l, clock_limit, is_free, &unused, e);
}

static int put_clock(struct machine_settings *l, const struct machine_setting_line *line,
                     struct err *e)
{
    uint64_t gpu, mhz;
    int rc;

    if (parse_u64(line->thing, &gpu) < 0 || gpu >= LEVER_GPUS || parse_u64(line->value, &mhz) < 0 ||
        mhz < 1 || mhz > MHZ_MOST)
        return err_set(e, -EINVAL, "'%s' of GPU '%s' is no clock in MHz", line->value, line->thing);
    rc = open_power(l, e);
    if (rc == 0)
        rc = nvml_clock_lock(l->power, (unsigned)gpu, (unsigned)mhz, e);
    if (rc == 0)
        l->locked_mhz[gpu] = (unsigned)mhz;
    return rc;
}

/* ---- disks ---- */

/* Memory and loops are no disks; those of device-mapper and of md are, below a file system. */
static bool is_disk(const char *name)
{
    static const char *const others[] = { "ram", "loop", "zram", "sr", "fd" };

    for (size_t i = 0; i < ARRAY_SIZE(others); i++)
        if (!strncmp(name, others[i], strlen(others[i])))
            return false;
    return name[0] != '.' && strlen(name) < LEVER_WORD;
}

static uint64_t sectors_of(const struct machine_settings *l, const char *disk)
{
    char path[PATH_MOST], text[TEXT];
    const char *at = text;
    uint64_t sectors = 0;

    snprintf(path, sizeof(path), "%s/%s/stat", blocks, disk);
    if (read_line(l, path, text, sizeof(text)) < 0)
        return 0;
    for (int i = 1; i < SECTORS_AT; i++) {
        at += strspn(at, " ");
        at += strcspn(at, " ");
    }
    at += strspn(at, " ");
    (void)parse_digits(at, 10, (int)strcspn(at, " "), &sectors);
    return sectors;
}

static void list_disks(struct machine_settings *l)
{
    char full[PATH_MOST];
    const char *name;
    DIR *dir;
    int rc = 0;

    snprintf(full, sizeof(full), "%s%s", l->about.root, blocks);
    dir = opendir(full);
    while (dir && l->n_disks < LEVER_DISKS && (rc = folder_next(dir, &name)) > 0)
        if (is_disk(name))
            snprintf(l->disks[l->n_disks++].name, LEVER_WORD, "%.*s", LEVER_WORD - 1, name);
    if (dir)
        closedir(dir);
    if (rc < 0)
        l->n_disks = 0; /* the busiest may be among those that were not read */
    for (size_t i = 0; i < l->n_disks; i++)
        l->disks[i].sectors = sectors_of(l, l->disks[i].name);
}

/* What lies upon others is read through, and its setting is the one that counts. */
static bool lies_on_others(const char *name)
{
    return !strncmp(name, "dm-", 3) || !strncmp(name, "md", 2);
}

/* Of those of one kind, the one that was read from most; NULL: none was. */
static const char *busiest(const struct machine_settings *l, bool on_others, uint64_t *most)
{
    const char *found = NULL;

    *most = 0;
    for (size_t i = 0; i < l->n_disks; i++) {
        uint64_t now = sectors_of(l, l->disks[i].name), before = l->disks[i].sectors;

        if (lies_on_others(l->disks[i].name) != on_others || now <= before || now - before <= *most)
            continue;
        *most = now - before;
        found = l->disks[i].name;
    }
    return found;
}

static void choose_disk(struct machine_settings *l)
{
    uint64_t lower_n, upper_n;
    const char *lower = busiest(l, false, &lower_n), *upper = busiest(l, true, &upper_n);

    /* What is read through the upper one is counted for the lower one as well. */
    if (upper && upper_n >= lower_n / 2)
        lower = upper;
    snprintf(l->disk, sizeof(l->disk), "%s", lower ? lower : "");
}

static void disk_path(char path[PATH_MOST], const char *disk)
{
    snprintf(path, PATH_MOST, "%s/%s/queue/read_ahead_kb", blocks, disk);
}

static int read_disk(struct machine_settings *l, struct str *out, struct err *e)
{
    char path[PATH_MOST], value[LEVER_WORD];
    uint64_t kb;

    if (!l->disk[0])
        choose_disk(l);
    if (!l->disk[0])
        return err_set(e, -ENOENT, "no disk of this machine was read from");
    disk_path(path, l->disk);
    if (read_line(l, path, value, sizeof(value)) < 0 || parse_u64(value, &kb) < 0)
        return err_set(e, -ENOENT, "%s does not tell its read-ahead", l->disk);
    return add_line(out, disk_readahead, l->disk, value, e);
}

static int put_disk(struct machine_settings *l, const struct machine_setting_line *line,
                    struct err *e)
{
    char path[PATH_MOST];
    uint64_t kb;

    if (!is_disk(line->thing) || strchr(line->thing, '/') || parse_u64(line->value, &kb) < 0)
        return err_set(e, -EINVAL, "'%s' of disk '%s' is no read-ahead", line->value, line->thing);
    disk_path(path, line->thing);
    return write_line(l, path, line->value, e);
}

/* ---- governors ---- */

static void policy_path(char path[PATH_MOST], const char *policy)
{
    snprintf(path, PATH_MOST, "%s/%s/scaling_governor", policies, policy);
}

static int read_governors(struct machine_settings *l, struct str *out, struct err *e)
{
    char full[PATH_MOST], path[PATH_MOST], value[LEVER_WORD];
    const char *name;
    DIR *dir;
    int rc = 0, more = 0;

    snprintf(full, sizeof(full), "%s%s", l->about.root, policies);
    dir = opendir(full);
    while (dir && rc == 0 && (more = folder_next(dir, &name)) > 0) {
        if (strncmp(name, "policy", 6) != 0 || strlen(name) >= LEVER_WORD)
            continue;
        policy_path(path, name);
        if (read_line(l, path, value, sizeof(value)) == 0 && value[0] && !strchr(value, ' '))
            rc = add_line(out, cpu_governor, name, value, e);
    }
    if (dir)
        closedir(dir);
    if (rc == 0 && more < 0)
        return err_set(e, more, "%s cannot be read: %s", policies, strerror(-more));
    if (rc == 0 && !out->len)
        return err_set(e, -ENOENT, "the CPUs of this machine have no governor");
    return rc;
}

static int put_governor(struct machine_settings *l, const struct machine_setting_line *line,
                        struct err *e)
{
    char path[PATH_MOST];
    int rc;

    if (strncmp(line->thing, "policy", 6) != 0 || strchr(line->thing, '/'))
        return err_set(e, -EINVAL, "'%s' is no set of CPUs", line->thing);
    policy_path(path, line->thing);
    rc = write_line(l, path, line->value, e);
    return rc == -EINVAL ? err_set(e, rc, "the CPUs have no governor '%s'", line->value) : rc;
}

/* ---- all of them ---- */

static const struct {
    const char *target;
    int (*read)(struct machine_settings *l, struct str *out, struct err *e);
    int (*put)(struct machine_settings *l, const struct machine_setting_line *line, struct err *e);
    int (*check)(struct machine_settings *l,
                 struct err *e); /* NULL: what is read is all there is */
} kinds[] = {
    { power_limit, read_power, put_power, NULL },
    { clock_limit, read_clocks, put_clock, check_clocks },
    { disk_readahead, read_disk, put_disk, NULL },
    { cpu_governor, read_governors, put_governor, NULL },
};

void machine_settings_init(struct machine_settings *l, const struct machine_setting_about *about)
{
    *l = (struct machine_settings){ .about = *about };
    list_disks(l);
}

void machine_settings_done(struct machine_settings *l)
{
    nvml_power_close(l->power);
    l->power = NULL;
}

int machine_setting_read(struct machine_settings *l, const char *target, struct str *out,
                         struct err *e)
{
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
        if (!strcmp(kinds[i].target, target))
            return kinds[i].read(l, out, e);
    return err_set(e, -ENOENT, "this machine has no setting '%s'", target);
}

int machine_setting_check(struct machine_settings *l, const char *target, struct err *e)
{
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
        if (!strcmp(kinds[i].target, target))
            return kinds[i].check ? kinds[i].check(l, e) : 0;
    return err_set(e, -ENOENT, "this machine has no setting '%s'", target);
}

int machine_setting_put(struct machine_settings *l, const struct machine_setting_line *line,
                        struct err *e)
{
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
        if (!strcmp(kinds[i].target, line->target))
            return kinds[i].put(l, line, e);
    return err_set(e, -ENOENT, "this machine has no setting '%s'", line->target);
}

/* ---- lines ---- */

static bool take_word(const char **at, char word[LEVER_WORD])
{
    size_t len = strcspn(*at, " \n");
    bool fits = len > 0 && len < LEVER_WORD;

    snprintf(word, LEVER_WORD, "%.*s", fits ? (int)len : 0, *at);
    *at += len;
    *at += **at == ' ';
    return fits;
}

bool machine_setting_next(const char **text, struct machine_setting_line *ret)
{
    bool found = false;

    while (**text && !found) {
        const char *at = *text;
        size_t len = strcspn(at, "\n");

        *text += len + (at[len] == '\n');
        found = take_word(&at, ret->target) && take_word(&at, ret->thing) &&
                take_word(&at, ret->value) && (*at == '\n' || !*at);
    }
    return found;
}

const char *machine_setting_same(const char *text, char buf[LEVER_WORD])
{
    struct machine_setting_line line;
    size_t n = 0;

    while (machine_setting_next(&text, &line)) {
        if (n++ && strcmp(buf, line.value) != 0)
            return NULL;
        snprintf(buf, LEVER_WORD, "%s", line.value);
    }
    return n ? buf : NULL;
}
