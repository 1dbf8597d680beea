#include "diagnose/audit/audit.h"

#include <string.h>

#include "nodes.h"
#include "tap.h"

/* What does not apply to the scene: it has no NVLink, no NVSwitch. */
static const char *const silent[] = { "links", "fabric" };

static bool is_silent(const char *check)
{
    for (size_t i = 0; i < ARRAY_SIZE(silent); i++)
        if (!strcmp(silent[i], check))
            return true;
    return false;
}

static void test_scene(void)
{
    CLEANUP(scene_done) struct scene s;
    size_t checks = 0;

    scene_init(&s);
    for (; audit_check_name(checks); checks++) {
        const char *name = audit_check_name(checks);

        is_str(scene_check(&s, name), is_silent(name) ? "silent" : "passed",
               "%s: nothing to say of a good machine", name);
    }
    findings_done(&s.found);
    is_int(audit_node(s.n, &s.catalogue, &s.found), 0, "audit_node makes all checks at once");
    is_int((long long)s.found.count, 0, "a good machine has no finding");
    is_int((long long)s.found.passed, (long long)(checks - ARRAY_SIZE(silent)),
           "a good machine passes all checks that apply");
}

static void test_names(void)
{
    bool unique = true;

    for (size_t i = 0; audit_check_name(i); i++)
        for (size_t k = 0; k < i; k++)
            unique = unique && strcmp(audit_check_name(i), audit_check_name(k)) != 0;
    ok(unique, "each check has a name of its own");
}

static void test_findings(void)
{
    CLEANUP(scene_done) struct scene s;

    scene_init(&s);
    s.gpu_pci[1]->width = 8;
    s.n->set.governor = "powersave";
    s.n->set.nofile = ABSENT;
    is_int(audit_node(s.n, &s.catalogue, &s.found), 0, "audit_node audits a machine with faults");
    is_int((long long)s.found.count, 3, "a machine with three faults has three findings");
    is_str(s.found.list[0].check, "pcie-width", "findings about wires come first");
    is_str(s.found.list[1].check, "governor", "findings about settings come last");
    is_int(s.found.list[2].severity, SEVERITY_UNKNOWN, "what is absent is not good");
    is_str(s.found.list[0].node, "n1", "a finding names its node");
}

/* A node of which nothing at all is known. */
static void test_empty(void)
{
    CLEANUP(scene_done) struct scene s;
    bool good = true;

    scene_init(&s);
    node_free(s.n);
    s.n = nodes_new(0);
    is_int(audit_node(s.n, &s.catalogue, &s.found), 0, "audit_node audits a node without anything");
    is_int((long long)s.found.passed, 0, "a node without anything passes nothing");
    for (size_t i = 0; i < s.found.count; i++)
        good = good && s.found.list[i].severity == SEVERITY_UNKNOWN;
    ok(good && s.found.count == 6, "what would apply could not be checked: %zu", s.found.count);
}

/* A guest: link values, ACS and IOMMU are the hypervisor's business. */
static void test_guest(void)
{
    static const char *const hosts[] = { "acs",     "iommu",   "read-request",
                                         "payload", "sockets", "shared-nic" };
    CLEANUP(scene_done) struct scene s;

    scene_init(&s);
    s.n->virtual_machine = 1;
    s.n->set.governor = NULL;
    for (size_t i = 0; i < ARRAY_SIZE(hosts); i++)
        is_str(scene_check(&s, hosts[i]), "silent", "%s is the host's business", hosts[i]);
    is_str(scene_check(&s, "governor"), "silent",
           "the governor that a guest does not show is the host's business");
}

int main(void)
{
    test_scene();
    test_names();
    test_findings();
    test_empty();
    test_guest();
    return done();
}
