/* The host's CPUs and memory, and its processes. */
#include <string.h>

#include "diagnose/node/live_private.h"

/* ---- CPUs ---- */

/* Rates of the modes: CPUs' worth of each. */
struct modes {
    double work, idle, iowait, steal;
};

#define MODE(mode, to) LIVE_FIELD_OF(modes, "seconds_total", "mode=\"" mode "\"", LIVE_RATE, to)

/* Guest time is in user and nice already. */
static const struct live_field mode_fields[] = {
    MODE("user", work),     MODE("nice", work),    MODE("system", work),
    MODE("irq", work),      MODE("softirq", work), MODE("idle", idle),
    MODE("iowait", iowait), MODE("steal", steal),  LIVE_FIELD_END,
};

static double or_zero(double value)
{
    return isnan(value) ? 0 : value;
}

/* The time that all modes make: about 1 of one CPU. NaN when it is not known. */
static double all_modes(const struct modes *m)
{
    double all = m->work + m->idle + or_zero(m->iowait) + or_zero(m->steal);

    return all > 0 ? all : (double)NAN;
}

static void fill_cores(struct live_view *v)
{
    struct live_cpu *c = &v->l->cpu;
    struct live_rows rows;
    struct modes m;

    live_rows_of(v, "core", mode_fields, &rows);
    if (rows.n)
        c->cores = (double)rows.n;
    for (size_t i = 0; i < rows.n; i++) {
        double busy;

        live_fill(&rows, i, &m);
        busy = (m.work + or_zero(m.steal)) / all_modes(&m);
        if (isnan(busy))
            continue;
        if (isnan(c->busiest))
            c->full = c->busiest = 0;
        c->busiest = MAX(c->busiest, busy);
        c->full += busy >= live_limits.core_busy;
    }
}

static void fill_cpu(struct live_view *v)
{
    struct live_cpu *c = &v->l->cpu;
    struct live_rows rows;
    struct modes m;

    *c = (struct live_cpu){ .busy = (double)NAN,
                            .iowait = (double)NAN,
                            .steal = (double)NAN,
                            .cores = (double)NAN,
                            .busiest = (double)NAN,
                            .full = (double)NAN };
    live_rows_of(v, "cpu", mode_fields, &rows);
    if (rows.n) {
        live_fill(&rows, 0, &m);
        c->busy = (m.work + or_zero(m.steal)) / all_modes(&m);
        c->iowait = m.iowait / all_modes(&m);
        c->steal = m.steal / all_modes(&m);
    }
    fill_cores(v);
}

/* ---- memory, pressure, load ---- */

struct memory {
    double total, available, swap_total, swap_free;
};

static const struct live_field memory_fields[] = {
    LIVE_FIELD(memory, "total_bytes", LIVE_GAUGE, total),
    LIVE_FIELD(memory, "available_bytes", LIVE_GAUGE, available),
    LIVE_FIELD(memory, "swap_total_bytes", LIVE_GAUGE, swap_total),
    LIVE_FIELD(memory, "swap_free_bytes", LIVE_GAUGE, swap_free),
    LIVE_FIELD_END,
};

static const struct live_field load_fields[] = {
    LIVE_FIELD(live_cpu, "load1", LIVE_GAUGE, load1),
    LIVE_FIELD(live_cpu, "processes_running", LIVE_GAUGE, running),
    LIVE_FIELD_END,
};

static const struct live_field pressure_fields[] = {
    { "waiting_seconds_total", NULL, LIVE_RATE, 0 },
    LIVE_FIELD_END,
};

static void fill_pressure(struct live_view *v)
{
    struct live *l = v->l;
    struct live_rows rows;

    l->cpu.run_wait = l->memory.pressure = l->io_pressure = (double)NAN;
    live_rows_of(v, "pressure", pressure_fields, &rows);
    for (size_t i = 0; i < rows.n; i++) {
        double waiting;

        live_fill(&rows, i, &waiting);
        waiting = waiting > 1 ? 1 : waiting; /* two clocks: 1.0003 s of a second */
        if (!strcmp(rows.rows[i].thing, "cpu"))
            l->cpu.run_wait = waiting;
        else if (!strcmp(rows.rows[i].thing, "memory"))
            l->memory.pressure = waiting;
        else if (!strcmp(rows.rows[i].thing, "io"))
            l->io_pressure = waiting;
    }
}

void live_fill_host(struct live_view *v)
{
    struct memory m = { (double)NAN, (double)NAN, (double)NAN, (double)NAN };
    struct live *l = v->l;
    struct live_rows rows;

    fill_cpu(v);
    l->cpu.load1 = l->cpu.running = (double)NAN;
    live_rows_of(v, "host", load_fields, &rows);
    if (rows.n)
        live_fill(&rows, 0, &l->cpu);
    live_rows_of(v, "memory", memory_fields, &rows);
    if (rows.n)
        live_fill(&rows, 0, &m);
    l->memory.total = m.total;
    l->memory.available = m.available;
    l->memory.swap_used = m.swap_total - m.swap_free;
    fill_pressure(v);
}

/* ---- processes ---- */

#define PROCESS(name, how, to) LIVE_FIELD(live_process, name, how, to)

static const struct live_field process_fields[] = {
    LIVE_FIELD_OF(live_process, "cpu_seconds_total", "mode=\"user\"", LIVE_RATE, cpu),
    LIVE_FIELD_OF(live_process, "cpu_seconds_total", "mode=\"system\"", LIVE_RATE, cpu),
    PROCESS("children_cpu_seconds_total", LIVE_RATE, children),
    PROCESS("run_wait_seconds_total", LIVE_RATE, run_wait),
    PROCESS("io_wait_seconds_total", LIVE_RATE, io_wait),
    PROCESS("read_bytes_total", LIVE_RATE, read),
    PROCESS("write_bytes_total", LIVE_RATE, write),
    PROCESS("io_read_bytes_total", LIVE_RATE, io_read),
    PROCESS("io_written_bytes_total", LIVE_RATE, io_written),
    PROCESS("resident_bytes", LIVE_GAUGE, resident),
    PROCESS("threads", LIVE_GAUGE, threads),
    PROCESS("blocked", LIVE_GAUGE, blocked),
    LIVE_FIELD_END,
};

/* What a process is sorted by. Use counts 100 MB/s as much as one CPU, and a thread that waits for
 * input or output, too; memory decides between those that do nothing. */
double live_process_key(const struct live_process *p, enum live_sort sort)
{
    double bytes = or_zero(p->read) + or_zero(p->write);

    switch (sort) {
    case LIVE_BY_CPU:
        return or_zero(p->cpu);
    case LIVE_BY_IO:
        return MAX(bytes, or_zero(p->io_read) + or_zero(p->io_written));
    case LIVE_BY_READ:
        return MAX(or_zero(p->read), or_zero(p->io_read));
    case LIVE_BY_WRITE:
        return MAX(or_zero(p->write), or_zero(p->io_written));
    case LIVE_BY_MEMORY:
        return or_zero(p->resident);
    default:
        return or_zero(p->cpu) + or_zero(p->io_wait) + bytes / 100e6 + or_zero(p->resident) / 1e18;
    }
}

/* Put it where it belongs in the sorted table; the last one falls out of a full one. */
static void insert(struct live *l, const struct live_process *p)
{
    double mine = live_process_key(p, l->sort);
    size_t i = l->n_processes;

    if (i == LIVE_PROCESSES_MAX && !(mine > live_process_key(&l->processes[i - 1], l->sort)))
        return;
    if (i < LIVE_PROCESSES_MAX)
        l->n_processes++;
    else
        i--;
    for (; i > 0 && mine > live_process_key(&l->processes[i - 1], l->sort); i--)
        l->processes[i] = l->processes[i - 1];
    l->processes[i] = *p;
}

void live_process_rows(const struct live_view *v, struct live_rows *ret)
{
    live_rows_of(v, "process", process_fields, ret);
}

struct live_process live_process_at(const struct live_rows *rows, size_t i)
{
    const struct signal_row *row = &rows->rows[i];
    struct live_process p = { .pid = row->thing,
                              .comm = signal_fact(row, "comm"),
                              .uid = signal_fact(row, "uid"),
                              .cgroup = signal_fact(row, "cgroup") };

    live_fill(rows, i, &p);
    return p;
}

void live_fill_processes(struct live_view *v)
{
    struct live_rows rows;

    v->l->n_processes = 0;
    live_process_rows(v, &rows);
    for (size_t i = 0; i < rows.n; i++) {
        struct live_process p = live_process_at(&rows, i);

        insert(v->l, &p);
        for (int s = 0; s < LIVE_SORTS; s++) {
            double mine = live_process_key(&p, (enum live_sort)s);

            if (mine > 0 &&
                (!v->most[s].pid || mine > live_process_key(&v->most[s], (enum live_sort)s)))
                v->most[s] = p;
        }
    }
}
