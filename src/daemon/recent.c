#include "daemon/recent.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/compiler.h"

enum { APART_MS = 950 }; /* a tick may be a little early */

struct sum {
    double value;
    size_t n;
};

static void add(struct sum *s, double value)
{
    if (isnan(value))
        return;
    s->value += value;
    s->n++;
}

static float sum_of(const struct sum *s)
{
    return s->n ? (float)s->value : (float)NAN;
}

static float mean_of(const struct sum *s)
{
    return s->n ? (float)(s->value / (double)s->n) : (float)NAN;
}

static void fill(struct recent_point *p, const struct live *l)
{
    struct sum busy = { .n = 0 }, read = { .n = 0 }, write = { .n = 0 }, rx = { .n = 0 },
               tx = { .n = 0 };

    for (int i = 0; i < LIVE_STAGES; i++)
        p->values[i] = (float)l->stages[i].load;
    for (size_t i = 0; i < l->n_gpus; i++)
        add(&busy, l->gpus[i].busy);
    for (size_t i = 0; i < l->n_disks; i++) {
        add(&read, l->disks[i].read);
        add(&write, l->disks[i].write);
    }
    for (size_t i = 0; i < l->n_nets; i++) {
        add(&rx, l->nets[i].rx);
        add(&tx, l->nets[i].tx);
    }
    p->values[RECENT_GPU_BUSY] = mean_of(&busy);
    p->values[RECENT_DISK_READ] = sum_of(&read);
    p->values[RECENT_DISK_WRITE] = sum_of(&write);
    p->values[RECENT_NET_RX] = sum_of(&rx);
    p->values[RECENT_NET_TX] = sum_of(&tx);
}

void recent_add(struct recent *r, const struct live *l)
{
    int64_t wall_ms = l->wall_ns / NS_PER_MS;
    struct recent_point *p;

    if (r->n) {
        int64_t last_ms = r->points[(r->first + r->n - 1) % RECENT_POINTS].wall_ms;

        if (wall_ms >= last_ms && wall_ms - last_ms < APART_MS)
            return;
        if (wall_ms < last_ms) /* the clock was set back: what lies ahead of it is of no use */
            r->n = 0;
    }
    if (r->n == RECENT_POINTS) {
        r->first = (r->first + 1) % RECENT_POINTS;
        r->n--;
    }
    p = &r->points[(r->first + r->n++) % RECENT_POINTS];
    p->wall_ms = wall_ms;
    fill(p, l);
}

int64_t recent_begin_ms(const struct recent *r)
{
    return r->n ? r->points[r->first].wall_ms : INT64_MAX;
}

void recent_series(const struct recent *r, enum recent_line line, struct recent_means *ret)
{
    memset(ret->counts, 0, ret->n * sizeof(*ret->counts));
    for (size_t i = 0; i < r->n; i++) {
        const struct recent_point *p = &r->points[(r->first + i) % RECENT_POINTS];
        int64_t at = p->wall_ms < ret->from_ms ? -1 : (p->wall_ms - ret->from_ms) / ret->step_ms;

        if (at < 0 || at >= (int64_t)ret->n || isnan(p->values[line]))
            continue;
        ret->means[at] = (ret->counts[at] ? ret->means[at] : 0) + (double)p->values[line];
        ret->counts[at]++;
    }
    for (size_t i = 0; i < ret->n; i++)
        ret->means[i] = ret->counts[i] ? ret->means[i] / ret->counts[i] : (double)NAN;
}
