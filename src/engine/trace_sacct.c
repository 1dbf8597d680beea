/* A site's own accounting: sacct --parsable2 --allusers --format=JobIDRaw,User,Account,Partition,
 * Submit,ElapsedRaw,TimelimitRaw,AllocTRES,NNodes. Steps and jobs without devices are skipped. */
#include <errno.h>
#include <string.h>

#include "base/parse.h"
#include "engine/reader.h"

enum { FIELDS = 64, LINE = 8192 };
enum column {
    ID,
    USER,
    ACCOUNT,
    PARTITION,
    SUBMIT,
    ELAPSED,
    ELAPSED_RAW,
    LIMIT,
    LIMIT_RAW,
    ALLOCATED,
    ASKED,
    NODES,
    COLUMNS
};

static const struct {
    const char *name;
    enum column column;
} names[] = {
    { "JobID", ID },
    { "JobIDRaw", ID },
    { "User", USER },
    { "Account", ACCOUNT },
    { "Partition", PARTITION },
    { "Submit", SUBMIT },
    { "Elapsed", ELAPSED },
    { "ElapsedRaw", ELAPSED_RAW },
    { "Timelimit", LIMIT },
    { "TimelimitRaw", LIMIT_RAW },
    { "AllocTRES", ALLOCATED },
    { "ReqTRES", ASKED },
    { "NNodes", NODES },
    { "AllocNodes", NODES },
};

struct table {
    int at[COLUMNS];
    int n;
    char *fields[FIELDS];
};

static bool is_sacct(const char *first)
{
    return strchr(first, '|') && strstr(first, "JobID");
}

static int split(char *line, struct table *t)
{
    char *word, *rest = line;

    t->n = 0;
    while ((word = strsep(&rest, "|"))) {
        if (t->n == FIELDS)
            return -E2BIG;
        t->fields[t->n++] = word;
    }
    return 0;
}

static const char *field(const struct table *t, enum column c)
{
    return t->at[c] < 0 || t->at[c] >= t->n ? "" : t->fields[t->at[c]];
}

/* "[DD-[HH:]]MM:SS" in milliseconds; -EINVAL. */
static int duration(const char *text, int64_t *ret)
{
    const char *dash = strchr(text, '-');
    uint64_t days = 0, n, total = 0;
    int digits;

    if (dash) {
        digits = parse_digits(text, 10, 6, &days);
        if (digits == 0 || text + digits != dash)
            return -EINVAL;
        text = dash + 1;
    }
    for (;;) {
        digits = parse_digits(text, 10, 4, &n);
        if (digits == 0)
            return -EINVAL;
        total = total * 60 + n;
        text += digits;
        if (*text != ':')
            break;
        text++;
    }
    if (*text && *text != '.')
        return -EINVAL;
    *ret = (int64_t)(days * 86400 + total) * 1000;
    return 0;
}

/* The number behind "gres/gpu=" in a list of trackable resources; 0 when it has none. */
static int32_t gpus(const char *tres)
{
    const char *at = strstr(tres, "gres/gpu=");
    uint64_t n;

    if (!at || parse_digits(at + strlen("gres/gpu="), 10, 7, &n) == 0)
        return 0;
    return (int32_t)n;
}

static int times(const struct table *t, struct work *w)
{
    int64_t submit;
    uint64_t raw;

    if (reader_date(field(t, SUBMIT), &submit) < 0)
        return -EINVAL;
    w->submit_ms = submit * 1000;
    if (*field(t, LIMIT_RAW) && parse_u64(field(t, LIMIT_RAW), &raw) == 0 && raw < UINT32_MAX)
        w->limit_ms = (int64_t)raw * 60000;
    else if (*field(t, LIMIT) && duration(field(t, LIMIT), &w->limit_ms) < 0)
        w->limit_ms = WORK_UNKNOWN;
    if (*field(t, ELAPSED_RAW)) {
        if (parse_u64(field(t, ELAPSED_RAW), &raw) < 0 || raw > UINT32_MAX)
            return -EINVAL;
        w->length_ms = (int64_t)raw * 1000;
        return 0;
    }
    return duration(field(t, ELAPSED), &w->length_ms);
}

static int take_row(struct reader *r, const struct table *t)
{
    struct work w = reader_empty();
    uint64_t nodes;

    w.devices = gpus(field(t, ALLOCATED));
    if (w.devices == 0)
        w.devices = gpus(field(t, ASKED));
    if (w.devices == 0 || strchr(field(t, ID), '.')) {
        r->notes->skipped++;
        return 0;
    }
    if (times(t, &w) < 0)
        return reader_bad(r, "no times of submission or of what it took");
    if (parse_u64(field(t, NODES), &nodes) == 0 && nodes > 1 && (uint64_t)w.devices % nodes == 0)
        w.per_node = (int32_t)((uint64_t)w.devices / nodes);
    if (reader_group(r, &r->work->users, field(t, USER), &w.user) < 0 ||
        reader_group(r, &r->work->teams, field(t, ACCOUNT), &w.team) < 0 ||
        reader_group(r, &r->work->classes, field(t, PARTITION), &w.class) < 0)
        return -ENOMEM;
    return reader_add(r, &w, field(t, ID));
}

static void find_columns(struct table *t)
{
    for (int i = 0; i < COLUMNS; i++)
        t->at[i] = -1;
    for (int i = 0; i < t->n; i++)
        for (size_t k = 0; k < ARRAY_SIZE(names); k++)
            if (!strcmp(t->fields[i], names[k].name))
                t->at[names[k].column] = i;
}

static int check(const struct reader *r, const struct table *t, struct err *e)
{
    if (t->at[SUBMIT] >= 0 && (t->at[ELAPSED] >= 0 || t->at[ELAPSED_RAW] >= 0) &&
        (t->at[ALLOCATED] >= 0 || t->at[ASKED] >= 0))
        return 0;
    return err_set(e, -EINVAL, "%s: sacct must print JobIDRaw,Submit,ElapsedRaw,AllocTRES at least",
                   r->file);
}

static int read_sacct(struct reader *r, const char *text, size_t len, struct err *e)
{
    const char *end = text + len;
    struct table t = { .n = 0 };
    bool header = true;
    char line[LINE];

    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        size_t n = (size_t)((newline ? newline : end) - text);
        int rc = 0;

        r->line++;
        snprintf(line, MIN(sizeof(line), n + 1), "%s", n < sizeof(line) ? text : "");
        if (n >= sizeof(line) || split(line, &t) < 0) {
            rc = reader_bad(r, "too long");
        } else if (header) {
            find_columns(&t);
            rc = check(r, &t, e);
            header = false;
        } else if (n > 0) {
            rc = take_row(r, &t);
        }
        if (rc < 0)
            return rc;
        text += n + (newline != NULL);
    }
    return 0;
}

const struct reader_ops reader_sacct = { "sacct", is_sacct, read_sacct };
