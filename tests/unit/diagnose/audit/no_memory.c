/* The audit without memory: each allocation fails once, and no finding is half there. */
#include "diagnose/audit/audit.h"

#include <errno.h>

#include "nodes.h"
#include "oom_arena.h"
#include "tap.h"

/* A machine with much that is wrong: most checks speak. */
static void spoil(struct scene *s)
{
    scene_init(s);
    for (int i = 0; i < 2; i++) {
        s->gpu_pci[i]->width = 8;
        s->nic_pci[i]->gts = 8;
        s->n->pcis[s->gpu_pci[i]->parent].acs = 0x1d;
        s->gpu[i]->acc.persistence = 0;
        s->gpu[i]->acc.ecc = 0;
        s->nic[i]->nic.ports[0].mtu = 1500;
    }
    s->gpu[1]->pci = ABSENT;
    s->n->set.governor = "powersave";
    s->n->set.swap_b = 1 << 30;
    s->n->set.shm_b = 1 << 20;
}

/* What is told, with its evidence: all of it is text. */
static bool is_whole(const struct findings *f)
{
    for (size_t i = 0; i < f->count; i++)
        if (!f->list[i].check || !f->list[i].sentence)
            return false;
    return true;
}

static void test_node(void)
{
    CLEANUP(scene_done) struct scene s;
    size_t all = 0;
    bool failed;

    spoil(&s);
    oom_restart();
    do {
        struct findings f = { .count = 0 };
        int rc;

        oom_next();
        rc = audit_node(s.n, &s.catalogue, &f);
        failed = oom_end();
        is_int(rc, failed ? -ENOMEM : 0, "an audit with allocation %d failing", oom_at);
        ok(is_whole(&f), "findings are whole with allocation %d failing", oom_at);
        all = f.count;
        findings_done(&f);
    } while (failed);
    ok(all > 10, "the audit has %zu findings", all);
}

static void test_fleet(void)
{
    CLEANUP(machine_done) struct machine m = { .n_nodes = 0 };
    bool failed;

    for (int i = 0; i < 3; i++) {
        struct node *n = nodes_new(1);

        n->kernel = i ? "6.8.0" : "5.15.0";
        if (machine_add(&m, n) < 0)
            exit(1);
    }
    oom_restart();
    do {
        struct findings f = { .count = 0 };
        int rc;

        oom_next();
        rc = audit_fleet(&m, NULL, &f);
        failed = oom_end();
        is_int(rc, failed ? -ENOMEM : 0, "an audit of a fleet with allocation %d failing", oom_at);
        ok(is_whole(&f) && (failed || f.count == 1),
           "findings of a fleet are whole with allocation %d failing", oom_at);
        findings_done(&f);
    } while (failed);
}

int main(void)
{
    test_node();
    test_fleet();
    return done();
}
