#include "cmd/sim/accounts.h"

#include <string.h>
#include <time.h>

#include "base/parse.h"
#include "slurm/account/sacct.h"

enum { MOMENT = 32, SITE_PATIENCE_MS = 10000 };
static const int64_t day_s = 86400;

void sim_accounts_done(struct sim_accounts *a)
{
    past_done(&a->past);
    sim_cluster_done(&a->cluster);
}

/* ---- the window ---- */

/* "2026-11-01", "2026-11-01T08:00", "2026-11-01T08:00:00"; -1. */
static int64_t read_moment(const char *text)
{
    static const char *const forms[] = { "%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S" };

    for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
        struct tm tm = { .tm_isdst = -1 };
        const char *end = strptime(text, forms[i], &tm);

        if (end && !*end)
            return mktime(&tm);
    }
    return -1;
}

/* As sacct takes it. */
static void write_moment(int64_t at_s, char ret[MOMENT])
{
    time_t at = at_s;
    struct tm tm = { .tm_year = 0 };

    if (!localtime_r(&at, &tm) || strftime(ret, MOMENT, "%Y-%m-%dT%H:%M:%S", &tm) == 0)
        snprintf(ret, MOMENT, "now");
}

int sim_accounts_since(const char *since, int64_t now_s, int64_t *ret, struct err *e)
{
    uint64_t days = SIM_ACCOUNTS_DAYS;
    int64_t at_s;

    if (!*since || parse_u64(since, &days) == 0) {
        if (days < 1 || days > SIM_ACCOUNTS_DAYS_MOST)
            return err_usage(e, "--from-sacct must be from 1 to %d days, not '%s'",
                             SIM_ACCOUNTS_DAYS_MOST, since);
        *ret = now_s - (int64_t)days * day_s;
        return 0;
    }
    at_s = read_moment(since);
    if (at_s < 0)
        return err_usage(e,
                         "--from-sacct: '%.60s' is neither days (30) nor since when (2026-11-01, "
                         "2026-11-01T08:00)",
                         since);
    if (at_s >= now_s)
        return err_usage(e, "--from-sacct: %.60s is not in the past", since);
    *ret = at_s;
    return 0;
}

/* ---- jobs ---- */

struct hearing {
    struct past *past;
    struct err *e;
};

static int hear(void *ctx, char *line)
{
    const struct hearing *h = ctx;

    return past_line(h->past, line, h->e);
}

/* A user whom Slurm shows nobody else's jobs does not see the cluster. */
static void find_only(struct sim_accounts *a, const char *user)
{
    const struct work_names *users = &a->past.work.users;

    if (user && users->n == 1 && !strcmp(users->names[0], user))
        a->only = users->names[0];
}

static int run_sacct(struct sim_accounts *a, const struct sim_accounts_ask *ask, struct err *e)
{
    char since[MOMENT], until[MOMENT];
    struct hearing h = { &a->past, e };
    const struct slurm_sacct s = { ask->conf, since, until, ask->patience_ms, hear, &h };
    int rc;

    write_moment(a->past.from_s, since);
    write_moment(a->past.until_s, until);
    snprintf(a->about, sizeof(a->about), "sacct since %s", since);
    rc = slurm_sacct_run(&s, e);
    if (rc == 0)
        rc = past_settle(&a->past, e);
    if (rc < 0)
        return rc;
    a->until_ms = a->past.until_s * 1000 - a->past.work.first_ms;
    find_only(a, ask->user);
    a->any = true;
    return 0;
}

int sim_accounts_ask(struct sim_accounts *a, struct pool *pool, const struct sim_accounts_ask *ask,
                     struct err *e)
{
    const struct slurm_config config = { .conf = ask->conf, .patience_ms = SITE_PATIENCE_MS };
    int rc = sim_accounts_since(ask->since, ask->now_s, &a->past.from_s, e);

    if (rc < 0)
        return rc;
    a->past.until_s = ask->now_s;
    a->past.pool = pool;
    a->has_cluster = pool->n_nodes == 0;
    if (a->has_cluster) {
        a->past.cluster = (struct past_cluster){ sim_cluster_had, sim_cluster_kinds, &a->cluster };
        rc = sim_cluster_read(&a->cluster, &config, e);
    }
    if (rc == 0)
        rc = run_sacct(a, ask, e);
    if (rc == 0 && a->has_cluster)
        rc = sim_cluster_pool(pool, &a->cluster, &a->past.work, e);
    return rc;
}

int sim_accounts_read(struct sim_accounts *a, const struct pool *pool, const char *text, size_t len,
                      struct err *e)
{
    int rc;

    a->past.pool = pool;
    rc = past_text(&a->past, text, len, e);
    if (rc == 0)
        rc = past_settle(&a->past, e);
    a->any = rc == 0;
    return rc;
}
