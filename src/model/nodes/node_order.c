#include "model/nodes/node_order.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { SENTENCE_MAX = 4 * LIVE_TEXT };

const char *node_order_state_name(enum node_order_state s)
{
    static const char *const names[NODE_ORDER_STATES] = {
        [NODE_ORDER_SILENT] = "no answer", [NODE_ORDER_CRITICAL] = "critical",
        [NODE_ORDER_ALERT] = "alert",      [NODE_ORDER_LIMITED] = "limited",
        [NODE_ORDER_UNKNOWN] = "unknown",  [NODE_ORDER_IDLE] = "idle",
        [NODE_ORDER_WELL] = "well",
    };

    return names[s];
}

static double known(double value)
{
    return isnan(value) ? 0 : value;
}

/* ---- one node ---- */

static enum node_order_state state_of(const struct node_answer *a)
{
    const struct node_report *r = &a->report;

    if (a->fault != NODE_ANSWERED)
        return NODE_ORDER_SILENT;
    if (r->lost > 0 || r->critical > 0)
        return NODE_ORDER_CRITICAL;
    if (r->warnings > 0)
        return NODE_ORDER_ALERT;
    if (r->verdict.state == LIVE_LIMIT)
        return NODE_ORDER_LIMITED;
    if (r->verdict.state == LIVE_UNKNOWN)
        return NODE_ORDER_UNKNOWN;
    return r->verdict.state == LIVE_IDLE ? NODE_ORDER_IDLE : NODE_ORDER_WELL;
}

/* The worst alert, how many more there are, and what limits the node. */
static void add_sentence(const struct node_order_row *row, struct str *out)
{
    const struct node_report *r = &row->answer->report;
    const double more = known(r->critical) + known(r->warnings) - 1;
    const char *sentence = r->verdict.sentence;

    if (row->state != NODE_ORDER_CRITICAL && row->state != NODE_ORDER_ALERT) {
        str_add(out, *sentence ? sentence : "its agent has no sentence for it");
        return;
    }
    if (r->alert[0])
        str_add(out, r->alert);
    else if (r->lost > 0)
        str_addf(out, "%.0f GPU%s lost", r->lost, r->lost > 1 ? "s are" : " is");
    else
        str_add(out, "an alert without a sentence");
    if (more >= 1)
        str_addf(out, " (and %.0f more alert%s)", more, str_plural(more));
    if (r->verdict.state == LIVE_LIMIT && *sentence && strcmp(sentence, r->alert) != 0)
        str_addf(out, "; %s", sentence);
}

static int make_row(struct node_order_row *row, struct arena *a,
                    const struct node_order_asked *asked)
{
    CLEANUP(str_done) struct str text = STR_INIT(SENTENCE_MAX);

    row->state = state_of(row->answer);
    row->cost = row->state == NODE_ORDER_SILENT ? 0 : known(row->answer->report.gpu_hours);
    if (row->state == NODE_ORDER_SILENT)
        node_answer_why(row->answer, row->node, asked->token, asked->waited_s, &text);
    else
        add_sentence(row, &text);
    row->sentence = arena_strdup(a, str_text(&text));
    return str_error(&text) || !row->sentence ? -ENOMEM : 0;
}

static void count(struct node_order_sums *s, const struct node_order_row *row)
{
    const struct node_report *r = &row->answer->report;

    s->states[row->state]++;
    if (row->state == NODE_ORDER_SILENT)
        return;
    if (r->verdict.state == LIVE_LIMIT)
        s->limited[r->verdict.bottleneck]++;
    s->gpus += known(r->gpus) + known(r->lost);
    s->idle += known(r->idle);
    s->lost += known(r->lost);
    s->gpu_hours += known(r->gpu_hours);
}

/* ---- their order ---- */

static int worse_first(const void *a, const void *b)
{
    const struct node_order_row *x = a, *y = b;
    /* tenths: what differs by less changes places each second */
    const double cost_x = round(x->cost * 10), cost_y = round(y->cost * 10);

    if (x->state != y->state)
        return COMPARE(x->state, y->state);
    if (cost_x < cost_y || cost_x > cost_y)
        return COMPARE(cost_y, cost_x);
    return node_list_compare(x->node, y->node);
}

int node_order_make(struct node_order *ret, struct arena *a, const struct node_list *list,
                    const struct node_answer *answers, const struct node_order_asked *asked)
{
    struct node_order o = { .n = list->n };

    o.rows = arena_alloc(a, MAX(list->n, 1) * sizeof(*o.rows));
    if (!o.rows)
        return -ENOMEM;
    for (size_t i = 0; i < list->n; i++) {
        struct node_order_row *row = &o.rows[i];

        *row = (struct node_order_row){ .node = &list->nodes[i], .answer = &answers[i] };
        if (make_row(row, a, asked) < 0)
            return -ENOMEM;
        count(&o.sums, row);
    }
    qsort(o.rows, o.n, sizeof(*o.rows), worse_first);
    *ret = o;
    return 0;
}

/* ---- all of them in a sentence ---- */

struct list {
    struct str *out;
    const char *comma; /* before the next one */
};

/* "3 do not answer" */
static void add(struct list *l, size_t n, const char *one, const char *many)
{
    if (!n)
        return;
    str_addf(l->out, "%s%zu %s", l->comma, n, n == 1 ? one : many);
    l->comma = ", ";
}

/* The stage that limits most nodes first. */
static void add_limited(struct list *l, const struct node_order_sums *s)
{
    static const char *const names[LIVE_STAGES] = {
        [LIVE_STORAGE] = "storage",     [LIVE_CPU] = "CPUs",
        [LIVE_PCIE] = "PCIe",           [LIVE_GPU] = "their GPUs",
        [LIVE_NETWORK] = "the network",
    };
    bool named[LIVE_STAGES] = { false }, first = true;

    for (int turn = 0; turn < LIVE_STAGES; turn++) {
        int most = -1;

        for (int i = 0; i < LIVE_STAGES; i++)
            if (!named[i] && s->limited[i] && (most < 0 || s->limited[i] > s->limited[most]))
                most = i;
        if (most < 0)
            break;
        named[most] = true;
        str_addf(l->out, "%s%zu %sby %s", l->comma, s->limited[most],
                 !first                  ? ""
                 : s->limited[most] == 1 ? "is limited "
                                         : "are limited ",
                 names[most]);
        l->comma = ", ";
        first = false;
    }
    add(l, s->limited[LIVE_NONE], "has GPUs that wait for no stage of it",
        "have GPUs that wait for no stage of them");
}

void node_order_sentence(const struct node_order *o, struct str *out)
{
    const struct node_order_sums *s = &o->sums;
    struct list l = { out, "" };

    str_addf(out, "%zu node%s: ", o->n, str_plural(o->n));
    if (o->n && s->states[NODE_ORDER_SILENT] == o->n) {
        str_add(out, o->n == 1 ? "it does not answer" : "none answers");
        return;
    }
    add(&l, s->states[NODE_ORDER_SILENT], "does not answer", "do not answer");
    add(&l, s->states[NODE_ORDER_CRITICAL], "has critical alerts", "have critical alerts");
    add(&l, s->states[NODE_ORDER_ALERT], "has warnings", "have warnings");
    add_limited(&l, s);
    add(&l, s->states[NODE_ORDER_UNKNOWN], "has no second sample yet", "have no second sample yet");
    if (!*l.comma) {
        str_add(out, "nothing is at its limit");
        l.comma = ", ";
    }
    if (s->gpus > 0)
        str_addf(out, "%s%.0f of %.0f GPU%s idle", l.comma, s->idle, s->gpus, str_plural(s->gpus));
    if (s->lost > 0)
        str_addf(out, ", %.0f lost", s->lost);
}
