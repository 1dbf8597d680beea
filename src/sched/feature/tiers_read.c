/* Sections [service] and [spot] of a policy, and what the three go with. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/ini.h"
#include "base/parse.h"
#include "model/job/job_spec.h"
#include "sched/policy/policy_value.h"
#include "sched/feature/service.h"
#include "sched/feature/tiers.h"

static const int64_t within_default_ms = 10000;
static const char amount_help[] = "a number of devices, or per cent of all: 64 or 12.5%";

static int take_class(struct policy_classes *c, const struct ini_entry *at, struct err *e)
{
    if (c->n == TIER_CLASSES)
        return err_set(e, -EINVAL, "%s:%d: [%s] has at most %d classes", at->file, at->line,
                       at->section, TIER_CLASSES);
    for (size_t i = 0; i < c->n; i++)
        if (!strcmp(c->names[i], at->value))
            return err_set(e, -EINVAL, "%s:%d: class %s stands twice in [%s]", at->file, at->line,
                           at->value, at->section);
    if (!*at->value || snprintf(c->names[c->n], TIER_NAME, "%s", at->value) >= TIER_NAME)
        return err_set(e, -EINVAL, "%s:%d: a class has a name of 1 to %d letters", at->file,
                       at->line, TIER_NAME - 1);
    c->n++;
    return 0;
}

static int take_amount(struct policy_devices *ret, const char *text, const struct ini_entry *at,
                       struct err *e)
{
    struct policy_devices d = { .of_all = false };
    size_t len = strlen(text);
    char number[24];

    if (len > 0 && len < sizeof(number)) {
        d.of_all = text[len - 1] == '%';
        memcpy(number, text, len + 1);
        number[len - d.of_all] = '\0';
        if (parse_double(number, &d.amount) == 0 && d.amount > 0 &&
            d.amount <= (d.of_all ? 100 : WORK_DEVICES) &&
            (d.of_all || d.amount == floor(d.amount))) {
            *ret = d;
            return 0;
        }
    }
    return err_set(e, -EINVAL, "%s:%d: %s = %s: %s", at->file, at->line, at->key, at->value,
                   amount_help);
}

static int take_flag(bool *ret, const struct ini_entry *at, struct err *e)
{
    *ret = !strcmp(at->value, "yes");
    if (*ret || !strcmp(at->value, "no"))
        return 0;
    return err_set(e, -EINVAL, "%s:%d: %s is yes or no", at->file, at->line, at->key);
}

/* "64" for all classes, or "chat 64" for one that was named before. */
static int take_reserve(struct policy_service *p, const struct ini_entry *at, struct err *e)
{
    const char *blank = strrchr(at->value, ' ');
    size_t owner = TIER_CLASSES, len = blank ? (size_t)(blank - at->value) : 0;
    int rc;

    while (len > 0 && at->value[len - 1] == ' ')
        len--;
    for (size_t i = 0; i < p->classes.n && len > 0; i++)
        if (strlen(p->classes.names[i]) == len && !strncmp(p->classes.names[i], at->value, len))
            owner = i;
    if (len > 0 && owner == TIER_CLASSES)
        return err_set(e, -EINVAL, "%s:%d: reserve = %s: no class of that name stands before it",
                       at->file, at->line, at->value);
    for (size_t i = 0; i < p->n_reserves; i++)
        if (p->owner[i] == owner || owner == TIER_CLASSES || p->owner[i] == TIER_CLASSES)
            return err_set(e, -EINVAL,
                           "%s:%d: one reserve for all classes of [service], or one for each",
                           at->file, at->line);
    rc = take_amount(&p->reserve[p->n_reserves], len ? blank + 1 : at->value, at, e);
    if (rc == 0)
        p->owner[p->n_reserves++] = owner;
    return rc;
}

int service_take(struct policy *policy, const struct ini_entry *at, struct err *e)
{
    struct policy_service *p = &policy->service;

    if (!p->said)
        p->within_ms = within_default_ms;
    p->said = true;
    if (!at->key)
        return 0;
    if (!strcmp(at->key, "class"))
        return take_class(&p->classes, at, e);
    if (!strcmp(at->key, "reserve"))
        return take_reserve(p, at, e);
    if (!strcmp(at->key, "preempt"))
        return take_flag(&p->preempt, at, e);
    if (!strcmp(at->key, "within"))
        return policy_duration(&p->within_ms, at, e);
    return err_set(e, -EINVAL, "%s:%d: unknown key '%s' in [service]", at->file, at->line, at->key);
}

int spot_take(struct policy *policy, const struct ini_entry *at, struct err *e)
{
    struct policy_spot *p = &policy->spot;

    if (!p->said)
        p->save_ms = -1;
    p->said = true;
    if (!at->key)
        return 0;
    if (!strcmp(at->key, "class"))
        return take_class(&p->classes, at, e);
    if (!strcmp(at->key, "ceiling"))
        return take_amount(&p->ceiling, at->value, at, e);
    if (!strcmp(at->key, "notice"))
        return policy_duration(&p->notice_ms, at, e);
    if (!strcmp(at->key, "save"))
        return policy_duration(&p->save_ms, at, e);
    return err_set(e, -EINVAL, "%s:%d: unknown key '%s' in [spot]", at->file, at->line, at->key);
}

static int check_classes(const struct policy *p, const char *file, struct err *e)
{
    if (p->service.said && p->service.classes.n == 0)
        return err_set(e, -EINVAL, "%s: [service] needs a class, such as class = chat", file);
    if (p->spot.said && p->spot.classes.n == 0)
        return err_set(e, -EINVAL, "%s: [spot] needs a class, such as class = spot", file);
    for (size_t i = 0; i < p->service.classes.n; i++)
        for (size_t k = 0; k < p->spot.classes.n; k++)
            if (!strcmp(p->service.classes.names[i], p->spot.classes.names[k]))
                return err_set(e, -EINVAL, "%s: class %s is in [service] and in [spot]", file,
                               p->service.classes.names[i]);
    return 0;
}

/* A share is of batch jobs. */
static int check_shares(const struct policy *p, const char *file, struct err *e)
{
    const struct policy_classes *both[] = { &p->service.classes, &p->spot.classes };

    for (size_t i = 0; i < p->quota.n && !p->quota.by_team; i++)
        for (size_t b = 0; b < ARRAY_SIZE(both); b++)
            for (size_t k = 0; k < both[b]->n; k++)
                if (!strcmp(p->quota.shares[i].name, both[b]->names[k]))
                    return err_set(e, -EINVAL,
                                   "%s: class %s is in [%s] and has a share: shares are of batch "
                                   "jobs",
                                   file, both[b]->names[k], b ? "spot" : "service");
    return 0;
}

int tiers_check(const struct policy *p, const char *file, struct err *e)
{
    int rc = check_classes(p, file, e);

    if (rc == 0)
        rc = check_shares(p, file, e);
    if (rc < 0 || (!p->service.said && !p->spot.said && !p->power.said))
        return rc;
    if (p->backfill == BACKFILL_CONSERVATIVE || p->preempt == PREEMPT_QUOTA ||
        p->preempt == PREEMPT_REBUILD)
        return err_set(e, -EINVAL,
                       "%s: [service], [spot] and [power] are for backfill = none, greedy or easy, "
                       "and preempt = none or victims",
                       file);
    if (p->share.below > 0)
        return err_set(e, -EINVAL, "%s: [service], [spot] and [power] do not go with [share]",
                       file);
    return 0;
}
