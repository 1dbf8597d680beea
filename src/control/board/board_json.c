/* A board as JSON: bounded, whatever a cluster has. */
#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "control/board/board_private.h"
#include "model/job/job_spec.h"

enum { TEXT = 256, SENTENCE = 1024, LABEL = 32 };

/* What Slurm expects behind so long it does not know: it takes a year for a job without a limit. */
static const int64_t far_ms = INT64_C(360) * 86400 * 1000;

/* ---- devices ---- */

static void add_uses(const struct board *b, struct json *j)
{
    json_array(j, "uses");
    for (enum board_use u = 0; u < BOARD_USES; u++) {
        json_object(j, NULL);
        json_string(j, "use", board_use_name(u));
        json_string(j, "text", board_use_text(u));
        json_bool(j, "wastes", board_use_wastes(u));
        json_int(j, "gpus", board_used(b, u));
        json_end(j);
    }
    json_end(j);
}

static const char *state_of(const struct site_node *n)
{
    if (n->state == SITE_NODE_OFF)
        return "off";
    if (n->state == SITE_NODE_DOWN)
        return "down";
    if (n->silent)
        return "silent";
    if (n->drained)
        return "drained";
    return n->reserved ? "reserved" : NULL;
}

/* Which job has which: pairs of an id and bits. */
static void add_holders(const struct board *b, const struct board_node *n, struct json *j)
{
    uint32_t done = 0;

    for (int i = 0; i < SITE_DEVICES && n->cells[i]; i++) {
        uint32_t bits = 0;

        if (n->job[i] == CONTROL_NONE || done >> i & 1)
            continue;
        for (int k = i; k < SITE_DEVICES && n->cells[k]; k++)
            bits |= n->job[k] == n->job[i] ? 1U << k : 0;
        if (!done)
            json_array(j, "jobs");
        done |= bits;
        json_int(j, NULL, b->site->jobs[n->job[i]].id);
        json_int(j, NULL, bits);
    }
    if (done)
        json_end(j);
}

static void add_nodes(const struct board *b, struct json *j)
{
    json_array(j, "nodes");
    for (size_t i = 0; i < b->n_nodes; i++) {
        const struct board_node *n = &b->nodes[i];
        const struct site_node *node = &b->site->nodes[n->node];
        const char *state = state_of(node);

        json_object(j, NULL);
        json_string(j, "node", node->name);
        json_string(j, "cells", n->cells);
        add_holders(b, n, j);
        if (state)
            json_string(j, "state", state);
        if (state && node->reason)
            json_string(j, "reason", node->reason);
        json_end(j);
    }
    json_end(j);
}

/* ---- jobs ---- */

static void add_moment(struct json *j, const char *key, int64_t ms)
{
    if (ms > 0)
        json_int(j, key, ms);
    else
        json_null(j, key);
}

/* As Slurm's commands call it: "12", "12_3". */
static void add_label(const struct site_job *x, struct json *j)
{
    char label[LABEL];

    if (x->array && x->task != SITE_NO_TASK)
        snprintf(label, sizeof(label), "%u_%u", (unsigned)x->array, (unsigned)x->task);
    else
        snprintf(label, sizeof(label), "%u", (unsigned)x->id);
    json_string(j, "job", label);
}

static void add_job(const struct site_job *x, struct json *j)
{
    json_int(j, "id", x->id);
    add_label(x, j);
    json_string(j, "partition", x->partition);
    json_int(j, "gpus", x->devices);
    json_int(j, "nodes", x->state == SITE_WAITING ? x->nodes : (int64_t)x->n_parts);
}

/* What has been written since then is about a user. */
static void end_span(struct board *b, uint32_t uid, size_t from, struct json *j)
{
    str_fail(j->out, board_span(b, uid, from, j->out->len));
}

static void add_names(const struct site_job *x, struct json *j)
{
    json_string(j, "name", x->name);
    json_string(j, "user", x->user);
    json_string(j, "account", x->account);
}

static const char *state_of_job(const struct site_job *x)
{
    static const char *const names[] = { "waiting",   "starting", "running",
                                         "suspended", "ending",   "ended" };

    return names[MIN(x->state, SITE_ENDED)];
}

/* What limits a job; of one that nobody watches nothing. */
static void add_verdict(const struct board *b, const struct board_job *row, struct json *j)
{
    const struct node_run *run = row->worst;

    if (!run)
        return;
    json_string(j, "severity", severity_text((enum severity)run->severity));
    json_bool(j, "limited", run->limited);
    json_string(j, "sentence", run->sentence);
    json_string(j, "worst_node", b->site->nodes[row->worst_node].name);
    json_number(j, "steps_per_s", run->steps_per_s, 4);
}

static void add_running(struct board *b, struct json *j)
{
    json_int(j, "running_total", (int64_t)b->n_running);
    json_array(j, "running");
    for (size_t i = 0; i < MIN(b->n_running, BOARD_RUNNING); i++) {
        const struct board_job *row = &b->running[i];
        const struct site_job *x = &b->site->jobs[row->job];
        size_t from;

        json_object(j, NULL);
        add_job(x, j);
        json_string(j, "state", state_of_job(x));
        add_moment(j, "start_ms", x->start_ms);
        add_moment(j, "end_ms", x->end_ms);
        json_round(j, "busy", row->busy < 0 ? (double)NAN : (double)row->busy / WORK_WHOLE, 3);
        json_round(j, "idle_s", row->idle_ms ? (double)(b->now_ms - row->idle_ms) / 1e3 : 0, 0);
        json_int(j, "nodes_watched", (int64_t)row->watched);
        from = j->out->len;
        add_names(x, j);
        add_verdict(b, row, j);
        end_span(b, x->uid, from, j);
        json_end(j);
    }
    json_end(j);
}

static void add_reason(struct json *j, const char *word)
{
    CLEANUP(str_done) struct str text = STR_INIT(TEXT);

    board_add_reason(word, &text);
    str_fail(j->out, str_error(&text) == -ENOMEM ? -ENOMEM : 0);
    json_string(j, "why", word);
    json_string(j, "reason", str_error(&text) ? NULL : str_text(&text));
}

static bool is_expected(const struct board *b, const struct site_job *x)
{
    return x->start_ms > b->now_ms && x->start_ms < b->now_ms + far_ms;
}

static void add_queue(struct board *b, struct json *j)
{
    json_int(j, "queue_total", (int64_t)b->n_queue);
    json_array(j, "queue");
    for (size_t i = 0; i < MIN(b->n_queue, BOARD_QUEUE); i++) {
        const struct site_job *x = &b->site->jobs[b->queue[i]];
        size_t from;

        json_object(j, NULL);
        add_job(x, j);
        json_int(j, "priority", x->priority);
        add_moment(j, "submit_ms", x->submit_ms);
        add_moment(j, "start_ms", is_expected(b, x) ? x->start_ms : 0);
        add_reason(j, x->why);
        from = j->out->len;
        add_names(x, j);
        end_span(b, x->uid, from, j);
        json_end(j);
    }
    json_end(j);
    json_array(j, "reasons");
    for (size_t i = 0; i < b->n_reasons; i++) {
        json_object(j, NULL);
        add_reason(j, b->reasons[i].word);
        json_int(j, "jobs", (int64_t)b->reasons[i].jobs);
        json_int(j, "gpus", b->reasons[i].devices);
        json_end(j);
    }
    json_end(j);
}

/* ---- who ---- */

static void add_numbers(const struct board_party *x, struct json *j)
{
    json_int(j, "held", x->held);
    json_int(j, "idle", x->idle);
    json_int(j, "waited", x->waited);
    json_int(j, "running", (int64_t)x->running);
    json_int(j, "waiting", (int64_t)x->waiting);
}

static void add_accounts(const struct board *b, struct json *j)
{
    json_int(j, "accounts_total", (int64_t)b->accounts.n);
    json_array(j, "accounts");
    for (size_t i = 0; i < MIN(b->accounts.n, BOARD_PARTIES); i++) {
        json_object(j, NULL);
        add_numbers(&b->accounts.list[i], j);
        json_string(j, "name", b->accounts.list[i].name);
        json_end(j);
    }
    json_end(j);
}

static void add_users(struct board *b, struct json *j)
{
    json_int(j, "users_total", (int64_t)b->users.n);
    json_array(j, "users");
    for (size_t i = 0; i < MIN(b->users.n, BOARD_PARTIES); i++) {
        const struct board_party *x = &b->users.list[i];
        size_t from;

        json_object(j, NULL);
        add_numbers(x, j);
        from = j->out->len;
        json_string(j, "name", x->name);
        end_span(b, x->uid, from, j);
        json_end(j);
    }
    json_end(j);
}

void board_add_json(struct board *b, struct json *j)
{
    CLEANUP(str_done) struct str sentence = STR_INIT(SENTENCE);

    b->n_spans = 0;
    board_sentence(b, &sentence);
    str_fail(j->out, str_error(&sentence));
    json_int(j, "time_ms", b->now_ms);
    json_string(j, "cluster", b->site->cluster);
    json_string(j, "sentence", str_text(&sentence));
    json_int(j, "gpus", b->devices);
    json_int(j, "gpus_waited_for", b->waited);
    add_uses(b, j);
    add_nodes(b, j);
    add_running(b, j);
    add_queue(b, j);
    add_accounts(b, j);
    add_users(b, j);
}
