#include "probe/gpu/amd_metrics.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"

enum { LINKS = 8, FIELD_ABSENT = 0 };

/* The unit of energy: 2^-16 joules. */
static const double joules = 1.0 / 65536;

/* Where fields stand, in bytes; 0: not there. From drivers/gpu/drm/amd/include/kgd_pp_interface.h
 * of Linux 6.2 (1.3) to 6.16 (1.8): struct gpu_metrics_v1_3 and its successors. A first 1.6, of 384
 * bytes, was taken back before a tool read it. */
static const struct layout {
    uint8_t revision;
    uint16_t size; /* at least */
    uint16_t hotspot, memory, power, busy, memory_busy, energy;
    uint16_t status;                  /* of throttling, in bits of the card's own */
    uint16_t status_all;              /* in bits that are the same for all cards */
    uint16_t cycles;                  /* behind it AMD_LIMITS counts */
    uint16_t replays, received, sent; /* of LINKS each */
} layouts[] = {
    { 3, 120, 6, 8, 22, 16, 18, 24, 0, 112, 0, 0, 0, 0 },
    { 4, 288, 4, 6, 10, 12, 14, 24, 40, 0, 0, 88, 104, 168 },
    { 5, 360, 4, 6, 10, 12, 14, 88, 104, 0, 0, 152, 176, 240 },
    { 6, 1024, 4, 6, 10, 12, 14, 16, 0, 0, 32, 104, 128, 192 },
    { 7, 1024, 4, 6, 10, 12, 14, 24, 0, 0, 40, 112, 136, 200 },
    { 8, 1024, 4, 6, 10, 12, 14, 24, 0, 0, 40, 112, 136, 200 },
};

/* Bits of status_all: drivers/gpu/drm/amd/pm/swsmu/inc/amdgpu_smu.h, SMU_THROTTLER_..._BIT. Power
 * is PPT, SPL, TDC, EDC and APCC (0 to 31), thermal TEMP and VRHOT (32 to 45), PROCHOT (46, 47) is
 * told from outside the card. */
static const struct {
    uint64_t bits;
    enum amd_reason reason;
} all_bits[] = {
    { 0x00000000ffffffff, AMD_POWER },
    { 0x00003fff00000000, AMD_THERMAL },
    { 0x0000c00000000000, AMD_BRAKE },
    { 0xffff000000000000, AMD_OTHER },
},
  /* Of the cards that have the layouts 1.4 and 1.5 (smu_v13_0_6_pmfw.h): PROCHOT, PPT, and three
   * temperatures. */
    own_bits[] = {
        { 0x01, AMD_BRAKE },
        { 0x02, AMD_POWER },
        { 0x1c, AMD_THERMAL },
        { 0xffffffe0, AMD_OTHER },
    };

/* A number of size bytes, least significant first; false when the field is not there or all of its
 * bits are set, by which the driver says that it does not know. */
static bool number(const uint8_t *table, size_t at, size_t size, uint64_t *ret)
{
    uint64_t n = 0;

    if (at == FIELD_ABSENT)
        return false;
    for (size_t i = size; i-- > 0;)
        n = n << 8 | table[at + i];
    *ret = n;
    return n != UINT64_MAX >> (64 - 8 * size);
}

static double scaled(const uint8_t *table, size_t at, size_t size, double scale)
{
    uint64_t n;

    return number(table, at, size, &n) ? (double)n * scale : (double)NAN;
}

/* A share in percent. Some drivers give it in other units: what cannot be one is absent. */
static double share(const uint8_t *table, size_t at)
{
    double s = scaled(table, at, 2, 0.01);

    return s <= 1 ? s : (double)NAN;
}

/* The sum over all links that count, in KiB. */
static double traffic(const uint8_t *table, size_t at)
{
    double sum = (double)NAN;

    for (size_t i = 0; at != FIELD_ABSENT && i < LINKS; i++) {
        double one = scaled(table, at + 8 * i, 8, 1024);

        if (!isnan(one))
            sum = isnan(sum) ? one : sum + one;
    }
    return sum;
}

static void read_active(const uint8_t *table, const struct layout *l, struct amd_metrics *m)
{
    uint64_t bits;

    if (number(table, l->status_all, 8, &bits)) {
        m->has_active = true;
        for (size_t i = 0; i < ARRAY_SIZE(all_bits); i++)
            m->active[all_bits[i].reason] = (bits & all_bits[i].bits) != 0;
    } else if (number(table, l->status, 4, &bits)) {
        m->has_active = true;
        for (size_t i = 0; i < ARRAY_SIZE(own_bits); i++)
            m->active[own_bits[i].reason] = (bits & own_bits[i].bits) != 0;
    }
}

static void read_cycles(const uint8_t *table, const struct layout *l, struct amd_metrics *m)
{
    uint64_t n;

    if (!number(table, l->cycles, 4, &n))
        return;
    m->has_cycles = true;
    m->cycles = (uint32_t)n;
    for (size_t i = 0; i < AMD_LIMITS; i++)
        if (number(table, l->cycles + 4 * (i + 1), 4, &n))
            m->limited[i] = (uint32_t)n;
}

int amd_metrics_read(const void *table, size_t len, struct amd_metrics *ret)
{
    const uint8_t *bytes = table;
    const struct layout *l = NULL;

    *ret = (struct amd_metrics){ .has_active = false };
    if (len < 4 || bytes[2] != 1)
        return -ENOTSUP;
    for (size_t i = 0; i < ARRAY_SIZE(layouts); i++)
        if (layouts[i].revision == bytes[3])
            l = &layouts[i];
    if (!l || len < l->size || (bytes[0] | bytes[1] << 8) < l->size)
        return -ENOTSUP;
    ret->busy = share(bytes, l->busy);
    ret->memory_busy = share(bytes, l->memory_busy);
    ret->power_watts = scaled(bytes, l->power, 2, 1);
    ret->energy_joules = scaled(bytes, l->energy, 8, joules);
    ret->temperature = scaled(bytes, l->hotspot, 2, 1);
    ret->memory_temperature = scaled(bytes, l->memory, 2, 1);
    ret->link_received_bytes = traffic(bytes, l->received);
    ret->link_sent_bytes = traffic(bytes, l->sent);
    ret->pcie_replays = scaled(bytes, l->replays, 8, 1);
    read_active(bytes, l, ret);
    read_cycles(bytes, l, ret);
    return 0;
}
