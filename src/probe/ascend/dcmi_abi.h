/* What this tree uses of the binary interface of Huawei's DCMI (libdcmi.so), written from its
 * published interface. A chip is named by its card and its number on the card. */
#ifndef BRIM_PROBE_ASCEND_DCMI_ABI_H
#define BRIM_PROBE_ASCEND_DCMI_ABI_H
#include <assert.h>

enum dcmi_code {
    DCMI_OK = 0,
    DCMI_NOT_PERMITTED = -8002,
    DCMI_DEVICE_NOT_EXIST = -8008,
    DCMI_NOT_SUPPORTED = -8255
};

/* dcmi_get_device_health() for a chip that is not there or did not start. */
#define DCMI_HEALTH_ABSENT 0xffffffffu

struct dcmi_chip_info {
    unsigned char type[32], name[32], version[32];
    unsigned cores;
};
static_assert(sizeof(struct dcmi_chip_info) == 100, "dcmi_chip_info");

/* dcmi_get_device_pcie_info_v2 */
struct dcmi_pcie_info_v2 {
    unsigned vendor, sub_vendor, device, sub_device;
    int domain;
    unsigned bus, dev, fn;
    unsigned char reserved[32];
};
static_assert(sizeof(struct dcmi_pcie_info_v2) == 64, "dcmi_pcie_info_all");

/* dcmi_get_device_pcie_info, of drivers that lack the above */
struct dcmi_pcie_info_v1 {
    unsigned device, vendor, sub_vendor, sub_device;
    unsigned dev, bus, fn;
};
static_assert(sizeof(struct dcmi_pcie_info_v1) == 28, "dcmi_pcie_info");

struct dcmi_hbm_info {
    unsigned long long size; /* MiB */
    unsigned freq;
    unsigned long long used;
    int temperature;
    unsigned bandwidth_used;
};
static_assert(sizeof(struct dcmi_hbm_info) == 32, "dcmi_hbm_info");

enum dcmi_rate { DCMI_RATE_AICORE = 2, DCMI_RATE_HBM_BANDWIDTH = 10 };
enum dcmi_frequency { DCMI_FREQUENCY_AICORE = 7, DCMI_FREQUENCY_AICORE_MAX = 9 };
enum dcmi_part { DCMI_PART_HBM = 2 };

struct dcmi_ecc_info {
    int enabled;
    unsigned single_bit, double_bit;
    unsigned single_bit_ever, double_bit_ever;
    unsigned single_bit_pages, double_bit_pages; /* taken out of use */
};
static_assert(sizeof(struct dcmi_ecc_info) == 28, "dcmi_ecc_info");

typedef int dcmi_init_fn(void);                              /* dcmi_init */
typedef int dcmi_cards_fn(int *count, int *cards, int room); /* dcmi_get_card_list */
typedef int dcmi_count_fn(int card, int *count);             /* dcmi_get_device_num_in_card */
typedef int dcmi_chip_fn(int card, int device, struct dcmi_chip_info *chip);
typedef int dcmi_pcie_v2_fn(int card, int device, struct dcmi_pcie_info_v2 *pcie);
typedef int dcmi_pcie_v1_fn(int card, int device, struct dcmi_pcie_info_v1 *pcie);
typedef int dcmi_hbm_fn(int card, int device, struct dcmi_hbm_info *hbm);
typedef int dcmi_health_fn(int card, int device, unsigned *health);
/* dcmi_get_device_utilization_rate (percent), _frequency (MHz), _temperature (celsius), _power_info
 * (tenths of a watt), _ecc_info */
typedef int dcmi_rate_fn(int card, int device, int kind, unsigned *percent);
typedef int dcmi_frequency_fn(int card, int device, int kind, unsigned *mhz);
typedef int dcmi_temperature_fn(int card, int device, int *celsius);
typedef int dcmi_power_fn(int card, int device, int *tenths);
typedef int dcmi_ecc_fn(int card, int device, int part, struct dcmi_ecc_info *ecc);

#endif
