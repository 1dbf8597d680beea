/* What texts beside measurements say of the network between nodes. */
#include <math.h>
#include <string.h>

#include "plan/measured/rows_network.h"
#include "tap.h"

static const struct row_node a100 = { "A100-SXM-80GB", false, 8, 8 };
static const struct row_node h100 = { "H100", true, 8, 8 };
static const struct row_node bare = { "A100", false, 8, 0 };
static const struct row_node unnamed = { "", false, 8, 8 }, letter = { "X", false, 8, 8 };

/* Gbit/s of a node; -1: the text says nothing of a network, 0: it was not understood. */
static double gbps(const char *text, const struct row_node *node)
{
    struct row_network n;

    return row_network_read(text, node, &n) ? n.rate * 8 / 1e9 : -1;
}

static void test_rates(void)
{
    static const struct {
        const char *text;
        const struct row_node *node;
        double gbps;
    } rows[] = {
        { "800Gb/s per node", &a100, 800 },
        { "800Gb/s/node", &a100, 800 },
        { "1,600 Gb/s a node", &a100, 1600 },
        { "1.6 Tb/s per node", &a100, 1600 },
        { "1600 Gbps node-node interconnect (RoCE)", &a100, 1600 },
        { "inter-node 800Gb/s taken from a file", &a100, 800 },
        { "4x100Gb", &a100, 400 },
        { "4x100Gb/s Omni-Path", &a100, 400 },
        { "8x 200 Gb/s", &a100, 1600 },
        { "200 Gbps x8", &a100, 1600 },
        { "8x400G", &h100, 3200 },
        { "Omni-Path 4x100Gb/s per node", &a100, 400 },
        { "InfiniBand NDR 8x400Gb/s", &h100, 3200 },
        { "Slingshot-11 (4 NICs per node)", &a100, 800 },
        { "HDR x4", &a100, 800 },
        { "HDR x1", &a100, 200 },
        { "EDR x64", &a100, 6400 },
        { "2 EDR links", &a100, 200 },
        { "1 EDR link", &a100, 100 },
        { "1xHDR per node", &a100, 200 },
        { "64 EDR links", &a100, 6400 },
        { "8xHDR 200Gb/s per node", &a100, 1600 },
        { "Selene 8xHDR per node", &a100, 1600 },
        { "8 NICs of 400Gb/s RoCE", &h100, 3200 },
        { "4 x HDR-100", &a100, 400 },
        { "4x Slingshot 11", &a100, 800 },
        { "one 200 Gb/s HDR port per node", &a100, 200 },
        { "HDR 200 Gb/s per GPU", &a100, 1600 },
        { "400 Gbps per GPU", &h100, 3200 },
        { "400 Gb/s per port and GPU", &h100, 3200 },
        { "50 GB/s InfiniBand per GPU", &h100, 3200 },
        { "4xIB = 800 Gb/s per node", &a100, 800 },
        { "NVLink 600 GB/s, IB 8x200Gb/s", &a100, 1600 },
        { "InfiniBand HDR, 4x200Gb/s", &a100, 800 },
        { "A100 400Gb/s, H100 800Gb/s per node", &a100, 400 },
        { "A100 400Gb/s, H100 800Gb/s per node", &h100, 800 },
        { "4x200Gb/s per node and 8 GPUs a node", &h100, 800 },
        { "A100 4x200Gb/s, H100 8x400Gb/s", &h100, 3200 },
        { "A100 4x200Gb/s, H100 8x400Gb/s", &a100, 800 },
        { "200Gb/s of xHDR", &a100, 200 },
        { "100Gb/s HDR", &a100, 100 },
        { "4x100Gb/s, 800Gb/s per node", &unnamed, 400 },
        { "Y 400Gb/s per node, X 800Gb/s per node", &letter, 800 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct row_network n;

        ok(row_network_read(rows[i].text, rows[i].node, &n) &&
               fabs(n.rate * 8 / 1e9 - rows[i].gbps) < 1e-6 && !n.ports_assumed,
           "the text '%s' states a node of %s with %.0f Gbit/s", rows[i].text, rows[i].node->gpu,
           rows[i].gbps);
    }
}

/* A port is stated and not how many there are. */
static void test_ports(void)
{
    static const struct {
        const char *text;
        const struct row_node *node;
        double gbps;
    } rows[] = { { "InfiniBand NDR", &h100, 3200 },
                 { "NDR 400Gb/s InfiniBand", &h100, 3200 },
                 { "HDR", &bare, 1600 },
                 { "200 Gb/s HDR", &a100, 1600 },
                 { "200 Gb/s over HDR", &a100, 1600 },
                 { "200 Gb/s HDR in one node", &a100, 1600 },
                 { "200 Gb/s HDR to the GPU", &a100, 1600 },
                 { "25 GB/s HDR", &a100, 1600 },
                 { "100Gb/s Omni-Path", &a100, 400 },
                 { "200Gb/s per port", &a100, 1600 },
                 { "Slingshot 10", &a100, 800 },
                 { "OPA", &a100, 400 },
                 { "Omni-Path", &a100, 400 },
                 { "EFA", &a100, 400 },
                 { "EFA", &h100, 3200 } };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct row_network n;

        ok(row_network_read(rows[i].text, rows[i].node, &n) &&
               fabs(n.rate * 8 / 1e9 - rows[i].gbps) < 1e-6 && n.ports_assumed,
           "the text '%s' states a port; a node of %s has %.0f Gbit/s of them", rows[i].text,
           rows[i].node->gpu, rows[i].gbps);
    }
}

static void test_others(void)
{
    static const char *const unknown[] = {
        "RoCE", "InfiniBand",      "100 NICs",   "EFA",          "the fabric", "Infiniband",
        "IB",   "RoCEv2",          "Ethernet",   "one NIC",      "HCA",        "two HCAs",
        "TCPX", "GPUDirect-TCPXO", "cross-node", "interconnect",
    };
    static const char *const none[] = { "900 GB/s",      "NVLink 600Gb/s",  "storage 100 Gb/s",
                                        "8x A100 80GB",  "convergence run", "10-32 GPUs",
                                        "HDRI pictures", "4x100GB",         "A100 80Gb",
                                        "1e9Gb" };
    static const struct row_node half = { "V100", false, 4, 0 }, four = { "H100", true, 4, 4 };
    struct row_network n;

    for (size_t i = 0; i < ARRAY_SIZE(unknown); i++)
        ok(row_network_read(unknown[i], &half, &n) && n.rate == 0 && n.phrase[0],
           "the network in '%s' is one without a rate", unknown[i]);
    ok(gbps("EFA", &four) == 0, "EFA has a rate in nodes of eight GPUs alone");
    ok(gbps("EFAs", &h100) == -1, "the text 'EFAs' says nothing of a network");
    for (size_t i = 0; i < ARRAY_SIZE(none); i++)
        ok(gbps(none[i], &a100) == -1, "the text '%s' says nothing of a network", none[i]);
}

static void test_phrase(void)
{
    struct row_network n;
    char text[200];

    ok(row_network_read("HFU=74; FSDP; 8xHDR 200Gb/s per node, 8 GPUs", &a100, &n),
       "a network is found behind other words");
    is_str(n.phrase, "8xHDR 200Gb/s per node", "the phrase is that of the network alone");
    ok(row_network_read("tuned; Foo fabric", &a100, &n), "a fabric without a rate is a network");
    is_str(n.phrase, "Foo fabric", "the phrase that was not understood is its clause");
    memset(text, 'x', sizeof(text));
    memcpy(text, "800 Gb/s ", 9);
    text[sizeof(text) - 1] = '\0';
    ok(row_network_read(text, &a100, &n) && strlen(n.phrase) == ROW_PHRASE - 1,
       "a long phrase is cut");
}

int main(void)
{
    test_rates();
    test_ports();
    test_others();
    test_phrase();
    return done();
}
