#include "optimize/join.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"

void join_init(struct join *j)
{
    memset(j, 0, sizeof(*j));
}

void join_done(struct join *j)
{
    for (size_t i = 0; i < JOIN_RANKS; i++)
        free(j->ranks[i].steps);
    join_init(j);
}

void join_members(struct join *j, const bool in[JOIN_RANKS])
{
    j->members = 0;
    j->apart = false;
    for (size_t i = 0; i < JOIN_RANKS; i++) {
        j->ranks[i].in = in[i];
        j->members += in[i];
    }
}

void join_switch(struct join *j, size_t rank, uint64_t request)
{
    if (rank < JOIN_RANKS)
        j->ranks[rank].request = request;
}

static struct join_step *at(const struct join_rank *r, size_t i)
{
    return &r->steps[(r->first + i) % r->room];
}

static void drop(struct join_rank *r)
{
    r->first = (r->first + 1) % r->room;
    r->n--;
}

static int grow(struct join_rank *r)
{
    size_t room = r->room ? 2 * r->room : 64;
    struct join_step *steps = malloc(room * sizeof(*steps));

    if (!steps)
        return -ENOMEM;
    for (size_t i = 0; i < r->n; i++)
        steps[i] = *at(r, i);
    free(r->steps);
    r->steps = steps;
    r->room = room;
    r->first = 0;
    return 0;
}

int join_push(struct join *j, size_t rank, const struct join_step *s)
{
    struct join_rank *r = &j->ranks[rank < JOIN_RANKS ? rank : 0];
    int rc = 0;

    if (rank >= JOIN_RANKS)
        return 0;
    r->seen++;
    if (j->members && !r->in)
        return 0;
    if (r->n == JOIN_ROOM) {
        drop(r);
        j->apart = j->apart || r->in;
    } else if (r->n == r->room) {
        rc = grow(r);
    }
    if (rc < 0)
        return rc;
    r->n++;
    r->newest = s->number;
    r->newest_ns = s->begin_ns + clock_ns(s->seconds);
    *at(r, r->n - 1) = *s;
    at(r, r->n - 1)->request = r->request;
    return 0;
}

/* Whether all members have a step, of the same number: older ones of some are dropped. */
static bool align(struct join *j)
{
    uint64_t number = 0;
    bool all = j->members > 0;

    for (size_t i = 0; i < JOIN_RANKS && all; i++) {
        all = !j->ranks[i].in || j->ranks[i].n;
        if (j->ranks[i].in && all)
            number = MAX(number, at(&j->ranks[i], 0)->number);
    }
    for (size_t i = 0; i < JOIN_RANKS && all; i++) {
        struct join_rank *r = &j->ranks[i];

        while (r->in && r->n && at(r, 0)->number < number)
            drop(r);
        all = !r->in || (r->n && at(r, 0)->number == number);
    }
    return all;
}

bool join_next(struct join *j, struct join_step *ret)
{
    struct join_step all = { .samples = (double)NAN, .request = UINT64_MAX };
    double losses = 0, n = 0;

    if (!align(j))
        return false;
    for (size_t i = 0; i < JOIN_RANKS; i++) {
        struct join_rank *r = &j->ranks[i];
        const struct join_step *s;

        if (!r->in)
            continue;
        s = at(r, 0);
        all.number = s->number;
        all.begin_ns = MAX(all.begin_ns, s->begin_ns);
        all.seconds = fmax(all.seconds, s->seconds);
        all.request = MIN(all.request, s->request);
        all.saves = all.saves || s->saves;
        if (!isnan(s->samples))
            all.samples = isnan(all.samples) ? s->samples : all.samples + s->samples;
        losses += isnan(s->loss) ? 0 : s->loss;
        n += !isnan(s->loss);
        drop(r);
    }
    all.loss = n > 0 ? losses / n : (double)NAN;
    *ret = all;
    return true;
}

uint64_t join_newest(const struct join *j)
{
    uint64_t newest = 0;

    for (size_t i = 0; i < JOIN_RANKS; i++)
        if (j->ranks[i].in)
            newest = MAX(newest, j->ranks[i].newest);
    return newest;
}

int64_t join_newest_ns(const struct join *j)
{
    int64_t end_ns = INT64_MAX;

    for (size_t i = 0; i < JOIN_RANKS; i++) {
        const struct join_rank *r = &j->ranks[i];

        if (r->in && r->seen)
            end_ns = MIN(end_ns, r->newest_ns);
    }
    return end_ns;
}
