#include "render_node.h"
#include "tap.h"

static struct str out = STR_INIT(1 << 16);

static struct finding *add(struct findings *f, const char *check, enum severity s, const char *node,
                           const char *sentence)
{
    struct finding *one = findings_add(f, check, s, node);

    one->sentence = sentence;
    return one;
}

static void fill(struct findings *f, const char *node)
{
    struct finding *one;

    add(f, "clock", SEVERITY_NOTE, node, "the clock is slow");
    one = add(f, "width", SEVERITY_CRITICAL, node, "GPU0 runs on 8 lanes");
    findings_text(f, &one->evidence, "link of %s", node);
    one->effect = "half the rate";
    one->action = "reseat it";
    add(f, "acs", SEVERITY_UNKNOWN, node, "needs root");
    add(f, "vbios", SEVERITY_UNKNOWN, node, "needs root");
    add(f, "fabric", SEVERITY_UNKNOWN, node, "no driver");
}

static void test_one(void)
{
    struct machine m = machine_of(test_node("n1"));
    struct machine_view v = { .machine = &m };
    struct findings f = { .passed = 27 };

    fill(&f, "n1");
    is_int(findings_render_text(&f, &v, false, &out), 0,
           "findings_render_text writes the findings of one node");
    is_str(str_text(&out),
           "n1: 1 critical, 1 note; 27 checks passed, 3 could not be made\n"
           "\n"
           "critical  GPU0 runs on 8 lanes\n"
           "          link of n1\n"
           "          effect: half the rate\n"
           "          do: reseat it\n"
           "\n"
           "note      the clock is slow\n"
           "\n"
           "not checked\n"
           "  needs root: acs, vbios\n"
           "  no driver: fabric\n",
           "the text of one node has each finding once");
    str_reset(&out);
    is_int(findings_render_text(&f, &v, true, &out), 0,
           "findings_render_text writes all reasons of one node");
    ok(strstr(str_text(&out), "not checked\n  acs: needs root\n  vbios: needs root\n"
                              "  fabric: no driver\n"),
       "each check has its reason");
    findings_done(&f);
    machine_done(&m);
}

/* What was written without blanks and ends of lines. */
static const char *bare(void)
{
    static char text[1 << 16];
    size_t n = 0;

    for (const char *at = str_text(&out); *at && n < sizeof(text) - 1; at++)
        if (*at != ' ' && *at != '\n')
            text[n++] = *at;
    text[n] = 0;
    return text;
}

static void test_many(void)
{
    static const char *const names[] = { "n1", "n2", "n3" };
    struct machine m = { .n_nodes = 0 };
    struct machine_view v = { .machine = &m, .colour = true };
    struct findings f = { .passed = 1 };

    for (int i = 0; i < 3; i++) {
        is_int(machine_add(&m, test_node(names[i])), 0, "machine_add adds node %d", i);
        if (i != 1)
            fill(&f, names[i]);
    }
    add(&f, "fleet", SEVERITY_WARNING, NULL, "kernels differ");
    str_reset(&out);
    is_int(findings_render_text(&f, &v, true, &out), 0,
           "findings_render_text writes the findings of three nodes");
    is_str(str_text(&out),
           "n[1-3]: 1 critical, 1 warning, 1 note; 1 check passed, 6 could not be made\n"
           "\n"
           "\033[1;31mcritical\033[0m  GPU0 runs on 8 lanes\n"
           "          on 2 nodes: n[1,3]\n"
           "          n1: link of n1\n"
           "          effect: half the rate\n"
           "          do: reseat it\n"
           "\n"
           "\033[33mwarning\033[0m   kernels differ\n"
           "          on all nodes\n"
           "\n"
           "\033[36mnote\033[0m      the clock is slow\n"
           "          on 2 nodes: n[1,3]\n"
           "\n"
           "not checked\n"
           "  acs: needs root (n[1,3])\n"
           "  vbios: needs root (n[1,3])\n"
           "  fabric: no driver (n[1,3])\n",
           "what holds for several is said once");
    str_reset(&out);
    is_int(findings_render_json(&f, &v, &out), 0,
           "findings_render_json writes the findings of three nodes");
    ok(strstr(str_text(&out), "\"schema\": \"brim.audit.v1\"") != NULL,
       "the JSON names its schema");
    ok(strstr(bare(),
              "\"nodes\":[\"n1\",\"n2\",\"n3\"],\"counts\":{\"critical\":2,\"warning\":1,"
              "\"note\":2,\"not_checked\":6,\"passed\":1},\"findings\":[{\"check\":\"width\","),
       "nodes and findings count, and the worst comes first: %s", str_text(&out));
    findings_done(&f);
    machine_done(&m);
}

/* What two nodes have is one finding where it is as severe on both. */
static void test_alike(void)
{
    for (int alike = 0; alike < 2; alike++) {
        struct machine m = machine_of(test_node("n1"));
        struct machine_view v = { .machine = &m };
        struct findings f = { .passed = 1 };

        is_int(machine_add(&m, test_node("n2")), 0, "machine_add adds a second node");
        add(&f, "clock", SEVERITY_NOTE, "n1", "the clock is slow");
        add(&f, "clock", alike ? SEVERITY_NOTE : SEVERITY_WARNING, "n2", "the clock is slow");
        add(&f, "fan", SEVERITY_NOTE, "n2", "the clock is slow");
        str_reset(&out);
        is_int(findings_render_text(&f, &v, false, &out), 0, "findings of two nodes are written");
        is_str(str_text(&out),
               alike ? "n[1-2]: 2 notes; 1 check passed\n\n"
                       "note      the clock is slow\n          on 2 nodes: n[1-2]\n\n"
                       "note      the clock is slow\n          on n2\n"
                     : "n[1-2]: 1 warning, 2 notes; 1 check passed\n\n"
                       "warning   the clock is slow\n          on n2\n\n"
                       "note      the clock is slow\n          on n1\n\n"
                       "note      the clock is slow\n          on n2\n",
               "findings are one where check, severity and sentence are alike");
        findings_done(&f);
        machine_done(&m);
    }
}

/* Checks that could not be made, and stand first: their reason is told once. */
static void test_unchecked_first(void)
{
    struct machine m = machine_of(test_node("n1"));
    struct machine_view v = { .machine = &m };
    struct findings f = { .passed = 0 };

    add(&f, "acs", SEVERITY_UNKNOWN, "n1", "needs root");
    add(&f, "vbios", SEVERITY_UNKNOWN, "n1", "needs root");
    add(&f, "acs", SEVERITY_UNKNOWN, "n1", "needs root");
    add(&f, "clock", SEVERITY_NOTE, "n1", "the clock is slow");
    str_reset(&out);
    is_int(findings_render_text(&f, &v, false, &out), 0, "checks that were not made are written");
    is_str(str_text(&out),
           "n1: 1 note; 0 checks passed, 3 could not be made\n\n"
           "note      the clock is slow\n\nnot checked\n  needs root: acs, vbios\n",
           "a reason is told once, with each check once");
    str_reset(&out);
    is_int(findings_render_json(&f, &v, &out), 0, "checks that were not made are JSON as well");
    ok(strstr(bare(), "{\"check\":\"clock\",\"severity\":\"note\",\"node\":\"n1\","
                      "\"sentence\":\"theclockisslow\"},{\"check\":\"acs\","),
       "a finding has its sentence in JSON: %s", str_text(&out));
    findings_done(&f);
    machine_done(&m);
}

static void test_none(void)
{
    struct machine m = machine_of(test_node("n1"));
    struct machine_view v = { .machine = &m };
    struct findings f = { .passed = 2 };

    str_reset(&out);
    is_int(findings_render_text(&f, &v, false, &out), 0,
           "findings_render_text writes a node without findings");
    is_str(str_text(&out), "n1: nothing found; 2 checks passed\n", "all is well");
    findings_done(&f);
    machine_done(&m);
}

/* Names that would fill the line are counted; that of one node stays. */
static void test_long_names(void)
{
    static const char *const others[] = { "b-name-of-28-letters-or-so-x",
                                          "b-name-of-29-letters-or-so-xx" };
    static const char longest[] = "n123456789012345678901234567890123456789012345678901234567890x";
    struct machine one = machine_of(test_node(longest));
    struct machine_view v = { .machine = &one };
    struct findings f = { .passed = 2 };

    str_reset(&out);
    is_int(findings_render_text(&f, &v, false, &out), 0, "a node with a long name is written");
    ok(!strncmp(str_text(&out), longest, strlen(longest)), "a long name of one node is whole: %s",
       str_text(&out));
    machine_done(&one);
    for (size_t more = 0; more < 2; more++) {
        struct machine m = machine_of(test_node("a-name-of-31-letters-and-digits"));

        v.machine = &m;
        is_int(machine_add(&m, test_node(others[more])), 0, "a node with a name is added");
        str_reset(&out);
        is_int(findings_render_text(&f, &v, false, &out), 0, "two nodes are written");
        is_str(str_text(&out),
               more ? "2 nodes: nothing found; 2 checks passed\n"
                    : "a-name-of-31-letters-and-digits,b-name-of-28-letters-or-so-x"
                      ": nothing found; 2 checks passed\n",
               "names of 60 letters are listed, those of 61 counted");
        machine_done(&m);
    }
    findings_done(&f);
}

int main(void)
{
    test_one();
    test_many();
    test_alike();
    test_unchecked_first();
    test_none();
    test_long_names();
    str_done(&out);
    return done();
}
