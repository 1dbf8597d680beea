/* Accelerators: their table, and the stages "gpu" and "pcie". */
#include <string.h>

#include "diagnose/node/live_private.h"
#include "base/str.h"
#include "model/machine/pcie.h"
#include "model/signal/quantity.h"

#define FIELD(name, how, to) LIVE_FIELD(live_gpu, name, how, to)

static const struct live_field gpu_fields[] = {
    FIELD("busy_ratio", LIVE_GAUGE, busy),
    FIELD("sm_active_ratio", LIVE_GAUGE, sm_active),
    FIELD("tensor_active_ratio", LIVE_GAUGE, tensor_active),
    FIELD("dram_active_ratio", LIVE_GAUGE, dram_active),
    FIELD("memory_used_bytes", LIVE_GAUGE, memory_used),
    FIELD("memory_total_bytes", LIVE_GAUGE, memory_total),
    FIELD("power_watts", LIVE_GAUGE, power),
    FIELD("power_limit_watts", LIVE_GAUGE, power_limit),
    FIELD("temperature_celsius", LIVE_GAUGE, temperature),
    FIELD("sm_clock_hertz", LIVE_GAUGE, sm_clock),
    FIELD("sm_clock_max_hertz", LIVE_GAUGE, sm_clock_max),
    FIELD("pcie_received_bytes_total", LIVE_RATE, pcie_rx),
    FIELD("pcie_sent_bytes_total", LIVE_RATE, pcie_tx),
    FIELD("pcie_generation", LIVE_GAUGE, pcie_gen),
    FIELD("pcie_generation_max", LIVE_GAUGE, pcie_gen_max),
    FIELD("pcie_width", LIVE_GAUGE, pcie_width),
    FIELD("pcie_width_max", LIVE_GAUGE, pcie_width_max),
    FIELD("link_received_bytes_total", LIVE_RATE, link_rx),
    FIELD("link_sent_bytes_total", LIVE_RATE, link_tx),
    FIELD("processes", LIVE_GAUGE, processes),
    FIELD("lost", LIVE_GAUGE, lost),
    LIVE_FIELD_END,
};

/* ---- the table ---- */

/* Whether a clock is held down now, and the share of the time in which it was, by reason. */
struct throttle {
    double power, thermal, brake, sync, other;
    double thermal_s, brake_s, other_s;
};

#define REASON(name, how, reason, to) \
    LIVE_FIELD_OF(throttle, name, "reason=\"" reason "\"", how, to)

static const struct live_field throttle_fields[] = {
    REASON("active", LIVE_GAUGE, "power", power),
    REASON("active", LIVE_GAUGE, "thermal", thermal),
    REASON("active", LIVE_GAUGE, "brake", brake),
    REASON("active", LIVE_GAUGE, "sync", sync),
    REASON("active", LIVE_GAUGE, "other", other),
    REASON("seconds_total", LIVE_RATE, "thermal", thermal_s),
    REASON("seconds_total", LIVE_RATE, "brake", brake_s),
    REASON("seconds_total", LIVE_RATE, "other", other_s),
    LIVE_FIELD_END,
};

/* The share of the time that a reason took; its flag stands in where the driver does not count. */
static double share(double seconds, double now)
{
    double most = isnan(seconds) ? now : seconds;

    return isnan(most) ? 0 : MIN(most, 1.0);
}

static void fill_throttle(const struct live_rows *rows, size_t i, struct live_gpu *g)
{
    double worst;
    struct throttle t;

    live_fill(rows, i, &t);
    worst = MAX(share(t.thermal_s, t.thermal), share(t.brake_s, t.brake));
    g->throttled = MAX(worst, share(t.other_s, t.other));
    g->throttle = (t.power > 0 ? LIVE_THROTTLE_POWER : 0U) |
                  (t.thermal > 0 || t.thermal_s > live_limits.gpu_throttled ? LIVE_THROTTLE_THERMAL
                                                                            : 0U) |
                  (t.brake > 0 || t.brake_s > live_limits.gpu_throttled ? LIVE_THROTTLE_BRAKE
                                                                        : 0U) |
                  (t.sync > 0 ? LIVE_THROTTLE_SYNC : 0U) |
                  (t.other > 0 || t.other_s > live_limits.gpu_throttled ? LIVE_THROTTLE_OTHER : 0U);
}

void live_fill_gpus(struct live_view *v)
{
    struct live *l = v->l;
    struct live_rows rows, throttles;

    live_rows_of(v, "gpu", gpu_fields, &rows);
    live_rows_of(v, "gpu_throttle", throttle_fields, &throttles);
    l->n_gpus = MIN(rows.n, (size_t)LIVE_GPUS_MAX);
    for (size_t i = 0; i < l->n_gpus; i++) {
        const struct signal_row *row = &rows.rows[i];
        struct live_gpu *g = &l->gpus[i];

        g->gpu = row->thing;
        g->model = signal_fact(row, "model");
        g->uuid = signal_fact(row, "uuid");
        g->vendor = signal_fact(row, "vendor");
        g->throttled = (double)NAN;
        g->throttle = 0;
        live_fill(&rows, i, g);
        for (size_t t = 0; t < throttles.n; t++)
            if (!strcmp(throttles.rows[t].thing, g->gpu))
                fill_throttle(&throttles, t, g);
    }
}

/* ---- the stage "gpu" ---- */

/* One GPU that is idle for much longer than each of the others: the mean would hide it. */
static void find_uneven(const struct live_view *v, struct live_measure *m)
{
    double most = -1, next = -1, sum = 0, n = 0;
    const char *thing = NULL;

    for (size_t i = 0; i < v->l->n_gpus; i++) {
        const struct live_gpu *g = &v->l->gpus[i];
        double idle = 1 - MIN(g->busy, 1.0);

        if (isnan(g->busy))
            continue;
        sum += idle;
        n++;
        if (idle > most) {
            next = most;
            most = idle;
            thing = g->gpu;
        } else if (idle > next) {
            next = idle;
        }
    }
    if (n < 2 || most - next < live_limits.gpu_uneven)
        return;
    m->cause = LIVE_GPU_UNEVEN;
    m->thing = thing;
    m->figures[LIVE_GPU_SHARE] = most;
    m->figures[LIVE_GPU_REST] = (sum - most) / (n - 1);
}

/* A lost one does nothing; another whose business is not known does not count. */
static void measure_gpu(const struct live_view *v, struct live_measure *m)
{
    double idle = 0, known = 0, sm = 0, n_sm = 0, throttled = live_limits.gpu_throttled;

    for (size_t i = 0; i < v->l->n_gpus; i++) {
        const struct live_gpu *g = &v->l->gpus[i];
        bool lost = g->lost > 0;

        if (!isnan(g->sm_active)) {
            sm += g->sm_active;
            n_sm++;
        }
        if (lost || !isnan(g->busy)) {
            known++;
            idle += lost ? 1 : 1 - MIN(g->busy, 1.0);
        }
        if (lost && m->cause != LIVE_GPU_LOST) {
            m->cause = LIVE_GPU_LOST;
            m->thing = g->gpu;
        } else if (m->cause != LIVE_GPU_LOST && g->throttled > throttled) {
            throttled = g->throttled;
            m->cause = LIVE_GPU_THROTTLED;
            m->thing = g->gpu;
            m->figures[LIVE_GPU_SHARE] = throttled;
        }
    }
    if (!known)
        return;
    if (!m->cause) {
        m->cause = LIVE_GPU_WORKS;
        find_uneven(v, m);
    }
    m->load = m->figures[LIVE_GPU_MEAN] = 1 - idle / known;
    m->figures[LIVE_GPU_IDLE] = idle;
    m->figures[LIVE_GPU_KNOWN] = known;
    m->figures[LIVE_GPU_SM_ACTIVE] = n_sm > 0 ? sm / n_sm : (double)NAN;
    m->idle = m->load < live_limits.gpu_idle;
}

/* "thermal": why the GPU of the stage is slowed down. */
static const char *reason(const struct live_view *v, const struct live_stage *s)
{
    static const enum live_throttle bits[] = { LIVE_THROTTLE_THERMAL, LIVE_THROTTLE_BRAKE };

    for (size_t i = 0; i < v->l->n_gpus; i++)
        for (size_t b = 0; b < ARRAY_SIZE(bits) && !strcmp(v->l->gpus[i].gpu, s->thing); b++)
            if (v->l->gpus[i].throttle & bits[b])
                return live_throttle_name(bits[b]);
    return live_throttle_name(LIVE_THROTTLE_OTHER);
}

static void describe_gpu(const struct live_view *v, struct live_stage *s)
{
    double power = 0, n = 0;

    if (!v->l->n_gpus) {
        live_say(s->detail, sizeof(s->detail), "there is no accelerator");
        return;
    }
    live_say(s->value, sizeof(s->value), "%s", quantity_share(s->figures[LIVE_GPU_MEAN]).text);
    if (s->cause == LIVE_GPU_LOST)
        live_say(s->detail, sizeof(s->detail),
                 "GPU %s is lost: its driver does not reach it any more", s->thing);
    else if (s->cause == LIVE_GPU_THROTTLED)
        live_say(s->detail, sizeof(s->detail), "GPU %s is slowed down %s of the time (%s)",
                 s->thing, quantity_share(s->figures[LIVE_GPU_SHARE]).text, reason(v, s));
    else
        live_say(s->detail, sizeof(s->detail), "%zu GPU%s busy %s of the time", v->l->n_gpus,
                 str_plural(v->l->n_gpus), quantity_share(s->figures[LIVE_GPU_MEAN]).text);
    if (s->cause == LIVE_GPU_LOST || s->cause == LIVE_GPU_THROTTLED)
        return;
    if (s->cause == LIVE_GPU_UNEVEN)
        live_add(s->detail, ", GPU %s %s", s->thing,
                 quantity_share(1 - s->figures[LIVE_GPU_SHARE]).text);
    if (!isnan(s->figures[LIVE_GPU_SM_ACTIVE]))
        live_add(s->detail, ", %s of their multiprocessors at work",
                 quantity_share(s->figures[LIVE_GPU_SM_ACTIVE]).text);
    for (size_t i = 0; i < v->l->n_gpus; i++) {
        if (isnan(v->l->gpus[i].power))
            continue;
        power += v->l->gpus[i].power;
        n++;
    }
    if (n > 0)
        live_add(s->detail, ", %.0f W", power);
}

static void advise_gpu(const struct live_view *v, const struct live_stage *s, char *action)
{
    if (s->cause == LIVE_GPU_LOST)
        live_say(action, LIVE_TEXT,
                 "drain this node; the kernel says why: dmesg | grep -i -e xid -e amdgpu");
    else if (s->cause == LIVE_GPU_THROTTLED && !strcmp(reason(v, s), "thermal"))
        live_say(action, LIVE_TEXT,
                 "look at the fans and the air at GPU %s: nvidia-smi -q -d "
                 "TEMPERATURE,PERFORMANCE -i %s",
                 s->thing, s->thing);
    else if (s->cause == LIVE_GPU_THROTTLED)
        live_say(action, LIVE_TEXT,
                 "look at the power supplies of this node: ipmitool sdr type "
                 "'Power Supply'");
}

const struct live_stage_ops live_gpu = { "the GPUs limit this node", measure_gpu, describe_gpu,
                                         advise_gpu };

/* ---- the stage "pcie" ---- */

enum { PCIE_FLOWS = 1, PCIE_DEGRADED };
enum { PCIE_RATE, PCIE_CAPACITY, PCIE_GEN, PCIE_WIDTH, PCIE_GEN_MAX, PCIE_WIDTH_MAX };

/* Bytes a second each way after line encoding; NaN. */
static double capacity(double gen, double width)
{
    if (!(gen >= 1 && gen <= 7 && width >= 1 && width <= 32))
        return (double)NAN;
    return pcie_gbs(pcie_gts((int)gen), (int)width) * 1e9;
}

/* Below what it could be while there is work: an idle link slows itself down to save power. */
static bool is_degraded(const struct live_gpu *g)
{
    return g->busy > live_limits.gpu_idle &&
           (g->pcie_gen < g->pcie_gen_max || g->pcie_width < g->pcie_width_max);
}

static void measure_pcie(const struct live_view *v, struct live_measure *m)
{
    for (size_t i = 0; i < v->l->n_gpus; i++) {
        const struct live_gpu *g = &v->l->gpus[i];
        double most = g->pcie_tx > g->pcie_rx || isnan(g->pcie_rx) ? g->pcie_tx : g->pcie_rx;
        double can = capacity(g->pcie_gen, g->pcie_width);
        double load = live_near(most / can, live_limits.link_share);
        bool degraded = is_degraded(g);
        bool weak = degraded && !(load >= live_limits.load_limit);

        if (weak)
            load = live_limits.load_weak;
        if (isnan(load) || load <= m->load)
            continue;
        m->cause = degraded ? PCIE_DEGRADED : PCIE_FLOWS;
        m->weak = weak;
        m->load = load;
        m->thing = g->gpu;
        m->figures[PCIE_RATE] = most;
        m->figures[PCIE_CAPACITY] = can;
        m->figures[PCIE_GEN] = g->pcie_gen;
        m->figures[PCIE_WIDTH] = g->pcie_width;
        m->figures[PCIE_GEN_MAX] = g->pcie_gen_max;
        m->figures[PCIE_WIDTH_MAX] = g->pcie_width_max;
    }
}

static void describe_pcie(const struct live_view *v, struct live_stage *s)
{
    const double *f = s->figures;
    double sum = 0, n = 0;

    for (size_t i = 0; i < v->l->n_gpus; i++) {
        const struct live_gpu *g = &v->l->gpus[i];

        if (!isnan(g->pcie_rx + g->pcie_tx)) {
            sum += g->pcie_rx + g->pcie_tx;
            n++;
        }
    }
    if (n > 0)
        live_say(s->value, sizeof(s->value), "%s", quantity_rate(sum).text);
    if (!v->l->n_gpus)
        live_say(s->detail, sizeof(s->detail), "there is no accelerator");
    if (!s->cause)
        return;
    if (s->cause == PCIE_DEGRADED)
        live_say(s->detail, sizeof(s->detail),
                 "the PCIe link of GPU %s runs at Gen%.0f x%.0f instead of Gen%.0f x%.0f", s->thing,
                 f[PCIE_GEN], f[PCIE_WIDTH], f[PCIE_GEN_MAX], f[PCIE_WIDTH_MAX]);
    else
        live_say(s->detail, sizeof(s->detail), "the PCIe link of GPU %s", s->thing);
    if (!isnan(f[PCIE_RATE]))
        live_add(s->detail, "%s carries %s of %s", s->cause == PCIE_DEGRADED ? " and" : "",
                 quantity_rate(f[PCIE_RATE]).text, quantity_rate(f[PCIE_CAPACITY]).text);
}

static void advise_pcie(const struct live_view *v, const struct live_stage *s, char *action)
{
    (void)v;
    if (s->cause == PCIE_DEGRADED)
        live_say(action, LIVE_TEXT, "brim machine --audit");
    else
        live_say(action, LIVE_TEXT,
                 "send less to GPU %s: decode on it, use smaller types, keep "
                 "what it needs again",
                 s->thing);
}

const struct live_stage_ops live_pcie = { "PCIe limits this node", measure_pcie, describe_pcie,
                                          advise_pcie };
