/* What the node and the job did, a small picture for each signal that matters. */
#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "base/str.h"
#include "model/signal/quantity.h"
#include "render/report/evidence.h"
#include "render/report/plot.h"
#include "render/report/stats.h"

enum { COLUMNS = 200 };
enum unit { SHARE, BYTES, RATE, SECONDS, COUNT, PER_SECOND };

/* In the order of the page. 'always': shown although no finding is about it. */
static const struct chart {
    enum run_signal signal;
    enum unit unit;
    bool always;
    const char *title;
} charts[] = {
    { RUN_GPU_BUSY, SHARE, true, "GPU busy" },
    { RUN_GPU_SM_ACTIVE, SHARE, true, "GPU multiprocessors active" },
    { RUN_GPU_TENSOR_ACTIVE, SHARE, false, "GPU tensor cores active" },
    { RUN_GPU_MEMORY, SHARE, true, "GPU memory in use" },
    { RUN_GPU_CLOCK, SHARE, true, "GPU clock, of the highest" },
    { RUN_GPU_WORST_CLOCK, SHARE, false, "slowest GPU&apos;s clock, of the median&apos;s" },
    { RUN_GPU_THROTTLED, SHARE, true, "GPU slowed down by heat or brakes" },
    { RUN_GPU_CAPPED, SHARE, false, "GPU at its power limit" },
    { RUN_GPU_POWER, SHARE, false, "GPU power, of the limit" },
    { RUN_GPU_PCIE, SHARE, false, "fullest PCIe link of a GPU" },
    { RUN_GPU_PCIE_WIDTH, SHARE, false, "PCIe link, of what GPU and slot can do" },
    { RUN_CPU_BUSY, SHARE, true, "CPUs busy, of the node&apos;s" },
    { RUN_JOB_CPU, COUNT, true, "CPUs that the job uses" },
    { RUN_RANK_CPU, COUNT, false, "CPUs that a rank&apos;s own process uses" },
    { RUN_WORKERS, COUNT, false, "loader workers" },
    { RUN_WORKER_CPU, COUNT, false, "CPUs that a loader worker uses" },
    { RUN_OTHER_CPU, COUNT, false, "CPUs that other processes use" },
    { RUN_CPU_STEAL, SHARE, false, "CPU time stolen by other virtual machines" },
    { RUN_CPU_PRESSURE, SHARE, true, "time with somebody waiting for a CPU" },
    { RUN_JOB_RUN_WAIT, COUNT, false, "threads of the job that wait for a CPU" },
    { RUN_JOB_THREADS, COUNT, false, "threads of the job" },
    { RUN_JOB_PREEMPTIONS, PER_SECOND, false, "preemptions of the job" },
    { RUN_JOB_THROTTLED, SHARE, false, "cgroup&apos;s periods cut short" },
    { RUN_JOB_IO_WAIT, COUNT, true, "threads of the job that wait for disks" },
    { RUN_WORKER_IO_WAIT, SHARE, false, "time that a loader worker waits for disks" },
    { RUN_IO_PRESSURE, SHARE, true, "time with somebody waiting for input or output" },
    { RUN_DISK_READ, RATE, true, "read from disks" },
    { RUN_DISK_WRITE, RATE, true, "written to disks" },
    { RUN_DISK_AWAIT, SECONDS, true, "busiest disk&apos;s time for a request" },
    { RUN_DISK_BUSY, SHARE, false, "busiest disk busy" },
    { RUN_DISK_QUEUE, COUNT, false, "requests under way at the busiest disk" },
    { RUN_DISK_REQUESTS, PER_SECOND, false, "requests to disks" },
    { RUN_JOB_READ_CALLS, PER_SECOND, false, "read calls of the job" },
    { RUN_JOB_WRITE, RATE, false, "written to disks by the job" },
    { RUN_JOB_IO_WRITTEN, RATE, false, "written by the job, caches and networks too" },
    { RUN_OTHER_READ, RATE, false, "read from disks by others" },
    { RUN_OTHER_WRITE, RATE, false, "written to disks by others" },
    { RUN_NFS_OPS, PER_SECOND, false, "NFS operations" },
    { RUN_NFS_QUEUE, SECONDS, false, "NFS operation in the client&apos;s queue" },
    { RUN_NFS_ROUND_TRIP, SECONDS, false, "NFS round trip" },
    { RUN_NFS_EXECUTE, SECONDS, true, "NFS operation in all" },
    { RUN_NET_RECEIVED, RATE, true, "received from networks" },
    { RUN_NET_SENT, RATE, true, "sent to networks" },
    { RUN_NET_LOAD, SHARE, false, "fullest network interface" },
    { RUN_LOOPBACK, RATE, false, "through loopback" },
    { RUN_TCP_RETRANSMITS, SHARE, false, "TCP segments sent again" },
    { RUN_MEMORY_AVAILABLE, BYTES, true, "memory available" },
    { RUN_JOB_RESIDENT, BYTES, true, "memory of the job" },
    { RUN_JOB_PSS, BYTES, false, "memory of the job, shared pages once" },
    { RUN_MEMORY_PRESSURE, SHARE, true, "time with somebody waiting for memory" },
    { RUN_JOB_MEMORY_WAIT, COUNT, false, "threads of the job that wait for memory" },
    { RUN_SWAP, RATE, false, "swapped in and out" },
    { RUN_REFAULTS, RATE, false, "read again from disk" },
    { RUN_JOB_MAJOR_FAULTS, PER_SECOND, false, "page faults of the job that read a disk" },
};

struct series {
    struct column columns[COLUMNS];
    double means[COLUMNS];
    struct column all;
};

static struct quantity say(enum unit unit, double value)
{
    struct quantity q;

    switch (unit) {
    case SHARE:
        return quantity_share(value);
    case BYTES:
        return quantity_bytes(value);
    case RATE:
        return quantity_rate(value);
    case SECONDS:
        return quantity_seconds(value);
    case PER_SECOND:
        q = quantity_count(value);
        snprintf(q.text + strnlen(q.text, sizeof(q.text) - 3), 3, "/s");
        return q;
    default:
        return quantity_count(value);
    }
}

static void collect(const struct report *p, enum run_signal signal, struct series *s)
{
    *s = (struct series){ .all = { .count = 0 } };
    for (size_t i = 0; i < p->run->n_moments; i++) {
        const struct run_moment *m = &p->run->moments[i];
        struct span span;

        column_add(&s->all, m->values[signal]);
        if (!axis_moment(p, m, COLUMNS, &span))
            continue;
        for (size_t c = span.from; c <= span.to; c++)
            column_add(&s->columns[c], m->values[signal]);
    }
    for (size_t c = 0; c < COLUMNS; c++)
        s->means[c] = column_mean(&s->columns[c]);
}

/* The number of the first finding, from 1, that a signal is evidence of; 0: of none. */
static size_t finding_of(const struct verdict *v, enum run_signal s)
{
    for (size_t i = 0; i < v->count; i++)
        if (evidence_shows(v->items[i].cause, s))
            return i + 1;
    return 0;
}

/* The upper end of the scale: shares are seen against the whole, others against their most. Shares
 * that never come near the whole get a smaller scale, which its label tells. */
static double find_top(enum unit unit, double most)
{
    static const double shares[] = { 0.01, 0.05, 0.1, 0.25, 1 };

    for (size_t i = 0; unit == SHARE && i < ARRAY_SIZE(shares); i++)
        if (most <= shares[i])
            return shares[i];
    return most > 0 ? most * 1.05 : 1;
}

static void draw(struct report *p, const struct chart *c, const struct series *s, size_t finding)
{
    CLEANUP(str_done) struct str desc = STR_INIT(256);
    double top = find_top(c->unit, s->all.max);
    struct quantity label = say(c->unit, top);
    struct plot f = { finding ? "seen" : "plain",
                      c->title,
                      NULL,
                      label.text,
                      "0",
                      COLUMNS,
                      PLOT_HEIGHT,
                      NULL,
                      NULL };

    if (finding)
        str_addf(&desc, "evidence of finding %zu; ", finding);
    if (s->all.min < s->all.max)
        str_addf(&desc, "mean %s, %s to %s", say(c->unit, stats_signal(p->run, c->signal)).text,
                 say(c->unit, s->all.min).text, say(c->unit, s->all.max).text);
    else
        str_addf(&desc, "%s all the time", say(c->unit, s->all.min).text);
    str_fail(p->out, str_error(&desc));
    f.desc = str_text(&desc);
    plot_begin(p, &f);
    path_band(p->out, "range", s->columns, COLUMNS, top);
    path_line(p->out, "mean", s->means, COLUMNS, top);
    plot_end(p, &f);
}

/* Add a title to a list in a sentence. */
static void list_title(struct str *list, const char *title)
{
    str_addf(list, "%s%s", list->len ? ", " : "", title);
}

static void draw_all(struct report *p, struct series *s)
{
    CLEANUP(str_done) struct str absent = STR_INIT(8192), nothing = STR_INIT(8192);

    str_add(p->out, "<div class=\"charts\">\n");
    for (size_t i = 0; i < ARRAY_SIZE(charts); i++) {
        size_t finding = finding_of(p->verdict, charts[i].signal);

        if (!finding && !charts[i].always)
            continue;
        collect(p, charts[i].signal, s);
        if (!(s->all.count > 0))
            list_title(&absent, charts[i].title);
        else if (s->all.max <= 0 && s->all.min >= 0)
            list_title(&nothing, charts[i].title);
        else
            draw(p, &charts[i], s, finding);
    }
    str_add(p->out, "</div>\n");
    if (nothing.len)
        str_addf(p->out, "<p class=\"dim\">Zero all the time: %s.</p>\n", str_text(&nothing));
    if (absent.len)
        str_addf(p->out, "<p class=\"dim\">Not measured here: %s.</p>\n", str_text(&absent));
    str_fail(p->out, str_error(&nothing));
    str_fail(p->out, str_error(&absent));
}

void report_signals(struct report *p)
{
    CLEANUP(freep) struct series *s = calloc(1, sizeof(*s));

    if (!s) {
        str_fail(p->out, -ENOMEM);
        return;
    }
    report_section(p, "What the node and the job did meanwhile");
    if (p->run->n_moments) {
        str_add(p->out,
                "<p class=\"dim\">Line: mean of the moments in a column. Area: least to most. "
                "Framed: evidence of a finding.</p>\n");
        draw_all(p, s);
    } else {
        report_absent(p, "Nothing was measured while it ran.");
    }
    report_section_end(p);
}
