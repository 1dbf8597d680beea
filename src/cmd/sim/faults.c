#include "cmd/sim/faults.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/parse.h"
#include "base/str.h"
#include "failures_csv.h"
#include "model/signal/quantity.h"
#include "plan/cluster/failures.h"

enum { LIST_MAX = 16 << 20 };
static const double day_s = 86400, per_thousand = 1000;
/* More than one failure of a device in an hour is no cluster. */
static const double most_per_day = 24;

/* A list has a name with a dot and a letter behind it, or a slash; a rate is a number. */
static bool is_file(const char *text)
{
    double number;

    return strpbrk(text, "./") && parse_double(text, &number) < 0 && !strstr(text, "/device");
}

static int read_list(struct sim_failing *f, struct arena *a, const struct pool *pool,
                     const char *file, struct err *e)
{
    CLEANUP(str_done) struct str text = STR_INIT(LIST_MAX);
    struct outage *list = NULL;
    int rc = file_read(file, &text, e);

    if (rc == 0)
        rc = outages_read(a, pool, &(struct outage_text){ file, str_text(&text), text.len }, &list,
                          &f->options.n_list, e);
    if (rc < 0)
        return rc;
    f->options.list = f->list = list;
    snprintf(f->about, sizeof(f->about), "%zu failure%s of %.80s", f->options.n_list,
             str_plural(f->options.n_list), file);
    return 0;
}

/* "6.5" of 1,000 nodes in a day, "0.8/device" of 1,000 devices. */
static int read_rate(struct sim_failing *f, const struct pool *pool, const char *text,
                     struct err *e)
{
    const char *slash = strchr(text, '/');
    double rate;
    char number[32];

    if (slash && strcmp(slash, "/device") != 0)
        return -EINVAL;
    snprintf(number, sizeof(number), "%.*s", (int)(slash ? slash - text : 31), text);
    if (parse_double(number, &rate) < 0)
        return -EINVAL;
    f->options.per_device_day = rate / per_thousand;
    if (!slash)
        f->options.per_device_day /= (double)pool->devices / (double)pool->n_nodes;
    if (!(rate >= 0) || f->options.per_device_day > most_per_day)
        return err_usage(e, "%s: a device fails 0 to %g times in a day", text, most_per_day);
    snprintf(f->about, sizeof(f->about), "%g failures of 1,000 %s in a day", rate,
             slash ? "devices" : "nodes");
    return 0;
}

static int read_name(struct sim_failing *f, const char *name, struct err *e)
{
    struct failures table;
    const struct failure_row *row;
    int rc = failures_load(&table, (const char *)data_failures_csv, data_failures_csv_len, e);

    if (rc < 0)
        return rc;
    rc = err_usage_of(failures_find(&table, name, &row, e));
    if (rc == 0) {
        f->options.per_device_day = day_s / row->node_mtbf_s / row->node_gpus;
        snprintf(f->about, sizeof(f->about),
                 "the rate of %.40s: %s failures of 1,000 nodes with %d devices in a day",
                 row->name, quantity_number(day_s / row->node_mtbf_s * per_thousand, 3).text,
                 row->node_gpus);
    }
    failures_done(&table);
    return rc;
}

static int add_windows(struct sim_failing *f, struct arena *a, const struct pool *pool,
                       const char *file, struct err *e)
{
    CLEANUP(str_done) struct str text = STR_INIT(LIST_MAX);
    struct outage *list = NULL, *both = f->list;
    size_t n = 0, len;
    int rc = file_read(file, &text, e);

    if (rc == 0)
        rc = outages_read_windows(a, pool, &(struct outage_text){ file, str_text(&text), text.len },
                                  &list, &n, e);
    if (rc < 0)
        return rc;
    if (outages_join(a, &both, &f->options.n_list, list, n) < 0)
        return err_nomem(e);
    f->options.list = f->list = both;
    n /= 2; /* each has a begin and an end */
    len = strlen(f->about);
    snprintf(f->about + len, sizeof(f->about) - len, "%s%zu window%s", len ? "; " : "", n,
             str_plural(n));
    return 0;
}

static int find_rate(struct sim_failing *f, struct arena *a, const struct pool *pool,
                     const char *text, struct err *e)
{
    int rc;

    if (is_file(text))
        return read_list(f, a, pool, text, e);
    rc = read_rate(f, pool, text, e);
    if (rc == -EINVAL)
        rc = read_name(f, text, e);
    if (rc == ERR_USAGE)
        err_context(e, rc, "--failures: ");
    return rc;
}

int sim_faults_find(struct sim_failing *ret, struct arena *a, const struct pool *pool,
                    const struct sim_fault_opts *o, uint64_t seed, struct err *e)
{
    struct sim_failing f = { .any = o->failures || o->cost_ns > 0 || o->spares > 0 || o->windows };
    int rc = 0;

    f.options.seed = seed;
    f.options.repair_ms = o->repair_ns / NS_PER_MS;
    f.options.checkpoint_cost_ms = o->cost_ns / NS_PER_MS;
    if (o->spares > 0 && o->spares >= pool->n_nodes)
        return err_usage(e, "--spares %llu: of %zu node%s one at least has to work",
                         (unsigned long long)o->spares, pool->n_nodes, str_plural(pool->n_nodes));
    f.options.spares = (uint32_t)o->spares;
    if (o->failures)
        rc = find_rate(&f, a, pool, o->failures, e);
    if (rc < 0)
        return rc;
    if (f.options.per_device_day > 0) {
        size_t len = strlen(f.about);

        snprintf(f.about + len, sizeof(f.about) - len, "; each takes %.4g h to repair",
                 (double)f.options.repair_ms / 3600e3);
    }
    if (o->windows)
        rc = add_windows(&f, a, pool, o->windows, e);
    if (rc < 0)
        return rc;
    *ret = f;
    return 0;
}

void sim_faults_checkpoints(struct workload *w, const struct sim_fault_opts *o)
{
    if (o->checkpoint_ns <= 0)
        return;
    for (size_t i = 0; i < w->n_jobs; i++)
        if (w->jobs[i].checkpoint_ms == 0)
            w->jobs[i].checkpoint_ms = MAX(o->checkpoint_ns / NS_PER_MS, 1);
}
