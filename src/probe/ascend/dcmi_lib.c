#include "probe/ascend/dcmi.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>

#include "probe/ascend/dcmi_api.h"

struct session {
    struct dcmi_api api;
    struct watch_where *where;
};

static int load(struct session *s, void **library, struct err *e)
{
    *library = dcmi_api_open(&s->api, s->where);
    if (!*library)
        return err_set(e, -ENODEV, "no Ascend driver library: %s", dlerror());
    return 0;
}

static bool good(struct dcmi_chip *c, int code)
{
    if (code == DCMI_DEVICE_NOT_EXIST)
        c->lost = true;
    return code == DCMI_OK;
}

static void keep_address(struct dcmi_chip *c, unsigned domain, unsigned bus, unsigned dev,
                         unsigned fn)
{
    struct pci_address at = { domain, (uint8_t)bus, (uint8_t)dev, (uint8_t)fn };

    if (domain <= INT_MAX && bus <= 0xff && dev <= 0x1f && fn <= 7)
        pci_address_text(at, c->bdf);
}

static void read_address(struct session *s, struct dcmi_chip *c, int nth)
{
    struct dcmi_pcie_info_v2 v2 = { .bus = UINT_MAX };
    struct dcmi_pcie_info_v1 v1 = { .bus = UINT_MAX };

    if (s->api.pcie_v2) {
        watch_at(s->where, "dcmi_get_device_pcie_info_v2", nth);
        if (good(c, s->api.pcie_v2(c->card, c->device, &v2)))
            keep_address(c, (unsigned)v2.domain, v2.bus, v2.dev, v2.fn);
    } else if (s->api.pcie_v1) {
        watch_at(s->where, "dcmi_get_device_pcie_info", nth);
        if (good(c, s->api.pcie_v1(c->card, c->device, &v1)))
            keep_address(c, 0, v1.bus, v1.dev, v1.fn);
    }
}

/* The library's texts fill their fields without an end. */
static void keep_text(char to[33], const unsigned char from[32])
{
    memcpy(to, from, 32);
    to[32] = 0;
}

static void read_kind(struct session *s, struct dcmi_chip *c, int nth)
{
    struct dcmi_chip_info info = { .cores = UINT_MAX };

    if (!s->api.chip || c->lost)
        return;
    watch_at(s->where, "dcmi_get_device_chip_info", nth);
    if (!good(c, s->api.chip(c->card, c->device, &info)))
        return;
    keep_text(c->type, info.type);
    keep_text(c->name, info.name);
    keep_text(c->version, info.version);
    if (info.cores <= INT_MAX)
        c->cores = (int)info.cores;
}

/* Documented as MiB; drivers of the first 910 gave KiB. No chip has 4 TiB: above, it is KiB. */
int64_t dcmi_hbm_bytes(unsigned long long size, unsigned long long of)
{
    const unsigned long long mib_max = 4ull << 20;

    if (of == 0 || of > mib_max << 10 || size > of)
        return ABSENT;
    return (int64_t)size << (of > mib_max ? 10 : 20);
}

static void read_memory(struct session *s, struct dcmi_chip *c, int nth)
{
    struct dcmi_hbm_info hbm = { .size = 0 };

    if (!s->api.hbm || c->lost)
        return;
    watch_at(s->where, "dcmi_get_device_hbm_info", nth);
    if (good(c, s->api.hbm(c->card, c->device, &hbm)))
        c->memory_b = dcmi_hbm_bytes(hbm.size, hbm.size);
}

static void read_health(struct session *s, struct dcmi_chip *c, int nth)
{
    unsigned health;

    if (!s->api.health || c->lost)
        return;
    watch_at(s->where, "dcmi_get_device_health", nth);
    if (!good(c, s->api.health(c->card, c->device, &health)))
        return;
    if (health == DCMI_HEALTH_ABSENT)
        c->lost = true;
    else if (health <= INT_MAX)
        c->health = (int)health;
}

static void read_card(struct session *s, struct dcmi_reading *r, int card)
{
    int count = 0;

    watch_at(s->where, "dcmi_get_device_num_in_card", card);
    if (s->api.count(card, &count) != DCMI_OK)
        return;
    for (int i = 0; i < count && r->n_chips < DCMI_CHIPS; i++) {
        int nth = (int)r->n_chips;
        struct dcmi_chip *c = &r->chips[r->n_chips++];

        c->card = card;
        c->device = i;
        read_address(s, c, nth);
        read_kind(s, c, nth);
        read_memory(s, c, nth);
        read_health(s, c, nth);
    }
}

static int read_all(struct session *s, struct dcmi_reading *r, struct err *e)
{
    int cards[DCMI_CHIPS], count = 0, code;

    if (!s->api.init || !s->api.cards || !s->api.count)
        return err_set(e, -ENOSYS, "libdcmi.so has no %s: it is not Huawei's, or damaged",
                       !s->api.init    ? "dcmi_init"
                       : !s->api.cards ? "dcmi_get_card_list"
                                       : "dcmi_get_device_num_in_card");
    watch_at(s->where, "dcmi_init", ABSENT);
    code = s->api.init();
    if (code != DCMI_OK)
        return err_set(e, -ENODEV,
                       "dcmi_init answers error %d: is the Ascend driver loaded? see npu-smi info",
                       code);
    watch_at(s->where, "dcmi_get_card_list", ABSENT);
    code = s->api.cards(&count, cards, DCMI_CHIPS);
    if (code != DCMI_OK)
        return err_set(e, -EIO, "dcmi_get_card_list answers error %d: see npu-smi info", code);
    for (int i = 0; i < MIN(count, (int)DCMI_CHIPS); i++)
        read_card(s, r, cards[i]);
    return 0;
}

int dcmi_lib_read(struct dcmi_reading *r, struct watch_where *where, struct err *e)
{
    struct session s = { .where = where };
    void *library = NULL;
    int rc;

    dcmi_reading_init(r);
    rc = load(&s, &library, e);
    if (rc == 0)
        rc = read_all(&s, r, e);
    if (library)
        dlclose(library);
    return rc;
}
