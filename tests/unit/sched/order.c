/* Who goes first: the key of a job in each order, and how long one that runs keeps its rank. */
#include "sched/core/order.h"

#include <string.h>

#include "tap.h"

static const struct policy list = { .ties = TIES_LIST };
static const struct policy queues = { .queue_ms = { 100, 1000, 5000 }, .n_queues = 3 };

/* The key of a job that has waited since 50, of which 700 are left; at 300. */
static struct order_key key_of(const char *order, const struct policy *p, const struct work *w,
                               const struct sched_job *j)
{
    struct order_key key = { .rank = 0 };

    order_named(order)->key(p, w, j, 300, &key);
    return key;
}

static void test_values(void)
{
    const struct work_wish due = { .due_ms = 900 };
    const struct work w = { .submit_ms = 40, .devices = 3 };
    const struct work wish = { .submit_ms = 40, .devices = 3, .wish = &due };
    struct sched_job waits = { .since_ms = 50, .left_ms = 700, .state = SCHED_WAITING };
    struct sched_job runs = { .since_ms = 50, .left_ms = 700, .state = SCHED_RUNNING };
    struct order_key key;

    is_int(key_of("fifo", &queues, &w, &waits).value, 40, "fifo goes by the submission");
    is_int(key_of("fair", &queues, &w, &waits).value, 40, "fair goes by it among equal users");
    is_int(key_of("sjf", &queues, &w, &runs).value, 700, "sjf goes by the whole work of a job");
    is_int(key_of("srtf", &queues, &w, &waits).value, 700, "srtf goes by what is left of a job");
    is_int(key_of("srtf", &queues, &w, &runs).value, 450, "srtf counts what a running job did");
    is_int(key_of("srsf", &queues, &w, &runs).value, 1350, "srsf goes by device time");
    is_int(key_of("smallest", &queues, &w, &runs).value, 3, "smallest goes by devices");
    key = key_of("deadline", &queues, &wish, &waits);
    ok(key.rank == 0 && key.value == 940, "deadline goes by the deadline of a job");
    key = key_of("deadline", &queues, &w, &waits);
    ok(key.rank == 1 && key.value == 40, "a job without a deadline goes behind those with one");
    waits.late = 1;
    key = key_of("deadline", &queues, &wish, &waits);
    ok(key.rank == 1 && key.value == 40, "a job that is late goes as if it had no deadline");
}

/* Device time beyond all numbers is a number below that of nobody knows. */
static void test_large(void)
{
    struct sched_job j = { .left_ms = INT64_MAX / 4, .state = SCHED_WAITING };
    struct work w = { .devices = 3 };

    is_int(key_of("srsf", &queues, &w, &j).value, INT64_MAX - 1,
           "a quarter of all numbers times three devices is too much");
    j.left_ms = INT64_MAX / 4 - 1;
    is_int(key_of("srsf", &queues, &w, &j).value, 3 * (INT64_MAX / 4 - 1),
           "a little less than a quarter is counted");
    j.left_ms = WORK_UNKNOWN;
    is_int(key_of("srsf", &queues, &w, &j).value, INT64_MAX - 1,
           "of a job of which nothing is known it is as much");
}

static void test_queues(void)
{
    const struct {
        int64_t attained_ms;
        int rank, keeps;
    } cases[] = {
        { 0, 0, 34 },  { 99, 0, 1 },      { 100, 1, 300 }, { 998, 1, 1 },
        { 999, 1, 1 }, { 1000, 2, 1334 }, { 4999, 2, 1 },  { 5000, 3, 0 },
    };
    const struct order_ops *las = order_named("las");
    struct work w = { .submit_ms = 40, .devices = 3 };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const struct sched_job j = { .attained_ms = cases[i].attained_ms };
        int64_t keeps = las->keeps_ms(&queues, &w, &j, 300);

        is_int(key_of("las", &queues, &w, &j).rank, cases[i].rank,
               "a job that had %d is in queue %d", (int)cases[i].attained_ms, cases[i].rank);
        is_int(keeps, cases[i].keeps ? cases[i].keeps : WORK_UNKNOWN,
               "a job that had %d stays there for a while", (int)cases[i].attained_ms);
    }
    is_int(key_of("las", &queues, &w, &(struct sched_job){ .left_ms = 1 }).value, 40,
           "in a queue jobs go by their submission");
    is_int(key_of("las", &list, &w, &(struct sched_job){ .left_ms = 1 }).value, 0,
           "in a queue that is a list they go by their places");
    w.devices = 0;
    is_int(las->keeps_ms(&queues, &w, &(struct sched_job){ .left_ms = 1 }, 300), WORK_UNKNOWN,
           "a job without devices never falls");
}

static void test_falls(void)
{
    const struct work w = { .devices = 3 }, none = { .devices = 0 };

    is_int(order_named("srtf")->falls(&w), 1, "what is left falls by one in a millisecond");
    is_int(order_named("srsf")->falls(&w), 3, "device time falls by the devices of a job");
    is_int(order_named("srsf")->falls(&none), 1,
           "device time of a job without devices falls by one");
    ok(!order_named("fifo")->falls && !order_named("las")->falls, "other keys do not fall");
}

static void test_table(void)
{
    static const struct {
        const char *name, *what;
        bool length, users, deadline;
    } rows[] = {
        { "fifo", "was submitted first", false, false, false },
        { "sjf", "is the shortest", true, false, false },
        { "srtf", "has the least time left", true, false, false },
        { "srsf", "has the least device time left", true, false, false },
        { "smallest", "needs the fewest devices", false, false, false },
        { "las", "has had the least device time", false, false, false },
        { "fair", "is of the user who has had the least", false, true, false },
        { "deadline", "has the earliest deadline", false, false, true },
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        const struct order_ops *o = order_named(rows[i].name);

        is_str(order_name_at(i), rows[i].name, "order %zu is %s", i, rows[i].name);
        is_str(o->what, rows[i].what, "order %s says why a job goes first", rows[i].name);
        ok(o->needs_length == rows[i].length && o->needs_users == rows[i].users &&
               o->by_deadline == rows[i].deadline,
           "order %s needs what it needs", rows[i].name);
    }
    ok(!order_name_at(ARRAY_SIZE(rows)), "there are no more orders");
    ok(!order_named("none"), "an order that is none has no row");
}

/* By rank, then by value, then by tie. */
static void test_compare(void)
{
    static const struct order_key keys[] = { { 9, 0, 9 }, { 1, 1, 1 }, { 1, 1, 2 }, { 2, 1, 0 } };
    int wrong = 0;

    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 4; k++) {
            int order = order_compare(&keys[i], &keys[k]);

            wrong += (order < 0) != (i < k) || (order > 0) != (i > k);
        }
    is_int(wrong, 0, "keys go by rank, by value, by tie");
}

int main(void)
{
    test_values();
    test_large();
    test_queues();
    test_falls();
    test_table();
    test_compare();
    return done();
}
