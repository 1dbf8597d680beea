#include "cmd/sim/show.h"

#include <math.h>

bool sim_show_is_oracle(const struct sim_run *run)
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
        if (runs[i].stats.all.jobs == most && !(without && sim_show_is_oracle(&runs[i])) &&
            (!found || runs[i].stats.all.completion < found->stats.all.completion))
            found = &runs[i];
    return found;
}

static void add_mean(const struct sim_run *run, struct str *out)
{
    str_addf(out, "%s from submission to end", quantity_span(run->stats.all.completion).text);
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

void sim_show_change(const struct sim_run *before, const struct sim_run *after, struct str *out)
{
    double was = before->stats.all.completion, is = after->stats.all.completion;
    double usd = after->money.usd - before->money.usd;

    str_addf(out, "%s: a job takes %s from submission to end", after->policy.name,
             quantity_span(is).text);
    str_addf(out, " instead of %s", quantity_span(was).text);
    if (was > 0)
        str_addf(out, " (%.0f %% %s)", fabs(is / was - 1) * 100, is < was ? "less" : "more");
    if (isnan(usd))
        str_add(out, "; nobody knows what the nodes cost\n");
    else
        str_addf(out, ", for %.0f dollars %s\n", fabs(usd), usd < 0 ? "less" : "more");
}
