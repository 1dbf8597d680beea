/* Reads a policy: its own section here, those of features there. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/ini.h"
#include "base/parse.h"
#include "sched/feature_list.h"
#include "sched/interleave_period.h"
#include "sched/core/order.h"
#include "sched/place/place.h"
#include "sched/policy/policy.h"
#include "sched/policy/policy_value.h"

static const char *const backfills[] = { "none", "greedy", "easy", "conservative", NULL };
static const char *const preempts[] = { "none", "quota", "rebuild", "victims", NULL };
static const char *const ties[] = { "submitted", "waiting", "running", "list", NULL };
static const char *const kinds[] = { "fastest", "placed", NULL };
static const char *const lengths[] = { "none", "limit", "oracle", "history", "steps", NULL };

/* Limits of queues, from the first on: device time. */
static int take_queues(struct policy *p, const struct ini_entry *at, struct err *e)
{
    char text[512], *word, *rest = text;
    int64_t ns;

    if (snprintf(text, sizeof(text), "%s", at->value) >= (int)sizeof(text))
        return policy_bad(at, e, "too long");
    p->n_queues = 0;
    while ((word = strsep(&rest, " \t"))) {
        if (!*word)
            continue;
        if (p->n_queues == POLICY_QUEUES)
            return err_set(e, -EINVAL, "%s:%d: at most %d queues", at->file, at->line,
                           POLICY_QUEUES);
        if (parse_duration_ns(word, &ns) < 0 || ns < NS_PER_MS)
            return policy_bad(at, e, "limits are device times with blanks between them: 1h 10h");
        p->queue_ms[p->n_queues] = ns / NS_PER_MS;
        if (p->n_queues > 0 && p->queue_ms[p->n_queues - 1] >= ns / NS_PER_MS)
            return policy_bad(at, e, "each limit is above the one before");
        p->n_queues++;
    }
    return 0;
}

static int take_parts(struct policy *p, const struct ini_entry *at, struct err *e)
{
    char text[256];
    int len = 0;

    if (!strcmp(at->key, "order")) {
        p->order = order_named(at->value);
        for (size_t i = 0; order_name_at(i); i++)
            len += snprintf(text + len, sizeof(text) - (size_t)len, "%s%s", i ? ", " : "",
                            order_name_at(i));
    } else {
        p->place = place_named(at->value);
        for (size_t i = 0; place_name_at(i); i++)
            len += snprintf(text + len, sizeof(text) - (size_t)len, "%s%s", i ? ", " : "",
                            place_name_at(i));
    }
    if (!p->order || !p->place)
        return err_set(e, -EINVAL, "%s:%d: %s is one of %s", at->file, at->line, at->key, text);
    return 0;
}

static int take_times(struct policy *p, const struct ini_entry *at, struct err *e)
{
    const struct {
        const char *key;
        int64_t *ret;
    } times[] = {
        { "every", &p->every_ms },         { "notice", &p->notice_ms },
        { "restart", &p->restart_ms },     { "restart-multi", &p->restart_multi_ms },
        { "half-life", &p->half_life_ms }, { "least-run", &p->least_run_ms },
        { "ageing", &p->ageing_ms },
    };

    for (size_t i = 0; i < ARRAY_SIZE(times); i++)
        if (!strcmp(times[i].key, at->key))
            return policy_duration(times[i].ret, at, e);
    return err_set(e, -EINVAL, "%s:%d: unknown key '%s'", at->file, at->line, at->key);
}

static int take_interleave(struct policy *p, const struct ini_entry *at, struct err *e)
{
    uint64_t n;

    if (parse_u64(at->value, &n) < 0 || n < 1 || n > INTERLEAVE_JOBS)
        return err_set(e, -EINVAL, "%s:%d: interleave is 1 to %d jobs on the same devices",
                       at->file, at->line, INTERLEAVE_JOBS);
    p->interleave = (int)n;
    return 0;
}

static int take_word(struct policy *p, const struct ini_entry *at, struct err *e)
{
    unsigned word = 0;
    int rc;

    if (!strcmp(at->key, "backfill")) {
        rc = policy_choose(&word, backfills, at, e);
        p->backfill = word;
    } else if (!strcmp(at->key, "preempt")) {
        rc = policy_choose(&word, preempts, at, e);
        p->preempt = word;
    } else if (!strcmp(at->key, "kinds")) {
        rc = policy_choose(&word, kinds, at, e);
        p->kinds = word;
    } else if (!strcmp(at->key, "ties")) {
        rc = policy_choose(&word, ties, at, e);
        p->ties = word;
    } else if (!strcmp(at->key, "length")) {
        rc = policy_choose(&word, lengths, at, e);
        p->length = word;
    } else {
        rc = take_times(p, at, e);
    }
    return rc;
}

static int take_policy(struct policy *p, const struct ini_entry *at, struct err *e)
{
    if (!strcmp(at->key, "name")) {
        if (snprintf(p->name, sizeof(p->name), "%s", at->value) >= (int)sizeof(p->name))
            return policy_bad(at, e, "too long");
        return 0;
    }
    if (!strcmp(at->key, "order") || !strcmp(at->key, "place"))
        return take_parts(p, at, e);
    if (!strcmp(at->key, "queues"))
        return take_queues(p, at, e);
    if (!strcmp(at->key, "interleave"))
        return take_interleave(p, at, e);
    if (!strcmp(at->key, "priorities"))
        return policy_flag(&p->priorities, at, e);
    if (!strcmp(at->key, "restart-adds"))
        return policy_flag(&p->restart_adds, at, e);
    if (!strcmp(at->key, "restart-each-pass"))
        return policy_flag(&p->restart_each_pass, at, e);
    return take_word(p, at, e);
}

static int take(void *ctx, const struct ini_entry *at, struct err *e)
{
    struct policy *p = ctx;

    if (!strcmp(at->section, "policy"))
        return at->key ? take_policy(p, at, e) : 0;
    for (size_t i = 0; features[i]; i++)
        if (features[i]->section && !strcmp(at->section, features[i]->section))
            return features[i]->take(p, at, e);
    return err_set(e, -EINVAL,
                   "%s:%d: unknown section [%s]: a policy has [policy], [quota], [idle], [share], "
                   "[elastic], [service], [spot], [power]",
                   at->file, at->line, at->section);
}

static int check_parts(const struct policy *p, const char *file, struct err *e)
{
    if (p->interleave > 1 && (p->preempt != PREEMPT_REBUILD || p->quota.n > 0 ||
                              (p->order != order_named("srsf") && p->order != order_named("las"))))
        return err_set(e, -EINVAL,
                       "%s: interleave needs preempt = rebuild, order = srsf or las, no [quota]",
                       file);
    if (p->interleave > 1 && p->ageing_ms > 0)
        return err_set(e, -EINVAL, "%s: interleave has no ageing", file);
    if (p->interleave > 1 && p->place->scores)
        return err_set(e, -EINVAL, "%s: interleave does not go with place = %s", file,
                       p->place->name);
    if (p->preempt != PREEMPT_NONE && p->backfill != BACKFILL_NONE)
        return err_set(e, -EINVAL, "%s: backfill is for policies that do not preempt", file);
    if (p->preempt != PREEMPT_NONE && p->order->needs_users)
        return err_set(e, -EINVAL, "%s: order = %s does not preempt", file, p->order->name);
    if (p->preempt == PREEMPT_NONE && (p->order->keeps_ms || p->order->falls))
        return err_set(e, -EINVAL, "%s: order = %s is for policies that preempt", file,
                       p->order->name);
    if (p->length == LENGTH_HISTORY && p->preempt == PREEMPT_REBUILD)
        return err_set(e, -EINVAL, "%s: length = history is for policies that let jobs run on",
                       file);
    if (p->order->needs_length && p->length == LENGTH_NONE)
        return err_set(e, -EINVAL, "%s: order = %s needs length = limit, steps, oracle or history",
                       file, p->order->name);
    if (p->order->keeps_ms && p->n_queues == 0)
        return err_set(e, -EINVAL, "%s: order = %s needs queues, such as queues = 1h 10h", file,
                       p->order->name);
    return 0;
}

int policy_check(const struct policy *p, const char *file, struct err *e)
{
    int rc = check_parts(p, file, e);

    for (size_t i = 0; features[i] && rc == 0; i++)
        rc = features[i]->check ? features[i]->check(p, file, e) : 0;
    return rc;
}

int policy_read(struct policy *ret, const char *file, const char *text, size_t len, struct err *e)
{
    struct policy p = { .order = order_named("fifo"), .place = place_named("consolidate") };

    const char *slash = strrchr(file, '/');
    int rc;

    p.restart_multi_ms = -1;
    snprintf(p.name, sizeof(p.name), "%s", slash ? slash + 1 : file);
    rc = ini_parse(file, text, len, take, &p, e);
    if (p.restart_multi_ms < 0)
        p.restart_multi_ms = p.restart_ms;
    if (rc == 0)
        rc = policy_check(&p, file, e);
    if (rc == 0)
        *ret = p;
    return rc;
}
