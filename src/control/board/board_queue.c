/* The jobs that wait: in which order, why, and whether what is free would do. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/board/board_private.h"

/* ---- in Slurm's order ---- */

struct place {
    uint32_t priority, job;
};

static int compare(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    if (x->priority != y->priority)
        return x->priority > y->priority ? -1 : 1;
    return COMPARE(x->job, y->job);
}

static void count_reason(struct board *b, const struct site_job *j)
{
    const char *word = j->why ? j->why : "";
    size_t i = 0;

    while (i < b->n_reasons && strcmp(b->reasons[i].word, word) != 0)
        i++;
    if (i == BOARD_REASONS) {
        i = BOARD_REASONS - 1;
        b->reasons[i].word = "Other";
    } else if (i == b->n_reasons) {
        b->reasons[b->n_reasons++].word = word;
    }
    b->reasons[i].jobs++;
    b->reasons[i].devices += j->devices;
}

static int most_first(const void *a, const void *b)
{
    const struct board_reason *x = a, *y = b;

    if (x->devices != y->devices)
        return x->devices > y->devices ? -1 : 1;
    return COMPARE(y->jobs, x->jobs);
}

int board_line_up(struct board *b)
{
    const struct site *s = b->site;
    struct place *places = arena_alloc(&b->arena, s->n_jobs * sizeof(*places));
    size_t n = 0;

    b->queue = arena_alloc(&b->arena, s->n_jobs * sizeof(*b->queue));
    if (!places || !b->queue)
        return -ENOMEM;
    for (uint32_t i = 0; i < s->n_jobs; i++) {
        if (s->jobs[i].state != SITE_WAITING)
            continue;
        places[n++] = (struct place){ s->jobs[i].priority, i };
        b->waited += s->jobs[i].devices;
        count_reason(b, &s->jobs[i]);
    }
    if (n > 0)
        qsort(places, n, sizeof(*places), compare);
    for (size_t i = 0; i < n; i++)
        b->queue[i] = places[i].job;
    b->n_queue = n;
    if (b->n_reasons > 0)
        qsort(b->reasons, b->n_reasons, sizeof(b->reasons[0]), most_first);
    return 0;
}

/* ---- what is free ---- */

/* Whether enough nodes have enough free devices: partitions, CPUs and memory are not looked at. */
static bool fits(const struct board *b, const struct site_job *j, const struct board_room *room)
{
    int64_t nodes = MAX(j->nodes, 1), with = 0;
    int64_t each = j->devices_per_node ? j->devices_per_node : (j->devices + nodes - 1) / nodes;

    if (each < 1 || each > SITE_DEVICES)
        return false;
    for (size_t k = 0; k < b->n_kinds; k++)
        if (!j->kind || !strcmp(b->kinds[k], j->kind))
            with += room->nodes_with[k][each];
    return with >= nodes;
}

/* So many of what is left go into a use. */
static void take(struct board *b, int64_t left[BOARD_KINDS], enum board_use use, int64_t n)
{
    for (size_t k = 0; k < b->n_kinds; k++) {
        int64_t some = MIN(n, left[k]);

        b->used[k][use] += some;
        left[k] -= some;
        n -= some;
    }
}

void board_share_out(struct board *b, const struct board_room *room)
{
    int64_t left[BOARD_KINDS], fit = 0, split = 0, barred = 0;

    memcpy(left, room->free, sizeof(left));
    for (size_t i = 0; i < b->n_queue; i++) {
        const struct site_job *j = &b->site->jobs[b->queue[i]];

        if (j->held || j->depends)
            barred += j->devices;
        else if (fits(b, j, room))
            fit += j->devices;
        else
            split += j->devices;
    }
    take(b, left, BOARD_WANTED, fit);
    take(b, left, BOARD_SPLIT, split);
    take(b, left, BOARD_BARRED, barred);
    take(b, left, BOARD_FREE, INT64_MAX);
}
