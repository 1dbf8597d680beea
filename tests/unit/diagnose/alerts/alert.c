/* Alerts over time: when they begin and are over, what is said, how many there may be. With every
 * allocation failing once, and what a step of all of brim's rules costs. */
#include "diagnose/alerts/alert.h"

#include <errno.h>
#include <time.h>

#include "alerts_ini.h"
#include "oom_arena.h"
#include "render/node/metrics.h"
#include "ticks.h"

static const char rules_text[] = "[high]\nset = disk\nby = device\nwhen = now > 5\nfor = 30s\n"
                                 "severity = warning\nsay = {thing} has {value:number}\n"
                                 "action = look\n"
                                 "[counted]\nset = disk\nby = device\n"
                                 "when = increase(reads_total, 1m) > 0 and past(now) > 1e9\n"
                                 "severity = note\nsay = x\n"
                                 "[loaded]\nset = cpu\nwhen = load > 2\nseverity = critical\n"
                                 "say = the load is {value:number}\n"
                                 "[absent]\nset = none\nwhen = a > 0\nseverity = note\nsay = x\n"
                                 "[xid]\nevent = xid\nkeep = 1m\n"
                                 "[kernel]\nevent = *\nkeep = 2m\n";

struct world {
    struct rules rules;
    struct alerts *alerts;
    struct tick ticks[2];
    int at;
};

static int world_open(struct world *w)
{
    struct err e = { "" };
    int rc = rules_load(&w->rules, "f", rules_text, strlen(rules_text), &e);

    return rc < 0 ? rc : alerts_new(&w->alerts, &w->rules);
}

static void world_close(struct world *w)
{
    alerts_free(w->alerts);
    rules_done(&w->rules);
    tick_done(&w->ticks[0]);
    tick_done(&w->ticks[1]);
    *w = (struct world){ .at = 0 };
}

static struct tick *now_of(struct world *w)
{
    return &w->ticks[w->at % 2];
}

/* A tick with disk a, which may be absent, and the load; the caller adds more before the step. */
static struct tick *begin(struct world *w, int64_t second, double a, double load)
{
    struct tick *t;

    w->at++;
    t = now_of(w);
    ticks_begin(t, second);
    if (!isnan(a))
        ticks_row(t, &ticks_disk, "a", (double)second, a, 0);
    ticks_row(t, &ticks_cpu, "", 0, 0, load);
    return t;
}

static int step(struct world *w)
{
    return alerts_step(w->alerts, w->at > 1 ? &w->ticks[(w->at + 1) % 2] : NULL, now_of(w));
}

/* "high/a,loaded": those that fire. */
static const char *firing(const struct world *w, char buf[256])
{
    size_t n, len = 0;
    const struct alert *list = alerts_firing(w->alerts, &n);

    buf[0] = 0;
    for (size_t i = 0; i < n && len < 200; i++)
        len += (size_t)snprintf(buf + len, 256 - len, "%s%s%s%s", i ? "," : "", list[i].rule->name,
                                *list[i].thing ? "/" : "", list[i].thing);
    return buf;
}

static void after(struct world *w, int64_t second, double a, double load, const char *want)
{
    char buf[256];

    (void)begin(w, second, a, load);
    is_int(step(w), 0, "a step at %lld s is taken", (long long)second);
    is_str(firing(w, buf), want, "at %lld s, with a at %g and load at %g, these fire: %s",
           (long long)second, a, load, want);
}

static void test_time(void)
{
    struct world w = { .at = 0 };
    const struct event *ev;
    size_t n;

    is_int(world_open(&w), 0, "the world has its rules");
    after(&w, 0, 6, 0, "");
    after(&w, 29, 7, 0, "");
    after(&w, 30, 8, 0, "high/a");
    ev = w.ticks[w.at % 2].events;
    is_int((long long)w.ticks[w.at % 2].n_events, 1, "an alert that begins is one event");
    ok(!strcmp(ev->kind, "alert") && !strcmp(ev->thing, "a") && !ev->over &&
           ev->severity == SEVERITY_WARNING && !strcmp(ev->action, "look"),
       "the event has kind, thing, severity and action of the alert");
    is_str(ev->text, "a has 8", "the event has the rule's words and the value");
    is_int((long long)alerts_firing(w.alerts, &n)->since_ns, 1030 * TICK_S,
           "the alert counts from the moment when it fired");
    after(&w, 31, 9, 0, "high/a");
    is_int((long long)w.ticks[w.at % 2].n_events, 0, "an alert that goes on is no new event");
    is_str(alerts_firing(w.alerts, &n)->text, "a has 9", "the alert has the value of now");
    after(&w, 40, 1, 0, "high/a");
    after(&w, 44, 6, 0, "high/a");
    after(&w, 58, 1, 0, "high/a");
    after(&w, 59, 1, 0, "");
    ev = w.ticks[w.at % 2].events;
    ok(w.ticks[w.at % 2].n_events == 1 && ev->over && !strcmp(ev->thing, "a"),
       "an alert that ends is one event that is over");
    after(&w, 60, 6, 0, "");
    after(&w, 80, 1, 0, "");
    after(&w, 81, 6, 0, "");
    after(&w, 110, 6, 0, "");
    after(&w, 111, 6, 3, "high/a,loaded");
    after(&w, 112, (double)NAN, 3, "high/a,loaded");
    after(&w, 121, (double)NAN, 1, "high/a,loaded");
    after(&w, 122, (double)NAN, 1, "high/a");
    after(&w, 125, (double)NAN, 1, "high/a");
    after(&w, 126, (double)NAN, 1, "");
    world_close(&w);
}

static void add_event(struct world *w, const char *kind, enum severity s, int code, bool over)
{
    struct event *ev = tick_event(now_of(w), kind, s, code);

    if (!ev)
        return;
    ev->over = over;
    snprintf(ev->thing, sizeof(ev->thing), "gpu");
    snprintf(ev->text, sizeof(ev->text), "%s %d", kind, code);
}

static void test_events(void)
{
    struct world w = { .at = 0 };
    char buf[256];
    size_t n;

    is_int(world_open(&w), 0, "the world has its rules");
    (void)begin(&w, 0, 0, 0);
    add_event(&w, "xid", SEVERITY_CRITICAL, 79, false);
    add_event(&w, "xid", SEVERITY_NOTE, 43, false);
    add_event(&w, "xid", SEVERITY_WARNING, 31, false);
    add_event(&w, "oom", SEVERITY_WARNING, -1, false);
    add_event(&w, "alert", SEVERITY_WARNING, 5, false);
    is_int(step(&w), 0, "a step with events is taken");
    is_str(firing(&w, buf), "xid/gpu,xid/gpu,kernel/gpu", "events that matter fire alerts");
    is_int((long long)now_of(&w)->n_events, 5, "an event is told once, and not again as its alert");
    ok(alerts_firing(w.alerts, &n)->severity == SEVERITY_CRITICAL &&
           alerts_firing(w.alerts, &n)->code == 79,
       "the alert has severity and code of its event");
    is_str(alerts_firing(w.alerts, &n)->text, "xid 79", "the alert has the words of its event");
    (void)begin(&w, 30, 0, 0);
    add_event(&w, "xid", SEVERITY_WARNING, 31, false);
    is_int(step(&w), 0, "a step with the same event is taken");
    is_int((long long)now_of(&w)->n_events, 1, "an event that comes again starts no new alert");
    after(&w, 59, 0, 0, "xid/gpu,xid/gpu,kernel/gpu");
    after(&w, 60, 0, 0, "xid/gpu,kernel/gpu");
    after(&w, 90, 0, 0, "kernel/gpu");
    (void)begin(&w, 91, 0, 0);
    add_event(&w, "oom", SEVERITY_NOTE, -1, true);
    is_int(step(&w), 0, "a step with an event that is over is taken");
    is_str(firing(&w, buf), "", "an alert ends before its time when its event is over");
    world_close(&w);
}

/* One more event of that kind, with words of its own. */
static void add_words(struct world *w, const char *kind, const char *words, bool over)
{
    struct event *ev;

    add_event(w, kind, SEVERITY_WARNING, -1, over);
    ev = &now_of(w)->events[now_of(w)->n_events - 1];
    snprintf(ev->text, sizeof(ev->text), "%s", words);
}

/* The texts of those that fire, with commas between. */
static const char *texts(const struct world *w, char buf[512])
{
    size_t n, len = 0;
    const struct alert *firing = alerts_firing(w->alerts, &n);

    buf[0] = 0;
    for (size_t i = 0; i < n; i++)
        len += (size_t)snprintf(buf + len, 512 - len, "%s%s", i ? "," : "", firing[i].text);
    return buf;
}

static const char *ids(const struct world *w, char buf[512])
{
    struct tick t = { .n_rows = 0 };
    size_t len = 0;

    ticks_begin(&t, 0);
    is_int(alerts_rows(w->alerts, &t), 0, "the alerts become rows");
    buf[0] = 0;
    for (size_t i = 0; i < t.n_rows; i++)
        len += (size_t)snprintf(buf + len, 512 - len, "%s%s", i ? "," : "", t.rows[i].thing);
    tick_done(&t);
    return buf;
}

/* Events without a number: what they say tells them apart, and their kind. */
static void test_events_by_their_words(void)
{
    struct world w = { .at = 0 };
    char buf[512];

    is_int(world_open(&w), 0, "the rules for words are read");
    (void)begin(&w, 0, 0, 0);
    add_words(&w, "oom", "killed a", false);
    add_words(&w, "oom", "killed b", false);
    add_words(&w, "nfs", "killed a", false);
    is_int(step(&w), 0, "a step with three events is taken");
    is_str(texts(&w, buf), "killed a,killed b,killed a", "each text of a kind is an alert");
    is_str(ids(&w, buf), "kernel/oom/gpu,kernel/oom/gpu/2,kernel/nfs/gpu",
           "each alert has a name of its own");
    (void)begin(&w, 60, 0, 0);
    add_words(&w, "oom", "killed b", false);
    is_int(step(&w), 0, "a step with an event that is known is taken");
    is_str(texts(&w, buf), "killed a,killed b,killed a", "a text that comes again is no new alert");
    (void)begin(&w, 120, 0, 0);
    add_words(&w, "oom", "killed c", false);
    is_int(step(&w), 0, "a step with a new text is taken");
    is_str(texts(&w, buf), "killed b,killed c", "an alert stays for its time after its last event");
    is_str(ids(&w, buf), "kernel/oom/gpu/2,kernel/oom/gpu/3",
           "an alert keeps its name when another one ends");
    (void)begin(&w, 121, 0, 0);
    add_words(&w, "nfs", "it is over", true);
    is_int(step(&w), 0, "a step with another kind that is over is taken");
    is_str(texts(&w, buf), "killed b,killed c", "what is over of another kind ends nothing");
    (void)begin(&w, 122, 0, 0);
    add_words(&w, "oom", "it is over", true);
    is_int(step(&w), 0, "a step with a kind that is over is taken");
    is_str(texts(&w, buf), "", "what is over ends all that was said of its kind");
    world_close(&w);
}

/* Of a storm of one kind eight are alerts of their own. */
static void test_storm_of_words(void)
{
    struct world w = { .at = 0 };
    char words[32];
    size_t n;

    is_int(world_open(&w), 0, "the rules for a storm are read");
    (void)begin(&w, 0, 0, 0);
    for (int i = 0; i < 40; i++) {
        snprintf(words, sizeof(words), "killed %d", i);
        add_words(&w, "oom", words, false);
    }
    add_event(&w, "xid", SEVERITY_CRITICAL, 79, false);
    is_int(step(&w), 0, "a step with a storm is taken");
    is_int((long long)(alerts_firing(w.alerts, &n), n), 9, "eight of a storm fire, and the XID");
    is_int((long long)alerts_dropped(w.alerts), 0, "none of a storm is too many");
    world_close(&w);
}

/* The kernel's log tells of all since the host was started; an agent that starts later sees it. */
static void test_past_events(void)
{
    struct world w = { .at = 0 };
    char buf[256];
    size_t n;

    is_int(world_open(&w), 0, "the world has its rules");
    (void)begin(&w, 0, 0, 0);
    add_event(&w, "xid", SEVERITY_CRITICAL, 79, false);
    now_of(&w)->events[0].wall_ns -= 59 * TICK_S;
    add_event(&w, "xid", SEVERITY_CRITICAL, 48, false);
    now_of(&w)->events[1].wall_ns -= 60 * TICK_S;
    is_int(step(&w), 0, "a step with old events is taken");
    is_str(firing(&w, buf), "xid/gpu", "one whose time is not over");
    is_int((long long)alerts_firing(w.alerts, &n)->since_ns, now_of(&w)->wall_ns - 59 * TICK_S,
           "an alert counts from the time of its event");
    world_close(&w);
}

static void test_bounds(void)
{
    struct world w = { .at = 0 };
    size_t n;

    is_int(world_open(&w), 0, "the world has its rules");
    for (int64_t second = 0; second <= 120; second += 30) {
        (void)begin(&w, second, (double)NAN, 0);
        for (int i = 0; i < 80; i++) {
            char name[16];

            snprintf(name, sizeof(name), "%s%d", second < 90 ? "sd" : "vd", i);
            ticks_row(now_of(&w), &ticks_disk, name, 0, 9, 0);
        }
        is_int(step(&w), 0, "a step with 80 disks is taken");
        ok(alerts_dropped(w.alerts) > 0, "some are too many");
        (void)alerts_firing(w.alerts, &n);
        ok(n <= 64, "%lld s: %zu fire", (long long)second, n);
    }
    for (int i = 0; i < 300; i++) {
        (void)begin(&w, 130, 0, 0);
        for (int k = 0; k < 60; k++)
            add_event(&w, i % 2 ? "xid" : "oom", SEVERITY_WARNING, i * 100 + k, false);
        is_int(step(&w), 0, "a step with 60 events is taken");
    }
    (void)alerts_firing(w.alerts, &n);
    ok(n <= ALERTS_FIRING_MAX, "%zu alerts fire at most", n);
    world_close(&w);
}

/* Six rules that hold of 64 disks each; then an event comes as well. */
static void test_too_many(void)
{
    CLEANUP(str_done) struct str text = STR_INIT(4096);
    struct world w = { .at = 0 };
    size_t n;

    for (int i = 0; i < 6; i++)
        str_addf(&text,
                 "[r%d]\nset = disk\nby = device\nwhen = now > 5\nseverity = note\n"
                 "say = x\n",
                 i);
    str_add(&text, "[xid]\nevent = xid\nkeep = 1m\n");
    ok(rules_load(&w.rules, "f", str_text(&text), text.len, NULL) == 0 &&
           alerts_new(&w.alerts, &w.rules) == 0,
       "seven rules are loaded");
    for (int64_t second = 0; second < 3; second++) {
        (void)begin(&w, second, (double)NAN, 0);
        for (int i = 0; i < 64; i++) {
            char name[16];

            snprintf(name, sizeof(name), "sd%d", i);
            ticks_row(now_of(&w), &ticks_disk, name, 0, 9, 0);
        }
        if (second == 2)
            add_event(&w, "xid", SEVERITY_WARNING, 79, false);
        is_int(step(&w), 0, "a step with 64 disks is taken");
        (void)alerts_firing(w.alerts, &n);
        is_int((long long)n, ALERTS_FIRING_MAX, "alerts fire up to their greatest number");
        is_int((long long)alerts_dropped(w.alerts), 6 * 64 - ALERTS_FIRING_MAX + (second == 2),
               "alerts that are too many are counted as dropped");
    }
    world_close(&w);
}

/* New disks take the places of those that are gone. */
static void test_change(void)
{
    struct world w = { .at = 0 };
    size_t n;

    is_int(world_open(&w), 0, "the world has its rules");
    for (int64_t second = 0; second <= 200; second += 10) {
        (void)begin(&w, second, (double)NAN, 0);
        for (int i = 0; i < 64; i++) {
            char name[16];

            snprintf(name, sizeof(name), "%s%d", second < 20 ? "sd" : "vd", i);
            ticks_row(now_of(&w), &ticks_disk, name, 0, second < 20 ? 1 : 9, 0);
        }
        is_int(step(&w), 0, "a step with 64 disks is taken");
    }
    (void)alerts_firing(w.alerts, &n);
    is_int((long long)n, 64, "alerts of all new disks fire");
    world_close(&w);
}

/* A disk that had 1 for 700 s is gone for so long, then has 100: what fires then. */
static const char *after_gap(int64_t gap_s, char buf[256])
{
    static const char text[] = "[jump]\nset = disk\nby = device\nwhen = now > 2 * past(now)\n"
                               "severity = note\nsay = x\n";
    struct world w = { .at = 0 };
    int rc = rules_load(&w.rules, "f", text, strlen(text), NULL);

    if (rc == 0)
        rc = alerts_new(&w.alerts, &w.rules);
    for (int64_t second = 0; rc == 0 && second < 700 + gap_s; second += 5) {
        (void)begin(&w, second, second < 700 ? 1 : (double)NAN, 0);
        rc = step(&w);
    }
    if (rc == 0) {
        (void)begin(&w, 700 + gap_s - 5, 100, 0);
        rc = step(&w);
    }
    snprintf(buf, 256, "%d", rc);
    if (rc == 0)
        firing(&w, buf);
    world_close(&w);
    return buf;
}

static void test_gone(void)
{
    char buf[256];

    is_str(after_gap(595, buf), "jump/a",
           "a disk that was gone for 595 s is compared with its past");
    is_str(after_gap(605, buf), "",
           "a disk that was gone for 10 minutes is a new one, without a past");
}

static void test_rows(void)
{
    CLEANUP(str_done) struct str out = STR_INIT(8192);
    struct world w = { .at = 0 };
    struct tick t = { .n_rows = 0 };

    is_int(world_open(&w), 0, "the world has its rules");
    after(&w, 0, 9, 3, "loaded");
    after(&w, 30, 9, 3, "loaded,high/a");
    ticks_begin(&t, 30);
    is_int(alerts_rows(w.alerts, &t), 0, "alerts_rows adds rows to the tick");
    metrics_render(&t, METRICS_PROMETHEUS, &out);
    is_str(str_text(&out),
           "# HELP brim_alert_firing 1 while the alert fires\n"
           "# TYPE brim_alert_firing gauge\n"
           "brim_alert_firing{id=\"loaded\",alert=\"loaded\",thing=\"\",severity=\"critical\","
           "code=\"\"} 1\n"
           "brim_alert_firing{id=\"high/a\",alert=\"high\",thing=\"a\",severity=\"warning\","
           "code=\"\"} 1\n",
           "the metrics have each alert that fires, and no code where there is no event");
    tick_done(&t);
    world_close(&w);
}

/* Two series of the same labels are one to Prometheus, and refused by some scrapers. */
static void test_fault_rows(void)
{
    CLEANUP(str_done) struct str out = STR_INIT(8192);
    struct world w = { .at = 0 };
    struct tick t = { .n_rows = 0 };

    is_int(world_open(&w), 0, "the rules of the test are read");
    (void)begin(&w, 0, 0, 0);
    add_event(&w, "xid", SEVERITY_CRITICAL, 79, false);
    add_event(&w, "xid", SEVERITY_WARNING, 31, false);
    add_event(&w, "oom", SEVERITY_WARNING, -1, false);
    is_int(step(&w), 0, "a step takes three events");
    ticks_begin(&t, 0);
    is_int(alerts_rows(w.alerts, &t), 0, "the alerts of events become rows");
    metrics_render(&t, METRICS_PROMETHEUS, &out);
    is_str(strchr(str_text(&out), '{'),
           "{id=\"xid/79/gpu\",alert=\"xid\",thing=\"gpu\",severity=\"critical\",code=\"79\"} 1\n"
           "brim_alert_firing{id=\"xid/31/gpu\",alert=\"xid\",thing=\"gpu\","
           "severity=\"warning\",code=\"31\"} 1\n"
           "brim_alert_firing{id=\"kernel/oom/gpu\",alert=\"kernel\",thing=\"gpu\","
           "severity=\"warning\",code=\"oom\"} 1\n",
           "each fault of a GPU is a series of its own, with its code");
    tick_done(&t);
    world_close(&w);
}

static int whole(struct world *w)
{
    int rc = world_open(w);

    for (int64_t second = 0; second <= 60 && rc == 0; second += 30) {
        (void)begin(w, second, 9, 3);
        for (int i = 0; i < 6; i++) {
            char name[16];

            snprintf(name, sizeof(name), "sd%d", i);
            ticks_row(now_of(w), &ticks_disk, name, 0, 9, 0);
        }
        add_event(w, "xid", SEVERITY_WARNING, 1, false);
        rc = step(w);
    }
    return rc;
}

static void test_oom(void)
{
    bool failed;
    int least = 0;

    oom_restart();
    do {
        struct world w = { .at = 0 };
        int rc;

        oom_next();
        rc = whole(&w);
        failed = oom_end();
        least += rc == -ENOMEM;
        ok(failed ? rc <= 0 : rc == 0, "alerts with allocation %d failing return %d", oom_at, rc);
        world_close(&w);
    } while (failed);
    ok(least > 10, "%d failures were told", least);
}

/* brim's own rules on rows that are there: 12 disks, and the sets that they are over in the test
 * of the agent. Printed, with a bound that a sanitizer's build keeps too. */
static void test_cost(void)
{
    enum { ROUNDS = 2000 };
    struct rules rules;
    struct alerts *alerts = NULL;
    struct tick ticks[2] = { { .n_rows = 0 } };
    struct timespec from, to;
    double us;

    if (!ok(rules_load(&rules, "alerts.ini", data_alerts_ini, data_alerts_ini_len, NULL) == 0,
            "brim's own rules are loaded"))
        return;
    ok(alerts_new(&alerts, &rules) == 0, "alerts_new takes %zu rules", rules.count);
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (int i = 0; i < ROUNDS; i++) {
        struct tick *t = &ticks[i % 2];

        ticks_begin(t, i);
        for (int k = 0; k < 60; k++) {
            static const char *const sets[] = { "disk",      "net",        "gpu",
                                                "gpu_error", "infiniband", "pcie" };
            static struct signal_set made[ARRAY_SIZE(sets)];
            char name[16];

            made[k / 10] = ticks_disk;
            made[k / 10].name = sets[k / 10];
            snprintf(name, sizeof(name), "sd%d", k % 10);
            ticks_row(t, &made[k / 10], name, i, 1, 2);
        }
        if (alerts_step(alerts, i ? &ticks[(i + 1) % 2] : NULL, t) < 0)
            break;
    }
    clock_gettime(CLOCK_MONOTONIC, &to);
    us = (double)((to.tv_sec - from.tv_sec) * TICK_S + to.tv_nsec - from.tv_nsec) / 1e3 / ROUNDS;
    printf("# 60 rows, %zu rules: %.1f us a tick, with making it\n", rules.count, us);
    ok(us < 5000, "a tick takes less than 5 ms");
    alerts_free(alerts);
    tick_done(&ticks[0]);
    tick_done(&ticks[1]);
    rules_done(&rules);
}

int main(void)
{
    test_time();
    test_events();
    test_events_by_their_words();
    test_storm_of_words();
    test_past_events();
    test_bounds();
    test_too_many();
    test_change();
    test_gone();
    test_rows();
    test_fault_rows();
    test_oom();
    test_cost();
    return done();
}
