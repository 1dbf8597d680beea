/* Fields: what nvmlDeviceGetFieldValues answers, all in one call. Every field is asked in the first
 * reading; those that a GPU does not have are left out afterwards, for a while. */
#include <string.h>

#include "probe/nvidia/nvml_session.h"

enum set { SET_GPU, SET_THROTTLE, SET_ERROR };
enum { ALL_LINKS = 1, EACH_LINK = 2, WIDE = 4 };

#define NS 1e-9

/* Ids from NVIDIA's nvml.h (NVML_FI_DEV_...). Fields of one value and rank are added up; of a
 * value's ranks the first that a GPU has is taken. Those asked with every reading come first.
 *
 * 185 is not among them: the averaged power was seen to take a thousand times as long as 186. The
 * PCIe counters (197, 198) are only taken where they have 64 bits: one of 32 bits goes round
 * several times a second at PCIe 5.0's speed. The total of thermal slowdowns (75) is the same
 * counter as 251 and lacks the hardware's own, 252. */
static const struct {
    unsigned char id, set, value, rank, flags;
    double unit;
} defs[] = {
    { 186, SET_GPU, GPU_POWER, 0, 0, 1e-3 },
    { 83, SET_GPU, GPU_ENERGY, 0, 0, 1e-3 },
    { 82, SET_GPU, GPU_MEMORY_TEMPERATURE, 0, 0, 1 },
    { 197, SET_GPU, GPU_PCIE_SENT, 0, WIDE, 1 },
    { 198, SET_GPU, GPU_PCIE_RECEIVED, 0, WIDE, 1 },
    { 138, SET_GPU, GPU_LINK_SENT, 0, ALL_LINKS, 1024 },
    { 139, SET_GPU, GPU_LINK_RECEIVED, 0, ALL_LINKS, 1024 },
    { 202, SET_GPU, GPU_LINK_SENT, 1, EACH_LINK, 1 },
    { 204, SET_GPU, GPU_LINK_RECEIVED, 1, EACH_LINK, 1 },
    { 74, SET_THROTTLE, GPU_THROTTLE_POWER_SECONDS, 0, 0, NS },
    { 251, SET_THROTTLE, GPU_THROTTLE_THERMAL_SECONDS, 0, 0, NS },
    { 252, SET_THROTTLE, GPU_THROTTLE_THERMAL_SECONDS, 0, 0, NS },
    { 75, SET_THROTTLE, GPU_THROTTLE_THERMAL_SECONDS, 1, 0, NS },
    { 253, SET_THROTTLE, GPU_THROTTLE_BRAKE_SECONDS, 0, 0, NS },
    { 76, SET_THROTTLE, GPU_THROTTLE_SYNC_SECONDS, 0, 0, NS },
    { 77, SET_THROTTLE, GPU_THROTTLE_OTHER_SECONDS, 0, 0, NS }, /* the board's limit */
    /* those below are asked slowly */
    { 3, SET_ERROR, GPU_ECC_CORRECTED, 0, 0, 1 },
    { 4, SET_ERROR, GPU_ECC_UNCORRECTED, 0, 0, 1 },
    { 5, SET_ERROR, GPU_ECC_CORRECTED_EVER, 0, 0, 1 },
    { 6, SET_ERROR, GPU_ECC_UNCORRECTED_EVER, 0, 0, 1 },
    { 142, SET_ERROR, GPU_ROWS_CORRECTED, 0, 0, 1 },
    { 143, SET_ERROR, GPU_ROWS_UNCORRECTED, 0, 0, 1 },
    { 144, SET_ERROR, GPU_REMAP_PENDING, 0, 0, 1 },
    { 145, SET_ERROR, GPU_REMAP_FAILED, 0, 0, 1 },
    { 29, SET_ERROR, GPU_PAGES_RETIRED, 0, 0, 1 }, /* after corrected errors */
    { 30, SET_ERROR, GPU_PAGES_RETIRED, 0, 0, 1 }, /* after uncorrected ones */
    { 31, SET_ERROR, GPU_PAGES_PENDING, 0, 0, 1 },
    { 94, SET_ERROR, GPU_PCIE_REPLAYS, 0, 0, 1 },
    { 163, SET_ERROR, GPU_LINK_CRC, 0, EACH_LINK, 1 },
    { 38, SET_ERROR, GPU_LINK_CRC, 1, 0, 1 }, /* in control parts */
    { 45, SET_ERROR, GPU_LINK_CRC, 1, 0, 1 }, /* in data */
    { 161, SET_ERROR, GPU_LINK_REPLAYS, 0, EACH_LINK, 1 },
    { 52, SET_ERROR, GPU_LINK_REPLAYS, 1, 0, 1 },
    { 162, SET_ERROR, GPU_LINK_RECOVERIES, 0, EACH_LINK, 1 },
    { 59, SET_ERROR, GPU_LINK_RECOVERIES, 1, 0, 1 },
    { 215, SET_ERROR, GPU_LINK_RECOVERIES, 2, EACH_LINK, 1 },
    { 219, SET_ERROR, GPU_LINK_EFFECTIVE, 0, EACH_LINK, 1 },
    { 230, SET_ERROR, GPU_RECOVERY_ACTION, 0, 0, 1 },
};
enum { FIRST_SLOW = 16 };
static_assert(ARRAY_SIZE(defs) + 7UL * (NVML_FIELD_LINKS - 1) <= NVML_FIELDS_MAX,
              "seven of them are about each link");

static double *value_of(struct nvml_watched *g, unsigned def)
{
    switch (defs[def].set) {
    case SET_GPU:
        return &g->now.gpu[defs[def].value];
    case SET_THROTTLE:
        return &g->now.throttle[defs[def].value];
    default:
        return &g->now.error[defs[def].value];
    }
}

static bool same_value(unsigned a, unsigned b)
{
    return defs[a].set == defs[b].set && defs[a].value == defs[b].value;
}

/* All fields that there are. What no field gave so far keeps its value: GPM counts there. */
static void list_all(struct nvml_watched *g)
{
    uint64_t by_field = g->by_field;

    g->n_fields = g->n_fast = 0;
    g->by_field = 0;
    for (unsigned d = 0; d < ARRAY_SIZE(defs); d++) {
        unsigned n = defs[d].flags & EACH_LINK ? NVML_FIELD_LINKS : 1;

        if (defs[d].set != SET_GPU || (by_field >> defs[d].value & 1))
            *value_of(g, d) = (double)NAN;
        for (unsigned link = 0; link < n; link++) {
            g->fields[g->n_fields].id = defs[d].id;
            g->fields[g->n_fields].scope = defs[d].flags & ALL_LINKS ? NVML_ALL_LINKS : link;
            g->field_defs[g->n_fields++] = (unsigned char)d;
        }
        if (d < FIRST_SLOW)
            g->n_fast = g->n_fields;
    }
}

static bool is_of_use(const struct nvml_watched *g, size_t i)
{
    const struct nvml_field *f = &g->fields[i];

    if (nvml_unsupported(f->code))
        return false;
    return !(defs[g->field_defs[i]].flags & WIDE) || f->code != NVML_OK ||
           f->type == NVML_TYPE_UNSIGNED_LONG || f->type == NVML_TYPE_UNSIGNED_LONG_LONG;
}

/* Whether a field of a better rank gives the same value. */
static bool is_second(const struct nvml_watched *g, size_t i)
{
    unsigned d = g->field_defs[i];

    for (size_t k = 0; k < g->n_fields; k++)
        if (same_value(g->field_defs[k], d) && defs[g->field_defs[k]].rank < defs[d].rank)
            return true;
    return false;
}

/* Keep the fields for which that is true, in their order. */
static void keep_if(struct nvml_watched *g, bool (*keep)(const struct nvml_watched *, size_t),
                    bool want)
{
    bool kept[NVML_FIELDS_MAX];
    size_t n = 0, n_fast = 0;

    for (size_t i = 0; i < g->n_fields; i++)
        kept[i] = keep(g, i) == want;
    for (size_t i = 0; i < g->n_fields; i++) {
        if (!kept[i])
            continue;
        n_fast += i < g->n_fast;
        g->fields[n] = g->fields[i];
        g->field_defs[n++] = g->field_defs[i];
    }
    g->n_fields = n;
    g->n_fast = n_fast;
}

static void drop_useless(struct nvml_watched *g)
{
    keep_if(g, is_of_use, true);
    keep_if(g, is_second, false);
    for (size_t i = 0; i < g->n_fields; i++)
        if (defs[g->field_defs[i]].set == SET_GPU)
            g->by_field |= 1ULL << defs[g->field_defs[i]].value;
}

static double number_of(const struct nvml_field *f)
{
    if (f->code != NVML_OK)
        return (double)NAN;
    switch (f->type) {
    case NVML_TYPE_DOUBLE:
        return f->value.real;
    case NVML_TYPE_UNSIGNED:
        return f->value.number;
    case NVML_TYPE_SIGNED:
        return (int)f->value.number;
    case NVML_TYPE_SIGNED_LONG_LONG:
        return (double)(long long)f->value.wide;
    default:
        return (double)f->value.wide;
    }
}

/* A sum of which a part is not known is not known: a counter must not go back. */
static void take(struct nvml_watched *g, size_t n)
{
    for (size_t i = 0; i < n; i++)
        *value_of(g, g->field_defs[i]) = 0;
    for (size_t i = 0; i < n; i++)
        *value_of(g, g->field_defs[i]) += number_of(&g->fields[i]) * defs[g->field_defs[i]].unit;
}

/* Ask the first n; false when none of them was answered. */
static bool ask(struct nvml_session *s, struct nvml_watched *g, size_t n)
{
    int code;

    for (size_t i = 0; i < n; i++) {
        g->fields[i].code = NVML_UNKNOWN_ERROR;
        g->fields[i].value.wide = 0;
    }
    nvml_calls(s, g, "nvmlDeviceGetFieldValues");
    code = s->api.fields(g->device, (int)n, g->fields);
    for (size_t i = 0; i < n && code == NVML_OK; i++)
        if (g->fields[i].code == NVML_GPU_LOST)
            code = NVML_GPU_LOST;
    return nvml_answered(s, g, NVML_SLOT_FIELDS_SLOW, NVML_SLOW, code);
}

void nvml_read_fields(struct nvml_session *s, struct nvml_watched *g)
{
    bool first = nvml_due(s, g, NVML_SLOT_FIELDS);
    int64_t slow_ns = g->next_ns[NVML_SLOT_FIELDS_SLOW];
    bool all = first || s->now_ns >= slow_ns;
    size_t n;

    if (!s->api.fields || s->broken || g->now.lost)
        return;
    if (first) {
        list_all(g);
        g->next_ns[NVML_SLOT_FIELDS] = s->now_ns + s->paces.unsupported_ns;
    }
    n = all ? g->n_fields : g->n_fast;
    if (n == 0)
        return;
    if (!ask(s, g, n)) {
        for (size_t i = 0; i < n && !first; i++)
            *value_of(g, g->field_defs[i]) = (double)NAN;
        if (first)
            g->n_fields = g->n_fast = 0;
        if (first && g->next_ns[NVML_SLOT_FIELDS_SLOW] < g->next_ns[NVML_SLOT_FIELDS])
            g->next_ns[NVML_SLOT_FIELDS] = g->next_ns[NVML_SLOT_FIELDS_SLOW];
        return;
    }
    if (!all)
        g->next_ns[NVML_SLOT_FIELDS_SLOW] = slow_ns;
    if (first)
        drop_useless(g);
    take(g, first ? g->n_fields : n);
}
