/* File systems: how full they are. Of those behind a network or a process it is not asked, since
 * statvfs() of a dead server does not return; their rows say only that they are mounted. */
#include "probe/sample/sampler.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/statvfs.h>

#include "probe/kernel/scan.h"
#include "probe/sample/table.h"

enum { MOUNTS_MAX = 128 };

enum { FS_SIZE, FS_FREE, FS_FILES, FS_FILES_FREE, FS_VALUES };

static const struct signal_def defs[FS_VALUES] = {
    [FS_SIZE] = { "size_bytes", "size", SIGNAL_GAUGE },
    [FS_FREE] = { "free_bytes", "room that users can fill", SIGNAL_GAUGE },
    [FS_FILES] = { "files", "files that there is room for", SIGNAL_GAUGE },
    [FS_FILES_FREE] = { "files_free", "files that can still be made", SIGNAL_GAUGE },
};

enum { FACT_DEVICE, FACT_TYPE };
static const char *const facts[] = { [FACT_DEVICE] = "device", [FACT_TYPE] = "fstype", NULL };

static const struct signal_set fs_set = { "filesystem", "mount", defs, FS_VALUES, facts };

static const struct type {
    const char *name; /* a last '*' stands for anything */
    bool remote;      /* may hang */
    const char *only; /* the one mount point that is of interest; NULL */
} types[] = {
    { "ext4" },
    { "xfs" },
    { "btrfs" },
    { "zfs" },
    { "f2fs" },
    { "overlay", false, "/" },
    { "tmpfs", false, "/dev/shm" },
    { "nfs", true },
    { "nfs4", true },
    { "cifs", true },
    { "smb3", true },
    { "lustre", true },
    { "ceph", true },
    { "beegfs", true },
    { "gpfs", true },
    { "fuse", true },
    { "fuseblk", true },
    { "fuse.*", true },
};

/* One mount, until the whole table is read: a later one may cover it. */
struct mount {
    const char *word; /* the mount point as the table writes it, NULL when it was covered */
    size_t len;
    const struct type *type;
    const char *device, *kind; /* as the table writes them */
    size_t device_len, kind_len;
};

struct filesystem {
    int root; /* our own descriptor */
    struct sample_table *table;
    struct mount mounts[MOUNTS_MAX];
    size_t n_mounts;
};

static void fs_close(void *state)
{
    struct filesystem *f = state;

    sample_table_close(f->table);
    closep(&f->root);
    free(f);
}

DEFINE_CLEANUP(struct filesystem, fs_close)

static int fs_open(void **state, const struct sampler_env *env, struct err *e)
{
    CLEANUP(fs_closep) struct filesystem *f = calloc(1, sizeof(*f));
    int rc;

    if (!f)
        return err_nomem(e);
    f->root = -1;
    rc = sample_table_open(&f->table, env->root, "proc/self/mounts", e);
    if (rc < 0)
        return rc;
    f->root = fcntl(env->root, F_DUPFD_CLOEXEC, 0);
    if (f->root < 0)
        return err_set(e, -errno, "proc/self/mounts: %m");
    *state = steal(&f);
    return 0;
}

static const struct type *find_type(const char *word, size_t len)
{
    for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
        const char *name = types[i].name;
        size_t n = strlen(name);

        if (name[n - 1] == '*' ? len >= n && !memcmp(word, name, n - 1)
                               : len == n && !memcmp(word, name, n))
            return &types[i];
    }
    return NULL;
}

/* "/dev/sda1 /mnt ext4 rw 0 0" */
static void read_mount(struct filesystem *f, const char *at)
{
    const struct type *type;
    const char *device, *word, *kind;
    size_t device_len = sample_word(&at, 0, &device), len, kind_len;

    len = sample_word(&at, 0, &word);
    kind_len = sample_word(&at, 0, &kind);
    if (word[0] != '/') /* nor is it where there is no word */
        return;
    for (size_t i = 0; i < f->n_mounts; i++) {
        struct mount *m = &f->mounts[i];

        if (m->word && m->len == len && !memcmp(m->word, word, len))
            m->word = NULL;
    }
    type = find_type(kind, kind_len);
    if (!type || f->n_mounts == MOUNTS_MAX)
        return;
    if (type->only && (strlen(type->only) != len || memcmp(type->only, word, len) != 0))
        return;
    f->mounts[f->n_mounts++] = (struct mount){
        word, len, type, device, kind, device_len, kind_len
    };
}

/* Whether the way to a mount leads through one that may hang: the walk would hang, too. */
static bool may_hang(const struct filesystem *f, const struct mount *m)
{
    if (m->type->remote)
        return true;
    for (size_t i = 0; i < f->n_mounts; i++) {
        const struct mount *above = &f->mounts[i];

        if (above->word && above->type->remote && above->len < m->len &&
            !memcmp(above->word, m->word, above->len) &&
            (above->len == 1 || m->word[above->len] == '/'))
            return true;
    }
    return false;
}

/* A word of the table as a fact. */
static void add_fact(struct signal_row *row, size_t fact, const char *word, size_t len)
{
    char text[PATH_MAX];

    if (sample_mount_decode(word, len, text, sizeof(text)) == 0)
        tick_fact(row, fact, text);
}

/* Ask a local file system; -ENOTDIR for a file, which containers have mounted over theirs. */
static int ask(int root, const char *mount, struct statvfs *ret)
{
    CLEANUP(closep) int fd = -1;

    while (*mount == '/')
        mount++;
    fd = openat(root, *mount ? mount : ".", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return fd < 0 || fstatvfs(fd, ret) < 0 ? -errno : 0;
}

static int add_row(const struct filesystem *f, const struct mount *m, struct tick *t)
{
    char mount[PATH_MAX], name[SIGNAL_THING];
    bool asked = !may_hang(f, m);
    struct signal_row *row;
    struct statvfs fs = { 0 };
    int rc = -EAGAIN;

    if (sample_mount_decode(m->word, m->len, mount, sizeof(mount)) < 0)
        return 0;
    sample_mount_name(name, mount);
    if (asked)
        rc = ask(f->root, mount, &fs);
    if (rc == -ENOTDIR || tick_find(t, &fs_set, name))
        return 0;
    row = tick_add(t, &fs_set, name);
    if (!row)
        return -ENOMEM;
    add_fact(row, FACT_DEVICE, m->device, m->device_len);
    add_fact(row, FACT_TYPE, m->kind, m->kind_len);
    if (rc < 0)
        return 0;
    row->values[FS_SIZE] = (double)fs.f_blocks * (double)fs.f_frsize;
    row->values[FS_FREE] = (double)fs.f_bavail * (double)fs.f_frsize;
    if (fs.f_files > 0) { /* btrfs has no limit, and says 0 */
        row->values[FS_FILES] = (double)fs.f_files;
        row->values[FS_FILES_FREE] = (double)fs.f_ffree;
    }
    return 0;
}

static int fs_sample(void *state, struct tick *t)
{
    struct filesystem *f = state;
    const char *at;
    char *text;
    int rc = sample_table_read(f->table, &text);

    if (rc < 0)
        return rc;
    at = text;
    f->n_mounts = 0;
    do {
        read_mount(f, at);
    } while (scan_line(&at));
    for (size_t i = 0; i < f->n_mounts; i++) {
        rc = f->mounts[i].word ? add_row(f, &f->mounts[i], t) : 0;
        if (rc < 0)
            return rc;
    }
    return 0;
}

const struct sampler_ops sampler_filesystem = { "filesystem", &fs_set, fs_open, fs_sample,
                                                fs_close };
