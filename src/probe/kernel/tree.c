#include "probe/kernel/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/file.h"
#include "base/parse.h"
#include "probe/kernel/pack.h"

struct tree {
    int root; /* a directory, or -1 with a pack */
    bool live;
    struct pack *pack;
    struct str *record;
    size_t recorded;
    unsigned denied;
    int denied_error;
    char denied_path[TREE_PATH];
};

static struct tree *tree_new(void)
{
    struct tree *t = calloc(1, sizeof(*t));

    if (t)
        t->root = -1;
    return t;
}

/* An open file or directory below the root. */
static int tree_openat(const struct tree *t, const char *path, int flags)
{
    struct open_how how = { .flags = (unsigned)flags | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT };

    if (t->live)
        return openat(t->root, path, flags | O_CLOEXEC);
    return (int)syscall(SYS_openat2, t->root, path, &how, sizeof(how));
}

/* Without openat2 (before Linux 5.6) every file of a copy would seem not to be there. */
static int check_root(const struct tree *t, const char *path, struct err *e)
{
    CLEANUP(closep) int fd = tree_openat(t, ".", O_PATH);

    if (fd >= 0)
        return 0;
    return err_set(e, -errno,
                   "%s: this kernel cannot keep links inside a directory (openat2: %s); read a "
                   "recording instead",
                   path, strerror(errno));
}

int tree_open_dir(struct tree **ret, const char *path, struct err *e)
{
    CLEANUP(tree_closep) struct tree *t = tree_new();
    int rc;

    if (!t)
        return err_nomem(e);
    t->root = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (t->root < 0)
        return err_set(e, -errno, "%s: %s", path, strerror(errno));
    t->live = !strcmp(path, "/");
    rc = check_root(t, path, e);
    if (rc < 0)
        return rc;
    *ret = steal(&t);
    return 0;
}

int tree_open_pack(struct tree **ret, const char *name, const char *text, size_t len, struct err *e)
{
    CLEANUP(tree_closep) struct tree *t = tree_new();
    int rc;

    if (!t)
        return err_nomem(e);
    rc = pack_open(&t->pack, name, text, len, e);
    if (rc < 0)
        return rc;
    *ret = steal(&t);
    return 0;
}

void tree_close(struct tree *t)
{
    if (!t)
        return;
    if (t->root >= 0)
        close(t->root);
    pack_close(t->pack);
    free(t);
}

bool tree_is_live(const struct tree *t)
{
    return t->live;
}

/* Note a refusal and return it. A recording keeps it too: what was denied there is denied here. */
static int failed(struct tree *t, const char *path, int error)
{
    char number[16];

    if (error != EACCES && error != EPERM && error != EIO)
        return -error;
    if (!t->denied++) {
        t->denied_error = error;
        snprintf(t->denied_path, sizeof(t->denied_path), "%s", path);
    }
    if (t->record) {
        int len = snprintf(number, sizeof(number), "%d", error);

        pack_add(t->record, 'e', path, number, (size_t)len);
        t->recorded++;
    }
    return -error;
}

static void record(struct tree *t, char type, const char *path, const void *data, size_t len)
{
    if (!t->record)
        return;
    pack_add(t->record, type, path, data, len);
    t->recorded++;
}

/* The error that an 'e' entry holds. */
static int refused(struct tree *t, const char *path, const struct pack_entry *at)
{
    char text[16];
    int64_t error;

    snprintf(text, sizeof(text), "%.*s", (int)MIN(at->data_len, 15u), at->data);
    if (parse_i64(text, &error) < 0 || error <= 0 || error > 4095)
        error = EIO;
    return failed(t, path, (int)error);
}

/* Look a path up in the pack. Returns its entry when it is of one of the types; else NULL, with the
 * error in *rc. */
static const struct pack_entry *pack_get(struct tree *t, const char *path, const char *types,
                                         int *rc)
{
    const struct pack_entry *at = pack_find(t->pack, path);

    *rc = -ENOENT;
    if (!at)
        return NULL;
    if (at->type == 'e')
        *rc = refused(t, path, at);
    return strchr(types, at->type) ? at : NULL;
}

static ssize_t read_pack(struct tree *t, const char *path, char *buf, size_t size)
{
    int rc;
    const struct pack_entry *at = pack_get(t, path, "fx", &rc);
    long len;

    if (!at)
        return rc;
    if (at->type == 'x') {
        len = pack_unhex(at, buf, size - 1);
        return len < 0 ? failed(t, path, EIO) : len;
    }
    len = (long)MIN((size_t)at->data_len, size - 1);
    memcpy(buf, at->data, (size_t)len);
    return len;
}

/* Read to the end: kernel files may hand themselves out in pieces. */
static ssize_t read_file(struct tree *t, const char *path, char *buf, size_t size)
{
    CLEANUP(closep) int fd = tree_openat(t, path, O_RDONLY | O_NONBLOCK);
    size_t len = 0;

    if (fd < 0)
        return failed(t, path, errno);
    while (len < size - 1) {
        ssize_t got = read(fd, buf + len, size - 1 - len);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return failed(t, path, errno);
        if (got == 0)
            break;
        len += (size_t)got;
    }
    return (ssize_t)len;
}

/* Read and terminate, without recording. */
static ssize_t read_text(struct tree *t, const char *path, char *buf, size_t size)
{
    ssize_t len = t->pack ? read_pack(t, path, buf, size) : read_file(t, path, buf, size);

    buf[len > 0 ? len : 0] = 0;
    return len;
}

ssize_t tree_read(struct tree *t, const char *path, void *buf, size_t size)
{
    ssize_t len = read_text(t, path, buf, size);

    if (len >= 0)
        record(t, 'f', path, buf, (size_t)len);
    return len;
}

ssize_t tree_read_some(struct tree *t, const char *path, char separator,
                       bool (*keep)(const char *piece), char *buf, size_t size)
{
    ssize_t len = read_text(t, path, buf, size);
    char *to = buf;

    if (len < 0)
        return len;
    for (char *from = buf, *end = buf + len; from < end;) {
        char *stop = memchr(from, separator, (size_t)(end - from));
        size_t piece = (size_t)((stop ? stop : end) - from);

        from[piece] = 0;
        if (keep(from)) {
            memmove(to, from, piece);
            to += piece;
            if (stop)
                *to++ = separator;
        }
        from += piece + 1;
    }
    *to = 0;
    record(t, 'f', path, buf, (size_t)(to - buf));
    return to - buf;
}

int tree_line(struct tree *t, const char *path, char *buf, size_t size)
{
    ssize_t len = tree_read(t, path, buf, size);

    if (len < 0)
        return (int)len;
    buf[strcspn(buf, "\n")] = 0;
    len = (ssize_t)strlen(buf);
    while (len > 0 && (buf[len - 1] == ' ' || buf[len - 1] == '\t'))
        buf[--len] = 0;
    return (int)len;
}

long long tree_number(struct tree *t, const char *path)
{
    char text[64];
    uint64_t hex;
    int64_t value;

    if (tree_line(t, path, text, sizeof(text)) <= 0)
        return -1;
    if (!strncmp(text, "0x", 2))
        return parse_hex(text, &hex) < 0 || hex > INT64_MAX ? -1 : (long long)hex;
    return parse_i64(text, &value) < 0 ? -1 : (long long)value;
}

/* Join the directory of path and target, without "." and "..": a path below the root. */
static int resolve(const char *path, const char *target, char *buf, size_t size)
{
    const char *slash = strrchr(path, '/');
    size_t len = 0;

    if (*target != '/' && slash) {
        len = (size_t)(slash - path);
        if (len >= size)
            return -ENAMETOOLONG;
        memcpy(buf, path, len);
    }
    buf[len] = 0;
    while (*target) {
        size_t part = strcspn(target, "/");

        if (part == 2 && !memcmp(target, "..", 2)) {
            while (len && buf[--len] != '/')
                ;
        } else if (part && !(part == 1 && *target == '.')) {
            if (len + part + 2 > size)
                return -ENAMETOOLONG;
            if (len)
                buf[len++] = '/';
            memcpy(buf + len, target, part);
            len += part;
        }
        buf[len] = 0;
        target += part;
        target += strspn(target, "/");
    }
    return 0;
}

int tree_link(struct tree *t, const char *path, char *buf, size_t size)
{
    char target[TREE_PATH];
    ssize_t len;

    if (t->pack) {
        int rc;
        const struct pack_entry *at = pack_get(t, path, "l", &rc);

        if (!at)
            return rc;
        len = (ssize_t)MIN(at->data_len, sizeof(target) - 1);
        memcpy(target, at->data, (size_t)len);
    } else {
        CLEANUP(closep) int fd = tree_openat(t, path, O_PATH | O_NOFOLLOW);

        if (fd < 0)
            return failed(t, path, errno);
        len = readlinkat(fd, "", target, sizeof(target) - 1);
        if (len < 0)
            return -errno; /* there, but no link */
    }
    target[len] = 0;
    record(t, 'l', path, target, (size_t)len);
    return resolve(path, target, buf, size);
}

static int compare_names(const void *a, const void *b)
{
    const char *const *x = a, *const *y = b;

    return strcmp(*x, *y);
}

/* Sort the lines of out. */
static int sort_lines(struct str *out, int count)
{
    CLEANUP(freep) char *text = malloc(out->len + 1);
    CLEANUP(freep) const char **names = calloc((size_t)count + 1, sizeof(*names));
    char *at = text;

    if (!text || !names)
        return -ENOMEM;
    memcpy(text, str_text(out), out->len + 1);
    for (int i = 0; i < count; i++) {
        names[i] = at;
        at += strcspn(at, "\n");
        *at++ = 0;
    }
    qsort(names, (size_t)count, sizeof(*names), compare_names);
    str_reset(out);
    for (int i = 0; i < count; i++)
        str_addf(out, "%s\n", names[i]);
    return str_error(out);
}

static int list_dir(struct tree *t, const char *path, struct str *out)
{
    int fd = tree_openat(t, path, O_RDONLY | O_DIRECTORY), count = 0, rc;
    const char *name;
    DIR *dir;

    if (fd < 0)
        return failed(t, path, errno);
    dir = fdopendir(fd);
    if (!dir) {
        close(fd);
        return -ENOMEM;
    }
    while ((rc = folder_next(dir, &name)) > 0) {
        if (name[0] == '.' || strchr(name, '\n'))
            continue;
        str_addf(out, "%s\n", name);
        count++;
    }
    closedir(dir);
    if (rc < 0)
        return failed(t, path, -rc);
    rc = str_error(out);
    if (rc == 0)
        rc = sort_lines(out, count);
    return rc < 0 ? rc : count;
}

/* The names of a 'd' entry; a missing newline at its end is added. */
static int list_pack(struct tree *t, const char *path, struct str *out)
{
    int count = 0, rc;
    const struct pack_entry *at = pack_get(t, path, "d", &rc);

    if (!at)
        return rc;
    str_add_n(out, at->data, at->data_len);
    if (out->len && out->data[out->len - 1] != '\n')
        str_add_char(out, '\n');
    for (size_t i = 0; i < out->len; i++)
        count += out->data[i] == '\n';
    return str_error(out) ? str_error(out) : count;
}

int tree_list(struct tree *t, const char *path, struct str *out)
{
    int count;

    str_reset(out);
    count = t->pack ? list_pack(t, path, out) : list_dir(t, path, out);
    if (count >= 0)
        record(t, 'd', path, str_text(out), out->len);
    return count;
}

static bool exists(const struct tree *t, const char *path)
{
    if (t->pack)
        return pack_find(t->pack, path) != NULL;

    CLEANUP(closep) int fd = tree_openat(t, path, O_PATH);

    return fd >= 0;
}

bool tree_exists(struct tree *t, const char *path)
{
    if (!exists(t, path))
        return false;
    record(t, 'd', path, "", 0);
    return true;
}

void tree_record(struct tree *t, struct str *out)
{
    t->record = out;
    t->recorded = 0;
    pack_begin(out);
}

void tree_record_note(struct tree *t, const char *path, const char *text, size_t len)
{
    record(t, 'f', path, text, len);
}

int tree_record_end(struct tree *t)
{
    struct str *to = t->record;

    t->record = NULL;
    pack_end(to, t->recorded);
    return str_error(to);
}

unsigned tree_denied(const struct tree *t, const char **path, int *error)
{
    *path = t->denied_path;
    *error = t->denied_error;
    return t->denied;
}
