/* What devices draw for policies of brim sim with a cap of power. */
#include "cmd/sim/power.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tap.h"

enum { TEXT = 512 };

/* "BUSY:IDLE LIMITS" in mW of each kind, or the error. */
static const char *found(const char *nodes, const struct policy *p, const char *power,
                         const char *gpu)
{
    static char ret[TEXT];
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    CLEANUP(pool_done) struct pool pool = { .n_nodes = 0 };
    CLEANUP(device_prices_done) struct device_prices rates = { .n = 0 };
    const struct device_price_opts o = { .gpu = gpu, .power = power };
    static const struct watts before;
    const struct watts *w = &before;
    struct err e = { "" };
    size_t len = 0;
    int rc = pool_parse(&pool, nodes, &e);

    if (rc == 0)
        rc = device_prices_open(&rates, &o, &e);
    if (rc == 0)
        rc = sim_power_find(&w, &a, p, &pool, &rates, &e);
    snprintf(ret, sizeof(ret), "%s", rc < 0 ? e.text : rc ? "?" : w ? "" : "nothing");
    for (size_t k = 0; w && rc == 0 && k < pool.n_kinds && len < sizeof(ret); k++)
        len += (size_t)snprintf(ret + len, sizeof(ret) - len, "%s%lld:%lld %zu", k ? ", " : "",
                                (long long)w[k].busy_mw, (long long)w[k].idle_mw, w[k].n_steps);
    return ret;
}

#define KNOW "p: [power] needs to know what "
#define CURVE \
    " is at lower limits of power is not known: curve = NAME in [power] takes that of " \
    "A100-PCIe-80GB, A40 or V100-PCIe"

static void test_kinds(void)
{
    static const struct {
        const char *nodes, *power, *gpu, *want;
        enum policy_power_action action;
    } cases[] = {
        { "1x2:A100-PCIe-80GB", NULL, NULL, "300000:45700 0", POWER_WAIT },
        { "1x2:A100-PCIe-80GB", NULL, NULL, "300000:45700 5", POWER_LIMIT },
        { "1x2:A100-PCIe-80GB,1x2:T4", "T4=70.5:9.25", NULL, "300000:45700 0, 70500:9250 0",
          POWER_WAIT },
        { "1x2:A100-PCIe-80GB", "250:250", NULL, "250000:250000 0", POWER_WAIT },
        { "1x2", NULL, "A100-PCIe-80GB", "300000:45700 0", POWER_WAIT },
        { "1x2:odd", "700:75", NULL, "700000:75000 0", POWER_WAIT },
        { "1x2:T4", NULL, NULL, KNOW "T4 draws busy and idle: --power T4=700:75", POWER_WAIT },
        { "1x2:odd", NULL, NULL, KNOW "odd draws busy and idle: --power odd=700:75", POWER_WAIT },
        { "1x2:odd", "700", NULL, KNOW "odd draws busy and idle: --power odd=700:75", POWER_WAIT },
        { "1x2", NULL, NULL,
          KNOW "devices draw: say what they are, --gpu A100-40GB, or --power 700:75 (busy:idle)",
          POWER_WAIT },
        { "1x2", NULL, "T4", KNOW "T4 draws busy and idle: --power T4=700:75", POWER_WAIT },
        { "1x2:A100-PCIe-80GB", "75:76", NULL,
          "p: a device cannot draw more idle than busy: --power", POWER_WAIT },
        { "1x2:T4", "70:9", NULL, "p: how fast T4" CURVE, POWER_LIMIT },
        { "1x2:odd", "70:9", NULL, "p: how fast odd" CURVE, POWER_LIMIT },
        { "1x2", "70:9", NULL, "p: how fast a device without a name" CURVE, POWER_LIMIT },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct policy p = { .name = "p", .power = { .cap_mw = 1, .action = cases[i].action } };

        is_str(found(cases[i].nodes, &p, cases[i].power, cases[i].gpu), cases[i].want,
               "what %s draws with --power %s and --gpu %s", cases[i].nodes,
               cases[i].power ? cases[i].power : "-", cases[i].gpu ? cases[i].gpu : "-");
    }
}

static void test_cap(void)
{
    const struct policy none = { .name = "p" };

    is_str(found("1x2:odd", &none, NULL, NULL), "nothing",
           "a policy without a cap need not know what devices draw");
}

/* Steps as shares of the full limit: those of the device, or of the curve that is named. */
static void test_steps(void)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    CLEANUP(pool_done) struct pool pool = { .n_nodes = 0 };
    CLEANUP(device_prices_done) struct device_prices rates = { .n = 0 };
    const struct device_price_opts o = { .power = "70:9" };
    struct policy p = { .name = "p", .power = { .cap_mw = 1, .action = POWER_LIMIT } };
    const struct watts *w = NULL;
    struct err e = { "" };
    static const struct watts_step steps[] = { { 275 / 300., 0.9696 },
                                               { 250 / 300., 0.923 },
                                               { 225 / 300., 0.8324 },
                                               { 200 / 300., 0.7087 },
                                               { 175 / 300., 0.577 } };

    snprintf(p.power.curve, sizeof(p.power.curve), "A100-PCIe-80GB");
    is_int(pool_parse(&pool, "1x2:T4", &e), 0, "a pool is made");
    is_int(device_prices_open(&rates, &o, &e), 0, "prices are opened");
    is_int(sim_power_find(&w, &a, &p, &pool, &rates, &e), 0, "a curve is taken: %s", e.text);
    if (!ok(w != NULL && w->n_steps == 5, "a curve has steps"))
        return;
    for (size_t i = 0; i < w->n_steps; i++)
        ok(fabs(w->steps[i].share - steps[i].share) < 1e-6 &&
               fabs(w->steps[i].speed - steps[i].speed) < 1e-6,
           "step %zu is a share of the full limit, with its speed", i);
}

int main(void)
{
    test_kinds();
    test_cap();
    test_steps();
    return done();
}
