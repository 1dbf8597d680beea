#include "probe/kernel/kmsg_fold.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/compiler.h"

static const int64_t fold_ns = 60 * NS_PER_S;

static bool is_namesake(const struct kmsg_recent *r, const struct event *e)
{
    return r->kind && !strcmp(r->kind, e->kind) && r->code == e->code &&
           !strcmp(r->thing, e->thing);
}

/* What was told of the same, or of the last one of too many that say something else; or room for
 * it, where the oldest had been. */
static struct kmsg_recent *find(struct kmsg_fold *f, const struct event *e, int64_t log_ns)
{
    struct kmsg_recent *oldest = &f->recent[0], *found = NULL, *last = NULL;
    uint64_t what = event_what(e);
    unsigned others = 0;

    for (size_t i = 0; i < KMSG_RECENT; i++) {
        struct kmsg_recent *r = &f->recent[i];

        if (!r->kind || (oldest->kind && r->told_ns < oldest->told_ns))
            oldest = r;
        if (!is_namesake(r, e))
            continue;
        if (r->over != e->over) {
            r->kind = NULL;
        } else if (r->severity == e->severity && r->what == what) {
            found = r;
        } else if (r->severity == e->severity && log_ns - r->told_ns < fold_ns) {
            others++;
            last = !last || r->told_ns >= last->told_ns ? r : last;
        }
    }
    if (!found && others >= EVENT_TEXTS)
        return last;
    if (!found)
        oldest->kind = NULL;
    return found ? found : oldest;
}

bool kmsg_fold(struct kmsg_fold *f, struct event *e, int64_t log_ns)
{
    struct kmsg_recent *r = find(f, e, log_ns);
    size_t len = strlen(e->text);
    uint64_t what;
    char more[64] = "";

    if (r->kind && log_ns - r->told_ns < fold_ns) {
        r->folded++;
        return true;
    }
    if (r->kind && r->folded)
        snprintf(more, sizeof(more), " (%llu more since the last one told)",
                 (unsigned long long)r->folded);
    len = MIN(len, sizeof(e->text) - 1 - strlen(more));
    what = event_what(e);
    e->words = *more ? (uint16_t)len : 0;
    snprintf(e->text + len, sizeof(e->text) - len, "%s", more);
    *r = (struct kmsg_recent){ .kind = e->kind,
                               .severity = e->severity,
                               .code = e->code,
                               .over = e->over,
                               .what = what,
                               .told_ns = log_ns };
    memcpy(r->thing, e->thing, sizeof(r->thing));
    return false;
}
