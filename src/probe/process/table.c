#include "probe/process/table.h"

#include <errno.h>
#include <string.h>

/* Over how long use counts as of late, and by how much another process must have done more to take
 * a slot over. */
#define SCORE_NS 10e9
#define STAY 1.25

void process_table_done(struct process_table *t)
{
    free(t->all);
    free(t->other);
    process_pids_done(&t->pids);
    *t = (struct process_table){ .n = 0 };
}

/* The larger room for an array that is full. */
static size_t more_room(size_t room)
{
    return room ? 2 * room : 256;
}

static int make_room(struct process_table *t, size_t n)
{
    size_t room = t->room;
    struct process *more;

    while (room < n)
        room = more_room(room);
    if (room == t->room)
        return 0;
    more = realloc(t->all, room * sizeof(*more));
    if (!more)
        return -ENOMEM;
    t->all = more;
    more = realloc(t->other, room * sizeof(*more));
    if (!more)
        return -ENOMEM;
    t->other = more;
    t->room = room;
    return 0;
}

static bool is_program(const struct process *p)
{
    return p->known && !p->kernel_thread && !p->gone;
}

int process_table_update(struct process_table *t, DIR *proc)
{
    struct process *old;
    size_t n, at = 0;
    int rc = process_pids_read(&t->pids, proc, PROCESSES_MAX);

    n = t->pids.n;
    if (rc == 0)
        rc = make_room(t, n);
    if (rc < 0)
        return rc;
    old = t->all;
    for (size_t i = 0; i < n; i++) {
        for (; at < t->n && old[at].pid < t->pids.all[i]; at++)
            process_table_end(t, &old[at]);
        if (at < t->n && old[at].pid == t->pids.all[i] && !old[at].gone)
            t->other[i] = old[at++];
        else
            t->other[i] = (struct process){ .pid = t->pids.all[i], .slot = PROCESS_NO_SLOT };
    }
    for (; at < t->n; at++)
        process_table_end(t, &old[at]);
    t->all = t->other;
    t->other = old;
    t->n = n;
    return 0;
}

void process_table_end(struct process_table *t, struct process *p)
{
    if (p->slot != PROCESS_NO_SLOT)
        t->taken[p->slot] = false;
    p->slot = PROCESS_NO_SLOT;
    p->gone = true;
}

void process_renew(struct process *p, uint64_t start_ticks)
{
    *p = (struct process){
        .pid = p->pid, .slot = p->slot, .known = true, .start_ticks = start_ticks
    };
}

void process_use(struct process *p, double use, int64_t now_ns)
{
    double ns = (double)(now_ns - p->used_ns), rate;

    if (p->used_ns > 0 && ns > 0) {
        rate = use > p->use ? (use - p->use) / ns * 1e9 : 0;
        p->score += (rate - p->score) * MIN(ns / SCORE_NS, 1.0);
    }
    p->use = use;
    p->used_ns = now_ns;
}

static double rank_of(const struct process *p)
{
    double score = p->score < 1e-6 ? 0 : p->score; /* a microsecond a second is nothing */

    return p->slot == PROCESS_NO_SLOT ? score : score * STAY;
}

static int by_rank(const void *a, const void *b)
{
    const struct process *left = *(struct process *const *)a, *right = *(struct process *const *)b;
    double l = rank_of(left), r = rank_of(right);
    int order = COMPARE(r, l);

    if (!order)
        order = (left->slot == PROCESS_NO_SLOT) - (right->slot == PROCESS_NO_SLOT);
    return order ? order : COMPARE(left->pid, right->pid);
}

static void give_slot(struct process_table *t, struct process *p, size_t slot)
{
    t->taken[slot] = true;
    p->slot = (int)slot;
    p->read_ns = 0;
}

/* Take the slots of those that are not among the first. */
static int take_slots(struct process_table *t)
{
    CLEANUP(freep) struct process **sorted = malloc(t->n_programs * sizeof(struct process *));
    size_t n = 0;

    if (!sorted)
        return -ENOMEM;
    for (size_t i = 0; i < t->n; i++)
        if (is_program(&t->all[i]))
            sorted[n++] = &t->all[i];
    qsort(sorted, n, sizeof(struct process *), by_rank);
    for (size_t i = 0; i < n; i++) {
        struct process *p = sorted[i];

        if (i >= PROCESS_SLOTS && p->slot != PROCESS_NO_SLOT) {
            t->taken[p->slot] = false;
            p->slot = PROCESS_NO_SLOT;
        }
    }
    for (size_t i = 0, slot = 0; i < MIN(n, (size_t)PROCESS_SLOTS); i++) {
        if (sorted[i]->slot != PROCESS_NO_SLOT)
            continue;
        while (t->taken[slot])
            slot++;
        give_slot(t, sorted[i], slot);
    }
    return 0;
}

int process_table_rank(struct process_table *t, bool again)
{
    size_t slot = 0;

    t->n_programs = 0;
    for (size_t i = 0; i < t->n; i++)
        t->n_programs += is_program(&t->all[i]);
    if (t->n_programs > PROCESS_SLOTS && again)
        return take_slots(t);
    for (size_t i = 0; i < t->n; i++) {
        struct process *p = &t->all[i];

        if (!is_program(p) || p->slot != PROCESS_NO_SLOT)
            continue;
        while (slot < PROCESS_SLOTS && t->taken[slot])
            slot++;
        if (slot == PROCESS_SLOTS)
            return 0;
        give_slot(t, p, slot);
    }
    return 0;
}
