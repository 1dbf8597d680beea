#include "model/machine/pool.h"

#include <stdio.h>

#include "tap.h"

/* What pool_parse() makes of a text, in a line: each node's devices, domain, leaf, spine, kind. */
static const char *parsed(const char *text)
{
    static char line[1024];
    struct pool p = { .n_nodes = 0 };
    struct err e = { "" };
    int rc = pool_parse(&p, text, &e);
    size_t len = 0;

    if (rc < 0)
        snprintf(line, sizeof(line), "%d %s", rc, e.text);
    else
        len = (size_t)snprintf(line, sizeof(line), "%lld/%d", (long long)p.devices, p.most);
    for (size_t i = 0; rc == 0 && i < p.n_nodes && i < 12; i++) {
        const struct pool_node *n = &p.nodes[i];

        len += (size_t)snprintf(line + len, sizeof(line) - len, " %s:%d:%d.%d.%d:%s", n->name,
                                n->devices, (int)n->domain, (int)n->leaf, (int)n->spine,
                                p.kinds[n->kind]);
    }
    pool_done(&p);
    return line;
}

/* Only the numbers, of pools too large for a line. */
static const char *counted(const char *text)
{
    static char line[1024];
    struct pool p = { .n_nodes = 0 };
    struct err e = { "" };
    int rc = pool_parse(&p, text, &e);

    if (rc < 0)
        snprintf(line, sizeof(line), "%s", e.text);
    else
        snprintf(line, sizeof(line), "%zu %lld %d %s", p.n_nodes, (long long)p.devices, p.most,
                 p.nodes[p.n_nodes - 1].name);
    pool_done(&p);
    return line;
}

static const char wrong[] =
    "-22 nodes are written as 64x8, 64x8/16 (nodes of a leaf), 72x4=18/36/2 "
    "(of an NVLink domain, of a leaf, leaves of a spine) or "
    "32x8:A100,4x4:T4";

static void test_texts(void)
{
    static const char *const none[] = { "",       "x",       "8",       "x8",     "8x",
                                        "2x4x1",  "-1x8",    "2x8/",    "2x8/0",  "2x8/a",
                                        "2x8//1", "2x8/1/0", "2x8/1/a", "2x8/1/", "2x8=0",
                                        "2x8=",   "2x8=a",   "2x8,",    ",2x8",   "2x8/1/1/1",
                                        "2x8=0/1" };

    is_str(parsed("1x1"), "1/1 n0:1:0.0.0:", "1x1 is one node with one device");
    is_str(parsed("2x4,1x8"),
           "16/8 n0:4:0.0.0: n1:4:0.0.0: n2:8:0.0.0:", "two groups stand one behind the other");
    is_str(parsed("1x8,2x4"), "16/8 n0:8:0.0.0: n1:4:0.0.0: n2:4:0.0.0:",
           "a node with the most devices may come first");
    is_str(parsed("1x8:A100,1x4:T4,1x2:A100"), "14/8 n0:8:0.0.0:A100 n1:4:0.0.0:T4 n2:2:0.0.0:A100",
           "each group names its kind");
    is_str(parsed("5x1/2"), "5/1 n0:1:0.1.0: n1:1:0.1.0: n2:1:0.2.0: n3:1:0.2.0: n4:1:0.3.0:",
           "a number after one slash puts so many nodes below a leaf");
    is_str(parsed("6x1/2/2"),
           "6/1 n0:1:0.1.1: n1:1:0.1.1: n2:1:0.2.1: n3:1:0.2.1: n4:1:0.3.2: n5:1:0.3.2:",
           "a number after two slashes puts so many leaves below a spine");
    is_str(parsed("4x1=2/4/1"), "4/1 n0:1:1.1.1: n1:1:1.1.1: n2:1:2.1.1: n3:1:2.1.1:",
           "a number after '=' puts so many nodes into a domain");
    is_str(parsed("3x1=2"),
           "3/1 n0:1:1.0.0: n1:1:1.0.0: n2:1:2.0.0:", "a domain stands without a leaf");
    is_str(parsed("2x1/2,2x1/2"), "4/1 n0:1:0.1.0: n1:1:0.1.0: n2:1:0.2.0: n3:1:0.2.0:",
           "leaves of a second group go on counting");
    for (size_t i = 0; i < ARRAY_SIZE(none); i++)
        is_str(parsed(none[i]), wrong, "'%s' names no nodes", none[i]);
}

static void test_limits(void)
{
    is_str(counted("1x16"), "1 16 16 n0", "a node may have 16 devices");
    is_str(counted("1x17"), "1 to 1048576 nodes with 1 to 16 devices each",
           "a node may not have 17 devices");
    is_str(counted("1x0"), "1 to 1048576 nodes with 1 to 16 devices each",
           "a group's nodes have devices");
    is_str(counted("0x1"), "1 to 1048576 nodes with 1 to 16 devices each", "a group has nodes");
    is_str(counted("1048576x1"), "1048576 1048576 1 n1048575", "a pool may have 1048576 nodes");
    is_str(counted("1048577x1"), "1 to 1048576 nodes with 1 to 16 devices each",
           "a group may not have 1048577 nodes");
    is_str(counted("1048576x1,1x1"), "more than 1048576 nodes",
           "two groups may not have more nodes than one");
    is_str(counted("1x1=1048576/1048576/1048576"), "1 1 1 n0",
           "a switch may have 1048576 nodes below it");
    is_str(counted("1x1=1048577"), "more than 1048576 nodes below a switch",
           "a domain may not have 1048577 nodes");
    is_str(counted("1x1/1048577"), "more than 1048576 nodes below a switch",
           "a leaf may not have 1048577 nodes");
    is_str(counted("1x1/1/1048577"), "more than 1048576 nodes below a switch",
           "a spine may not have 1048577 leaves");
}

static void test_adding(void)
{
    struct pool p = { .n_nodes = 0 };
    struct pool_node n = { .devices = 0, .name = "first", .memory_mib = 7, .rack = 3 };
    struct err e = { "" };
    char kind[16];

    is_int(pool_add(&p, &n, NULL, &e), -22, "a node without devices is refused");
    is_str(e.text, "a node has 1 to 16 devices, not 0", "the refusal says how many there may be");
    n.devices = 17;
    is_int(pool_add(&p, &n, NULL, &e), -22, "a node with 17 devices is refused");
    n.devices = 16;
    is_int(pool_add(&p, &n, NULL, &e), 0, "a node with 16 devices is added");
    is_str(p.nodes[0].name, "first", "a node keeps its name");
    is_int(p.nodes[0].rack, 3, "a node keeps its rack");
    is_int(p.nodes[0].memory_mib, 7, "a node keeps its memory");
    is_int(pool_kind(&p, ""), 0, "a kind without a name has a number");
    is_int(pool_kind(&p, "k1"), -1, "a kind that no node has has no number");
    n = (struct pool_node){ .devices = 1 };
    for (int i = 1; i < POOL_KINDS; i++) {
        snprintf(kind, sizeof(kind), "k%d", i);
        if (pool_add(&p, &n, kind, &e) != 0 || pool_kind(&p, kind) != i || p.nodes[i].kind != i)
            ok(false, "kind %d is added as the one after the last", i);
    }
    is_int((long long)p.n_kinds, 64, "a pool has 64 kinds");
    is_str(p.nodes[63].name, "n63", "a node without a name is called by its number");
    is_int(pool_add(&p, &n, "k64", &e), -22, "a kind more than 64 is refused");
    is_str(e.text, "more than 64 kinds of devices", "the refusal says how many kinds there may be");
    is_int(pool_add(&p, &n, "k63", &e), 0, "the last kind may come again");
    is_int(p.devices, 16 + 64, "the devices of all nodes are counted");
    is_int(p.most, 16, "the most devices of a node are kept");
    pool_done(&p);
    is_int((long long)p.n_kinds, 0, "a pool that is done has no kinds");
}

int main(void)
{
    test_texts();
    test_limits();
    test_adding();
    return done();
}
