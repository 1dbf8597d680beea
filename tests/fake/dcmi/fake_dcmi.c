/* A libdcmi.so that plays the script that FAKE_DCMI names, in the form of a recording (src/probe/
 * dcmi.h). Cards and devices are those of its sections; others do not exist.
 * Section [fake]: see tests/fake/script.h; the number there is that of the section. A call that
 * answers an error leaves nonsense behind, which nobody may take for a value. Lines such as
 * "value.percent = 101" give numbers that chips answer in place of the usual ones.
 * FAKE_BARE leaves out what a driver may lack, and FAKE_DAMAGED what none lacks. */
#include "probe/ascend/dcmi.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../script.h"
#include "fake_dcmi.h"
#include "probe/ascend/dcmi_abi.h"

EXPORT dcmi_init_fn dcmi_init;
#ifndef FAKE_DAMAGED
EXPORT dcmi_cards_fn dcmi_get_card_list;
#endif
EXPORT dcmi_count_fn dcmi_get_device_num_in_card;
#ifdef FAKE_BARE
EXPORT dcmi_pcie_v1_fn dcmi_get_device_pcie_info;
#else
EXPORT dcmi_chip_fn dcmi_get_device_chip_info;
EXPORT dcmi_pcie_v2_fn dcmi_get_device_pcie_info_v2;
EXPORT dcmi_hbm_fn dcmi_get_device_hbm_info;
EXPORT dcmi_health_fn dcmi_get_device_health;
EXPORT dcmi_rate_fn dcmi_get_device_utilization_rate;
EXPORT dcmi_frequency_fn dcmi_get_device_frequency;
EXPORT dcmi_temperature_fn dcmi_get_device_temperature;
EXPORT dcmi_power_fn dcmi_get_device_power_info;
EXPORT dcmi_ecc_fn dcmi_get_device_ecc_info;
#endif

/* For tests, to be found with dlsym(): read the script anew; how many calls were about an NPU since
 * dcmi_init. */
EXPORT fake_dcmi_reload_fn fake_reload;
EXPORT fake_dcmi_calls_fn fake_calls;

static const struct script_word words[] = {
    { "not_supported", DCMI_NOT_SUPPORTED },
    { "no_permission", DCMI_NOT_PERMITTED },
    { "lost", DCMI_DEVICE_NOT_EXIST },
    { NULL, 0 },
};

static struct script rules = SCRIPT_INIT(words);
static struct dcmi_reading machine;
static atomic_uint calls[DCMI_CHIPS];

static const struct dcmi_chip *chip_of(int card, int device)
{
    for (unsigned i = 0; i < machine.n_chips; i++)
        if (machine.chips[i].card == card && machine.chips[i].device == device)
            return &machine.chips[i];
    return NULL;
}

static int about(const char *call, const struct dcmi_chip *c)
{
    if (!c)
        return DCMI_DEVICE_NOT_EXIST;
    atomic_fetch_add(&calls[c - machine.chips], 1);
    return script_answer(&rules, call, (int)(c - machine.chips));
}

/* What "value.NAME" says, or the usual. */
static int value(const char *name, int usual)
{
    int answer = usual;

    pthread_mutex_lock(&rules.lock);
    for (size_t i = 0; i < rules.n_rules; i++)
        if (strncmp(rules.rules[i].call, "value.", 6) == 0 &&
            strcmp(rules.rules[i].call + 6, name) == 0)
            answer = rules.rules[i].code;
    pthread_mutex_unlock(&rules.lock);
    return answer;
}

void fake_reload(void)
{
    static char text[SCRIPT_MAX];

    script_load(&rules, getenv("FAKE_DCMI"), text);
}

unsigned fake_calls(int device)
{
    return atomic_load(&calls[device]);
}

int dcmi_init(void)
{
    static char text[SCRIPT_MAX];
    const char *path = getenv("FAKE_DCMI");
    struct err e = { "" };

    if (!path)
        return DCMI_NOT_PERMITTED;
    if (dcmi_text_read(path, text, script_load(&rules, path, text), &machine, &e) < 0) {
        fprintf(stderr, "fake: %s\n", e.text);
        exit(99);
    }
    for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
        atomic_store(&calls[i], 0);
    return script_answer(&rules, "dcmi_init", -1);
}

#ifndef FAKE_DAMAGED
int dcmi_get_card_list(int *count, int *cards, int room)
{
    int code = script_answer(&rules, "dcmi_get_card_list", -1);

    *count = 0;
    for (unsigned i = 0; i < machine.n_chips; i++)
        if (machine.chips[i].device == 0 && *count < room)
            cards[(*count)++] = machine.chips[i].card;
    return code;
}
#endif

int dcmi_get_device_num_in_card(int card, int *count)
{
    *count = 0;
    while (chip_of(card, *count))
        (*count)++;
    return script_answer(&rules, "dcmi_get_device_num_in_card", card);
}

#ifdef FAKE_BARE
int dcmi_get_device_pcie_info(int card, int device, struct dcmi_pcie_info_v1 *pcie)
{
    int code = about("dcmi_get_device_pcie_info", chip_of(card, device));

    *pcie = (struct dcmi_pcie_info_v1){ .bus = (unsigned)value("bus", 7), .dev = 3, .fn = 1 };
    return code;
}
#else
int dcmi_get_device_chip_info(int card, int device, struct dcmi_chip_info *chip)
{
    const struct dcmi_chip *c = chip_of(card, device);
    int code = about("dcmi_get_device_chip_info", c);
    struct dcmi_chip_info before = *chip;

    *chip = (struct dcmi_chip_info){ .type = "nonsense", .name = "nonsense", .cores = 77 };
    if (code != DCMI_OK)
        return code;
    if (!c->name[0])
        return DCMI_NOT_SUPPORTED;
    *chip = before;
    memcpy(chip->type, c->type, sizeof(chip->type));
    memcpy(chip->name, c->name, sizeof(chip->name));
    memcpy(chip->version, c->version, sizeof(chip->version));
    if (c->cores >= 0)
        chip->cores = (unsigned)value("cores", c->cores);
    return DCMI_OK;
}

int dcmi_get_device_pcie_info_v2(int card, int device, struct dcmi_pcie_info_v2 *pcie)
{
    const struct dcmi_chip *c = chip_of(card, device);
    int code = about("dcmi_get_device_pcie_info_v2", c);
    struct pci_address at;

    *pcie = (struct dcmi_pcie_info_v2){ .vendor = 0x19e5, .domain = 7, .bus = 7 };
    if (code != DCMI_OK)
        return code;
    if (pci_address_parse(c->bdf, &at) < 0)
        return DCMI_NOT_SUPPORTED;
    *pcie = (struct dcmi_pcie_info_v2){ .vendor = 0x19e5,
                                        .domain = value("domain", (int)at.domain),
                                        .bus = (unsigned)value("bus", at.bus),
                                        .dev = (unsigned)value("dev", at.dev),
                                        .fn = (unsigned)value("fn", at.fn) };
    return DCMI_OK;
}

/* In MiB, or in KiB as drivers of the first 910 do, when a chip calls itself 910A. */
int dcmi_get_device_hbm_info(int card, int device, struct dcmi_hbm_info *hbm)
{
    const struct dcmi_chip *c = chip_of(card, device);
    int code = about("dcmi_get_device_hbm_info", c);

    *hbm = (struct dcmi_hbm_info){ .size = 1 << 16, .used = 1 << 15, .freq = 77 };
    if (code != DCMI_OK)
        return code;
    if (c->memory_b < 0)
        return DCMI_NOT_SUPPORTED;
    *hbm = (struct dcmi_hbm_info){ .size = (unsigned long long)c->memory_b >>
                                           (strcmp(c->name, "910A") == 0 ? 10 : 20),
                                   .freq = (unsigned)value("memory_mhz", 1600),
                                   .temperature = 50 };
    hbm->used = hbm->size / 4 * (unsigned)value("memory_quarters", 1);
    return DCMI_OK;
}

/* What changes on a real chip is the same here for ever: NPU n is n degrees warmer. */
int dcmi_get_device_utilization_rate(int card, int device, int kind, unsigned *percent)
{
    int code = about("dcmi_get_device_utilization_rate", chip_of(card, device));

    *percent = (unsigned)value("percent", kind == DCMI_RATE_AICORE ? 85 : 25);
    return code;
}

int dcmi_get_device_frequency(int card, int device, int kind, unsigned *mhz)
{
    int code = about("dcmi_get_device_frequency", chip_of(card, device));

    *mhz = (unsigned)value("mhz", kind == DCMI_FREQUENCY_AICORE ? 1650 : 1800);
    return code;
}

int dcmi_get_device_temperature(int card, int device, int *celsius)
{
    const struct dcmi_chip *c = chip_of(card, device);
    int code = about("dcmi_get_device_temperature", c);

    *celsius = 40 + (c ? (int)(c - machine.chips) : 0);
    return code;
}

int dcmi_get_device_power_info(int card, int device, int *tenths)
{
    int code = about("dcmi_get_device_power_info", chip_of(card, device));

    *tenths = value("tenths", 3125);
    return code;
}

int dcmi_get_device_ecc_info(int card, int device, int part, struct dcmi_ecc_info *ecc)
{
    int code = about("dcmi_get_device_ecc_info", chip_of(card, device));

    *ecc = (struct dcmi_ecc_info){ value("ecc", 1), 3, 1, 30, 10, 4, 2 };
    return part == DCMI_PART_HBM ? code : DCMI_NOT_SUPPORTED;
}

int dcmi_get_device_health(int card, int device, unsigned *health)
{
    const struct dcmi_chip *c = chip_of(card, device);
    int code = about("dcmi_get_device_health", c);

    *health = 1;
    if (code != DCMI_OK)
        return code;
    if (!c->lost && c->health < 0)
        return DCMI_NOT_SUPPORTED;
    *health = c->lost ? DCMI_HEALTH_ABSENT : (unsigned)value("health", c->health);
    return DCMI_OK;
}
#endif
