/* The driver's library of Ascend NPUs and its functions, for all that call them. */
#ifndef BRIM_PROBE_ASCEND_DCMI_API_H
#define BRIM_PROBE_ASCEND_DCMI_API_H
#include "probe/ascend/dcmi_abi.h"
#include "probe/thread/watch.h"

/* NULL where the installed driver has none. */
struct dcmi_api {
    dcmi_init_fn *init;
    dcmi_cards_fn *cards;
    dcmi_count_fn *count;
    dcmi_chip_fn *chip;
    dcmi_pcie_v2_fn *pcie_v2;
    dcmi_pcie_v1_fn *pcie_v1;
    dcmi_hbm_fn *hbm;
    dcmi_health_fn *health;
    dcmi_rate_fn *rate;
    dcmi_frequency_fn *frequency;
    dcmi_temperature_fn *temperature;
    dcmi_power_fn *power;
    dcmi_ecc_fn *ecc;
};

/* Open the library and find its functions: what dlclose() takes, NULL when there is none
 * (dlerror() says why). */
void *dcmi_api_open(struct dcmi_api *api, struct watch_where *where);

#endif
