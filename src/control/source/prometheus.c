#include "control/source/prometheus.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json_read.h"
#include "base/parse.h"
#include "control/watch.h"
#include "model/verdict/live_run.h"

/* What is shown of a label or of words of the server. */
enum { SHOWN = 64, WORDS = 120 };

const char prometheus_query[] =
    "max by (__name__, instance, Hostname, gpu, GPU_I_ID) (last_over_time({__name__=~\""
    "brim_gpu_busy_ratio|DCGM_FI_DEV_GPU_UTIL|DCGM_FI_PROF_GR_ENGINE_ACTIVE\"}[1m]))";

/* ---- where it is, and what it is asked ---- */

static int bad_url(const char *url, const char *why, struct err *e)
{
    return err_usage(e, "--prometheus %s: %s", url, why);
}

/* "host:9090" of a list that names one node, with the port that http has where there is none. */
static int read_host(struct prometheus_place *p, struct arena *a, const char *url, const char *host,
                     struct err *e)
{
    const char *behind = strrchr(host, ']'), *text = host;
    int rc;

    if (!strchr(behind ? behind : host, ':'))
        text = arena_printf(a, "%s:80", host);
    if (!text)
        return err_nomem(e);
    rc = node_list_add(&p->at, a, text, NULL);
    if (rc == -ENOMEM)
        return err_nomem(e);
    if (rc < 0 || p->at.n != 1 || strchr(host, ','))
        return bad_url(url, "this is no address: http://HOST:9090", e);
    return 0;
}

int prometheus_place_read(struct prometheus_place *ret, struct arena *a, const char *url,
                          struct err *e)
{
    static const char plain[] = "http://", safe[] = "https://";
    struct prometheus_place p = { .path = "" };
    const char *at = url, *slash;
    size_t len;
    char *host;
    int rc;

    if (!strncmp(url, safe, sizeof(safe) - 1))
        return bad_url(url,
                       "brim speaks http alone: name a proxy on this machine that speaks https", e);
    if (!strncmp(url, plain, sizeof(plain) - 1))
        at += sizeof(plain) - 1;
    slash = at + strcspn(at, "/");
    len = strlen(slash);
    while (len > 0 && slash[len - 1] == '/')
        len--;
    for (size_t i = 0; i < strlen(at); i++)
        if (at[i] <= ' ' || at[i] > '~' || strchr("?#@\"\\", at[i]))
            return bad_url(url, "an address has no blanks, names and signs like ?#@ in it", e);
    host = arena_strndup(a, at, (size_t)(slash - at));
    p.path = arena_strndup(a, slash, len);
    if (!host || !p.path)
        return err_nomem(e);
    rc = read_host(&p, a, url, host, e);
    if (rc < 0 || p.at.n == 0)
        return rc;
    snprintf(p.shown, sizeof(p.shown), "http://%s%s", p.at.nodes[0].text, p.path);
    *ret = p;
    return 0;
}

void prometheus_path(const struct prometheus_place *p, const char *query, struct str *out)
{
    str_addf(out, "%s/api/v1/query?query=", p->path);
    for (; *query; query++) {
        unsigned char c = (unsigned char)*query;
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');

        if (plain || strchr("-._~", c))
            str_add_char(out, (char)c);
        else
            str_addf(out, "%%%02X", c);
    }
}

/* ---- whose GPU a series is ---- */

/* A node by its address. */
struct by_address {
    const char *address;
    uint32_t node;
};

/* Of a node with such GPUs nothing counts: its numbers mean other things here and there. */
static const char divided[] =
    "its GPUs are divided (MIG): Slurm numbers other things than Prometheus does";

/* An answer while it is read. */
struct reading {
    const struct site *site;
    struct node_answer *const *of;
    struct arena *arena;
    int64_t now_ms;
    struct by_address *addresses; /* in their order */
    size_t n_addresses;
    size_t series, known;     /* known: of nodes of the site */
    char stranger[SHOWN + 1]; /* the first one of no node */
    int64_t oldest_ms;        /* the newest sample that was too old; 0 */
};

static int by_address(const void *a, const void *b)
{
    return strcmp(((const struct by_address *)a)->address, ((const struct by_address *)b)->address);
}

static int sort_addresses(struct reading *r)
{
    const struct site *s = r->site;

    r->addresses = arena_alloc(r->arena, s->n_nodes * sizeof(*r->addresses));
    if (!r->addresses)
        return -ENOMEM;
    for (size_t i = 0; i < s->n_nodes; i++)
        if (s->nodes[i].address)
            r->addresses[r->n_addresses++] = (struct by_address){ s->nodes[i].address,
                                                                  (uint32_t)i };
    qsort(r->addresses, r->n_addresses, sizeof(*r->addresses), by_address);
    return 0;
}

/* -1 for an address of nobody, and for one of several. */
static int64_t find_address(const struct reading *r, const char *host)
{
    const struct by_address want = { host, 0 };
    const struct by_address *end = r->addresses + r->n_addresses;
    const struct by_address *at = bsearch(&want, r->addresses, r->n_addresses, sizeof(want),
                                          by_address);

    if (!at || (at > r->addresses && !strcmp(at[-1].address, host)) ||
        (at + 1 < end && !strcmp(at[1].address, host)))
        return -1;
    return at->node;
}

/* "n1:9400", "n1.site.example", "10.0.0.1:9400", "[fd00::1]:9400". */
static int64_t find_host(const struct reading *r, const char *text)
{
    char host[NODE_LIST_NAME] = "";
    bool bracket = *text == '[';
    const char *colon = strchr(text, ':');
    size_t len = bracket                           ? strcspn(++text, "]")
                 : colon && strchr(colon + 1, ':') ? strlen(text) /* IPv6 */
                 : colon                           ? (size_t)(colon - text)
                                                   : strlen(text);
    int64_t node;

    if (len == 0 || len >= sizeof(host))
        return -1;
    memcpy(host, text, len);
    node = site_node_find(r->site, host);
    if (node < 0)
        node = find_address(r, host);
    if (node >= 0 || strspn(host, "0123456789.") == len || strchr(host, ':'))
        return node;
    host[strcspn(host, ".")] = '\0';
    return site_node_find(r->site, host);
}

static const char *label(const struct json_value *metric, const char *name)
{
    const struct json_value *v = json_get(metric, name);

    return v && v->kind == JSON_STRING ? v->text : "";
}

/* The first label that names a node of the site. */
static int64_t node_of(const struct reading *r, const struct json_value *metric)
{
    static const char *const names[] = { "Hostname", "hostname", "node", "nodename", "instance" };
    int64_t node = -1;

    for (size_t i = 0; i < ARRAY_SIZE(names) && node < 0; i++)
        node = find_host(r, label(metric, names[i]));
    return node;
}

/* "3", "nvidia3", "amd3": the number. -1: it is none of these: "card3" counts other things. */
static int number_of(const char *text)
{
    static const char *const kinds[] = { "nvidia", "amd", "intel", "ascend", "fake", "gpu", "" };
    uint64_t number;

    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
        size_t len = strlen(kinds[i]);

        if (!strncmp(text, kinds[i], len) && parse_u64(text + len, &number) == 0)
            return (int)MIN(number, (uint64_t)NODE_REPORT_GPUS);
    }
    return -1;
}

/* By the first label that has a number; -1. */
static int gpu_of(const struct json_value *metric)
{
    static const char *const names[] = { "gpu", "gpu_id", "index", "minor_number", "device" };
    int number = -1;

    for (size_t i = 0; i < ARRAY_SIZE(names) && number < 0; i++)
        number = number_of(label(metric, names[i]));
    return number;
}

/* ---- what it says ---- */

/* [1700000000.123, "0.5"] */
static bool read_sample(const struct json_value *pair, int64_t *time_ms, double *value)
{
    const double last_s = 1e12;

    if (!pair || pair->kind != JSON_ARRAY || pair->n_items != 2 ||
        pair->items[0].kind != JSON_NUMBER || pair->items[1].kind != JSON_STRING ||
        !(pair->items[0].number >= 0 && pair->items[0].number < last_s))
        return false;
    *time_ms = (int64_t)(pair->items[0].number * 1e3);
    if (parse_double(pair->items[1].text, value) < 0)
        *value = (double)NAN; /* "NaN", "+Inf": of nothing */
    return true;
}

/* The newest sample of a series, of an instant or of a range. */
static bool newest(const struct json_value *series, int64_t *time_ms, double *value)
{
    const struct json_value *all = json_get(series, "values");

    if (!all || all->kind != JSON_ARRAY)
        return read_sample(json_get(series, "value"), time_ms, value);
    return all->n_items > 0 && read_sample(&all->items[all->n_items - 1], time_ms, value);
}

/* Of one node, the first time. */
static int say(struct reading *r, struct node_answer *a, const char *text)
{
    if (!a->why)
        a->why = arena_strdup(r->arena, text);
    return a->why ? 0 : -ENOMEM;
}

/* The share of the time; NaN, with a sentence, when the value is none. */
static int share_of(struct reading *r, const struct json_value *metric, struct node_answer *a,
                    double *value)
{
    static const double rounded = 1.01; /* a share may be a little more than all */
    bool percent = !strcmp(label(metric, "__name__"), "DCGM_FI_DEV_GPU_UTIL");
    double share = percent ? *value / 100 : *value;
    char text[PROMETHEUS_WHY];

    if (isnan(share) || (share >= 0 && share <= rounded)) {
        *value = isnan(share) ? share : MIN(share, 1);
        return 0;
    }
    snprintf(text, sizeof(text), "Prometheus says %.6g, which is no share of the time (0 to 1)",
             *value);
    *value = (double)NAN;
    return say(r, a, text);
}

static void take(struct node_answer *a, int gpu, int64_t time_ms, double busy)
{
    struct node_report *n = &a->report;

    if (a->fault != NODE_ANSWERED)
        n->time_ms = time_ms;
    a->fault = NODE_ANSWERED;
    n->time_ms = MIN(n->time_ms, time_ms);
    while (n->n_busy <= (size_t)gpu)
        n->busy[n->n_busy++] = (double)NAN;
    if (!isnan(busy) && !(n->busy[gpu] >= busy))
        n->busy[gpu] = busy;
}

static int read_series(struct reading *r, const struct json_value *series)
{
    const struct json_value *metric = json_get(series, "metric");
    int64_t node = node_of(r, metric), time_ms;
    int gpu = gpu_of(metric), rc;
    struct node_answer *a;
    double value;

    r->series++;
    if (node < 0) {
        if (!*r->stranger)
            live_run_text(r->stranger, sizeof(r->stranger), label(metric, "instance"));
        return 0;
    }
    r->known++;
    a = r->of[node];
    if (!a)
        return 0;
    if (*label(metric, "GPU_I_ID"))
        a->why = divided;
    if (a->why == divided)
        return 0;
    if (gpu < 0)
        return say(r, a, "its series have no label gpu with a number");
    if (gpu >= NODE_REPORT_GPUS || !newest(series, &time_ms, &value))
        return 0;
    if (time_ms + CONTROL_STALE_MS < r->now_ms) {
        r->oldest_ms = MAX(r->oldest_ms, time_ms);
        return 0;
    }
    rc = share_of(r, metric, a, &value);
    if (rc == 0)
        take(a, gpu, time_ms, value);
    return rc;
}

/* Why a node has no answer: what is wrong with it, or with all. */
static int explain(struct reading *r, size_t node)
{
    const char *name = r->site->nodes[node].name;
    struct node_answer *a = r->of[node];
    char text[PROMETHEUS_WHY];

    if (a->fault == NODE_ANSWERED && a->why != divided)
        return 0;
    a->fault = NODE_UNTOLD;
    if (a->why)
        snprintf(text, sizeof(text), "node %.*s: %s", SHOWN, name, a->why);
    else if (r->series == 0)
        snprintf(text, sizeof(text), "Prometheus has no series of the last minute for the query");
    else if (r->known == 0)
        snprintf(
            text, sizeof(text),
            "none of the %zu series of Prometheus is of a node that Slurm knows: the first one "
            "has the instance \"%s\"",
            r->series, r->stranger);
    else if (r->oldest_ms)
        snprintf(text, sizeof(text), "what Prometheus says of node %.*s is %lld s old", SHOWN, name,
                 (long long)((r->now_ms - r->oldest_ms) / 1000));
    else
        snprintf(text, sizeof(text), "Prometheus says nothing of node %.*s", SHOWN, name);
    a->why = arena_strdup(r->arena, text);
    return a->why ? 0 : -ENOMEM;
}

/* The list of series. */
static const struct json_value *list_of(const struct json_value *root, struct err *e)
{
    const struct json_value *data = json_get(root, "data"), *list = json_get(data, "result");
    const struct json_value *kind = json_get(data, "resultType");
    char word[SHOWN];

    if (list && list->kind == JSON_ARRAY && kind && kind->kind == JSON_STRING &&
        (!strcmp(kind->text, "vector") || !strcmp(kind->text, "matrix")))
        return list;
    live_run_text(word, sizeof(word), kind && kind->kind == JSON_STRING ? kind->text : "");
    if (*word)
        err_set(e, -EINVAL, "answers with a %s: the query must give a series for each GPU", word);
    else
        err_set(e, -EINVAL, "answers with something that is none of Prometheus");
    return NULL;
}

int prometheus_read(const struct site *site, struct node_answer *const *of, struct arena *a,
                    const struct prometheus_text *t, struct err *e)
{
    CLEANUP(arena_done) struct arena aside = ARENA_INIT; /* a tree is larger than its text */
    struct reading r = { .site = site, .of = of, .arena = a, .now_ms = t->now_ms };
    const struct json_value *root, *list;
    int rc = json_read(&root, &aside, "answer", t->text, t->len, NULL);

    if (rc == -ENOMEM)
        return err_nomem(e);
    list = rc == 0 ? list_of(root, e) : NULL;
    if (rc < 0)
        err_set(e, -EINVAL, "answers with something that is none of Prometheus");
    if (!list)
        return -EINVAL;
    for (size_t i = 0; i < site->n_nodes; i++)
        if (of[i])
            *of[i] = (struct node_answer){ .fault = NODE_UNTOLD };
    rc = sort_addresses(&r);
    for (size_t i = 0; i < list->n_items && rc == 0; i++)
        rc = read_series(&r, &list->items[i]);
    for (size_t i = 0; i < site->n_nodes && rc == 0; i++)
        if (of[i])
            rc = explain(&r, i);
    return rc < 0 ? err_nomem(e) : 0;
}

void prometheus_refusal(unsigned status, const char *text, size_t len, struct str *out)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    const struct json_value *root = NULL, *error;
    char words[WORDS];

    if (json_read(&root, &a, "answer", text, len, NULL) < 0)
        root = NULL;
    error = json_get(root, "error");
    live_run_text(words, sizeof(words), error && error->kind == JSON_STRING ? error->text : "");
    if (status == 401 || status == 403)
        str_addf(out, "refuses (%u): --prometheus-token FILE has what it asks for", status);
    else if (status == 404)
        str_add(out, "has no /api/v1/query there (404): the address may need a path");
    else if (*words)
        str_addf(out, "refuses the query: %s", words);
    else
        str_addf(out, "answers with status %u", status);
}
