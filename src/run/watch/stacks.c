#include "run/watch/stacks.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "probe/python/stack.h"
#include "run/job/thread.h"

/* How often: often while nothing is known, so that a short run tells, too. */
#define YOUNG_NS (10 * NS_PER_S)
#define GROWN_NS (120 * NS_PER_S)
#define YOUNG_EVERY_NS (NS_PER_S / 20)
#define GROWN_EVERY_NS (NS_PER_S / 5)
#define OLD_EVERY_NS NS_PER_S

enum {
    CALLS = 64,      /* of a process at a time */
    PROCESSES = 128, /* that are known at a time */
    AT_ONCE = 4,     /* looked at together, workers half of them at most */
    BLIND = 3,       /* samples without a rank that is Python */
    AGAIN = 30,      /* samples of the first process instead */
    THREADS = 32,    /* of a rank beside its first one */
    TRIES = 6,       /* to find Python in a process, each twice as late as the one before */
    STARTS = 8,      /* looks at a Python that has not started, which are one of these */
    DULL = 64        /* looks at a process that does nothing which counts: then now and then */
};

struct stacks_process {
    pid_t pid;
    bool worker, here;
    struct python_process *python; /* NULL: not found (yet) */
    unsigned looks, tries;         /* at the family while it was there; to find Python */
    unsigned dull;                 /* looks in turn that found nothing */
    pid_t threads[THREADS];        /* of a rank, beside its first one */
    size_t n_threads, next_thread;
};

struct stacks {
    int proc;
    pid_t first;
    struct lines *to;
    const struct clock *clock;
    uint64_t chance;
    unsigned blind;           /* samples in which no rank was Python */
    int64_t first_ns, due_ns; /* of the first look; 0: none yet */
    struct stacks_process all[PROCESSES];
    bool marked;       /* the job marks its steps */
    size_t n, next[2]; /* whose turn it is, of ranks and of workers */
    unsigned counted, told;
    struct python_frame frames[CALLS];
    struct lines_call calls[CALLS];
};

int stacks_open(struct stacks **ret, const struct stacks_config *c)
{
    struct stacks *s = calloc(1, sizeof(*s));

    if (!s)
        return -ENOMEM;
    s->proc = c->proc;
    s->first = c->first;
    s->to = c->to;
    s->clock = c->clock;
    s->chance = c->chance;
    s->due_ns = INT64_MAX;
    *ret = s;
    return 0;
}

void stacks_close(struct stacks *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n; i++)
        python_process_close(s->all[i].python);
    free(s);
}

/* ---- who ---- */

static bool is_among(const pid_t *pids, size_t n, pid_t pid)
{
    for (size_t i = 0; i < n; i++)
        if (pids[i] == pid)
            return true;
    return false;
}

/* A child of a rank, or of a child that starts others (multiprocessing's server). */
static bool is_worker(const struct family_kin *kin, size_t n, const struct family_kin *k,
                      const pid_t *ranks, size_t n_ranks)
{
    if (is_among(ranks, n_ranks, k->parent))
        return true;
    for (size_t i = 0; i < n; i++)
        if (kin[i].pid == k->parent)
            return is_among(ranks, n_ranks, kin[i].parent);
    return false;
}

static void keep(struct stacks *s, pid_t pid, bool worker)
{
    struct stacks_process *p = NULL;

    for (size_t i = 0; i < s->n && !p; i++)
        if (s->all[i].pid == pid)
            p = &s->all[i];
    if (!p && s->n == PROCESSES)
        return;
    if (!p) {
        p = &s->all[s->n++];
        *p = (struct stacks_process){ .pid = pid };
    }
    p->worker = worker;
    p->here = true;
    p->looks++;
}

/* A process may be a shell yet that becomes Python, or Python that starts yet. What was there for
 * one sample alone may be one of many short ones that the job starts. */
static void find_python(struct stacks *s, struct stacks_process *p)
{
    struct err why = { "" };
    int rc;

    if (p->python || p->tries == TRIES || p->looks < 1U << p->tries || (p->worker && p->looks < 2))
        return;
    rc = python_process_open(&p->python, p->pid, &why);
    p->tries += rc != -EAGAIN || p->looks % STARTS == 0;
    if (rc != -EPERM && rc != -ENOTSUP)
        return;
    p->tries = TRIES;
    if (!p->worker)
        snprintf(s->to->off, sizeof(s->to->off), "%s", why.text);
}

static void find_threads(const struct stacks *s, struct stacks_process *p)
{
    p->n_threads = p->python && !p->worker ? thread_others(s->proc, p->pid, p->threads, THREADS)
                                           : 0;
}

/* When to look again: half to one and a half times the usual time from now, so that nothing in the
 * job keeps time with it. */
static void plan(struct stacks *s, int64_t now_ns)
{
    int64_t age_ns = s->first_ns ? now_ns - s->first_ns : 0;
    int64_t every_ns = OLD_EVERY_NS;

    if (age_ns < YOUNG_NS)
        every_ns = YOUNG_EVERY_NS;
    else if (age_ns < GROWN_NS)
        every_ns = GROWN_EVERY_NS;
    s->chance = s->chance * 6364136223846793005U + 1442695040888963407U;
    s->due_ns = now_ns + every_ns / 2 +
                (int64_t)((double)every_ns * (double)(s->chance >> 40) / (double)(1U << 24));
}

/* The ranks are tried again when the first process is no Python either, and now and then. */
static void count_blind(struct stacks *s, bool any)
{
    if (s->blind >= BLIND)
        s->blind = any && s->blind < BLIND + AGAIN ? s->blind + 1 : 0;
    else
        s->blind = any || s->marked ? 0 : s->blind + 1;
}

void stacks_of(struct stacks *s, const struct family *f, const pid_t *ranks, size_t n)
{
    struct family_kin kin[PROCESSES];
    size_t n_kin = family_kin(f, kin, PROCESSES), kept = 0;
    bool any = false;

    if (s->blind >= BLIND) {
        ranks = &s->first;
        n = 1;
    }
    for (size_t i = 0; i < s->n; i++)
        s->all[i].here = false;
    for (size_t i = 0; i < n_kin; i++) {
        bool rank = is_among(ranks, n, kin[i].pid);

        if (rank || is_worker(kin, n_kin, &kin[i], ranks, n))
            keep(s, kin[i].pid, !rank);
    }
    for (size_t i = 0; i < s->n; i++) {
        if (!s->all[i].here) {
            python_process_close(s->all[i].python);
            continue;
        }
        s->all[kept] = s->all[i];
        find_python(s, &s->all[kept]);
        find_threads(s, &s->all[kept]);
        any = any || s->all[kept].python;
        kept++;
    }
    s->n = kept;
    count_blind(s, any);
    if (!any)
        s->due_ns = INT64_MAX;
    else if (s->due_ns == INT64_MAX)
        plan(s, clock_monotonic_ns(s->clock));
}

int64_t stacks_due_ns(const struct stacks *s)
{
    return s->due_ns;
}

/* ---- what ---- */

/* tid 0: its first thread. */
static bool look_at(struct stacks *s, const struct stacks_process *p, pid_t tid,
                    struct lines_entry *ret)
{
    int n = python_process_stack(p->python, tid, s->frames, CALLS);

    for (int i = 0; i < n; i++)
        s->calls[i] = (struct lines_call){ .function = s->frames[i].function,
                                           .file = s->frames[i].file,
                                           .line = s->frames[i].line };
    return n > 0 && lines_place(s->calls, (size_t)n, p->worker, ret);
}

static bool look(struct stacks *s, struct stacks_process *p, struct lines_entry *ret)
{
    bool found = look_at(s, p, 0, ret);

    p->dull = found ? 0 : p->dull + 1;
    if (!p->worker && p->dull == DULL) { /* it may be another program by now */
        python_process_close(p->python);
        p->python = NULL;
        p->tries = 0;
    }
    return found;
}

/* One thread of a rank beside its first one, if it runs: it may keep the first one from running. */
static void look_beside(struct stacks *s, struct stacks_process *p)
{
    struct lines_entry found;
    pid_t tid;

    if (p->worker || !p->python || !p->n_threads)
        return;
    tid = p->threads[p->next_thread++ % p->n_threads];
    if (!thread_is_running(s->proc, tid) || !look_at(s, p, tid, &found))
        return;
    found.stage = LINES_THREAD;
    lines_count(s->to, &found);
}

/* The next of its kind that has its turn; NULL: there is none. One that has long done nothing which
 * counts is passed over most of the time. */
static struct stacks_process *next(struct stacks *s, bool worker)
{
    for (size_t i = 0; i < s->n; i++) {
        struct stacks_process *p = &s->all[s->next[worker]++ % s->n];

        if (!p->python || p->worker != worker)
            continue;
        if (p->dull < DULL || ++p->dull % DULL == 0)
            return p;
    }
    return NULL;
}

/* One process more than once in a look would be seen in the same line twice. */
static size_t take(struct stacks *s, bool worker, size_t most, struct stacks_process **ret)
{
    size_t n = 0;

    while (n < most) {
        struct stacks_process *p = next(s, worker);

        if (!p || (n && p == ret[0]))
            break;
        ret[n++] = p;
    }
    return n;
}

static void count(struct stacks *s, const struct lines_entry *e)
{
    lines_count(s->to, e);
    s->counted++;
}

/* The first marks: what was seen until now was the job's start. */
static void begin_marked(struct stacks *s, int64_t now_ns)
{
    s->marked = true;
    s->blind = 0;
    s->first_ns = now_ns;
    memset(s->to->total, 0, sizeof(s->to->total));
    s->to->n = 0;
}

int stacks_look(struct stacks *s, struct rings *rings, struct err *e)
{
    struct stacks_process *who[AT_ONCE];
    struct lines_entry found[AT_ONCE];
    size_t at[AT_ONCE], n_rings = rings ? rings_count(rings) : 0, n, kept = 0;
    int64_t now_ns = clock_monotonic_ns(s->clock);
    int rc = 0;

    s->first_ns = s->first_ns ? s->first_ns : now_ns;
    if (n_rings && !s->marked)
        begin_marked(s, now_ns);
    plan(s, now_ns);
    n = take(s, true, AT_ONCE / 2, who);
    n += take(s, false, AT_ONCE - n, who + n);
    for (size_t i = 0; i < n; i++) {
        int64_t begin_ns = clock_monotonic_ns(s->clock);

        if (!look(s, who[i], &found[kept]))
            continue;
        at[kept] = who[i]->worker || !n_rings ? n_rings : rings_of_pid(rings, who[i]->pid);
        if (n_rings && !who[i]->worker && at[kept] == n_rings)
            continue; /* its marks are where we do not see them */
        if (at[kept] < n_rings)
            rings_ask(rings, at[kept], begin_ns + (clock_monotonic_ns(s->clock) - begin_ns) / 2);
        kept++;
    }
    if (n_rings && kept)
        rc = rings_read(rings, e);
    for (size_t i = 0; i < kept && rc == 0; i++) {
        int stage = at[i] < n_rings ? rings_answer(rings, at[i]) : (int)found[i].stage;

        if (stage < 0)
            continue; /* it has not begun to train */
        found[i].stage = (unsigned)stage;
        count(s, &found[i]);
    }
    for (size_t i = 0; i < n; i++)
        look_beside(s, who[i]);
    return rc;
}

bool stacks_is_new(struct stacks *s)
{
    bool new = s->told != s->counted;

    s->told = s->counted;
    return new;
}
