#include "slurm/account/rights.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"

enum { WORD = 256 };

void slurm_rights_line(struct slurm_rights *r, const char *user, char *line)
{
    char *save = NULL, *name = strtok_r(line, "|", &save), *level = strtok_r(NULL, "|", &save);
    const char *accounts = level ? strtok_r(NULL, "|", &save) : NULL;

    if (!name || !level || strcmp(name, user) != 0)
        return;
    r->operates = !strcmp(level, "Operator") || !strcmp(level, "Administrator");
    if (accounts && strlen(accounts) + 3 <= sizeof(r->accounts))
        snprintf(r->accounts, sizeof(r->accounts), ",%s,", accounts);
}

bool slurm_rights_has(const struct slurm_rights *r, const char *account)
{
    char word[WORD];

    return *account && !strchr(account, ',') &&
           snprintf(word, sizeof(word), ",%s,", account) < (int)sizeof(word) &&
           strstr(r->accounts, word);
}

struct asking {
    struct slurm_rights *rights;
    const char *user;
};

static int take_line(void *ctx, char *line)
{
    const struct asking *a = ctx;

    if (line)
        slurm_rights_line(a->rights, a->user, line);
    return 0;
}

int slurm_rights_ask(struct slurm_rights *ret, const char *user, const char *conf,
                     int64_t patience_ms, struct err *e)
{
    char name[WORD], said[SLURM_LISTING_SAID];
    const char *const argv[] = { "sacctmgr",  "-n",
                                 "-P",        "show",
                                 "user",      name,
                                 "withcoord", "format=User,AdminLevel,Coordinators",
                                 NULL };
    struct asking a = { ret, user };
    const struct slurm_listing l = { argv, conf, patience_ms, take_line, &a };
    int rc;

    *ret = (struct slurm_rights){ .operates = false };
    if (strpbrk(user, ",= \t\n\"'") || snprintf(name, sizeof(name), "name=%s", user) >= WORD)
        return err_set(e, -EINVAL, "Slurm knows no user of such a name");
    rc = slurm_listing_run(&l, said, e);
    said[strcspn(said, "\n")] = 0;
    if (rc == -ENOENT)
        return err_set(e, rc, "there is no sacctmgr, which knows Slurm's operators");
    if (rc == -ETIMEDOUT)
        return err_set(e, rc, "sacctmgr, which knows Slurm's operators, does not answer");
    return rc > 0 ? err_set(e, -EIO, "sacctmgr, which knows Slurm's operators: %.200s", said) : rc;
}
