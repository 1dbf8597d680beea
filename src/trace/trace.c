#include <errno.h>
#include <string.h>

#include "base/csv.h"
#include "base/parse.h"
#include "trace/reader.h"

enum { FIRST_LINE = 1024 };

static const struct reader_ops *const readers[] = { &reader_csv, &reader_sacct, &reader_swf };

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
    first_line(t->text, t->len, first);
    reader = find_reader(first);
    if (!reader)
        return err_set(e, -EINVAL,
                       "%s is no trace that brim knows: a table of jobs begins with the line "
                       "job_id,submit_s,gpus,duration_s; %s --help names the others",
                       t->file, t->command);
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
