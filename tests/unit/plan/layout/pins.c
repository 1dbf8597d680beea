/* Layouts in words. */
#include "plan/layout/pins.h"

#include <errno.h>
#include <string.h>

#include "tap.h"

static struct plan_job small_job(void)
{
    return (struct plan_job){ .shape = { .layers = 24,
                                         .hidden = 4096,
                                         .heads = 32,
                                         .kv_heads = 32,
                                         .head_dim = 128,
                                         .ffn = 16384,
                                         .vocab = 51200 },
                              .seq = 2048,
                              .global_batch = 512,
                              .gradient_b = 4,
                              .imbalance = 1 };
}

static void refuses(const char *text, const char *want)
{
    struct pins p = { .fixed = 0 }, was = p;
    struct err e = { "" };

    is_int(pins_read(&p, text, &e), -EINVAL, "pins_read refuses '%s'", text);
    is_str(e.text, want, "pins_read says what is wrong with '%s'", text);
    if (!strchr(text, ','))
        ok(!memcmp(&p, &was, sizeof(p)), "pins_read sets nothing of '%s'", text);
}

static void test_reading(void)
{
    struct pins p = { .fixed = 0 };
    struct layout l = { .tp = 1, .pp = 3, .cp = 1 };
    struct plan_job job = small_job();

    is_int(pins_read(&p, "tp=8,micro-batch=2,recompute=full,sp=no", NULL), 0,
           "pins_read takes parts of a layout");
    is_int(pins_read(&p, "attention=plain,imbalance=1.5,schedule=any", NULL), 0,
           "pins_read takes more parts in a second text");
    pins_set_layout(&p, &l);
    pins_set_job(&p, &job);
    ok(l.tp == 8 && l.micro_batch == 2 && l.recompute == RECOMPUTE_FULL,
       "pins_set_layout sets degrees, micro-batch and recompute");
    ok(l.pp == 3 && l.cp == 1, "pins_set_layout leaves what is not named");
    ok(job.attention == ATTENTION_PLAIN && job.imbalance == 1.5,
       "pins_set_job sets attention and imbalance");
    ok(job.gradient_b == 4 && job.seq == 2048, "pins_set_job leaves what is not named");
    ok(!pins_has(&p, PIN_SCHEDULE) && p.any >> PIN_SCHEDULE & 1,
       "a part pinned as any has no value");
    ok(pins_has(&p, PIN_SEQ_PARALLEL) && !l.seq_parallel, "a part pinned as no has that value");

    refuses("stages=odd", "stages is even, ends, or how many layers the first and the last stage "
                          "have fewer, such as 1+2, not 'odd'");
    refuses("stages=1+", "stages is even, ends, or how many layers the first and the last stage "
                         "have fewer, such as 1+2, not '1+'");
    refuses("stages=2+9999999", "stages is even, ends, or how many layers the first and the last "
                                "stage have fewer, such as 1+2, not '2+9999999'");
    refuses("recompte=full", "unknown part of a layout 'recompte' (did you mean recompute?)");
    refuses("tq=8", "unknown part of a layout 'tq' (there are tp, pp, vpp, cp, ep, etp, dp, "
                    "micro_batch, recompute, zero, shard, schedule, ...)");
    refuses("tp8", "'tp8': write parts of a layout as tp=8,pp=4");
    refuses("tp=0", "tp is a whole number from 1 to 1048576, not '0'");
    refuses("tp=8x", "tp is a whole number from 1 to 1048576, not '8x'");
    refuses("zero=4", "zero is a whole number from 0 to 3, not '4'");
    refuses("recompute=some", "recompute is one of none, selective, norms, mlp, full, not 'some'");
    refuses("sp=maybe", "seq_parallel is yes or no, not 'maybe'");
    refuses("gradient_bytes=3", "gradient_bytes is 2 or 4, not '3'");
    refuses("moment_bytes=3", "moment_bytes is 2 or 4, not '3'");
    refuses("imbalance=.5", "imbalance is a number from 1 to 1000, not '.5'");
    refuses("tp=8,tp=4", "tp stands twice");
    refuses("tp=any", "tp is a whole number from 1 to 1048576, not 'any'");
    refuses("a-word-that-is-longer-than-any-name-of-a-part=1",
            "'a-word-that-is-longer-than-any-name-of-a-part=1': write parts of a layout as "
            "tp=8,pp=4");
}

/* What has but a few values takes each of them, and nothing beside them. */
static void test_values(void)
{
    static const struct {
        const char *name, *values[3], *beside[3];
    } parts[] = {
        { "gradient_bytes", { "2", "4" }, { "1", "3", "5" } },
        { "moment_bytes", { "2", "4" }, { "1", "3", "5" } },
        { "zero", { "0", "1", "3" }, { "4", "-1" } },
        { "micro_batch", { "1", "1048576" }, { "0", "1048577" } },
        { "imbalance", { "1", "1.01", "1000" }, { "0.99", "1000.1" } },
    };

    for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
        for (size_t k = 0; k < 3; k++) {
            struct pins p = { .fixed = 0 };
            char text[64];

            snprintf(text, sizeof(text), "%s=%s", parts[i].name,
                     parts[i].values[k] ? parts[i].values[k] : parts[i].values[0]);
            is_int(pins_read(&p, text, NULL), 0, "pins_read takes '%s'", text);
            snprintf(text, sizeof(text), "%s=%s", parts[i].name,
                     parts[i].beside[k] ? parts[i].beside[k] : parts[i].beside[0]);
            is_int(pins_read(&p, text, NULL), -EINVAL, "pins_read does not take '%s'", text);
        }
}

static void test_completing(void)
{
    struct pins p = { .fixed = 0 };
    struct plan_job job = small_job();
    struct cluster c = { .nodes = 8, .per_node = 8, .domain = 8 };
    struct layout l = { .tp = 0 };
    struct err e = { "" };

    is_int(pins_read(&p, "tp=4,pp=2", NULL), 0, "pins_read takes two degrees");
    is_int(pins_complete(&p, &job, &c, &l, &e), 0, "pins_complete completes two degrees");
    ok(l.dp == 8 && l.micro_batch == 1 && l.zero == 1 && l.seq_parallel && l.overlap_tp,
       "replicas take the GPUs that are left, and the rest is usual");
    is_int(pins_read(&p, "dp=3", NULL), 0,
           "pins_read takes a degree that does not divide the batch");
    is_int(pins_complete(&p, &job, &c, &l, &e), -EINVAL,
           "pins_complete refuses a degree that does not divide the batch");
    is_str(e.text, "batch 512 does not divide by dp 3 x micro-batch 1",
           "pins_complete says what layout_check says");
    ok(l.dp == 8, "pins_complete returns nothing on an error");
}

static void test_words(void)
{
    static const char *const texts[] = {
        "tp=1,pp=1,dp=8,micro_batch=1,recompute=none,zero=0",
        "tp=8,pp=4,vpp=3,dp=8,micro_batch=2,recompute=full,zero=1,stages=even",
        "tp=8,pp=4,cp=2,context=ulysses,ep=4,etp=2,dp=8,micro_batch=2,recompute=selective,zero=3,"
        "shard=4,seq_parallel=no,schedule=zero-bubble,stages=ends,overlap_dp=no,overlap_tp=yes,"
        "overlap_pp=yes",
        "tp=1,pp=16,vpp=2,dp=8,micro_batch=1,recompute=none,zero=1,stages=2+1",
    };

    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        CLEANUP(str_done) struct str out = STR_INIT(1024);
        struct pins p = { .fixed = 0 };
        struct layout l = { .tp = 1, .pp = 1, .vpp = 1, .cp = 1, .ep = 1, .etp = 1 };

        is_int(pins_read(&p, texts[i], NULL), 0, "pins_read reads a whole layout: %s", texts[i]);
        pins_set_layout(&p, &l);
        l.seq_parallel = l.tp > 1;
        pins_set_layout(&p, &l);
        layout_usual_overlaps(&l);
        pins_set_layout(&p, &l);
        layout_words(&l, &out);
        is_str(str_text(&out), texts[i], "layout_words writes a layout as it was read: %s",
               texts[i]);
    }
}

int main(void)
{
    test_reading();
    test_values();
    test_completing();
    test_words();
    return done();
}
