#include "queue/team.h"

#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>

void queue_team_usual(struct queue_job *j)
{
    const struct group *g = getgrgid(j->gid);

    j->team[0] = 0;
    if (g && strcmp(g->gr_name, j->user) != 0 && strlen(g->gr_name) < sizeof(j->team))
        snprintf(j->team, sizeof(j->team), "%s", g->gr_name);
}

/* Whether the job's owner is in a group. */
static bool is_in(const struct queue_job *j, gid_t gid)
{
    enum { GROUPS = 1024 };
    gid_t groups[GROUPS];
    int n = GROUPS;

    if (j->gid == gid)
        return true;
    if (getgrouplist(j->user, j->gid, groups, &n) < 0)
        n = GROUPS;
    for (int i = 0; i < n; i++)
        if (groups[i] == gid)
            return true;
    return false;
}

int queue_team_check(const struct queue_job *j, struct err *e)
{
    const struct group *g = *j->team ? getgrnam(j->team) : NULL;

    if (!g || is_in(j, g->gr_gid))
        return 0;
    return err_set(e, -EACCES,
                   "--team %s: only members of the group %s may say so in a queue that users share",
                   j->team, j->team);
}
