/* Whole cycles on a cluster that is made up: what is done, what is not, and what a control that was
 * killed leaves to the next. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control/cycle.h"
#include "tap.h"

enum { MINUTE = 60000, START = 1000000000, DEVICES = 8, JOBS = 3 };

static char folder[] = "/tmp/brim-t-cycle-XXXXXX";
static const char policy_text[] = "[idle]\nwarn = 1m\nreclaim = 2m\naction = requeue\n";

/* A cluster of two nodes: jobs 10 and 11 have them, job 12 waits. */
struct cluster {
    int64_t now_ms;
    double busy[2];
    bool restarted;   /* job 10 waits again */
    int64_t start_ms; /* of job 10 */
    int told, requeued, letters;
    int act_rc; /* what a requeue answers */
    bool takes; /* it is requeued all the same */
    char note[CONTROL_TEXT];
    const char *comment; /* of job 10 */
    int saved;           /* times that job 10 was told to save */
    bool script;         /* its script was, the last time */
    const char *unfit;   /* what the agent of n0 says */
    uint32_t faulty;
    bool drained; /* n0 */
    int drains, returns;
    char reason[CONTROL_TEXT];
    struct node_answer answers[2];
};

static int read_site(void *ctx, struct site *ret, struct err *e)
{
    const struct cluster *x = ctx;
    struct site s = { .n_nodes = 2, .n_jobs = JOBS };

    (void)e;
    s.nodes = arena_alloc(&s.arena, 2 * sizeof(*s.nodes));
    s.jobs = arena_alloc(&s.arena, JOBS * sizeof(*s.jobs));
    for (int i = 0; i < 2; i++)
        s.nodes[i] = (struct site_node){ .name = i ? "n1" : "n0", .devices = DEVICES, .cpus = 32 };
    s.nodes[0].drained = x->drained;
    s.nodes[0].reason = x->drained ? x->reason : NULL;
    for (uint32_t i = 0; i < JOBS; i++) {
        struct site_part *part = arena_alloc(&s.arena, sizeof(*part));
        bool runs = i < 2 && !(i == 0 && x->restarted);

        *part = (struct site_part){ i, 0xff, DEVICES };
        s.jobs[i] = (struct site_job){ .id = 10 + i,
                                       .name = "j",
                                       .user = "ana",
                                       .account = "ml",
                                       .partition = "batch",
                                       .qos = "",
                                       .batch = true,
                                       .requeue = true,
                                       .nodes = 1,
                                       .cpus = 8,
                                       .devices = DEVICES,
                                       .devices_per_node = DEVICES,
                                       .state = runs ? SITE_RUNNING : SITE_WAITING,
                                       .start_ms = runs ? (i ? START : x->start_ms) : 0,
                                       .restarts = i == 0 && x->restarted,
                                       .parts = runs ? part : NULL,
                                       .n_parts = runs,
                                       .comment = i == 0 ? x->comment : NULL,
                                       .note = i == 0 && *x->note ? x->note : NULL };
    }
    *ret = s;
    return site_index(ret) < 0 ? -ENOMEM : 1;
}

static int act(void *ctx, const struct site_deed *deed, struct err *e)
{
    struct cluster *x = ctx;

    x->told += deed->kind == SITE_DO_NOTE && deed->job == 10;
    if (deed->kind == SITE_DO_SIGNAL_STEPS || deed->kind == SITE_DO_SIGNAL_SCRIPT) {
        x->saved += deed->job == 10 && deed->value == 10;
        x->script = deed->kind == SITE_DO_SIGNAL_SCRIPT;
    }
    if (deed->kind == SITE_DO_NODE_DRAIN || deed->kind == SITE_DO_NODE_RESUME) {
        x->drained = deed->kind == SITE_DO_NODE_DRAIN;
        x->drains += x->drained;
        x->returns += !x->drained;
        snprintf(x->reason, sizeof(x->reason), "%s", x->drained ? deed->text : "");
        return x->act_rc;
    }
    if (deed->kind != SITE_DO_REQUEUE || deed->job != 10)
        return 0;
    if (x->act_rc == 0 || x->takes) {
        x->requeued++;
        x->restarted = true;
    }
    return x->act_rc ? err_set(e, x->act_rc, "Slurm's words") : 0;
}

static int ask(void *ctx, const struct site *site, const bool *which, const struct node_answer **of,
               struct err *e)
{
    struct cluster *x = ctx;

    (void)e;
    for (size_t i = 0; i < site->n_nodes; i++) {
        x->answers[i] = (struct node_answer){ .report = { .time_ms = x->now_ms } };
        for (int k = 0; k < DEVICES; k++)
            x->answers[i].report.busy[x->answers[i].report.n_busy++] = x->busy[i];
        x->answers[i].report.judged = true;
        x->answers[i].report.gpus = DEVICES;
        if (i == 0 && x->unfit) {
            snprintf(x->answers[i].report.unfit, sizeof(x->answers[i].report.unfit), "%s",
                     x->unfit);
            x->answers[i].report.faulty = x->faulty;
        }
        of[i] = which[i] ? &x->answers[i] : NULL;
    }
    return 0;
}

static void tell(void *ctx, const struct site_job *j, const char *text)
{
    struct cluster *x = ctx;

    x->letters += j->id == 10 && strstr(text, "keeps 8 devices idle") != NULL;
}

/* One control, from its start to its end: as many cycles as minutes, the first at 'from'. */
struct running {
    struct cluster cluster;
    struct policy policy;
    enum control_mode mode;
    unsigned percent;
    struct cycle_view view;
};

static int64_t wall(void *ctx)
{
    return ((struct cluster *)ctx)->now_ms * NS_PER_MS;
}

static void run(struct running *r, int from, int to)
{
    const struct clock clock = { wall, wall, &r->cluster };
    CLEANUP(control_book_closep) struct control_book *book = NULL;
    CLEANUP(cycle_closep) struct cycle *c = NULL;
    struct cycle_config config = { .engine = { read_site, act, ask, tell, &r->cluster },
                                   .policy = &r->policy,
                                   .clock = &clock,
                                   .mode = { r->mode, r->mode },
                                   .back_ms = 10 * MINUTE,
                                   .percent = r->percent };
    struct err e = { "" };

    is_int(control_book_open(&book, folder, true, &e), 0, "the book is opened%s", e.text);
    config.book = book;
    is_int(cycle_open(&c, &config, &e), 0, "a control begins%s", e.text);
    for (int m = from; m <= to; m++) {
        r->cluster.now_ms = START + (int64_t)m * MINUTE;
        is_int(cycle_run(c, &r->view, &e), 0, "a cycle at minute %d%s", m, e.text);
    }
}

static void remove_all(void)
{
    static const char *const names[] = { "control.db", "control.db-wal", "control.db-shm", "lock" };
    char path[100];

    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        unlink(path);
    }
}

static void begin(struct running *r, enum control_mode mode)
{
    remove_all();
    *r = (struct running){ .mode = mode, .percent = 5 };
    r->cluster.busy[1] = 0.9;
    r->cluster.start_ms = START;
    is_int(policy_read(&r->policy, "p", policy_text, strlen(policy_text), NULL), 0,
           "the policy is read");
}

/* The newest row about job 10, of a kind. */
static bool newest(const struct running *r, uint8_t kind, struct control_row *ret)
{
    const struct control_row like = { .job = 10, .start_ms = r->cluster.start_ms, .kind = kind };
    CLEANUP(control_book_closep) struct control_book *book = NULL;

    return control_book_open(&book, folder, false, NULL) == 0 &&
           control_book_last(book, &like, ret, NULL) == 1;
}

static void approve(const struct running *r)
{
    CLEANUP(control_book_closep) struct control_book *book = NULL;
    struct control_row row;

    ok(newest(r, CONTROL_REQUEUE, &row), "there is something to approve");
    ok(control_book_open(&book, folder, false, NULL) == 0 &&
           control_book_became(book, row.id, CONTROL_APPROVED, "", NULL) == 0,
       "an operator approves it");
}

static void test_observe(void)
{
    struct control_row row;
    struct running r;

    begin(&r, CONTROL_OBSERVE);
    run(&r, 0, 5);
    is_int(r.cluster.told + r.cluster.requeued, 0, "a control that only observes does nothing");
    is_int((int)r.view.idle_devices, DEVICES, "devices that are idle are counted");
    is_int((int)r.view.held, 2 * DEVICES, "devices that are held are counted");
    is_int((int)r.view.waited, DEVICES, "devices that jobs wait for are counted");
    ok(newest(&r, CONTROL_REQUEUE, &row) && row.state == CONTROL_SAID && row.other == 12,
       "what would be done is written down");
}

static void test_act(void)
{
    struct control_row row;
    struct running r;

    begin(&r, CONTROL_ACT);
    run(&r, 0, 1);
    is_int(r.cluster.told, 1, "the owner is told once");
    is_int(r.cluster.requeued, 0, "nothing is taken after a minute of being idle");
    run(&r, 2, 6);
    is_int(r.cluster.told, 1, "the owner is not told again by the next control");
    is_int(r.cluster.letters, 1, "the owner gets one letter");
    is_int(r.cluster.requeued, 1, "the idle job gives way, once");
    ok(newest(&r, CONTROL_REQUEUE, &row) && row.state == CONTROL_DONE,
       "the requeue is written down");
    begin(&r, CONTROL_ACT);
    r.cluster.busy[0] = 0.02;
    run(&r, 0, 6);
    is_int(r.cluster.told + r.cluster.requeued, 0, "a job that works a little is let alone");
    begin(&r, CONTROL_ACT);
    snprintf(r.cluster.note, sizeof(r.cluster.note), "a ticket of ours");
    run(&r, 0, 6);
    is_int(r.cluster.told, 0, "what others noted at a job stays");
    is_int(r.cluster.requeued, 1, "the job gives way all the same");
}

static void test_failures(void)
{
    struct control_row row;
    struct running r;

    begin(&r, CONTROL_ACT);
    r.cluster.act_rc = -EACCES;
    run(&r, 0, 4);
    ok(newest(&r, CONTROL_REQUEUE, &row) && row.state == CONTROL_FAILED, "the requeue failed");
    is_str(row.outcome, "Slurm's words", "the words of Slurm are written down");
    r.cluster.act_rc = 0;
    run(&r, 5, 6);
    is_int(r.cluster.requeued, 0, "a requeue that failed is not tried again at once");
    run(&r, 7, 8);
    is_int(r.cluster.requeued, 1, "a requeue that failed is tried again after five minutes");
    begin(&r, CONTROL_ACT);
    r.cluster.act_rc = -ETIMEDOUT;
    r.cluster.takes = true;
    run(&r, 0, 2);
    ok(newest(&r, CONTROL_REQUEUE, &row) && row.state == CONTROL_DUE,
       "what nobody knows the end of is due");
    run(&r, 3, 6);
    is_int(r.cluster.requeued, 1, "a requeue that had happened is not done twice");
    ok(newest(&r, CONTROL_REQUEUE, &row) && row.state == CONTROL_DONE, "the next one finds that");
    begin(&r, CONTROL_ACT);
    r.cluster.act_rc = -ETIMEDOUT;
    run(&r, 0, 2);
    r.cluster.act_rc = 0;
    run(&r, 3, 4);
    is_int(r.cluster.requeued, 1, "a requeue that had not happened is done then");
}

static void test_propose(void)
{
    struct control_row row;
    struct running r;

    begin(&r, CONTROL_PROPOSE);
    run(&r, 0, 4);
    is_int(r.cluster.requeued, 0, "what is proposed is not done");
    ok(newest(&r, CONTROL_REQUEUE, &row) && row.state == CONTROL_PROPOSED, "a requeue is proposed");
    approve(&r);
    run(&r, 5, 6);
    is_int(r.cluster.requeued, 1, "what an operator approves is done");
    begin(&r, CONTROL_PROPOSE);
    run(&r, 0, 4);
    r.cluster.busy[0] = 1;
    run(&r, 5, 5);
    ok(newest(&r, CONTROL_REQUEUE, &row) && row.state == CONTROL_STALE,
       "a proposal about a job that works again is stale");
}

static void test_limits(void)
{
    CLEANUP(control_book_closep) struct control_book *book = NULL;
    struct running r;

    begin(&r, CONTROL_ACT);
    run(&r, 0, 6);
    r.cluster.restarted = false;
    r.cluster.start_ms = START + 7 * MINUTE;
    run(&r, 7, 20);
    is_int(r.cluster.requeued, 1, "one job in an hour, of so few");
    ok(r.view.limited > 0, "the view tells that more is due");
    begin(&r, CONTROL_ACT);
    r.percent = 100;
    run(&r, 0, 6);
    r.cluster.restarted = false;
    r.cluster.start_ms = START + 7 * MINUTE;
    run(&r, 7, 20);
    is_int(r.cluster.requeued, 2, "with all of them allowed there is no limit");
    begin(&r, CONTROL_ACT);
    run(&r, 0, 1);
    ok(control_book_open(&book, folder, false, NULL) == 0 &&
           control_book_stop(book, true, NULL) == 0,
       "an operator stops all");
    run(&r, 2, 9);
    is_int(r.cluster.requeued, 0, "nothing is done once an operator has stopped all");
    ok(r.view.stopped, "the view tells that all is stopped");
}

static void test_saves_first(void)
{
    struct control_row row;
    struct running r;

    begin(&r, CONTROL_ACT);
    r.cluster.comment = "brim:signal=B:USR1@90";
    run(&r, 0, 2);
    ok(r.cluster.saved == 1 && r.cluster.script && r.cluster.requeued == 0,
       "a job that can save is told to before it gives way");
    is_int((int)r.view.saving, 1, "jobs that save are counted");
    run(&r, 3, 3);
    ok(r.cluster.saved == 1 && r.cluster.requeued == 0, "a job that saves has its time");
    run(&r, 4, 4);
    ok(r.cluster.saved == 1 && r.cluster.requeued == 1, "a job that has saved gives way");
    ok(newest(&r, CONTROL_SIGNAL, &row) && row.state == CONTROL_DONE, "the signal is written down");
    begin(&r, CONTROL_ACT);
    r.cluster.comment = "brim:signal=USR1@90";
    run(&r, 0, 2);
    ok(r.cluster.saved == 1 && !r.cluster.script, "a signal goes to steps unless it says script");
    r.cluster.busy[0] = 1;
    run(&r, 3, 6);
    is_int(r.cluster.requeued, 0, "a job that works again while it saves is let alone");
    begin(&r, CONTROL_PROPOSE);
    r.cluster.comment = "brim:signal=USR1@90";
    run(&r, 0, 4);
    is_int(r.cluster.saved, 0, "nobody is told to save for what is only proposed");
    approve(&r);
    run(&r, 5, 5);
    ok(r.cluster.saved == 1 && r.cluster.requeued == 0, "what is approved begins with the signal");
    run(&r, 6, 7);
    ok(r.cluster.saved == 1 && r.cluster.requeued == 1, "what is approved is done after that");
}

static void test_drains(void)
{
    struct running r;

    begin(&r, CONTROL_ACT);
    r.cluster.busy[0] = 0.9;
    r.cluster.unfit = "GPU 3 is lost";
    r.cluster.faulty = 1U << 3;
    run(&r, 0, 0);
    ok(r.cluster.drains == 1 && r.view.drained == 1, "a node that is not fit is drained");
    is_str(r.cluster.reason, "brim: GPU 3 is lost", "Slurm is told why");
    is_int((int)r.view.unfit, 1, "nodes that are not fit are counted");
    is_str(r.view.unfit_why, "n0: GPU 3 is lost", "the view says why");
    is_int(r.cluster.requeued, 0, "a job is not requeued while its node takes jobs");
    run(&r, 1, 2);
    ok(r.cluster.requeued == 1 && r.cluster.drains == 1, "the job on it starts again, once");
    r.cluster.unfit = NULL;
    run(&r, 3, 12);
    is_int(r.cluster.returns, 0, "a node that has just recovered stays drained");
    run(&r, 13, 14);
    ok(r.cluster.returns == 1 && !r.cluster.drained, "a node that is well for ten minutes serves");
    begin(&r, CONTROL_PROPOSE);
    r.cluster.busy[0] = 0.9;
    r.cluster.unfit = "GPU 3 is lost";
    run(&r, 0, 3);
    is_int(r.cluster.drains, 0, "a drain that is proposed is not done");
    is_int((int)r.view.proposed, 0, "a drain is proposed once");
}

static void test_drains_with_an_operator(void)
{
    struct running r;

    begin(&r, CONTROL_ACT);
    r.cluster.busy[0] = 0.9;
    r.cluster.unfit = "GPU 3 is lost";
    run(&r, 0, 1);
    r.cluster.drained = false; /* an operator's doing */
    run(&r, 2, 6);
    is_int(r.cluster.drains, 1, "a node that an operator resumes is not drained again for that");
    begin(&r, CONTROL_ACT);
    r.cluster.busy[0] = 0.9;
    r.cluster.drained = true;
    snprintf(r.cluster.reason, sizeof(r.cluster.reason), "disk is replaced");
    r.cluster.unfit = "GPU 3 is lost";
    run(&r, 0, 1);
    r.cluster.unfit = NULL;
    run(&r, 2, 30);
    ok(r.cluster.drains == 0 && r.cluster.returns == 0, "what an operator drained is his");
}

/* The fourth time in a week it is not given back. */
static void test_drains_too_often(void)
{
    struct running r;
    int at = 0;

    begin(&r, CONTROL_ACT);
    r.cluster.busy[0] = 0.9;
    for (int i = 0; i < CONTROL_OFTEN; i++) {
        r.cluster.unfit = "GPU 3 is lost";
        run(&r, at, at + 1);
        r.cluster.unfit = NULL;
        run(&r, at + 2, at + 13);
        at += 100;
    }
    is_int(r.cluster.drains, CONTROL_OFTEN, "a node fails again and again");
    is_int(r.cluster.returns, CONTROL_OFTEN - 1, "the last time it stays drained");
    is_int((int)r.view.kept, 1, "nodes that stay drained are counted");
}

int main(void)
{
    if (!mkdtemp(folder))
        return 1;
    test_observe();
    test_act();
    test_failures();
    test_propose();
    test_limits();
    test_saves_first();
    test_drains();
    test_drains_with_an_operator();
    test_drains_too_often();
    remove_all();
    rmdir(folder);
    return done();
}
