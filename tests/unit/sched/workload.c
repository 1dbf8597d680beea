/* Pools, traces and policies as they are read, and all of a simulation with every allocation
 * failing once. */
#include <errno.h>

#include "oom_arena.h"
#include "sim/fill_test.h"
#include "sim/stats/stats.h"
#include "tap.h"
#include "trace/activity.h"
#include "trace/trace.h"

static int read_text(struct workload *w, struct trace_notes *n, const struct pool *p,
                     const char *text, struct err *e)
{
    const struct trace_text t = { "f", text, strlen(text), "brim sim" };

    *w = (struct workload){ .n_jobs = 0 };
    return trace_read(w, n, p, &t, e);
}

/* A trace for two nodes of 8 devices, as it is read. */
struct given {
    struct pool pool;
    struct trace_notes notes;
    struct workload work;
};

static void given(struct given *g, const char *text)
{
    struct err e = { "" };

    *g = (struct given){ .pool.n_nodes = 0 };
    ok(pool_parse(&g->pool, "2x8", &e) == 0 &&
           read_text(&g->work, &g->notes, &g->pool, text, &e) == 0,
       "the nodes and the trace are read");
}

static void given_done(struct given *g)
{
    workload_done(&g->work);
    pool_done(&g->pool);
}

static void test_pool(void)
{
    struct pool p = { .n_nodes = 0 };
    struct err e = { "" };

    is_int(pool_parse(&p, "32x8/16:A100,4x4:T4", &e), 0, "pool_parse reads two kinds of nodes");
    ok(p.n_nodes == 36 && p.devices == 272 && p.most == 8 && p.n_kinds == 2,
       "the pool counts nodes, devices and kinds");
    ok(p.nodes[15].leaf == 1 && p.nodes[16].leaf == 2 && p.nodes[32].leaf == 0,
       "nodes of the first kind have leaves of 16");
    ok(p.nodes[35].kind == 1 && pool_kind(&p, "T4") == 1 && pool_kind(&p, "H9") == -1,
       "nodes of the second kind have the kind T4");
    is_str(p.nodes[35].name, "n35", "the last node is called n35");
    for (size_t i = 0; i < 8; i++) {
        static const char *const bad[] = { "",      "8",     "0x8",  "8x17",
                                           "8x8/x", "8x8/0", "8x8=", "8x8/2/" };

        is_int(pool_parse(&p, bad[i], &e), -EINVAL, "'%s' is no pool: %s", bad[i], e.text);
    }
    pool_done(&p);
    is_int(pool_parse(&p, "72x4=18/36/2:B200", &e), 0, "domains, leaves, spines");
    ok(p.nodes[17].domain == 1 && p.nodes[18].domain == 2 && p.nodes[35].leaf == 1 &&
           p.nodes[36].leaf == 2 && p.nodes[71].spine == 1 && p.nodes[71].domain == 4,
       "nodes have numbers of domain, leaf and spine");
    pool_done(&p);
}

/* Rows out of order, and those that cannot be. */
static void test_rows(void)
{
    static const char text[] = "job_id,submit_s,gpus,duration_s,user,class,priority,per_node\n"
                               "b,20,2,5,ann,x,3,\n"
                               "a,10.5,1,5.25,bob,y,,1\n"
                               "c,20,2,5,ann,x,-1,\n"
                               "d,5,1,-1,,,,\n"
                               "e,5,1,400000000,,,,\n"
                               "f,5,3,1,,,,2\n"
                               "g,99999999999,1,1,,,,\n"
                               "\"h,5,1,1\n";
    struct given g;

    given(&g, text);
    ok(g.notes.rows == 8 && g.notes.bad == 5, "the trace has %zu rows, of which %zu are bad",
       g.notes.rows, g.notes.bad);
    is_str(g.notes.text[0], "line 5: it takes less than no time",
           "the first note names the time that is less than none");
    is_str(g.notes.text[2], "line 7: 3 devices are not whole nodes of 2",
           "the third note names the devices that are not whole nodes");
    is_int((long long)g.work.n_jobs, 3, "three good rows make three jobs");
    if (g.work.n_jobs != 3 || !g.work.jobs)
        return;
    ok(!strcmp(g.work.jobs[0].name, "a") && !strcmp(g.work.jobs[1].name, "b"),
       "jobs stand in the order of their submission");
    ok(g.work.jobs[0].submit_ms == 0 && g.work.jobs[1].submit_ms == 9500 &&
           g.work.first_ms == 10500,
       "times of submission count from the first job");
    ok(g.work.jobs[0].length_ms == 5250 && g.work.jobs[0].per_node == 1,
       "a job has its row's duration and devices per node");
    ok(g.work.jobs[1].shape == g.work.jobs[2].shape && g.work.jobs[0].shape != g.work.jobs[1].shape,
       "jobs that ask for the same have the same shape");
    ok(g.work.users.n == 2 && g.work.jobs[1].user == g.work.jobs[2].user &&
           g.work.jobs[1].priority == 3,
       "users are counted, and a job has its user and priority");
    given_done(&g);
}

static void test_activity(void)
{
    static const char text[] = "job_id,submit_s,gpus,duration_s,activity\n"
                               "a,0,1,100,60:90.5 30:0 10:0 \n"
                               "b,1,1,100,60:90 40:0\n"
                               "c,2,1,100,\n"
                               "d,3,1,100,70\n"
                               "e,4,1,100,60:90\n"
                               "f,4,1,100,60:90 60:0\n"
                               "g,4,1,100,60:101 0\n"
                               "h,4,1,100,60 40:0\n"
                               "i,4,1,100,x\n"
                               "j,5,1,100,60:hang 30:0 hang\n"
                               "k,5,1,100,60:hangs 0\n";
    struct given g;

    given(&g, text);
    ok(g.notes.rows == 11 && g.notes.bad == 6 && g.work.n_jobs == 5,
       "the trace of activities has %zu rows, of which %zu are bad", g.notes.rows, g.notes.bad);
    is_str(g.notes.text[0],
           "line 6: its activity is not seconds:per cent that add up to its length",
           "the first note names the activity that does not add up");
    if (g.work.n_jobs == 5) {
        const struct work_stretch *s = g.work.stretches + g.work.jobs[0].stretch;

        ok(g.work.jobs[0].n_stretches == 2 && s[0].ms == 60000 && s[0].milli == 905 &&
               s[1].ms == 40000 && s[1].milli == 0,
           "two of the same are one");
        ok(g.work.jobs[2].n_stretches == 0, "nothing was said");
        s = g.work.stretches + g.work.jobs[3].stretch;
        ok(g.work.jobs[3].n_stretches == 1 && s->ms == 100000 && s->milli == 700,
           "an activity may last for the whole job");
        s = g.work.stretches + g.work.jobs[4].stretch;
        ok(g.work.jobs[4].n_stretches == 3 && s[0].milli == WORK_HANGS && s[1].milli == 0 &&
               s[2].milli == WORK_HANGS && s[2].ms == 10000,
           "a job that hangs is not the same as one that is idle");
    }
    given_done(&g);
}

/* The fewest and the most devices of a job, and how it scales. */
static void test_elastic(void)
{
    static const char text[] =
        "job_id,submit_s,gpus,duration_s,gpus_min,gpus_max,scaling,per_node\n"
        "a,0,8,9,4,16,0.5,\n"
        "b,0,8,9,4,,,\n"
        "c,0,8,9,8,8,1,\n"
        "d,0,8,9,,,,\n"
        "e,0,8,9,9,,,\n"
        "f,0,8,9,4,10,,4\n"
        "g,0,8,9,,,2,\n";
    struct given g;

    given(&g, text);
    ok(g.notes.rows == 7 && g.notes.bad == 3 && g.work.n_jobs == 4,
       "the trace of ranges has %zu rows, of which %zu are bad", g.notes.rows, g.notes.bad);
    is_str(g.notes.text[0], "line 6: gpus is not between gpus_min and gpus_max",
           "the first note names the gpus outside of their range");
    if (g.work.n_jobs == 4) {
        const struct work *j = g.work.jobs;

        ok(j[0].least == 4 && j[0].most == 16 && j[1].least == 4 && j[1].most == 8,
           "jobs have the range of devices that their rows give");
        ok(j[2].most == 0 && j[3].most == 0, "jobs without a range of devices have none");
        ok(j[0].shape == j[1].shape && j[0].shape != j[3].shape && j[2].shape == j[3].shape,
           "jobs with the same fewest devices have the same shape");
        ok(work_pace(&j[0], 8, 2) == 0.5 && work_pace(&j[2], 8, 2) == 0.25 &&
               work_pace(&j[1], 8, 8) == 1,
           "a job's pace follows from its devices");
    }
    given_done(&g);
}

/* When jobs are to have ended, on the clock of their submission. */
static void test_deadlines(void)
{
    static const char text[] = "job_id,submit_s,gpus,duration_s,deadline_s\n"
                               "a,100,1,9,130.5\n"
                               "b,90,1,9,\n"
                               "c,95,1,9,95\n"
                               "d,95,1,9,soon\n"
                               "e,95,1,9,95.001\n";
    struct pool p = { .n_nodes = 0 };
    struct trace_notes n = { .rows = 0 };
    struct workload w = { .n_jobs = 0 };
    struct err e = { "" };

    ok(pool_parse(&p, "2x8", &e) == 0 && read_text(&w, &n, &p, text, &e) == 0,
       "the nodes and the trace with deadlines are read");
    ok(n.rows == 5 && n.bad == 2 && w.n_jobs == 3,
       "the trace of deadlines has %zu rows, of which %zu are bad", n.rows, n.bad);
    is_str(n.text[0], "line 4: its deadline is no time after its submission",
           "the first note names the deadline before its submission");
    if (w.n_jobs == 3) {
        ok(!w.jobs[0].wish && work_deadline(&w.jobs[0]) == WORK_UNKNOWN,
           "a job without a deadline has none");
        is_int(work_deadline(&w.jobs[1]), 5001, "a deadline counts from the first submission on");
        is_int(work_deadline(&w.jobs[2]), 40500, "of the last one");
    }
    ok(sizeof(struct work) <= 128, "a job takes %zu bytes", sizeof(struct work));
    workload_done(&w);
    pool_done(&p);
}

static const char *const policies[] = { "fifo", "easy", "conservative", "fair",      "srtf",
                                        "las",  "fgd",  "rebuild-srtf", "interleave" };
static const char idle[] = "[policy]\nrestart = 1s\n[idle]\nwarn = 2s\nreclaim = 4s\n"
                           "action = shrink\nexempt = z\n[share]\nbelow = 90%\n"
                           "together = 100%\nafter = 1s\n";

static const char elastic[] = "[policy]\nrestart = 1s\n[elastic]\nevery = 2s\n";

/* Policies that are none of those with names, with traces of their own. */
static const struct special {
    const char *name, *policy, *trace;
    bool active;
} specials[] = {
    { "idle", idle,
      "job_id,submit_s,gpus,duration_s,class,activity\n"
      "a,0,16,50,x,5:90 20:0 90\nb,1,8,20,y,\nc,2,16,9,z,0\n",
      true },
    { "elastic", elastic,
      "job_id,submit_s,gpus,duration_s,gpus_min,gpus_max\n"
      "a,0,8,50,2,16\nb,9,8,50,2,16\nc,10,4,9,,\nd,12,3,9,1,3\n",
      false },
    { "deadline and data", "[policy]\norder = deadline\nlength = oracle\n",
      "job_id,submit_s,gpus,duration_s,deadline_s,data,data_s\n"
      "a,0,16,50,55,,\nb,1,8,20,40,n1,5\nc,2,16,9,70,n0+n1,\nd,3,1,9,,n0,5\n",
      false },
};

/* All of it, once. Returns the first failure. */
static int whole(const char *policy, const struct special *special, struct err *e)
{
    static const char text[] = "job_id,submit_s,gpus,duration_s,user,class\n"
                               "a,0,8,50,ann,x\nb,1,16,20,bob,y\nc,2,1,9,ann,x\nd,3,4,9,bob,y\n"
                               "e,3,4,90,bob,y\nf,3,2,9,cid,z\n";
    const struct fill_test_options options = { 1.3, 1, 1 };
    struct workload w = { .n_jobs = 0 };
    struct pool p = { .n_nodes = 0 };
    struct sim_result r = { .events = 0 };
    struct sim_stats s = { .fairness = 0 };
    struct fill_test_result pack;
    struct trace_notes n;
    struct policy po;
    int rc = pool_parse(&p, "2x8:A", e);

    if (rc == 0)
        rc = policy ? policy_named(&po, policy, e)
                    : policy_read(&po, "own", special->policy, strlen(special->policy), e);
    if (rc == 0)
        rc = read_text(&w, &n, &p, policy ? text : special->trace, e);
    if (rc == 0 && !policy && special->active)
        rc = activity_draw(&w, activity_named("philly"), 60000, 1, e);
    if (rc == 0)
        rc = sim_run(&r, &po, &p, &w, NULL, e);
    if (rc == 0)
        rc = sim_stats_make(&s, &r, &p, &w, e);
    if (rc == 0)
        rc = fill_test_run(&pack, &po, &p, &w, &options, e);
    sim_stats_done(&s);
    sim_result_done(&r);
    workload_done(&w);
    pool_done(&p);
    return rc;
}

static void test_oom(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(policies) + ARRAY_SIZE(specials); i++) {
        const char *policy = i < ARRAY_SIZE(policies) ? policies[i] : NULL;
        const struct special *special = policy ? NULL : &specials[i - ARRAY_SIZE(policies)];
        int rounds = 0, wrong = 0;
        bool failed;

        oom_restart();
        do {
            struct err e = { "" };
            int rc;

            oom_next();
            rc = whole(policy, special, &e);
            failed = oom_end();
            wrong += rc != (failed ? -ENOMEM : 0);
            rounds++;
        } while (failed);
        ok(wrong == 0 && rounds > 20, "%s: %d allocations fail, %d wrongly",
           policy ? policy : special->name, rounds, wrong);
    }
}

int main(void)
{
    test_pool();
    test_rows();
    test_activity();
    test_elastic();
    test_deadlines();
    test_oom();
    return done();
}
