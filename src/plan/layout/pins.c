#include "plan/layout/pins.h"

#include <errno.h>
#include <string.h>

#include "base/opt.h"
#include "base/parse.h"

enum { WORD_MAX = 40, DEGREE_MAX = 1 << 20 };

enum pin_kind { KIND_NUMBER, KIND_CHOICE, KIND_BOOL, KIND_DOUBLE, KIND_STAGES };

static const char *const contexts[] = { "ring", "ulysses", "gather", NULL };
static const char *const recomputes[] = { "none", "selective", "norms", "mlp", "full", NULL };
static const char *const schedules[] = { "1f1b", "gpipe", "zero-bubble", NULL };
static const char *const attentions[] = { "plain", "flash", "second", "first", "third", NULL };
static const char *const engines[] = { "megatron", "torch", "deepspeed", NULL };

#define IN_LAYOUT(field) offsetof(struct pins, layout) + offsetof(struct layout, field)
#define IN_JOB(field) offsetof(struct pins, job) + offsetof(struct plan_job, field)

static const struct part {
    const char *name, *alias; /* alias NULL: it has none */
    const char *const *words; /* KIND_CHOICE */
    size_t offset;            /* in struct pins */
    enum pin_kind kind;
    int low, high;
    bool has_any; /* "any" stands for all of its values */
} parts[PINS] = {
    [PIN_TP] = { "tp", .offset = IN_LAYOUT(tp), .kind = KIND_NUMBER, .low = 1, .high = DEGREE_MAX },
    [PIN_PP] = { "pp", .offset = IN_LAYOUT(pp), .kind = KIND_NUMBER, .low = 1, .high = DEGREE_MAX },
    [PIN_VPP] = { "vpp", .offset = IN_LAYOUT(vpp), .kind = KIND_NUMBER, .low = 1,
                  .high = DEGREE_MAX, .has_any = true },
    [PIN_CP] = { "cp", .offset = IN_LAYOUT(cp), .kind = KIND_NUMBER, .low = 1, .high = DEGREE_MAX },
    [PIN_EP] = { "ep", .offset = IN_LAYOUT(ep), .kind = KIND_NUMBER, .low = 1, .high = DEGREE_MAX },
    [PIN_ETP] = { "etp", .offset = IN_LAYOUT(etp), .kind = KIND_NUMBER, .low = 1,
                  .high = DEGREE_MAX },
    [PIN_DP] = { "dp", .offset = IN_LAYOUT(dp), .kind = KIND_NUMBER, .low = 1, .high = DEGREE_MAX },
    [PIN_MICRO_BATCH] = { "micro_batch", .alias = "mbs", .offset = IN_LAYOUT(micro_batch),
                          .kind = KIND_NUMBER, .low = 1, .high = DEGREE_MAX },
    [PIN_CONTEXT] = { "context", .words = contexts, .offset = IN_LAYOUT(context),
                      .kind = KIND_CHOICE, .has_any = true },
    [PIN_RECOMPUTE] = { "recompute", .words = recomputes, .offset = IN_LAYOUT(recompute),
                        .kind = KIND_CHOICE },
    [PIN_ZERO] = { "zero", .offset = IN_LAYOUT(zero), .kind = KIND_NUMBER, .high = 3 },
    [PIN_SHARD] = { "shard", .offset = IN_LAYOUT(shard), .kind = KIND_NUMBER, .high = DEGREE_MAX },
    [PIN_SEQ_PARALLEL] = { "seq_parallel", .alias = "sp", .offset = IN_LAYOUT(seq_parallel),
                           .kind = KIND_BOOL, .has_any = true },
    [PIN_SCHEDULE] = { "schedule", .words = schedules, .offset = IN_LAYOUT(schedule),
                       .kind = KIND_CHOICE, .has_any = true },
    [PIN_STAGES] = { "stages", .offset = IN_LAYOUT(less), .kind = KIND_STAGES, .high = DEGREE_MAX },
    [PIN_OVERLAP_DP] = { "overlap_dp", .offset = IN_LAYOUT(overlap_dp), .kind = KIND_BOOL,
                         .has_any = true },
    [PIN_OVERLAP_TP] = { "overlap_tp", .offset = IN_LAYOUT(overlap_tp), .kind = KIND_BOOL,
                         .has_any = true },
    [PIN_OVERLAP_PP] = { "overlap_pp", .offset = IN_LAYOUT(overlap_pp), .kind = KIND_BOOL,
                         .has_any = true },
    [PIN_OVERLAP_EP] = { "overlap_ep", .offset = IN_LAYOUT(overlap_ep), .kind = KIND_BOOL,
                         .has_any = true },
    [PIN_OFFLOAD] = { "offload", .offset = IN_LAYOUT(offload), .kind = KIND_BOOL, .has_any = true },
    [PIN_ATTENTION] = { "attention", .words = attentions, .offset = IN_JOB(attention),
                        .kind = KIND_CHOICE },
    [PIN_ENGINE] = { "engine", .words = engines, .offset = IN_JOB(engine), .kind = KIND_CHOICE },
    [PIN_GRADIENT_B] = { "gradient_bytes", .offset = IN_JOB(gradient_b), .kind = KIND_NUMBER,
                         .low = 2, .high = 4 },
    [PIN_MOMENT_B] = { "moment_bytes", .offset = IN_JOB(moment_b), .kind = KIND_NUMBER, .low = 2,
                       .high = 4 },
    [PIN_FUSED] = { "fused", .offset = IN_JOB(fused), .kind = KIND_BOOL },
    [PIN_GRAPHS] = { "graphs", .offset = IN_JOB(graphs), .kind = KIND_BOOL },
    [PIN_FUSED_LOSS] = { "fused_loss", .offset = IN_JOB(fused_loss), .kind = KIND_BOOL },
    [PIN_IMBALANCE] = { "imbalance", .offset = IN_JOB(imbalance), .kind = KIND_DOUBLE, .low = 1,
                        .high = 1000 },
};

/* ---- reading ---- */

static const char *name_at(const void *ctx, size_t i)
{
    (void)ctx;
    return parts[i].name;
}

static int find_part(const char *name, enum pin *ret, struct err *e)
{
    const char *near;

    for (int i = 0; i < PINS; i++)
        if (!strcmp(parts[i].name, name) || (parts[i].alias && !strcmp(parts[i].alias, name))) {
            *ret = (enum pin)i;
            return 0;
        }
    near = opt_nearest(name, PINS, name_at, NULL);
    return err_set(e, -EINVAL, "unknown part of a layout '%s'%s%s%s", name,
                   near ? " (did you mean " : " (there are tp, pp, vpp, cp, ep, etp, dp, ",
                   near ? near : "micro_batch, recompute, zero, shard, schedule, ...)",
                   near ? "?)" : "");
}

static int set_number(const struct part *part, const char *text, void *at, struct err *e)
{
    uint64_t value;

    if (parse_u64(text, &value) < 0 || value < (uint64_t)part->low || value > (uint64_t)part->high)
        return err_set(e, -EINVAL, "%s is a whole number from %d to %d, not '%s'", part->name,
                       part->low, part->high, text);
    *(int *)at = (int)value;
    return 0;
}

static int set_choice(const struct part *part, const char *text, void *at, struct err *e)
{
    CLEANUP(str_done) struct str words = STR_INIT(sizeof(e->text));
    int i = 0;

    while (part->words[i] && strcmp(part->words[i], text) != 0)
        i++;
    if (part->words[i]) {
        memcpy(at, &i, sizeof(i));
        return 0;
    }
    for (i = 0; part->words[i]; i++)
        str_addf(&words, "%s%s", i ? ", " : "", part->words[i]);
    return err_set(e, -EINVAL, "%s is one of %s, not '%s'", part->name, str_text(&words), text);
}

static int set_bool(const struct part *part, const char *text, void *at, struct err *e)
{
    bool yes = !strcmp(text, "yes") || !strcmp(text, "1") || !strcmp(text, "on");

    if (!yes && strcmp(text, "no") != 0 && strcmp(text, "0") != 0 && strcmp(text, "off") != 0)
        return err_set(e, -EINVAL, "%s is yes or no, not '%s'", part->name, text);
    *(bool *)at = yes;
    return 0;
}

static int set_double(const struct part *part, const char *text, void *at, struct err *e)
{
    double value;

    if (parse_double(text, &value) < 0 || value < part->low || value > part->high)
        return err_set(e, -EINVAL, "%s is a number from %d to %d, not '%s'", part->name, part->low,
                       part->high, text);
    *(double *)at = value;
    return 0;
}

/* "even", "ends", or how many layers the first and the last stage have fewer: "1+2". */
static int set_stages(const struct part *part, const char *text, void *at, struct err *e)
{
    struct stage_split *ret = at;
    size_t len = strcspn(text, "+");
    char first[WORD_MAX];
    uint64_t n[2];

    if (!strcmp(text, "even") || !strcmp(text, "ends")) {
        *ret = text[1] == 'v' ? stages_even : stages_ends;
        return 0;
    }
    memcpy(first, text, len);
    first[len] = '\0';
    if (!text[len] || parse_u64(first, &n[0]) < 0 || parse_u64(text + len + 1, &n[1]) < 0 ||
        n[0] > (uint64_t)part->high || n[1] > (uint64_t)part->high)
        return err_set(e, -EINVAL,
                       "%s is even, ends, or how many layers the first and the last stage have "
                       "fewer, such as 1+2, not '%s'",
                       part->name, text);
    *ret = (struct stage_split){ (int)n[0], (int)n[1] };
    return 0;
}

static int set_part(struct pins *p, enum pin pin, const char *text, struct err *e)
{
    const struct part *part = &parts[pin];
    struct pins next = *p;
    void *at = (char *)&next + part->offset;
    int rc = -EINVAL;

    if ((p->fixed | p->any) >> pin & 1)
        return err_set(e, -EINVAL, "%s stands twice", part->name);
    if (part->has_any && !strcmp(text, "any")) {
        p->any |= 1U << pin;
        return 0;
    }
    switch (part->kind) {
    case KIND_NUMBER:
        rc = set_number(part, text, at, e);
        break;
    case KIND_CHOICE:
        rc = set_choice(part, text, at, e);
        break;
    case KIND_BOOL:
        rc = set_bool(part, text, at, e);
        break;
    case KIND_DOUBLE:
        rc = set_double(part, text, at, e);
        break;
    case KIND_STAGES:
        rc = set_stages(part, text, at, e);
        break;
    }
    if (rc < 0)
        return rc;
    if ((pin == PIN_GRADIENT_B && next.job.gradient_b == 3) ||
        (pin == PIN_MOMENT_B && next.job.moment_b == 3))
        return err_set(e, -EINVAL, "%s is 2 or 4, not '%s'", part->name, text);
    next.fixed |= 1U << pin;
    *p = next;
    return 0;
}

int pins_read(struct pins *p, const char *text, struct err *e)
{
    while (*text) {
        size_t len = strcspn(text, ","), equals = strcspn(text, "=");
        char name[WORD_MAX], value[WORD_MAX];
        enum pin pin = PIN_TP;
        int rc;

        if (equals >= len || equals >= WORD_MAX || len - equals > WORD_MAX)
            return err_set(e, -EINVAL, "'%.*s': write parts of a layout as tp=8,pp=4",
                           (int)MIN(len, (size_t)60), text);
        memcpy(name, text, equals);
        name[equals] = '\0';
        for (char *c = name; *c; c++)
            *c = (char)(*c == '-' ? '_' : *c);
        memcpy(value, text + equals + 1, len - equals - 1);
        value[len - equals - 1] = '\0';
        rc = find_part(name, &pin, e);
        if (rc == 0)
            rc = set_part(p, pin, value, e);
        if (rc < 0)
            return rc;
        text += len + (text[len] == ',');
    }
    return 0;
}

bool pins_has(const struct pins *p, enum pin pin)
{
    return p->fixed >> pin & 1;
}

/* ---- use ---- */

static size_t size_of(const struct part *part)
{
    return part->kind == KIND_BOOL     ? sizeof(bool)
           : part->kind == KIND_DOUBLE ? sizeof(double)
           : part->kind == KIND_STAGES ? sizeof(struct stage_split)
                                       : sizeof(int);
}

/* Copy what is pinned among [from, to) to a struct that lies in struct pins at 'base'. */
static void copy(const struct pins *p, int from, int to, size_t base, void *ret)
{
    for (int i = from; i < to; i++)
        if (pins_has(p, (enum pin)i))
            memcpy((char *)ret + parts[i].offset - base, (const char *)p + parts[i].offset,
                   size_of(&parts[i]));
}

void pins_set_layout(const struct pins *p, struct layout *l)
{
    copy(p, 0, PINS_LAYOUT, offsetof(struct pins, layout), l);
}

void pins_set_job(const struct pins *p, struct plan_job *job)
{
    copy(p, PINS_LAYOUT, PINS, offsetof(struct pins, job), job);
}

void layout_usual_overlaps(struct layout *l)
{
    l->overlap_dp = true;
    l->overlap_tp = l->seq_parallel;
    l->overlap_pp = l->vpp > 1;
}

/* Of the layout 'l', in which only the pinned parts count. */
static void set_usual(const struct pins *p, struct layout *l)
{
    l->seq_parallel = l->tp > 1;
    pins_set_layout(p, l);
    layout_usual_overlaps(l);
    pins_set_layout(p, l);
}

int pins_complete(const struct pins *p, const struct plan_job *job, const struct cluster *c,
                  struct layout *ret, struct err *e)
{
    struct layout l = {
        .tp = 1, .pp = 1, .vpp = 1, .cp = 1, .ep = 1, .etp = 1, .micro_batch = 1, .zero = 1
    };
    int64_t split;
    int rc;

    pins_set_layout(p, &l);
    split = (int64_t)l.tp * l.pp * l.cp;
    l.dp = (int)MAX((int64_t)c->nodes * c->per_node / MAX(split, 1), 1);
    if (job->shape.layers % MAX(l.pp, 1))
        l.less = stages_ends;
    set_usual(p, &l);
    rc = layout_check(&l, job, c, e);
    if (rc == 0)
        *ret = l;
    return rc;
}

/* ---- words ---- */

void stages_words(const struct stage_split *s, struct str *out)
{
    if (stage_split_is(s, &stages_even))
        str_add(out, "even");
    else if (stage_split_is(s, &stages_ends))
        str_add(out, "ends");
    else
        str_addf(out, "%d+%d", s->first, s->last);
}

void layout_words(const struct layout *l, struct str *out)
{
    struct layout usual = *l;

    layout_usual_overlaps(&usual);
    str_addf(out, "tp=%d,pp=%d", l->tp, l->pp);
    if (l->vpp > 1)
        str_addf(out, ",vpp=%d", l->vpp);
    if (l->cp > 1)
        str_addf(out, ",cp=%d,context=%s", l->cp, contexts[l->context]);
    if (l->ep > 1)
        str_addf(out, ",ep=%d", l->ep);
    if (l->etp > 1)
        str_addf(out, ",etp=%d", l->etp);
    str_addf(out, ",dp=%d,micro_batch=%d,recompute=%s,zero=%d", l->dp, l->micro_batch,
             recomputes[l->recompute], l->zero);
    if (l->shard > 0)
        str_addf(out, ",shard=%d", l->shard);
    if (l->seq_parallel != (l->tp > 1))
        str_addf(out, ",seq_parallel=%s", l->seq_parallel ? "yes" : "no");
    if (l->schedule != SCHEDULE_1F1B)
        str_addf(out, ",schedule=%s", schedules[l->schedule]);
    if (l->pp > 1) {
        str_add(out, ",stages=");
        stages_words(&l->less, out);
    }
    if (l->overlap_dp != usual.overlap_dp)
        str_addf(out, ",overlap_dp=%s", l->overlap_dp ? "yes" : "no");
    if (l->overlap_tp != usual.overlap_tp)
        str_addf(out, ",overlap_tp=%s", l->overlap_tp ? "yes" : "no");
    if (l->overlap_pp != usual.overlap_pp)
        str_addf(out, ",overlap_pp=%s", l->overlap_pp ? "yes" : "no");
    if (l->overlap_ep)
        str_add(out, ",overlap_ep=yes");
    if (l->offload)
        str_add(out, ",offload=yes");
}

const char *recompute_name(enum recompute r)
{
    return recomputes[r];
}

const char *schedule_name(enum schedule s)
{
    return schedules[s];
}

const char *context_name(enum context_kind c)
{
    return contexts[c];
}
