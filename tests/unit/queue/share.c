/* Jobs that may share devices: who is beside whom, how busy each counts as, and who may park. */
#include <stdio.h>
#include <string.h>

#include "queue/job/idle_history.h"
#include "queue/queue_private.h"
#include "tap.h"

enum { NOW_MS = 9000000, HOST, GUEST, OTHER, JOBS = 3, AFTER_MS = 600000 };

struct scene {
    struct local l;
    struct queue_config config;
    struct policy policy;
    struct clock clock;
    struct queue_job jobs[JOBS], *list[JOBS];
};

static int64_t now_ns(void *arg)
{
    (void)arg;
    return NOW_MS * NS_PER_MS;
}

/* Two that may share on the same devices, and one on others. */
static void begin(struct scene *s)
{
    *s = (struct scene){ .clock = { now_ns, now_ns, NULL } };
    s->policy.share.below = 500;
    s->policy.share.after_ms = AFTER_MS;
    s->config = (struct queue_config){ .clock = &s->clock, .policy = &s->policy };
    for (int i = 0; i < JOBS; i++) {
        struct queue_job *j = &s->jobs[i];

        *j = (struct queue_job){ .id = HOST + i, .state = QUEUE_RUNNING, .devices = 2, .steps = 5 };
        j->share = j->works = true;
        j->memory_milli = 300;
        j->kept_ms = NOW_MS;
        snprintf(j->slots, sizeof(j->slots), i < 2 ? "0,1" : "2,3");
        s->list[i] = j;
    }
    s->jobs[1].host = HOST;
    s->l = (struct local){ .c = &s->config, .jobs = s->list, .n = JOBS };
}

static void test_partners(void)
{
    struct scene s;
    struct queue_job *host = &s.jobs[0], *guest = &s.jobs[1];

    begin(&s);
    ok(queue_partner(&s.l, host) == guest && queue_partner(&s.l, guest) == host,
       "two on the same devices are partners");
    ok(!queue_partner(&s.l, &s.jobs[2]), "a job on other devices has no partner");
    guest->parked_ms = 1;
    ok(!queue_partner(&s.l, host), "a job that is parked is nobody's partner");
    begin(&s);
    host->parked_ms = 1;
    ok(!queue_partner(&s.l, guest), "a job that is parked has no partner");
    begin(&s);
    snprintf(guest->slots, sizeof(guest->slots), "0,2");
    ok(!queue_partner(&s.l, host), "a guest that is not on its host's devices yet has no partner");
    begin(&s);
    guest->host = 0;
    ok(!queue_partner(&s.l, host), "two of which none is a guest are no partners");
}

/* With devices of its own: as busy as they are. */
static void test_alone(void)
{
    struct scene s;
    struct queue_job *j = &s.jobs[2];

    begin(&s);
    j->use_ms = NOW_MS - 1000;
    is_int(queue_share_use(&s.l, j, 400, 350), 400, "a job alone is as busy as its devices");
    ok(j->worked_ms == 1000 && j->memory_milli == 350, "what a job alone uses is noted");
    ok(!s.l.changed && !j->known, "a job of which too little was seen changes nothing");
    begin(&s);
    s.jobs[0].parked_ms = 1;
    snprintf(s.jobs[0].slots, sizeof(s.jobs[0].slots), "3,4");
    (void)queue_share_use(&s.l, j, 400, 350);
    is_int(j->memory_milli, 300, "memory beside that of a parked job is not the job's own");
    begin(&s);
    j->share = false;
    is_int(queue_share_use(&s.l, j, 400, 350), 400, "a job that shares with nobody is as busy");
    is_int(j->memory_milli, 300, "of a job that shares with nobody nothing is noted");
}

/* What is known of it is stored soon, and decided anew. */
static void test_known(void)
{
    struct scene s;
    struct queue_job *j = &s.jobs[2];

    begin(&s);
    j->alone = 1;
    j->alone_ms = j->worked_ms = AFTER_MS;
    (void)queue_share_use(&s.l, j, 400, 300);
    ok(s.l.changed && j->known && j->kept_ms == 0,
       "a job of which enough is known is told at once");
    s.l.changed = false;
    j->kept_ms = NOW_MS;
    (void)queue_share_use(&s.l, j, 400, 300);
    ok(!s.l.changed && j->kept_ms == NOW_MS, "a job of which enough was known is not told again");
    j->kept_ms = NOW_MS - QUEUE_KEEP_MS;
    (void)queue_share_use(&s.l, j, 400, 300);
    is_int(j->kept_ms, NOW_MS - QUEUE_KEEP_MS, "what was stored a minute ago is kept");
    j->kept_ms--;
    (void)queue_share_use(&s.l, j, 400, 300);
    is_int(j->kept_ms, 0, "what was stored more than a minute ago is stored again");
    j->kept_ms = NOW_MS + 1;
    (void)queue_share_use(&s.l, j, 400, 300);
    is_int(j->kept_ms, 0, "what was stored by a clock that was ahead is stored again");
}

/* Of two on the same devices steps tell who works. */
static void test_beside(void)
{
    struct scene s;
    struct queue_job *j = &s.jobs[0];

    begin(&s);
    j->use_ms = 7;
    j->worked_ms = 1000;
    j->worked = 250000;
    is_int(queue_share_use(&s.l, j, 800, 900), 250, "a job beside another one is as busy as usual");
    ok(j->use_ms == 0 && j->memory_milli == 300, "what two use is noted of none");
    j->worked = 0;
    is_int(queue_share_use(&s.l, j, 800, 900), WORK_IDLE + 1, "a job that works is not idle");
    j->works = false;
    is_int(queue_share_use(&s.l, j, 800, 900), 0, "a job without steps is idle");
    is_int(queue_share_use(&s.l, j, WORK_IDLE + 1, 900), 0, "a job is idle on busy devices");
    j->works = true;
    is_int(queue_share_use(&s.l, j, WORK_IDLE, 900), WORK_IDLE, "on idle devices both are idle");
    j->steps = 0;
    j->works = false;
    is_int(queue_share_use(&s.l, j, 800, 900), 0, "a job that is at step 0 tells its steps");
    j->steps = -1;
    is_int(queue_share_use(&s.l, j, 800, 900), 800,
           "a job that tells no steps is as busy as its devices");
}

static void test_parking(void)
{
    struct scene s;
    struct queue_job *j = &s.jobs[2];

    begin(&s);
    s.policy.idle.action = IDLE_SHRINK;
    ok(queue_may_park(&s.l, j), "a job that shares and tells its steps may park");
    j->steps = 0;
    ok(queue_may_park(&s.l, j), "a job at step 0 may park");
    j->steps = -1;
    ok(!queue_may_park(&s.l, j), "a job that tells no steps may not park");
    j->steps = 5;
    j->memory_milli = 0;
    ok(!queue_may_park(&s.l, j), "a job whose memory nobody knows may not park");
    j->memory_milli = 1;
    ok(queue_may_park(&s.l, j), "a job whose memory is known may park, however little it is");
    j->share = false;
    ok(!queue_may_park(&s.l, j), "a job that shares with nobody may not park");
    j->share = true;
    j->stop = QUEUE_PREEMPT;
    ok(!queue_may_park(&s.l, j), "a job that is being stopped may not park");
    j->stop = QUEUE_GO;
    j->state = QUEUE_WAITING;
    ok(!queue_may_park(&s.l, j), "a job that waits may not park");
    j->state = QUEUE_RUNNING;
    s.policy.idle.action = IDLE_REQUEUE;
    ok(!queue_may_park(&s.l, j), "where the policy queues idle jobs again none may park");
    s.policy.idle.action = IDLE_SHRINK;
    s.policy.share.below = 0;
    ok(queue_may_park(&s.l, j), "a job may park where the policy lets none share");
}

int main(void)
{
    test_partners();
    test_alone();
    test_known();
    test_beside();
    test_parking();
    return done();
}
