#include "cmd/common/meet_option.h"

#include "run/job/environ.h"
#include "run/meet/munge.h"

/* Of several observers the first one tells it, if that is known. */
static void tell(const struct meet_option_about *a, const struct meeting_place *p,
                 const char *sentence)
{
    if (p->told || p->role != MEETING_FOLLOWS)
        a->say(a->arg, sentence);
}

int meet_option(const struct meet_option_about *about, struct meet *ret, struct err *e)
{
    struct meeting_place *p = &ret->place;
    struct err why = { "" };
    int rc = meeting_place_find(p, about->option->place, about->env, about->argv, e);

    ret->on = false;
    if (rc < 0 || !p->several)
        return rc;
    rc = meeting_key_read(&ret->key, environ_get(about->env, "BRIM_TOKEN"),
                          about->option->token_file, &why);
    /* In a job of Slurm, where MUNGE is mostly: nothing is to be set. On one node who only looks
     * needs nobody: there all write to the same run. */
    if (rc == 0 && (p->multi || about->asks) && environ_get(about->env, "SLURM_JOB_ID") &&
        munge_answers()) {
        ret->key = (struct meeting_key){ .by_munge = true };
        rc = 1;
    }
    if (rc < 0)
        tell(about, p, why.text);
    else if (rc == 0 && (p->told || (p->multi && about->asks)))
        tell(about, p,
             "the brims of this job's hosts do not know each other: set BRIM_TOKEN to the same "
             "secret on all of them, and they work together");
    else if (rc > 0 && !p->host[0] && about->asks)
        tell(about, p,
             "the launcher does not tell where rank 0 is: --meet names its host, and the brims of "
             "this job's hosts work together");
    ret->on = rc > 0 && p->host[0];
    return 0;
}

void meet_add(const struct meet *m, struct observe_config *c)
{
    c->place = m->on ? &m->place : NULL;
    c->key = m->on ? &m->key : NULL;
}
