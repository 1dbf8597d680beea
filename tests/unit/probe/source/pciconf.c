#include "probe/source/pciconf.h"

#include <string.h>

#include "model/machine/pcie.h"
#include "tap.h"

static void put16(uint8_t *space, size_t at, unsigned value)
{
    space[at] = (uint8_t)value;
    space[at + 1] = (uint8_t)(value >> 8);
}

/* A capability of the first list, with the next one behind it. */
static void put_cap(uint8_t *space, size_t at, unsigned id, unsigned next)
{
    space[at] = (uint8_t)id;
    space[at + 1] = (uint8_t)next;
}

/* An extended one: id, version 1, next. */
static void put_extended(uint8_t *space, size_t at, unsigned id, unsigned next)
{
    put16(space, at, id);
    put16(space, at + 2, next << 4 | 1);
}

/* A downstream port: power management, PCI Express, ACS behind error reporting. */
static void make(uint8_t space[PCICONF_SIZE])
{
    memset(space, 0, PCICONF_SIZE);
    put16(space, 0, 0x10b5);
    put16(space, 6, 0x0010);
    space[0x34] = 0x40;
    put_cap(space, 0x40, 0x01, 0x68);
    put_cap(space, 0x68, 0x10, 0);
    put16(space, 0x6a, 6 << 4 | 2 | 1 << 8); /* version 2, downstream port with a slot */
    put16(space, 0x6c, 2);                   /* can 512 bytes */
    put16(space, 0x70, 1 << 5 | 5 << 12 | 1 << 4);
    put_extended(space, 0x100, 0x0001, 0x148);
    put_extended(space, 0x148, 0x000d, 0);
    put16(space, 0x14e, 0x1d);
}

static void is_nothing(const struct pciconf *c, const char *what)
{
    ok(c->port_type == ABSENT && c->max_payload_b == ABSENT && c->max_payload_cap_b == ABSENT &&
           c->max_read_b == ABSENT && c->relaxed_ordering == ABSENT && c->acs == ABSENT &&
           c->slot == ABSENT && c->extended == 0,
       "%s", what);
}

static void test_whole(void)
{
    uint8_t space[PCICONF_SIZE];
    struct pciconf c;

    make(space);
    pciconf_parse(space, sizeof(space), &c);
    is_int(c.port_type, 6, "a downstream port has its type");
    is_int(c.slot, 1, "a downstream port has a slot");
    is_int(c.max_payload_cap_b, 512, "a port can packets of 512 bytes");
    is_int(c.max_payload_b, 256, "a port is set to packets of 256 bytes");
    is_int(c.max_read_b, 4096, "a port reads 4,096 bytes at once");
    is_int(c.relaxed_ordering, 1, "a port has relaxed ordering on");
    is_int(c.acs, 0x1d, "a port has its ACS control");
    is_int(c.extended, 1, "a whole space has its extended part");

    put16(space, 0x6a, 0x0002);
    put16(space, 0x6c, 5);
    put16(space, 0x70, 0);
    pciconf_parse(space, sizeof(space), &c);
    ok(c.port_type == 0 && c.slot == 0, "an endpoint has its type and no slot");
    ok(c.max_payload_cap_b == 4096 && c.max_payload_b == 128 && c.max_read_b == 128,
       "an endpoint has its sizes of packets and reads");
    is_int(c.relaxed_ordering, 0, "an endpoint has relaxed ordering off");
}

/* What a process without rights sees: 64 bytes; and other lengths at which a space may end. */
static void test_truncated(void)
{
    uint8_t space[PCICONF_SIZE];
    struct pciconf c;
    bool good = true;

    make(space);
    for (size_t len = 0; len <= sizeof(space); len++) {
        uint8_t *part = malloc(len); /* of exactly that size: a sanitizer sees more */

        memcpy(part, space, len);
        pciconf_parse(part, len, &c);
        free(part);
        good = good && c.extended == (len >= 0x104);
        good = good && (c.port_type == 6) == (len >= 0x72);
        good = good && (c.max_read_b == 4096) == (len >= 0x72);
        good = good && (c.acs == 0x1d) == (len >= 0x150);
    }
    ok(good, "every length gives what is whole in it");
    pciconf_parse(space, 64, &c);
    is_nothing(&c, "64 bytes say nothing");
    pciconf_parse(space, 256, &c);
    ok(c.port_type == 6 && c.acs == ABSENT && !c.extended,
       "256 bytes do not say whether it has ACS");
}

static void test_without(void)
{
    uint8_t space[PCICONF_SIZE];
    struct pciconf c;

    make(space);
    put16(space, 6, 0);
    pciconf_parse(space, sizeof(space), &c);
    is_nothing(&c, "a space without a capability list says nothing");
    make(space);
    put_cap(space, 0x40, 0x01, 0);
    pciconf_parse(space, sizeof(space), &c);
    ok(c.port_type == ABSENT && c.acs == 0x1d, "a space without PCI Express may have ACS");
    make(space);
    put_extended(space, 0x100, 0x0001, 0);
    pciconf_parse(space, sizeof(space), &c);
    ok(c.port_type == 6 && c.acs == ABSENT && c.extended == 1,
       "a whole space without ACS is known to have none");
}

/* A function that fell off the bus answers every read with ones. */
static void test_gone(void)
{
    uint8_t space[PCICONF_SIZE];
    struct pciconf c;

    memset(space, 0xff, sizeof(space));
    pciconf_parse(space, sizeof(space), &c);
    is_nothing(&c, "a function that does not answer says nothing");
    make(space);
    memset(space + 0x100, 0xff, sizeof(space) - 0x100);
    pciconf_parse(space, sizeof(space), &c);
    ok(c.port_type == 6 && c.acs == ABSENT && !c.extended,
       "an extended space that does not answer is not readable");
    make(space);
    put16(space, 0x100, 0xffff);
    pciconf_parse(space, sizeof(space), &c);
    ok(c.acs == ABSENT && !c.extended, "nothing is read behind a first extended header of ones");
}

static void test_loops(void)
{
    uint8_t space[PCICONF_SIZE];
    struct pciconf c;

    make(space);
    put_cap(space, 0x40, 0x01, 0x40);
    pciconf_parse(space, sizeof(space), &c);
    is_int(c.port_type, ABSENT, "a list that loops ends");
    make(space);
    put_cap(space, 0x68, 0x10, 0x40);
    pciconf_parse(space, sizeof(space), &c);
    is_int(c.port_type, 6, "a list that loops behind PCI Express keeps it");
    make(space);
    put_extended(space, 0x148, 0x000d, 0x100);
    pciconf_parse(space, sizeof(space), &c);
    is_int(c.acs, 0x1d, "an extended list that loops behind ACS keeps it");
    make(space);
    put_extended(space, 0x100, 0x0001, 0x100);
    pciconf_parse(space, sizeof(space), &c);
    is_int(c.acs, ABSENT, "an extended list that leads to itself ends");
}

static void test_bad_pointers(void)
{
    uint8_t space[PCICONF_SIZE];
    struct pciconf c;

    make(space);
    space[0x34] = 0x10;
    put_cap(space, 0x10, 0x10, 0); /* an address register that looks like a capability */
    pciconf_parse(space, sizeof(space), &c);
    is_int(c.port_type, ABSENT, "a pointer into the header ends the list");
    make(space);
    space[0x34] = 0x43; /* the two lowest bits are reserved */
    pciconf_parse(space, sizeof(space), &c);
    is_int(c.port_type, 6, "reserved bits are masked");
    make(space);
    put_cap(space, 0x40, 0x01, 0xfc);
    put_cap(space, 0xfc, 0x10, 0);
    pciconf_parse(space, 256, &c);
    is_int(c.port_type, ABSENT, "a capability that ends behind the space is none");
    make(space);
    put_extended(space, 0x100, 0x0001, 0x040);
    pciconf_parse(space, sizeof(space), &c);
    is_int(c.acs, ABSENT, "an extended pointer into the first space ends the list");
    make(space);
    put_extended(space, 0x100, 0x0001, 0xffc);
    put_extended(space, 0xffc, 0x000d, 0);
    pciconf_parse(space, sizeof(space), &c);
    is_int(c.acs, ABSENT, "an extended capability that ends behind the space is none");
}

int main(void)
{
    test_whole();
    test_truncated();
    test_without();
    test_gone();
    test_loops();
    test_bad_pointers();
    return done();
}
