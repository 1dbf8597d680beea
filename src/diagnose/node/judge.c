/* The verdict: which stage limits the node, in a sentence. */
#include <string.h>

#include "diagnose/node/live_private.h"
#include "model/signal/quantity.h"

/* What the GPUs do, from the figures of their stage, which are means. */
struct gpus {
    double n;         /* whose business is known; 0 */
    double wait;      /* share of their time */
    double idle;      /* how many do nothing, in all */
    double sm_active; /* NaN */
    double processes; /* NaN: not known */
    bool used;        /* by a program, or not known to be by none */
    /* One that is idle for much longer than the others. */
    const char *uneven;            /* its name; NULL: there is none */
    bool uneven_used;              /* as 'used' */
    double uneven_idle, rest_idle; /* shares of the time, of it and of the others */
};

/* Find the GPU of a stage that says that one is unlike the others. */
static void look_at_uneven(const struct live *l, struct gpus *g)
{
    const struct live_stage *s = &l->stages[LIVE_GPU];

    if (s->cause != LIVE_GPU_UNEVEN)
        return;
    g->uneven = s->thing;
    g->uneven_idle = s->figures[LIVE_GPU_SHARE];
    g->rest_idle = s->figures[LIVE_GPU_REST];
    for (size_t i = 0; i < l->n_gpus; i++)
        if (!strcmp(l->gpus[i].gpu, s->thing))
            g->uneven_used = !(l->gpus[i].processes <= 0);
}

static struct gpus look_at_gpus(const struct live *l)
{
    const struct live_stage *s = &l->stages[LIVE_GPU];
    struct gpus g = { .processes = (double)NAN, .used = true };

    for (size_t i = 0; i < l->n_gpus; i++)
        if (!isnan(l->gpus[i].processes))
            g.processes = (isnan(g.processes) ? 0 : g.processes) + l->gpus[i].processes;
    if (isnan(s->load))
        return g;
    g.n = s->figures[LIVE_GPU_KNOWN];
    g.wait = 1 - s->figures[LIVE_GPU_MEAN];
    g.idle = s->figures[LIVE_GPU_IDLE];
    g.sm_active = s->figures[LIVE_GPU_SM_ACTIVE];
    g.used = !(g.processes <= 0) || s->state > LIVE_IDLE;
    look_at_uneven(l, &g);
    return g;
}

/* "8 GPUs", "the GPU" */
static struct quantity gpus_text(const struct gpus *g)
{
    struct quantity q = { "the GPU" };

    if (g->n > 1.5)
        live_say(q.text, sizeof(q.text), "%.0f GPUs", g->n);
    return q;
}

static void set(struct live_verdict *to, enum live_state state, enum severity severity,
                enum live_stage_id bottleneck)
{
    to->state = state;
    to->severity = severity;
    to->bottleneck = bottleneck;
}

/* What it costs that GPUs wait. */
static enum severity of_wait(const struct gpus *g)
{
    if (!g->n || !g->used)
        return SEVERITY_WARNING;
    if (g->wait >= live_limits.wait_critical)
        return SEVERITY_CRITICAL;
    return g->wait >= live_limits.wait_warning ? SEVERITY_WARNING : SEVERITY_NOTE;
}

/* "2 GPUs wait 62 % of the time"; of one that is unlike the others, and of these. */
static void add_waiting(struct live_verdict *to, const struct gpus *g)
{
    const char *rest_s = g->n > 2.5 ? "" : "s";

    if (!g->uneven) {
        live_add(to->sentence, "%s wait%s %s of the time", gpus_text(g).text, g->n > 1.5 ? "" : "s",
                 quantity_share(g->wait).text);
        return;
    }
    if (!g->uneven_used)
        live_add(to->sentence, "no program uses GPU %s, and ", g->uneven);
    else
        live_add(to->sentence, "GPU %s waits %s of the time, ", g->uneven,
                 quantity_share(g->uneven_idle).text);
    if (g->n > 2.5)
        live_add(to->sentence, "the %.0f others", g->n - 1);
    else
        live_add(to->sentence, "the other one");
    if (!g->uneven_used)
        live_add(to->sentence, " wait%s", rest_s);
    live_add(to->sentence, " %s", quantity_share(g->rest_idle).text);
}

static void add_wait(struct live_verdict *to, const struct gpus *g)
{
    if (g->n && !g->used)
        live_add(to->sentence, "; no program uses %s", gpus_text(g).text);
    if (!g->n || !g->used)
        return;
    live_add(to->sentence, "; ");
    add_waiting(to, g);
}

/* One that is lost, or slowed down, or all are busy: what the GPUs say of themselves. */
static void judge_gpus(struct live_view *v, const struct gpus *g, const struct live_stage_ops *ops)
{
    const struct live_stage *s = &v->l->stages[LIVE_GPU];
    struct live_verdict *to = &v->l->verdict;
    struct quantity busy = quantity_share(1 - g->wait);

    if (s->cause == LIVE_GPU_LOST || s->cause == LIVE_GPU_THROTTLED) {
        set(to, LIVE_LIMIT, s->cause == LIVE_GPU_LOST ? SEVERITY_CRITICAL : SEVERITY_WARNING,
            LIVE_GPU);
        live_say(to->sentence, LIVE_TEXT, "%s", s->detail);
        ops->advise(v, s, to->action);
    } else if (g->sm_active < live_limits.sm_active) {
        set(to, LIVE_LIMIT, SEVERITY_WARNING, LIVE_GPU);
        live_say(to->sentence, LIVE_TEXT,
                 "the GPUs are %s busy, but only %s of their multiprocessors work: kernels are "
                 "small",
                 busy.text, quantity_share(g->sm_active).text);
        live_say(to->action, LIVE_TEXT,
                 "raise the batch size, or launch less often: torch.compile, CUDA graphs");
    } else if (g->uneven) {
        set(to, LIVE_OK, SEVERITY_WARNING, LIVE_GPU);
        add_waiting(to, g);
        if (g->uneven_used)
            live_say(to->action, LIVE_TEXT,
                     "see what the program on GPU %s waits for: nvidia-smi -i %s", g->uneven,
                     g->uneven);
    } else {
        set(to, LIVE_OK, SEVERITY_NOTE, LIVE_GPU);
        live_say(to->sentence, LIVE_TEXT,
                 "the GPUs are the limit: %s busy: this is as it should be", busy.text);
    }
}

/* ---- the other stages ---- */

/* The stage that limits the GPUs or, without them, the node: the one nearest its limit of those at
 * it; a weak cause only for want of another. What it was before stays unless another is clearly
 * nearer. */
static enum live_stage_id find_bottleneck(const struct live *l, enum live_stage_id was)
{
    static const enum live_stage_id order[] = { LIVE_STORAGE, LIVE_NETWORK, LIVE_PCIE, LIVE_CPU };
    enum live_stage_id best = LIVE_NONE;
    double best_load = 0;

    for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
        const struct live_stage *s = &l->stages[order[i]];
        double load = s->load + (order[i] == was ? 0.1 : 0) - (s->weak ? 1 : 0);

        if (s->state == LIVE_LIMIT && (best == LIVE_NONE || load > best_load)) {
            best = order[i];
            best_load = load;
        }
    }
    return best;
}

static void judge_stage(struct live_view *v, const struct gpus *g, enum live_stage_id id,
                        const struct live_stage_ops *ops)
{
    const struct live_stage *s = &v->l->stages[id];
    struct live_verdict *to = &v->l->verdict;

    set(to, LIVE_LIMIT, of_wait(g), id);
    if (s->weak && !g->n)
        to->severity = SEVERITY_NOTE;
    live_say(to->sentence, LIVE_TEXT, "%s%s%s", s->weak ? "" : ops->limits, s->weak ? "" : ": ",
             s->detail);
    add_wait(to, g);
    ops->advise(v, s, to->action);
}

/* ---- no stage is at its limit ---- */

static bool is_running(const struct live *l)
{
    for (int i = 0; i < LIVE_STAGES; i++) {
        const struct live_stage *s = &l->stages[i];

        if (s->state > LIVE_IDLE && (i == LIVE_GPU || s->load >= live_limits.load_nothing))
            return true;
    }
    return false;
}

/* "CPUs 34 %, storage 12 % busy", of the stages that are known. */
static void add_loads(struct live_verdict *to, const struct live *l)
{
    static const struct {
        enum live_stage_id id;
        const char *name;
    } shown[] = { { LIVE_CPU, "CPUs" },
                  { LIVE_STORAGE, "storage" },
                  { LIVE_PCIE, "PCIe" },
                  { LIVE_NETWORK, "network" } };
    const char *comma = ": ";

    for (size_t i = 0; i < ARRAY_SIZE(shown); i++) {
        const struct live_stage *s = &l->stages[shown[i].id];

        if (isnan(s->load))
            continue;
        live_add(to->sentence, "%s%s %s", comma, shown[i].name, quantity_share(s->load).text);
        comma = ", ";
    }
}

static void judge_rest(struct live_view *v, const struct gpus *g)
{
    struct live_verdict *to = &v->l->verdict;

    if (!is_running(v->l)) {
        set(to, LIVE_IDLE, SEVERITY_NOTE, LIVE_NONE);
        live_say(to->sentence, LIVE_TEXT, "nothing is running");
        if (g->processes > 0) {
            live_add(to->sentence, ", but %.0f process%s %s on %s", g->processes,
                     g->processes > 1 ? "es" : "", g->processes > 1 ? "wait" : "waits",
                     gpus_text(g).text);
            live_say(to->action, LIVE_TEXT,
                     "see which processes hold them, end those that hang: "
                     "nvidia-smi");
        }
        return;
    }
    if (g->n && g->used && g->wait >= 1 - live_limits.gpu_busy) {
        set(to, LIVE_LIMIT, of_wait(g), LIVE_NONE);
        add_waiting(to, g);
        live_add(to->sentence, ", and nothing here is at its limit");
        live_say(to->action, LIVE_TEXT,
                 "look at the program itself, or at the nodes it waits for: "
                 "brim top --sort cpu");
    } else {
        set(to, LIVE_OK, SEVERITY_NOTE, LIVE_NONE);
        live_say(to->sentence, LIVE_TEXT, "nothing is at its limit");
    }
    add_loads(to, v->l);
    if (g->n && !g->used)
        add_wait(to, g);
}

void live_judge(struct live_view *v, const struct live_stage_ops *const ops[LIVE_STAGES])
{
    struct live_verdict *to = &v->l->verdict;
    enum live_stage_id was = to->state == LIVE_LIMIT ? to->bottleneck : LIVE_NONE, found;
    const struct live_stage *gpu = &v->l->stages[LIVE_GPU];
    struct gpus g = look_at_gpus(v->l);

    to->sentence[0] = to->waste[0] = to->action[0] = 0;
    if (g.idle >= 0.05)
        live_say(to->waste, sizeof(to->waste), "%.1f of %.0f GPU%s idle", g.idle, g.n,
                 g.n > 1.5 ? "s" : "");
    found = find_bottleneck(v->l, was);
    if (isnan(v->seconds)) {
        set(to, LIVE_UNKNOWN, SEVERITY_NOTE, LIVE_NONE);
        live_say(to->sentence, LIVE_TEXT, "nothing is known yet: it takes a second sample");
    } else if (g.n && (gpu->cause == LIVE_GPU_LOST || gpu->state == LIVE_LIMIT)) {
        judge_gpus(v, &g, ops[LIVE_GPU]);
    } else if (found != LIVE_NONE) {
        judge_stage(v, &g, found, ops[found]);
    } else if (isnan(v->l->stages[LIVE_CPU].load) && isnan(v->l->stages[LIVE_STORAGE].load) &&
               !g.n) {
        set(to, LIVE_UNKNOWN, SEVERITY_NOTE, LIVE_NONE);
        live_say(to->sentence, LIVE_TEXT, "nothing is known: neither CPUs nor disks can be read");
    } else if (g.n && gpu->cause == LIVE_GPU_THROTTLED) {
        judge_gpus(v, &g, ops[LIVE_GPU]);
        add_wait(to, &g);
    } else {
        judge_rest(v, &g);
    }
}
