#include "probe/kernel/cgroup_name.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"

/* A container's id has 64 hexadecimal digits; people know its first 12. */
enum { ID_DIGITS = 64, ID_SHOWN = 12, UID_DIGITS = 32 };

struct part {
    const char *text;
    size_t len;
};

/* What is known of a path, from the root to its last part. */
struct named {
    enum cgroup_kind kind;
    bool inside; /* the part that gave the name was not the last one */
    char name[SIGNAL_THING];
};

static bool starts(struct part p, const char *with)
{
    size_t n = strlen(with);

    return p.len > n && !memcmp(p.text, with, n);
}

static bool ends(struct part p, const char *with)
{
    size_t n = strlen(with);

    return p.len > n && !memcmp(p.text + p.len - n, with, n);
}

/* The part before the last n bytes. */
static struct part without(struct part p, size_t n)
{
    return (struct part){ p.text, p.len - n };
}

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

static size_t hex_at_end(struct part p)
{
    size_t n = 0;

    while (n < p.len && is_hex(p.text[p.len - 1 - n]))
        n++;
    return n;
}

/* "docker-ID.scope", "cri-containerd-ID.scope", "docker/ID", "kubepods/burstable/podUID/ID" */
static bool name_container(struct part p, struct part above, struct named *n)
{
    struct part by;

    if (ends(p, ".scope"))
        p = without(p, strlen(".scope"));
    if (hex_at_end(p) < ID_DIGITS)
        return false;
    by = without(p, ID_DIGITS);
    if (by.len > 0 && by.text[by.len - 1] == '-')
        by = without(by, 1);
    else if (by.len == 0 && above.len == strlen("docker") && starts(above, "docke"))
        by = above;
    else if (by.len == 0)
        by = (struct part){ "container", strlen("container") };
    else
        return false;
    n->kind = CGROUP_CONTAINER;
    snprintf(n->name, sizeof(n->name), "%.*s/%.*s", (int)MIN(by.len, 24U), by.text, ID_SHOWN,
             p.text + p.len - ID_DIGITS);
    return true;
}

/* What is behind "pod" where a word of p starts with it; of length 0 when none does. */
static struct part behind_pod(struct part p)
{
    for (size_t i = 0; i < p.len; i++) {
        struct part rest = { p.text + i, p.len - i };

        if ((i == 0 || p.text[i - 1] == '-') && starts(rest, "pod"))
            return (struct part){ rest.text + 3, rest.len - 3 };
    }
    return (struct part){ p.text, 0 };
}

/* "kubepods-burstable-podUID.slice", "podUID" */
static bool name_pod(struct part p, struct named *n)
{
    struct part uid = behind_pod(ends(p, ".slice") ? without(p, strlen(".slice")) : p);
    size_t digits = 0;

    for (size_t i = 0; i < uid.len; i++) {
        digits += is_hex(uid.text[i]);
        if (!is_hex(uid.text[i]) && uid.text[i] != '-' && uid.text[i] != '_')
            return false;
    }
    if (digits != UID_DIGITS)
        return false;
    n->kind = CGROUP_POD;
    snprintf(n->name, sizeof(n->name), "pod/%.*s", (int)uid.len, uid.text);
    return true;
}

static bool is_job(struct part p)
{
    return starts(p, "job_") && strspn(p.text + 4, "0123456789") == p.len - 4;
}

/* One more part of the path. */
static void add_part(struct named *n, struct part p, struct part above)
{
    bool named = true;

    if (is_job(p)) {
        n->kind = CGROUP_JOB;
        snprintf(n->name, sizeof(n->name), "%.*s", (int)p.len, p.text);
    } else if (starts(p, "step_") && n->kind == CGROUP_JOB && !n->inside) {
        size_t len = strlen(n->name);

        n->kind = CGROUP_STEP;
        snprintf(n->name + len, sizeof(n->name) - len, "/%.*s", (int)p.len, p.text);
    } else if (ends(p, ".service") && n->kind == CGROUP_OTHER) {
        n->kind = CGROUP_SERVICE;
        snprintf(n->name, sizeof(n->name), "%.*s", (int)p.len, p.text);
    } else {
        named = name_container(p, above, n) || name_pod(p, n);
    }
    n->inside = !named;
    if (!named && n->kind == CGROUP_OTHER)
        snprintf(n->name, sizeof(n->name), "%.*s", (int)p.len, p.text);
}

enum cgroup_kind cgroup_name(const char *path, char out[SIGNAL_THING])
{
    struct named n = { CGROUP_OTHER, true, "/" };
    struct part above = { "", 0 };

    while (*path) {
        struct part p = { path, strcspn(path, "/") };

        if (p.len > 0) {
            add_part(&n, p, above);
            above = p;
        }
        path += p.len + (path[p.len] == '/');
    }
    memcpy(out, n.name, SIGNAL_THING);
    return n.inside ? CGROUP_OTHER : n.kind;
}

/* One line, "4:cpu,cpuacct:/path": its controllers and its path. */
static bool read_line(const char **at, struct part *controllers, struct part *path)
{
    struct part line = { *at, strcspn(*at, "\n") };
    const char *first = memchr(line.text, ':', line.len), *second;

    *at += line.len + ((*at)[line.len] == '\n');
    second = first ? memchr(first + 1, ':', line.len - (size_t)(first + 1 - line.text)) : NULL;
    if (!second)
        return false;
    *controllers = (struct part){ first + 1, (size_t)(second - first - 1) };
    *path = (struct part){ second + 1, line.len - (size_t)(second + 1 - line.text) };
    return path->len > 0 && path->text[0] == '/';
}

static bool has_controller(struct part list, const char *controller)
{
    size_t n = strlen(controller);

    for (const char *at = list.text, *end = at + list.len; at < end;) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        size_t len = (size_t)((comma ? comma : end) - at);

        if (len == n && !memcmp(at, controller, n))
            return true;
        at += len + 1;
    }
    return false;
}

void cgroup_path(const char *text, const char *controller, char *out, size_t size)
{
    struct part controllers, path;

    out[0] = 0;
    while (*text) {
        if (!read_line(&text, &controllers, &path))
            continue;
        if (controller ? has_controller(controllers, controller) : controllers.len == 0) {
            snprintf(out, size, "%.*s", (int)MIN(path.len, (size_t)INT_MAX), path.text);
            return;
        }
    }
}

/* How much a name tells: one that was only inherited from above tells as much. */
static int rank(const char *name, enum cgroup_kind kind)
{
    if (kind != CGROUP_OTHER)
        return (int)kind;
    if (!strncmp(name, "job_", 4))
        return CGROUP_STEP;
    return strchr(name, '/') ? (int)CGROUP_CONTAINER : (int)CGROUP_OTHER;
}

void cgroup_of_process(const char *text, char out[SIGNAL_THING])
{
    char path[PATH_MAX], name[SIGNAL_THING];
    int best = CGROUP_OTHER + 1;
    struct part controllers, found;

    out[0] = 0;
    while (*text) {
        int rank_here;

        if (!read_line(&text, &controllers, &found) || found.len >= sizeof(path))
            continue;
        memcpy(path, found.text, found.len);
        path[found.len] = 0;
        rank_here = rank(name, cgroup_name(path, name));
        if (!strcmp(name, "/") || rank_here >= best)
            continue;
        best = rank_here;
        memcpy(out, name, SIGNAL_THING);
    }
}
