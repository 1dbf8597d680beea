/* One sampler on a folder that stands in for the root: open it, sample, look at values. */
#ifndef BRIM_TESTS_SAMPLED_H
#define BRIM_TESTS_SAMPLED_H
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>

#include "folder.h"
#include "oom.h"
#include "probe/sample/sampler.h"
#include "tap.h"

struct sampled {
    const struct sampler_ops *ops;
    char folder[PATH_MAX];
    int root;
    const char *fake; /* of the sampler_env */
    int open;         /* files, before there was a sampler */
    void *state;
    struct tick tick;
};

/* How many of the first descriptors are taken. */
static inline int sampled_files(void)
{
    int n = 0;

    for (int fd = 0; fd < 256; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

static inline void sampled_make(struct sampled *s, const struct sampler_ops *ops)
{
    *s = (struct sampled){ .ops = ops };
    folder_make(s->folder);
    s->root = open(s->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    folder_need(s->root, s->folder);
    s->open = sampled_files();
}

static inline int sampled_open(struct sampled *s)
{
    struct err e;
    const struct sampler_env env = { .root = s->root, .fake = s->fake };

    return s->ops->open(&s->state, &env, &e);
}

static inline void sampled_close(struct sampled *s)
{
    if (s->state)
        s->ops->close(s->state);
    s->state = NULL;
}

static inline void sampled_remove(struct sampled *s)
{
    sampled_close(s);
    is_int(sampled_files(), s->open, "sampler %s leaves no file open", s->ops->name);
    tick_done(&s->tick);
    close(s->root);
    folder_remove(s->folder);
}

/* Sample at that second; how many rows there are, or what the sampler returned. */
static inline int sampled_at(struct sampled *s, int second)
{
    int rc;

    tick_begin(&s->tick, 0, second * (int64_t)1000000000);
    rc = s->ops->sample(s->state, &s->tick);
    if (rc > 0)
        ok(false, "sampler %s returns 0 or a code below 0 at second %d", s->ops->name, second);
    return rc < 0 ? rc : (int)s->tick.n_rows;
}

/* The value of a signal as text: "1234", "0.25", "absent", "no row", "no signal". */
static inline const char *sampled_value(const struct sampled *s, const char *thing,
                                        const char *signal, const char *label, char buf[32])
{
    const struct signal_set *set = s->ops->set;
    const struct signal_row *row = tick_find(&s->tick, set, thing);

    for (size_t i = 0; row && i < set->n_defs; i++) {
        const struct signal_def *def = &set->defs[i];

        if (strcmp(def->name, signal) != 0 || (label && strcmp(def->label, label) != 0))
            continue;
        if (isnan(row->values[i]))
            return "absent";
        snprintf(buf, 32, "%.15g", row->values[i]);
        return buf;
    }
    return row ? "no signal" : "no row";
}

#define is_value(s, thing, signal, want) \
    is_str(sampled_value((s), (thing), (signal), NULL, (char[32]){ "" }), (want), \
           "thing '%s' has signal %s at %s", (thing), (signal), (want))
#define is_labelled(s, thing, signal, label, want) \
    is_str(sampled_value((s), (thing), (signal), (label), (char[32]){ "" }), (want), \
           "thing '%s' has signal %s of %s at %s", (thing), (signal), (label), (want))

/* Every allocation of opening and of two samples failing once; what it writes stays the same. */
static inline void sampled_oom(struct sampled *s)
{
    bool failed;

    oom_restart();
    do {
        int rc;

        sampled_close(s);
        tick_done(&s->tick);
        oom_next();
        rc = sampled_open(s);
        if (rc == 0)
            rc = sampled_at(s, 0);
        if (rc >= 0)
            rc = sampled_at(s, 20);
        failed = oom_end();
        ok(failed ? rc == -ENOMEM : rc > 0, "the sampler with allocation %d failing returns %d",
           oom_at, rc);
    } while (failed);
}

#endif
