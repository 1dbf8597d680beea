/* [quota] of a policy's file. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/ini.h"
#include "base/parse.h"
#include "model/job/job_spec.h"
#include "sched/policy/policy.h"
#include "sched/feature/quota.h"

/* "vision 64" or "vision 12.5%". */
static int take_share(struct policy_quota *q, const struct ini_entry *at, struct err *e)
{
    const char *last = strrchr(at->value, ' ');
    struct policy_share *share = &q->shares[q->n];
    size_t len = last ? (size_t)(last - at->value) : 0;
    char amount[24];
    double sum = 0;

    if (q->n == POLICY_SHARES)
        return err_set(e, -EINVAL, "%s:%d: at most %d shares", at->file, at->line, POLICY_SHARES);
    while (len > 0 && at->value[len - 1] == ' ')
        len--;
    if (len == 0 || !last[1] || len >= sizeof(share->name) ||
        snprintf(amount, sizeof(amount), "%s", last + 1) >= (int)sizeof(amount))
        return err_set(e, -EINVAL, "%s:%d: a share is a name and devices, or per cent: vision 64",
                       at->file, at->line);
    share->of_all = amount[strlen(amount) - 1] == '%';
    if (share->of_all)
        amount[strlen(amount) - 1] = '\0';
    if (parse_double(amount, &share->amount) < 0 || !(share->amount >= 0) ||
        share->amount > (share->of_all ? 100 : WORK_DEVICES) ||
        (!share->of_all && share->amount != (double)(int)share->amount))
        return err_set(e, -EINVAL, "%s:%d: '%s' is no number of devices, and no 0%% to 100%%",
                       at->file, at->line, last + 1);
    snprintf(share->name, sizeof(share->name), "%.*s", (int)len, at->value);
    for (size_t i = 0; i < q->n; i++)
        if (!strcmp(q->shares[i].name, share->name))
            return err_set(e, -EINVAL, "%s:%d: %s has a share already", at->file, at->line,
                           share->name);
    q->n++;
    for (size_t i = 0; i < q->n; i++)
        sum += q->shares[i].of_all ? q->shares[i].amount : 0;
    if (sum > 100 + 1e-6)
        return err_set(e, -EINVAL, "%s:%d: the shares are more than 100%%", at->file, at->line);
    return 0;
}

int quota_take(struct policy *policy, const struct ini_entry *at, struct err *e)
{
    struct policy_quota *q = &policy->quota;

    if (!at->key)
        return 0;
    if (!strcmp(at->key, "share"))
        return take_share(q, at, e);
    if (!strcmp(at->key, "borrow")) {
        q->borrow = !strcmp(at->value, "yes");
        if (q->borrow || !strcmp(at->value, "no"))
            return 0;
        return err_set(e, -EINVAL, "%s:%d: borrow is yes or no", at->file, at->line);
    }
    if (!strcmp(at->key, "by")) {
        q->by_team = !strcmp(at->value, "team");
        if (q->by_team || !strcmp(at->value, "class"))
            return 0;
        return err_set(e, -EINVAL, "%s:%d: by is class or team", at->file, at->line);
    }
    return err_set(e, -EINVAL, "%s:%d: unknown key '%s' in [quota]", at->file, at->line, at->key);
}

int quota_check(const struct policy *p, const char *file, struct err *e)
{
    if (p->quota.n > 0 && (p->backfill >= BACKFILL_EASY || p->preempt == PREEMPT_QUOTA ||
                           p->preempt == PREEMPT_REBUILD))
        return err_set(
            e, -EINVAL,
            "%s: [quota] is for backfill = none or greedy, and preempt = none or victims", file);
    if (p->quota.n == 0 && p->quota.borrow)
        return err_set(e, -EINVAL, "%s: [quota] needs shares, such as share = vision 64", file);
    return 0;
}
