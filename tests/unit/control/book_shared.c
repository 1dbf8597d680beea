/* A book in a real PostgreSQL: several controls have it, of which one leads and the others find
 * what it stored. */
#include "control/book.h"

#include <errno.h>

#include "control/db/db.h"
#include "postgres.h"
#include "tap.h"

static struct postgres server;

static struct control_book *open_book(bool act)
{
    struct control_book *b = NULL;
    struct err e = { "" };

    if (!ok(control_book_open(&b, server.address, act, &e) == 0, "a book is opened: %s", e.text))
        exit(1);
    return b;
}

/* The time of who leads is over. */
static void end_lease(void)
{
    CLEANUP(db_closep) struct db *d = NULL;

    ok(db_open(&d, server.address, true, NULL) == 0 &&
           db_script(d, "UPDATE lease SET until_ms = 1", NULL) == 0,
       "the lease of the leader is over");
}

static int count(void *arg, const struct control_row *row)
{
    (void)row;
    ++*(int *)arg;
    return 0;
}

static void test_one_leads(void)
{
    struct control_book *a = open_book(true), *b = open_book(true), *looks = open_book(false);
    struct control_row r = { .time_ms = 5000,
                             .job = 9,
                             .start_ms = 100,
                             .kind = CONTROL_REQUEUE,
                             .state = CONTROL_DUE,
                             .user = "a'; --",
                             .reason = "why" };
    struct control_row got;
    bool stopped = true;
    int64_t n = -1;
    int rows = 0;

    ok(!control_book_leads(a), "before it has asked a control does not lead");
    is_int(control_book_begin(a, NULL), -EPERM, "before it leads it stores nothing");
    is_int(control_book_lead(a, NULL), 1, "the first control leads");
    is_int(control_book_lead(b, NULL), 0, "the second one does not");
    is_str(control_book_leader(b), control_book_leader(a), "the second one knows who does");
    is_int(control_book_lead(a, NULL), 1, "the first one leads on");
    is_int(control_book_add(a, &r, NULL), 0, "the leader stores a decision");
    ok(r.id > 0, "a decision has a number");
    is_int(control_book_add(b, &r, NULL), -EPERM, "another one stores none");
    is_int(control_book_last(b, &r, &got, NULL), 1, "another one finds the decision");
    ok(got.id == r.id && got.state == CONTROL_DUE && !strcmp(got.user, "a'; --") &&
           !strcmp(got.reason, "why") && !*got.outcome,
       "a decision is as it was stored");
    is_int(control_book_rows(b, ~0U, 10, count, &rows, NULL), 0, "decisions are listed");
    is_int(control_book_rows(b, 1U << CONTROL_PROPOSED, 10, count, &rows, NULL), 0,
           "decisions that are proposed are listed");
    is_int(rows, 1, "decisions are listed by their state");
    is_int(control_book_became(b, r.id, CONTROL_DONE, "", NULL), -EPERM,
           "another one does not say what became of it");
    is_int(control_book_became(looks, r.id, CONTROL_FAILED, "by an operator", NULL), 0,
           "an operator may");
    is_int(control_book_count(a, CONTROL_REQUEUE, 0, &n, NULL), 0, "decisions are counted");
    is_int(n, 0, "one that failed does not count");
    is_int(control_book_stopped(b, &stopped, NULL), 0, "the switch is asked for");
    ok(!stopped, "nobody has stopped anything");
    is_int(control_book_stop(looks, true, NULL), 0, "an operator stops all");
    is_int(control_book_stopped(a, &stopped, NULL), 0, "the switch is asked for again");
    ok(stopped, "the leader sees it");
    is_int(control_book_stop(looks, false, NULL), 0, "an operator lets it go on");
    control_book_close(looks);
    control_book_close(a);
    is_int(control_book_lead(b, NULL), 1, "when the leader ends, the next one leads");
    control_book_close(b);
}

static void test_what_was_seen(void)
{
    struct control_book *a = open_book(true), *b = open_book(true);
    struct site_job j = { .id = 4000000000, .start_ms = 1000 };
    struct control_seen seen;

    is_int(control_book_lead(a, NULL), 1, "a control leads");
    is_int(control_book_seen(a, &j, &seen, NULL), 0, "a job is asked for");
    ok(seen.bursts.busy, "a job that nobody knows is busy");
    bursts_note(&seen.bursts, 2000, 0);
    seen.told_ms = 2500;
    is_int(control_book_begin(a, NULL), 0, "a transaction begins");
    is_int(control_book_see(a, &j, &seen, NULL), 0, "what was seen of a job is stored");
    is_int(control_book_forget(a, 1000, NULL), 0, "older jobs are forgotten");
    is_int(control_book_commit(a, NULL), 0, "a transaction is stored");
    end_lease();
    is_int(control_book_lead(b, NULL), 1, "another one leads");
    is_int(control_book_seen(b, &j, &seen, NULL), 0, "a job is asked for there");
    ok(!seen.bursts.busy && seen.bursts.at[0].to_ms == 2000 && seen.bursts.seen_ms == 2000 &&
           seen.told_ms == 2500,
       "what was seen of a job is known there");
    ok(control_book_leads(a), "the earlier leader does not know it yet");
    is_int(control_book_begin(a, NULL), -EPERM, "the earlier leader stores nothing more");
    ok(!control_book_leads(a), "the earlier leader knows it by now");
    is_int(control_book_lead(a, NULL), 0, "the earlier leader learns who leads");
    is_str(control_book_leader(a), control_book_leader(b), "the leader is the other control");
    is_int(control_book_begin(b, NULL), 0, "the new leader stores");
    is_int(control_book_see(b, &j, &seen, NULL), 0, "the new leader stores what it saw");
    control_book_close(b); /* as one that is killed: what it began is not there */
    is_int(control_book_lead(a, NULL), 1, "the earlier one leads again");
    control_book_close(a);
}

int main(void)
{
    if (!postgres_start(&server)) {
        printf("1..0 # SKIP %s\n", server.why);
        return 0;
    }
    test_one_leads();
    test_what_was_seen();
    postgres_stop(&server);
    return done();
}
