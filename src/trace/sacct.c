#include "trace/sacct.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"

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
    { "Start", SACCT_START },
    { "Elapsed", SACCT_ELAPSED },
    { "ElapsedRaw", SACCT_ELAPSED_RAW },
    { "Timelimit", SACCT_LIMIT },
    { "TimelimitRaw", SACCT_LIMIT_RAW },
    { "AllocTRES", SACCT_ALLOCATED },
    { "ReqTRES", SACCT_ASKED },
    { "NNodes", SACCT_NODES },
    { "AllocNodes", SACCT_NODES },
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
    while ((word = strsep(&rest, "|"))) {
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

void sacct_init(struct sacct *t, const char *text, size_t len)
{
    t->next = text;
    t->end = text + len;
    t->line = 0;
    for (int i = 0; i < SACCT_COLUMNS; i++)
        t->at[i] = -1;
    if (sacct_next(t) <= 0)
        return;
    for (int i = 0; i < t->n; i++)
        for (size_t k = 0; k < ARRAY_SIZE(names); k++)
            if (!strcmp(t->fields[i], names[k].name))
                t->at[names[k].column] = i;
}

const char *sacct_field(const struct sacct *t, enum sacct_column c)
{
    return t->at[c] < 0 || t->at[c] >= t->n ? "" : t->fields[t->at[c]];
}

bool sacct_has(const struct sacct *t, enum sacct_column c)
{
    return t->at[c] >= 0;
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

/* The number behind "gres/gpu=" in a list of trackable resources; 0 when it has none. */
static int32_t count_gpus(const char *tres)
{
    const char *at = strstr(tres, "gres/gpu=");
    uint64_t n;

    if (!at || parse_digits(at + strlen("gres/gpu="), 10, 7, &n) == 0)
        return 0;
    return (int32_t)n;
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
