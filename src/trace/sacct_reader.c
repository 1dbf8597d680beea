/* A site's own accounting: sacct --parsable2 --allusers --format=JobIDRaw,User,Account,Partition,
 * Submit,ElapsedRaw,TimelimitRaw,AllocTRES,NNodes. Steps and jobs without devices are skipped. */
#include <errno.h>
#include <string.h>

#include "base/parse.h"
#include "trace/sacct.h"
#include "trace/reader.h"

static int times(const struct sacct *t, struct work *w)
{
    int64_t submit;
    uint64_t raw;

    if (sacct_time(sacct_field(t, SACCT_SUBMIT), &submit) < 0)
        return -EINVAL;
    w->submit_ms = submit * 1000;
    if (*sacct_field(t, SACCT_LIMIT_RAW) && parse_u64(sacct_field(t, SACCT_LIMIT_RAW), &raw) == 0 &&
        raw < UINT32_MAX)
        w->limit_ms = (int64_t)raw * 60000;
    else if (*sacct_field(t, SACCT_LIMIT) &&
             sacct_duration(sacct_field(t, SACCT_LIMIT), &w->limit_ms) < 0)
        w->limit_ms = WORK_UNKNOWN;
    return sacct_elapsed(t, &w->length_ms);
}

static int take_row(struct reader *r, const struct sacct *t)
{
    struct work w = reader_empty();
    uint64_t nodes;

    w.devices = sacct_gpus(t);
    if (w.devices == 0 || strchr(sacct_field(t, SACCT_ID), '.')) {
        r->notes->skipped++;
        return 0;
    }
    if (times(t, &w) < 0)
        return reader_bad(r, "no times of submission or of what it took");
    if (parse_u64(sacct_field(t, SACCT_NODES), &nodes) == 0 && nodes > 1 &&
        (uint64_t)w.devices % nodes == 0)
        w.per_node = (int32_t)((uint64_t)w.devices / nodes);
    if (reader_group(r, &r->work->users, sacct_field(t, SACCT_USER), &w.user) < 0 ||
        reader_group(r, &r->work->teams, sacct_field(t, SACCT_ACCOUNT), &w.team) < 0 ||
        reader_group(r, &r->work->classes, sacct_field(t, SACCT_PARTITION), &w.class) < 0)
        return -ENOMEM;
    return reader_add(r, &w, sacct_field(t, SACCT_ID));
}

static int check(const struct reader *r, const struct sacct *t, struct err *e)
{
    if (sacct_has(t, SACCT_SUBMIT) &&
        (sacct_has(t, SACCT_ELAPSED) || sacct_has(t, SACCT_ELAPSED_RAW)) &&
        (sacct_has(t, SACCT_ALLOCATED) || sacct_has(t, SACCT_ASKED)))
        return 0;
    return err_set(e, -EINVAL, "%s: sacct must print JobIDRaw,Submit,ElapsedRaw,AllocTRES at least",
                   r->file);
}

static int read_sacct(struct reader *r, const char *text, size_t len, struct err *e)
{
    struct sacct t;
    int rc;

    sacct_init(&t, text, len);
    rc = check(r, &t, e);
    while (rc == 0) {
        int got = sacct_next(&t);

        if (got == 0)
            break;
        r->line = t.line;
        rc = got < 0 ? reader_bad(r, "too long") : take_row(r, &t);
    }
    return rc;
}

const struct reader_ops reader_sacct = { "sacct", sacct_is, read_sacct };
