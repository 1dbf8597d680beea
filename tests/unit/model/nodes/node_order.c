/* Nodes, the worst first: what state each is in, what is said of it and of all. */
#include "model/nodes/node_order.h"

#include <math.h>

#include "base/str.h"
#include "tap.h"

enum { MOST = 40 };

static const struct node_order_asked asked = { .token = true, .waited_s = 2 };

static struct node_answer answer(enum live_state state, const char *sentence)
{
    struct node_answer a = { .fault = NODE_ANSWERED };

    a.report = (struct node_report){ .verdict = { .state = state, .bottleneck = LIVE_NONE },
                                     .gpus = (double)NAN,
                                     .idle = (double)NAN,
                                     .lost = (double)NAN,
                                     .gpu_hours = (double)NAN,
                                     .critical = (double)NAN,
                                     .warnings = (double)NAN,
                                     .runs = (double)NAN };
    snprintf(a.report.verdict.sentence, sizeof(a.report.verdict.sentence), "%s", sentence);
    return a;
}

static void name_nodes(struct node_list *l, struct arena *a, size_t n)
{
    char line[32];

    snprintf(line, sizeof(line), "n[1-%zu]", n);
    if (node_list_add(l, a, line, NULL) < 0)
        ok(false, "names of nodes are read");
}

/* Of one node: its state and sentence, as "alert: text". */
static const char *one(const struct node_answer *x, struct str *out)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    struct node_list l = { .n = 0 };
    struct node_order o = { .n = 0 };

    str_reset(out);
    name_nodes(&l, &a, 1);
    if (node_order_make(&o, &a, &l, x, &asked) < 0)
        return "?";
    str_addf(out, "%s: %s", node_order_state_name(o.rows[0].state), o.rows[0].sentence);
    return str_text(out);
}

static void test_states(void)
{
    CLEANUP(str_done) struct str out = STR_INIT(4096);
    struct node_answer x = answer(LIVE_LIMIT, "storage limits this node");

    is_str(one(&x, &out), "limited: storage limits this node", "a node is at a limit");
    x = answer(LIVE_OK, "nothing limits this node");
    is_str(one(&x, &out), "well: nothing limits this node", "a node is well");
    x = answer(LIVE_IDLE, "");
    is_str(one(&x, &out), "idle: its agent has no sentence for it", "a node does nothing");
    x = answer(LIVE_UNKNOWN, "no second sample yet");
    is_str(one(&x, &out), "unknown: no second sample yet", "a node is not known yet");
    x.fault = NODE_TOKEN;
    is_str(one(&x, &out), "no answer: its agent wants another token than this one",
           "a node that does not answer is told with why");
    x.fault = NODE_SILENT;
    is_str(one(&x, &out), "no answer: no answer within 2.0 s",
           "a node that is silent is told with the time that it had");
}

static void test_alerts(void)
{
    CLEANUP(str_done) struct str out = STR_INIT(4096);
    struct node_answer x = answer(LIVE_LIMIT, "storage limits this node");
    struct node_report *r = &x.report;

    r->warnings = 1;
    is_str(one(&x, &out), "alert: an alert without a sentence; storage limits this node",
           "a warning without a sentence is told with the limit");
    snprintf(r->alert, sizeof(r->alert), "vda is slow");
    is_str(one(&x, &out), "alert: vda is slow; storage limits this node",
           "a warning is told before the limit");
    r->warnings = 2;
    is_str(one(&x, &out), "alert: vda is slow (and 1 more alert); storage limits this node",
           "one more alert is counted");
    r->warnings = 0;
    r->critical = 3;
    snprintf(r->verdict.sentence, sizeof(r->verdict.sentence), "vda is slow");
    is_str(one(&x, &out), "critical: vda is slow (and 2 more alerts)",
           "a limit that is the alert is told once");
    r->verdict.state = LIVE_OK;
    snprintf(r->verdict.sentence, sizeof(r->verdict.sentence), "nothing limits this node");
    r->critical = 1;
    is_str(one(&x, &out), "critical: vda is slow",
           "a node that nothing limits has its alert alone");
    r->critical = r->warnings = 0;
    r->alert[0] = '\0';
    r->lost = 1;
    is_str(one(&x, &out), "critical: 1 GPU is lost", "a lost GPU is critical");
    r->lost = 2;
    is_str(one(&x, &out), "critical: 2 GPUs are lost", "lost GPUs are counted");
    r->lost = 0;
    is_str(one(&x, &out), "well: nothing limits this node", "no lost GPU is no alert");
}

/* The order of nodes by name, with blanks between. */
static const char *order_of(const struct node_order *o, struct str *out)
{
    str_reset(out);
    for (size_t i = 0; i < o->n; i++)
        str_addf(out, "%s%s", i ? " " : "", o->rows[i].node->name);
    return str_text(out);
}

static void test_order(void)
{
    CLEANUP(str_done) struct str out = STR_INIT(4096);
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    struct node_list l = { .n = 0 };
    struct node_order o = { .n = 0 };
    struct node_answer x[7];

    name_nodes(&l, &a, ARRAY_SIZE(x));
    x[0] = answer(LIVE_OK, "");
    x[1] = answer(LIVE_LIMIT, "");
    x[2] = answer(LIVE_LIMIT, "");
    x[3] = answer(LIVE_LIMIT, "");
    x[4] = answer(LIVE_UNKNOWN, "");
    x[5] = answer(LIVE_OK, "");
    x[6] = answer(LIVE_OK, "");
    x[1].report.gpu_hours = 1.04;
    x[2].report.gpu_hours = 0.96;
    x[3].report.gpu_hours = 1.2;
    x[5].fault = NODE_SILENT;
    x[5].report.gpu_hours = 100;
    x[6].report.critical = 1;
    is_int(node_order_make(&o, &a, &l, x, &asked), 0, "seven nodes are put in order");
    is_str(order_of(&o, &out), "n6 n7 n4 n2 n3 n5 n1",
           "the worst state is first, then what loses most by tenths, then the name");
    ok(o.rows[0].cost >= 0 && o.rows[0].cost <= 0, "what does not answer has no cost");
    ok(o.sums.gpu_hours > 3.19 && o.sums.gpu_hours < 3.21, "costs of those that answer add up");
    is_int((int)o.sums.states[NODE_ORDER_LIMITED], 3, "nodes of a state are counted");
    is_int((int)o.sums.limited[LIVE_NONE], 3, "nodes at a limit are counted by stage");
}

/* The sentence about nodes with these answers. */
static const char *all(const struct node_answer *x, size_t n, struct str *out)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    struct node_list l = { .n = 0 };
    struct node_order o = { .n = 0 };

    str_reset(out);
    if (n)
        name_nodes(&l, &a, n);
    if (node_order_make(&o, &a, &l, x, &asked) < 0)
        return "?";
    node_order_sentence(&o, out);
    return str_text(out);
}

static void test_few(void)
{
    CLEANUP(str_done) struct str out = STR_INIT(4096);
    struct node_answer x[3] = { answer(LIVE_OK, ""), answer(LIVE_OK, ""), answer(LIVE_OK, "") };

    is_str(all(x, 0, &out), "0 nodes: nothing is at its limit", "no nodes have a sentence");
    is_str(all(x, 1, &out), "1 node: nothing is at its limit", "a node that is well");
    x[0].report.gpus = 1;
    x[0].report.idle = 1;
    is_str(all(x, 1, &out), "1 node: nothing is at its limit, 1 of 1 GPU idle",
           "a node that is well with a GPU that is idle");
    x[1].report.gpus = 7;
    x[1].report.lost = 1;
    is_str(all(x, 2, &out), "2 nodes: 1 has critical alerts, 1 of 9 GPUs idle, 1 lost",
           "lost GPUs count among all");
    x[0].fault = NODE_SILENT;
    is_str(all(x, 1, &out), "1 node: it does not answer", "a node that does not answer");
    is_str(all(x, 2, &out),
           "2 nodes: 1 does not answer, 1 has critical alerts, 0 of 8 GPUs idle, "
           "1 lost",
           "a node that does not answer is not counted otherwise");
    x[1] = x[2] = x[0];
    is_str(all(x, 3, &out), "3 nodes: none answers", "no node answers");
}

static void test_many(void)
{
    static const struct {
        enum live_stage_id stage;
        int n;
    } limits[] = { { LIVE_STORAGE, 1 }, { LIVE_CPU, 3 },     { LIVE_PCIE, 2 },
                   { LIVE_GPU, 2 },     { LIVE_NETWORK, 1 }, { LIVE_NONE, 2 } };
    CLEANUP(str_done) struct str out = STR_INIT(4096);
    struct node_answer x[MOST];
    size_t n = 0;

    for (int i = 0; i < 2; i++) {
        x[n] = answer(LIVE_OK, "");
        x[n++].fault = NODE_SILENT;
        x[n] = answer(LIVE_OK, "");
        x[n++].report.critical = 1;
        x[n] = answer(LIVE_OK, "");
        x[n++].report.warnings = 1;
        x[n++] = answer(LIVE_UNKNOWN, "");
    }
    for (size_t i = 0; i < ARRAY_SIZE(limits); i++)
        for (int k = 0; k < limits[i].n; k++) {
            x[n] = answer(LIVE_LIMIT, "");
            x[n++].report.verdict.bottleneck = limits[i].stage;
        }
    is_str(all(x, n, &out),
           "19 nodes: 2 do not answer, 2 have critical alerts, 2 have warnings, 3 are limited by "
           "CPUs, 2 by PCIe, 2 by their GPUs, 1 by storage, 1 by the network, 2 have GPUs that "
           "wait for no stage of them, 2 have no second sample yet",
           "all that there can be of many nodes");
    x[0] = answer(LIVE_LIMIT, "");
    x[0].report.verdict.bottleneck = LIVE_GPU;
    x[1] = answer(LIVE_LIMIT, "");
    x[2] = answer(LIVE_UNKNOWN, "");
    x[3] = answer(LIVE_OK, "");
    x[3].report.warnings = 1;
    is_str(all(x, 4, &out),
           "4 nodes: 1 has warnings, 1 is limited by their GPUs, 1 has GPUs that wait for no stage "
           "of it, 1 has no second sample yet",
           "one node of each");
}

int main(void)
{
    test_states();
    test_alerts();
    test_order();
    test_few();
    test_many();
    return done();
}
