/* The last minutes of the charts' lines: what a point holds, how many there are, their means. */
#include "daemon/recent.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "tap.h"

enum { SECOND_MS = 1000, MS = 1000000, STEPS = 4 };

static struct live *live_at(int64_t wall_ms, double load)
{
    struct live *l = calloc(1, sizeof(*l));

    if (!l) {
        printf("Bail out! out of memory\n");
        exit(1);
    }
    l->wall_ns = wall_ms * MS;
    for (int i = 0; i < LIVE_STAGES; i++)
        l->stages[i].load = load + i;
    return l;
}

/* Add a point whose first stage has that load. */
static void add(struct recent *r, int64_t wall_ms, double load)
{
    struct live *l = live_at(wall_ms, load);

    recent_add(r, l);
    free(l);
}

/* The means of a line from the first second on, in steps of two seconds. */
static void series(const struct recent *r, int line, double means[STEPS])
{
    unsigned counts[STEPS];
    struct recent_means ret = { SECOND_MS, 2 * SECOND_MS, STEPS, means, counts };

    recent_series(r, (enum recent_line)line, &ret);
}

static bool is_mean(double got, double want)
{
    return isnan(want) ? isnan(got) : fabs(got - want) < 1e-6;
}

static void test_lines(struct recent *r)
{
    struct live *l = live_at(SECOND_MS, 10);
    double means[STEPS];

    *r = (struct recent){ .n = 0 };
    l->n_gpus = 3;
    l->gpus[0].busy = 0.25;
    l->gpus[1].busy = (double)NAN;
    l->gpus[2].busy = 0.75;
    l->n_disks = 2;
    l->disks[0].read = 100;
    l->disks[0].write = 1;
    l->disks[1].read = 200;
    l->disks[1].write = 2;
    l->n_nets = 3;
    l->nets[0].rx = 30;
    l->nets[0].tx = (double)NAN;
    l->nets[1].rx = (double)NAN;
    l->nets[1].tx = (double)NAN;
    l->nets[2].rx = 12;
    l->nets[2].tx = (double)NAN;
    recent_add(r, l);
    l->wall_ns += 2000ll * MS;
    l->nets[1].tx = 5;
    l->nets[2].tx = 6;
    recent_add(r, l);
    free(l);
    for (int i = 0; i < LIVE_STAGES; i++) {
        series(r, i, means);
        ok(fabs(means[0] - (10 + i)) < 1e-6, "stage %d has its load", i);
    }
    series(r, RECENT_GPU_BUSY, means);
    ok(is_mean(means[0], 0.5), "GPUs have the mean of those that are known");
    series(r, RECENT_DISK_READ, means);
    ok(is_mean(means[0], 300), "disks have the sum of what they read");
    series(r, RECENT_DISK_WRITE, means);
    ok(is_mean(means[0], 3), "disks have the sum of what they write");
    series(r, RECENT_NET_RX, means);
    ok(is_mean(means[0], 42), "networks have the sum of what they receive");
    series(r, RECENT_NET_TX, means);
    ok(is_mean(means[0], (double)NAN), "networks of which nothing is known have nothing sent");
    ok(is_mean(means[1], 11), "networks have the sum of what they send");
    *r = (struct recent){ .n = 0 };
    add(r, SECOND_MS, 1);
    series(r, RECENT_GPU_BUSY, means);
    ok(is_mean(means[0], (double)NAN), "a node without a GPU has no mean of them");
}

static void test_means(struct recent *r)
{
    double means[STEPS];

    *r = (struct recent){ .n = 0 };
    is_int(recent_begin_ms(r), INT64_MAX, "nothing begins where there is no point");
    series(r, 0, means);
    ok(is_mean(means[0], (double)NAN), "a step without a point has no mean");
    add(r, 0, 1000);
    add(r, 999, 1000);
    add(r, 2000, 2);
    add(r, 2999, 4);
    add(r, 5500, (double)NAN);
    add(r, 6500, 7);
    add(r, 8999, 9);
    add(r, 9949, 1000);
    series(r, 0, means);
    is_int(recent_begin_ms(r), 0, "the oldest point is the begin");
    ok(is_mean(means[0], 3), "a step has the mean of its two points, and not of those before");
    ok(is_mean(means[1], (double)NAN), "a step between points has no mean");
    ok(is_mean(means[2], 7), "a step has the mean of what is known in it");
    ok(is_mean(means[3], 9), "the last step has no point that comes after it");
}

static void test_apart(struct recent *r)
{
    *r = (struct recent){ .n = 0 };
    add(r, 5000, 1);
    add(r, 5949, 2);
    is_int((long long)r->n, 1, "a point less than 950 ms after the last one is left out");
    add(r, 5000, 2);
    is_int((long long)r->n, 1, "a point of the same time is left out");
    add(r, 5950, 3);
    is_int((long long)r->n, 2, "a point 950 ms after the last one is taken");
    add(r, 5949, 4);
    is_int((long long)r->n, 1, "a clock that was set back leaves one point");
    is_int(recent_begin_ms(r), 5949, "a clock that was set back begins anew");
}

static void test_ring(struct recent *r)
{
    double means[STEPS];

    *r = (struct recent){ .n = 0 };
    for (int i = 0; i < RECENT_POINTS; i++)
        add(r, i * SECOND_MS, i);
    is_int(recent_begin_ms(r), 0, "as many points as there is room for are kept");
    is_int((long long)r->n, RECENT_POINTS, "the room for points is used");
    for (int i = 0; i < 3; i++)
        add(r, (RECENT_POINTS + i) * SECOND_MS, 100 + i);
    is_int(recent_begin_ms(r), 3 * SECOND_MS, "the oldest three points make room for three");
    is_int((long long)r->n, RECENT_POINTS, "no more points are kept than there is room for");
    series(r, 0, means);
    ok(is_mean(means[0], (double)NAN), "points that made room are forgotten");
    ok(is_mean(means[1], 3.5), "points that are left have their place in time");
    add(r, (RECENT_POINTS + 2) * SECOND_MS, 5);
    is_int((long long)r->n, RECENT_POINTS, "a full ring takes no point twice");
    add(r, 2 * SECOND_MS, 5);
    is_int(recent_begin_ms(r), 2 * SECOND_MS, "a full ring begins anew where a clock is set back");
    series(r, 0, means);
    ok(is_mean(means[0], 5), "a ring that began anew has its point");
}

int main(void)
{
    struct recent *r = calloc(1, sizeof(*r));

    if (!r)
        return 1;
    test_lines(r);
    test_means(r);
    test_apart(r);
    test_ring(r);
    free(r);
    return done();
}
