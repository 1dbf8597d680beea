#include "sched/policy.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/ini.h"
#include "base/opt.h"
#include "base/parse.h"
#include "sched/feature.h"
#include "sched/order.h"
#include "sched/place.h"
#include "sched/interleave_period.h"

static const int64_t time_max_ns = 365 * 86400 * NS_PER_S;

static const char *const backfills[] = { "none", "greedy", "easy", "conservative", NULL };
static const char *const preempts[] = { "none", "quota", "rebuild", "victims", NULL };
static const char *const ties[] = { "submitted", "waiting", "running", "list", NULL };
static const char *const kinds[] = { "fastest", "placed", NULL };
static const char *const lengths[] = { "none", "limit", "oracle", "history", "steps", NULL };

/* ---- what the program knows ---- */

struct known {
    const char *name, *about, *text;
};

/* The sources of those that repeat a published simulator are in docs/sim.md; tiresias lets a job
 * fall when it has had more than 18,000 s. */
static const struct known known[] = {
    { "fifo", "in the order of submission; nobody overtakes", "order = fifo\n" },
    { "sjf", "the shortest first, with true lengths; nobody overtakes",
      "order = sjf\nlength = oracle\n" },
    { "greedy", "in the order of submission; whatever fits starts",
      "order = fifo\nbackfill = greedy\n" },
    { "priority", "by priority, which may stop lower ones; whatever fits starts",
      "order = fifo\npriorities = yes\npreempt = victims\n" },
    { "queue", "by priority, with EASY backfill by the limits that users asked for",
      "order = fifo\npriorities = yes\nbackfill = easy\nlength = limit\n" },
    { "easy", "in the order of submission, with EASY backfill by true lengths",
      "order = fifo\nbackfill = easy\nlength = oracle\n" },
    { "easy-limit", "the same by the limits that users asked for",
      "order = fifo\nbackfill = easy\nlength = limit\n" },
    { "conservative", "conservative backfill by true lengths",
      "order = fifo\nbackfill = conservative\nlength = oracle\n" },
    { "fair", "the user first who has had the least in the last days; whatever fits starts",
      "order = fair\nbackfill = greedy\nhalf-life = 7d\n" },
    { "srtf", "the least time left first, with true lengths; preempts",
      "order = srtf\npreempt = quota\nlength = oracle\nties = waiting\nevery = 1s\nnotice = 1s\n"
      "restart = 40s\nrestart-multi = 60s\n" },
    { "srtf-history", "the least time left first, by what jobs took that were like it; preempts",
      "order = srtf\npreempt = victims\nlength = history\nrestart = 40s\nrestart-multi = 60s\n" },
    { "tiresias", "two queues by the device time that jobs have had; preempts each minute",
      "order = las\nqueues = 18000001ms\npreempt = quota\nties = running\nevery = 60s\nnotice = "
      "1s\n"
      "restart = 40s\nrestart-multi = 60s\n" },
    { "las",
      "four queues by the device time that jobs have had; preempts by need, knows no lengths",
      "order = las\nqueues = 1h 10h 100h\npreempt = victims\nrestart = 40s\n"
      "restart-multi = 60s\n" },
    { "deadline", "the earliest deadline first; preempts by need, knows no lengths",
      "order = deadline\npreempt = victims\nrestart = 40s\nrestart-multi = 60s\n" },
    { "topology", "whatever fits starts, on the fewest NVLink domains, racks and leaves",
      "order = fifo\nbackfill = greedy\nplace = topology\n" },
    { "best-fit", "whatever fits starts, on the node that has the least left over",
      "order = fifo\nbackfill = greedy\nplace = best-fit\n" },
    { "fgd", "whatever fits starts, on the node whose fragments grow least",
      "order = fifo\nbackfill = greedy\nplace = fgd\n" },
    { "balance", "the same, and devices are kept where there are CPUs for them",
      "order = fifo\nbackfill = greedy\nplace = balance\n" },
    { "interleave", "up to four jobs share devices by turns: those that let the most end soon",
      "order = srsf\npreempt = rebuild\nlength = oracle\ninterleave = 4\n" },
    { "interleave-steps",
      "the same where jobs declare their steps; the first of a kind runs alone for a minute",
      "order = srsf\npreempt = rebuild\nlength = steps\ninterleave = 4\n" },
    { "interleave-las", "the same without true lengths: who ran for long is expected to run on",
      "order = las\nqueues = 6h\npreempt = rebuild\ninterleave = 4\n" },
    { "srsf", "the least device time left first, with true lengths; preempts by need each minute",
      "order = srsf\npreempt = victims\nlength = oracle\nevery = 60s\nrestart = 40s\n"
      "restart-multi = 60s\n" },
    { "srsf-steps", "the same where jobs declare their steps; each runs first until one is seen",
      "order = srsf\npreempt = victims\nlength = steps\nevery = 60s\nrestart = 40s\n"
      "restart-multi = 60s\n" },
    { "rebuild-srtf", "the least time left first; each pass places all anew",
      "order = srtf\nplace = first\npreempt = rebuild\nlength = oracle\nties = list\n"
      "restart = 10s\nrestart-each-pass = yes\n" },
    { "rebuild-srsf", "the least device time left first; each pass places all anew",
      "order = srsf\nplace = first\npreempt = rebuild\nlength = oracle\nties = list\n"
      "restart = 10s\nrestart-each-pass = yes\n" },
    { "rebuild-tiresias", "three queues by device time; each pass restarts all",
      "order = las\nqueues = 3250s 7200s\nplace = scatter\npreempt = quota\nties = list\n"
      "restart = 10s\nrestart-each-pass = yes\n" },
};

const char *policy_name_at(size_t i)
{
    return i < ARRAY_SIZE(known) ? known[i].name : NULL;
}

const char *policy_about(size_t i)
{
    return known[i].about;
}

/* ---- reading ---- */

static int bad(const struct ini_entry *at, struct err *e, const char *what)
{
    return err_set(e, -EINVAL, "%s:%d: %s = %s: %s", at->file, at->line, at->key, at->value, what);
}

static int choose(unsigned *ret, const char *const *words, const struct ini_entry *at,
                  struct err *e)
{
    char text[128];
    int len = 0;

    for (unsigned i = 0; words[i]; i++) {
        if (!strcmp(words[i], at->value)) {
            *ret = i;
            return 0;
        }
        len += snprintf(text + len, sizeof(text) - (size_t)len, "%s%s", i ? ", " : "", words[i]);
    }
    return err_set(e, -EINVAL, "%s:%d: %s is one of %s", at->file, at->line, at->key, text);
}

int policy_duration(int64_t *ret, const struct ini_entry *at, struct err *e)
{
    int64_t ns;

    if (parse_duration_ns(at->value, &ns) < 0 || ns < 0 || ns > time_max_ns ||
        (ns > 0 && ns < NS_PER_MS))
        return bad(at, e, "a time is a whole number and ms, s, m, h or d, a year at most");
    *ret = ns / NS_PER_MS;
    return 0;
}

static int take_flag(bool *ret, const struct ini_entry *at, struct err *e)
{
    if (strcmp(at->value, "yes") != 0 && strcmp(at->value, "no") != 0)
        return bad(at, e, "yes or no");
    *ret = !strcmp(at->value, "yes");
    return 0;
}

/* Limits of queues, from the first on: device time. */
static int take_queues(struct policy *p, const struct ini_entry *at, struct err *e)
{
    char text[512], *word, *rest = text;
    int64_t ns;

    if (snprintf(text, sizeof(text), "%s", at->value) >= (int)sizeof(text))
        return bad(at, e, "too long");
    p->n_queues = 0;
    while ((word = strsep(&rest, " \t"))) {
        if (!*word)
            continue;
        if (p->n_queues == POLICY_QUEUES)
            return err_set(e, -EINVAL, "%s:%d: at most %d queues", at->file, at->line,
                           POLICY_QUEUES);
        if (parse_duration_ns(word, &ns) < 0 || ns < NS_PER_MS)
            return bad(at, e, "limits are device times with blanks between them: 1h 10h");
        p->queue_ms[p->n_queues] = ns / NS_PER_MS;
        if (p->n_queues > 0 && p->queue_ms[p->n_queues - 1] >= ns / NS_PER_MS)
            return bad(at, e, "each limit is above the one before");
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
        rc = choose(&word, backfills, at, e);
        p->backfill = word;
    } else if (!strcmp(at->key, "preempt")) {
        rc = choose(&word, preempts, at, e);
        p->preempt = word;
    } else if (!strcmp(at->key, "kinds")) {
        rc = choose(&word, kinds, at, e);
        p->kinds = word;
    } else if (!strcmp(at->key, "ties")) {
        rc = choose(&word, ties, at, e);
        p->ties = word;
    } else if (!strcmp(at->key, "length")) {
        rc = choose(&word, lengths, at, e);
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
            return bad(at, e, "too long");
        return 0;
    }
    if (!strcmp(at->key, "order") || !strcmp(at->key, "place"))
        return take_parts(p, at, e);
    if (!strcmp(at->key, "queues"))
        return take_queues(p, at, e);
    if (!strcmp(at->key, "interleave"))
        return take_interleave(p, at, e);
    if (!strcmp(at->key, "priorities"))
        return take_flag(&p->priorities, at, e);
    if (!strcmp(at->key, "restart-each-pass"))
        return take_flag(&p->restart_each_pass, at, e);
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

static int check(const struct policy *p, const char *file, struct err *e)
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
        rc = check(&p, file, e);
    for (size_t i = 0; features[i] && rc == 0; i++)
        rc = features[i]->check ? features[i]->check(&p, file, e) : 0;
    if (rc == 0)
        *ret = p;
    return rc;
}

static const char *name_at(const void *ctx, size_t i)
{
    (void)ctx;
    return policy_name_at(i);
}

int policy_named(struct policy *ret, const char *name, struct err *e)
{
    char text[512];

    for (size_t i = 0; i < ARRAY_SIZE(known); i++)
        if (!strcmp(known[i].name, name)) {
            snprintf(text, sizeof(text), "[policy]\nname = %s\n%s", name, known[i].text);
            return policy_read(ret, name, text, strlen(text), e);
        }
    name = opt_nearest(name, ARRAY_SIZE(known), name_at, NULL);
    return err_set(e, -ENOENT, "no such policy%s%s%s: brim sim --policies lists them",
                   name ? " (did you mean " : "", name ? name : "", name ? "?)" : "");
}
