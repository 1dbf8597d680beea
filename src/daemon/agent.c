#include "daemon/agent.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <uv.h>

#include "base/clock.h"
#include "base/log.h"
#include "daemon/exporters.h"
#include "daemon/feed.h"
#include "daemon/finished.h"
#include "daemon/history.h"
#include "daemon/http/http.h"
#include "daemon/memory.h"
#include "daemon/nodes.h"
#include "daemon/privileges.h"
#include "daemon/self.h"
#include "daemon/store_thread.h"
#include "diagnose/alerts/alert.h"
#include "probe/root.h"
#include "probe/samplers.h"
#include "run/watch/live_runs.h"
#include "site.h"

enum { PAGE_MAX = 8 << 20, TICKS_TO_SETTLE = 4 };

enum { DESCRIPTORS = 64 /* it has some 50 before the first client comes */ };

/* What is served, before the files of the dashboard. */
enum page {
    PAGE_OPENMETRICS,
    PAGE_METRICS,
    PAGE_HEALTH,
    PAGE_LIVE,
    PAGE_LIVE_ONCE,
    PAGE_NODE,
    PAGE_NODES,
    PAGE_HISTORY,
    PAGE_SERIES,
    PAGE_EVENTS,
    PAGE_RUNS,
    PAGE_REPORT,
    PAGE_BESIDE,
    PAGES
};

static const char json_type[] = "application/json; charset=utf-8";
static const char html_type[] = "text/html; charset=utf-8";

/* What begins so is for brim control. */
static const char of_clusters[] = "/cluster";

/* Reports carry their style, and nothing that runs or is loaded. */
static const char report_policy[] =
    "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; frame-ancestors 'none'; "
    "base-uri 'none'; form-action 'none'";

static const struct http_page first_pages[PAGES] = {
    [PAGE_OPENMETRICS] = { .path = "/metrics",
                           .type = "application/openmetrics-text; version=1.0.0; charset=utf-8",
                           .kind = HTTP_LATEST,
                           .accept = "application/openmetrics-text" },
    [PAGE_METRICS] = { .path = "/metrics",
                       .type = "text/plain; version=0.0.4; charset=utf-8",
                       .kind = HTTP_LATEST },
    [PAGE_HEALTH] = { .path = "/healthz",
                      .type = "text/plain; charset=utf-8",
                      .kind = HTTP_WORK,
                      .open = true },
    [PAGE_LIVE] = { .path = "/api/v1/live", .type = "text/event-stream", .kind = HTTP_STREAM },
    [PAGE_LIVE_ONCE] = { .path = "/api/v1/live.json", .type = json_type, .kind = HTTP_LATEST },
    [PAGE_NODE] = { .path = "/api/v1/node.json", .type = json_type, .kind = HTTP_LATEST },
    [PAGE_NODES] = { .path = "/api/v1/nodes.json", .type = json_type, .kind = HTTP_WORK },
    [PAGE_HISTORY] = { .path = "/api/v1/history", .type = json_type, .kind = HTTP_WORK },
    [PAGE_SERIES] = { .path = "/api/v1/series", .type = json_type, .kind = HTTP_WORK },
    [PAGE_EVENTS] = { .path = "/api/v1/events", .type = json_type, .kind = HTTP_WORK },
    [PAGE_RUNS] = { .path = "/api/v1/runs", .type = json_type, .kind = HTTP_WORK },
    [PAGE_REPORT] = { .path = "/report",
                      .type = html_type,
                      .kind = HTTP_WORK,
                      .policy = report_policy },
    [PAGE_BESIDE] = { .path = "/beside",
                      .type = html_type,
                      .kind = HTTP_WORK,
                      .policy = report_policy },
};

struct agent {
    const struct agent_config *config;
    struct samplers *samplers;
    struct feed *feed;
    struct store_thread *store_thread; /* NULL without a store */
    struct exporters *compat;          /* NULL when it is not wanted */
    struct history *history;
    struct finished *finished;
    struct nodes *nodes;
    struct http *http;
    struct http_page pages[HTTP_PAGES];
    struct live_runs runs;
    struct recent recent; /* nothing with a store */
    struct str text;      /* what is rendered, page after page */
    bool failed;          /* the last tick; the next may work */
    size_t dropped;       /* alerts of the last tick that are not shown */
    int64_t begin_ns;
    uint64_t ticks, missed;
    uint64_t due; /* ticks that were due by now, taken or not */
    double tick_s;
    uv_loop_t loop;
    uv_timer_t timer;
    uv_poll_t clients;
    uv_idle_t again; /* while clients have more to do */
    uv_signal_t term, interrupt;
};

static int64_t now_ns(const struct agent *a)
{
    return clock_monotonic_ns(a->config->clock);
}

/* ---- what is served ---- */

static int fill(void *ctx, size_t page)
{
    struct agent *a = ctx;

    str_reset(&a->text);
    if (page == PAGE_LIVE || page == PAGE_LIVE_ONCE)
        feed_live(a->feed, &a->text);
    else if (page == PAGE_NODE)
        feed_node(a->feed, &a->text);
    else
        feed_metrics(a->feed, page == PAGE_METRICS ? METRICS_PROMETHEUS : METRICS_OPENMETRICS,
                     &a->text);
    if (page == PAGE_METRICS && a->compat &&
        exporters_add(a->compat, feed_tick(a->feed), &a->text) < 0)
        return -ENOMEM;
    if (str_error(&a->text))
        return str_error(&a->text);
    return http_publish(a->http, page, str_text(&a->text), a->text.len);
}

/* Healthy while the last tick worked. */
static void health(const struct agent *a, struct http_call *call)
{
    static const char ok[] = "ok\n", bad[] = "samples are lost: see the log\n";
    const char *text = a->failed ? bad : ok;

    http_reply(call, a->failed ? 503 : 200, NULL, text, strlen(text));
}

static void work(void *ctx, size_t page, struct http_call *call)
{
    struct agent *a = ctx;
    int64_t wall_ms = clock_wall_ns(a->config->clock) / NS_PER_MS;

    if (page == PAGE_HISTORY)
        history_charts(a->history, wall_ms, call);
    else if (page == PAGE_SERIES)
        history_series(a->history, wall_ms, call);
    else if (page == PAGE_NODES)
        nodes_answer(a->nodes, call);
    else if (page == PAGE_EVENTS)
        history_events(a->history, wall_ms, call);
    else if (page == PAGE_RUNS)
        finished_list(a->finished, call);
    else if (page == PAGE_REPORT)
        finished_report(a->finished, call);
    else if (page == PAGE_BESIDE)
        finished_beside(a->finished, call);
    else
        health(a, call);
}

static size_t all_pages(struct http_page pages[HTTP_PAGES], bool compat)
{
    size_t n = PAGES;

    memcpy(pages, first_pages, sizeof(first_pages));
    if (compat) /* names of others break the rules of OpenMetrics: that page is never asked for */
        pages[PAGE_OPENMETRICS].path = "";
    for (size_t i = 0; i < site_n_files && n < HTTP_PAGES; i++)
        if (strncmp(site_files[i].path, of_clusters, strlen(of_clusters)) != 0)
            pages[n++] = (struct http_page){ .path = site_files[i].path,
                                             .type = site_files[i].type,
                                             .kind = HTTP_FIXED,
                                             .text = site_files[i].text,
                                             .len = site_files[i].len };
    return n;
}

/* ---- ticks ---- */

static int add_self(struct agent *a, struct tick *t)
{
    struct http_count http = http_counted(a->http);
    struct signal_row *row = self_add(t);

    if (!row)
        return -ENOMEM;
    row->values[SELF_TICKS] = (double)a->ticks;
    row->values[SELF_MISSED] = (double)a->missed;
    row->values[SELF_TICK_SECONDS] = a->tick_s;
    row->values[SELF_CONNECTIONS] = http.connections;
    row->values[SELF_STREAMS] = http.streams;
    row->values[SELF_REQUESTS] = (double)http.requests;
    row->values[SELF_REFUSED] = (double)http.refused;
    row->values[SELF_ALERTS_DROPPED] = (double)a->dropped;
    if (a->store_thread) {
        struct store_thread_state kept;

        store_thread_state(a->store_thread, &kept);
        row->values[SELF_STORED] = (double)kept.stored;
        row->values[SELF_UNSTORED] = (double)kept.dropped;
    }
    return 0;
}

static void store(struct agent *a)
{
    struct store_thread_note note;

    store_thread_push(a->store_thread, feed_tick(a->feed));
    while (store_thread_note(a->store_thread, &note))
        log_write(note.warning ? LOG_LEVEL_WARNING : LOG_LEVEL_INFO, "%s", note.text.text);
}

/* Alerts that are one too many, told when it begins. */
static void look_at_dropped(struct agent *a)
{
    size_t now = feed_dropped(a->feed);

    if (now && !a->dropped)
        log_warning("%zu alerts are not shown: %d can fire at a time; make the rules more strict",
                    now, ALERTS_FIRING_MAX);
    a->dropped = now;
}

/* One tick. A failure is told once, and what was served before stays. */
static void sample(struct agent *a)
{
    int64_t begin = now_ns(a);
    struct tick *t = feed_next(a->feed, clock_wall_ns(a->config->clock), begin);
    int rc = samplers_sample(a->samplers, t);

    a->ticks++;
    if (rc == 0)
        rc = add_self(a, t);
    if (!a->config->root) /* runs are of this machine */
        live_runs_look(&a->runs, NULL);
    feed_runs(a->feed, a->runs.runs, a->runs.n);
    if (rc == 0)
        rc = feed_judge(a->feed);
    if (rc == 0 && !a->store_thread)
        recent_add(&a->recent, feed_view(a->feed));
    if (rc == 0)
        look_at_dropped(a);
    http_stale(a->http);
    if (rc == 0 && http_listeners(a->http, PAGE_LIVE))
        rc = fill(a, PAGE_LIVE);
    if (rc == 0 && a->store_thread)
        store(a);
    if (rc < 0 && !a->failed)
        log_warning("a sample was lost: %s; trying again every tick", strerror(-rc));
    a->failed = rc < 0;
    a->tick_s = (double)(now_ns(a) - begin) * 1e-9;
}

static void on_timer(uv_timer_t *t);

/* Ticks stand at multiples of the interval since the start, so that a late one makes no drift. */
static void next_tick(struct agent *a)
{
    int64_t interval = a->config->interval_ns, now = now_ns(a);
    uint64_t past = (uint64_t)((now - a->begin_ns) / interval);

    if (past > a->due)
        a->missed += past - a->due;
    a->due = past + 1;
    uv_update_time(&a->loop); /* the loop's time is from before the sample: it would fire early */
    /* half a millisecond late rather than early: the timer counts in whole ones */
    uv_timer_start(&a->timer, on_timer,
                   (uint64_t)(((int64_t)a->due * interval + a->begin_ns - now) / NS_PER_MS + 1), 0);
}

static void serve(struct agent *a);

static void on_again(uv_idle_t *i)
{
    serve(i->data);
}

static void serve(struct agent *a)
{
    uv_idle_stop(&a->again);
    if (http_run(a->http, now_ns(a)))
        uv_idle_start(&a->again, on_again);
}

static void again(void *ctx)
{
    struct agent *a = ctx;

    uv_idle_start(&a->again, on_again);
}

static void on_timer(uv_timer_t *t)
{
    struct agent *a = t->data;

    sample(a);
    serve(a); /* silent clients are dropped here */
    if (a->ticks == TICKS_TO_SETTLE)
        memory_settle();
    next_tick(a);
}

static void on_clients(uv_poll_t *p, int status, int events)
{
    (void)status;
    (void)events;
    serve(p->data);
}

static void on_signal(uv_signal_t *s, int number)
{
    (void)number;
    uv_stop(s->loop);
}

/* ---- the loop ---- */

static void close_handle(uv_handle_t *h, void *arg)
{
    (void)arg;
    if (!uv_is_closing(h))
        uv_close(h, NULL);
}

static int start_loop(struct agent *a)
{
    int rc = uv_timer_init(&a->loop, &a->timer);

    if (rc == 0)
        rc = uv_poll_init(&a->loop, &a->clients, http_fd(a->http));
    if (rc == 0)
        rc = uv_signal_init(&a->loop, &a->term);
    if (rc == 0)
        rc = uv_signal_init(&a->loop, &a->interrupt);
    if (rc == 0)
        rc = uv_idle_init(&a->loop, &a->again);
    a->timer.data = a->clients.data = a->again.data = a;
    if (rc == 0)
        rc = uv_poll_start(&a->clients, UV_READABLE, on_clients);
    if (rc == 0)
        rc = uv_signal_start(&a->term, on_signal, SIGTERM);
    if (rc == 0)
        rc = uv_signal_start(&a->interrupt, on_signal, SIGINT);
    return rc;
}

/* Questions that are still being answered end first: they hold connections. */
static void end_loop(struct agent *a)
{
    http_end(a->http);
    history_end(a->history);
    finished_end(a->finished);
    nodes_end(a->nodes);
    while (history_busy(a->history) || finished_busy(a->finished))
        uv_run(&a->loop, UV_RUN_ONCE);
    uv_walk(&a->loop, close_handle, NULL);
    uv_run(&a->loop, UV_RUN_DEFAULT);
}

static int run_loop(struct agent *a, struct err *e)
{
    int rc = start_loop(a);

    if (rc == 0) {
        a->begin_ns = now_ns(a);
        sample(a);
        next_tick(a);
        if (a->config->ready)
            a->config->ready(a->config->arg, http_where(a->http));
        uv_run(&a->loop, UV_RUN_DEFAULT);
    }
    end_loop(a);
    return rc < 0 ? err_set(e, rc, "cannot start the loop: %s", uv_strerror(rc)) : 0;
}

static void agent_done(struct agent *a)
{
    http_close(a->http);
    history_close(a->history);
    finished_close(a->finished);
    nodes_close(a->nodes);
    uv_loop_close(&a->loop);
    store_thread_close(a->store_thread);
    feed_close(a->feed);
    exporters_close(a->compat);
    samplers_close(a->samplers);
    str_done(&a->text);
}

/* What can fail for a reason that a user can mend comes first. */
static int open_all(struct agent *a, const struct http_config *http, int root, struct err *e)
{
    const struct agent_config *c = a->config;
    const struct sampler_env env = {
        .root = root, .live = !c->root, .fake = c->fake, .patience_ns = SAMPLER_PATIENCE_NS
    };
    const struct nodes_config nodes = { c->clock, c->nodes, c->nodes_token };
    int rc = http_open(&a->http, http, e);

    if (rc == 0)
        rc = c->user && c->store ? privileges_give_folder(c->store, c->user, e) : 0;
    if (rc == 0)
        rc = privileges_drop(c->user,
                             e); /* before there are other threads, which would keep them */
    if (rc == 0)
        rc = samplers_open(&a->samplers, &env, e);
    if (rc == 0 && c->compat)
        rc = exporters_open(&a->compat, &env, e);
    if (rc == 0)
        rc = feed_open(&a->feed, c->host, c->rules, e);
    if (rc == 0 && c->store)
        rc = store_thread_open(&a->store_thread, c->store, &c->keep, e);
    if (rc == 0)
        rc = history_open(&a->history, &a->loop, c->store, &a->recent, e);
    if (rc == 0)
        rc = finished_open(&a->finished, &a->loop, c->runs, e);
    if (rc == 0)
        rc = nodes_open(&a->nodes, &a->loop, &nodes, e);
    return rc;
}

/* With fewer it would sample, and answer nobody. */
static int check_descriptors(struct err *e)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= DESCRIPTORS)
        return 0;
    return err_set(e, -EMFILE,
                   "an agent needs %d files open and may have %d: raise the limit, with ulimit -n",
                   DESCRIPTORS, (int)limit.rlim_cur);
}

int agent_run(const struct agent_config *config, struct err *e)
{
    CLEANUP(closep) int root = probe_root_open(config->root, e);
    struct agent a = { .config = config, .text = STR_INIT(PAGE_MAX) };
    struct http_config http = { .listen = config->listen,
                                .token = config->token,
                                .silence_s = (unsigned)(config->silence_ns / 1000000000),
                                .pages = a.pages,
                                .n_pages = all_pages(a.pages, config->compat),
                                .work = work,
                                .fill = fill,
                                .again = again,
                                .ctx = &a };
    int rc = root < 0 ? root : check_descriptors(e);

    if (rc < 0)
        return rc;
    memory_begin();
    signal(SIGPIPE, SIG_IGN); /* what a node that is asked and goes away would send */
    rc = uv_loop_init(&a.loop);
    if (rc < 0)
        return err_set(e, rc, "cannot start the loop: %s", uv_strerror(rc));
    rc = open_all(&a, &http, root, e);
    if (rc == 0)
        rc = run_loop(&a, e);
    agent_done(&a);
    return rc;
}
