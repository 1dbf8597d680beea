#include "plan/search/space.h"

#include <string.h>

#include "plan/cluster/constants.h"
#include "plan/layout/usual.h"

static const struct pins no_pins;

static void axis_add(struct axis *a, int value)
{
    if (a->n < AXIS_MAX)
        a->values[a->n++] = value;
}

/* The divisors of n, rising. */
static void divisors(int n, struct axis *ret)
{
    int root = 1, below;

    ret->n = 0;
    for (; (int64_t)root * root <= n; root++)
        if (n % root == 0)
            axis_add(ret, root);
    below = ret->n;
    for (int i = below - 1; i >= 0; i--)
        if ((int64_t)ret->values[i] * ret->values[i] != n)
            axis_add(ret, n / ret->values[i]);
}

static bool fixed(const struct space *s, enum pin pin)
{
    return pins_has(s->pins, pin);
}

static bool any(const struct space *s, enum pin pin)
{
    return s->pins->any >> pin & 1;
}

static void axis_init(const struct space *s, enum pin pin, int value, int of, struct axis *ret)
{
    if (fixed(s, pin))
        *ret = (struct axis){ 1, { value } };
    else
        divisors(of, ret);
}

void space_init(struct space *s, const struct plan_job *job, const struct cluster *c,
                const struct pins *pins, bool fewer)
{
    const struct layout *p;
    int half = MAX(job->seq / 2, 1);

    s->job = job;
    s->cluster = c;
    s->pins = pins ? pins : &no_pins;
    s->fewer = fewer;
    s->gpus = c->nodes * c->per_node;
    p = &s->pins->layout;
    axis_init(s, PIN_TP, p->tp, job->shape.heads, &s->tp);
    axis_init(s, PIN_CP, p->cp, job->seq % 2 ? 1 : half, &s->cp);
    axis_init(s, PIN_EP, p->ep, MAX(job->shape.experts, 1), &s->ep);
    axis_init(s, PIN_MICRO_BATCH, p->micro_batch, job->global_batch, &s->micro_batch);
    divisors(job->global_batch, &s->batch);
    splits_range(job, c, &s->head_low, &s->head_high);
}

/* ---- rules beyond layout_check() ---- */

/* Groups of that many GPUs beside each other lie in nodes, or take whole ones. */
static bool aligned(const struct space *s, int size)
{
    int unit = MIN(s->cluster->domain, s->cluster->per_node);

    return s->gpus <= s->cluster->domain || unit % size == 0 || size % unit == 0;
}

static bool aligned_groups(const struct space *s, const struct layout *l)
{
    if (!fixed(s, PIN_TP) && !aligned(s, l->tp))
        return false;
    if (!fixed(s, PIN_TP) && !fixed(s, PIN_CP) && !aligned(s, l->tp * l->cp))
        return false;
    return fixed(s, PIN_EP) || aligned(s, l->ep * l->etp);
}

static bool can_split_sequence(const struct space *s, const struct layout *l)
{
    return l->tp > 1 && s->job->seq / l->cp % l->tp == 0;
}

/* Of a boolean part that has a meaning in this layout: whether it may be 'value'. */
static bool may_be(const struct space *s, enum pin pin, bool pinned, bool usual, bool value)
{
    return any(s, pin) || value == (fixed(s, pin) ? pinned : usual);
}

static bool has_sequence(const struct space *s, const struct layout *l, bool value)
{
    if (!can_split_sequence(s, l))
        return !value;
    /* Beside experts no program has tp without it. */
    return (!s->job->shape.experts && !fixed(s, PIN_SEQ_PARALLEL)) ||
           may_be(s, PIN_SEQ_PARALLEL, s->pins->layout.seq_parallel, true, value);
}

static bool has_overlap_tp(const struct space *s, const struct layout *l, bool value)
{
    bool usual = l->seq_parallel && usual_hides_tp(s->job, gpu_is_new(&s->cluster->gpu));

    if (l->tp == 1)
        return !value;
    return may_be(s, PIN_OVERLAP_TP, s->pins->layout.overlap_tp, usual, value);
}

static bool has_overlap_pp(const struct space *s, const struct layout *l, int vpp, bool value)
{
    if (l->pp == 1)
        return !value;
    return may_be(s, PIN_OVERLAP_PP, s->pins->layout.overlap_pp, vpp > 1 && usual_hides_pp(true),
                  value);
}

/* Without replicas there is nothing to hide, and ZeRO-3 hides what it can. */
static bool has_overlap_dp(const struct space *s, const struct layout *l, int zero, bool value)
{
    if (l->dp * l->cp == 1 || zero == 3)
        return value;
    return may_be(s, PIN_OVERLAP_DP, s->pins->layout.overlap_dp, usual_hides_dp(s->job, zero, true),
                  value);
}

static bool has_overlap_ep(const struct space *s, const struct layout *l, bool value)
{
    if (l->ep == 1)
        return !value;
    if (fixed(s, PIN_OVERLAP_EP))
        return value == s->pins->layout.overlap_ep;
    return !value || (l->recompute < RECOMPUTE_MLP && layout_micro_batches(l, s->job) > 1);
}

static bool has_offload(const struct space *s, bool value)
{
    return may_be(s, PIN_OFFLOAD, s->pins->layout.offload, false, value);
}

static bool has_context(const struct space *s, const struct layout *l, enum context_kind kind)
{
    if (l->cp == 1)
        return kind == CONTEXT_RING;
    if (kind == CONTEXT_ULYSSES && s->job->shape.heads % ((int64_t)l->tp * l->cp))
        return false;
    return !fixed(s, PIN_CONTEXT) || kind == s->pins->layout.context;
}

static bool has_recompute(const struct space *s, enum recompute r)
{
    if (fixed(s, PIN_RECOMPUTE))
        return r == s->pins->layout.recompute;
    if (r == RECOMPUTE_NORMS || r == RECOMPUTE_MLP)
        return s->job->shape.experts > 0;
    return r != RECOMPUTE_SELECTIVE || s->job->attention == ATTENTION_PLAIN;
}

static bool has_schedule(const struct space *s, const struct layout *l, enum schedule k)
{
    if (l->pp == 1)
        return k == SCHEDULE_1F1B;
    if (fixed(s, PIN_SCHEDULE))
        return k == s->pins->layout.schedule;
    return k == SCHEDULE_1F1B || any(s, PIN_SCHEDULE);
}

void space_splits(const struct space *s, int pp, struct splits *ret)
{
    if (pp == 1)
        *ret = (struct splits){ 1, { stages_even } };
    else if (fixed(s, PIN_STAGES))
        *ret = (struct splits){ 1, { s->pins->layout.less } };
    else
        splits_of(s->job->shape.layers, pp, s->head_low, s->head_high, ret);
}

static bool has_stages(const struct space *s, const struct layout *l)
{
    struct splits splits;
    int i = 0;

    space_splits(s, l->pp, &splits);
    while (i < splits.n && !stage_split_is(&splits.list[i], &l->less))
        i++;
    return i < splits.n;
}

static bool has_chunks(const struct space *s, const struct layout *l, int vpp)
{
    int slots = layout_slots(l, s->job->shape.layers);

    if (fixed(s, PIN_VPP) && vpp != s->pins->layout.vpp)
        return false;
    return vpp == 1 || any(s, PIN_VPP) || slots % (l->pp * vpp) == 0;
}

static bool has_sharding(const struct space *s, const struct layout *l, int zero, int shard)
{
    int replicas = l->dp * l->cp;

    if (fixed(s, PIN_ZERO) && zero != s->pins->layout.zero)
        return false;
    if (!fixed(s, PIN_ZERO) && zero > 0 && replicas == 1 && layout_expert_dp(l) == 1)
        return false;
    if (!fixed(s, PIN_ZERO) && zero == 2 && l->pp > 1 && layout_micro_batches(l, s->job) > 1)
        return false;
    if (zero == 0)
        return shard == 0;
    if (fixed(s, PIN_SHARD))
        return shard == s->pins->layout.shard;
    return shard == 0 || (shard > 1 && shard < replicas);
}

static bool has_degrees(const struct space *s, const struct layout *l)
{
    const struct layout *p = &s->pins->layout;
    const struct {
        enum pin pin;
        int pinned, value;
    } degrees[] = {
        { PIN_TP, p->tp, l->tp }, { PIN_PP, p->pp, l->pp },    { PIN_CP, p->cp, l->cp },
        { PIN_EP, p->ep, l->ep }, { PIN_ETP, p->etp, l->etp }, { PIN_DP, p->dp, l->dp },
    };

    for (size_t i = 0; i < ARRAY_SIZE(degrees); i++)
        if (fixed(s, degrees[i].pin) && degrees[i].pinned != degrees[i].value)
            return false;
    if (fixed(s, PIN_MICRO_BATCH) && p->micro_batch != l->micro_batch)
        return false;
    return fixed(s, PIN_ETP) || l->tp % l->etp == 0;
}

bool space_has(const struct space *s, const struct layout *l)
{
    if (layout_check(l, s->job, s->cluster, NULL) < 0)
        return false;
    if (!has_degrees(s, l) || !aligned_groups(s, l) || (!s->fewer && layout_gpus(l) != s->gpus))
        return false;
    return has_sequence(s, l, l->seq_parallel) && has_overlap_tp(s, l, l->overlap_tp) &&
           has_overlap_pp(s, l, l->vpp, l->overlap_pp) &&
           has_overlap_dp(s, l, l->zero, l->overlap_dp) && has_context(s, l, l->context) &&
           has_recompute(s, l->recompute) && has_schedule(s, l, l->schedule) && has_stages(s, l) &&
           has_chunks(s, l, l->vpp) && has_overlap_ep(s, l, l->overlap_ep) &&
           has_sharding(s, l, l->zero, l->shard) && has_offload(s, l->offload);
}

/* ---- cells ---- */

static void each_batch(const struct space *s, struct layout *l, space_cell_fn *fn, void *ctx)
{
    l->seq_parallel = has_sequence(s, l, true);
    for (int i = 0; i < s->micro_batch.n; i++) {
        l->micro_batch = s->micro_batch.values[i];
        if (!fn(ctx, l))
            break;
    }
}

static void each_expert(const struct space *s, struct layout *l, space_cell_fn *fn, void *ctx)
{
    struct axis etp;

    axis_init(s, PIN_ETP, s->pins->layout.etp, s->job->shape.experts ? l->tp : 1, &etp);
    for (int i = 0; i < s->ep.n; i++)
        for (int k = 0; k < etp.n; k++) {
            l->ep = s->ep.values[i];
            l->etp = etp.values[k];
            if ((int64_t)l->ep * l->etp <= s->gpus && aligned_groups(s, l))
                each_batch(s, l, fn, ctx);
        }
    l->ep = l->etp = 1;
}

void space_each_cell(const struct space *s, space_cell_fn *fn, void *ctx)
{
    struct layout l = { .pp = 1, .vpp = 1, .ep = 1, .etp = 1, .dp = 1, .overlap_dp = true };

    for (int i = 0; i < s->tp.n; i++)
        for (int k = 0; k < s->cp.n; k++) {
            l.tp = s->tp.values[i];
            l.cp = s->cp.values[k];
            if ((int64_t)l.tp * l.cp > s->gpus || (!s->fewer && s->gpus % (l.tp * l.cp)))
                continue;
            l.micro_batch = 1;
            l.seq_parallel = false;
            if (aligned_groups(s, &l))
                each_expert(s, &l, fn, ctx);
        }
}

int space_kinds(const struct space *s, const struct layout *cell, struct layout ret[SPACE_KINDS])
{
    struct layout l = *cell;
    int n = 0;

    for (int bits = 0; bits < SPACE_KINDS; bits++) {
        l.seq_parallel = !(bits / 12);
        l.context = (enum context_kind)(bits / 4 % 3);
        l.overlap_ep = bits / 2 % 2;
        l.overlap_tp = bits % 2;
        if (has_sequence(s, &l, l.seq_parallel) && has_context(s, &l, l.context) &&
            has_overlap_tp(s, &l, l.overlap_tp) && has_overlap_ep(s, &l, l.overlap_ep))
            ret[n++] = l;
    }
    return n;
}

int space_recomputes(const struct space *s, enum recompute ret[SPACE_RECOMPUTES])
{
    int n = 0;

    for (int r = RECOMPUTE_NONE; r <= RECOMPUTE_FULL; r++)
        if (has_recompute(s, (enum recompute)r))
            ret[n++] = (enum recompute)r;
    return n;
}

/* ---- blocks ---- */

/* All splits over the stages of pp and dp. */
static enum space_next each_split(const struct space *s, struct layout *l,
                                  const struct space_visit *v)
{
    enum space_next next = v->ask ? v->ask(v->ctx, l) : SPACE_ON;
    struct splits splits;

    if (next != SPACE_ON || !has_overlap_ep(s, l, l->overlap_ep))
        return next;
    space_splits(s, l->pp, &splits);
    for (int i = 0; i < splits.n && next == SPACE_ON; i++) {
        l->less = splits.list[i];
        if (layout_check(l, s->job, s->cluster, NULL) == 0)
            next = v->fn(v->ctx, l);
    }
    l->less = stages_even;
    return next;
}

/* What is left of the GPUs for dp, and every number below it. *top is where those of the last pp
 * began, in s->batch. */
static enum space_next each_replica(const struct space *s, struct layout *l, int *top,
                                    const struct space_visit *v)
{
    int most = s->gpus / (l->tp * l->cp * l->pp);
    enum space_next next = SPACE_ON;

    while (*top > 0 && s->batch.values[*top] > most)
        --*top;
    for (int i = *top; i >= 0 && next < SPACE_NEXT_PP; i--) {
        l->dp = s->batch.values[i];
        if ((double)l->dp * l->pp < v->least)
            break;
        if (s->job->global_batch / l->dp % l->micro_batch == 0 &&
            (!fixed(s, PIN_DP) || l->dp == s->pins->layout.dp))
            next = each_split(s, l, v);
    }
    return next;
}

void space_each_block(const struct space *s, const struct layout *cell, const struct space_visit *v)
{
    int rest = s->gpus / (cell->tp * cell->cp), most = MIN(rest, s->job->shape.layers);
    enum space_next next = SPACE_ON;
    struct layout l = *cell;
    int top = s->batch.n - 1;

    for (l.pp = 1; l.pp <= most && next != SPACE_STOP; l.pp++) {
        if (fixed(s, PIN_PP) && l.pp != s->pins->layout.pp)
            continue;
        l.dp = rest / l.pp;
        if (s->fewer)
            next = each_replica(s, &l, &top, v);
        else if (rest % l.pp == 0 && (!fixed(s, PIN_DP) || l.dp == s->pins->layout.dp))
            next = each_split(s, &l, v);
    }
}

/* ---- what is left of a block ---- */

static void add_chunking(const struct space *s, const struct layout *l, int vpp,
                         struct chunkings *ret)
{
    struct layout one = *l;

    one.vpp = vpp;
    if (!has_chunks(s, l, vpp))
        return;
    for (int k = SCHEDULE_1F1B; k <= SCHEDULE_ZERO_BUBBLE; k++) {
        one.schedule = (enum schedule)k;
        if (!has_schedule(s, l, one.schedule) ||
            (vpp > 1 && layout_check(&one, s->job, s->cluster, NULL) < 0))
            continue;
        for (int overlap = 0; overlap < 2; overlap++)
            if (has_overlap_pp(s, l, vpp, overlap) && ret->n < AXIS_MAX)
                ret->list[ret->n++] = (struct chunking){ vpp, one.schedule, overlap };
    }
}

void space_chunkings(const struct space *s, const struct layout *block, struct chunkings *ret)
{
    int chunks = block->pp > 1 ? (s->job->shape.layers + 2) / block->pp : 1;

    ret->n = 0;
    for (int vpp = 1; vpp <= chunks; vpp++)
        add_chunking(s, block, vpp, ret);
}

static void add_sharding(const struct space *s, const struct layout *l, int zero, int shard,
                         struct shardings *ret)
{
    if (!has_sharding(s, l, zero, shard) || (shard && l->dp * l->cp % shard))
        return;
    for (int bits = 0; bits < 4; bits++)
        if (has_overlap_dp(s, l, zero, bits & 1) && has_offload(s, bits >> 1) && ret->n < AXIS_MAX)
            ret->list[ret->n++] = (struct sharding){ zero, shard, bits & 1, bits >> 1 };
}

void space_shardings(const struct space *s, const struct layout *block, struct shardings *ret)
{
    int replicas = block->dp * block->cp;

    ret->n = 0;
    for (int zero = 0; zero <= 3; zero++)
        add_sharding(s, block, zero, 0, ret);
    for (int d = 1; d * d <= replicas; d++) {
        if (replicas % d)
            continue;
        for (int zero = 1; zero <= 3; zero++) {
            add_sharding(s, block, zero, d, ret);
            if (d != replicas / d)
                add_sharding(s, block, zero, replicas / d, ret);
        }
    }
}

void chunking_set(struct layout *l, const struct chunking *c)
{
    l->vpp = c->vpp;
    l->schedule = c->schedule;
    l->overlap_pp = c->overlap_pp;
}

void sharding_set(struct layout *l, const struct sharding *s)
{
    l->zero = s->zero;
    l->shard = s->shard;
    l->overlap_dp = s->overlap_dp;
    l->offload = s->offload;
}

/* ---- the number ---- */

struct count {
    const struct space *space;
    struct chunkings chunkings;
    struct shardings shardings;
    double blocks; /* with their choices */
    double all;
};

static enum space_next count_block(void *ctx, const struct layout *l)
{
    struct count *c = ctx;

    space_chunkings(c->space, l, &c->chunkings);
    space_shardings(c->space, l, &c->shardings);
    c->blocks += (double)c->chunkings.n * c->shardings.n;
    return SPACE_ON;
}

static bool count_cell(void *ctx, const struct layout *l)
{
    struct count *c = ctx;
    struct layout kinds[SPACE_KINDS];
    enum recompute again[SPACE_RECOMPUTES];
    const struct space_visit visit = { .fn = count_block, .ctx = c };
    int n = space_kinds(c->space, l, kinds), recomputes = space_recomputes(c->space, again);

    for (int i = 0; i < n; i++)
        /* What is recomputed matters to overlap_ep only. */
        for (int k = 0; k < (kinds[i].overlap_ep ? recomputes : 1); k++) {
            kinds[i].recompute = again[k];
            c->blocks = 0;
            space_each_block(c->space, &kinds[i], &visit);
            c->all += c->blocks * (kinds[i].overlap_ep ? 1 : recomputes);
        }
    return true;
}

double space_count(const struct space *s)
{
    struct count c = { .space = s };

    space_each_cell(s, count_cell, &c);
    return c.all;
}
