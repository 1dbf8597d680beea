/* What the queue of a machine refuses of a policy, and where it says that stands. */
#include "queue/policy.h"
#include "sched/sched.h"

#include <errno.h>

#include "tap.h"

static int check(const char *text, struct err *e)
{
    const struct queue_policy_text from = { "p.ini", text, strlen(text) };
    struct policy p;
    int rc = policy_read(&p, "p.ini", text, strlen(text), e);

    if (rc < 0)
        printf("Bail out! %s\n", e->text);
    return queue_policy_check(&p, &from, e);
}

static void test_refused(void)
{
    static const struct {
        const char *text, *where, *way_out;
    } cases[] = {
        { "[share]\nbelow = 50%\ntogether = 90%\nafter = 5m\n",
          "p.ini:1: [share]: ", "leave the section out" },
        { "[policy]\norder = srsf\nlength = oracle\npreempt = rebuild\n",
          "p.ini:4: [policy] preempt = rebuild: ", "only brim sim" },
        { "[policy]\norder = srsf\nlength = oracle\ninterleave = 2\npreempt = rebuild\n",
          "p.ini:4: [policy] interleave = 2: ", "only brim sim" },
        { "[policy]\norder = fifo\nrestart-each-pass = yes\n",
          "p.ini:3: [policy] restart-each-pass = yes: ", "only brim sim" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct err e = { "" };

        is_int(check(cases[i].text, &e), -EINVAL, "the queue refuses policy %zu", i);
        ok(!strncmp(e.text, cases[i].where, strlen(cases[i].where)),
           "the error of policy %zu begins with its place: %s", i, e.text);
        ok(strstr(e.text, cases[i].way_out) != NULL, "the error of policy %zu names the way out",
           i);
        ok(strlen(e.text) < sizeof(e.text) - 1, "the error is a whole sentence");
    }
}

static void test_carried_out(void)
{
    static const char *const texts[] = {
        "[policy]\norder = fifo\nbackfill = greedy\nageing = 1h\n[idle]\nreclaim = 1h\n"
        "warn = 30m\nburst = 1m\ngrace = 10m\naction = requeue\n",
        "[policy]\norder = fifo\npriorities = yes\npreempt = victims\nleast-run = 5m\n[idle]\n"
        "reclaim = 1h\naction = warn\n",
        "[policy]\norder = fair\nhalf-life = 1d\ninterleave = 1\nrestart-each-pass = no\n",
        "[policy]\norder = fifo\npreempt = victims\n[quota]\nby = team\nborrow = yes\n"
        "share = vision 2\nshare = nlp 25%\n[idle]\nreclaim = 1h\naction = warn\nexempt = web\n",
        "[policy]\norder = fifo\n[idle]\nreclaim = 1h\naction = shrink\n[elastic]\nevery = 5m\n",
    };
    struct err e = { "" };

    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        is_int(check(texts[i], &e), 0, "the queue takes a policy that it can carry out: %s",
               e.text);
}

/* All that have a name: those that move jobs or count steps are refused, also without a text. */
static void test_named(void)
{
    for (size_t i = 0; policy_name_at(i); i++) {
        const struct queue_policy_text from = { .name = policy_name_at(i) };
        struct policy p;
        struct err e = { "" };
        bool refused;

        is_int(policy_named(&p, from.name, &e), 0, "policy_named finds the policy %s", from.name);
        refused = p.preempt == PREEMPT_REBUILD || p.restart_each_pass || p.length == LENGTH_STEPS;
        is_int(queue_policy_check(&p, &from, &e), refused ? -EINVAL : 0,
               "the queue takes policy %s unless it moves jobs: %s", from.name, e.text);
        ok(!refused || strstr(e.text, from.name), "by its name");
    }
}

static void test_later_ones(void)
{
    /* what a later brim reads and this engine does not know */
    static const struct {
        const char *text, *where;
    } cases[] = {
        { "[policy]\norder = fifo\n[power]\ncap = 2kW\n", "p.ini:3: [power]: " },
        { "[policy]\norder = fifo\ngrow = yes\n", "p.ini:3: [policy] grow = yes: " },
    };
    struct policy p;
    struct err e = { "" };

    if (policy_named(&p, "fifo", &e) < 0)
        printf("Bail out! %s\n", e.text);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const struct queue_policy_text from = { "p.ini", cases[i].text, strlen(cases[i].text) };

        is_int(queue_policy_check(&p, &from, &e), -EINVAL, "what is not known is refused");
        ok(!strncmp(e.text, cases[i].where, strlen(cases[i].where)),
           "the error of policy %zu begins with its place: %s", i, e.text);
    }
}

static void test_deeds(void)
{
    is_int(queue_deed(ACTION_START), DEED_START, "starting is the queue's deed for a start");
    is_int(queue_deed(ACTION_PREEMPT), DEED_STOP, "stopping is the queue's deed for a preemption");
    is_int(queue_deed(ACTION_WARN), DEED_TELL, "a warning is no preemption");
    is_int(queue_deed(ACTION_RESIZE), DEED_RESIZE, "a resize is a stop and another start");
    for (int kind = 0; kind < 256; kind++)
        if (kind != ACTION_START && kind != ACTION_PREEMPT && kind != ACTION_WARN &&
            kind != ACTION_RESIZE)
            is_int(queue_deed((uint8_t)kind), DEED_NONE, "action %d is not carried out", kind);
}

int main(void)
{
    test_refused();
    test_carried_out();
    test_named();
    test_later_ones();
    test_deeds();
    return done();
}
