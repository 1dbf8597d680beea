#include <errno.h>

#include "diagnose/alerts/alert.h"
#include "diagnose/alerts/promql.h"
#include "fuzz.h"

static const struct signal_def defs[] = { { "now", "now", SIGNAL_GAUGE },
                                          { "reads_total", "reads", SIGNAL_COUNTER } };
static const struct signal_set set = { "disk", "device", defs, ARRAY_SIZE(defs) };

static void add_disks(struct tick *t, int64_t second)
{
    static const char *const names[] = { "a", "b", "c" };

    tick_begin(t, second, second * 1000000000);
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        struct signal_row *row = tick_add(t, &set, names[i]);

        check(row != NULL);
        row->values[0] = (double)i;
        row->values[1] = (double)(second * (int64_t)i);
    }
}

/* Whatever is taken can be translated and evaluated. */
static void use(const struct rules *rules)
{
    CLEANUP(alerts_freep) struct alerts *alerts = NULL;
    CLEANUP(tick_done) struct tick first = { .n_rows = 0 }, second = { .n_rows = 0 };
    CLEANUP(str_done) struct str out = STR_INIT(16 << 20);

    check(alerts_new(&alerts, rules) == 0);
    add_disks(&first, 1);
    check(alerts_step(alerts, NULL, &first) == 0);
    add_disks(&second, 1000);
    check(alerts_step(alerts, &first, &second) == 0);
    check(alerts_rows(alerts, &second) == 0);
    promql_rules(rules, "f", &out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(rules_done) struct rules rules = { .count = 0 };
    const char *text = (const char *)data;
    struct err e = { "" };
    int rc = rules_load(&rules, "f", text, size, &e);

    check(rc == 0 || rc == -EINVAL);
    check((rc == 0) == (e.text[0] == '\0'));
    if (rc < 0) {
        long line = line_told(e.text, "f:");

        check(line >= 1 && line <= count_lines(text, size));
        return 0;
    }
    use(&rules);
    return 0;
}
