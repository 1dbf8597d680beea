/* Rule files: what is refused, and where; templates; the rules in the language of Prometheus. */
#include "diagnose/alerts/rules.h"

#include <errno.h>

#include "diagnose/alerts/promql.h"
#include "tap.h"

#define RULE "[a]\nset = disk\nby = device\nseverity = note\nsay = x\n"

static const struct {
    const char *text, *why;
} refused[] = {
    { "set = disk\n", "f:1: a key stands before the first [rule]" },
    { "[A]\n", "f:1: the name of a rule has small letters, digits and '-'" },
    { "[1]\n", "f:1: the name of a rule has small letters, digits and '-'" },
    { "[a-234567890123456789012345678901234567890]\n",
      "f:1: the name of a rule has small letters, digits and '-'" },
    { "[a]\n", "f:1: [a]: a rule needs 'set', 'when', 'say' and 'severity', or 'event'" },
    { "[a]\nwhem = x\n", "f:2: unknown key 'whem' (did you mean when?)" },
    { "[a]\nkeeep = 1m\n", "f:2: unknown key 'keeep' (did you mean keep?)" },
    { "[a]\nseverty = note\n", "f:2: unknown key 'severty' (did you mean severity?)" },
    { "[a]\nfoor = 1m\n", "f:2: unknown key 'foor' (did you mean for?)" },
    { "[a]\nactoin = x\n", "f:2: unknown key 'actoin' (did you mean action?)" },
    { "[a]\nsorce = x\n", "f:2: unknown key 'sorce' (did you mean source?)" },
    { "[a]\nevnt = x\n", "f:2: unknown key 'evnt' (did you mean event?)" },
    { "[a]\nxyzzy = x\n", "f:2: unknown key 'xyzzy'" },
    { "[a]\nset = disk\nset = net\n", "f:3: 'set' stands twice in [a]" },
    { "[a]\nset =\n", "f:2: 'set' is empty" },
    { "[a]\nseverity = bad\n", "f:2: a severity is note, warning or critical" },
    { "[a]\nfor = 2x\n", "f:2: this is no time of a day at most, like 30s or 10m" },
    { "[a]\nfor = 2d\n", "f:2: this is no time of a day at most, like 30s or 10m" },
    { RULE, "f:1: [a]: a rule needs 'set', 'when', 'say' and 'severity', or 'event'" },
    { RULE "\nwhen = now >\n", "f:7: a signal is missing at the end" },
    { RULE "when = now > 1\n[a]\n", "f:7: there is a rule 'a' in line 1" },
    { RULE "when = now > 1\nkeep = 1m\n", "f:1: [a]: 'keep' is for rules with 'event'" },
    { "[a]\nset = cpu\nseverity = note\nsay = {thing}\nwhen = a > 1\n",
      "f:1: [a]: 'say' has {thing}, but the rule is not 'by' one" },
    { "[a]\nset = cpu\nseverity = note\nsay = {that}\nwhen = a > 1\n",
      "f:1: [a]: 'say' may have {thing}, {value:number}, {value:seconds}, {value:percent},"
      " {value:bytes} and {value:hertz} in braces" },
    { "[a]\ndrain = maybe\n", "f:2: drain is yes or no" },
    { "[a]\nevent = xid\n", "f:1: [a]: a rule with 'event' needs 'keep'" },
    { "[a]\nevent = xid\nkeep = 1m\nseverity = note\n",
      "f:1: [a]: a rule with 'event' takes only 'keep', 'drain', 'why' and 'source'" },
    { "[a]\nevent = xid\nkeep = 1m\nfor = 1m\n",
      "f:1: [a]: a rule with 'event' takes only 'keep', 'drain', 'why' and 'source'" },
    { "[a]\nevent = xid\nkeep = 1m\nset = x\n",
      "f:1: [a]: a rule with 'event' takes only 'keep', 'drain', 'why' and 'source'" },
    { "[a]\nevent = xid\nkeep = 1m\nby = x\n",
      "f:1: [a]: a rule with 'event' takes only 'keep', 'drain', 'why' and 'source'" },
    { "[a]\nevent = xid\nkeep = 1m\nwhen = x > 1\n",
      "f:1: [a]: a rule with 'event' takes only 'keep', 'drain', 'why' and 'source'" },
    { "[a]\nevent = xid\nkeep = 1m\nsay = x\n",
      "f:1: [a]: a rule with 'event' takes only 'keep', 'drain', 'why' and 'source'" },
    { "[a]\nevent = xid\nkeep = 1m\naction = x\n",
      "f:1: [a]: a rule with 'event' takes only 'keep', 'drain', 'why' and 'source'" },
    { "[a]\nevent = xid\nkeep = 0s\n", "f:1: [a]: a rule with 'event' needs 'keep'" },
    { "[a]\nwhen = x > 1\nseverity = note\nsay = x\n",
      "f:1: [a]: a rule needs 'set', 'when', 'say' and 'severity', or 'event'" },
    { "[a]\nset = x\nseverity = note\nsay = x\n",
      "f:1: [a]: a rule needs 'set', 'when', 'say' and 'severity', or 'event'" },
    { "[a]\nset = x\nwhen = x > 1\nseverity = note\n",
      "f:1: [a]: a rule needs 'set', 'when', 'say' and 'severity', or 'event'" },
    { "[a]\nset = x\nwhen = x > 1\nsay = x\n",
      "f:1: [a]: a rule needs 'set', 'when', 'say' and 'severity', or 'event'" },
    { "[a]\nset = x\nseverity = note\nwhen = x > 1\nsay = x\n"
      "[b]\nset = x\nwhen = x > 1\nsay = x\n",
      "f:6: [b]: a rule needs 'set', 'when', 'say' and 'severity', or 'event'" },
    { "[a]\nfor = 86401s\n", "f:2: this is no time of a day at most, like 30s or 10m" },
    { "[a_b]\n", "f:1: the name of a rule has small letters, digits and '-'" },
    { "[-a]\n", "f:1: the name of a rule has small letters, digits and '-'" },
    { "[a-2345678901234567890123456789012345678x]\n[A]\n",
      "f:1: the name of a rule has small letters, digits and '-'" },
    { "[a]\nset = cpu\nseverity = note\nsay = {value:numbers}\nwhen = a > 1\n",
      "f:1: [a]: 'say' may have {thing}, {value:number}, {value:seconds}, {value:percent},"
      " {value:bytes} and {value:hertz} in braces" },
    { "[a]\nset = cpu\nseverity = note\nsay = {other:number}\nwhen = a > 1\n",
      "f:1: [a]: 'say' may have {thing}, {value:number}, {value:seconds}, {value:percent},"
      " {value:bytes} and {value:hertz} in braces" },
    { "[a]\nset = cpu\nseverity = note\nsay = a } b\nwhen = a > 1\n",
      "f:1: [a]: 'say' may have {thing}, {value:number}, {value:seconds}, {value:percent},"
      " {value:bytes} and {value:hertz} in braces" },
};

static void test_refused(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
        struct rules rules;
        struct err e = { "" };

        is_int(rules_load(&rules, "f", refused[i].text, strlen(refused[i].text), &e), -EINVAL,
               "rules_load refuses rule file %zu: %s", i, refused[i].why);
        is_str(e.text, refused[i].why, "the error explains what is wrong in rule file %zu", i);
    }
}

/* What is as long, or lasts as long, as it may. */
static void test_longest(void)
{
    static const char text[] =
        "[a-2345678901234567890123456789012345678]\nset = x\nwhen = x > 1\nseverity = warning\n"
        "say = x\nfor = 86400s\n[b2]\nevent = a\nkeep = 1d\nwhy = because\nsource = a page\n";
    struct rules rules;
    struct err e = { "" };

    ok(rules_load(&rules, "f", text, strlen(text), &e) == 0,
       "a name of 39 letters and a time of a day are taken: %s", e.text);
    is_int((long long)rules.count, 2, "the file has two rules");
    ok(rules.list[0].for_ns == 86400LL * 1000000000 && rules.list[0].keep_ns == 0,
       "'for' is the time that a condition has to hold");
    ok(rules.list[1].keep_ns == 86400LL * 1000000000 && rules.list[1].for_ns == 0,
       "'keep' is the time that an alert of an event stays");
    is_int(rules.list[0].severity, SEVERITY_WARNING, "a rule has its severity");
    ok(rules.list[0].line == 1 && rules.list[1].line == 7, "a rule has its line");
    is_str(rules.list[1].why, "because", "a rule has its reason");
    is_str(rules.list[1].source, "a page", "a rule has its source");
    is_str(rules.list[0].why, "", "a reason that is not told is empty");
    is_str(rules.list[0].source, "", "a source that is not told is empty");
    is_str(rules.list[0].action, "", "an action that is not told is empty");
    is_str(rules.list[1].say, "", "a rule of events has no sentence of its own");
    rules_done(&rules);
}

static void test_too_many(void)
{
    CLEANUP(str_done) struct str text = STR_INIT(1 << 16);
    struct rules rules;

    for (int i = 0; i <= RULES_MAX; i++) {
        struct err e = { "" };
        int rc = rules_load(&rules, "f", str_text(&text), text.len, &e);

        if (i == 0 || i == RULES_MAX)
            is_int(rc, 0, "rules_load reads %d rules: %s", i, e.text);
        if (rc == 0)
            rules_done(&rules);
        str_addf(&text, "[r%d]\nevent = x\nkeep = 1s\n", i);
    }
    is_int(rules_load(&rules, "f", str_text(&text), text.len, NULL), -EINVAL,
           "rules_load refuses a file with one rule too many");
}

static const struct {
    const char *template, *want;
    double value;
} said[] = {
    { "disk {thing} takes {value:seconds}", "disk vda takes 50 ms", 0.05 },
    { "{value:seconds}", "12 us", 12e-6 },
    { "{value:seconds}", "90 s", 90 },
    { "{value:percent}.", "12.5 %.", 0.125 },
    { "{value:bytes}", "1.5 KiB", 1536 },
    { "{value:bytes}", "12 B", 12 },
    { "{value:bytes}", "2048 TiB", 2048.0 * 1024 * 1024 * 1024 * 1024 },
    { "{value:hertz}", "1.98 GHz", 1.98e9 },
    { "{value:number}{thing}", "12346vda", 12345.6 },
    { "{value:number}", "1234567", 1234567 },
    { "{value:seconds}", "54322 s", 54321.9 },
    { "{value:bytes}", "20480 TiB", 20480.0 * 1024 * 1024 * 1024 * 1024 },
    { "{value:number}", "?", (double)NAN },
    { "{value:seconds}", "1 ms", 1e-3 },
    { "{value:seconds}", "999 us", 999e-6 },
    { "{value:seconds}", "1 s", 1 },
    { "{value:seconds}", "999 ms", 0.999 },
    { "{value:bytes}", "1023 B", 1023 },
    { "{value:bytes}", "1 KiB", 1024 },
    { "{value:bytes}", "1.206 KiB", 1235 },
    { "{value:bytes}", "1 MiB", 1 << 20 },
    { "{value:bytes}", "1 GiB", 1 << 30 },
    { "{value:hertz}", "999 Hz", 999 },
    { "{value:hertz}", "1 kHz", 1000 },
    { "{value:hertz}", "1.5 MHz", 1.5e6 },
    { "{value:hertz}", "5000 GHz", 5e12 },
    { "{value:percent}", "33.3 %", 1.0 / 3 },
    { "{value:number}", "0.3333", 1.0 / 3 },
    { "", "", 1 },
};

static void test_say(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(said); i++) {
        CLEANUP(str_done) struct str out = STR_INIT(256);

        rule_say(said[i].template, "vda", said[i].value, &out);
        is_str(str_text(&out), said[i].want, "rule_say fills in '%s'", said[i].template);
    }
}

static void test_takes(void)
{
    const struct rule two = { .event = "xid \tsxid" }, all = { .event = "*" }, none = { 0 };

    ok(rule_takes(&two, "xid") && rule_takes(&two, "sxid"), "a rule with two events takes either");
    ok(!rule_takes(&two, "xi") && !rule_takes(&two, "sxidx") && !rule_takes(&two, ""),
       "a rule takes no event whose name is only alike");
    ok(rule_takes(&all, "oom") && !rule_takes(&none, "oom"),
       "a star takes all events, and a rule without events none");
}

static const struct {
    const char *set, *by, *when, *want;
} translated[] = {
    { "disk", "device", "rate(a) / -b > 1.5e3", "(rate(brim_disk_a[1m]) / (-brim_disk_b)) > 1500" },
    { "disk", "device", "a > 1 and b <= 2", "brim_disk_a > 1 and brim_disk_b <= 2" },
    { "cpu", NULL, "rate(s{mode=\"idle\"}) < 0.5",
      "sum without (mode) (rate(brim_cpu_s{mode=\"idle\"}[1m])) < 0.5" },
    { "ib", "port", "increase(e, 10m) == 0", "increase(brim_ib_e[600s]) == 0" },
    { "ib", "port", "a * host:load > 1",
      "(brim_ib_a * on (job, instance) group_left () brim_host_load) > 1" },
    { "ib", "port", "host:load - a > 1",
      "(brim_host_load - on (job, instance) group_right () brim_ib_a) > 1" },
    { "ib", "port", "a > 1 and host:load > 2",
      "brim_ib_a > 1 and on (job, instance) brim_host_load > 2" },
    { "ib", "port", "a * other.b > 1", "(brim_ib_a * brim_other_b) > 1" },
    { "ib", "port", "a < 0.9 * peers(a)",
      "brim_ib_a < on (job, instance) group_left () (0.9 * (quantile by (job, instance) (0.5, "
      "(brim_ib_a > -Inf < Inf)) and on (job, instance) count by (job, instance) "
      "((brim_ib_a > -Inf < Inf)) >= 3))" },
    { "ib", "port", "a < past(a)",
      "brim_ib_a < (avg_over_time((brim_ib_a > -Inf < Inf)[1h:1m]) and "
      "count_over_time((brim_ib_a > -Inf < Inf)[1h:1m]) >= 10)" },
};

static void test_promql(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(translated); i++) {
        CLEANUP(arena_done) struct arena a = ARENA_INIT;
        CLEANUP(str_done) struct str out = STR_INIT(4096);
        struct rule r = { .by = translated[i].by };
        struct err e = { "" };

        ok(expr_parse(&r.when, &a, translated[i].when, translated[i].set, r.by != NULL, &e) == 0,
           "expr_parse reads '%s': %s", translated[i].when, e.text);
        promql_add(&r, &out);
        is_str(str_text(&out), translated[i].want, "promql_add translates '%s'",
               translated[i].when);
    }
}

/* What has no room is an error, wherever it stands, and no half of an expression. */
static void test_no_room(void)
{
    static const struct {
        const char *begin, *end;
        int letters;
        bool fits;
    } cases[] = {
        { "a < peers(b{k=\"", "\"})", 5000, true },   { "a < peers(b{k=\"", "\"})", 9000, false },
        { "a < peers(b{k=\"", "\"})", 20000, false }, { "a < past(b{k=\"", "\"})", 9000, false },
        { "a < past(b{k=\"", "\"})", 20000, false },  { "b{k=\"", "\"} > 1", 16000, true },
        { "b{k=\"", "\"} > 1", 20000, false },        { "a > b{k=\"", "\"}", 20000, false },
        { "-b{k=\"", "\"} < 1", 20000, false },       { "a > b{k=\"", "\"} + 1", 20000, false },
        { "a > 1 + -b{k=\"", "\"}", 20000, false },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(arena_done) struct arena a = ARENA_INIT;
        CLEANUP(str_done) struct str text = STR_INIT(1 << 16), out = STR_INIT(1 << 16);
        struct rule r = { .by = "port" };

        str_add(&text, cases[i].begin);
        str_fill(&text, 'x', cases[i].letters);
        str_add(&text, cases[i].end);
        is_int(expr_parse(&r.when, &a, str_text(&text), "ib", true, NULL), 0,
               "expr_parse reads a long label");
        promql_add(&r, &out);
        is_int(str_error(&out) == 0, cases[i].fits,
               "the expression '%s...%s' with %d letters has room in 16 KiB, or not",
               cases[i].begin, cases[i].end, cases[i].letters);
    }
}

/* A label that grows letter by letter: there is all of the expression, or an error. */
static void test_room_runs_out(void)
{
    int whole = 0, none = 0, half = 0;

    for (int letters = 7900; letters < 8200; letters++) {
        CLEANUP(arena_done) struct arena a = ARENA_INIT;
        CLEANUP(str_done) struct str text = STR_INIT(1 << 16), out = STR_INIT(1 << 16);
        struct rule r = { .by = "port" };
        const char *end;

        str_add(&text, "a < peers(b{k=\"");
        str_fill(&text, 'x', letters);
        str_add(&text, "\"})");
        if (expr_parse(&r.when, &a, str_text(&text), "ib", true, NULL) == 0)
            promql_add(&r, &out);
        end = out.len > 5 ? str_text(&out) + out.len - 5 : "";
        if (str_error(&out))
            none++;
        else if (strncmp(str_text(&out), "brim_ib_a < ", 12) == 0 && strcmp(end, ">= 3)") == 0)
            whole++;
        else
            half++;
    }
    ok(whole > 0 && none > 0, "%d expressions have room, and %d have none", whole, none);
    is_int(half, 0, "no expression is cut where its room runs out");
}

static void test_yaml(void)
{
    static const char text[] =
        "[a-b]\nset = disk\nby = device\nwhen = a > 1\nfor = 2m\n"
        "severity = critical\nsay = \"the \\\"{thing}\\\" {value:percent}\"\n"
        "why = a\\b\x7f\x1f~\n[x]\nevent = xid\nkeep = 1m\n[y-2]\nevent = *\nkeep = 1m\n";
    static const char want[] = "groups:\n- name: brim\n  rules:\n"
                               "  - alert: a-b\n    expr: \"brim_disk_a > 1\"\n    for: 120s\n"
                               "    labels:\n      severity: critical\n    annotations:\n"
                               "      summary: \"the \\\"{{ $labels.device }}\\\" "
                               "{{ $value | humanizePercentage }}\"\n"
                               "      description: \"a\\\\b??~\"\n"
                               "  - alert: fault\n"
                               "    expr: \"brim_alert_firing{alert=~\\\"x|y-2\\\"} == 1\"\n"
                               "    annotations:\n";
    CLEANUP(str_done) struct str out = STR_INIT(4096);
    struct rules rules;
    struct err e = { "" };

    ok(rules_load(&rules, "f", text, strlen(text), &e) == 0, "rules_load reads two rules: %s",
       e.text);
    promql_rules(&rules, "f", &out);
    ok(!strncmp(strstr(str_text(&out), "groups:"), want, strlen(want)),
       "a rule file has the rules with conditions, and one for all events: %s", str_text(&out));
    rules_done(&rules);
}

static void test_no_events(void)
{
    static const char text[] = "[a]\nset = disk\nwhen = a > 1\nseverity = note\nsay = x\n";
    CLEANUP(str_done) struct str out = STR_INIT(4096);
    struct rules rules;
    struct err e = { "" };

    ok(rules_load(&rules, "f", text, strlen(text), &e) == 0, "rules without events are loaded: %s",
       e.text);
    promql_rules(&rules, "f", &out);
    ok(!strstr(str_text(&out), "brim_alert_firing"),
       "a file without rules of events makes no rule of faults");
    rules_done(&rules);
}

int main(void)
{
    test_refused();
    test_longest();
    test_too_many();
    test_no_room();
    test_room_runs_out();
    test_say();
    test_takes();
    test_promql();
    test_yaml();
    test_no_events();
    return done();
}
