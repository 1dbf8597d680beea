#include "trace/past.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"

void past_done(struct past *p)
{
    workload_done(&p->work);
    *p = (struct past){ .n_rows = 0 };
}

/* ---- times ---- */

/* Of a row, in seconds since 1970. */
struct times {
    int64_t submit_s, start_s, end_s;
    bool runs, before;
};

/* False: it has not started, or never did. */
static bool has_started(const struct sacct *t, int64_t *start_s)
{
    return strncmp(sacct_field(t, SACCT_STATE), "PENDING", 7) != 0 &&
           *sacct_field(t, SACCT_ALLOCATED) && /* of one that was cancelled Start is its end */
           sacct_time(sacct_field(t, SACCT_START), start_s) == 0 && *start_s > 0;
}

/* Up to the end of the window, for one that runs. */
static int find_end(const struct past *p, struct times *t)
{
    int64_t ran_ms;

    if (sacct_time(sacct_field(&p->row, SACCT_END), &t->end_s) == 0 && t->end_s > 0)
        return 0;
    if (sacct_elapsed(&p->row, &ran_ms) < 0)
        return -EINVAL;
    t->runs = true;
    t->end_s = p->until_s ? MAX(p->until_s, t->start_s) : t->start_s + ran_ms / 1000;
    return 0;
}

/* From when on it could have started, no later than it did. */
static int find_submit(const struct past *p, struct times *t)
{
    int64_t eligible_s;

    if (sacct_time(sacct_field(&p->row, SACCT_SUBMIT), &t->submit_s) < 0)
        return -EINVAL;
    if (sacct_time(sacct_field(&p->row, SACCT_ELIGIBLE), &eligible_s) == 0)
        t->submit_s = MAX(t->submit_s, eligible_s);
    t->submit_s = MIN(t->submit_s, t->start_s);
    return 0;
}

/* Those that ran when the window began come a moment before those that waited. */
static void fit_window(const struct past *p, const struct times *t, struct past_row *ret)
{
    ret->submit_ms = MAX(t->submit_s, p->from_s) * 1000;
    ret->went.start_ms = t->start_s * 1000;
    if (t->before)
        ret->submit_ms = ret->went.start_ms = p->from_s * 1000 - 1;
    ret->went.end_ms = MAX(t->end_s * 1000, ret->went.start_ms);
}

/* ---- rows ---- */

static void find_limit(const struct sacct *t, int64_t *ret)
{
    uint64_t raw;

    if (parse_u64(sacct_field(t, SACCT_LIMIT_RAW), &raw) == 0 && raw < UINT32_MAX)
        *ret = (int64_t)raw * 60000;
    else if (*sacct_field(t, SACCT_LIMIT) && sacct_duration(sacct_field(t, SACCT_LIMIT), ret) < 0)
        *ret = WORK_UNKNOWN;
}

/* Who it is of, and what it needs. */
static int describe(struct past *p, struct reader *r, struct work *w)
{
    const struct sacct *t = &p->row;
    const char *partition = sacct_field(t, SACCT_PARTITION);
    char type[SACCT_KIND];
    uint64_t nodes;

    if (parse_u64(sacct_field(t, SACCT_NODES), &nodes) == 0 && nodes > 1 &&
        (uint64_t)w->devices % nodes == 0)
        w->per_node = (int32_t)((uint64_t)w->devices / nodes);
    sacct_kind(sacct_field(t, SACCT_ASKED), type);
    if (p->cluster.kinds)
        w->kinds = p->cluster.kinds(p->cluster.ctx, partition, type);
    else if (*type && pool_kind(p->pool, type) >= 0)
        w->kinds = UINT64_C(1) << pool_kind(p->pool, type);
    if (reader_group(r, &p->work.users, sacct_field(t, SACCT_USER), &w->user) < 0 ||
        reader_group(r, &p->work.teams, sacct_field(t, SACCT_ACCOUNT), &w->team) < 0 ||
        reader_group(r, &p->work.classes, partition, &w->class) < 0)
        return -ENOMEM;
    find_limit(t, &w->limit_ms);
    return 0;
}

static int add(struct past *p, struct reader *r, const struct times *t, struct work *w)
{
    struct past_row row = { .number = p->n_rows }, *kept;
    size_t had = p->work.n_jobs;

    fit_window(p, t, &row);
    w->submit_ms = row.submit_ms;
    w->length_ms = row.went.end_ms - row.went.start_ms;
    if (describe(p, r, w) < 0 || reader_add(r, w, sacct_field(&p->row, SACCT_ID)) < 0)
        return -ENOMEM;
    if (p->work.n_jobs == had)
        return 0;
    kept = ARENA_PUSH(&p->work.arena, &p->rows, &p->n_rows);
    if (!kept)
        return -ENOMEM;
    *kept = row;
    p->before += t->before;
    p->running += t->runs;
    if (p->cluster.had)
        p->cluster.had(p->cluster.ctx, sacct_field(&p->row, SACCT_NODE_LIST));
    return 0;
}

static int take_row(struct past *p)
{
    struct reader r = { .work = &p->work, .notes = &p->notes, .pool = p->pool };
    struct work w = reader_empty();
    struct times t = { .runs = false };

    r.line = p->row.line;
    w.devices = sacct_gpus(&p->row);
    if (w.devices == 0 || strchr(sacct_field(&p->row, SACCT_ID), '.')) {
        p->notes.skipped++;
        return 0;
    }
    if (!has_started(&p->row, &t.start_s)) {
        if (!strncmp(sacct_field(&p->row, SACCT_STATE), "PENDING", 7))
            p->waiting++;
        else
            p->never++;
        return 0;
    }
    if (find_submit(p, &t) < 0 || find_end(p, &t) < 0)
        return reader_bad(&r, "no times of submission or of what it took");
    if (t.end_s < t.start_s)
        return reader_bad(&r, "it ended before it started");
    if (p->from_s && t.end_s <= p->from_s && t.start_s < p->from_s)
        return 0; /* it is of an earlier time */
    t.before = p->from_s && t.start_s < p->from_s;
    return add(p, &r, &t, &w);
}

/* Whether the columns are there without which there is no past. */
static bool is_whole(const struct sacct *t)
{
    return sacct_has(t, SACCT_SUBMIT) && sacct_has(t, SACCT_START) && sacct_has(t, SACCT_END) &&
           sacct_has(t, SACCT_ELAPSED_RAW) && sacct_has(t, SACCT_ALLOCATED);
}

bool past_is(const char *text, size_t len)
{
    const char *newline = memchr(text, '\n', len);
    size_t n = newline ? (size_t)(newline - text) : len;
    char line[SACCT_LINE];
    struct sacct t;

    if (n >= sizeof(line))
        return false;
    memcpy(line, text, n);
    line[n] = '\0';
    return sacct_header(&t, line) == 0 && is_whole(&t);
}

static int take_header(struct past *p, char *line, struct err *e)
{
    p->open = true;
    p->notes.kind = "sacct";
    if (sacct_header(&p->row, line) < 0 || !is_whole(&p->row))
        return err_set(e, -EINVAL,
                       "sacct must print JobIDRaw,Submit,Start,End,ElapsedRaw,AllocTRES at least");
    return 0;
}

int past_line(struct past *p, char *line, struct err *e)
{
    struct reader r = { .work = &p->work, .notes = &p->notes, .line = p->row.line + 1 };
    int rc;

    if (!p->open)
        return take_header(p, line ? line : (char[1]){ '\0' }, e);
    if (p->n_rows == PAST_JOBS)
        return err_set(e, -E2BIG, "more than %d million jobs: ask for fewer days",
                       PAST_JOBS / 1000000);
    if (line && !*line) {
        p->row.line++;
        return 0;
    }
    if (!line || sacct_row(&p->row, line) < 0) {
        p->row.line = r.line;
        return reader_bad(&r, "too long");
    }
    rc = take_row(p);
    return rc < 0 ? err_nomem(e) : 0;
}

int past_text(struct past *p, const char *text, size_t len, struct err *e)
{
    const char *end = text + len;
    char line[SACCT_LINE];
    int rc = 0;

    while (text < end && rc == 0) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        size_t n = (size_t)((newline ? newline : end) - text);
        bool fits = n < sizeof(line);

        memcpy(line, text, fits ? n : 0);
        line[fits ? n : 0] = '\0';
        rc = past_line(p, fits ? line : NULL, e);
        text += n + (newline != NULL);
    }
    return rc;
}

/* ---- the end ---- */

/* As workload_settle() sorts jobs. */
static int compare(const void *a, const void *b)
{
    const struct past_row *x = a, *y = b;

    if (x->submit_ms != y->submit_ms)
        return x->submit_ms < y->submit_ms ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static int nothing(const struct past *p, struct err *e)
{
    if (p->notes.bad)
        return err_set(e, -ENODATA, "no job can be used: %s", p->notes.text[0]);
    if (p->waiting || p->never)
        return err_set(e, -ENODATA, "no job with GPUs has started: %zu wait%s", p->waiting,
                       p->waiting == 1 ? "s" : "");
    if (p->notes.skipped)
        return err_set(e, -ENODATA,
                       "none of %zu jobs had GPUs, as far as accounting knows: it counts them when "
                       "AccountingStorageTRES in slurm.conf names gres/gpu",
                       p->notes.skipped);
    return err_set(e, -ENODATA, "there are no jobs: ask for more days, --from-sacct=30");
}

int past_settle(struct past *p, struct err *e)
{
    int rc;

    if (p->n_rows == 0)
        return nothing(p, e);
    rc = workload_settle(&p->work, e);
    if (rc < 0)
        return rc;
    p->went = arena_alloc(&p->work.arena, p->n_rows * sizeof(*p->went));
    if (!p->went)
        return err_nomem(e);
    qsort(p->rows, p->n_rows, sizeof(*p->rows), compare);
    for (size_t i = 0; i < p->n_rows; i++)
        p->went[i] = (struct work_went){ p->rows[i].went.start_ms - p->work.first_ms,
                                         p->rows[i].went.end_ms - p->work.first_ms };
    return 0;
}
