/* Answers to a request: which count, what they leave in a rank, and what all of them come to. */
#include "optimize/job_request.h"

#include <string.h>

#include "brim/control.h"
#include "optimize/join.h"
#include "tap.h"

/* One rank's answer, to a request to apply a setting or to take it back. */
static void test_answers(void)
{
    static const struct {
        bool apply, did; /* did: the rank had done it before */
        unsigned outcome;
        bool done, does; /* does: it has done it afterwards */
        enum job_request_state state;
        const char *why;
    } cases[] = {
        { true, false, BRIM_SWITCH_DONE, true, true, ORDER_DONE, "" },
        { true, false, BRIM_SWITCH_REFUSED, false, false, ORDER_REFUSED, "so" },
        { true, true, BRIM_SWITCH_REFUSED, false, true, ORDER_REFUSED, "so" },
        { true, false, BRIM_SWITCH_FAILED, false, true, ORDER_BROKEN, "so" },
        { false, true, BRIM_SWITCH_DONE, true, false, ORDER_DONE, "" },
        { false, false, BRIM_SWITCH_DONE, true, false, ORDER_DONE, "" },
        { false, true, BRIM_SWITCH_REFUSED, false, true, ORDER_REFUSED, "so" },
        { false, false, BRIM_SWITCH_REFUSED, true, false, ORDER_DONE, "" },
        { false, true, BRIM_SWITCH_FAILED, false, true, ORDER_BROKEN, "so" },
        { false, false, BRIM_SWITCH_FAILED, false, true, ORDER_BROKEN, "so" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct job_request o = { .open = false };
        struct job_request_marks m = { .did = { false, cases[i].did } };

        job_request_begin(&o, 3, cases[i].apply);
        is_int(job_request_state(&o, 1), ORDER_WAITS, "request %zu waits for its answer", i);
        ok(job_request_answer(&o, &m, 1, 3, cases[i].outcome, "so") == cases[i].done,
           "answer %zu says whether the rank has it as it was asked", i);
        is_int(job_request_state(&o, 1), cases[i].state, "answer %zu ends its request so", i);
        ok(m.did[1] == cases[i].does && !m.did[0], "answer %zu leaves the setting so", i);
        is_str(o.why, cases[i].why, "answer %zu gives its reason where there is one", i);
    }
}

/* Answers that are none: nothing is counted, and no reason is kept. */
static void test_ignored(void)
{
    static const struct {
        const char *what;
        bool open;
        size_t rank;
        uint64_t number;
    } cases[] = {
        { "to no request", false, 0, 3 },
        { "to an older request", true, 0, 2 },
        { "to a newer request", true, 0, 4 },
        { "of a rank beyond the last", true, JOIN_RANKS, 3 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct job_request o = { .open = cases[i].open, .number = 3 };
        struct job_request_marks m = { .did = { false } };

        ok(!job_request_answer(&o, &m, cases[i].rank, cases[i].number, BRIM_SWITCH_DONE, NULL) &&
               !job_request_answer(&o, &m, cases[i].rank, cases[i].number, BRIM_SWITCH_FAILED, "x"),
           "an answer %s is left alone", cases[i].what);
        ok(!o.done && !o.refused && !o.failed && !o.why[0] && !m.did[0],
           "an answer %s leaves nothing behind", cases[i].what);
    }
}

/* Several ranks: the first reason is kept, and each rank answers once. */
static void test_several(void)
{
    struct job_request o;
    struct job_request_marks m = { .did = { false } };

    job_request_begin(&o, 1, true);
    job_request_answer(&o, &m, 0, 1, BRIM_SWITCH_REFUSED, NULL);
    job_request_answer(&o, &m, 1, 1, BRIM_SWITCH_FAILED, "no memory");
    is_str(o.why, "the job refused, and did not say why", "a refusal without a reason has ours");
    is_int(job_request_state(&o, 3), ORDER_WAITS, "two answers of three do not end a request");
    job_request_answer(&o, &m, 1, 1, BRIM_SWITCH_DONE, NULL);
    is_int(job_request_state(&o, 3), ORDER_WAITS, "a second answer of a rank does not count");
    ok(job_request_answer(&o, &m, JOIN_RANKS - 1, 1, BRIM_SWITCH_DONE, NULL) &&
           m.did[JOIN_RANKS - 1],
       "the last rank may answer");
    is_int(job_request_state(&o, 3), ORDER_BROKEN, "a request of which one failed is broken");
    job_request_begin(&o, 2, false);
    ok(o.open && !o.why[0] && !o.answered[0] && o.number == 2 && !o.apply,
       "a new request has nothing of the one before");
    o.open = false;
    is_int(job_request_state(&o, 0), ORDER_NONE, "a request that is closed has no state");
}

int main(void)
{
    test_answers();
    test_ignored();
    test_several();
    return done();
}
