/* Traces of operations, out of tab-separated text. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/parse.h"
#include "diagnose/straggler/straggler.h"

enum { COLUMNS = 11, LINE_BYTES = 512 };

/* Columns that are used. */
enum { DP, STAGE, RANK, STEP, TYPE, BEGIN, SECONDS, SEQ, CHUNK };

struct row {
    unsigned dp, stage, seq;
    uint64_t step;
    enum op_type type;
    double begin, seconds;
};

struct reader {
    struct op_trace *t;
    struct arena scratch;
    const char *file;
    struct row *rows;
    size_t n_rows;
    uint64_t *steps; /* in order */
};

static const char *const header =
    "dp_rank\tstage\trank\tstep\toptype\tstart_ts\tduration\tseq_id\tmc\tmb_id\tgmc";

const char *op_type_name(enum op_type t)
{
    static const char *const names[OP_TYPES] = {
        [OP_FORWARD] = "forward-compute",
        [OP_BACKWARD] = "backward-compute",
        [OP_FORWARD_SEND] = "forward-send",
        [OP_FORWARD_RECV] = "forward-recv",
        [OP_BACKWARD_SEND] = "backward-send",
        [OP_BACKWARD_RECV] = "backward-recv",
        [OP_PARAMS_GATHER] = "params-all-gather",
        [OP_GRADS_SCATTER] = "grads-reduce-scatter",
        [OP_LAYERNORM_REDUCE] = "layernorm-grads-all-reduce",
        [OP_EMBEDDING_REDUCE] = "embedding-grads-all-reduce",
        [OP_CLIP] = "optimizer-clip-main-grad",
        [OP_OPTIMIZER] = "optimizer",
        [OP_GC] = "gc",
    };

    return names[t];
}

static int take_number(const char *text, uint64_t most, uint64_t *ret)
{
    return parse_u64(text, ret) < 0 || *ret > most ? -EINVAL : 0;
}

static int take_row(struct reader *r, char **fields, int line, struct err *e)
{
    uint64_t dp, stage, seq;
    int64_t chunk;
    struct row *row;
    unsigned type = 0;

    while (type < OP_TYPES && strcmp(fields[TYPE], op_type_name(type)) != 0)
        type++;
    if (type == OP_TYPES)
        return err_set(e, -EINVAL, "%s:%d: unknown operation '%.40s'", r->file, line, fields[TYPE]);
    if (parse_i64(fields[CHUNK], &chunk) < 0)
        return err_set(e, -EINVAL, "%s:%d: '%.40s' is no number", r->file, line, fields[CHUNK]);
    if (chunk > 0)
        return err_set(e, -ENOTSUP, "%s:%d: interleaved schedules (mc above 0) are not known",
                       r->file, line);
    row = ARENA_PUSH(&r->scratch, &r->rows, &r->n_rows);
    if (!row)
        return err_nomem(e);
    if (take_number(fields[DP], TRACE_RANKS_MAX - 1, &dp) < 0 ||
        take_number(fields[STAGE], TRACE_STAGES_MAX - 1, &stage) < 0 ||
        take_number(fields[SEQ], UINT16_MAX, &seq) < 0 || parse_u64(fields[STEP], &row->step) < 0)
        return err_set(e, -EINVAL, "%s:%d: dp_rank, stage, step or seq_id is no such number",
                       r->file, line);
    if (parse_double(fields[BEGIN], &row->begin) < 0 ||
        parse_double(fields[SECONDS], &row->seconds) < 0 || row->seconds < 0 ||
        !(fabs(row->begin) < 1e12) || !(row->seconds < 1e9))
        return err_set(e, -EINVAL, "%s:%d: start_ts or duration is no time", r->file, line);
    row->dp = (unsigned)dp;
    row->stage = (unsigned)stage;
    row->seq = (unsigned)seq;
    row->type = type;
    return 0;
}

/* Cut a line at its tabs; how many fields it has. */
static int cut(char *line, char **fields)
{
    int n = 0;

    for (char *at = line; at && n < COLUMNS + 1; n++) {
        char *tab = strchr(at, '\t');

        if (n < COLUMNS)
            fields[n] = at;
        if (tab)
            *tab++ = '\0';
        at = tab;
    }
    return n;
}

static int take_line(struct reader *r, const char *text, size_t len, int number, struct err *e)
{
    char line[LINE_BYTES], *fields[COLUMNS];

    if (len && text[len - 1] == '\r')
        len--;
    if (len >= sizeof(line) || memchr(text, '\0', len))
        return err_set(e, -EINVAL, "%s:%d: no line of a trace", r->file, number);
    memcpy(line, text, len);
    line[len] = '\0';
    if (number == 1)
        return !strcmp(line, header)
                   ? 0
                   : err_set(e, -EINVAL, "%s:1: the columns are not those of a trace", r->file);
    if (!len)
        return 0;
    if (cut(line, fields) != COLUMNS)
        return err_set(e, -EINVAL, "%s:%d: %d columns are wanted", r->file, number, COLUMNS);
    return take_row(r, fields, number, e);
}

static int take_lines(struct reader *r, const char *text, size_t len, struct err *e)
{
    const char *end = text + len;
    int number = 0, rc = 0;

    if (!len)
        return err_set(e, -EINVAL, "%s:1: the columns are not those of a trace", r->file);
    while (rc == 0 && text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        size_t n = newline ? (size_t)(newline - text) : (size_t)(end - text);

        rc = take_line(r, text, n, ++number, e);
        text += n + (newline != NULL);
    }
    return rc;
}

/* ---- from rows to cells ---- */

static int compare_steps(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return COMPARE(x, y);
}

/* The numbers of the steps, in order, each once. */
static int list_steps(struct reader *r)
{
    size_t n = 0;

    r->steps = arena_alloc(&r->scratch, r->n_rows * sizeof(*r->steps));
    if (!r->steps)
        return -ENOMEM;
    for (size_t i = 0; i < r->n_rows; i++)
        r->steps[i] = r->rows[i].step;
    qsort(r->steps, r->n_rows, sizeof(*r->steps), compare_steps);
    for (size_t i = 0; i < r->n_rows; i++)
        if (!i || r->steps[i] != r->steps[i - 1])
            r->steps[n++] = r->steps[i];
    r->t->n_steps = (unsigned)MIN(n, (size_t)TRACE_STEPS_MAX + 1);
    return 0;
}

static unsigned step_index(const struct reader *r, uint64_t step)
{
    const uint64_t *at = bsearch(&step, r->steps, r->t->n_steps, sizeof(*r->steps), compare_steps);

    return (unsigned)(at - r->steps);
}

/* How many operations of each kind a stage has: as many as the largest number of one says. */
static int list_operations(struct reader *r)
{
    struct op_trace *t = r->t;
    size_t n = 0;

    for (size_t i = 0; i < r->n_rows; i++) {
        t->n_dp = MAX(t->n_dp, r->rows[i].dp + 1);
        t->n_stages = MAX(t->n_stages, r->rows[i].stage + 1);
    }
    t->ranges = arena_alloc(&t->arena, t->n_stages * sizeof(*t->ranges));
    if (!t->ranges)
        return -ENOMEM;
    for (size_t i = 0; i < r->n_rows; i++) {
        struct op_range *k = &t->ranges[r->rows[i].stage][r->rows[i].type];

        k->count = MAX(k->count, r->rows[i].seq + 1);
    }
    for (unsigned s = 0; s < t->n_stages; s++)
        for (unsigned k = 0; k < OP_TYPES; k++) {
            t->ranges[s][k].first = (unsigned)n;
            n += t->ranges[s][k].count;
        }
    t->n_ops = (unsigned)n;
    return 0;
}

static int name_operations(struct op_trace *t)
{
    t->ops = arena_alloc(&t->arena, t->n_ops * sizeof(*t->ops));
    if (!t->ops)
        return -ENOMEM;
    for (unsigned s = 0; s < t->n_stages; s++)
        for (unsigned k = 0; k < OP_TYPES; k++)
            for (unsigned i = 0; i < t->ranges[s][k].count; i++)
                t->ops[t->ranges[s][k].first + i] = (struct op_info){ k, s, i };
    return 0;
}

static int fill(struct reader *r, struct err *e)
{
    struct op_trace *t = r->t;
    size_t cells = op_trace_cells(t);

    if (t->n_steps > TRACE_STEPS_MAX || cells != r->n_rows)
        return err_set(e, -EINVAL,
                       "%s:1: steps differ: %zu rows for %u steps of %u operations on %u ranks",
                       r->file, r->n_rows, t->n_steps, t->n_ops, t->n_dp);
    t->begin = arena_alloc(&t->arena, cells * sizeof(*t->begin));
    t->seconds = arena_alloc(&t->arena, cells * sizeof(*t->seconds));
    if (!t->begin || !t->seconds || name_operations(t) < 0)
        return err_nomem(e);
    for (size_t i = 0; i < cells; i++)
        t->seconds[i] = -1;
    for (size_t i = 0; i < r->n_rows; i++) {
        const struct row *row = &r->rows[i];
        unsigned op = t->ranges[row->stage][row->type].first + row->seq;
        size_t cell = ((size_t)step_index(r, row->step) * t->n_ops + op) * t->n_dp + row->dp;

        if (t->seconds[cell] >= 0)
            return err_set(e, -EINVAL, "%s:1: step %llu has %s %u of stage %u, rank %u twice",
                           r->file, (unsigned long long)row->step, op_type_name(row->type),
                           row->seq, row->stage, row->dp);
        t->begin[cell] = row->begin;
        t->seconds[cell] = row->seconds;
    }
    return 0;
}

static int read_all(struct reader *r, const char *text, size_t len, struct err *e)
{
    int rc = take_lines(r, text, len, e);

    if (rc < 0)
        return rc;
    if (!r->n_rows)
        return err_set(e, -EINVAL, "%s:1: no operations", r->file);
    if (list_steps(r) < 0 || list_operations(r) < 0)
        return err_nomem(e);
    return fill(r, e);
}

int op_trace_load(struct op_trace *ret, const char *file, const char *text, size_t len,
                  struct err *e)
{
    struct op_trace t = { .n_dp = 0 };
    struct reader r = { .t = &t, .file = file };
    int rc = read_all(&r, text, len, e);

    arena_done(&r.scratch);
    if (rc < 0) {
        op_trace_done(&t);
        return rc;
    }
    *ret = t;
    return 0;
}

void op_trace_done(struct op_trace *t)
{
    arena_done(&t->arena);
    *t = (struct op_trace){ .n_dp = 0 };
}
