#include "run/watch/outside.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "run/archive/retry.h"
#include "run/job/about.h"
#include "run/job/attach.h"
#include "run/job/environ.h"
#include "run/job/find_ranks.h"
#include "run/moment/moment.h"
#include "run/watch/loop_watch.h"
#include "run/watch/node.h"
#include "run/watch/series.h"
#include "run/watch/stacks.h"

#define GLANCE_NS (NS_PER_S / 10)

enum { TEXT_MAX = 4 << 20 };

struct watch {
    const struct outside *c;
    struct run *run;
    int root, proc;
    struct family *family;
    struct node *node;
    struct tick ticks[2];
    int now;
    struct series series;
    struct rank_steps lane;
    char cgroup[SIGNAL_THING];
    const char *gpus; /* the job's, by number; NULL: all */
    struct find_ranks_watch kin;
    struct stacks *stacks;
    struct loop_watch *loops;
    bool ended;
};

static void watch_done(struct watch *w)
{
    node_close(w->node);
    stacks_close(w->stacks);
    loop_watch_close(w->loops);
    family_close(w->family);
    tick_done(&w->ticks[0]);
    tick_done(&w->ticks[1]);
    rank_steps_done(&w->lane);
    closep(&w->root);
    closep(&w->proc);
}

/* ---- what it is ---- */

/* Texts that each end with a NUL, as an array that ends with NULL; in the run's arena. What may not
 * be read is empty. */
static char **read_words(struct watch *w, const char *file)
{
    CLEANUP(str_done) struct str text = STR_INIT(TEXT_MAX);
    struct arena *a = &w->run->arena;
    char path[64], *copy, **words;
    size_t n = 0, count = 0;

    snprintf(path, sizeof(path), "/proc/%d/%s", (int)w->c->pid, file);
    if (file_read(path, &text, NULL) < 0)
        str_reset(&text);
    for (size_t i = 0; i < text.len; i++)
        count += str_text(&text)[i] == 0;
    copy = arena_alloc(a, text.len + 1);
    words = arena_alloc(a, (count + 2) * sizeof(*words));
    if (!copy || !words)
        return NULL;
    memcpy(copy, str_text(&text), text.len);
    for (size_t at = 0; at < text.len; at += strlen(copy + at) + 1)
        words[n++] = copy + at;
    return words;
}

static int read_about(struct watch *w)
{
    char path[64], process[16], folder[PATH_MAX] = "";
    char **argv = read_words(w, "cmdline"), **env = read_words(w, "environ");
    struct about about = { .id = "", .root = w->root, .folder = folder, .argv = argv, .env = env };
    ssize_t len;

    if (!argv || !env)
        return -ENOMEM;
    snprintf(process, sizeof(process), "%d", (int)w->c->pid);
    if (!argv[0])
        argv[0] = process;
    snprintf(path, sizeof(path), "%s/cwd", process);
    len = readlinkat(w->proc, path, folder, sizeof(folder) - 1);
    folder[len > 0 ? len : 0] = 0;
    about_cgroup(w->proc, process, w->cgroup);
    w->gpus = environ_gpus(env);
    if (about_run(w->run, &about) < 0)
        return -ENOMEM;
    w->run->id = NULL; /* it is none of those that are kept */
    return 0;
}

/* ---- what it does ---- */

static int sample(struct watch *w, int64_t now_ns)
{
    const struct moment_job job = { .cgroup = w->cgroup,
                                    .has_gpu = w->gpus ? environ_has_gpu : NULL,
                                    .arg = w->gpus };
    struct tick *before = &w->ticks[w->now], *now = &w->ticks[!w->now];
    struct family_growth growth = { .processes = 0 };
    struct run_moment m;
    bool known;
    int rc;

    tick_begin(now, clock_wall_ns(w->c->clock), now_ns);
    rc = node_sample(w->node, now);
    if (rc == 0)
        rc = family_sample(w->family, &growth);
    if (rc < 0)
        return rc;
    /* nobody may have waited for it yet */
    w->ended = !(growth.processes > 0) || attach_check(w->proc, w->c->pid, NULL) < 0;
    w->now = !w->now;
    if (!w->run->begin_ns) { /* what was before we came */
        w->run->begin_ns = now->wall_ns;
        find_ranks_look(&w->kin, w->proc, w->family, 0);
        return 0;
    }
    moment_make(before, now, &growth, &job, &m);
    if (w->ended || !(m.seconds > 0))
        return 0;
    known = w->kin.n > 0; /* who the ranks are, while that was measured */
    find_ranks_look(&w->kin, w->proc, w->family, m.seconds);
    family_ranks(w->family, w->kin.ranks, w->kin.n);
    stacks_of(w->stacks, w->family, w->kin.ranks, w->kin.n);
    return known ? archive_retry_in_memory(w->run, &m) : 0;
}

static void sleep_until(const struct watch *w, int64_t at_ns)
{
    int64_t left = at_ns - clock_monotonic_ns(w->c->clock);
    struct timespec t = { .tv_sec = left / NS_PER_S, .tv_nsec = left % NS_PER_S };

    if (left > 0)
        nanosleep(&t, NULL);
}

/* Look at its calls until the next glance. */
static int rest(struct watch *w, int64_t until_ns)
{
    int rc = 0;

    while (rc == 0 && stacks_due_ns(w->stacks) < until_ns) {
        sleep_until(w, stacks_due_ns(w->stacks));
        rc = stacks_look(w->stacks, NULL, NULL);
    }
    sleep_until(w, until_ns);
    return rc;
}

static int watch(struct watch *w)
{
    int64_t begin_ns = clock_monotonic_ns(w->c->clock), due_ns = begin_ns + NS_PER_S, now_ns;
    int rc = sample(w, begin_ns);

    for (now_ns = begin_ns; rc == 0 && !w->ended && now_ns - begin_ns < w->c->for_ns;) {
        struct family_glance g;

        rc = rest(w, now_ns + GLANCE_NS);
        if (rc < 0)
            break;
        now_ns = clock_monotonic_ns(w->c->clock);
        family_look(w->family, &g, true);
        series_add(&w->series, &g, now_ns);
        rc = loop_watch_look(w->loops, w->kin.n ? w->kin.ranks[0] : w->c->pid, 0, &w->lane);
        if (rc < 0)
            break;
        if (now_ns < due_ns)
            continue;
        while (due_ns <= now_ns)
            due_ns += NS_PER_S;
        rc = sample(w, now_ns);
    }
    return rc;
}

/* ---- its steps ---- */

/* Nothing repeats itself: each moment stands for a step. */
static int steps_of_moments(struct watch *w)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < w->run->n_moments; i++) {
        const struct run_moment *m = &w->run->moments[i];
        struct step step = { .number = i,
                             .begin_ns = m->monotonic_ns - clock_ns(m->seconds),
                             .end_ns = m->monotonic_ns,
                             .samples = (double)NAN,
                             .loss = (double)NAN };

        step.host_s[BRIM_STAGE_OTHER] = m->seconds;
        for (unsigned s = 0; s < BRIM_STAGES; s++)
            step.device_s[s] = (double)NAN;
        rc = rank_steps_step(&w->lane, &step);
    }
    return rc;
}

/* Its steps, and how they were found. */
static int find_steps(struct watch *w, int64_t now_ns, char *text, size_t size)
{
    int rc;

    w->run->inferred_confidence = 1;
    if (loop_watch_say(w->loops, text, size))
        return 0;
    rc = series_infer(&w->series, &w->lane, now_ns);
    w->run->inferred_confidence = w->series.confidence;
    if (rc < 0 || series_say(&w->series, text, size))
        return rc;
    snprintf(text, size,
             "no steps were marked, and nothing repeats itself at 10 Hz: shares are of the time");
    w->run->inferred_confidence = 0;
    return steps_of_moments(w);
}

static int add_ranks(struct watch *w, int64_t now_ns)
{
    struct run *r = w->run;
    char text[512] = "";
    int rc = find_steps(w, now_ns, text, sizeof(text));

    r->inferred = arena_strdup(&r->arena, text);
    if (!r->inferred)
        rc = -ENOMEM;
    snprintf(w->lane.host, sizeof(w->lane.host), "%s", r->host);
    for (size_t i = 0; rc == 0 && i < w->kin.n; i++) {
        w->lane.rank = (int)i;
        w->lane.world = (int)w->kin.n;
        w->lane.pid = w->kin.ranks[i];
        rc = rank_steps_to_run(&w->lane, r);
    }
    return rc;
}

static int open_all(struct watch *w, struct err *e)
{
    int rc;

    w->root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    w->proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (w->root < 0 || w->proc < 0)
        return err_set(e, -errno, "/proc: %s", strerror(errno));
    if (read_about(w) < 0)
        return err_nomem(e);
    rc = family_open(&w->family, w->proc, true, -1, e);
    if (rc < 0)
        return rc;
    family_take(w->family, w->c->pid);
    w->run->lines = arena_alloc(&w->run->arena, sizeof(*w->run->lines));
    if (!w->run->lines ||
        stacks_open(&w->stacks, &(const struct stacks_config){
                                    .proc = w->proc,
                                    .first = w->c->pid,
                                    .to = w->run->lines,
                                    .clock = w->c->clock,
                                    .chance = (uint64_t)clock_monotonic_ns(w->c->clock) }) < 0)
        return err_nomem(e);
    if (loop_watch_open(&w->loops, w->c->clock) < 0)
        return err_nomem(e);
    return node_open(&w->node, w->root, NULL, e);
}

static int watch_all(struct watch *w, struct err *e)
{
    int rc = open_all(w, e);

    if (rc < 0)
        return rc;
    rc = watch(w);
    if (rc == 0 && !w->run->n_moments)
        return err_set(e, -ESRCH, "process %d ended before anything could be seen of it",
                       (int)w->c->pid);
    if (rc == 0)
        rc = add_ranks(w, clock_monotonic_ns(w->c->clock));
    w->run->end_ns = clock_wall_ns(w->c->clock);
    return rc < 0 ? err_nomem(e) : 0;
}

int outside_watch(const struct outside *c, struct run *ret, struct err *e)
{
    struct watch *w = calloc(1, sizeof(*w));
    int rc;

    *ret = (struct run){ .id = NULL };
    if (!w)
        return err_nomem(e);
    w->c = c;
    w->run = ret;
    w->root = w->proc = -1;
    rank_steps_init(&w->lane);
    rc = watch_all(w, e);
    watch_done(w);
    free(w);
    return rc;
}
