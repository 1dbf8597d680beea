/* The stage "cpu": where input is read, decoded and put together, and what keeps it from that. */
#include <string.h>

#include "diagnose/node/live_private.h"
#include "model/signal/quantity.h"

enum { CPU_ALL = 1, CPU_CORE, CPU_THROTTLED, CPU_STEAL, CPU_MEMORY };
enum { ALL_BUSY, ALL_RUNNING, ALL_CORES };
enum { CORE_FULL, CORE_CORES };

static void take(struct live_measure *m, double load, struct live_measure other)
{
    if (!(load > m->load))
        return;
    *m = other;
    m->load = load;
}

/* A process that uses one CPU's worth is at the limit of one thread, though the scheduler may move
 * it about so that no CPU is full. */
static double one_thread(const struct live_view *v)
{
    double cpu = v->most[LIVE_BY_CPU].cpu;

    return v->most[LIVE_BY_CPU].pid && cpu >= live_limits.core_busy && cpu <= 1.05 ? 1 : 0;
}

static double all_load(const struct live_cpu *c)
{
    double load = live_near(c->busy, live_limits.cpu_busy);
    double waits = live_near(c->run_wait, live_limits.cpu_pressure);

    if (c->busy >= live_limits.cpu_pressure_busy && waits > load)
        return waits;
    return load;
}

static const struct live_field throttle_fields[] = {
    { "throttled_seconds_total", NULL, LIVE_RATE, 0 },
    LIVE_FIELD_END,
};

static void measure_cgroups(const struct live_view *v, struct live_measure *m)
{
    struct live_rows rows;

    live_rows_of(v, "cgroup", throttle_fields, &rows);
    for (size_t i = 0; i < rows.n; i++) {
        double held;

        live_fill(&rows, i, &held);
        if (held >= live_limits.throttled)
            take(m, live_near(held, live_limits.throttled),
                 (struct live_measure){
                     .cause = CPU_THROTTLED, .figures = { held }, .thing = rows.rows[i].thing });
    }
}

/* One full CPU of many is told only where the CPUs together are not at their limit. */
static void measure_core(const struct live_view *v, struct live_measure *m)
{
    const struct live_cpu *c = &v->l->cpu;
    double full = MAX(isnan(c->full) ? 0 : c->full, one_thread(v));

    if (full >= 1 && c->cores > full)
        take(m, live_limits.load_weak,
             (struct live_measure){
                 .cause = CPU_CORE, .figures = { full, c->cores }, .thing = "", .weak = true });
}

static void measure_cpu(const struct live_view *v, struct live_measure *m)
{
    const struct live_cpu *c = &v->l->cpu;

    take(m, all_load(c),
         (struct live_measure){
             .cause = CPU_ALL, .figures = { c->busy, c->running, c->cores }, .thing = "" });
    measure_cgroups(v, m);
    if (c->steal >= live_limits.steal)
        take(m, live_near(c->steal, live_limits.steal),
             (struct live_measure){ .cause = CPU_STEAL, .figures = { c->steal }, .thing = "" });
    if (v->l->memory.pressure >= live_limits.memory_pressure)
        take(m, live_near(v->l->memory.pressure, live_limits.memory_pressure),
             (struct live_measure){
                 .cause = CPU_MEMORY, .figures = { v->l->memory.pressure }, .thing = "" });
    measure_core(v, m);
}

/* What the CPUs do, in CPUs. */
static double used_cpus(const struct live_view *v)
{
    return v->l->cpu.busy * v->l->cpu.cores;
}

/* The process that uses most CPUs, where that is enough to be named; NULL. */
static const struct live_process *busiest(const struct live_view *v)
{
    const struct live_process *p = &v->most[LIVE_BY_CPU];

    return p->pid && !(p->cpu < live_limits.named * used_cpus(v)) ? p : NULL;
}

static void describe_core(const struct live_view *v, struct live_stage *s)
{
    const struct live_process *p = busiest(v);

    if (s->figures[CORE_FULL] < 1.5)
        live_say(s->detail, sizeof(s->detail), "one CPU core is at its limit");
    else
        live_say(s->detail, sizeof(s->detail), "%.0f of %.0f CPU cores are at their limit",
                 s->figures[CORE_FULL], s->figures[CORE_CORES]);
    if (p)
        live_add(s->detail, " (%s, pid %s)", p->comm[0] ? p->comm : "?", p->pid);
}

static void describe_cpu(const struct live_view *v, struct live_stage *s)
{
    const struct live_cpu *c = &v->l->cpu;
    const double *f = s->figures;

    if (!isnan(c->busy) && c->cores > 0)
        live_say(s->value, sizeof(s->value), "%.1f of %.0f CPUs", v->l->cpu_mean * c->cores,
                 c->cores);
    else if (!isnan(c->busy))
        live_say(s->value, sizeof(s->value), "%s", quantity_share(v->l->cpu_mean).text);
    switch (s->cause) {
    case CPU_ALL:
        live_say(s->detail, sizeof(s->detail), "the CPUs are %s busy",
                 quantity_share(v->l->cpu_mean).text);
        if (!isnan(f[ALL_RUNNING]) && s->load >= live_limits.load_busy)
            live_add(s->detail, ", %.0f threads want %.0f CPUs", f[ALL_RUNNING], f[ALL_CORES]);
        break;
    case CPU_CORE:
        describe_core(v, s);
        break;
    case CPU_THROTTLED:
        live_say(s->detail, sizeof(s->detail),
                 "the CPU limit of cgroup %s holds its threads for %s every second", s->thing,
                 quantity_seconds(f[0]).text);
        break;
    case CPU_STEAL:
        live_say(s->detail, sizeof(s->detail), "the hypervisor takes %s of the CPU time",
                 quantity_share(f[0]).text);
        break;
    case CPU_MEMORY:
        live_say(s->detail, sizeof(s->detail), "work waits %s of the time for memory",
                 quantity_share(f[0]).text);
        break;
    default:
        break;
    }
}

/* Who holds the memory, or else where to look. */
static void advise_memory(const struct live_view *v, char *action)
{
    const struct live_memory *m = &v->l->memory;
    struct live_user u;

    if (live_find_user(v, LIVE_BY_MEMORY, m->total - m->available, &u))
        live_advise_user(action, &u, "hold", quantity_bytes(u.amount).text);
    else
        live_say(action, LIVE_TEXT, "brim top --sort memory");
}

/* Who uses the CPUs, or else where to look. */
static void advise_users(const struct live_view *v, char *action)
{
    struct live_user u;
    char amount[32];

    if (!live_find_user(v, LIVE_BY_CPU, used_cpus(v), &u)) {
        live_say(action, LIVE_TEXT, "brim top --sort cpu");
        return;
    }
    live_say(amount, sizeof(amount), "%.1f CPUs", u.amount);
    live_advise_user(action, &u, "use", amount);
}

static void advise_cpu(const struct live_view *v, const struct live_stage *s, char *action)
{
    const struct live_process *p = busiest(v);

    if (s->cause == CPU_THROTTLED)
        live_say(action, LIVE_TEXT, "raise cpu.max of %s", s->thing);
    else if (s->cause == CPU_STEAL)
        live_say(action, LIVE_TEXT,
                 "ask the operator of this virtual machine: other guests use its CPUs");
    else if (s->cause == CPU_MEMORY)
        advise_memory(v, action);
    else if (s->cause == CPU_CORE && p)
        live_say(action, LIVE_TEXT, "spread the work of %s over more processes: it uses %.1f CPUs",
                 live_process_name(p).text, p->cpu);
    else
        advise_users(v, action);
}

const struct live_stage_ops live_cpu = { "the CPU limits this node", measure_cpu, describe_cpu,
                                         advise_cpu };
