/* Many nodes: their order, the sentence about all, lines for people. */
#include "render/node/nodes_text.h"

#include <errno.h>

#include "base/json_read.h"
#include "model/nodes/node_order.h"
#include "render/node/nodes_json.h"
#include "tap.h"

enum { NODES_MAX = 600, TEXT_MAX = 1 << 20 };

struct made {
    struct arena arena;
    struct node_list list;
    struct node_answer answers[NODES_MAX];
    struct node_order order;
};

static void make(struct made *m, const char *line)
{
    *m = (struct made){ .list = { .n = 0 } };
    if (node_list_add(&m->list, &m->arena, line, NULL) < 0)
        m->list.n = 0;
}

static struct node_report *answer(struct made *m, size_t i, enum live_state state,
                                  enum live_stage_id stage, const char *sentence)
{
    struct node_report *r = &m->answers[i].report;

    m->answers[i].fault = NODE_ANSWERED;
    *r = (struct node_report){ .gpus = 8, .verdict = { state, SEVERITY_NOTE, stage } };
    snprintf(r->verdict.sentence, sizeof(r->verdict.sentence), "%s", sentence);
    return r;
}

static void make_order(struct made *m)
{
    static const struct node_order_asked asked = { .token = true, .waited_s = 1.5 };

    is_int(node_order_make(&m->order, &m->arena, &m->list, m->answers, &asked), 0,
           "%zu answers are put in order", m->list.n);
}

/* The names of all in their order. */
static const char *names_of(const struct made *m, struct str *out)
{
    str_reset(out);
    for (size_t i = 0; i < m->order.n; i++)
        str_addf(out, "%s%s", i ? " " : "", m->order.rows[i].node->text);
    return str_text(out);
}

static const char *sentence_of(const struct made *m, struct str *out)
{
    str_reset(out);
    node_order_sentence(&m->order, out);
    return str_text(out);
}

static void test_order(void)
{
    CLEANUP(str_done) struct str out = STR_INIT(TEXT_MAX);
    static struct made m;
    struct node_report *r;

    make(&m, "well,idle,new,some,more,warn,crit,lost,dead10,dead9,same2,same10");
    answer(&m, 0, LIVE_OK, LIVE_GPU, "the GPUs are the limit: 97 % busy: this is as it should be");
    answer(&m, 1, LIVE_IDLE, LIVE_NONE, "nothing is running")->idle = 8;
    answer(&m, 2, LIVE_UNKNOWN, LIVE_NONE, "nothing is known yet: it takes a second sample");
    answer(&m, 3, LIVE_LIMIT, LIVE_STORAGE, "storage limits this node")->gpu_hours = 2;
    answer(&m, 4, LIVE_LIMIT, LIVE_CPU, "the CPUs limit this node")->gpu_hours = 3;
    r = answer(&m, 5, LIVE_LIMIT, LIVE_STORAGE, "storage limits this node");
    r->warnings = 2;
    snprintf(r->alert, sizeof(r->alert), "disk vda is slow");
    r = answer(&m, 6, LIVE_OK, LIVE_NONE, "nothing is at its limit");
    r->critical = 1;
    snprintf(r->alert, sizeof(r->alert), "memory has errors");
    r = answer(&m, 7, LIVE_LIMIT, LIVE_GPU, "GPU 3 is lost");
    r->lost = 1;
    r->gpu_hours = 1;
    m.answers[8].fault = NODE_REFUSED;
    m.answers[9].fault = NODE_SILENT;
    answer(&m, 10, LIVE_LIMIT, LIVE_STORAGE, "storage limits this node")->gpu_hours = 1.01;
    answer(&m, 11, LIVE_LIMIT, LIVE_STORAGE, "storage limits this node")->gpu_hours = 1.04;
    make_order(&m);
    is_str(names_of(&m, &out), "dead9 dead10 lost crit warn more some same2 same10 new idle well",
           "the worst come first, then what costs most, then by name");
    is_str(sentence_of(&m, &out),
           "12 nodes: 2 do not answer, 2 have critical alerts, 1 has warnings, 4 are limited by "
           "storage, 1 by CPUs, 1 by their GPUs, 1 has no second sample yet, 8 of 81 GPUs idle, 1 "
           "lost",
           "the sentence counts all of them");
    is_str(m.order.rows[0].sentence, "no answer within 1.5 s", "one that is silent is told so");
    is_str(m.order.rows[1].sentence, "nothing listens on port 9410: start brim agent there",
           "one where nothing listens is told so");
    is_str(m.order.rows[2].sentence, "1 GPU is lost; GPU 3 is lost",
           "a lost accelerator without an alert is told");
    is_str(m.order.rows[4].sentence,
           "disk vda is slow (and 1 more alert); storage limits this node",
           "an alert is told with how many more there are and what limits the node");
    arena_done(&m.arena);
}

static void test_sentences(void)
{
    CLEANUP(str_done) struct str out = STR_INIT(TEXT_MAX);
    static struct made m;

    make(&m, "a,b");
    for (size_t i = 0; i < 2; i++)
        answer(&m, i, LIVE_OK, LIVE_NONE, "nothing is at its limit");
    make_order(&m);
    is_str(sentence_of(&m, &out), "2 nodes: nothing is at its limit, 0 of 16 GPUs idle",
           "nodes that are well are told as such");
    arena_done(&m.arena);
    make(&m, "a");
    answer(&m, 0, LIVE_LIMIT, LIVE_NONE, "8 GPUs wait 62 % of the time")->gpus = 0;
    make_order(&m);
    is_str(sentence_of(&m, &out), "1 node: 1 has GPUs that wait for no stage of it",
           "a node whose accelerators wait for no stage is told");
    m.answers[0].fault = NODE_NO_NAME;
    make_order(&m);
    is_str(sentence_of(&m, &out), "1 node: it does not answer", "one dead node is told");
    arena_done(&m.arena);
    make(&m, "a,b,c");
    make_order(&m);
    is_int(m.order.rows[0].state, NODE_ORDER_UNKNOWN,
           "an answer that says nothing is of a state that is not known");
    for (size_t i = 0; i < 3; i++)
        m.answers[i].fault = NODE_CLOSED;
    make_order(&m);
    is_str(sentence_of(&m, &out), "3 nodes: none answers", "nodes that are all dead are told");
    arena_done(&m.arena);
}

/* A page as a terminal of so many lines shows it. */
static size_t page_of(const struct made *m, unsigned rows, size_t first, bool unfolded,
                      struct str *out)
{
    const struct live_look look = { .columns = 78, .rows = rows, .footer = rows ? "keys" : NULL };
    const struct nodes_text_page which = { first, unfolded };

    str_reset(out);
    return nodes_text(&m->order, &which, &look, out);
}

static void make_many(struct made *m)
{
    char sentence[100];

    make(m, "n[001-500]");
    for (size_t i = 0; i < m->list.n; i++) {
        snprintf(sentence, sizeof(sentence), "the GPUs are the limit: %zu.5 %% busy", i % 7 + 90);
        answer(m, i, LIVE_OK, LIVE_GPU, sentence);
    }
    for (size_t i = 100; i < 140; i++) {
        snprintf(sentence, sizeof(sentence), "storage limits this node: vda is %zu %% busy", i % 9);
        answer(m, i, LIVE_LIMIT, LIVE_STORAGE, sentence)->gpu_hours = i == 120 ? 6 : 5;
        m->answers[i].report.idle = 5;
    }
    m->answers[3].fault = m->answers[299].fault = NODE_REFUSED;
    answer(m, 7, LIVE_LIMIT, LIVE_NETWORK, "the network \033[2Jlimits this node");
    make_order(m);
}

static void test_folded(void)
{
    CLEANUP(str_done) struct str out = STR_INIT(TEXT_MAX);
    static struct made m;

    make_many(&m);
    is_int(page_of(&m, 12, 0, false, &out), 4, "five hundred nodes are four lines");
    is_str(str_text(&out),
           "500 nodes: 2 do not answer, 40 are limited by storage, 1 by the network, 200\n"
           "of 3984 GPUs idle\n"
           "\n"
           "node                          state      GPUs idle   what\n"
           "n[004,300]                    no answer  -           nothing listens on port\n"
           "                                                     9410: start brim agent\n"
           "                                                     there\n"
           "n[101-140]                    limited    200 of 320  storage limits this node:\n"
           "                                                     vda is 3 % busy\n"
           "n008                          limited    0 of 8      the network ?[2Jlimits t~\n"
           "n[001-003,005-007,009-100,1~  well       0 of 3656   the GPUs are the limit: ~\n"
           "keys\n",
           "nodes of which the same is said share a line, with the sentence of the worst");
    is_int(page_of(&m, 12, 0, true, &out), 500, "without folding each node has a line");
    ok(strstr(str_text(&out), "\n... and 494 more lines: n goes on, b goes back\nkeys\n") != NULL,
       "what does not fit is counted");
    page_of(&m, 12, 498, true, &out);
    ok(strstr(str_text(&out), "n499") && strstr(str_text(&out), "n500") &&
           !strstr(str_text(&out), "... and"),
       "the last page has the last nodes");
    page_of(&m, 12, 9999, true, &out);
    ok(strstr(str_text(&out), "GPUs idle") != NULL, "a page behind the last has no nodes");
    for (unsigned rows = 1; rows < 6; rows++) {
        size_t lines = 0;

        page_of(&m, rows, 0, false, &out);
        for (const char *at = str_text(&out); *at; at++)
            lines += *at == '\n';
        ok(lines <= rows, "a terminal of %u lines gets no more of them", rows);
    }
    arena_done(&m.arena);
}

static void test_once(void)
{
    CLEANUP(str_done) struct str out = STR_INIT(TEXT_MAX);
    const struct live_look look = { .columns = 0 };
    const struct nodes_text_page which = { .unfolded = true };
    static struct made m;

    make(&m, "n1,n2:9500");
    answer(&m, 0, LIVE_LIMIT, LIVE_STORAGE,
           "storage limits this node: disk vda is 98 % busy and takes 84 ms a request; 8 GPUs wait")
        ->idle = 5;
    m.answers[1].fault = NODE_TOKEN;
    make_order(&m);
    nodes_text(&m.order, &which, &look, &out);
    is_str(str_text(&out),
           "2 nodes: 1 does not answer, 1 is limited by storage, 5 of 8 GPUs idle\n"
           "\n"
           "node      state      GPUs idle   what\n"
           "n2:9500   no answer  -           its agent wants another token than this one\n"
           "n1        limited    5 of 8      storage limits this node: disk vda is 98 % busy and "
           "takes 84 ms a request; 8 GPUs wait\n",
           "a page that is no terminal's has whole lines");
    arena_done(&m.arena);
}

/* The ink of each state, and columns that are as wide as the widest name. */
static void test_inks(void)
{
    static const struct {
        const char *node, *ink; /* "" : plain */
    } cases[] = {
        { "silent-since-long", "1;31" },
        { "crit", "1;31" },
        { "warn", "33" },
        { "limited", "33" },
        { "new", "2" },
        { "idle", "2" },
        { "well", "" },
    };
    CLEANUP(str_done) struct str out = STR_INIT(TEXT_MAX);
    const struct live_look look = { .columns = 100, .colour = true };
    const struct nodes_text_page which = { .unfolded = true };
    static struct made m;

    make(&m, "silent-since-long,crit,warn,limited,new,idle,well");
    m.answers[0].fault = NODE_SILENT;
    answer(&m, 1, LIVE_OK, LIVE_NONE, "x")->critical = 1;
    answer(&m, 2, LIVE_OK, LIVE_NONE, "x")->warnings = 1;
    answer(&m, 3, LIVE_LIMIT, LIVE_CPU, "x");
    answer(&m, 4, LIVE_UNKNOWN, LIVE_NONE, "x");
    answer(&m, 5, LIVE_IDLE, LIVE_NONE, "x");
    answer(&m, 6, LIVE_OK, LIVE_NONE, "x");
    make_order(&m);
    is_int((long long)nodes_text(&m.order, &which, &look, &out), 7, "seven nodes have a line each");
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char want[64];

        if (*cases[i].ink)
            snprintf(want, sizeof(want), "\n\033[%sm%-19s", cases[i].ink, cases[i].node);
        else
            snprintf(want, sizeof(want), "\n%-19s", cases[i].node);
        ok(strstr(str_text(&out), want) != NULL, "the line of %s has its ink and width: %s",
           cases[i].node, i ? "" : str_text(&out));
    }
    ok(strstr(str_text(&out), "\n\033[1mnode               state ") != NULL,
       "the headings are bold and as wide as the widest name");
    arena_done(&m.arena);
    make(&m, "one,none");
    answer(&m, 0, LIVE_OK, LIVE_NONE, "x")->gpus = 1;
    answer(&m, 1, LIVE_OK, LIVE_NONE, "x")->gpus = 0;
    make_order(&m);
    str_reset(&out);
    nodes_text(&m.order, &which, &look, &out);
    ok(strstr(str_text(&out), "\none       well       0 of 1 ") != NULL &&
           strstr(str_text(&out), "\nnone      well       -  ") != NULL,
       "one accelerator is counted, and none is a dash: %s", str_text(&out));
    arena_done(&m.arena);
    for (size_t n = 1; n <= 2; n++) {
        make(&m, "a,b");
        answer(&m, 0, LIVE_OK, LIVE_NONE, "x");
        m.answers[0].fault = n == 2 ? NODE_SILENT : NODE_ANSWERED;
        m.answers[1].fault = NODE_SILENT;
        make_order(&m);
        str_reset(&out);
        nodes_text(&m.order, &which, &look, &out);
        ok(!strncmp(str_text(&out), n == 2 ? "\033[1;31m" : "\033[1m2", 5),
           "the sentence is red where no node answers");
        arena_done(&m.arena);
    }
}

static void test_json(void)
{
    CLEANUP(str_done) struct str out = STR_INIT(TEXT_MAX);
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    const struct json_value *root = NULL, *rows, *row;
    static struct made m;

    make(&m, "n1,[::1],n2:9500");
    answer(&m, 0, LIVE_LIMIT, LIVE_STORAGE, "storage limits this node");
    m.answers[1].fault = NODE_NO_WAY;
    m.answers[1].error = ENETUNREACH;
    answer(&m, 2, LIVE_OK, LIVE_NONE, "nothing is at its limit");
    make_order(&m);
    nodes_json(&m.order, 1795234118000000000, &out);
    is_int(json_read(&root, &a, "", str_text(&out), out.len, NULL), 0, "nodes are told as JSON");
    is_str(root ? root->items[0].key : "", "schema", "the schema comes first");
    rows = json_get(root, "rows");
    is_int(rows ? rows->n_items : 0, 3, "each node has a row");
    row = rows && rows->n_items == 3 ? rows->items : NULL;
    is_str(row ? json_get(row, "node")->text : "", "[::1]", "the worst node has the first row");
    is_str(row ? json_get(row, "url")->text : "", "http://[::1]:9410/",
           "the address of a node's page has the port of agents");
    is_str(row ? json_get(row, "fault")->text : "", "no_way", "a fault has a word for programs");
    is_str(row ? json_get(row, "sentence")->text : "", "cannot be reached: Network is unreachable",
           "a fault has a sentence for people");
    is_str(row ? json_get(row + 1, "bottleneck")->text : "", "storage", "a limit has its stage");
    is_int(row ? (int)json_get(row + 2, "bottleneck")->kind : -1, JSON_NULL,
           "a node that nothing limits has no stage");
    is_str(row ? json_get(row + 2, "url")->text : "", "http://n2:9500/",
           "the address of a node's page has its port");
    is_int(row ? (int)json_get(row + 2, "fault")->kind : -1, JSON_NULL,
           "a node that answers has no fault");
    arena_done(&m.arena);
}

/* Counts that an agent tells as other numbers are rounded, times and hours to their last digit. */
static void test_json_numbers(void)
{
    CLEANUP(str_done) struct str out = STR_INIT(TEXT_MAX);
    struct node_report *r;
    static struct made m;

    make(&m, "n1");
    r = answer(&m, 0, LIVE_LIMIT, LIVE_STORAGE, "storage limits this node");
    r->gpus = 8.4;
    r->idle = 5.25;
    r->lost = 1.75;
    r->gpu_hours = 1.23456;
    r->critical = 2.25;
    r->warnings = 3.25;
    r->runs = 4.25;
    m.answers[0].took_s = 0.0123456789;
    make_order(&m);
    nodes_json(&m.order, 1795234118000000000, &out);
    ok(strstr(str_text(&out), "\"took_s\":0.012346,") != NULL, "a time has six digits: %s",
       str_text(&out));
    ok(strstr(str_text(&out), "\"gpus\":8,\"gpus_idle\":5,\"gpus_lost\":2,"
                              "\"gpu_hours_lost_per_h\":1.235,\"alerts_critical\":2,"
                              "\"alerts_warning\":3,\"runs\":4}") != NULL,
       "counts are whole and hours have three digits: %s", str_text(&out));
    ok(strstr(str_text(&out), "\"no_stage\":0},\"gpus\":10,\"gpus_idle\":5,\"gpus_lost\":2,"
                              "\"gpu_hours_lost_per_h\":1.235,\"rows\"") != NULL,
       "sums are whole and hours have three digits: %s", str_text(&out));
    arena_done(&m.arena);
}

int main(void)
{
    test_order();
    test_sentences();
    test_folded();
    test_once();
    test_inks();
    test_json();
    test_json_numbers();
    return done();
}
