#include "probe/kernel/kmsg_fold.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/compiler.h"

static const int64_t fold_ns = 60 * NS_PER_S;

/* What was told of the same; or room for it, where the oldest had been. */
static struct kmsg_recent *find(struct kmsg_fold *f, const struct event *e)
{
    struct kmsg_recent *oldest = &f->recent[0], *found = NULL;

    for (size_t i = 0; i < KMSG_RECENT; i++) {
        struct kmsg_recent *r = &f->recent[i];

        if (!r->kind || (oldest->kind && r->told_ns < oldest->told_ns))
            oldest = r;
        if (!r->kind || strcmp(r->kind, e->kind) != 0 || r->code != e->code ||
            strcmp(r->thing, e->thing) != 0)
            continue;
        if (r->over != e->over)
            r->kind = NULL;
        else if (r->severity == e->severity)
            found = r;
    }
    if (found)
        return found;
    oldest->kind = NULL;
    return oldest;
}

bool kmsg_fold(struct kmsg_fold *f, struct event *e, int64_t log_ns)
{
    struct kmsg_recent *r = find(f, e);
    size_t len = strlen(e->text);
    char more[64] = "";

    if (r->kind && log_ns - r->told_ns < fold_ns) {
        r->folded++;
        return true;
    }
    if (r->kind && r->folded)
        snprintf(more, sizeof(more), " (%llu more since the last one told)",
                 (unsigned long long)r->folded);
    len = MIN(len, sizeof(e->text) - 1 - strlen(more));
    snprintf(e->text + len, sizeof(e->text) - len, "%s", more);
    *r = (struct kmsg_recent){ .kind = e->kind,
                               .severity = e->severity,
                               .code = e->code,
                               .over = e->over,
                               .told_ns = log_ns };
    memcpy(r->thing, e->thing, sizeof(r->thing));
    return false;
}
