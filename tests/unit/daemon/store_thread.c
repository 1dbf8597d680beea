/* The thread that stores. */
#include "daemon/store_thread.h"

#include <errno.h>
#include <time.h>

#include "stored.h"

static void sleep_ms(long ms)
{
    struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

    nanosleep(&t, NULL);
}

static struct store_thread *open_keeper(struct stored *s)
{
    struct store_thread *k = NULL;
    struct err e = { "" };

    ok(store_thread_open(&k, s->path, &s->config, &e) == 0, "store_thread_open starts a thread: %s",
       e.text);
    return k;
}

static void push(struct stored *s, struct store_thread *k, int64_t second, bool event)
{
    tick_begin(&s->tick, second * S_NS, second * S_NS);
    stored_row(s, "vda", (double)second, (double)second);
    if (event) {
        struct event *added = tick_event(&s->tick, "xid", SEVERITY_WARNING, (int)second);

        ok(added != NULL, "a tick takes an event");
    }
    store_thread_push(k, &s->tick);
}

/* Until so many ticks have met their end, at most 10 s. */
static struct store_thread_state wait_for(struct store_thread *k, uint64_t ticks)
{
    struct store_thread_state state;

    for (int i = 0; i < 2000; i++) {
        store_thread_state(k, &state);
        if (state.stored + state.dropped >= ticks && !state.waiting)
            break;
        sleep_ms(5);
    }
    return state;
}

static void test_stores(void)
{
    struct stored s;
    struct store_thread_state state;
    struct store_thread_note note;
    struct store_thread *k;

    stored_make(&s);
    stored_close(&s);
    k = open_keeper(&s);
    for (int i = 0; i < 100; i++) {
        push(&s, k, 1000 + i, i % 10 == 0);
        wait_for(k, (uint64_t)i + 1);
    }
    store_thread_state(k, &state);
    is_int((long long)state.stored, 100, "store_thread stores all 100 ticks");
    is_int((long long)state.dropped, 0, "store_thread drops none of 100 ticks");
    is_str(state.error.text, "", "store_thread has no error after 100 ticks");
    ok(!store_thread_note(k, &note), "store_thread has no note after 100 ticks");
    for (int i = 0; i < 5; i++)
        push(&s, k, 1100 + i, false);
    store_thread_close(k);
    is_str(ask(&s, "SELECT count(*) || ' ' || max(t) FROM disk_1s"), "105 1104000",
           "store_thread_close writes the ticks that wait");
    is_str(ask(&s, "SELECT count(*) FROM event"), "10", "store_thread stores ten events");
    store_thread_close(NULL);
    stored_remove(&s);
}

/* A writer holds the lock: each tick waits a second for it, and more come. */
static void test_slow(void)
{
    struct stored s;
    struct store_thread_state state;
    struct store_thread_note note = { false, { "" } };
    sqlite3 *db = NULL;
    struct store_thread *k;

    stored_make(&s);
    stored_close(&s);
    k = open_keeper(&s);
    push(&s, k, 1000, false);
    wait_for(k, 1);
    ok(sqlite3_open(s.path, &db) == SQLITE_OK &&
           sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK,
       "another writer locks the store");
    for (int i = 1; i <= 30; i++)
        push(&s, k, 1000 + i, true);
    store_thread_state(k, &state);
    ok(state.dropped >= 20 && state.waiting <= KEEPER_QUEUE,
       "the queue of ticks has an end: %d dropped", (int)state.dropped);
    ok(store_thread_note(k, &note) && note.warning && strstr(note.text.text, "slow"),
       "a note says that storing is slow: %s", note.text.text);
    sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    sqlite3_close(db);
    state = wait_for(k, 31);
    is_int((long long)(state.stored + state.dropped), 31,
           "each tick is counted once as stored or dropped");
    is_str(state.error.text, "", "store_thread has no error once the lock is gone");
    for (note.warning = true; note.warning && store_thread_note(k, &note);)
        ;
    ok(!note.warning && strstr(note.text.text, "storing again"),
       "a note says that it is storing again: %s", note.text.text);
    store_thread_close(k);
    is_str(ask(&s, "SELECT count(*) FROM event"), "30", "no event of a dropped tick is lost");
    stored_remove(&s);
}

static void test_cannot_open(void)
{
    struct stored s;
    struct store_thread_state state;
    struct store_thread_note note;
    struct store_thread *k;
    int notes = 0;

    stored_make(&s); /* this one has the lock */
    k = open_keeper(&s);
    for (int i = 0; i < 25; i++) {
        push(&s, k, 1000 + i, i == 0);
        wait_for(k, (uint64_t)i + 1);
    }
    store_thread_state(k, &state);
    is_int((long long)state.dropped, 25, "no tick is stored while another agent has the store");
    ok(strstr(state.error.text, "another agent") != NULL && state.error_since_ns == 1000 * S_NS,
       "the error names the other agent and its first second: %s", state.error.text);
    while (store_thread_note(k, &note))
        notes++;
    is_int(notes, 1, "a store that cannot be opened makes one note");
    stored_close(&s);
    push(&s, k, 1100, false);
    state = wait_for(k, 26);
    is_int((long long)state.stored, 1, "store_thread stores again once the other agent is gone");
    store_thread_close(k);
    is_str(ask(&s, "SELECT count(*) FROM event"), "1",
           "an event waits until the store can be opened");
    stored_remove(&s);
}

/* A store that could not be opened is tried again after 10 s, by the clock of ticks. */
static void test_again(void)
{
    static const struct {
        int64_t second;
        int stored;
    } ticks[] = { { 1001, 0 }, { 1009, 0 }, { 1010, 1 }, { 1011, 2 } };
    struct stored s;
    struct store_thread *k;
    struct store_thread_state state;

    stored_make(&s); /* this one has the lock */
    k = open_keeper(&s);
    push(&s, k, 1000, false);
    state = wait_for(k, 1);
    is_int((long long)state.dropped, 1, "the first tick is not stored while the store is locked");
    stored_close(&s);
    for (size_t i = 0; i < ARRAY_SIZE(ticks); i++) {
        push(&s, k, ticks[i].second, false);
        state = wait_for(k, i + 2);
        is_int((long long)state.stored, ticks[i].stored,
               "%d ticks are stored up to second %d after the lock", ticks[i].stored,
               (int)ticks[i].second);
    }
    is_int((long long)state.dropped, 3, "ticks before the store is tried again are dropped");
    store_thread_close(k);
    stored_remove(&s);
}

static void test_patience(void)
{
    struct stored s;
    struct timespec begin, end;
    sqlite3 *db = NULL;
    struct store_thread *k;

    stored_make(&s);
    stored_close(&s);
    k = open_keeper(&s);
    push(&s, k, 1000, false);
    wait_for(k, 1);
    ok(sqlite3_open(s.path, &db) == SQLITE_OK &&
           sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK,
       "another writer locks the store for good");
    for (int i = 1; i < 8; i++)
        push(&s, k, 1000 + i, false);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    store_thread_close(k);
    clock_gettime(CLOCK_MONOTONIC, &end);
    ok(end.tv_sec - begin.tv_sec <= 3,
       "store_thread_close ends within 3 s though the store is locked");
    sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    sqlite3_close(db);
    sleep_ms(1500); /* the thread that was left to itself ends */
    stored_remove(&s);
}

int main(void)
{
    test_stores();
    test_slow();
    test_cannot_open();
    test_again();
    test_patience();
    return done();
}
