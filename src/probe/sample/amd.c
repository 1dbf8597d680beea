/* AMD accelerators, from the files of the amdgpu driver. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/gpu/amd_metrics.h"
#include "base/clock.h"
#include "probe/kernel/kept_file.h"
#include "probe/kernel/scan.h"
#include "probe/sample/drm_card.h"

enum { TABLE_MAX = 4096, BAD_PAGES_MAX = 64 << 10 };

/* What takes the driver longer, or hardly changes. */
#define SLOW_NS (10 * NS_PER_S)

static const double milli = 1e-3;

static const struct drm_file files[] = {
    { "gpu_busy_percent", DRM_DEVICE, GPU_BUSY, 0.01 },
    { "mem_busy_percent", DRM_DEVICE, GPU_MEMORY_BUSY, 0.01 },
    { "mem_info_vram_used", DRM_DEVICE, GPU_MEMORY_USED, 1 },
    { "mem_info_vram_total", DRM_DEVICE, GPU_MEMORY_TOTAL, 1 },
    { "power1_average", DRM_HWMON, GPU_POWER, 1e-6 },
    { "power1_input", DRM_HWMON, GPU_POWER, 1e-6 },
    { "power1_cap", DRM_HWMON, GPU_POWER_LIMIT, 1e-6 },
    { "freq1_input", DRM_HWMON, GPU_SM_CLOCK, 1 },
    { "freq2_input", DRM_HWMON, GPU_MEMORY_CLOCK, 1 },
};

static const struct drm_kind kind = {
    .vendor = "1002", .thing = "amd", .fact = "amd", .files = files, .n_files = ARRAY_SIZE(files)
};

/* The sensors temp1 to temp3, by their labels. */
enum { TEMPERATURES = 3 };
enum sensor { SENSOR_NONE, SENSOR_EDGE, SENSOR_JUNCTION, SENSOR_MEMORY };

struct amd_card {
    struct kept temperatures[TEMPERATURES], table;
    enum sensor sensors[TEMPERATURES];
    double critical; /* temperature of the junction at which it slows itself down */
    int64_t slow_ns; /* when these were read; INT64_MIN: never */
    double slow_gpu[GPU_VALUES], slow_error[GPU_ERROR_VALUES];
    struct amd_metrics before; /* of the last tick, at: */
    int64_t before_ns;
    double limited_s[AMD_REASONS];
};

struct amd {
    struct drm_cards drm;
    struct amd_card cards[DRM_CARDS];
    char text[BAD_PAGES_MAX];
};

static void close_card(struct amd_card *card)
{
    for (int i = 0; i < TEMPERATURES; i++)
        kept_close(&card->temperatures[i]);
    kept_close(&card->table);
}

static void amd_close(void *state)
{
    struct amd *a = state;

    for (size_t i = 0; i < DRM_CARDS; i++)
        close_card(&a->cards[i]);
    drm_cards_close(&a->drm);
    free(a);
}

static int amd_open(void **state, const struct sampler_env *env, struct err *e)
{
    struct amd *a = calloc(1, sizeof(*a));
    int rc;

    if (!a)
        return err_nomem(e);
    rc = drm_cards_open(&a->drm, env->root, &kind, e);
    if (rc < 0) {
        free(a);
        return rc;
    }
    for (size_t i = 0; i < DRM_CARDS; i++) {
        a->cards[i].table.fd = -1;
        for (int k = 0; k < TEMPERATURES; k++)
            a->cards[i].temperatures[k].fd = -1;
    }
    *state = a;
    return 0;
}

static void open_sensor(struct amd *a, const struct drm_card *drm, struct amd_card *card, int i)
{
    static const char *const labels[] = {
        [SENSOR_EDGE] = "edge\n", [SENSOR_JUNCTION] = "junction\n", [SENSOR_MEMORY] = "mem\n"
    };
    char path[32], text[64];

    card->sensors[i] = SENSOR_NONE;
    snprintf(path, sizeof(path), "temp%d_label", i + 1);
    if (drm_card_text(&a->drm, drm, DRM_HWMON, path, text, sizeof(text)) < 0)
        return;
    for (size_t k = SENSOR_EDGE; k < ARRAY_SIZE(labels); k++)
        if (!strcmp(text, labels[k]))
            card->sensors[i] = (enum sensor)k;
    snprintf(path, sizeof(path), "temp%d_input", i + 1);
    drm_card_keep(&a->drm, drm, DRM_HWMON, path, &card->temperatures[i]);
    snprintf(path, sizeof(path), "temp%d_crit", i + 1);
    if (card->sensors[i] == SENSOR_JUNCTION &&
        drm_card_text(&a->drm, drm, DRM_HWMON, path, text, sizeof(text)) > 0)
        card->critical = drm_number(text, milli);
}

/* A card that is new, or back again. */
static void open_card(struct amd *a, struct drm_card *drm, struct amd_card *card)
{
    struct gpu_reading *r = &drm->reading;
    char text[256];

    close_card(card);
    *card = (struct amd_card){ .critical = (double)NAN, .slow_ns = INT64_MIN };
    for (int i = 0; i < TEMPERATURES; i++) {
        card->temperatures[i].fd = -1;
        open_sensor(a, drm, card, i);
    }
    drm_card_keep(&a->drm, drm, DRM_DEVICE, "gpu_metrics", &card->table);
    if (drm_card_text(&a->drm, drm, DRM_DEVICE, "unique_id", text, sizeof(text)) > 0)
        drm_line(r->facts[GPU_UUID], text);
    if (drm_card_text(&a->drm, drm, DRM_DEVICE, "product_name", text, sizeof(text)) > 0)
        drm_line(r->facts[GPU_MODEL], text);
    drm->fresh = false;
}

static void read_temperatures(struct amd_card *card, struct gpu_reading *r)
{
    double at[] = { (double)NAN, (double)NAN, (double)NAN, (double)NAN };
    char text[64];

    for (int i = 0; i < TEMPERATURES; i++)
        if (kept_read(&card->temperatures[i], text, sizeof(text)) > 0)
            at[card->sensors[i]] = drm_number(text, milli);
    r->gpu[GPU_TEMPERATURE] = isnan(at[SENSOR_JUNCTION]) ? at[SENSOR_EDGE] : at[SENSOR_JUNCTION];
    r->gpu[GPU_MEMORY_TEMPERATURE] = at[SENSOR_MEMORY];
    r->gpu[GPU_TEMPERATURE_MARGIN] = card->critical - at[SENSOR_JUNCTION];
}

/* ---- the table of the firmware ---- */

static const unsigned active_values[AMD_REASONS] = {
    [AMD_POWER] = GPU_THROTTLED_POWER,
    [AMD_THERMAL] = GPU_THROTTLED_THERMAL,
    [AMD_BRAKE] = GPU_THROTTLED_BRAKE,
    [AMD_OTHER] = GPU_THROTTLED_OTHER,
};

static const struct {
    enum amd_reason reason;
    unsigned seconds, active;
} counted[AMD_LIMITS] = {
    [AMD_LIMIT_PROCHOT] = { AMD_BRAKE, GPU_THROTTLE_BRAKE_SECONDS, GPU_THROTTLED_BRAKE },
    [AMD_LIMIT_POWER] = { AMD_POWER, GPU_THROTTLE_POWER_SECONDS, GPU_THROTTLED_POWER },
    [AMD_LIMIT_SOCKET] = { AMD_THERMAL, GPU_THROTTLE_THERMAL_SECONDS, GPU_THROTTLED_THERMAL },
    [AMD_LIMIT_REGULATOR] = { AMD_THERMAL, GPU_THROTTLE_THERMAL_SECONDS, GPU_THROTTLED_THERMAL },
    [AMD_LIMIT_MEMORY] = { AMD_THERMAL, GPU_THROTTLE_THERMAL_SECONDS, GPU_THROTTLED_THERMAL },
};

/* The firmware counts loops, in how many of them each reason held the clock down; what that is in
 * seconds follows from how long it was since the last tick. Limits of one reason overlap: the
 * largest counts. */
static void count_limits(struct amd_card *card, const struct amd_metrics *now, int64_t now_ns,
                         struct gpu_reading *r)
{
    const struct amd_metrics *before = &card->before;
    double share[AMD_REASONS] = { 0 };
    uint32_t cycles = now->cycles - before->cycles;

    if (!now->has_cycles)
        return;
    if (cycles > INT32_MAX) /* the firmware started anew */
        cycles = 0;
    for (size_t i = 0; i < AMD_LIMITS && before->has_cycles && cycles; i++) {
        double one = (double)(now->limited[i] - before->limited[i]) / cycles;

        if (one <= 1)
            share[counted[i].reason] = MAX(share[counted[i].reason], one);
    }
    for (size_t i = 0; i < AMD_REASONS; i++)
        card->limited_s[i] += share[i] * clock_seconds(now_ns - card->before_ns);
    for (size_t i = 0; i < AMD_LIMITS; i++) {
        r->throttle[counted[i].seconds] = card->limited_s[counted[i].reason];
        if (before->has_cycles)
            r->throttle[counted[i].active] = share[counted[i].reason] > 0;
    }
}

static void fill(double *value, double from)
{
    if (isnan(*value))
        *value = from;
}

static void read_table(struct amd_card *card, int64_t now_ns, struct gpu_reading *r)
{
    struct amd_metrics m;
    char table[TABLE_MAX];
    ssize_t len = card->table.fd < 0 ? 0 : pread(card->table.fd, table, sizeof(table), 0);

    if (len <= 0 || amd_metrics_read(table, (size_t)len, &m) < 0) {
        card->before.has_cycles = false;
        return;
    }
    fill(&r->gpu[GPU_BUSY], m.busy);
    fill(&r->gpu[GPU_MEMORY_BUSY], m.memory_busy);
    fill(&r->gpu[GPU_POWER], m.power_watts);
    fill(&r->gpu[GPU_ENERGY], m.energy_joules);
    fill(&r->gpu[GPU_TEMPERATURE], m.temperature);
    fill(&r->gpu[GPU_MEMORY_TEMPERATURE], m.memory_temperature);
    fill(&r->gpu[GPU_LINK_RECEIVED], m.link_received_bytes);
    fill(&r->gpu[GPU_LINK_SENT], m.link_sent_bytes);
    fill(&r->error[GPU_PCIE_REPLAYS], m.pcie_replays);
    for (size_t i = 0; i < AMD_REASONS && m.has_active; i++)
        r->throttle[active_values[i]] = m.active[i];
    count_limits(card, &m, now_ns, r);
    card->before = m;
    card->before_ns = now_ns;
}

/* ---- what is read every ten seconds ---- */

static double slow_number(struct amd *a, const struct drm_card *drm, const char *path)
{
    char text[64];

    if (drm_card_text(&a->drm, drm, DRM_DEVICE, path, text, sizeof(text)) <= 0)
        return (double)NAN;
    return drm_number(text, 1);
}

/* "32.0 GT/s PCIe". */
static double generation(double gts)
{
    int gen = isnan(gts) ? 0 : pcie_gen(gts);

    return gen ? gen : (double)NAN;
}

/* The highest of the lines "1: 2100Mhz *". */
static double highest_clock(struct amd *a, const struct drm_card *drm)
{
    double most = (double)NAN;
    const char *at = a->text;

    if (drm_card_text(&a->drm, drm, DRM_DEVICE, "pp_dpm_sclk", a->text, sizeof(a->text)) <= 0)
        return most;
    do {
        double hertz;

        (void)scan_number(&at);
        if (*at != ':')
            continue;
        at++;
        hertz = scan_number(&at) * 1e6;
        if (!isnan(hertz) && !(hertz <= most))
            most = hertz;
    } while (scan_line(&at));
    return most;
}

struct ecc {
    struct amd *amd;
    const struct drm_card *drm;
    double corrected, uncorrected;
};

/* "ue: 0\nce: 3\n", of each part of the chip. */
static void add_ecc(void *ctx, const char *name)
{
    static const char end[] = "_err_count";
    struct ecc *ecc = ctx;
    char path[96], text[128];
    const char *at = text;
    size_t len = strlen(name);

    if (len < strlen(end) || strcmp(name + len - strlen(end), end) != 0 ||
        snprintf(path, sizeof(path), "ras/%s", name) >= (int)sizeof(path) ||
        drm_card_text(&ecc->amd->drm, ecc->drm, DRM_DEVICE, path, text, sizeof(text)) <= 0)
        return;
    do {
        double *sum = scan_word(&at, "ue:")   ? &ecc->uncorrected
                      : scan_word(&at, "ce:") ? &ecc->corrected
                                              : NULL;
        double n;

        if (!sum)
            continue;
        n = scan_number(&at);
        if (!isnan(n))
            *sum = isnan(*sum) ? n : *sum + n;
    } while (scan_line(&at));
}

/* Lines "0xPAGE : 0xSIZE : R": retired, pending, or in use and not to be retired (F). */
static void count_pages(struct amd *a, const struct drm_card *drm, double *error)
{
    const char *at = a->text;
    int retired = 0, pending = 0;

    if (drm_card_text(&a->drm, drm, DRM_DEVICE, "ras/gpu_vram_bad_pages", a->text,
                      sizeof(a->text)) < 0)
        return;
    do {
        size_t len = strcspn(at, "\n");

        retired += len > 2 && at[len - 2] == ' ' && at[len - 1] == 'R';
        pending += len > 2 && at[len - 2] == ' ' && at[len - 1] == 'P';
    } while (scan_line(&at));
    error[GPU_PAGES_RETIRED] = retired;
    error[GPU_PAGES_PENDING] = pending;
}

static void read_slow(struct amd *a, const struct drm_card *drm, struct amd_card *card)
{
    struct ecc ecc = { a, drm, (double)NAN, (double)NAN };
    double *gpu = card->slow_gpu, *error = card->slow_error;

    for (size_t i = 0; i < GPU_VALUES; i++)
        gpu[i] = (double)NAN;
    for (size_t i = 0; i < GPU_ERROR_VALUES; i++)
        error[i] = (double)NAN;
    gpu[GPU_PCIE_GEN] = generation(slow_number(a, drm, "current_link_speed"));
    gpu[GPU_PCIE_GEN_MAX] = generation(slow_number(a, drm, "max_link_speed"));
    gpu[GPU_PCIE_WIDTH] = slow_number(a, drm, "current_link_width");
    gpu[GPU_PCIE_WIDTH_MAX] = slow_number(a, drm, "max_link_width");
    gpu[GPU_SM_CLOCK_MAX] = highest_clock(a, drm);
    error[GPU_PCIE_REPLAYS] = slow_number(a, drm, "pcie_replay_count");
    /* a sum of some of its parts would be a counter that went back */
    if (drm_card_list(&a->drm, drm, DRM_DEVICE, "ras", add_ecc, &ecc) == 0) {
        error[GPU_ECC_CORRECTED] = ecc.corrected;
        error[GPU_ECC_UNCORRECTED] = ecc.uncorrected;
    }
    count_pages(a, drm, error);
}

static void read_card(struct amd *a, struct drm_card *drm, struct amd_card *card, int64_t now_ns)
{
    struct gpu_reading *r = &drm->reading;

    if (drm->fresh)
        open_card(a, drm, card);
    if (!drm_card_read(&a->drm, drm))
        return;
    if (card->slow_ns == INT64_MIN || now_ns - card->slow_ns >= SLOW_NS) {
        card->slow_ns = now_ns;
        read_slow(a, drm, card);
    }
    for (size_t i = 0; i < GPU_VALUES; i++)
        fill(&r->gpu[i], card->slow_gpu[i]);
    for (size_t i = 0; i < GPU_ERROR_VALUES; i++)
        fill(&r->error[i], card->slow_error[i]);
    read_temperatures(card, r);
    read_table(card, now_ns, r);
    r->gpu[GPU_MEMORY_FREE] = r->gpu[GPU_MEMORY_TOTAL] - r->gpu[GPU_MEMORY_USED];
}

static int amd_sample(void *state, struct tick *t)
{
    struct amd *a = state;

    drm_cards_look(&a->drm, t->monotonic_ns);
    for (size_t i = 0; i < a->drm.n; i++)
        if (a->drm.cards[i].present)
            read_card(a, &a->drm.cards[i], &a->cards[i], t->monotonic_ns);
        else
            close_card(&a->cards[i]);
    return gpu_reading_add(&a->drm.cards[0].reading, a->drm.n, sizeof(a->drm.cards[0]), t);
}

const struct sampler_ops sampler_amd = { "amd", &gpu_set, amd_open, amd_sample, amd_close };
