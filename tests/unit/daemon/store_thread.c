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

    ok(store_thread_open(&k, s->path, &s->config, &e) == 0, "a store_thread %s", e.text);
    return k;
}

static void push(struct stored *s, struct store_thread *k, int64_t second, bool event)
{
    tick_begin(&s->tick, second * S_NS, second * S_NS);
    stored_row(s, "vda", (double)second, (double)second);
    if (event) {
        struct event *added = tick_event(&s->tick, "xid", SEVERITY_WARNING, (int)second);

        ok(added != NULL, "an event");
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
    is_int((long long)state.stored, 100, "ticks are stored");
    is_int((long long)state.dropped, 0, "none is dropped");
    is_str(state.error.text, "", "there is no error");
    ok(!store_thread_note(k, &note), "there is nothing to say");
    for (int i = 0; i < 5; i++)
        push(&s, k, 1100 + i, false);
    store_thread_close(k);
    is_str(ask(&s, "SELECT count(*) || ' ' || max(t) FROM disk_1s"), "105 1104000",
           "closing writes what waits");
    is_str(ask(&s, "SELECT count(*) FROM event"), "10", "events are stored");
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
       "the disk gets slow");
    for (int i = 1; i <= 30; i++)
        push(&s, k, 1000 + i, true);
    store_thread_state(k, &state);
    ok(state.dropped >= 20 && state.waiting <= KEEPER_QUEUE, "the queue has an end: %d dropped",
       (int)state.dropped);
    ok(store_thread_note(k, &note) && note.warning && strstr(note.text.text, "slow"),
       "that is said: %s", note.text.text);
    sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    sqlite3_close(db);
    state = wait_for(k, 31);
    is_int((long long)(state.stored + state.dropped), 31, "each tick is counted once");
    is_str(state.error.text, "", "it works again");
    for (note.warning = true; note.warning && store_thread_note(k, &note);)
        ;
    ok(!note.warning && strstr(note.text.text, "storing again"), "that is said too: %s",
       note.text.text);
    store_thread_close(k);
    is_str(ask(&s, "SELECT count(*) FROM event"), "30", "no event is lost");
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
    is_int((long long)state.dropped, 25, "nothing can be stored");
    ok(strstr(state.error.text, "another agent") != NULL && state.error_since_ns == 1000 * S_NS,
       "the error is there: %s", state.error.text);
    while (store_thread_note(k, &note))
        notes++;
    is_int(notes, 1, "it is said once");
    stored_close(&s);
    push(&s, k, 1100, false);
    state = wait_for(k, 26);
    is_int((long long)state.stored, 1, "it is tried again");
    store_thread_close(k);
    is_str(ask(&s, "SELECT count(*) FROM event"), "1", "the event has waited");
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
       "the disk hangs");
    for (int i = 1; i < 8; i++)
        push(&s, k, 1000 + i, false);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    store_thread_close(k);
    clock_gettime(CLOCK_MONOTONIC, &end);
    ok(end.tv_sec - begin.tv_sec <= 3, "closing has an end");
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
    test_patience();
    return done();
}
