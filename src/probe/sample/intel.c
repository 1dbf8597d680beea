/* Intel accelerators, from the files of the drivers i915 and xe. Memory in use is in none of
 * them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "probe/kernel/kept_file.h"
#include "probe/sample/drm_card.h"

/* Of xe, the first numbers are the card's, the second the package's. */
static const struct drm_file files[] = {
    { "gt/gt0/rps_act_freq_mhz", DRM_CARD, GPU_SM_CLOCK, 1e6 },
    { "gt_act_freq_mhz", DRM_CARD, GPU_SM_CLOCK, 1e6 },
    { "tile0/gt0/freq0/act_freq", DRM_DEVICE, GPU_SM_CLOCK, 1e6 },
    { "gt/gt0/rps_RP0_freq_mhz", DRM_CARD, GPU_SM_CLOCK_MAX, 1e6 },
    { "gt_RP0_freq_mhz", DRM_CARD, GPU_SM_CLOCK_MAX, 1e6 },
    { "tile0/gt0/freq0/rp0_freq", DRM_DEVICE, GPU_SM_CLOCK_MAX, 1e6 },
    { "energy1_input", DRM_HWMON, GPU_ENERGY, 1e-6 },
    { "energy2_input", DRM_HWMON, GPU_ENERGY, 1e-6 },
    { "power1_max", DRM_HWMON, GPU_POWER_LIMIT, 1e-6 },
    { "power2_max", DRM_HWMON, GPU_POWER_LIMIT, 1e-6 },
    { "temp1_input", DRM_HWMON, GPU_TEMPERATURE, 1e-3 },
    { "temp2_input", DRM_HWMON, GPU_TEMPERATURE, 1e-3 },
    { "temp3_input", DRM_HWMON, GPU_MEMORY_TEMPERATURE, 1e-3 },
};

static const struct drm_kind kind = {
    .vendor = "8086",
    .thing = "intel",
    .fact = "intel",
    .needs_hwmon = true, /* which processor graphics do not have */
    .files = files,
    .n_files = ARRAY_SIZE(files),
};

/* What differs between the two drivers. */
static const struct layout {
    enum drm_where where;
    const char *idle, *throttle, *folder, *prefix;
} layouts[] = {
    { DRM_CARD, "gt/gt0/rc6_residency_ms", "gt/gt0/throttle_reason_status", "gt/gt0",
      "throttle_reason_" },
    { DRM_DEVICE, "tile0/gt0/gtidle/idle_residency_ms", "tile0/gt0/freq0/throttle/status",
      "tile0/gt0/freq0/throttle", "reason_" },
};

/* Endings of reasons: i915 calls them throttle_reason_pl1, xe reason_pl1. */
static const struct {
    const char *name;
    unsigned value;
} reasons[] = {
    { "pl1", GPU_THROTTLED_POWER },
    { "pl2", GPU_THROTTLED_POWER },
    { "pl4", GPU_THROTTLED_POWER },
    { "psys_pl1", GPU_THROTTLED_POWER },
    { "psys_pl2", GPU_THROTTLED_POWER },
    { "vr_tdc", GPU_THROTTLED_POWER },
    { "iccmax", GPU_THROTTLED_POWER },
    { "thermal", GPU_THROTTLED_THERMAL },
    { "soc_thermal", GPU_THROTTLED_THERMAL },
    { "mem_thermal", GPU_THROTTLED_THERMAL },
    { "vr_thermal", GPU_THROTTLED_THERMAL },
    { "vr_thermalert", GPU_THROTTLED_THERMAL },
    { "soc_avg_thermal", GPU_THROTTLED_THERMAL },
    { "ratl", GPU_THROTTLED_THERMAL },
    { "prochot", GPU_THROTTLED_BRAKE },
};

struct intel_card {
    const struct layout *layout;
    struct kept idle, throttle;
    double idle_ms, joules; /* of the last tick, at: */
    int64_t before_ns;
};

struct intel {
    struct drm_cards drm;
    struct intel_card cards[DRM_CARDS];
};

static void close_card(struct intel_card *card)
{
    kept_close(&card->idle);
    kept_close(&card->throttle);
}

static void intel_close(void *state)
{
    struct intel *n = state;

    for (size_t i = 0; i < DRM_CARDS; i++)
        close_card(&n->cards[i]);
    drm_cards_close(&n->drm);
    free(n);
}

static int intel_open(void **state, const struct sampler_env *env, struct err *e)
{
    struct intel *n = calloc(1, sizeof(*n));
    int rc;

    if (!n)
        return err_nomem(e);
    rc = drm_cards_open(&n->drm, env->root, &kind, e);
    if (rc < 0) {
        free(n);
        return rc;
    }
    for (size_t i = 0; i < DRM_CARDS; i++)
        n->cards[i].idle.fd = n->cards[i].throttle.fd = -1;
    *state = n;
    return 0;
}

/* A card that is new, or back again. */
static void open_card(struct intel *n, struct drm_card *drm, struct intel_card *card)
{
    close_card(card);
    card->idle_ms = card->joules = (double)NAN;
    for (size_t i = 0; i < ARRAY_SIZE(layouts) && card->idle.fd < 0 && card->throttle.fd < 0; i++) {
        card->layout = &layouts[i];
        drm_card_keep(&n->drm, drm, layouts[i].where, layouts[i].idle, &card->idle);
        drm_card_keep(&n->drm, drm, layouts[i].where, layouts[i].throttle, &card->throttle);
    }
    drm->fresh = false;
}

static double kept_number(const struct kept *file)
{
    char text[64];

    return kept_read(file, text, sizeof(text)) > 0 ? drm_number(text, 1) : (double)NAN;
}

struct throttle {
    const struct intel *intel;
    const struct drm_card *drm;
    const struct layout *layout;
    double *values;
    bool any;
};

static void add_reason(void *ctx, const char *name)
{
    struct throttle *th = ctx;
    const struct layout *l = th->layout;
    size_t prefix = strlen(l->prefix);
    unsigned value = GPU_THROTTLED_OTHER;
    char path[128], text[64];

    if (strncmp(name, l->prefix, prefix) != 0 || !strcmp(name + prefix, "status") ||
        snprintf(path, sizeof(path), "%s/%s", l->folder, name) >= (int)sizeof(path) ||
        drm_card_text(&th->intel->drm, th->drm, l->where, path, text, sizeof(text)) <= 0 ||
        !(drm_number(text, 1) > 0))
        return;
    for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
        if (!strcmp(name + prefix, reasons[i].name))
            value = reasons[i].value;
    th->values[value] = 1;
    th->any = true;
}

/* The reasons are a file each: they are read only while there is one. */
static void read_throttle(struct intel *n, const struct drm_card *drm,
                          const struct intel_card *card, double *values)
{
    struct throttle th = { n, drm, card->layout, values, false };
    double status = kept_number(&card->throttle);

    if (isnan(status))
        return;
    for (size_t i = GPU_THROTTLED_POWER; i <= GPU_THROTTLED_OTHER; i++)
        values[i] = 0;
    values[GPU_THROTTLED_SYNC] = (double)NAN; /* it knows no such reason */
    if (status == 0)
        return;
    if (drm_card_list(&n->drm, drm, card->layout->where, card->layout->folder, add_reason, &th) <
        0) {
        for (size_t i = GPU_THROTTLED_POWER; i <= GPU_THROTTLED_OTHER; i++)
            values[i] = values[i] == 1 ? 1 : (double)NAN; /* those that were not read */
    } else if (!th.any) {
        values[GPU_THROTTLED_OTHER] = 1;
    }
}

/* Power is how much energy was used since the last tick, and what was not idle time was busy. */
static void read_rates(struct intel_card *card, int64_t now_ns, double *gpu)
{
    double seconds = clock_seconds(now_ns - card->before_ns);
    double idle_ms = kept_number(&card->idle), joules = gpu[GPU_ENERGY];
    double busy = 1 - (idle_ms - card->idle_ms) * 1e-3 / seconds;

    if (seconds > 0 && joules >= card->joules)
        gpu[GPU_POWER] = (joules - card->joules) / seconds;
    if (seconds > 0 && idle_ms >= card->idle_ms)
        gpu[GPU_BUSY] = MAX(busy, 0); /* the two clocks are not read at once */
    card->idle_ms = idle_ms;
    card->joules = joules;
    card->before_ns = now_ns;
}

static void read_card(struct intel *n, struct drm_card *drm, struct intel_card *card,
                      int64_t now_ns)
{
    if (drm->fresh)
        open_card(n, drm, card);
    if (!drm_card_read(&n->drm, drm))
        return;
    read_throttle(n, drm, card, drm->reading.throttle);
    read_rates(card, now_ns, drm->reading.gpu);
}

static int intel_sample(void *state, struct tick *t)
{
    struct intel *n = state;

    drm_cards_look(&n->drm, t->monotonic_ns);
    for (size_t i = 0; i < n->drm.n; i++)
        if (n->drm.cards[i].present)
            read_card(n, &n->drm.cards[i], &n->cards[i], t->monotonic_ns);
        else
            close_card(&n->cards[i]);
    return gpu_reading_add(&n->drm.cards[0].reading, n->drm.n, sizeof(n->drm.cards[0]), t);
}

const struct sampler_ops sampler_intel = { "intel", &gpu_set, intel_open, intel_sample,
                                           intel_close };
