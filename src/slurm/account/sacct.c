#include "slurm/account/sacct.h"

#include <errno.h>
#include <string.h>

enum { LINE = 160 };

/* Names of jobs, comments and the like are left out: what a user writes cannot break a row.
 * Reserved is called Planned in later releases, which have Restarts, too: none is needed. */
static const char fields[] =
    "--format=JobIDRaw,User,Account,Partition,Submit,Eligible,Start,End,ElapsedRaw,TimelimitRaw,"
    "AllocTRES,ReqTRES,NNodes,State,NodeList";

/* Between two fields: nobody can have it in a name. */
static const char delimiter[] = "--delimiter=\x1f";

void slurm_sacct_argv(const struct slurm_sacct *s, const char *argv[SLURM_SACCT_WORDS])
{
    const char *const words[] = {
        "sacct", "--allusers",  "--duplicates", "--allocations", "--parsable2", delimiter,
        fields,  "--starttime", s->since,       "--endtime",     s->until,      NULL,
    };

    memcpy(argv, words, sizeof(words));
}

/* The last line that says something, without the command's name in front. */
static void last_line(const char *said, char ret[LINE])
{
    size_t len = strlen(said), start;

    while (len > 0 && strchr("\r\n \t", said[len - 1]))
        len--;
    for (start = len; start > 0 && said[start - 1] != '\n';)
        start--;
    if (!strncmp(said + start, "sacct: ", strlen("sacct: ")))
        start += strlen("sacct: ");
    if (!strncmp(said + start, "error: ", strlen("error: ")))
        start += strlen("error: ");
    snprintf(ret, LINE, "%.*s", (int)(len - MIN(start, len)), said + start);
}

int slurm_sacct_failed(int status, const char *said, struct err *e)
{
    char line[LINE];

    last_line(said, line);
    if (strstr(said, "storage is disabled") || strstr(said, "storage plugin"))
        return err_set(e, -ENOSYS,
                       "AccountingStorageType is none: Slurm keeps no jobs of the past; set it to "
                       "accounting_storage/slurmdbd in slurm.conf, and look again in some weeks");
    if (strstr(said, "Too wide of a date range"))
        return err_set(e, -E2BIG,
                       "slurmdbd does not answer for so many days (its MaxQueryTimeRange): ask for "
                       "fewer, --from-sacct=7");
    if (strcasestr(said, "munge") || strcasestr(said, "authentication"))
        return err_set(e, -EACCES, "slurmdbd does not know who asks: %s: does munged run here?",
                       line);
    if (strcasestr(said, "permission") || strcasestr(said, "access denied"))
        return err_set(e, -EACCES, "sacct may not read the accounting: %s: ask an operator of it",
                       line);
    if (strstr(said, "talking to the database") || strstr(said, "persistent connection"))
        return err_set(e, -EHOSTDOWN, "slurmdbd does not answer: %s: is it running?", line);
    if (strstr(said, "Invalid field"))
        return err_set(e, -ENOTSUP, "this sacct lacks a field: %s", line);
    if (!*line)
        return err_set(e, -EIO, "sacct ended with status %d and did not say why", status);
    return err_set(e, -EIO, "sacct: %s", line);
}

int slurm_sacct_run(const struct slurm_sacct *s, struct err *e)
{
    const char *argv[SLURM_SACCT_WORDS];
    const struct slurm_listing l = { argv, s->conf, s->patience_ms, s->line, s->ctx };
    char said[SLURM_LISTING_SAID];
    int rc;

    slurm_sacct_argv(s, argv);
    rc = slurm_listing_run(&l, said, e);
    if (rc == -ETIMEDOUT)
        return err_set(e, rc,
                       "sacct has said nothing for %.4g s: ask for fewer days (--from-sacct=7) or "
                       "wait longer (--patience 1h)",
                       (double)s->patience_ms / 1000);
    return rc > 0 ? slurm_sacct_failed(rc, said, e) : rc;
}
