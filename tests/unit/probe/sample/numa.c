#include "sampled.h"

extern const struct sampler_ops sampler_numa;

#define NODE "sys/devices/system/node/node"

static void test_values(struct sampled *s)
{
    folder_text(s->folder, NODE "0/meminfo",
                "Node 0 MemTotal:        9005260 kB\nNode 0 MemFree:         7680960 kB\n"
                "Node 0 MemUsed:         1324300 kB\nNode 0 FilePages:        915120 kB\n"
                "Node 0 AnonPages:         45020 kB\nNode 0 HugePages_Total:     0\n");
    folder_text(s->folder, NODE "0/numastat",
                "numa_hit 212087611\nnuma_miss 1\nnuma_foreign 2\ninterleave_hit 1133\n"
                "local_node 3\nother_node 4\n");
    folder_text(s->folder, NODE "17/meminfo",
                "Node 17 MemTotal: 18446744073709551616 kB\n\nNode\n"
                "Node x MemFree: 1 kB\nMemFree: 2 kB\nFilePages: 3 kB\nNode 17 AnonPages:");
    is_int(sampled_open(s), 0, "the sampler opens with two nodes");
    is_int(sampled_at(s, 0), 2, "two nodes have rows");
    is_value(s, "0", "total_bytes", "9221386240");
    is_value(s, "0", "free_bytes", "7865303040");
    is_value(s, "0", "file_bytes", "937082880");
    is_value(s, "0", "anonymous_bytes", "46100480");
    is_value(s, "0", "hit_total", "212087611");
    is_value(s, "0", "miss_total", "1");
    is_value(s, "0", "foreign_total", "2");
    is_value(s, "0", "local_total", "3");
    is_value(s, "0", "other_total", "4");
    is_value(s, "17", "total_bytes", "absent");
    is_value(s, "17", "free_bytes", "absent");
    is_value(s, "17", "file_bytes", "absent");
    is_value(s, "17", "hit_total", "absent");
    folder_text(s->folder, NODE "17/meminfo", "");
    is_int(sampled_at(s, 1), 1, "a node that says nothing has no row");
}

int main(void)
{
    struct sampled s;

    sampled_make(&s, &sampler_numa);
    is_int(sampled_open(&s), -ENOENT, "the sampler does not open without nodes");
    test_values(&s);
    sampled_oom(&s);
    sampled_remove(&s);
    return done();
}
