#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_read.h"
#include "slurm/commands.h"
#include "slurm/hosts.h"
#include "slurm/state.h"
#include "slurm/take.h"

/* ---- values, as older and newer releases write them ---- */

/* A text; of a list its first; NULL. */
static const char *text_of(const struct json_value *v)
{
    if (v && v->kind == JSON_ARRAY && v->n_items)
        v = v->items;
    return v && v->kind == JSON_STRING ? v->text : NULL;
}

static const char *get_text(const struct json_value *o, const char *key)
{
    return text_of(json_get(o, key));
}

/* Of a word, or of all words of a list. */
static uint32_t get_bits(const struct json_value *o, const char *key,
                         uint32_t (*bits_of)(const char *words))
{
    const struct json_value *v = json_get(o, key);
    uint32_t bits = 0;

    if (v && v->kind == JSON_STRING)
        return bits_of(v->text);
    for (size_t i = 0; v && v->kind == JSON_ARRAY && i < v->n_items; i++)
        if (v->items[i].kind == JSON_STRING)
            bits |= bits_of(v->items[i].text);
    return bits;
}

/* A number, or {"set": true, "infinite": false, "number": 5}; none where it is not set. */
static int64_t get_number(const struct json_value *o, const char *key, int64_t none)
{
    const struct json_value *v = json_get(o, key), *flag;

    if (v && v->kind == JSON_OBJECT) {
        flag = json_get(v, "infinite");
        if (flag && flag->kind == JSON_BOOL && flag->boolean)
            return SLURM_INFINITE;
        flag = json_get(v, "set");
        if (flag && flag->kind == JSON_BOOL && !flag->boolean)
            return none;
        v = json_get(v, "number");
    }
    return v && v->kind == JSON_NUMBER && v->is_whole && v->whole >= 0 ? v->whole : none;
}

static uint32_t get_u32(const struct json_value *o, const char *key)
{
    int64_t n = get_number(o, key, 0);

    return n > UINT32_MAX ? SLURM_NO_VALUE : (uint32_t)n;
}

static bool get_flag(const struct json_value *o, const char *key)
{
    const struct json_value *v = json_get(o, key);

    return v && ((v->kind == JSON_BOOL && v->boolean) || (v->kind == JSON_NUMBER && v->whole > 0));
}

static const char *either(const char *a, const char *b)
{
    return a && a[0] ? a : b;
}

/* ---- nodes ---- */

static int take_node(struct site *s, const struct json_value *n)
{
    const struct json_value *in = json_get(n, "partitions");
    struct slurm_raw_node raw = {
        .name = get_text(n, "name"),
        .address = get_text(n, "address"),
        .features = either(get_text(n, "active_features"), get_text(n, "features")),
        .gres = get_text(n, "gres"),
        .reason = get_text(n, "reason"),
        .state = get_bits(n, "state", slurm_state_node_bits) |
                 get_bits(n, "state_flags", slurm_state_node_bits),
        .cpus = (uint64_t)get_number(n, "cpus", 0),
        .memory_mib = (uint64_t)get_number(n, "real_memory", 0),
    };

    if (!raw.name || !raw.name[0])
        return 0;
    if (slurm_take_node(s, &raw) < 0)
        return -ENOMEM;
    for (size_t i = 0; in && in->kind == JSON_ARRAY && i < in->n_items; i++)
        if (in->items[i].kind == JSON_STRING)
            s->nodes[s->n_nodes - 1].partitions |= site_add_partition(s, in->items[i].text);
    return 0;
}

static int read_list(const struct json_value **ret, struct site *s, const char *what,
                     const char *text, size_t len, struct err *e)
{
    const struct json_value *root;
    int rc = json_read(&root, &s->arena, what, text, len, e);

    if (rc < 0)
        return rc;
    *ret = json_get(root, what);
    if (!*ret || (*ret)->kind != JSON_ARRAY)
        return err_set(e, -ENODATA,
                       "Slurm's JSON has no list of %s: its commands are too new or "
                       "too old for brim",
                       what);
    return 0;
}

int slurm_json_nodes(struct site *s, const char *text, size_t len, struct err *e)
{
    const struct json_value *list = NULL;
    int rc = read_list(&list, s, "nodes", text, len, e);

    for (size_t i = 0; rc == 0 && i < list->n_items; i++)
        if (take_node(s, &list->items[i]) < 0)
            rc = err_nomem(e);
    return rc;
}

/* ---- jobs ---- */

struct placing {
    struct site *s;
    uint32_t *places;
    size_t n;
};

static int add_place(const char *name, void *arg)
{
    struct placing *p = arg;
    int64_t at = site_node_find(p->s, name);
    uint32_t *place = at < 0 ? NULL : ARENA_PUSH(&p->s->arena, &p->places, &p->n);

    if (place)
        *place = (uint32_t)at;
    return at >= 0 && !place ? -ENOMEM : 0;
}

static int take_places(struct site *s, const struct json_value *j, struct slurm_raw_job *raw)
{
    const struct json_value *details = json_get(j, "gres_detail");
    const char *nodes = get_text(j, "nodes"), **texts = NULL, **one;
    struct placing p = { .s = s };

    if (slurm_hosts_each(nodes ? nodes : "", add_place, &p) == -ENOMEM)
        return -ENOMEM;
    for (size_t i = 0; details && details->kind == JSON_ARRAY && i < details->n_items; i++) {
        one = ARENA_PUSH(&s->arena, &texts, &raw->n_details);
        if (!one)
            return -ENOMEM;
        *one = text_of(&details->items[i]);
    }
    raw->details = texts;
    raw->places = p.places;
    raw->n_places = p.n;
    return 0;
}

static void take_texts(const struct json_value *j, struct slurm_raw_job *raw)
{
    const char *shared = get_text(j, "shared");

    raw->name = get_text(j, "name");
    raw->user = get_text(j, "user_name");
    raw->account = get_text(j, "account");
    raw->partition = get_text(j, "partition");
    raw->qos = get_text(j, "qos");
    raw->comment = get_text(j, "comment");
    raw->note = get_text(j, "admin_comment");
    raw->reason = get_text(j, "state_reason");
    raw->wanted = get_text(j, "required_nodes");
    raw->avoided = get_text(j, "excluded_nodes");
    raw->features = get_text(j, "features");
    raw->dependency = get_text(j, "dependency");
    raw->tasks = get_text(j, "array_task_string");
    raw->per_job = get_text(j, "tres_per_job");
    raw->per_node = get_text(j, "tres_per_node");
    raw->per_task = get_text(j, "tres_per_task");
    raw->tres_asked = get_text(j, "tres_req_str");
    raw->tres = get_text(j, "tres_alloc_str");
    raw->state = get_bits(j, "job_state", slurm_state_job_bits);
    raw->exclusive = shared && strcmp(shared, "none") == 0;
}

static int take_job(struct site *s, const struct json_value *j)
{
    int64_t per_cpu = get_number(j, "memory_per_cpu", 0);
    struct slurm_raw_job raw = {
        .id = get_u32(j, "job_id"),
        .array = get_u32(j, "array_job_id"),
        .task = (uint32_t)get_number(j, "array_task_id", SLURM_NO_VALUE),
        .uid = get_u32(j, "user_id"),
        .batch = get_flag(j, "batch_flag"),
        .requeue = get_flag(j, "requeue"),
        .submit_s = get_number(j, "submit_time", 0),
        .start_s = get_number(j, "start_time", 0),
        .end_s = get_number(j, "end_time", 0),
        .eligible_s = get_number(j, "eligible_time", 0),
        .limit_min = get_u32(j, "time_limit"),
        .priority = get_u32(j, "priority"),
        .restarts = get_u32(j, "restart_cnt"),
        .nodes = get_u32(j, "node_count"),
        .nodes_most = get_u32(j, "max_nodes"),
        .cpus = get_u32(j, "cpus"),
        .processes = get_u32(j, "tasks"),
        .memory_mib = per_cpu ? (uint64_t)per_cpu | SLURM_PER_CPU
                              : (uint64_t)get_number(j, "memory_per_node", 0),
    };
    int rc;

    if (!raw.id)
        return 0;
    take_texts(j, &raw);
    rc = take_places(s, j, &raw);
    return rc < 0 ? rc : slurm_take_job(s, &raw, s->time_ms / 1000);
}

int slurm_json_jobs(struct site *s, const char *text, size_t len, struct err *e)
{
    const struct json_value *list = NULL;
    int rc = read_list(&list, s, "jobs", text, len, e);

    for (size_t i = 0; rc == 0 && i < list->n_items; i++) {
        const char *cluster = get_text(&list->items[i], "cluster");

        if (!s->cluster)
            s->cluster = cluster;
        if (take_job(s, &list->items[i]) < 0)
            rc = err_nomem(e);
    }
    return rc;
}
