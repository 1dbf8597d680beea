/* What the page of a cluster shows, of sites that are made up. */
#include "control/board/board.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_read.h"
#include "model/job/job_spec.h"
#include "tap.h"

enum {
    NODES = 4,
    JOBS = 8,
    GPUS = 4,
    NOW = 1000000,
    TEXT_MAX = 8 << 20,
    MANY = 500,
    ALL = 2 * MANY
};

struct scene {
    struct site site;
    struct site_node nodes[NODES];
    struct site_job jobs[JOBS];
    struct site_part parts[JOBS][NODES];
    struct control_seen seen[JOBS];
    struct node_answer answers[NODES];
    const struct node_answer *of[NODES];
};

static void begin(struct scene *x)
{
    static const char *const names[NODES] = { "n0", "n1", "n2", "n3" };

    *x = (struct scene){ .site = { .cluster = "c", .n_nodes = NODES } };
    x->site.nodes = x->nodes;
    x->site.jobs = x->jobs;
    for (int i = 0; i < NODES; i++) {
        x->nodes[i] = (struct site_node){ .name = names[i], .devices = GPUS, .kind = "h100" };
        x->answers[i].report.time_ms = NOW;
        for (int k = 0; k < GPUS; k++)
            x->answers[i].report.busy[x->answers[i].report.n_busy++] = 0.95;
        x->of[i] = &x->answers[i];
    }
}

static struct site_job *add(struct scene *x, uint8_t state, int32_t devices)
{
    size_t i = x->site.n_jobs++;

    x->jobs[i] = (struct site_job){ .id = 10 + (uint32_t)i,
                                    .name = "j",
                                    .user = "ana",
                                    .account = "ml",
                                    .partition = "batch",
                                    .qos = "",
                                    .state = state,
                                    .nodes = 1,
                                    .devices = devices,
                                    .devices_per_node = devices };
    bursts_begin(&x->seen[i].bursts, 0);
    return &x->jobs[i];
}

static void give(struct scene *x, struct site_job *j, uint32_t node, uint32_t devices)
{
    struct site_part *p = x->parts[j - x->jobs];

    p[j->n_parts] = (struct site_part){ node, devices, __builtin_popcount(devices) };
    j->parts = p;
    j->n_parts++;
}

/* It was seen doing nothing since then. */
static void idle_since(struct scene *x, const struct site_job *j, int64_t ms)
{
    struct bursts *b = &x->seen[j - x->jobs].bursts;

    bursts_note(b, ms, 0);
    bursts_note(b, NOW, 0);
}

static void make(struct scene *x, struct board *b)
{
    const struct board_scene scene = { &x->site, x->seen, { x->of, NOW } };

    is_int(board_make(b, &scene, NULL), 0, "a board is made");
}

static void is_sentence(const struct board *b, const char *want)
{
    CLEANUP(str_done) struct str text = STR_INIT(1024);

    board_sentence(b, &text);
    is_str(str_text(&text), want, "the sentence of a board");
}

static void test_cells(void)
{
    struct scene x;
    struct board b;
    struct site_job *j;

    begin(&x);
    j = add(&x, SITE_RUNNING, 4);
    give(&x, j, 0, 3);
    give(&x, j, 1, 3);
    give(&x, add(&x, SITE_STARTING, 1), 0, 4);
    give(&x, add(&x, SITE_ENDING, 1), 1, 4);
    give(&x, add(&x, SITE_SUSPENDED, 1), 1, 8);
    j = add(&x, SITE_RUNNING, 2);
    give(&x, j, 3, 3);
    x.parts[j - x.jobs][0].devices = 0; /* Slurm does not tell which */
    x.answers[1].report.busy[0] = (double)NAN;
    x.answers[0].report.busy[1] = 0.04;
    x.nodes[2].drained = true;
    make(&x, &b);
    is_str(b.nodes[0].cells, "90s.", "busy, a tenth at most, starting, free");
    is_str(b.nodes[1].cells, "?9ez", "nobody tells, busy, ending, suspended");
    is_str(b.nodes[2].cells, "xxxx", "devices of a drained node are no job's");
    is_str(b.nodes[3].cells, "??..", "a cell says where nobody tells whose it is");
    is_int(b.nodes[0].job[1], 0, "a cell has the number of its job");
    ok(b.nodes[0].job[3] == CONTROL_NONE, "a free cell has no job");
    is_int(board_used(&b, BOARD_STARTING), 1, "devices of a job that starts");
    is_int(board_used(&b, BOARD_ENDING), 1, "devices of a job that ends");
    is_int(board_used(&b, BOARD_SUSPENDED), 1, "devices of a job that is suspended");
    is_int(board_used(&b, BOARD_DRAINED), 4, "devices of a drained node");
    is_int(board_used(&b, BOARD_UNKNOWN), 6, "devices of jobs of which one device is not told of");
    is_int(board_used(&b, BOARD_FREE), 3, "devices that nobody wants");
    is_int(b.devices, 16, "a board counts all devices");
    is_int((int)b.n_running, 5, "jobs that have devices");
    board_done(&b);
}

static void test_who_wastes(void)
{
    struct scene x;
    struct board b;
    struct site_job *j;

    begin(&x);
    give(&x, add(&x, SITE_RUNNING, 4), 0, 15);
    j = add(&x, SITE_RUNNING, 2);
    j->user = "bob";
    j->account = "vision";
    give(&x, j, 1, 3);
    idle_since(&x, j, NOW - 60000);
    j = add(&x, SITE_WAITING, 3);
    j->user = "bob";
    x.nodes[3].state = SITE_NODE_DOWN;
    make(&x, &b);
    is_int(board_used(&b, BOARD_WORKS), 4, "devices at work");
    is_int(board_used(&b, BOARD_IDLE), 2, "devices that are held and idle");
    is_int(board_used(&b, BOARD_WANTED), 3, "devices that a waiting job would fit on");
    is_int(board_used(&b, BOARD_FREE), 3, "what it would leave is wanted by nobody");
    is_int(board_used(&b, BOARD_DOWN), 4, "devices of a node that is down");
    is_int((int)b.running[0].job, 1, "the idle job comes first");
    is_int((int)(NOW - b.running[0].idle_ms), 60000, "since when it is idle");
    is_int((int)b.accounts.n, 2, "a board has a row for each account");
    is_str(b.accounts.list[0].name, "ml", "the account with most devices comes first");
    is_int((int)b.accounts.list[1].idle, 2, "what an account keeps idle");
    is_str(b.users.list[1].name, "bob", "a user who has less comes second");
    ok(b.users.list[1].held == 2 && b.users.list[1].waited == 3 && b.users.list[1].waiting == 1,
       "what a user has and waits for");
    is_sentence(&b, "9 of 16 GPUs do nothing that pays: 4 are on nodes that are down, 3 are free "
                    "while a job waits that would fit, by its GPUs alone, 2 are held by jobs that "
                    "keep them idle; 1 job waits for 3 GPUs");
    board_done(&b);
}

static void run_of(struct scene *x, int node, uint32_t job, int64_t uid, const char *sentence)
{
    struct node_report *r = &x->answers[node].report;
    struct node_run *run = &r->jobs[r->n_jobs++];

    *run = (struct node_run){ .job = job, .uid = uid, .share = (double)NAN };
    snprintf(run->sentence, sizeof(run->sentence), "%s", sentence);
}

/* What limits a job on several nodes is one verdict; what others say of it is none. */
static void test_verdicts(void)
{
    struct scene x;
    struct board b;
    struct site_job *j;

    begin(&x);
    j = add(&x, SITE_RUNNING, 12);
    j->uid = 1000;
    for (uint32_t i = 0; i < 3; i++)
        give(&x, j, i, 15);
    give(&x, add(&x, SITE_RUNNING, 4), 3, 15);
    run_of(&x, 0, 10, 1000, "nothing limits it");
    run_of(&x, 1, 10, 1000, "the loader is slow");
    x.answers[1].report.jobs[0].limited = true;
    x.answers[1].report.jobs[0].severity = SEVERITY_WARNING;
    run_of(&x, 2, 10, 0, "the disk is slow");
    x.answers[2].report.jobs[0].limited = true;
    x.answers[2].report.jobs[0].severity = SEVERITY_CRITICAL;
    run_of(&x, 0, 10, 1001, "a lie of somebody else");
    x.answers[0].report.jobs[1].limited = true;
    x.answers[0].report.jobs[1].severity = SEVERITY_CRITICAL;
    x.answers[0].report.jobs[1].share = 1;
    make(&x, &b);
    is_int((int)b.running[0].watched, 3, "three nodes tell of the job");
    is_str(b.running[0].worst ? b.running[0].worst->sentence : "", "the disk is slow",
           "the worst sentence of its owner's or root's counts");
    is_int((int)b.running[0].worst_node, 2, "a verdict has its node");
    ok(!b.running[1].worst && !b.running[1].watched, "a job that nobody watches has no verdict");
    board_done(&b);
    x.answers[2].report.time_ms -= CONTROL_STALE_MS + 1;
    make(&x, &b);
    is_str(b.running[0].worst ? b.running[0].worst->sentence : "", "the loader is slow",
           "what is of the past is no verdict");
    is_int((int)b.running[0].watched, 2, "a node whose agent is silent does not tell");
    board_done(&b);
}

/* Why free ones are free: of jobs that wait each way. */
static void test_free(void)
{
    struct scene x;
    struct board b;
    struct site_job *j;

    begin(&x);
    for (uint32_t i = 0; i < NODES; i++) /* one is free on each */
        give(&x, add(&x, SITE_RUNNING, 3), i, 7);
    add(&x, SITE_WAITING, 2);
    make(&x, &b);
    is_int(board_used(&b, BOARD_SPLIT), 2, "free ones are too few together");
    is_int(board_used(&b, BOARD_FREE), 2, "more than anybody waits for");
    board_done(&b);
    x.jobs[4].devices_per_node = 1; /* two nodes with one each */
    x.jobs[4].nodes = 2;
    make(&x, &b);
    is_int(board_used(&b, BOARD_WANTED), 2, "one on each of two nodes fits");
    board_done(&b);
    x.jobs[4].nodes = NODES + 1;
    make(&x, &b);
    is_int(board_used(&b, BOARD_SPLIT), 2,
           "a job that wants more nodes than are free does not fit");
    board_done(&b);
    x.jobs[4].nodes = 2;
    x.jobs[4].kind = "a100";
    make(&x, &b);
    is_int(board_used(&b, BOARD_SPLIT), 2, "a job that wants another kind does not fit");
    board_done(&b);
    x.jobs[4].depends = true;
    j = add(&x, SITE_WAITING, 1);
    j->held = true;
    make(&x, &b);
    is_int(board_used(&b, BOARD_BARRED), 3, "free while those that wait may not start");
    is_int(board_used(&b, BOARD_FREE), 1, "the rest is nobody's");
    board_done(&b);
    x.jobs[4].devices_per_node = 99;
    x.jobs[4].depends = false;
    x.nodes[0].reserved = true;
    x.nodes[1].state = SITE_NODE_OFF;
    make(&x, &b);
    is_int(board_used(&b, BOARD_RESERVED), 1, "free ones of a reserved node");
    is_int(board_used(&b, BOARD_OFF), 1, "free ones of a node that is off");
    is_int(board_used(&b, BOARD_SPLIT), 2, "a job that wants more than any node has does not fit");
    board_done(&b);
}

static void test_queue(void)
{
    struct scene x;
    struct board b;

    begin(&x);
    for (int i = 0; i < 3; i++)
        add(&x, SITE_WAITING, i + 1)->priority = i == 2 ? 9 : 5;
    x.jobs[0].why = "Priority";
    x.jobs[1].why = "Resources";
    x.jobs[2].why = "Priority";
    make(&x, &b);
    ok(b.n_queue == 3 && b.queue[0] == 2 && b.queue[1] == 0 && b.queue[2] == 1,
       "the queue is in the order of priorities, then of numbers");
    ok(b.n_reasons == 2 && !strcmp(b.reasons[0].word, "Priority") && b.reasons[0].jobs == 2 &&
           b.reasons[0].devices == 4,
       "reasons are summed up");
    is_int(b.waited, 6, "devices that jobs wait for");
    board_done(&b);
}

static void test_reasons(void)
{
    static const struct {
        const char *word, *text;
    } cases[] = {
        { NULL, "Slurm has not looked at it yet" },
        { "Resources", "what it asks for is not free" },
        { "DependencyNeverSatisfied", "the job that it depends on will never end as it should" },
        { "Dependency", "it depends on a job that has not ended" },
        { "QOSMaxGRESPerUser", "it asks for more than its QOS allows one user or job" },
        { "ReqNodeNotAvail, UnavailableNodes:n1",
          "a node that it needs is drained, down or reserved" },
        { "NewWord", "Slurm's word for it: NewWord" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(str_done) struct str text = STR_INIT(256);

        board_add_reason(cases[i].word, &text);
        is_str(str_text(&text), cases[i].text, "a reason in words");
    }
}

static void test_sentences(void)
{
    struct scene x;
    struct board b;

    begin(&x);
    make(&x, &b);
    is_sentence(&b, "0 of 16 GPUs are at work, and none is wasted; no job waits for any");
    board_done(&b);
    x.site.n_nodes = 0;
    make(&x, &b);
    is_sentence(&b, "Slurm has no GPUs here");
    board_done(&b);
}

/* Names that would be markup, SQL, commands to a terminal, or no text at all. */
static void test_hostile(void)
{
    static const char name[] = "</script><img src=x onerror=alert(1)>\x1b]0;x\a\"'; DROP TABLE "
                               "action;--\xff\xfe";
    CLEANUP(str_done) struct str text = STR_INIT(TEXT_MAX);
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    struct json j = { .out = &text, .compact = true };
    const struct json_value *root, *rows;
    struct scene x;
    struct board b;
    struct site_job *job;

    begin(&x);
    x.nodes[0].drained = true;
    x.nodes[0].reason = name;
    job = add(&x, SITE_WAITING, 1);
    job->name = job->user = job->account = job->partition = job->why = name;
    make(&x, &b);
    json_object(&j, NULL);
    board_add_json(&b, &j);
    json_end(&j);
    is_int(str_error(&text), 0, "a board with hostile names is written");
    ok(!strpbrk(str_text(&text), "\x1b\a\xff"), "no byte of it is one that a terminal acts upon");
    is_int(json_read(&root, &a, "", str_text(&text), text.len, NULL), 0,
           "a board with hostile names is JSON");
    rows = json_get(root, "queue");
    ok(rows && rows->n_items == 1 &&
           !strncmp(json_get(&rows->items[0], "name")->text, name, strlen(name) - 2),
       "the name is the one that was given");
    board_done(&b);
}

/* What one user may read of a board, as JSON. */
static const struct json_value *read_cut(const struct board_text *t, int64_t uid, struct arena *a)
{
    CLEANUP(str_done) struct str cut = STR_INIT(TEXT_MAX);
    const struct json_value *root = NULL;

    board_text_cut(t, uid, &cut);
    is_int(json_read(&root, a, "", str_text(&cut), cut.len, NULL), 0, "what is left is JSON");
    return root;
}

static const char *text_of(const struct json_value *root, const char *rows, size_t row,
                           const char *key)
{
    const struct json_value *list = json_get(root, rows);
    const struct json_value *v = row < list->n_items ? json_get(&list->items[row], key) : NULL;

    return v ? v->text : "(none)";
}

/* Names of jobs and users stand only in what their users are told. */
static void test_cut(void)
{
    struct board_text t = { .text = STR_INIT(TEXT_MAX) };
    struct json j = { .out = &t.text, .compact = true };
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    const struct json_value *root;
    struct scene x;
    struct board b;
    struct site_job *job;

    begin(&x);
    job = add(&x, SITE_RUNNING, 4);
    give(&x, job, 0, 15);
    job->uid = 7;
    job->name = "secret";
    run_of(&x, 0, 10, 7, "the secret loader is slow");
    job = add(&x, SITE_WAITING, 2);
    job->uid = 8;
    job->user = "bob";
    make(&x, &b);
    json_object(&j, NULL);
    board_add_json(&b, &j);
    json_end(&j);
    is_int(board_text_take(&t, &b), 0, "a board's text is taken");
    board_done(&b);
    root = read_cut(&t, 7, &a);
    is_str(text_of(root, "running", 0, "name"), "secret", "a user is told its job's name");
    is_str(text_of(root, "running", 0, "sentence"), "the secret loader is slow",
           "a user is told what limits its job");
    is_str(text_of(root, "queue", 0, "user"), "(none)", "a user is not told whose another job is");
    is_str(text_of(root, "users", 0, "name"), "ana", "a user finds itself among users");
    is_str(text_of(root, "users", 1, "name"), "(none)", "a user is not told other users' names");
    root = read_cut(&t, 8, &a);
    is_str(text_of(root, "running", 0, "name"), "(none)", "another user is not told the name");
    is_str(text_of(root, "queue", 0, "user"), "bob", "another user is told of its own job");
    root = read_cut(&t, -1, &a);
    is_str(text_of(root, "running", 0, "sentence"), "(none)",
           "a stranger is not told what limits a job");
    is_str(text_of(root, "queue", 0, "account"), "(none)", "a stranger is told no account");
    ok(json_get(root, "gpus")->number == 16, "a stranger is told the sums");
    board_text_done(&t);
}

static size_t rows_of(const struct json_value *root, const char *key)
{
    const struct json_value *v = json_get(root, key);

    return v ? v->n_items : 0;
}

/* When Slurm expects jobs to start: what is past, or a year ahead, is not known. */
static void test_starts(void)
{
    static const int64_t day_ms = 86400000;
    CLEANUP(str_done) struct str text = STR_INIT(TEXT_MAX);
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    struct json j = { .out = &text, .compact = true };
    const struct json_value *root, *rows;
    struct scene x;
    struct board b;

    begin(&x);
    add(&x, SITE_WAITING, 1)->start_ms = NOW + 3 * day_ms;
    add(&x, SITE_WAITING, 1)->start_ms = NOW + 365 * day_ms;
    add(&x, SITE_WAITING, 1)->start_ms = NOW - 1;
    make(&x, &b);
    json_object(&j, NULL);
    board_add_json(&b, &j);
    json_end(&j);
    board_done(&b);
    is_int(json_read(&root, &a, "", str_text(&text), text.len, NULL), 0, "a queue is JSON");
    rows = json_get(root, "queue");
    ok(json_get(&rows->items[0], "start_ms")->whole == NOW + 3 * day_ms,
       "a start that Slurm expects is told");
    ok(json_get(&rows->items[1], "start_ms")->kind == JSON_NULL,
       "a start in a year stands for a job without a limit: it is not known");
    ok(json_get(&rows->items[2], "start_ms")->kind == JSON_NULL,
       "a start that is past is no start");
}

/* A cluster may have more of everything than a page shows. */
static void test_bounded(void)
{
    CLEANUP(str_done) struct str text = STR_INIT(TEXT_MAX);
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    struct json j = { .out = &text, .compact = true };
    struct site_node node = { .name = "n", .devices = 1000 };
    struct site_part part = { 0, 0, 1 };
    struct site site = { .cluster = "c", .nodes = &node, .n_nodes = 1, .n_jobs = ALL };
    const struct node_answer *of[1] = { NULL };
    const struct json_value *root;
    struct control_seen *seen = calloc(ALL, sizeof(*seen));
    const struct board_scene scene = { &site, seen, { of, 0 } };
    struct board b;

    site.jobs = arena_alloc(&a, site.n_jobs * sizeof(*site.jobs));
    for (uint32_t i = 0; i < ALL; i++)
        site.jobs[i] = (struct site_job){ .id = i,
                                          .name = "",
                                          .user = arena_printf(&a, "u%u", i),
                                          .account = arena_printf(&a, "a%u", i),
                                          .partition = "",
                                          .why = arena_printf(&a, "why%u", i),
                                          .devices = 1,
                                          .state = i % 2 ? SITE_RUNNING : SITE_WAITING,
                                          .parts = &part,
                                          .n_parts = 1 };
    is_int(board_make(&b, &scene, NULL), 0, "a board of many jobs is made");
    json_object(&j, NULL);
    board_add_json(&b, &j);
    json_end(&j);
    is_int(json_read(&root, &a, "", str_text(&text), text.len, NULL), 0,
           "a board of many jobs is JSON");
    is_int((int)rows_of(root, "running"), BOARD_RUNNING, "jobs that have devices are bounded");
    is_int((int)rows_of(root, "queue"), BOARD_QUEUE, "jobs that wait are bounded");
    is_int((int)rows_of(root, "users"), BOARD_PARTIES, "users are bounded");
    is_int((int)rows_of(root, "accounts"), BOARD_PARTIES, "accounts are bounded");
    is_int((int)rows_of(root, "reasons"), BOARD_REASONS, "reasons are bounded");
    is_int((int)json_get(root, "queue_total")->number, MANY, "all jobs that wait are counted");
    is_int((int)json_get(root, "users_total")->number, ALL, "all users are counted");
    is_int((int)board_used(&b, BOARD_UNKNOWN), MANY, "devices are counted that no cell shows");
    is_int((int)strlen(b.nodes[0].cells), SITE_DEVICES, "a node has so many cells at most");
    board_done(&b);
    free(seen);
}

int main(void)
{
    test_cells();
    test_who_wastes();
    test_verdicts();
    test_free();
    test_queue();
    test_reasons();
    test_sentences();
    test_starts();
    test_hostile();
    test_cut();
    test_bounded();
    return done();
}
