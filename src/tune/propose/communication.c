/* Communication that is waited for: how gradients are packed, compressed and sent. */
#include <math.h>
#include <string.h>

#include "model/signal/quantity.h"
#include "tune/propose/propose_private.h"

static const double exposed_least = 0.05; /* share of the step */
static const double mib = 1048576;
static const double bucket_usual = 25; /* MiB: bucket_cap_mb of PyTorch's DDP, from its manual */
/* What a collective takes beside its bytes; ours, for what no measurement has told. */
static const double latency_nccl_s = 30e-6, latency_s = 300e-6;
/* Of the waiting, what another algorithm or more channels may take away; ours. */
static const double settings_part = 0.3;

struct link {
    double bytes;      /* of a rank in a step */
    double per_s;      /* bytes a second */
    double latency_s;  /* of a collective */
    double backward_s; /* in which gradients become ready */
};

/* How long communication is waited for behind the backward pass, when gradients become ready evenly
 * and leave in buckets, one after the other. */
static double exposed_s(const struct link *l, double bucket)
{
    int n = (int)fmin(10000, ceil(l->bytes / bucket));
    double free_at = 0;

    for (int i = 1; i <= n; i++)
        free_at = fmax(free_at, l->backward_s * i / n) + l->latency_s + l->bytes / n / l->per_s;
    return fmax(0, free_at - l->backward_s);
}

/* DDP's own exchange is seen by nobody but as waiting; each rank sends and takes all gradients but
 * its own part, twice, as rings do. */
static bool look_at_gradients(const struct proposer *p, double *bytes, double *seconds,
                              double *steps)
{
    double gradients = facts_number(&p->facts, "gradients.bytes");
    double world = facts_number(&p->facts, "group.world");

    *bytes = gradients * 2 * (world - 1) / world;
    *seconds = p->exposed * p->step_s;
    *steps = 1;
    return *bytes > 0 && isfinite(*bytes) && *seconds > 0;
}

static bool look(const struct proposer *p, struct link *l)
{
    const char *backend = facts_look(&p->facts, "group.backend");
    double bytes = 0, seconds = 0, steps = 0;

    for (size_t i = 0; i < p->about->run->n_ranks; i++) {
        const struct step *total = &p->about->run->ranks[i].total;

        bytes += total->collective_b;
        seconds += total->collective_s;
        steps += (double)total->number;
    }
    if (!(steps > 0 && bytes > 0 && seconds > 0) && !look_at_gradients(p, &bytes, &seconds, &steps))
        return false;
    l->bytes = bytes / steps;
    l->latency_s = backend && !strcmp(backend, "nccl") ? latency_nccl_s : latency_s;
    l->per_s = bytes / seconds;
    l->backward_s = p->about->verdict->share[BRIM_STAGE_BACKWARD] * p->step_s;
    return l->backward_s >= 0;
}

static void add_bucket(struct proposer *p, const struct link *l)
{
    double now = facts_number(&p->facts, "ddp.bucket"), best, least;

    now = now > 0 ? now : bucket_usual;
    best = now;
    least = exposed_s(l, now * mib);
    for (int b = 1; b <= 512; b *= 2) {
        double then = exposed_s(l, b * mib);

        if (then < least) {
            least = then;
            best = b;
        }
    }
    propose_number(
        p, "ddp.bucket", best, now,
        propose_without(p, fmin(p->exposed * p->step_s, exposed_s(l, now * mib) - least)),
        "%s of gradients at %s: in buckets of %.0f MiB %s of communication stay behind "
        "the backward pass, in those of %.0f MiB %s",
        quantity_bytes(l->bytes).text, quantity_rate(l->per_s).text, best,
        quantity_seconds(least).text, now, quantity_seconds(exposed_s(l, now * mib)).text);
}

static void add_hook(struct proposer *p, const struct link *l)
{
    struct link half = *l;
    double now = exposed_s(l, bucket_usual * mib), then;
    const char *hook = facts_look(&p->facts, "ddp.hook");
    const char *backend = facts_look(&p->facts, "group.backend");
    /* gloo and MPI send no bf16 */
    bool half_only = backend && strcmp(backend, "nccl") != 0;

    half.bytes /= 2;
    then = exposed_s(&half, bucket_usual * mib / 2);
    /* One that is there already compresses in its own way. */
    if (hook)
        return;
    propose_add(p, "ddp.hook", half_only ? "fp16" : "bf16", "none",
                propose_without(p, fmin(p->exposed * p->step_s / 2, now - then)),
                "%s of gradients at %s take longer than the backward pass: half the bytes",
                quantity_bytes(l->bytes).text, quantity_rate(l->per_s).text);
}

/* What no model here tells apart: each value is worth a run if the waiting is worth it. */
static void add_nccl(struct proposer *p)
{
    static const char *const names[] = { "nccl.algorithm", "nccl.channels", "nccl.buffer",
                                         "nccl.sockets" };
    double gain = propose_without(p, settings_part * p->exposed * p->step_s);

    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        const struct knob *k = knobs_find(p->about->knobs, names[i]);
        const char *value;
        char buf[KNOB_VALUE_MAX];

        for (size_t n = 0; k && (value = knob_value(k, n, buf)); n++)
            propose_add(p, names[i], value, NULL, gain,
                        "communication is waited for %s of the step",
                        quantity_share(p->exposed).text);
    }
}

/* Every second step without communication: what is learnt from the same samples is another. */
static void add_accumulation(struct proposer *p)
{
    double now = facts_number(&p->facts, "batch.accumulation");

    if (!(facts_number(&p->facts, "gradients.bytes") > 0) || !(now >= 1))
        return;
    propose_number(p, "batch.accumulation", 2 * now, now,
                   propose_without(p, p->exposed * p->step_s / 2),
                   "communication is waited for %s of the step: it is needed half as often; %s "
                   "more of memory for gradients that are kept aside",
                   quantity_share(p->exposed).text,
                   quantity_bytes(facts_number(&p->facts, "gradients.bytes")).text);
}

/* What DDP alone has: of a job whose ranks exchange in another way (FSDP, DeepSpeed, its own) it is
 * known that it has none. */
static void add_ddp(struct proposer *p)
{
    const char *view = facts_look(&p->facts, "ddp.view");
    const char *used = facts_look(&p->facts, "ddp.used");
    struct link l;

    if (used && !strcmp(used, "no"))
        return;
    if (look(p, &l)) {
        add_bucket(p, &l);
        add_hook(p, &l);
        add_accumulation(p);
    }
    propose_add(p, "ddp.view", "yes", view ? view : "no",
                propose_without(p, 0.1 * p->exposed * p->step_s),
                "gradients are copied into buckets and back");
}

void propose_communication(struct proposer *p)
{
    if (!(p->exposed >= exposed_least))
        return;
    /* A rank that waits for a slow one waits in communication, too: buckets do not help then. */
    if (propose_item(p, CAUSE_SLOW_RANK) || propose_item(p, CAUSE_IMBALANCE))
        return;
    add_ddp(p);
    add_nccl(p);
}
