/* Jobs of a Slurm cluster's accounting, for brim sim: asked of sacct (--from-sacct), or out of a
 * file that sacct has printed. */
#ifndef BRIM_CMD_SIM_ACCOUNTS_H
#define BRIM_CMD_SIM_ACCOUNTS_H
#include "cmd/sim/cluster.h"
#include "trace/past.h"

enum { SIM_ACCOUNTS_DAYS = 14, SIM_ACCOUNTS_DAYS_MOST = 3660, SIM_ACCOUNTS_ABOUT = 64 };

struct sim_accounts {
    bool any; /* there are such jobs: the rest is known */
    struct past past;
    struct sim_cluster cluster;
    bool has_cluster;
    int64_t until_ms;               /* of the window, on the workload's clock; 0: nobody said */
    char about[SIM_ACCOUNTS_ABOUT]; /* "sacct since 2026-11-13T09:00:00" */
    const char *only;               /* the user of all jobs, where that is who asks; NULL */
};

struct sim_accounts_ask {
    const char *since; /* "": SIM_ACCOUNTS_DAYS; "30": days; "2026-11-01", "2026-11-01T08:00:00" */
    const char *conf;  /* of Slurm; NULL */
    const char *user;  /* who asks; NULL: one whom Slurm shows all */
    int64_t patience_ms; /* of sacct */
    int64_t now_s;       /* since 1970 */
};

/* Seconds since 1970 of what --from-sacct says, in local time. ERR_USAGE with a sentence. */
int sim_accounts_since(const char *since, int64_t now_s, int64_t *ret, struct err *e) CHECK_RESULT;

/* Ask Slurm. A pool without nodes becomes that of the cluster; one with nodes is what there is. */
int sim_accounts_ask(struct sim_accounts *a, struct pool *pool, const struct sim_accounts_ask *ask,
                     struct err *e) CHECK_RESULT;

/* Jobs of a text (past_is()). */
int sim_accounts_read(struct sim_accounts *a, const struct pool *pool, const char *text, size_t len,
                      struct err *e) CHECK_RESULT;

void sim_accounts_done(struct sim_accounts *a);

#endif
