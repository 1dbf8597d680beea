/* The pool that brim sim --what-if makes of another one. */
#include "cmd/sim/what.h"

#include <errno.h>
#include <string.h>

#include "tap.h"

enum { TEXT = 512 };

/* "2x8:A100 ..." of runs of equal nodes. */
static const char *told(const struct pool *p, char text[TEXT])
{
    size_t len = 0;

    text[0] = '\0';
    for (size_t i = 0, n; i < p->n_nodes && len < TEXT; i += n) {
        const struct pool_node *a = &p->nodes[i];

        for (n = 1; i + n < p->n_nodes && p->nodes[i + n].kind == a->kind &&
                    p->nodes[i + n].devices == a->devices;)
            n++;
        len += (size_t)snprintf(text + len, TEXT - len, "%s%zux%d:%s", i ? " " : "", n, a->devices,
                                p->kinds[a->kind]);
    }
    return text;
}

static const char *changed(const char *nodes, const char *change, char text[TEXT])
{
    CLEANUP(pool_done) struct pool from = { .n_nodes = 0 };
    struct pool to = { .n_nodes = 0 };
    struct err e = { "" };

    if (pool_parse(&from, nodes, &e) < 0)
        snprintf(text, TEXT, "%s", e.text);
    else if (sim_what_pool(&to, &from, change, &e) < 0)
        snprintf(text, TEXT, "! %s", e.text);
    else
        told(&to, text);
    pool_done(&to);
    return text;
}

static void test_changes(void)
{
    static const struct {
        const char *nodes, *change, *want;
    } cases[] = {
        { "4x8:A100", "nodes=+2", "6x8:A100" },
        { "4x8:A100", "+2", "6x8:A100" },
        { "2x8:A100,3x4:T4", "+1", "2x8:A100 4x4:T4" },
        { "3x8:A100,2x4:T4", "+1", "3x8:A100 2x4:T4 1x8:A100" },
        { "2x8:A100,2x4:A100", "+1", "2x8:A100 2x4:A100 1x8:A100" },
        { "2x8:A100,3x4:T4", "+1x8", "2x8:A100 3x4:T4 1x8:A100" },
        { "4x8:A100", "+2x4:T4", "4x8:A100 2x4:T4" },
        { "4x8:A100", "+1x16:T4", "4x8:A100 1x16:T4" },
        { "4x8:A100,1x4:T4", "+2:T4", "4x8:A100 3x4:T4" },
        { "4x8:A100", "-1", "3x8:A100" },
        { "2x8:A100,3x4:T4", "-1:A100", "1x8:A100 3x4:T4" },
        { "2x8:A100,3x4:T4", "-2x8", "3x4:T4" },
        { "2x8:A100,3x4:T4", "-3", "2x8:A100" },
        { "4x8:A100", "+2x4:T4,-3:A100", "1x8:A100 2x4:T4" },
        { "4x8:A100", "-4", "! --what-if: 4 of 4 nodes cannot go" },
        { "4x8:A100,1x4:T4", "-5:A100", "! --what-if: 5 of 4 nodes cannot go" },
        { "4x8:A100", "+2:T4", "! --what-if: no node has T4: say how many devices, +2x8:T4" },
        { "4x8:A100", "2",
          "! --what-if 2: write nodes=+16, +4x8:A100, -8 or -8:A100, several parted by commas" },
        { "4x8:A100", "+0",
          "! --what-if +0: write nodes=+16, +4x8:A100, -8 or -8:A100, several parted by commas" },
        { "4x8:A100", "+1x0",
          "! --what-if +1x0: write nodes=+16, +4x8:A100, -8 or -8:A100, several parted by commas" },
        { "4x8:A100", "+1x17",
          "! --what-if +1x17: write nodes=+16, +4x8:A100, -8 or -8:A100, several parted by "
          "commas" },
        { "4x8:A100", "+1048577",
          "! --what-if +1048577: write nodes=+16, +4x8:A100, -8 or -8:A100, several parted by "
          "commas" },
    };
    char text[TEXT];

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        is_str(changed(cases[i].nodes, cases[i].change, text), cases[i].want, "%s with %s",
               cases[i].nodes, cases[i].change);
}

/* What a node has besides devices is that of its likes; where it is wired nobody has said. */
static void test_like_others(void)
{
    CLEANUP(pool_done) struct pool from = { .n_nodes = 0 };
    CLEANUP(pool_done) struct pool to = { .n_nodes = 0 };
    const struct pool_node as = { .name = "n1",
                                  .memory_mib = 512,
                                  .cpus_milli = 64000,
                                  .domain = 1,
                                  .leaf = 2,
                                  .spine = 3,
                                  .rack = 4,
                                  .devices = 8 };
    const struct pool_node *made;
    struct err e = { "" };

    is_int(pool_add(&from, &as, "A100", &e), 0, "a pool is made: %s", e.text);
    is_int(sim_what_pool(&to, &from, "+1", &e), 0, "a node is added: %s", e.text);
    is_int((long long)to.n_nodes, 2, "the pool has one node more");
    made = &to.nodes[1];
    ok(made->memory_mib == 512 && made->cpus_milli == 64000 && made->devices == 8,
       "a node that is added has what its likes have");
    ok(!made->domain && !made->leaf && !made->spine && !made->rack,
       "a node that is added is at no known place of the network");
    ok(to.nodes[0].leaf == 2 && to.nodes[0].rack == 4, "nodes that stay keep their places");
}

int main(void)
{
    test_changes();
    test_like_others();
    return done();
}
