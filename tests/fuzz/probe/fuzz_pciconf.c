#include "fuzz.h"
#include "model/machine/pcie.h"
#include "probe/source/pciconf.h"

/* Absent, or a power of two that the register can say. */
static bool is_size(int bytes)
{
    return bytes == ABSENT || (bytes >= 128 && bytes <= 16384 && (bytes & (bytes - 1)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pciconf c;

    pciconf_parse(data, size, &c);
    check(c.port_type >= ABSENT && c.port_type <= 15);
    check(is_size(c.max_payload_b) && is_size(c.max_payload_cap_b) && is_size(c.max_read_b));
    check(c.relaxed_ordering >= ABSENT && c.relaxed_ordering <= 1);
    check(c.slot >= ABSENT && c.slot <= 1);
    check(c.acs >= ABSENT && c.acs <= 0xffff);
    check(c.extended == 0 || (c.extended == 1 && size >= 260));
    check(c.acs == ABSENT || c.extended);
    check((c.port_type == ABSENT) == (c.max_read_b == ABSENT));
    return 0;
}
