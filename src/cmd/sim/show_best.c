#include "cmd/sim/show.h"

/* Whether a policy is told what nobody knows. */
static bool is_oracle(const struct sim_run *run)
{
    return run->policy.length == LENGTH_ORACLE;
}

/* The policy under which a job takes the least in the mean, of those that ran the most jobs; NULL:
 * none, when without is set, does not know true lengths. */
static const struct sim_run *best(const struct sim_run *runs, size_t n, bool without)
{
    const struct sim_run *found = NULL;
    size_t most = 0;

    for (size_t i = 0; i < n; i++)
        most = MAX(most, runs[i].stats.all.jobs);
    for (size_t i = 0; i < n; i++)
        if (runs[i].stats.all.jobs == most && !(without && is_oracle(&runs[i])) &&
            (!found || runs[i].stats.all.completion < found->stats.all.completion))
            found = &runs[i];
    return found;
}

static void add_mean(const struct sim_run *run, struct str *out)
{
    str_addf(out, "%s from submission to end", sim_show_span(run->stats.all.completion).text);
}

void sim_show_best(const struct sim_run *runs, size_t n, struct str *out)
{
    const struct sim_run *first = best(runs, n, false), *real = best(runs, n, true);

    if (n < 2 || first->stats.all.jobs == 0)
        return;
    if (!real) {
        str_addf(out, "%s is best, with true lengths, as all of these: a job takes ",
                 first->policy.name);
        add_mean(first, out);
    } else {
        str_addf(out, "%s is best%s: a job takes ", real->policy.name,
                 first == real ? "" : " of those that need no true lengths");
        add_mean(real, out);
    }
    if (real && first != real) {
        str_addf(out, "; with true lengths, which nobody has, %s: ", first->policy.name);
        add_mean(first, out);
    }
    str_add(out, " in the mean\n");
}
