#include <errno.h>
#include <pwd.h>
#include <string.h>

#include "slurm/code.h"
#include "slurm/library.h"
#include "slurm/state.h"
#include "slurm/take.h"

enum { SHOW_ALL = 1, SHOW_DETAIL = 2, NO_PLACE = -1 };

struct reading {
    const struct slurm_library *l;
    struct site *s;
    int64_t *number; /* of the site, by place in Slurm's table of nodes; -1: it is left out */
    size_t n_places;
    uint32_t last_uid; /* of whom the name was looked up last: jobs of one user lie together */
    const char *last_user;
    int64_t now_s;
};

static const char *text(const struct reading *r, const void *record, enum slurm_field_id id)
{
    return slurm_pointer(r->l->layout, record, id);
}

static uint32_t number(const struct reading *r, const void *record, enum slurm_field_id id)
{
    return (uint32_t)slurm_number(r->l->layout, record, id);
}

static int64_t seconds(const struct reading *r, const void *record, enum slurm_field_id id)
{
    return (int64_t)slurm_number(r->l->layout, record, id);
}

/* One of a table of records. */
static const void *record_at(const void *records, size_t size, size_t i)
{
    return (const char *)records + i * size;
}

static int take_nodes(struct reading *r)
{
    const struct slurm_layout *l = r->l->layout;
    const void *records = slurm_pointer(l, r->l->nodes, NODES_RECORDS);
    int rc = 0;

    r->n_places = number(r, r->l->nodes, NODES_COUNT);
    r->number = arena_alloc(&r->s->arena, r->n_places * sizeof(*r->number));
    if (!r->number)
        return -ENOMEM;
    for (size_t i = 0; records && i < r->n_places && rc == 0; i++) {
        const void *n = record_at(records, l->node_size, i);
        const char *active = text(r, n, NODE_FEATURES_NOW);
        struct slurm_raw_node raw = {
            .name = text(r, n, NODE_NAME),
            .address = text(r, n, NODE_ADDRESS),
            .features = active ? active : text(r, n, NODE_FEATURES),
            .gres = text(r, n, NODE_GRES),
            .reason = text(r, n, NODE_REASON),
            .state = number(r, n, NODE_STATE),
            .reason_uid = number(r, n, NODE_REASON_UID),
            .cpus = slurm_number(l, n, NODE_CPUS),
            .memory_mib = slurm_number(l, n, NODE_MEMORY),
        };

        r->number[i] = NO_PLACE;
        if (!raw.name || !raw.name[0])
            continue;
        r->number[i] = (int64_t)r->s->n_nodes;
        rc = slurm_take_node(r->s, &raw);
        if (rc == 0 && i < r->l->n_paths)
            r->s->nodes[r->number[i]].path = r->l->paths[i];
    }
    return rc;
}

/* The first ones: of more than are told apart nobody knows which nodes they have. */
static void take_partitions(struct reading *r)
{
    const struct slurm_layout *l = r->l->layout;
    const void *records = slurm_pointer(l, r->l->parts, PARTS_RECORDS);
    size_t n = records ? number(r, r->l->parts, PARTS_COUNT) : 0;

    for (size_t i = 0; i < n; i++) {
        const void *part = record_at(records, l->part_size, i);
        const int32_t *pair = slurm_pointer(l, part, PART_PLACES);
        uint64_t bit = site_add_partition(r->s, text(r, part, PART_NAME));

        for (; pair && pair[0] >= 0 && pair[1] >= pair[0]; pair += 2)
            for (int64_t at = pair[0]; at <= pair[1] && (size_t)at < r->n_places; at++)
                if (r->number[at] >= 0)
                    r->s->nodes[r->number[at]].partitions |= bit;
    }
}

/* Its nodes: pairs of first and last place, -1 behind them. */
static int take_places(struct reading *r, const void *job, struct slurm_raw_job *raw)
{
    const int32_t *pair = slurm_pointer(r->l->layout, job, JOB_PLACES);
    uint32_t *places = NULL;

    for (; pair && pair[0] >= 0 && pair[1] >= pair[0]; pair += 2)
        for (int64_t i = pair[0]; i <= pair[1]; i++) {
            uint32_t *place = NULL;

            if ((size_t)i >= r->n_places || r->number[i] < 0)
                continue;
            place = ARENA_PUSH(&r->s->arena, &places, &raw->n_places);
            if (!place)
                return -ENOMEM;
            *place = (uint32_t)r->number[i];
        }
    raw->places = places;
    return 0;
}

static int take_user(struct reading *r, const void *job, struct slurm_raw_job *raw)
{
    const struct passwd *entry;

    raw->user = text(r, job, JOB_USER);
    if (raw->user && raw->user[0])
        return 0;
    if (!r->last_user || r->last_uid != raw->uid) {
        entry = getpwuid(raw->uid);
        r->last_uid = raw->uid;
        r->last_user = entry ? arena_strdup(&r->s->arena, entry->pw_name)
                             : arena_printf(&r->s->arena, "%u", raw->uid);
    }
    raw->user = r->last_user;
    return raw->user ? 0 : -ENOMEM;
}

static const char *reason_of(const struct reading *r, uint32_t reason)
{
    const char *word = slurm_state_reason(reason);

    if (!word && r->l->api.reason_text)
        word = r->l->api.reason_text(reason);
    return word ? word : "Other";
}

static void take_texts(const struct reading *r, const void *j, struct slurm_raw_job *raw)
{
    raw->name = text(r, j, JOB_NAME);
    raw->account = text(r, j, JOB_ACCOUNT);
    raw->partition = text(r, j, JOB_PARTITION);
    raw->qos = text(r, j, JOB_QOS);
    raw->comment = text(r, j, JOB_COMMENT);
    raw->note = text(r, j, JOB_NOTE);
    raw->reason = reason_of(r, number(r, j, JOB_REASON));
    raw->wanted = text(r, j, JOB_WANTED);
    raw->avoided = text(r, j, JOB_AVOIDED);
    raw->features = text(r, j, JOB_FEATURES);
    raw->dependency = text(r, j, JOB_DEPENDENCY);
    raw->tasks = text(r, j, JOB_TASKS);
    raw->per_job = text(r, j, JOB_PER_JOB);
    raw->per_node = text(r, j, JOB_PER_NODE);
    raw->per_task = text(r, j, JOB_PER_TASK);
    raw->tres_asked = text(r, j, JOB_TRES_ASKED);
    raw->tres = text(r, j, JOB_TRES);
    raw->details = slurm_pointer(r->l->layout, j, JOB_DETAIL);
    raw->n_details = raw->details ? number(r, j, JOB_DETAILS) : 0;
}

static int take_job(struct reading *r, const void *j)
{
    struct slurm_raw_job raw = {
        .id = number(r, j, JOB_ID),
        .array = number(r, j, JOB_ARRAY),
        .task = number(r, j, JOB_TASK),
        .uid = number(r, j, JOB_UID),
        .state = number(r, j, JOB_STATE),
        .batch = number(r, j, JOB_BATCH) != 0,
        .requeue = number(r, j, JOB_REQUEUE) != 0,
        .exclusive = number(r, j, JOB_SHARED) == 0,
        .submit_s = seconds(r, j, JOB_SUBMIT),
        .start_s = seconds(r, j, JOB_START),
        .end_s = seconds(r, j, JOB_END),
        .eligible_s = seconds(r, j, JOB_ELIGIBLE),
        .limit_min = number(r, j, JOB_LIMIT),
        .priority = number(r, j, JOB_PRIORITY),
        .restarts = number(r, j, JOB_RESTARTS),
        .nodes = number(r, j, JOB_NODES),
        .nodes_most = number(r, j, JOB_NODES_MOST),
        .cpus = number(r, j, JOB_CPUS),
        .processes = number(r, j, JOB_PROCESSES),
        .memory_mib = slurm_number(r->l->layout, j, JOB_MEMORY),
    };
    int rc;

    take_texts(r, j, &raw);
    rc = take_user(r, j, &raw);
    if (rc == 0)
        rc = take_places(r, j, &raw);
    return rc < 0 ? rc : slurm_take_job(r->s, &raw, r->now_s);
}

static int take_jobs(struct reading *r)
{
    const struct slurm_layout *l = r->l->layout;
    const void *records = slurm_pointer(l, r->l->jobs, JOBS_RECORDS);
    size_t n = number(r, r->l->jobs, JOBS_COUNT);
    int rc = 0;

    for (size_t i = 0; records && i < n && rc == 0; i++) {
        const void *j = record_at(records, l->job_size, i);

        if (!r->s->cluster)
            r->s->cluster = text(r, j, JOB_CLUSTER);
        rc = take_job(r, j);
    }
    return rc;
}

/* ---- what there is of each ---- */

enum what { NODES, JOBS, PARTS };

static int load(const struct slurm_library *l, enum what what, time_t since, void **got)
{
    uint16_t show = SHOW_ALL | SHOW_DETAIL;

    switch (what) {
    case NODES:
        return l->api.load_nodes(since, got, show);
    case JOBS:
        return l->api.load_jobs(since, got, show);
    case PARTS:
        break;
    }
    return l->api.load_parts(since, got, show);
}

static void unload(const struct slurm_library *l, enum what what, void *kept)
{
    switch (what) {
    case NODES:
        l->api.free_nodes(kept);
        return;
    case JOBS:
        l->api.free_jobs(kept);
        return;
    case PARTS:
        break;
    }
    l->api.free_parts(kept);
}

/* Ask for what changed: 1 when *kept is new, 0 when nothing has changed. */
static int refresh(const struct slurm_library *l, enum what what, void **kept, struct err *e)
{
    static const enum slurm_field_id updated[] = { NODES_UPDATED, JOBS_UPDATED, PARTS_UPDATED };
    time_t since = *kept ? (time_t)slurm_number(l->layout, *kept, updated[what]) : 0;
    void *got = NULL;
    int rc, number;

    errno = 0;
    rc = load(l, what, since, &got);
    number = rc > 0 ? rc : errno;
    if (rc != 0 && number == SLURM_NO_CHANGE && *kept)
        return 0;
    if (rc != 0 || !got)
        return err_set(e, slurm_code_of(number, SITE_DEED_KINDS), "Slurm: %s",
                       l->api.error_text(number));
    if (*kept)
        unload(l, what, *kept);
    *kept = got;
    return 1;
}

int slurm_library_read(void *state, struct site *ret, struct err *e)
{
    struct slurm_library *l = state;
    struct site s = { .time_ms = (int64_t)time(NULL) * 1000 };
    struct reading r = { .l = l, .s = &s, .now_s = s.time_ms / 1000 };
    int nodes = refresh(l, NODES, &l->nodes, e), parts, jobs, rc;

    if (nodes < 0)
        return nodes;
    parts = refresh(l, PARTS, &l->parts, e);
    if (parts < 0)
        return parts;
    jobs = refresh(l, JOBS, &l->jobs, e);
    l->untold |= nodes > 0 || parts > 0 || jobs > 0;
    if (nodes > 0)
        slurm_library_topo(l);
    if (jobs < 0 || !l->untold)
        return MIN(jobs, 0);
    rc = take_nodes(&r);
    if (rc == 0)
        take_partitions(&r);
    if (rc == 0)
        rc = take_jobs(&r);
    if (rc == 0)
        rc = slurm_take_end(&s);
    if (rc < 0) {
        site_done(&s);
        return err_nomem(e);
    }
    l->untold = false;
    *ret = s;
    return 1;
}
