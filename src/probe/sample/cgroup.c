/* Control groups that hold what people ran: jobs, pods, containers, services that use CPU time, and
 * the agent's own group; of version 1, version 2, or both beside each other. */
#include "probe/sample/sampler.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "probe/kernel/cgroup_name.h"
#include "probe/kernel/kept_file.h"
#include "probe/kernel/listing.h"
#include "probe/sample/cgroup_files.h"

/* How many get a row, how many are known, and how far a walk goes. */
enum { SHOWN_MAX = 64, GROUPS_MAX = 512, FOLDERS_MAX = 4096, DEPTH_MAX = 8 };

enum { GROUP_PATH = 256 };

#define FIND_NS (10 * NS_PER_S)

/* A service has rows when it used so much CPU time between two walks, and for so long. */
#define SERVICE_SECONDS 0.1
#define SERVICE_NS (60 * NS_PER_S)

static const struct signal_def defs[CGROUP_VALUES] = {
    [CGROUP_CPU] = { "cpu_seconds_total", "CPU time used", SIGNAL_COUNTER },
    [CGROUP_CPU_LIMIT] = { "cpu_limit_cores", "CPUs that its quota allows", SIGNAL_GAUGE },
    [CGROUP_THROTTLED] = { "throttled_seconds_total", "time that its quota kept it from running",
                           SIGNAL_COUNTER },
    [CGROUP_THROTTLED_PERIODS] = { "throttled_periods_total", "periods in which it was throttled",
                                   SIGNAL_COUNTER },
    [CGROUP_PERIODS] = { "periods_total", "periods of its quota in which it ran", SIGNAL_COUNTER },
    [CGROUP_MEMORY] = { "memory_bytes", "memory used, cached files among it", SIGNAL_GAUGE },
    [CGROUP_MEMORY_LIMIT] = { "memory_limit_bytes", "memory that it may use", SIGNAL_GAUGE },
    [CGROUP_MEMORY_PEAK] = { "memory_peak_bytes", "the most memory that it used", SIGNAL_GAUGE },
    [CGROUP_OOM_KILLS] = { "oom_kills_total", "processes killed for want of memory",
                           SIGNAL_COUNTER },
    [CGROUP_READ] = { "read_bytes_total", "bytes read from disks", SIGNAL_COUNTER },
    [CGROUP_WRITTEN] = { "write_bytes_total", "bytes written to disks", SIGNAL_COUNTER },
    [CGROUP_CPU_WAIT] = { "cpu_waiting_seconds_total", "time that some of it waited for a CPU",
                          SIGNAL_COUNTER },
    [CGROUP_IO_WAIT] = { "io_waiting_seconds_total", "time that some of it waited for I/O",
                         SIGNAL_COUNTER },
    [CGROUP_MEMORY_WAIT] = { "memory_waiting_seconds_total",
                             "time that some of it waited for memory", SIGNAL_COUNTER },
};

static const struct signal_set cgroup_set = { "cgroup", "cgroup", defs, CGROUP_VALUES };

/* Where hierarchies are, each at the first of its places that has the file. */
static const struct {
    enum cgroup_hierarchy hierarchy;
    const char *folder, *file;
} places[] = {
    { CGROUP_V2, "sys/fs/cgroup", "cgroup.controllers" },
    { CGROUP_V2, "sys/fs/cgroup/unified", "cgroup.controllers" },
    { CGROUP_V1_CPU, "sys/fs/cgroup/cpu", "cpu.shares" },
    { CGROUP_V1_CPU, "sys/fs/cgroup/cpu,cpuacct", "cpu.shares" },
    { CGROUP_V1_CPUACCT, "sys/fs/cgroup/cpuacct", "cpuacct.usage" },
    { CGROUP_V1_CPUACCT, "sys/fs/cgroup/cpu,cpuacct", "cpuacct.usage" },
    { CGROUP_V1_MEMORY, "sys/fs/cgroup/memory", "memory.usage_in_bytes" },
    { CGROUP_V1_BLKIO, "sys/fs/cgroup/blkio", "cgroup.procs" },
};

struct group {
    char path[GROUP_PATH]; /* below the root of its hierarchies */
    char name[SIGNAL_THING];
    enum cgroup_kind kind;
    bool own, found;             /* the agent's; by the last walk */
    bool in[CGROUP_HIERARCHIES]; /* which have a folder of it, at the last walk */
    double cpu;                  /* at the last walk */
    int64_t busy_ns;             /* when it was last found to use CPU time; 0: never */
    bool limits;                 /* are to be read */
    double values[CGROUP_VALUES];
};

struct cgroups {
    int roots[CGROUP_HIERARCHIES]; /* of the hierarchies; -1 */
    struct kept self;
    struct group *groups;
    size_t n, room;
    int folders; /* that the walk may still visit */
    int64_t found_ns;
    bool walked;
};

static void cgroups_close(void *state)
{
    struct cgroups *s = state;

    for (size_t i = 0; i < CGROUP_HIERARCHIES; i++)
        closep(&s->roots[i]);
    kept_close(&s->self);
    free(s->groups);
    free(s);
}

static int cgroups_open(void **state, const struct sampler_env *env, struct err *e)
{
    struct cgroups *s = calloc(1, sizeof(*s));
    int n = 0;

    if (!s)
        return err_nomem(e);
    for (size_t i = 0; i < CGROUP_HIERARCHIES; i++)
        s->roots[i] = -1;
    for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
        int *root = &s->roots[places[i].hierarchy], fd;

        fd = openat(env->root, places[i].folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
            continue;
        if (*root >= 0 || faccessat(fd, places[i].file, F_OK, 0) < 0) {
            close(fd);
            continue;
        }
        *root = fd;
        n++;
    }
    kept_open(&s->self, env->root, "proc/self/cgroup");
    if (n == 0) {
        cgroups_close(s);
        return err_set(e, -ENOENT, "sys/fs/cgroup: there are no control groups");
    }
    *state = s;
    return 0;
}

/* A group that the walk found. 0 or -ENOMEM; too many are passed over. */
static int take_group(struct cgroups *s, const char *path, enum cgroup_kind kind, bool own)
{
    struct group *g;

    for (size_t i = 0; i < s->n; i++) {
        if (!strcmp(s->groups[i].path, path)) {
            s->groups[i].found = true;
            s->groups[i].own = s->groups[i].own || own;
            return 0;
        }
    }
    if (s->n == GROUPS_MAX)
        return 0;
    if (s->n == s->room) {
        size_t room = s->room ? 2 * s->room : 32;

        g = realloc(s->groups, room * sizeof(*g));
        if (!g)
            return -ENOMEM;
        s->groups = g;
        s->room = room;
    }
    g = &s->groups[s->n++];
    *g = (struct group){ .kind = kind, .own = own, .found = true, .cpu = (double)NAN };
    snprintf(g->path, sizeof(g->path), "%s", path);
    (void)cgroup_name(path, g->name);
    for (size_t i = 0; i < CGROUP_VALUES; i++)
        g->values[i] = (double)NAN;
    return 0;
}

/* Walk the folders below a path: 0 or -errno. Inside of steps, containers and services there is
 * nothing that has a name of its own. */
static int walk(struct cgroups *s, int root, const char *path, int depth)
{
    const struct dirent *entry;
    DIR *dir;
    int rc = listing_open(root, *path ? path + 1 : ".", O_NOFOLLOW, &dir);

    while (dir && rc == 0 && s->folders > 0 && (rc = listing_next(dir, &entry)) > 0) {
        char inner[GROUP_PATH], name[SIGNAL_THING];
        enum cgroup_kind kind;

        rc = 0;
        if (entry->d_type != DT_DIR)
            continue;
        s->folders--;
        if (snprintf(inner, sizeof(inner), "%s/%s", path, entry->d_name) >= GROUP_PATH)
            continue;
        kind = cgroup_name(inner, name);
        if (kind != CGROUP_OTHER)
            rc = take_group(s, inner, kind, false);
        if (rc == 0 && depth < DEPTH_MAX &&
            (kind == CGROUP_OTHER || kind == CGROUP_JOB || kind == CGROUP_POD))
            rc = walk(s, root, inner, depth + 1);
    }
    if (dir)
        closedir(dir);
    return rc;
}

/* The agent's own group. The root of all groups is none: the host's signals tell of it; but the
 * root that a container sees has the files of a group. */
static int take_own(struct cgroups *s)
{
    char text[4096], path[GROUP_PATH], name[SIGNAL_THING];
    int root = s->roots[CGROUP_V2];

    if (kept_read(&s->self, text, sizeof(text)) <= 0)
        return 0;
    cgroup_path(text, root >= 0 ? NULL : "memory", path, sizeof(path));
    if (root >= 0 && s->roots[CGROUP_V1_MEMORY] >= 0 && (!path[0] || !strcmp(path, "/")))
        cgroup_path(text, "memory", path, sizeof(path));
    if (!path[0] || strstr(path, "/.."))
        return 0;
    if (!strcmp(path, "/") && (root < 0 || faccessat(root, "cpu.max", F_OK, 0) < 0))
        return 0;
    return take_group(s, path, cgroup_name(path, name), true);
}

static int by_interest(const void *a, const void *b)
{
    const struct group *left = a, *right = b;
    int order = right->own - left->own;

    if (!order)
        order = COMPARE(left->kind, right->kind);
    return order ? order : strcmp(left->path, right->path);
}

static double cpu_of(const struct cgroups *s, const struct group *g)
{
    double cpu = (double)NAN;

    for (int h = 0; h < CGROUP_HIERARCHIES && isnan(cpu); h++)
        if (g->in[h])
            cpu = cgroup_read_cpu(s->roots[h], g->path, (enum cgroup_hierarchy)h);
    return cpu;
}

/* Asking a hierarchy for each file of a group that it lacks would take as long as reading it. */
static void look_where(const struct cgroups *s, struct group *g)
{
    const char *path = g->path[1] ? g->path + 1 : ".";

    for (int h = 0; h < CGROUP_HIERARCHIES; h++)
        g->in[h] = s->roots[h] >= 0 && faccessat(s->roots[h], path, F_OK, 0) == 0;
}

static int walk_all(struct cgroups *s)
{
    int rc = 0;

    for (size_t i = 0; i < s->n; i++)
        s->groups[i].found = false;
    s->folders = FOLDERS_MAX;
    for (int h = 0; h < CGROUP_HIERARCHIES && rc == 0; h++)
        if (s->roots[h] >= 0)
            rc = walk(s, s->roots[h], "", 1);
    return rc;
}

/* Find the groups that there are now; those that are gone are dropped. A walk that did not come to
 * its end tells neither what is new nor what is gone: all stays as it was, until the next tick. */
static int find_groups(struct cgroups *s, int64_t now_ns)
{
    size_t before = s->n, n = 0;
    int rc = walk_all(s);

    if (rc < 0) {
        s->n = before;
        s->walked = false;
        return rc == -ENOMEM ? rc : 0;
    }
    for (size_t i = 0; i < s->n; i++)
        s->groups[i].own = false;
    rc = take_own(s);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < s->n; i++)
        if (s->groups[i].found)
            s->groups[n++] = s->groups[i];
    s->n = n;
    for (size_t i = 0; i < n; i++) {
        struct group *g = &s->groups[i];
        double cpu;

        look_where(s, g);
        cpu = g->kind == CGROUP_SERVICE ? cpu_of(s, g) : (double)NAN;
        if (cpu - g->cpu >= SERVICE_SECONDS)
            g->busy_ns = now_ns;
        g->cpu = cpu;
        g->limits = true;
    }
    if (n > 0)
        qsort(s->groups, n, sizeof(*s->groups), by_interest);
    s->found_ns = now_ns;
    s->walked = true;
    return 0;
}

static bool is_shown(const struct group *g, int64_t now_ns)
{
    if (g->own || g->kind != CGROUP_SERVICE)
        return true;
    return g->busy_ns != 0 && now_ns - g->busy_ns < SERVICE_NS;
}

static bool is_limit(int i)
{
    return i == CGROUP_CPU_LIMIT || i == CGROUP_MEMORY_LIMIT || i == CGROUP_MEMORY_PEAK;
}

/* All values anew, but for the limits, which are read after a walk. */
static void read_group(const struct cgroups *s, struct group *g)
{
    for (int i = 0; i < CGROUP_VALUES; i++)
        if (g->limits || !is_limit(i))
            g->values[i] = (double)NAN;
    /* version 2 first: where both have a value, the controller belongs to version 1 */
    for (int h = CGROUP_HIERARCHIES - 1; h >= 0; h--)
        if (g->in[h])
            cgroup_read(s->roots[h], g->path, (enum cgroup_hierarchy)h, g->limits, g->values);
    g->limits = false;
}

static bool has_values(const struct group *g)
{
    for (int i = 0; i < CGROUP_VALUES; i++)
        if (!is_limit(i) && !isnan(g->values[i]))
            return true;
    return false;
}

static int cgroups_sample(void *state, struct tick *t)
{
    struct cgroups *s = state;
    size_t shown = 0;
    int rc = 0;

    if (!s->walked || t->monotonic_ns - s->found_ns >= FIND_NS)
        rc = find_groups(s, t->monotonic_ns);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < s->n && shown < SHOWN_MAX; i++) {
        struct group *g = &s->groups[i];
        struct signal_row *row;

        if (!is_shown(g, t->monotonic_ns) || tick_find(t, &cgroup_set, g->name))
            continue;
        read_group(s, g);
        if (!has_values(g)) /* it ended since the walk */
            continue;
        row = tick_add(t, &cgroup_set, g->name);
        if (!row)
            return -ENOMEM;
        memcpy(row->values, g->values, sizeof(g->values));
        shown++;
    }
    return 0;
}

const struct sampler_ops sampler_cgroup = { "cgroup", &cgroup_set, cgroups_open, cgroups_sample,
                                            cgroups_close };
