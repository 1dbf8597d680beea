#include "probe/ascend/dcmi_api.h"

#include <dlfcn.h>
#include <stddef.h>

#include "base/compiler.h"
#include "model/machine/machine.h"

/* The folder that the driver's installer makes is in no search path of the loader. */
static const char *const paths[] = { "/usr/local/dcmi/libdcmi.so", "libdcmi.so" };

static const struct {
    const char *name;
    size_t offset;
} symbols[] = {
    { "dcmi_init", offsetof(struct dcmi_api, init) },
    { "dcmi_get_card_list", offsetof(struct dcmi_api, cards) },
    { "dcmi_get_device_num_in_card", offsetof(struct dcmi_api, count) },
    { "dcmi_get_device_chip_info", offsetof(struct dcmi_api, chip) },
    { "dcmi_get_device_pcie_info_v2", offsetof(struct dcmi_api, pcie_v2) },
    { "dcmi_get_device_pcie_info", offsetof(struct dcmi_api, pcie_v1) },
    { "dcmi_get_device_hbm_info", offsetof(struct dcmi_api, hbm) },
    { "dcmi_get_device_health", offsetof(struct dcmi_api, health) },
    { "dcmi_get_device_utilization_rate", offsetof(struct dcmi_api, rate) },
    { "dcmi_get_device_frequency", offsetof(struct dcmi_api, frequency) },
    { "dcmi_get_device_temperature", offsetof(struct dcmi_api, temperature) },
    { "dcmi_get_device_power_info", offsetof(struct dcmi_api, power) },
    { "dcmi_get_device_ecc_info", offsetof(struct dcmi_api, ecc) },
};

void *dcmi_api_open(struct dcmi_api *api, struct watch_where *where)
{
    void *library = NULL;

    *api = (struct dcmi_api){ .init = NULL };
    watch_at(where, "dlopen(libdcmi.so)", ABSENT);
    for (size_t i = 0; i < ARRAY_SIZE(paths) && !library; i++)
        library = dlopen(paths[i], RTLD_LAZY | RTLD_LOCAL);
    for (size_t i = 0; i < ARRAY_SIZE(symbols) && library; i++)
        *(void **)(void *)((char *)api + symbols[i].offset) = dlsym(library, symbols[i].name);
    return library;
}
