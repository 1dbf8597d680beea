#include "bench/clocks.h"

#include <dlfcn.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "model/machine/pcie.h"

static const struct {
    const char *name;
    unsigned bits;
} reasons[CLOCKS_WHY] = {
    { "power", NVML_REASON_POWER },
    { "thermal", NVML_REASON_THERMAL_SOFTWARE | NVML_REASON_THERMAL_HARDWARE },
    { "power brake", NVML_REASON_BRAKE },
    { "sync", NVML_REASON_SYNC },
    { "hardware", NVML_REASON_HARDWARE }, /* with one above, or alone */
};

/* CUDA counts GPUs in another order than NVML: by their address they are the same. */
static bool is_at(const struct clocks *c, nvml_device device, const struct pci_address *want)
{
    struct nvml_pci_info pci = { .domain = 0 };

    return c->api.pci(device, &pci) == NVML_OK && pci.domain == want->domain &&
           pci.bus == want->bus && pci.device == want->dev;
}

static bool find(struct clocks *c, const char *bus)
{
    struct pci_address want;
    unsigned n = 0;

    if (!c->api.init || !c->api.count || !c->api.handle || !c->api.pci || !c->clock ||
        pci_address_parse(bus, &want) < 0 || c->api.init() != NVML_OK ||
        c->api.count(&n) != NVML_OK)
        return false;
    for (unsigned i = 0; i < n; i++)
        if (c->api.handle(i, &c->device) == NVML_OK && is_at(c, c->device, &want))
            return true;
    return false;
}

void clocks_open(struct clocks *c, const char *bus)
{
    memset(c, 0, sizeof(*c));
    c->library = nvml_api_open(&c->api);
    if (!c->library)
        return;
    nvml_api_find(c->library, "nvmlDeviceGetClockInfo", &c->clock);
    if (!find(c, bus))
        clocks_close(c);
}

void clocks_close(struct clocks *c)
{
    if (c->library)
        (void)dlclose(c->library);
    c->library = NULL;
}

void clocks_begin(struct clocks *c)
{
    c->mhz = 0;
    c->n_mhz = c->n_held = c->n_asked = 0;
    memset(c->why, 0, sizeof(c->why));
}

void clocks_sample(struct clocks *c)
{
    unsigned long long bits = 0;
    unsigned mhz = 0;
    bool held = false;

    if (!c->library)
        return;
    if (c->clock(c->device, NVML_CLOCK_SM, &mhz) == NVML_OK) {
        c->mhz += mhz;
        c->n_mhz++;
    }
    if (!c->api.reasons || c->api.reasons(c->device, &bits) != NVML_OK)
        return;
    c->n_asked++;
    for (size_t i = 0; i < ARRAY_SIZE(reasons) && !held; i++)
        if (bits & reasons[i].bits) {
            c->why[i]++;
            held = true;
        }
    c->n_held += held;
}

void clocks_seen(const struct clocks *c, struct clock_seen *to)
{
    size_t most = 0;

    for (size_t i = 1; i < ARRAY_SIZE(reasons); i++)
        if (c->why[i] > c->why[most])
            most = i;
    to->mhz = c->n_mhz ? c->mhz / c->n_mhz : (double)NAN;
    to->held = c->n_asked ? (double)c->n_held / c->n_asked : (double)NAN;
    snprintf(to->why, sizeof(to->why), "%s", c->n_held ? reasons[most].name : "");
}
