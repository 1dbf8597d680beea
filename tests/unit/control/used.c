/* What is told of jobs that have ended: how many of their GPUs they kept busy. */
#include "control/used.h"

#include <string.h>

#include "tap.h"

enum { NODES = 2, GPUS = 4 };

struct world {
    struct site site;
    struct site_node nodes[NODES];
    struct site_job jobs[3];
    struct site_part parts[3][NODES];
    struct node_answer answers[NODES];
    const struct node_answer *of[NODES];
    struct used *used;
};

static void make(struct world *w)
{
    *w = (struct world){ .site = { .n_nodes = NODES } };
    w->site.nodes = w->nodes;
    w->site.jobs = w->jobs;
    for (int i = 0; i < NODES; i++) {
        w->nodes[i] = (struct site_node){ .name = i ? "n1" : "n0", .devices = GPUS };
        w->answers[i] = (struct node_answer){ .report = { .n_busy = GPUS, .time_ms = 1000 } };
        w->of[i] = &w->answers[i];
    }
    ok(used_open(&w->used) == 0, "a record opens");
}

static void done_world(struct world *w)
{
    used_close(w->used);
}

/* A job that runs on GPUs of n0, and of n1. */
static struct site_job *job(struct world *w, uint32_t id, const char *name, uint32_t bits0,
                            uint32_t bits1)
{
    size_t i = w->site.n_jobs++;
    struct site_part *p = w->parts[i];

    p[0] = (struct site_part){ 0, bits0, __builtin_popcount(bits0) };
    p[1] = (struct site_part){ 1, bits1, __builtin_popcount(bits1) };
    w->jobs[i] = (struct site_job){ .id = id,
                                    .name = name,
                                    .user = "ann",
                                    .state = SITE_RUNNING,
                                    .start_ms = 1,
                                    .devices = p[0].count + p[1].count,
                                    .parts = p,
                                    .n_parts = bits1 ? 2 : 1 };
    return &w->jobs[i];
}

static void see(struct world *w, int times)
{
    const struct control_answers answers = { w->of, 1000 };
    int rc = 0;

    for (int i = 0; i < times && rc == 0; i++)
        rc = used_see(w->used, &w->site, &answers);
    ok(rc == 0, "jobs are looked at %d times", times);
}

static void is_told(struct world *w, const char *want, const char *what)
{
    CLEANUP(str_done) struct str out = STR_INIT(4096);

    used_end(w->used, &w->site, &out);
    is_str(str_text(&out), want, "%s", what);
}

static void test_ends(void)
{
    struct world w;
    struct site_job *j;

    make(&w);
    j = job(&w, 7, "train", 0xf, 0x3);
    w.answers[0].report.busy[2] = 0.9;
    w.answers[1].report.busy[1] = 0.011;
    w.answers[1].report.busy[0] = 0.01;
    see(&w, USED_SAMPLES);
    is_told(&w, "", "of a job that runs nothing is told");
    j->state = SITE_ENDING;
    is_told(&w, "ann\ttrain\t6\t2\n", "of a job that ends its busy GPUs are told");
    is_told(&w, "", "of an ended job is told once");
    done_world(&w);
}

static void test_gone(void)
{
    struct world w;

    make(&w);
    job(&w, 7, "train", 1, 0);
    see(&w, USED_SAMPLES);
    w.site.n_jobs = 0;
    is_told(&w, "ann\ttrain\t1\t0\n", "a job that is not there any more has ended");
    done_world(&w);
}

static void test_requeued(void)
{
    struct world w;
    struct site_job *j;

    make(&w);
    j = job(&w, 7, "train", 1, 0);
    see(&w, USED_SAMPLES);
    j->start_ms = 2;
    w.answers[0].report.busy[0] = 1;
    see(&w, 1);
    is_told(&w, "ann\ttrain\t1\t0\n", "a job that has begun again had ended");
    see(&w, USED_SAMPLES);
    w.site.n_jobs = 0;
    is_told(&w, "ann\ttrain\t1\t1\n", "a second attempt counts for itself");
    done_world(&w);
}

static void test_unseen(void)
{
    struct world w;

    make(&w);
    job(&w, 7, "short", 1, 0);
    see(&w, USED_SAMPLES - 1);
    w.site.n_jobs = 0;
    is_told(&w, "", "of a job that was seen too little nothing is told");
    job(&w, 8, "blind", 1, 1);
    w.of[1] = NULL;
    see(&w, USED_SAMPLES);
    w.site.n_jobs = 0;
    is_told(&w, "", "of a job with a GPU that nobody sees nothing is told");
    job(&w, 9, "which", 1, 0)->parts = &(struct site_part){ 0, 0, 2 };
    see(&w, USED_SAMPLES);
    w.site.n_jobs = 0;
    is_told(&w, "", "of a job whose GPUs Slurm does not tell nothing is told");
    job(&w, 10, "more", 1, 0)->parts = &(struct site_part){ 0, 7, 1 };
    see(&w, USED_SAMPLES);
    w.site.n_jobs = 0;
    is_told(&w, "", "of a job with more GPUs than it has nothing is told");
    job(&w, 11, "far", 1, 0)->parts = &(struct site_part){ 99, 1, 1 };
    see(&w, USED_SAMPLES);
    w.site.n_jobs = 0;
    is_told(&w, "", "of a job on a node that is not there nothing is told");
    done_world(&w);
}

static void test_order(void)
{
    struct world w;

    make(&w);
    job(&w, 9, "late", 1, 0);
    see(&w, USED_SAMPLES);
    w.site.n_jobs = 0;
    job(&w, 3, "early", 2, 0);
    job(&w, 9, "late", 1, 0);
    see(&w, USED_SAMPLES);
    w.site.n_jobs = 1;
    is_told(&w, "ann\tlate\t1\t0\n", "a job of a higher number ends");
    w.site.n_jobs = 0;
    is_told(&w, "ann\tearly\t1\t0\n", "a job that began later, of a lower number, ends");
    done_world(&w);
}

static void test_names(void)
{
    struct world w;
    char name[200];

    make(&w);
    memset(name, 'n', sizeof(name));
    name[sizeof(name) - 1] = '\0';
    memcpy(name, "a\tb\nc\x1b\x7f", 7);
    job(&w, 1, name, 1, 0);
    job(&w, 2, "", 2, 0)->user = "";
    see(&w, USED_SAMPLES);
    w.site.n_jobs = 0;
    is_told(&w, "ann\ta?b?c??nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn\t1\t0\n",
            "a name is cut, and plain; a job without a user is not told");
    done_world(&w);
}

int main(void)
{
    test_ends();
    test_gone();
    test_requeued();
    test_unseen();
    test_order();
    test_names();
    return done();
}
