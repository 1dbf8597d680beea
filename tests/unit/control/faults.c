#include "control/faults.h"

#include <math.h>
#include <stdio.h>

#include "tap.h"

enum { DEVICES = 8, NOW = 1000000000, BACK = 600000 };

/* Node n0 with job 10 on its first four GPUs, node n1 with job 11. */
struct scene {
    struct site_node nodes[2];
    struct site_part parts[2];
    struct site_job jobs[2];
    struct site site;
    struct control_node seen[2];
    struct node_answer answers[2];
    const struct node_answer *of[2];
};

static void make(struct scene *s)
{
    *s = (struct scene){ .nodes = { { .name = "n0", .devices = DEVICES },
                                    { .name = "n1", .devices = DEVICES } },
                         .parts = { { 0, 0xf, 4 }, { 1, 0xff, DEVICES } } };
    for (uint32_t i = 0; i < 2; i++) {
        s->jobs[i] = (struct site_job){ .id = 10 + i,
                                        .state = SITE_RUNNING,
                                        .batch = true,
                                        .requeue = true,
                                        .devices = s->parts[i].count,
                                        .parts = &s->parts[i],
                                        .n_parts = 1 };
        s->answers[i] = (struct node_answer){
            .report = { .time_ms = NOW, .gpus = DEVICES, .judged = true, .n_busy = DEVICES }
        };
        s->of[i] = &s->answers[i];
    }
    s->site = (struct site){ .nodes = s->nodes, .n_nodes = 2, .jobs = s->jobs, .n_jobs = 2 };
}

/* n0's agent says so of a GPU. */
static void fail(struct scene *s, unsigned gpu)
{
    snprintf(s->answers[0].report.unfit, sizeof(s->answers[0].report.unfit), "GPU %u is bad", gpu);
    s->answers[0].report.faulty = 1U << gpu;
    control_node_note(&s->seen[0], &s->nodes[0], &s->answers[0], NOW);
}

static void drain(struct scene *s, const char *reason)
{
    s->nodes[0].drained = true;
    s->nodes[0].reason = reason;
}

/* What is to be done, the first of it in *ret; how much there is. */
static size_t steps(struct scene *s, struct control_step *ret)
{
    const struct control_faults f = { &s->site, s->seen, { s->of, NOW }, BACK };
    struct control_plan plan = { .n = 0 };
    size_t n;

    *ret = (struct control_step){ .kind = CONTROL_STEP_KINDS };
    is_int(control_faults_add(&plan, &f), 0, "a plan is made");
    n = plan.n;
    if (n)
        *ret = plan.steps[0];
    arena_done(&plan.arena);
    return n;
}

static void test_drain(void)
{
    struct control_step step;
    struct scene s;

    make(&s);
    is_int((int)steps(&s, &step), 0, "nodes that are fit are let alone");
    fail(&s, 2);
    is_int((int)steps(&s, &step), 1, "of two nodes one is not fit");
    ok(step.kind == CONTROL_DRAIN && step.node == 0 && step.job == CONTROL_NONE &&
           step.since_ms == NOW && step.policy == CONTROL_FAULTS,
       "the node that is not fit is drained");
    is_str(step.text, "node n0 takes no more jobs: GPU 2 is bad", "the sentence says why");
    is_str(step.detail, "GPU 2 is bad", "the reason is the agent's");
    s.nodes[0].state = SITE_NODE_DOWN;
    is_int((int)steps(&s, &step), 0, "a node that is down is not drained");
    make(&s);
    fail(&s, 2);
    *s.answers[0].report.unfit = 0;
    is_int((int)steps(&s, &step), 0, "without the agent's word now, nothing is done");
    s.of[0] = NULL;
    is_int((int)steps(&s, &step), 0, "a node whose agent is silent is let alone");
}

static void test_jobs(void)
{
    struct control_step step;
    struct scene s;

    make(&s);
    fail(&s, 2);
    drain(&s, "brim: GPU 2 is bad");
    is_int((int)steps(&s, &step), 1, "on a node that is drained one job is hurt");
    ok(step.kind == CONTROL_REQUEUE && step.job == 0 && step.other == CONTROL_NONE &&
           step.devices == 4 && !step.at_once,
       "the job on the GPU starts again");
    is_str(step.text, "job 10 starts again without node n0: GPU 2 is bad", "the sentence says why");
    s.answers[0].report.busy[2] = (double)NAN;
    is_int((int)steps(&s, &step), 1, "a GPU is lost");
    ok(step.at_once, "a job on a GPU that is lost has nothing to save");
    s.answers[0].report.busy[2] = 0;
    s.answers[0].report.busy[5] = (double)NAN;
    is_int((int)steps(&s, &step), 1, "another GPU tells nothing");
    ok(!step.at_once, "a job is not asked about a GPU that it does not have");
    s.jobs[0].requeue = false;
    is_int((int)steps(&s, &step), 0, "a job that may not be requeued is let alone");
    s.jobs[0].requeue = true;
    s.parts[0].devices = 0xf0;
    is_int((int)steps(&s, &step), 0, "a job on other GPUs of the node goes on");
    s.parts[0].devices = 0;
    is_int((int)steps(&s, &step), 1, "a job whose GPUs nobody tells apart may be hurt");
    s.answers[0].report.faulty = 0;
    is_int((int)steps(&s, &step), 0, "a fault of no GPU hurts no job");
}

static void test_note(void)
{
    struct control_node n = { 0 };
    struct scene s;

    make(&s);
    ok(!control_node_note(&n, &s.nodes[0], &s.answers[0], NOW) && !n.unfit_ms,
       "of a node that is fit nothing is noted");
    snprintf(s.answers[0].report.unfit, sizeof(s.answers[0].report.unfit), "bad");
    ok(control_node_note(&n, &s.nodes[0], &s.answers[0], NOW + 1) && n.unfit_ms == NOW + 1,
       "when it began is noted");
    ok(!control_node_note(&n, &s.nodes[0], &s.answers[0], NOW + 2) && n.unfit_ms == NOW + 1,
       "a fault that goes on changes nothing");
    ok(!control_node_note(&n, &s.nodes[0], NULL, NOW + 3) && n.unfit_ms == NOW + 1,
       "silence changes nothing");
    *s.answers[0].report.unfit = 0;
    s.answers[0].report.judged = false;
    ok(!control_node_note(&n, &s.nodes[0], &s.answers[0], NOW + 4),
       "an agent that does not judge changes nothing");
    s.answers[0].report.judged = true;
    s.answers[0].report.time_ms = NOW;
    ok(!control_node_note(&n, &s.nodes[0], &s.answers[0], NOW + CONTROL_STALE_MS + 1),
       "what an agent said before changes nothing");
    drain(&s, "brim: bad");
    s.answers[0].report.gpus = DEVICES - 1;
    ok(!control_node_note(&n, &s.nodes[0], &s.answers[0], NOW + 5),
       "with a GPU less it is not well");
    s.answers[0].report.gpus = DEVICES;
    s.answers[0].report.lost = 1;
    ok(!control_node_note(&n, &s.nodes[0], &s.answers[0], NOW + 5),
       "with a GPU lost it is not well");
    s.answers[0].report.lost = 0;
    ok(control_node_note(&n, &s.nodes[0], &s.answers[0], NOW + 5) && n.fit_ms == NOW + 5,
       "when it recovers is noted");
    ok(!control_node_note(&n, &s.nodes[0], &s.answers[0], NOW + 6) && n.fit_ms == NOW + 5,
       "a node that stays well changes nothing");
    ok(control_node_note(&n, &s.nodes[0], NULL, NOW + 7) && n.fit_ms == 0,
       "after a silence it begins to be well anew");
    s.nodes[0].reason = "an operator's";
    ok(control_node_note(&n, &s.nodes[0], &s.answers[0], NOW + 8) && !n.unfit_ms && !n.fit_ms,
       "a node that is well and an operator's is forgotten");
}

static void test_return(void)
{
    struct control_step step;
    struct scene s;

    make(&s);
    drain(&s, "brim: GPU 2 is bad");
    s.seen[0] = (struct control_node){ .unfit_ms = NOW - 2 * BACK, .fit_ms = NOW - BACK + 1 };
    is_int((int)steps(&s, &step), 0, "a node that recovered a moment ago stays drained");
    s.seen[0].fit_ms = NOW - BACK;
    is_int((int)steps(&s, &step), 1, "a node is well for long enough");
    ok(step.kind == CONTROL_RETURN && step.node == 0 && step.since_ms == NOW - BACK,
       "a node that is well serves again");
    is_str(
        step.text,
        "node n0 serves again: its agent has found nothing wrong for 600 s, and sees all its GPUs",
        "the sentence says since when");
    s.seen[0].drains = CONTROL_OFTEN;
    is_int((int)steps(&s, &step), 0, "a node that was drained too often stays so");
    ok(control_node_stays(&s.seen[0], &s.nodes[0]), "a node that stays drained is told");
    s.seen[0].drains = CONTROL_OFTEN - 1;
    ok(!control_node_stays(&s.seen[0], &s.nodes[0]), "a node drained less often does not stay so");
    s.nodes[0].reason = "brim is not why";
    is_int((int)steps(&s, &step), 0, "what others drained is theirs");
    s.nodes[0].reason = NULL;
    is_int((int)steps(&s, &step), 0, "a drain without a reason is not brim's");
}

int main(void)
{
    test_drain();
    test_jobs();
    test_note();
    test_return();
    return done();
}
