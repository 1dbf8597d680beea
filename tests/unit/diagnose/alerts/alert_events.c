/* Alerts of events: what of an event an alert has, what its row is called, which events are none;
 * and what becomes of rows without memory. */
#include <errno.h>

#include "diagnose/alerts/alert.h"
#include "oom_arena.h"
#include "ticks.h"

static const char text[] = "[xid]\nevent = xid\nkeep = 1m\n[rest]\nevent = *\nkeep = 2m\n"
                           "[high]\nset = disk\nby = device\nwhen = now > 5\n"
                           "severity = warning\nsay = x\n";

struct world {
    struct rules rules;
    struct alerts *alerts;
    struct tick tick;
};

static bool open_world(struct world *w)
{
    *w = (struct world){ .alerts = NULL };
    return rules_load(&w->rules, "f", text, strlen(text), NULL) == 0 &&
           alerts_new(&w->alerts, &w->rules) == 0;
}

static void close_world(struct world *w)
{
    alerts_free(w->alerts);
    rules_done(&w->rules);
    tick_done(&w->tick);
}

static void add(struct world *w, const char *kind, enum severity severity, int code,
                const char *thing)
{
    struct event *e = tick_event(&w->tick, kind, severity, code);

    if (!e)
        return;
    snprintf(e->thing, sizeof(e->thing), "%s", thing);
    snprintf(e->text, sizeof(e->text), "%s fell", thing);
    snprintf(e->action, sizeof(e->action), "look at %s", thing);
}

static void test_alert(void)
{
    struct world w;
    const struct alert *a;
    size_t n;

    ok(open_world(&w), "the rules of events are read");
    ticks_begin(&w.tick, 5);
    add(&w, "xid", SEVERITY_CRITICAL, 0, "gpu");
    add(&w, "oom", SEVERITY_WARNING, -1, "");
    add(&w, "oom", SEVERITY_NOTE, -1, "host");
    is_int(alerts_step(w.alerts, NULL, &w.tick), 0, "a step with three events is taken");
    a = alerts_firing(w.alerts, &n);
    is_int((long long)n, 2, "an event that is a note fires nothing");
    is_str(a[0].action, "look at gpu", "an alert has what its event says to do");
    is_str(a[0].text, "gpu fell", "an alert has what its event says");
    ok(isnan(a[0].value) && a[0].code == 0 && !strcmp(a[0].kind, "xid"),
       "an alert of an event has its code and kind, and no value");
    ok(a[1].code == -1 && a[1].severity == SEVERITY_WARNING, "an event may have no code");
    close_world(&w);
}

static void test_rows(void)
{
    static const char *const ids[] = { "xid/0/gpu", "xid/31/gpu", "rest/oom", "high/a" };
    struct world w;
    struct tick rows = { .n_rows = 0 };

    ok(open_world(&w), "the rules of rows are read");
    ticks_begin(&w.tick, 5);
    ticks_row(&w.tick, &ticks_disk, "a", 0, 9, 0);
    add(&w, "xid", SEVERITY_CRITICAL, 0, "gpu");
    add(&w, "xid", SEVERITY_CRITICAL, 31, "gpu");
    add(&w, "oom", SEVERITY_WARNING, -1, "");
    is_int(alerts_step(w.alerts, NULL, &w.tick), 0, "a step with three events and a disk is taken");
    tick_begin(&rows, 1, 1);
    is_int(alerts_rows(w.alerts, &rows), 0, "four alerts become rows");
    is_int((long long)rows.n_rows, (long long)ARRAY_SIZE(ids), "each alert is a row");
    for (size_t i = 0; i < rows.n_rows && i < ARRAY_SIZE(ids); i++)
        is_str(rows.rows[i].thing, ids[i], "row %zu is called by rule, code and thing", i);
    is_str(signal_fact(&rows.rows[0], "code"), "0", "a row has the code of an event");
    is_str(signal_fact(&rows.rows[2], "code"), "oom", "a row without a code has the kind");
    is_str(signal_fact(&rows.rows[3], "code"), "", "a row of a condition has no code");
    is_str(signal_fact(&rows.rows[3], "severity"), "warning", "a row has the severity");
    ok(rows.rows[0].values[0] >= 1 && rows.rows[0].values[0] <= 1, "a row has the value 1");
    tick_done(&rows);
    close_world(&w);
}

/* An alert whose text comes again while it fires stays, with its number. */
static void test_numbers(void)
{
    struct world w;
    const struct alert *a;
    size_t n;

    ok(open_world(&w), "the rules of numbers are read");
    ticks_begin(&w.tick, 0);
    for (int i = 0; i < 3; i++)
        add(&w, "oom", SEVERITY_WARNING, -1, "host");
    for (int i = 0; i < 3; i++)
        snprintf(w.tick.events[i].text, sizeof(w.tick.events[i].text), "killed %d", i);
    is_int(alerts_step(w.alerts, NULL, &w.tick), 0, "a step with three texts is taken");
    ticks_begin(&w.tick, 100);
    for (int i = 0; i < 2; i++)
        add(&w, "oom", SEVERITY_WARNING, -1, "host");
    snprintf(w.tick.events[0].text, sizeof(w.tick.events[0].text), "killed 0");
    snprintf(w.tick.events[1].text, sizeof(w.tick.events[1].text), "killed 2");
    is_int(alerts_step(w.alerts, NULL, &w.tick), 0, "a step with two of them is taken");
    ticks_begin(&w.tick, 120);
    add(&w, "oom", SEVERITY_WARNING, -1, "host");
    add(&w, "oom", SEVERITY_WARNING, -1, "other");
    is_int(alerts_step(w.alerts, NULL, &w.tick), 0, "a step with a new text is taken");
    a = alerts_firing(w.alerts, &n);
    is_int((long long)n, 4, "the alert that was not told again is over");
    ok(a[0].number == 0 && a[1].number == 2, "alerts keep their numbers while they fire");
    /* Events are looked at before the old alert is ended. */
    ok(a[2].number == 3 && a[3].number == 0, "numbers are counted for each thing: %u and %u",
       a[2].number, a[3].number);
    close_world(&w);
}

static void test_no_memory(void)
{
    struct world w;
    bool failed;

    ok(open_world(&w), "the rules for rows without memory are read");
    ticks_begin(&w.tick, 5);
    add(&w, "xid", SEVERITY_CRITICAL, 79, "gpu");
    is_int(alerts_step(w.alerts, NULL, &w.tick), 0, "a step with an event is taken");
    oom_restart();
    do {
        struct tick rows = { .n_rows = 0 };
        int rc;

        tick_begin(&rows, 1, 1);
        oom_next();
        rc = alerts_rows(w.alerts, &rows);
        failed = oom_end();
        is_int(rc, failed ? -ENOMEM : 0, "rows of alerts with allocation %d failing", oom_at);
        tick_done(&rows);
    } while (failed);
    close_world(&w);
}

int main(void)
{
    test_alert();
    test_rows();
    test_numbers();
    test_no_memory();
    return done();
}
