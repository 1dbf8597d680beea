/* Who uses what a stage is short of: processes of one command count as one, and so do those of one
 * control group. Nobody is named who uses less than live_limits.named of all. */
#include <string.h>

#include "diagnose/node/live_private.h"
#include "model/signal/quantity.h"

enum { GROUPS_MAX = 256 };

struct groups {
    struct live_user all[GROUPS_MAX];
    size_t n;
};

static double or_zero(double value)
{
    return isnan(value) ? 0 : value;
}

/* Count a process for whom that name stands; "": for nobody. */
static void count(struct groups *g, const char *name, const struct live_process *p, double amount)
{
    struct live_user *to;
    size_t at = 0;

    while (at < g->n && strcmp(g->all[at].name, name) != 0)
        at++;
    if (!*name || at == GROUPS_MAX)
        return;
    to = &g->all[at];
    if (at == g->n) {
        *to = (struct live_user){ .name = name, .pid = p->pid };
        g->n++;
    }
    to->n++;
    to->amount += amount;
    to->reads += p->read > 0 ? p->read : or_zero(p->io_read);
    to->writes += p->write > 0 ? p->write : or_zero(p->io_written);
}

static const struct live_user *most(const struct groups *g)
{
    const struct live_user *best = &g->all[0];

    for (size_t i = 1; i < g->n; i++)
        best = g->all[i].amount > best->amount ? &g->all[i] : best;
    return best;
}

/* The control group of a process, "" for the whole machine's. */
static const char *group_of(const struct live_process *p)
{
    return p->cgroup && strcmp(p->cgroup, "/") != 0 ? p->cgroup : "";
}

/* Time of CPUs that no process has which is there now: of children that began and ended since, it
 * is the parent's. */
static struct live_user of_children(const struct live_process *parent, double unseen)
{
    struct live_user u = { .name = parent->comm, .pid = parent->pid, .n = 1, .of_children = true };

    u.amount = parent->pid ? MIN(or_zero(parent->children), unseen) : 0;
    return u;
}

bool live_find_user(const struct live_view *v, enum live_sort by, double used,
                    struct live_user *ret)
{
    struct groups commands = { .n = 0 }, cgroups = { .n = 0 };
    struct live_process parent = { .pid = NULL };
    struct live_user found[3];
    double seen = 0;
    struct live_rows rows;

    live_process_rows(v, &rows);
    for (size_t i = 0; i < rows.n; i++) {
        struct live_process p = live_process_at(&rows, i);
        double amount = live_process_key(&p, by);

        seen += amount;
        count(&commands, p.comm, &p, amount);
        count(&cgroups, group_of(&p), &p, amount);
        if (p.children > or_zero(parent.children))
            parent = p;
    }
    used = used > seen ? used : seen;
    found[0] = *most(&commands);
    found[1] = by == LIVE_BY_CPU ? of_children(&parent, used - seen) : (struct live_user){ .n = 0 };
    found[2] = *most(&cgroups);
    found[2].is_cgroup = true;
    for (size_t i = 0; i < ARRAY_SIZE(found); i++)
        if (found[i].amount > 0 && found[i].amount >= live_limits.named * used) {
            *ret = found[i];
            return true;
        }
    return false;
}

void live_advise_user(char *action, const struct live_user *u, const char *verb, const char *amount)
{
    if (u->of_children)
        live_say(action, LIVE_TEXT, "look at process %s (%s): its children, which end soon, %s %s",
                 u->pid, u->name, verb, amount);
    else if (u->is_cgroup)
        live_say(action, LIVE_TEXT, "look at control group %s: its %zu processes %s %s", u->name,
                 u->n, verb, amount);
    else if (u->n > 1)
        live_say(action, LIVE_TEXT, "look at the %zu processes of %s: they %s %s", u->n, u->name,
                 verb, amount);
    else
        live_say(action, LIVE_TEXT, "look at process %s (%s): it %ss %s", u->pid, u->name, verb,
                 amount);
}
