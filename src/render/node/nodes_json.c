#include "render/node/nodes_json.h"

#include "base/clock.h"
#include "base/json.h"

enum { SENTENCE_MAX = 1024, URL_MAX = NODE_LIST_NAME + 32 };

static void add_text(struct json *j, const char *key, const char *text)
{
    json_string(j, key, *text ? text : NULL);
}

/* Its own page. */
static void add_url(struct json *j, const struct node_list_node *node)
{
    CLEANUP(str_done) struct str url = STR_INIT(URL_MAX);

    str_addf(&url, "http://%s", node->text);
    if (node->port == NODE_LIST_PORT)
        str_addf(&url, ":%u", node->port);
    str_add_char(&url, '/');
    str_fail(j->out, str_error(&url));
    json_string(j, "url", str_text(&url));
}

/* What it tells of itself. */
static void add_report(struct json *j, const struct node_report *r)
{
    const struct live_verdict *v = &r->verdict;

    add_text(j, "host", r->host);
    add_text(j, "version", r->version);
    json_string(j, "severity", severity_text(v->severity));
    json_string(j, "bottleneck", v->bottleneck < LIVE_NONE ? live_stage_name(v->bottleneck) : NULL);
    add_text(j, "action", v->action);
    json_round(j, "gpus", r->gpus, 0);
    json_round(j, "gpus_idle", r->idle, 0);
    json_round(j, "gpus_lost", r->lost, 0);
    json_round(j, "gpu_hours_lost_per_h", r->gpu_hours, 3);
    json_round(j, "alerts_critical", r->critical, 0);
    json_round(j, "alerts_warning", r->warnings, 0);
    json_round(j, "runs", r->runs, 0);
}

static void add_row(struct json *j, const struct node_order_row *row)
{
    const bool answered = row->answer->fault == NODE_ANSWERED;

    json_object(j, NULL);
    json_string(j, "node", row->node->text);
    add_url(j, row->node);
    json_string(j, "state", node_order_state_name(row->state));
    json_string(j, "fault", answered ? NULL : node_answer_fault(row->answer->fault));
    json_string(j, "sentence", row->sentence);
    if (answered) {
        json_round(j, "took_s", row->answer->took_s, 6);
        add_report(j, &row->answer->report);
    }
    json_end(j);
}

static void add_sums(struct json *j, const struct node_order *o)
{
    const struct node_order_sums *s = &o->sums;

    json_int(j, "nodes", (int64_t)o->n);
    json_object(j, "states");
    for (int i = 0; i < NODE_ORDER_STATES; i++)
        json_int(j, node_order_state_name((enum node_order_state)i), (int64_t)s->states[i]);
    json_end(j);
    json_object(j, "limited_by");
    for (int i = 0; i < LIVE_STAGES; i++)
        json_int(j, live_stage_name((enum live_stage_id)i), (int64_t)s->limited[i]);
    json_int(j, "no_stage", (int64_t)s->limited[LIVE_NONE]);
    json_end(j);
    json_round(j, "gpus", s->gpus, 0);
    json_round(j, "gpus_idle", s->idle, 0);
    json_round(j, "gpus_lost", s->lost, 0);
    json_round(j, "gpu_hours_lost_per_h", s->gpu_hours, 3);
}

void nodes_json(const struct node_order *o, int64_t wall_ns, struct str *out)
{
    CLEANUP(str_done) struct str when = STR_INIT(64), sentence = STR_INIT(SENTENCE_MAX);
    struct json j = { .out = out, .compact = true };

    clock_add_iso(&when, wall_ns);
    node_order_sentence(o, &sentence);
    str_fail(out, str_error(&when) ? str_error(&when) : str_error(&sentence));
    json_object(&j, NULL);
    json_string(&j, "schema", "brim.nodes.v1");
    json_string(&j, "time", str_text(&when));
    json_int(&j, "time_ms", wall_ns / NS_PER_MS);
    json_string(&j, "sentence", str_text(&sentence));
    add_sums(&j, o);
    json_array(&j, "rows");
    for (size_t i = 0; i < o->n; i++)
        add_row(&j, &o->rows[i]);
    json_end(&j);
    json_end(&j);
}
