#include "slurm/hosts.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"

enum { DIGITS = 9, DEPTH = 4 };

struct walk {
    int (*each)(const char *name, void *arg);
    void *arg;
    int left;
};

static int expand(struct walk *w, const char *made, const char *text, size_t len, int depth);

/* All of one range: "3", "00-15". */
static int range(struct walk *w, const char *made, const char **at, const char *rest, size_t len,
                 int depth)
{
    char name[SLURM_HOST_NAME];
    uint64_t from, to;
    int width = parse_digits(*at, 10, DIGITS, &from), rc = 0, n;

    if (width == 0)
        return -EINVAL;
    *at += width;
    to = from;
    if (**at == '-') {
        n = parse_digits(*at + 1, 10, DIGITS, &to);
        if (n == 0)
            return -EINVAL;
        *at += 1 + n;
    }
    for (; rc == 0 && from <= to; from++) {
        n = snprintf(name, sizeof(name), "%s%0*llu", made, width, (unsigned long long)from);
        rc = n < (int)sizeof(name) ? expand(w, name, rest, len, depth) : -EINVAL;
    }
    return rc;
}

/* What is made already, and what is left of one element of the list. */
static int expand(struct walk *w, const char *made, const char *text, size_t len, int depth)
{
    const char *open = memchr(text, '[', len), *close = memchr(text, ']', len), *at;
    char name[SLURM_HOST_NAME];
    int n, rc;

    n = snprintf(name, sizeof(name), "%s%.*s", made, (int)(open ? (size_t)(open - text) : len),
                 text);
    if (n >= (int)sizeof(name) || (!open && close))
        return -EINVAL;
    if (!open)
        return n == 0 || w->left-- <= 0 ? -EINVAL : w->each(name, w->arg);
    if (!close || close < open || depth == 0)
        return -EINVAL;
    at = open;
    do {
        at++;
        rc = range(w, name, &at, close + 1, len - (size_t)(close + 1 - text), depth - 1);
    } while (rc == 0 && *at == ',');
    return rc == 0 && at != close ? -EINVAL : rc;
}

int slurm_hosts_each(const char *list, int (*each)(const char *name, void *arg), void *arg)
{
    struct walk w = { each, arg, SLURM_HOSTS_MOST };
    int rc = 0;

    while (rc == 0 && *list) {
        const char *p = list;
        int depth = 0;

        for (; *p && (depth > 0 || *p != ','); p++)
            depth += (*p == '[') - (*p == ']');
        rc = expand(&w, "", list, (size_t)(p - list), DEPTH);
        list = *p ? p + 1 : p;
    }
    return rc;
}
