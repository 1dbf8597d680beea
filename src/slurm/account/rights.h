/* What Slurm lets a user do to what is not his: asked of sacctmgr. */
#ifndef BRIM_SLURM_ACCOUNT_RIGHTS_H
#define BRIM_SLURM_ACCOUNT_RIGHTS_H
#include <stdbool.h>

#include "slurm/account/listing.h"

enum { SLURM_RIGHTS_ACCOUNTS = 4096 };

struct slurm_rights {
    bool operates;                        /* its admin level is Operator or Administrator */
    char accounts[SLURM_RIGHTS_ACCOUNTS]; /* that it coordinates: ",a,b,"; "" */
};

/* Take in a line that sacctmgr printed of a user: "ana|Operator|a,b". What is none adds nothing. */
void slurm_rights_line(struct slurm_rights *r, const char *user, char *line);

/* Whether it coordinates an account. */
bool slurm_rights_has(const struct slurm_rights *r, const char *account);

/* Ask. A user that Slurm does not know has none. 0, or a negative errno with a sentence. */
int slurm_rights_ask(struct slurm_rights *ret, const char *user, const char *conf,
                     int64_t patience_ms, struct err *e) CHECK_RESULT;

#endif
