#include "control/used.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* As a job is idle whose devices are busy so long at most. */
static const double idle_most = 0.01;

struct device {
    double sum;
    unsigned samples;
};

struct job {
    uint32_t id;
    int64_t start_ms;
    char user[USED_NAME + 1], name[USED_NAME + 1];
    size_t n; /* devices, in the order of the job's parts */
    struct device *devices;
};

struct used {
    struct job *jobs; /* in the order of their ids */
    size_t n, room;
};

int used_open(struct used **ret)
{
    *ret = calloc(1, sizeof(**ret));
    return *ret ? 0 : -ENOMEM;
}

void used_close(struct used *u)
{
    if (!u)
        return;
    for (size_t i = 0; i < u->n; i++)
        free(u->jobs[i].devices);
    free(u->jobs);
    free(u);
}

static void plain(char to[USED_NAME + 1], const char *from)
{
    size_t i = 0;

    for (; i < USED_NAME && from[i]; i++)
        to[i] = (unsigned char)from[i] < ' ' || from[i] == 0x7f ? '?' : from[i];
    to[i] = '\0';
}

/* The devices of a job; 0: of one of its nodes nobody says which. */
static size_t count_devices(const struct site_job *j)
{
    size_t n = 0;

    for (size_t i = 0; i < j->n_parts; i++) {
        if (__builtin_popcount(j->parts[i].devices) != j->parts[i].count)
            return 0;
        n += (size_t)j->parts[i].count;
    }
    return n <= USED_DEVICES ? n : 0;
}

static bool is_same(const struct job *known, const struct site_job *j)
{
    return known->id == j->id && known->start_ms == j->start_ms && site_job_holds(j) &&
           known->n == count_devices(j);
}

/* The first known job whose id is not below. */
static size_t place_of(const struct used *u, uint32_t id)
{
    size_t low = 0, high = u->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (u->jobs[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int add(struct used *u, size_t at, const struct site_job *j)
{
    struct job new = { .id = j->id, .start_ms = j->start_ms, .n = count_devices(j) };

    if (u->n == u->room) {
        size_t room = u->room ? 2 * u->room : 64;
        struct job *jobs = reallocarray(u->jobs, room, sizeof(*jobs));

        if (!jobs)
            return -ENOMEM;
        u->jobs = jobs;
        u->room = room;
    }
    new.devices = calloc(new.n, sizeof(*new.devices));
    if (!new.devices)
        return -ENOMEM;
    plain(new.user, j->user);
    plain(new.name, j->name);
    memmove(&u->jobs[at + 1], &u->jobs[at], (u->n - at) * sizeof(*u->jobs));
    u->jobs[at] = new;
    u->n++;
    return 0;
}

static void see(struct job *known, const struct site *site, const struct site_job *j,
                const struct control_answers *answers)
{
    size_t at = 0;

    for (size_t i = 0; i < j->n_parts; i++)
        for (uint32_t bits = j->parts[i].devices; bits; bits &= bits - 1) {
            uint32_t node = j->parts[i].node;
            unsigned device = (unsigned)__builtin_ctz(bits);
            double busy = node < site->n_nodes ? control_device_busy(answers, node, device)
                                               : (double)NAN;
            struct device *d = &known->devices[at++];

            d->sum += isnan(busy) ? 0 : busy;
            d->samples += !isnan(busy);
        }
}

int used_see(struct used *u, const struct site *site, const struct control_answers *answers)
{
    for (size_t i = 0; i < site->n_jobs; i++) {
        const struct site_job *j = &site->jobs[i];
        size_t at = place_of(u, j->id);
        bool known = at < u->n && u->jobs[at].id == j->id;

        if (!site_job_holds(j) || count_devices(j) == 0)
            continue;
        if (!known && add(u, at, j) < 0)
            return -ENOMEM;
        if (is_same(&u->jobs[at], j))
            see(&u->jobs[at], site, j, answers);
    }
    return 0;
}

static void tell(const struct job *known, struct str *out)
{
    size_t busy = 0;

    for (size_t i = 0; i < known->n; i++) {
        const struct device *d = &known->devices[i];

        if (d->samples < USED_SAMPLES)
            return;
        busy += d->sum > idle_most * d->samples;
    }
    if (*known->user)
        str_addf(out, "%s\t%s\t%zu\t%zu\n", known->user, known->name, known->n, busy);
}

void used_end(struct used *u, const struct site *site, struct str *out)
{
    size_t kept = 0;

    for (size_t i = 0; i < u->n; i++) {
        int64_t at = site_job_find(site, u->jobs[i].id);

        if (at >= 0 && is_same(&u->jobs[i], &site->jobs[at])) {
            u->jobs[kept++] = u->jobs[i];
            continue;
        }
        tell(&u->jobs[i], out);
        free(u->jobs[i].devices);
    }
    u->n = kept;
}
