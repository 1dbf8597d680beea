#include "control/plan.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tap.h"

enum { MINUTE = 60000, START = 1000000, DEVICES = 8 };

static const char policy_text[] =
    "[idle]\nwarn = 1m\nreclaim = 2m\naction = requeue\nexempt = free\n";

/* Two nodes of eight: job 10 has the first, job 11 the second, job 12 waits for one. */
struct scene {
    struct site_node nodes[2];
    struct site_part parts[2];
    struct site_job jobs[3];
    struct control_seen seen[3];
    struct policy policy;
    struct site site;
    struct control_scene c;
};

static void make(struct scene *s)
{
    *s = (struct scene){ .nodes = { { .name = "n0", .devices = DEVICES, .cpus = 32 },
                                    { .name = "n1", .devices = DEVICES, .cpus = 32 } },
                         .parts = { { 0, 0xff, DEVICES }, { 1, 0xff, DEVICES } } };
    for (size_t i = 0; i < ARRAY_SIZE(s->jobs); i++) {
        bool runs = i < 2;

        s->jobs[i] = (struct site_job){ .id = 10 + (uint32_t)i,
                                        .name = "j",
                                        .user = "ana",
                                        .account = "ml",
                                        .partition = "batch",
                                        .qos = "normal",
                                        .state = runs ? SITE_RUNNING : SITE_WAITING,
                                        .batch = true,
                                        .requeue = true,
                                        .start_ms = runs ? START : 0,
                                        .nodes = 1,
                                        .cpus = 8,
                                        .devices = DEVICES,
                                        .devices_per_node = DEVICES,
                                        .priority = 100,
                                        .parts = runs ? &s->parts[i] : NULL,
                                        .n_parts = runs };
        bursts_begin(&s->seen[i].bursts, START);
    }
    bursts_note(&s->seen[0].bursts, START, 0); /* idle from its start on */
    s->site = (struct site){ .nodes = s->nodes, .n_nodes = 2, .jobs = s->jobs, .n_jobs = 3 };
    is_int(policy_read(&s->policy, "p", policy_text, strlen(policy_text), NULL), 0,
           "the policy is read");
    s->c = (struct control_scene){ &s->site, &s->policy, s->seen, START };
}

/* The plan that many minutes later; each minute it was seen as before. */
static void plan_at(struct scene *s, int minutes, struct control_plan *ret)
{
    struct err e = { "" };

    s->c.now_ms = START + (int64_t)minutes * MINUTE;
    s->seen[0].bursts.seen_ms = s->seen[1].bursts.seen_ms = s->c.now_ms;
    is_int(control_plan_make(ret, &s->c, &e), 0, "a plan is made%s", e.text);
}

static void test_idle_job(void)
{
    struct control_plan p;
    struct scene s;

    make(&s);
    plan_at(&s, 0, &p);
    is_int((int)p.n, 0, "nothing is done to a job that has just begun to be idle");
    control_plan_done(&p);
    plan_at(&s, 1, &p);
    is_int((int)p.n, 1, "after a minute one thing is to be done");
    ok(p.n == 1 && p.steps[0].kind == CONTROL_WARN && p.steps[0].job == 0 &&
           p.steps[0].other == CONTROL_NONE,
       "the idle job's owner is told");
    is_str(p.n ? p.steps[0].text : "",
           "job 10 keeps 8 devices idle for 60 s; after 2.00 min they are for jobs that wait",
           "the sentence says for how long, and what comes of it");
    control_plan_done(&p);
    s.seen[0].told_ms = START + MINUTE;
    plan_at(&s, 1, &p);
    is_int((int)p.n, 0, "an owner is told once");
    control_plan_done(&p);
    plan_at(&s, 2, &p);
    ok(p.n == 1 && p.steps[0].kind == CONTROL_REQUEUE && p.steps[0].job == 0 &&
           p.steps[0].other == 2 && p.steps[0].devices == DEVICES,
       "after two minutes the idle job gives way to the one that waits");
    is_str(
        p.n ? p.steps[0].text : "",
        "job 10 gives up 8 devices: they were idle for 2.00 min, and are for job 12, which waits "
        "for 8 devices; it starts again in its turn",
        "the sentence names both jobs");
    control_plan_done(&p);
}

static void requeues(struct scene *s, int want, const char *what)
{
    struct control_plan p;
    int n = 0;

    s->seen[0].told_ms = START;
    plan_at(s, 5, &p);
    for (size_t i = 0; i < p.n; i++)
        n += p.steps[i].kind == CONTROL_REQUEUE;
    is_int(n, want, "%s", what);
    control_plan_done(&p);
}

static void test_let_alone(void)
{
    struct scene s;

    make(&s);
    requeues(&s, 1, "an idle job gives way");
    s.jobs[2].held = true;
    requeues(&s, 0, "nobody gives way to a job that is held");
    make(&s);
    s.jobs[2].depends = true;
    requeues(&s, 0, "nobody gives way to a job that waits for another one");
    make(&s);
    s.jobs[2].partition = "other";
    requeues(&s, 0, "nobody gives way to a job of another partition");
    make(&s);
    s.jobs[0].requeue = false;
    requeues(&s, 0, "a job that may not be requeued is let alone");
    make(&s);
    s.jobs[0].batch = false;
    requeues(&s, 0, "a job without a script is let alone");
    make(&s);
    s.jobs[0].state = SITE_SUSPENDED;
    requeues(&s, 0, "a job that is suspended is let alone");
    make(&s);
    s.jobs[0].account = "free";
    requeues(&s, 0, "an account that is exempt is let alone");
    make(&s);
    s.jobs[0].partition = s.jobs[2].partition = "free";
    requeues(&s, 0, "a partition that is exempt is let alone");
    make(&s);
    s.seen[0].bursts.n = 0;
    requeues(&s, 0, "a job that nobody has looked at is let alone");
    make(&s);
    s.nodes[0].drained = true;
    requeues(&s, 0, "nobody gives way on a node where nothing starts");
    make(&s);
    s.jobs[1].state = SITE_ENDING;
    requeues(&s, 0, "nobody gives way where devices become free anyway");
    make(&s);
    s.jobs[2].devices = s.jobs[2].devices_per_node = 1;
    s.parts[1].devices = 0x7f;
    requeues(&s, 0, "nobody gives way where there is room");
    make(&s);
    s.parts[0].devices = 0;
    requeues(&s, 0, "a job whose devices Slurm does not tell is let alone");
    make(&s);
    s.nodes[0].devices = SITE_DEVICES + 1;
    requeues(&s, 0, "a node of more devices than are told apart is left out");
}

/* Job 11 has ended, and job 12 waits to be told where to start. */
static void make_placed(struct scene *s)
{
    make(s);
    s->jobs[1].state = SITE_ENDED;
    s->jobs[2].held = true;
    s->jobs[2].priority = 0;
    s->jobs[2].note = "brim: waits for its place";
    s->jobs[2].comment = "brim:place";
    s->jobs[2].submit_ms = START;
}

/* What becomes of job 12: "n1", "" when it is let go, NULL: nothing. */
static const char *place_at(struct scene *s, int minutes, char text[CONTROL_TEXT])
{
    const char *found = NULL;
    struct control_plan p;

    plan_at(s, minutes, &p);
    *text = 0;
    for (size_t i = 0; i < p.n; i++) {
        if (p.steps[i].kind != CONTROL_PLACE || p.steps[i].job != 2)
            continue;
        found = !p.steps[i].detail ? "" : !strcmp(p.steps[i].detail, "n1") ? "n1" : "elsewhere";
        snprintf(text, CONTROL_TEXT, "%s", p.steps[i].text);
    }
    control_plan_done(&p);
    return found;
}

static void test_place(void)
{
    char text[CONTROL_TEXT];
    struct scene s;

    make_placed(&s);
    is_str(place_at(&s, 0, text), "n1", "a job that waits for a place gets the node that is free");
    is_str(text, "job 12 gets its place: 1 node, n1", "the sentence names the node");
    s.jobs[2].note = "an operator's";
    is_str(place_at(&s, 0, text), NULL, "a job that its owner holds is let alone");
    make_placed(&s);
    s.jobs[2].features = "a100";
    is_str(place_at(&s, 0, text), "", "a job with wishes that brim does not know is let go");
    is_str(text, "job 12 is let go, and Slurm places it: it asks for features",
           "the sentence says why it is let go");
    make_placed(&s);
    s.nodes[1].drained = true;
    is_str(place_at(&s, 9, text), NULL, "a job is not placed where another one is to give way");
    make_placed(&s);
    s.nodes[1].drained = s.nodes[0].drained = true;
    is_str(place_at(&s, 9, text), NULL, "a job for which there is no place waits");
    is_str(place_at(&s, 10, text), "", "a job waits for ten minutes, and not longer");
    make_placed(&s);
    s.jobs[2].held = false;
    s.jobs[2].priority = 1;
    s.jobs[2].note = "brim: was given its place";
    s.jobs[2].wanted = "n1";
    is_str(place_at(&s, 0, text), NULL, "a job that was told its node is not told again");
    s.jobs[2].wanted = "n0";
    is_str(place_at(&s, 0, text), "n1", "a job whose node another one has gets another node");
    s.jobs[2].comment = NULL;
    is_str(place_at(&s, 0, text), NULL, "a job that names its node itself is let alone");
}

/* n0 is in "batch" and "low", n1 in "batch" alone. */
static void test_partitions(void)
{
    struct scene s;

    make(&s);
    s.nodes[0].partitions = site_add_partition(&s.site, "batch") |
                            site_add_partition(&s.site, "low");
    s.nodes[1].partitions = site_add_partition(&s.site, "batch");
    s.jobs[0].partition = "low";
    requeues(&s, 1, "a job gives way to one of another partition that has its node");
    s.nodes[0].partitions = site_add_partition(&s.site, "low");
    requeues(&s, 0, "a job does not give way to one whose partition lacks its node");
    s.jobs[2].partition = "batch,low";
    requeues(&s, 1, "a job gives way to one that names its partition among others");
    s.jobs[2].partition = "batch,other";
    s.jobs[0].partition = "batch,other";
    requeues(&s, 1, "of partitions that nobody knows names count");
}

/* Job 10 has both nodes, is idle, and says that it can do with one. */
static void make_elastic(struct scene *s)
{
    static const char text[] = "[idle]\nwarn = 1m\nreclaim = 2m\naction = shrink\n";

    make(s);
    s->jobs[1].state = SITE_ENDED;
    s->jobs[0].n_parts = 2;
    s->jobs[0].devices = 2 * DEVICES;
    s->jobs[0].comment = "brim:elastic=1-2";
    is_int(policy_read(&s->policy, "p", text, strlen(text), NULL), 0, "a policy that shrinks");
}

/* What becomes of job 10 after five minutes: a kind; -1: nothing. */
static int fate(struct scene *s, struct control_step *ret)
{
    struct control_plan p;
    int kind = -1;

    s->seen[0].told_ms = START;
    plan_at(s, 5, &p);
    for (size_t i = 0; i < p.n; i++)
        if (p.steps[i].job == 0) {
            kind = p.steps[i].kind;
            *ret = p.steps[i];
        }
    control_plan_done(&p);
    return kind;
}

static void test_shrink(void)
{
    struct control_step step = { .nodes = 0 };
    struct scene s;

    make_elastic(&s);
    is_int(fate(&s, &step), CONTROL_SHRINK, "an idle job that can do with fewer nodes shrinks");
    ok(step.nodes == 1 && step.other == 2, "the job keeps one node, for the one that waits");
    is_str(
        step.text,
        "job 10 goes on with 1 of its 2 nodes: its devices were idle for 300 s, and job 12 waits "
        "for 8",
        "the sentence says what the job keeps");
    s.jobs[0].comment = "brim:elastic=2-2";
    is_int(fate(&s, &step), CONTROL_REQUEUE, "a job that needs all its nodes is requeued");
    s.jobs[0].comment = NULL;
    is_int(fate(&s, &step), CONTROL_REQUEUE, "a job that does not say so is requeued");
    make_elastic(&s);
    s.jobs[2].devices = 2 * DEVICES;
    s.jobs[2].nodes = 2;
    is_int(fate(&s, &step), CONTROL_REQUEUE, "a job is requeued where one node is not enough");
    make_elastic(&s);
    is_int(policy_read(&s.policy, "p", policy_text, strlen(policy_text), NULL), 0,
           "a policy that requeues");
    is_int(fate(&s, &step), CONTROL_REQUEUE, "a policy that requeues shrinks nothing");
}

static void test_policies(void)
{
    static const struct {
        const char *text;
        int want;
        const char *part;
    } cases[] = {
        { "[idle]\nreclaim = 1h\naction = requeue\n", 0, "" },
        { "[policy]\norder = fifo\n", -EINVAL, "[idle], and there is none" },
        { "[policy]\npreempt = victims\n[idle]\nreclaim = 1h\naction = requeue\n", -EINVAL,
          "preempt" },
        { "[idle]\nreclaim = 1h\naction = requeue\n[power]\ncap = 10kW\n", -EINVAL, "[power]" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct err e = { "" };
        struct policy p;

        if (policy_read(&p, "p", cases[i].text, strlen(cases[i].text), &e) < 0) {
            ok(false, "policy %d is read: %s", (int)i, e.text);
            continue;
        }
        is_int(control_policy_check(&p, &e), cases[i].want, "policy %d is judged", (int)i);
        ok(strstr(e.text, cases[i].part) != NULL, "the sentence names the part: %s", e.text);
    }
}

int main(void)
{
    test_idle_job();
    test_let_alone();
    test_place();
    test_partitions();
    test_shrink();
    test_policies();
    return done();
}
