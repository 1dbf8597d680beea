#include "cmd/optimize/goal_option.h"

#include <string.h>

#include "base/parse.h"
#include "cmd/common/cmd.h"
#include "run/moment/power_meter.h"

const char *const optimize_goals[] = {
    [GOAL_THROUGHPUT] = "throughput", [GOAL_ENERGY] = "energy", [GOAL_COST] = "cost", NULL
};

static const double most_price = 1e6;

static int price(const char *option, const char *text, double *ret, struct err *e)
{
    double value = 0;

    if (text && (parse_double(text, &value) < 0 || !(value > 0) || value > most_price))
        return err_usage(e, "%s must be a number above 0, up to %.0f, not '%.40s'", option,
                         most_price, text);
    *ret = value;
    return 0;
}

int optimize_goal(const struct optimize_goal_words *w, const struct clock *clock, struct goal *ret,
                  struct err *e)
{
    struct goal g = { .kind = GOAL_THROUGHPUT };
    struct power_meters meters = { .gpus = false };
    struct err why = { "" };
    int rc = price("--price-hour", w->price_hour, &g.price_hour, e);

    if (rc == 0)
        rc = price("--price-kwh", w->price_kwh, &g.price_kwh, e);
    if (rc != 0)
        return rc;
    for (int kind = GOAL_THROUGHPUT; kind <= GOAL_COST; kind++)
        if (w->goal && !strcmp(optimize_goals[kind], w->goal))
            g.kind = (enum session_goal)kind;
    if (g.kind != GOAL_COST && (w->price_hour || w->price_kwh))
        return err_usage(e, "a price is for --goal cost");
    if (g.kind == GOAL_COST && !w->price_hour && !w->price_kwh)
        return err_usage(e,
                         "--goal cost needs a price: --price-hour of the machine, --price-kwh of "
                         "energy, or both");
    if (goal_needs_power(&g))
        rc = power_meters_find(&meters, "/", w->fake, clock, &why);
    if (rc < 0)
        return err_set(e, rc, "--goal %s needs a power meter: %s", w->goal, why.text);
    g.gpus = meters.gpus;
    g.cpus = meters.cpus;
    g.looks = meters.looks;
    *ret = g;
    return 0;
}
