#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/csv.h"
#include "base/parse.h"
#include "trace/reader.h"

enum { FIRST_LINE = 1024 };
static const double seconds_max = 30 * 365.0 * 86400;
static const float scaling_usual = 0.8F; /* of elastic jobs that do not say */
static const int64_t length_max_ms = (int64_t)10 * 365 * 86400 * 1000;

static const struct reader_ops *const readers[] = { &reader_csv, &reader_sacct, &reader_swf };

/* ---- for readers ---- */

struct work reader_empty(void)
{
    return (struct work){
        .limit_ms = WORK_UNKNOWN,
        .restart_ms = -1,
        .milli = WORK_WHOLE,
        .scaling = scaling_usual,
        .user = -1,
        .team = -1,
        .class = -1,
    };
}

int reader_bad(struct reader *r, const char *fmt, ...)
{
    char *out = r->notes->bad < TRACE_NOTES ? r->notes->text[r->notes->bad] : NULL;
    va_list ap;
    int len;

    r->notes->rows++;
    r->notes->bad++;
    if (!out)
        return 0;
    len = snprintf(out, TRACE_NOTE, "line %d: ", r->line);
    va_start(ap, fmt);
    vsnprintf(out + len, TRACE_NOTE - (size_t)len, fmt, ap);
    va_end(ap);
    return 0;
}

int reader_group(struct reader *r, struct work_names *table, const char *name, int16_t *ret)
{
    int number = work_number(r->work, table, name);

    if (number == -ENOMEM)
        return -ENOMEM;
    *ret = (int16_t)(number < 0 ? -1 : number);
    return 0;
}

int reader_add(struct reader *r, const struct work *w, const char *name)
{
    struct work *added;

    if (w->length_ms < 0)
        return reader_bad(r, "it takes less than no time");
    if (w->length_ms > length_max_ms)
        return reader_bad(r, "it takes more than ten years");
    if (w->devices < 0 || w->devices > WORK_DEVICES)
        return reader_bad(r, "%d is no number of devices", (int)w->devices);
    if (w->milli <= 0 || w->milli > WORK_WHOLE || (w->milli < WORK_WHOLE && w->devices != 1))
        return reader_bad(r, "a share is 1 to %d thousandths of one device", WORK_WHOLE);
    if (w->per_node < 0 || (w->per_node > 0 && w->devices % w->per_node != 0))
        return reader_bad(r, "%d devices are not whole nodes of %d", (int)w->devices,
                          (int)w->per_node);
    if (w->cpus_milli < 0 || w->memory_mib < 0)
        return reader_bad(r, "CPUs or memory below zero");
    added = ARENA_PUSH(&r->work->arena, &r->work->jobs, &r->work->n_jobs);
    if (!added)
        return -ENOMEM;
    r->notes->rows++;
    *added = *w;
    added->name = arena_strdup(&r->work->arena, name);
    return added->name ? 0 : -ENOMEM;
}

/* Days from 1970 to a date of the Gregorian calendar. */
static int64_t days_to(int64_t year, int64_t month, int64_t day)
{
    int64_t y = month <= 2 ? year - 1 : year, era = y / 400, of_era = y - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static uint64_t days_of(int64_t year, int64_t month)
{
    int64_t next = month == 12 ? days_to(year + 1, 1, 1) : days_to(year, month + 1, 1);

    return (uint64_t)(next - days_to(year, month, 1));
}

int reader_date(const char *text, int64_t *ret)
{
    static const char form[] = "dddd-dd-dd dd:dd:dd";
    uint64_t n[6];

    for (size_t i = 0; i < sizeof(form); i++) {
        bool digit = text[i] >= '0' && text[i] <= '9';

        if (form[i] == 'd' ? !digit : text[i] != form[i] && !(form[i] == ' ' && text[i] == 'T'))
            return -EINVAL;
    }
    for (size_t i = 0; i < 6; i++)
        parse_digits(text + (i ? 2 + 3 * i : 0), 10, i ? 2 : 4, &n[i]);
    if (n[0] < 1970 || n[1] < 1 || n[1] > 12 || n[2] < 1 ||
        n[2] > days_of((int64_t)n[0], (int64_t)n[1]) || n[3] > 23 || n[4] > 59 || n[5] > 60)
        return -EINVAL;
    *ret = ((days_to((int64_t)n[0], (int64_t)n[1], (int64_t)n[2]) * 24 + (int64_t)n[3]) * 60 +
            (int64_t)n[4]) *
               60 +
           (int64_t)n[5];
    return 0;
}

int reader_seconds(const char *text, int64_t *ret)
{
    double s;

    if (parse_double(text, &s) < 0)
        return -EINVAL;
    if (fabs(s) > seconds_max)
        return -ERANGE;
    *ret = (int64_t)llround(s * 1e3);
    return 0;
}

/* ---- the whole ---- */

/* The first line that is not blank, cut to what fits. */
static void first_line(const char *text, size_t len, char ret[FIRST_LINE])
{
    static const char byte_order_mark[] = "\xef\xbb\xbf";
    const char *end = text + len;
    size_t n = 0;

    if (len >= 3 && memcmp(text, byte_order_mark, 3) == 0)
        text += 3;
    while (text < end && (*text == '\n' || *text == '\r' || *text == ' ' || *text == '\t'))
        text++;
    while (text < end && *text != '\n' && *text != '\r' && n + 1 < FIRST_LINE)
        ret[n++] = *text++;
    ret[n] = '\0';
}

static const struct reader_ops *find_reader(const char *first)
{
    for (size_t i = 0; i < ARRAY_SIZE(readers); i++)
        if (readers[i]->is(first))
            return readers[i];
    return NULL;
}

int trace_read(struct workload *ret, struct trace_notes *notes, const struct pool *pool,
               const struct trace_text *t, struct err *e)
{
    struct reader r = { .work = ret, .notes = notes, .pool = pool, .file = t->file };
    const struct reader_ops *reader;
    char first[FIRST_LINE];
    int rc;

    *notes = (struct trace_notes){ .rows = 0 };
    if (t->len >= 2 && memcmp(t->text, "\x1f\x8b", 2) == 0)
        return err_set(e, -EINVAL, "%s is compressed: zcat %s | brim sim - ...", t->file,
                       strchr(t->file, ' ') ? "FILE" : t->file); /* as "standard input" has */
    first_line(t->text, t->len, first);
    reader = find_reader(first);
    if (!reader)
        return err_set(e, -EINVAL, "%s is no trace that brim knows: see brim sim --help", t->file);
    if (reader != &reader_csv)
        notes->kind = reader->name;
    rc = reader->read(&r, t->text, t->len, e);
    if (rc == -ENOMEM)
        return err_nomem(e);
    if (rc < 0)
        return rc;
    if (ret->n_jobs == 0)
        return err_set(e, -EINVAL, "%s: no job in it can be used%s%s", t->file,
                       notes->bad ? ": " : "", notes->bad ? notes->text[0] : "");
    return workload_settle(ret, e);
}

/* ---- nodes ---- */

enum { NODE_FIELDS = 5, WIRES = 4 };
static const char *const wires[WIRES] = { "domain", "rack", "leaf", "spine" };

/* Numbers of what joins a node with others, in the columns that at[] names (-1: none). */
static bool read_wires(struct pool_node *n, const struct csv *c, const int *at)
{
    int32_t *const to[WIRES] = { &n->domain, &n->rack, &n->leaf, &n->spine };

    for (int i = 0; i < WIRES; i++) {
        uint64_t number;

        if (at[i] < 0 || (size_t)at[i] >= c->n_fields || !*c->fields[at[i]])
            continue;
        if (parse_u64(c->fields[at[i]], &number) < 0 || number > INT32_MAX)
            return false;
        *to[i] = (int32_t)number;
    }
    return true;
}

static int node_row(struct pool *p, const struct csv *c, const int *at, const char *file,
                    struct err *e)
{
    struct pool_node n = { .name = c->fields[0] };
    uint64_t cpus, memory, devices;

    if (c->n_fields < NODE_FIELDS || parse_u64(c->fields[1], &cpus) < 0 || cpus > INT32_MAX / 2 ||
        parse_u64(c->fields[2], &memory) < 0 || memory > INT32_MAX ||
        parse_u64(c->fields[3], &devices) < 0)
        return err_set(e, -EINVAL, "%s:%d: a node is sn,cpu_milli,memory_mib,gpu,model", file,
                       c->line);
    if (!read_wires(&n, c, at))
        return err_set(e, -EINVAL, "%s:%d: domain, rack, leaf and spine are numbers", file,
                       c->line);
    if (devices == 0)
        return 0;
    if (devices > POOL_DEVICES)
        return err_set(e, -EINVAL, "%s:%d: a node has at most %d devices", file, c->line,
                       POOL_DEVICES);
    n.cpus_milli = (int32_t)cpus;
    n.memory_mib = (int64_t)memory;
    n.devices = (uint8_t)devices;
    return pool_add(p, &n, c->fields[4], e);
}

int trace_read_nodes(struct pool *ret, const char *file, const char *text, size_t len,
                     struct err *e)
{
    int at[WIRES] = { -1, -1, -1, -1 };
    struct csv c;
    int rc;

    csv_init(&c, text, len);
    if (csv_next(&c) <= 0 || c.n_fields < NODE_FIELDS || strcmp(c.fields[0], "sn") != 0)
        return err_set(e, -EINVAL,
                       "%s: a table of nodes starts with sn,cpu_milli,memory_mib,gpu,"
                       "model",
                       file);
    for (size_t i = NODE_FIELDS; i < c.n_fields; i++)
        for (int k = 0; k < WIRES; k++)
            if (!strcmp(c.fields[i], wires[k]))
                at[k] = (int)i;
    while ((rc = csv_next(&c)) > 0) {
        rc = node_row(ret, &c, at, file, e);
        if (rc < 0)
            return rc;
    }
    if (rc < 0)
        return err_set(e, -EINVAL, "%s:%d: not a row of a table", file, c.line);
    return ret->n_nodes ? 0 : err_set(e, -EINVAL, "%s: no node with devices", file);
}
