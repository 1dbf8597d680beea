#include "trace/sacct.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "trace/reader.h"

static const struct {
    const char *name;
    enum sacct_column column;
} names[] = {
    { "JobID", SACCT_ID },
    { "JobIDRaw", SACCT_ID },
    { "User", SACCT_USER },
    { "Account", SACCT_ACCOUNT },
    { "Partition", SACCT_PARTITION },
    { "WCKey", SACCT_KEY },
    { "Submit", SACCT_SUBMIT },
    { "Eligible", SACCT_ELIGIBLE },
    { "Start", SACCT_START },
    { "End", SACCT_END },
    { "Elapsed", SACCT_ELAPSED },
    { "ElapsedRaw", SACCT_ELAPSED_RAW },
    { "Timelimit", SACCT_LIMIT },
    { "TimelimitRaw", SACCT_LIMIT_RAW },
    { "AllocTRES", SACCT_ALLOCATED },
    { "ReqTRES", SACCT_ASKED },
    { "NNodes", SACCT_NODES },
    { "AllocNodes", SACCT_NODES },
    { "NodeList", SACCT_NODE_LIST },
    { "State", SACCT_STATE },
    { "ConsumedEnergyRaw", SACCT_ENERGY },
    { "TRESUsageInAve", SACCT_USAGE },
};

bool sacct_is(const char *first)
{
    return strchr(first, '|') && strstr(first, "JobID");
}

static int split(char *line, struct sacct *t)
{
    char *word, *rest = line;

    t->n = 0;
    while ((word = strsep(&rest, t->between))) {
        if (t->n == SACCT_FIELDS)
            return -E2BIG;
        t->fields[t->n++] = word;
    }
    return 0;
}

int sacct_next(struct sacct *t)
{
    while (t->next < t->end) {
        const char *text = t->next, *newline = memchr(text, '\n', (size_t)(t->end - text));
        size_t n = (size_t)((newline ? newline : t->end) - text);

        t->line++;
        t->next += n + (newline != NULL);
        if (n == 0)
            continue;
        if (n >= sizeof(t->text))
            return -E2BIG;
        memcpy(t->text, text, n);
        t->text[n] = '\0';
        return split(t->text, t) < 0 ? -E2BIG : 1;
    }
    return 0;
}

/* Which column is where. */
static void find_columns(struct sacct *t)
{
    for (int i = 0; i < t->n; i++)
        for (size_t k = 0; k < ARRAY_SIZE(names); k++)
            if (!strcmp(t->fields[i], names[k].name))
                t->at[names[k].column] = i;
}

static void forget(struct sacct *t)
{
    t->line = 0;
    t->between[0] = '|';
    t->between[1] = '\0';
    for (int i = 0; i < SACCT_COLUMNS; i++)
        t->at[i] = -1;
}

void sacct_init(struct sacct *t, const char *text, size_t len)
{
    t->next = text;
    t->end = text + len;
    forget(t);
    if (sacct_next(t) > 0)
        find_columns(t);
}

int sacct_header(struct sacct *t, char *line)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    size_t len = strspn(line, letters);
    int rc;

    forget(t);
    if (line[len])
        t->between[0] = line[len];
    t->line = 1;
    rc = split(line, t);
    find_columns(t);
    return rc;
}

int sacct_row(struct sacct *t, char *line)
{
    t->line++;
    return split(line, t);
}

const char *sacct_field(const struct sacct *t, enum sacct_column c)
{
    return t->at[c] < 0 || t->at[c] >= t->n ? "" : t->fields[t->at[c]];
}

bool sacct_has(const struct sacct *t, enum sacct_column c)
{
    return t->at[c] >= 0;
}

int sacct_time(const char *text, int64_t *ret)
{
    uint64_t s;

    if (reader_date(text, ret) == 0)
        return 0;
    if (parse_u64(text, &s) < 0 || s > INT32_MAX * INT64_C(100))
        return -EINVAL;
    *ret = (int64_t)s;
    return 0;
}

int sacct_duration(const char *text, int64_t *ret)
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

void sacct_kind(const char *tres, char ret[SACCT_KIND])
{
    static const char start[] = "gres/gpu:";
    const char *at = strstr(tres, start);
    size_t len = at ? strcspn(at + sizeof(start) - 1, "=,") : 0;

    snprintf(ret, SACCT_KIND, "%.*s", (int)MIN(len, (size_t)SACCT_KIND - 1),
             at ? at + sizeof(start) - 1 : "");
}

/* The number in a list of resources behind "gres/gpu=", or those behind "gres/gpu:h100=" and the
 * like where only types are counted; 0 when it has none. */
static int32_t count_gpus(const char *tres)
{
    static const char start[] = "gres/gpu";
    const char *at = strstr(tres, "gres/gpu=");
    uint64_t n, sum = 0;

    if (at)
        return parse_digits(at + strlen("gres/gpu="), 10, 7, &n) ? (int32_t)n : 0;
    for (at = strstr(tres, start); at; at = strstr(at, start)) {
        at += strlen(start);
        if (*at == ':' && at[strcspn(at, "=,")] == '=' &&
            parse_digits(at + strcspn(at, "=,") + 1, 10, 7, &n))
            sum += n;
    }
    return (int32_t)MIN(sum, (uint64_t)INT32_MAX);
}

int32_t sacct_gpus(const struct sacct *t)
{
    int32_t n = count_gpus(sacct_field(t, SACCT_ALLOCATED));

    return n ? n : count_gpus(sacct_field(t, SACCT_ASKED));
}

int sacct_elapsed(const struct sacct *t, int64_t *ret)
{
    uint64_t raw;

    if (!*sacct_field(t, SACCT_ELAPSED_RAW))
        return sacct_duration(sacct_field(t, SACCT_ELAPSED), ret);
    if (parse_u64(sacct_field(t, SACCT_ELAPSED_RAW), &raw) < 0 || raw > UINT32_MAX)
        return -EINVAL;
    *ret = (int64_t)raw * 1000;
    return 0;
}
