/* Ticks that wait to be stored: copies, their order, and what goes where there are too many. */
#include "daemon/store_queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../oom.h"
#include "tap.h"

static const struct signal_def defs[] = { { "busy", "share of time", SIGNAL_GAUGE, NULL },
                                          { "free", "bytes", SIGNAL_GAUGE, NULL } };
static const char *const facts[] = { "model", "place", NULL };
static const struct signal_set set = { "disk", "device", defs, ARRAY_SIZE(defs), facts };
static const struct signal_set plain = { "net", "device", defs, ARRAY_SIZE(defs) };

/* A tick of two rows and an event, told apart by a number. */
static void make(struct tick *t, int number)
{
    struct signal_row *row;
    struct event *event;

    tick_begin(t, number, number + 1);
    row = tick_add(t, &set, "vda");
    if (row) {
        row->values[0] = number;
        row->values[1] = number + 2;
        tick_fact(row, 0, "fast");
        tick_fact(row, 1, "here");
    }
    row = tick_add(t, &plain, "eth0");
    if (row)
        row->values[0] = number + 3;
    event = tick_event(t, "probe", SEVERITY_WARNING, number);
    if (event)
        snprintf(event->text, sizeof(event->text), "event %d", number);
}

static void test_copy(struct store_queue *q, struct tick *t)
{
    const struct tick *copy;
    uint64_t lost = 0;

    make(t, 7);
    is_int(store_queue_push(q, t, &lost), 0, "a tick is taken");
    make(t, 8);
    copy = store_queue_take(q);
    if (!ok(copy != NULL, "a tick that waits is given"))
        return;
    is_int(copy->wall_ns, 7, "a copy has its time");
    is_int(copy->monotonic_ns, 8, "a copy has its time since the boot");
    is_int((long long)copy->n_rows, 2, "a copy has both rows");
    ok(copy->rows[0].values[0] == 7 && copy->rows[0].values[1] == 9, "a copy has all values");
    is_str(signal_fact(&copy->rows[0], "model"), "fast", "a copy has the first fact");
    is_str(signal_fact(&copy->rows[0], "place"), "here", "a copy has the second fact");
    ok(copy->rows[1].set == &plain && copy->rows[1].values[0] == 10, "a copy has its second row");
    is_int((long long)copy->n_events, 1, "a copy has its event");
    is_str(copy->events[0].text, "event 7", "a copy has the text of its event");
    ok(!store_queue_take(q), "a tick is given once");
    ok(!store_queue_pass_events(q, t, &lost), "nobody takes events where nothing waits");
    store_queue_release(q, (struct tick *)(uintptr_t)copy);
    is_int((long long)lost, 0, "no event was lost");
}

/* One more than there is room for: the oldest goes, and its event to the next one. */
static void test_full(struct store_queue *q, struct tick *t)
{
    uint64_t lost = 0;
    int dropped = 0;

    for (int i = 0; i < KEEPER_QUEUE; i++) {
        make(t, i);
        dropped += store_queue_push(q, t, &lost);
    }
    is_int(dropped, 0, "as many ticks wait as there is room for");
    make(t, 1000);
    is_int(store_queue_push(q, t, &lost), 1, "one tick more drops one");
    for (int i = 1; i <= KEEPER_QUEUE; i++) {
        struct tick *oldest = store_queue_take(q);

        if (!ok(oldest != NULL, "tick %d waits", i))
            return;
        is_int(oldest->wall_ns, i < KEEPER_QUEUE ? i : 1000, "tick %d comes in its turn", i);
        is_int((long long)oldest->n_events, i == 1 ? 2 : 1, "tick %d has its events", i);
        if (i == 1)
            is_str(oldest->events[1].text, "event 0", "the event of a dropped tick is kept");
        store_queue_release(q, oldest);
    }
    ok(!store_queue_take(q), "no more ticks wait than there is room for");
    is_int((long long)lost, 0, "no event of a dropped tick was lost");
}

/* One is being written while as many wait as there is room for. */
static void test_busy(struct store_queue *q, struct tick *t)
{
    struct tick *busy, *waits;
    uint64_t lost = 0;
    int dropped = 0;

    for (int i = 0; i < KEEPER_QUEUE; i++) {
        make(t, i);
        dropped += store_queue_push(q, t, &lost);
    }
    busy = store_queue_take(q);
    make(t, 500);
    dropped += store_queue_push(q, t, &lost);
    is_int(dropped, 0, "a tick that is being written makes room for one");
    is_int(busy ? busy->wall_ns : -1, 0, "a tick that is being written stays as it is");
    store_queue_release(q, busy);
    while ((waits = store_queue_take(q)))
        store_queue_release(q, waits);
    is_int((long long)q->n_spare, KEEPER_QUEUE + 1, "all room is there again");
}

static void test_events(struct tick *to, struct tick *t)
{
    tick_begin(to, 0, 0);
    tick_begin(t, 0, 0);
    for (int i = 0; i < EVENTS_MAX - 1; i++)
        (void)!tick_event(to, "old", SEVERITY_NOTE, i);
    for (int i = 0; i < 3; i++)
        (void)!tick_event(t, "new", SEVERITY_NOTE, i);
    is_int((long long)store_queue_add_events(to, t), 2, "two events of three have no room");
    is_int((long long)to->n_events, EVENTS_MAX, "one event of three has room");
    tick_begin(to, 0, 0);
    is_int((long long)store_queue_add_events(to, t), 0, "three events have room in an empty tick");
    is_int((long long)to->n_events, 3, "three events are in the tick");
}

/* Without memory rows are dropped, or an event is lost: either is told. */
static void test_oom(struct tick *t)
{
    bool failed;

    make(t, 5);
    oom_restart();
    do {
        struct store_queue *q = calloc(1, sizeof(*q));
        uint64_t lost = 0;
        struct tick *copy;
        size_t n;
        int rc;

        if (!q)
            return;
        store_queue_init(q);
        oom_next();
        rc = store_queue_push(q, t, &lost);
        failed = oom_end();
        copy = store_queue_take(q);
        n = copy ? copy->n_rows : 99;
        ok(rc == 0 ? n == 2 : rc == -ENOMEM && n == 0,
           "a tick has all of its rows or none where allocation %d fails: %zu", oom_at, n);
        is_int((long long)(copy ? copy->n_events : 99) + (long long)lost, 1,
               "an event is kept or counted as lost where allocation %d fails", oom_at);
        ok(failed == (rc < 0 || lost), "the queue tells its caller that allocation %d fails",
           oom_at);
        store_queue_done(q);
        free(q);
    } while (failed);
}

int main(void)
{
    struct store_queue *q = calloc(1, sizeof(*q));
    struct tick *ticks = calloc(2, sizeof(*ticks));

    if (!q || !ticks)
        return 1;
    store_queue_init(q);
    test_copy(q, &ticks[0]);
    test_full(q, &ticks[0]);
    test_busy(q, &ticks[0]);
    test_events(&ticks[1], &ticks[0]);
    test_oom(&ticks[0]);
    store_queue_done(q);
    tick_done(&ticks[0]);
    tick_done(&ticks[1]);
    free(ticks);
    free(q);
    return done();
}
