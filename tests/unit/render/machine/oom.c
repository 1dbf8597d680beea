/* Every allocation of every renderer fails once: -ENOMEM comes back, out has failed, nothing
 * leaks. */
#include <errno.h>

#include "oom_arena.h"
#include "render_node.h"
#include "tap.h"

static struct machine two_nodes(void)
{
    struct machine m = machine_of(test_node("n1"));
    int rc = machine_add(&m, test_node("n2"));

    assert(rc == 0);
    (void)rc;
    add_nvlink(m.nodes[0]);
    return m;
}

static void walk(const struct machine_renderer *r, const struct machine *m)
{
    struct machine_view v = { .machine = m };
    bool failed;

    oom_restart();
    do {
        CLEANUP(str_done) struct str out = STR_INIT(1 << 20);
        int rc;

        oom_next();
        rc = r->render(&v, &out);
        failed = oom_end();
        ok(rc == (failed ? -ENOMEM : 0) && str_error(&out) == rc,
           "renderer %s with allocation %d failing returns %d", r->name, oom_at, rc);
    } while (failed);
}

static void walk_findings_json(const struct findings *f, const struct machine *m)
{
    struct machine_view v = { .machine = m };
    bool failed;

    oom_restart();
    do {
        CLEANUP(str_done) struct str out = STR_INIT(1 << 20);
        int rc;

        oom_next();
        rc = findings_render_json(f, &v, &out);
        failed = oom_end();
        is_int(rc, failed ? -ENOMEM : 0, "findings_render_json with allocation %d failing", oom_at);
    } while (failed);
}

static void walk_findings(const struct findings *f, const struct machine *m, bool all)
{
    struct machine_view v = { .machine = m };
    bool failed;

    oom_restart();
    do {
        CLEANUP(str_done) struct str out = STR_INIT(1 << 20);
        int rc;

        oom_next();
        rc = findings_render_text(f, &v, all, &out);
        failed = oom_end();
        ok(rc == (failed ? -ENOMEM : 0) && str_error(&out) == rc,
           "findings_render_text with allocation %d failing returns %d", oom_at, rc);
    } while (failed);
}

int main(void)
{
    static const char *const names[] = { "tree", "matrix", "json", "svg", "nccl-xml" };
    struct machine one = machine_of(test_node("n1")), two = two_nodes();
    struct findings f = { .passed = 1 };

    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        walk(machine_renderer_find(names[i]), &one);
        walk(machine_renderer_find(names[i]), &two);
    }
    findings_add(&f, "a", SEVERITY_WARNING, "n1")->sentence = "it is so";
    findings_add(&f, "b", SEVERITY_UNKNOWN, "n1")->sentence = "cannot know";
    walk_findings(&f, &two, false);
    walk_findings(&f, &two, true);
    walk_findings_json(&f, &two);
    findings_done(&f);
    machine_done(&one);
    machine_done(&two);
    return done();
}
