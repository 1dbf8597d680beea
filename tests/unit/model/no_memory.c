/* What the model's lists and tables do without memory: each allocation fails once. */
#include <errno.h>

#include "model/job/job_spec.h"
#include "model/machine/catalogue.h"
#include "model/machine/pool.h"
#include "model/nodes/node_order.h"
#include "model/signal/signal.h"
#include "model/verdict/finding.h"
#include "oom_arena.h"
#include "tap.h"

enum { NAMES = 40 /* more than a table begins with */ };

static int fill_workload(struct workload *w)
{
    struct work_speeds speeds = { .of = { 1 } };
    char name[16];
    int rc = 0;

    w->jobs = arena_alloc(&w->arena, 3 * sizeof(*w->jobs));
    if (!w->jobs)
        return -ENOMEM;
    w->n_jobs = 3;
    for (int i = 0; i < 3; i++)
        w->jobs[i] = (struct work){ .submit_ms = 3 - i, .devices = 1 };
    for (int i = 0; rc >= 0 && i < NAMES; i++) {
        snprintf(name, sizeof(name), "u%d", i);
        rc = work_number(w, &w->users, name);
    }
    rc = rc < 0 ? rc : work_speeds(w, &speeds);
    rc = rc < 0 ? rc : work_stretch_add(w, &w->jobs[0], 5, 500);
    return rc < 0 ? rc : workload_settle(w, NULL);
}

static void test_workload(void)
{
    bool failed;

    oom_restart();
    do {
        struct workload w = { .n_jobs = 0 };
        int rc;

        oom_next();
        rc = fill_workload(&w);
        failed = oom_end();
        is_int(rc, failed ? -ENOMEM : 0, "a workload with allocation %d failing", oom_at);
        ok(failed || (w.users.n == NAMES && w.jobs[0].submit_ms == 0 && w.n_stretches == 1),
           "a workload is whole, or told to be none, with allocation %d failing", oom_at);
        workload_done(&w);
    } while (failed);
}

static bool fill_tick(struct tick *t)
{
    static const char *const facts[] = { "uuid", NULL };
    static const struct signal_def defs[] = { { "load1", "load", SIGNAL_GAUGE } };
    const struct signal_set plain = { "host", NULL, defs, 1, NULL },
                            told = { "gpu", "gpu", defs, 1, facts };

    tick_begin(t, 1, 1);
    return tick_add(t, &plain, "") && tick_add(t, &told, "0") &&
           tick_event(t, "xid", SEVERITY_NOTE, 1);
}

static void test_tick(void)
{
    bool failed;

    oom_restart();
    do {
        struct tick t = { .n_rows = 0 };
        bool whole;

        oom_next();
        whole = fill_tick(&t);
        failed = oom_end();
        is_int(whole, !failed, "a tick with allocation %d failing", oom_at);
        for (size_t i = 0; i < t.n_rows; i++)
            ok(t.rows[i].set && t.rows[i].values, "row %zu is whole with allocation %d failing", i,
               oom_at);
        ok(fill_tick(&t) && t.n_rows == 2 && t.n_events == 1,
           "a tick is filled later, after allocation %d failed", oom_at);
        tick_done(&t);
    } while (failed);
}

static int fill_order(struct arena *a, struct node_list *l, struct node_order *o)
{
    static const char text[] = "n1\nn2,n3\n";
    static const struct node_answer answers[3] = { { .fault = NODE_SILENT } };
    const struct node_order_asked asked = { false, 1 };
    int rc = node_list_read(l, a, "f", text, sizeof(text) - 1, NULL);

    return rc < 0 ? rc : node_order_make(o, a, l, answers, &asked);
}

static void test_nodes(void)
{
    bool failed;

    oom_restart();
    do {
        CLEANUP(arena_done) struct arena a = ARENA_INIT;
        struct node_list l = { .n = 0 };
        struct node_order o = { .n = 7 };
        int rc;

        oom_next();
        rc = fill_order(&a, &l, &o);
        failed = oom_end();
        is_int(rc, failed ? -ENOMEM : 0, "nodes in their order with allocation %d failing", oom_at);
        is_int((int)o.n, failed ? 7 : 3, "an order is set on success alone: allocation %d", oom_at);
        for (size_t i = 0; i < l.n; i++)
            ok(l.nodes[i].text && l.nodes[i].name, "node %zu is whole with allocation %d failing",
               i, oom_at);
    } while (failed);
}

static void test_tables(void)
{
    static const char products[] = "name,vendor,links\nX1,V,4\n";
    bool failed;

    oom_restart();
    do {
        struct catalogue c = { .n_products = 7 };
        struct pool p = { .n_nodes = 0 };
        int rc;

        oom_next();
        rc = catalogue_load(&c, products, sizeof(products) - 1, NULL);
        if (rc == 0)
            rc = pool_parse(&p, "2x8:A100,1x4", NULL);
        failed = oom_end();
        is_int(rc, failed ? -ENOMEM : 0, "a catalogue and a pool with allocation %d failing",
               oom_at);
        for (size_t i = 0; !failed && i < p.n_nodes; i++)
            ok(p.nodes[i].name, "node %zu of a pool has a name", i);
        if (c.n_products != 7)
            catalogue_done(&c);
        pool_done(&p);
    } while (failed);
}

static void test_findings(void)
{
    bool failed;

    oom_restart();
    do {
        struct findings f = { .count = 0 };
        struct finding *one;

        oom_next();
        one = findings_add(&f, "pcie", SEVERITY_NOTE, "n1");
        findings_text(&f, &one->sentence, "a link is slow");
        failed = oom_end();
        is_int(f.no_memory, failed, "a finding with allocation %d failing", oom_at);
        ok(one->sentence && (failed || !strcmp(one->sentence, "a link is slow")),
           "a finding has a sentence with allocation %d failing", oom_at);
        findings_done(&f);
    } while (failed);
}

int main(void)
{
    test_workload();
    test_tick();
    test_nodes();
    test_tables();
    test_findings();
    return done();
}
