#include "probe/source/pciconf.h"

#include "model/machine/pcie.h"

/* PCI Express Base Specification 5.0: 7.5.1 (header), 7.5.3 (PCI Express capability), 7.7.8
 * (ACS). */
enum {
    STATUS = 0x06,
    STATUS_CAP_LIST = 0x10,
    CAP_POINTER = 0x34,
    CAP_EXPRESS = 0x10,
    EXPRESS_FLAGS = 2,
    EXPRESS_DEVICE_CAP = 4,
    EXPRESS_DEVICE_CONTROL = 8,
    EXTENDED_START = 0x100,
    EXTENDED_ACS = 0x000d,
    ACS_CONTROL = 6,
    LIST_MAX = 96,
    NO_ANSWER = 0xffff, /* of a function that is gone: every read gives ones */
};

static unsigned word(const uint8_t *bytes, size_t len, size_t at)
{
    return at + 2 <= len ? (unsigned)bytes[at] | (unsigned)bytes[at + 1] << 8 : 0;
}

static void express(const uint8_t *bytes, size_t len, size_t cap, struct pciconf *ret)
{
    unsigned control = word(bytes, len, cap + EXPRESS_DEVICE_CONTROL);

    if (cap + EXPRESS_DEVICE_CONTROL + 2 > len)
        return;
    ret->port_type = (int)(word(bytes, len, cap + EXPRESS_FLAGS) >> 4 & 0xf);
    ret->slot = (int)(word(bytes, len, cap + EXPRESS_FLAGS) >> 8 & 1);
    ret->max_payload_cap_b = 128 << (word(bytes, len, cap + EXPRESS_DEVICE_CAP) & 7);
    ret->max_payload_b = 128 << (control >> 5 & 7);
    ret->max_read_b = 128 << (control >> 12 & 7);
    ret->relaxed_ordering = (int)(control >> 4 & 1);
}

void pciconf_parse(const uint8_t *bytes, size_t len, struct pciconf *ret)
{
    size_t at;

    *ret = (struct pciconf){ ABSENT, ABSENT, ABSENT, ABSENT, ABSENT, ABSENT, ABSENT, 0 };
    if (len < 64 || word(bytes, len, 0) == NO_ANSWER ||
        !(word(bytes, len, STATUS) & STATUS_CAP_LIST))
        return;
    at = bytes[CAP_POINTER] & 0xfcu;
    for (int i = 0; i < LIST_MAX && at >= 64 && at + 2 <= len; i++) {
        if (bytes[at] == CAP_EXPRESS)
            express(bytes, len, at, ret);
        at = bytes[at + 1] & 0xfcu;
    }
    ret->extended = len >= EXTENDED_START + 4 && word(bytes, len, EXTENDED_START) != NO_ANSWER;
    if (!ret->extended)
        return;
    at = EXTENDED_START;
    for (int i = 0; i < LIST_MAX && at >= EXTENDED_START && at + 4 <= len; i++) {
        if (word(bytes, len, at) == EXTENDED_ACS && at + ACS_CONTROL + 2 <= len)
            ret->acs = (int)word(bytes, len, at + ACS_CONTROL);
        at = word(bytes, len, at + 2) >> 4 & 0xffc;
    }
}
