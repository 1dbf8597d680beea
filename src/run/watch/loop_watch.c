#include "run/watch/loop_watch.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/compiler.h"
#include "probe/python/stack.h"
#include "run/watch/rounds.h"

/* Python is looked for now and then, each time after twice as long: a process may be a shell yet
 * that becomes it, and what it has mapped may be long. */
#define FIND_NS NS_PER_S
enum { TRIES_MOST = 6 };

/* Looks without a round after which all loops are looked at, and not the one that is known; and
 * without a loop, after which Python is looked for anew: the process may run another one by now. */
enum { STILL = 2, EMPTY = 50 };

struct loop_watch {
    const struct clock *clock;
    pid_t pid;
    struct python_process *python; /* NULL: none was found yet */
    int64_t find_ns;               /* when to look for it again */
    unsigned tries;
    struct rounds rounds;
    struct python_loop_of_call loops[ROUNDS_LOOPS]; /* of the last look at all of them */
    size_t n_loops;                                 /* 0: it was at the known one alone */
    struct python_loop_of_call known; /* the loop that makes the steps; id 0: none yet */
    unsigned still, empty;
    bool counted;
};

int loop_watch_open(struct loop_watch **ret, const struct clock *clock)
{
    struct loop_watch *w = calloc(1, sizeof(*w));

    if (!w)
        return -ENOMEM;
    w->clock = clock;
    *ret = w;
    return 0;
}

void loop_watch_close(struct loop_watch *w)
{
    if (!w)
        return;
    python_process_close(w->python);
    free(w);
}

static void forget(struct loop_watch *w)
{
    python_process_close(w->python);
    w->python = NULL;
    w->known.loop.id = 0;
    w->empty = 0;
    w->rounds = (struct rounds){ .from_ns = w->rounds.from_ns };
}

static bool find_python(struct loop_watch *w, pid_t pid, int64_t now_ns)
{
    if (pid != w->pid) {
        forget(w);
        w->pid = pid;
        w->find_ns = 0;
        w->tries = 0;
    }
    if (w->python || now_ns < w->find_ns)
        return w->python;
    w->find_ns = now_ns + (FIND_NS << MIN(w->tries, (unsigned)TRIES_MOST));
    w->tries++;
    return python_process_open(&w->python, pid, NULL) == 0;
}

static struct rounds_seen seen_of(const struct python_loop *l)
{
    return (struct rounds_seen){
        l->id, l->order, l->entered, l->iterator, l->progress.at, l->progress.left,
    };
}

/* The loops of this look: how many. Of one that goes on it is enough to look at that. */
static size_t see(struct loop_watch *w, struct rounds_seen *seen)
{
    w->n_loops = 0;
    if (w->known.loop.id && w->still < STILL &&
        python_process_again(w->python, &w->known.loop) == 0) {
        seen[0] = seen_of(&w->known.loop);
        return 1;
    }
    w->n_loops = (size_t)python_process_loops(w->python, 0, w->loops, ROUNDS_LOOPS);
    for (size_t i = 0; i < w->n_loops; i++)
        seen[i] = seen_of(&w->loops[i].loop);
    return w->n_loops;
}

/* Which of the loops it is that makes the steps, and where it is held now. */
static void know(struct loop_watch *w)
{
    if (!w->rounds.slot)
        w->known.loop.id = 0;
    for (size_t i = 0; i < w->n_loops; i++)
        if (w->loops[i].loop.id == w->rounds.slot)
            w->known = w->loops[i];
}

/* The rounds of a look took the same time each, as far as anybody can say. */
static int add(struct rank_steps *l, const struct rounds_made *made)
{
    int rc = 0;

    for (uint64_t i = 0; i < made->n && rc == 0; i++) {
        int64_t all_ns = made->to_ns - made->from_ns;
        struct step s = {
            .number = l->count,
            .begin_ns = made->from_ns + (int64_t)((double)all_ns * (double)i / (double)made->n),
            .end_ns = made->from_ns + (int64_t)((double)all_ns * (double)(i + 1) / (double)made->n),
            .samples = (double)NAN,
            .loss = (double)NAN
        };

        s.host_s[BRIM_STAGE_OTHER] = clock_seconds(s.end_ns - s.begin_ns);
        for (unsigned k = 0; k < BRIM_STAGES; k++)
            s.device_s[k] = (double)NAN;
        rc = rank_steps_step(l, &s);
    }
    return rc;
}

int loop_watch_look(struct loop_watch *w, pid_t pid, int64_t since_ns, struct rank_steps *l)
{
    struct rounds_seen seen[ROUNDS_LOOPS];
    int64_t now_ns = clock_monotonic_ns(w->clock);
    struct rounds_made made;
    bool any;
    size_t n;

    if (!find_python(w, pid, now_ns))
        return 0;
    n = see(w, seen);
    w->empty = n ? 0 : w->empty + 1;
    if (w->empty == EMPTY) {
        forget(w);
        return 0;
    }
    w->rounds.from_ns = MAX(w->rounds.from_ns, since_ns);
    any = rounds_look(&w->rounds, seen, n, now_ns, &made);
    know(w);
    w->still = any ? 0 : w->still + 1;
    w->counted = w->counted || any;
    return any ? add(l, &made) : 0;
}

bool loop_watch_counts(const struct loop_watch *w)
{
    return w->counted;
}

bool loop_watch_say(const struct loop_watch *w, char *text, size_t size)
{
    const struct python_frame *f = &w->known.place;

    if (!w->counted)
        return false;
    snprintf(text, size, "counted from outside, by the loop in %s of %s: no steps were marked",
             f->function, f->file);
    return true;
}
