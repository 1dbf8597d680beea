/* Marks become steps: nested stages, sources that feed and those that do not, what is lost. */
#include "model/job/step.h"

#include <math.h>

#include "tap.h"

enum { MS = 1000000, LOOP = 1, BESIDE = 2 };

struct feed {
    struct step_track track;
    struct step step;
    int ended;
};

static void give(struct feed *f, struct step_mark m, int64_t ms)
{
    m.t_ns = ms * MS;
    if (!m.thread)
        m.thread = LOOP;
    f->ended += step_track_mark(&f->track, &m, &f->step);
}

static void begin(struct feed *f, unsigned stage, int64_t ms)
{
    give(f, (struct step_mark){ .kind = BRIM_RING_STAGE_BEGIN, .stage = stage }, ms);
}

static void end(struct feed *f, unsigned stage, int64_t ms)
{
    give(f, (struct step_mark){ .kind = BRIM_RING_STAGE_END, .stage = stage }, ms);
}

static void step_begin(struct feed *f, int64_t ms)
{
    give(f, (struct step_mark){ .kind = BRIM_RING_STEP_BEGIN }, ms);
}

static void step_end(struct feed *f, int64_t ms)
{
    give(f, (struct step_mark){ .kind = BRIM_RING_STEP_END }, ms);
}

static void wait_for(struct feed *f, unsigned source, int64_t from, int64_t to, uint64_t samples)
{
    give(f,
         (struct step_mark){
             .kind = BRIM_RING_STAGE_BEGIN, .stage = BRIM_STAGE_WAIT, .source = source },
         from);
    end(f, BRIM_STAGE_WAIT, to);
    give(f, (struct step_mark){ .kind = BRIM_RING_SAMPLES, .source = source, .count = samples },
         to);
}

static void is_ms(double seconds, double ms, const char *what)
{
    ok(fabs(seconds * 1e3 - ms) < 1e-6, "%s: %g ms, want %g", what, seconds * 1e3, ms);
}

static void add_up(const struct step *s)
{
    double sum = 0;

    for (unsigned i = 0; i < BRIM_STAGES; i++)
        sum += s->host_s[i];
    ok(fabs(sum - step_seconds(s)) < 1e-9, "the stages add up to the step");
}

static void test_plain(void)
{
    struct feed f = { .ended = 0 };
    const struct step *s = &f.step;

    step_track_init(&f.track);
    step_begin(&f, 0);
    wait_for(&f, 0, 0, 10, 32);
    begin(&f, BRIM_STAGE_FORWARD, 11);
    begin(&f, BRIM_STAGE_COMMUNICATION, 15);
    end(&f, BRIM_STAGE_COMMUNICATION, 18);
    end(&f, BRIM_STAGE_FORWARD, 20);
    begin(&f, BRIM_STAGE_BACKWARD, 20);
    end(&f, BRIM_STAGE_BACKWARD, 40);
    give(&f, (struct step_mark){ .kind = BRIM_RING_LOSS, .number = 0.5 }, 40);
    give(&f, (struct step_mark){ .kind = BRIM_RING_COLLECTIVE, .count = 9, .seconds = 1 }, 15);
    give(&f, (struct step_mark){ .kind = BRIM_RING_DEVICE, .stage = BRIM_STAGE_COPY, .seconds = 2 },
         1);
    is_int(f.ended, 0, "no step ends before its mark");
    step_end(&f, 50);
    is_int(f.ended, 1, "a step's end makes a step");
    is_ms(s->host_s[BRIM_STAGE_WAIT], 10, "time of the stage wait");
    is_ms(s->host_s[BRIM_STAGE_FORWARD], 6,
          "time of the stage forward without the communication in it");
    is_ms(s->host_s[BRIM_STAGE_COMMUNICATION], 3, "time of the stage communication");
    is_ms(s->host_s[BRIM_STAGE_BACKWARD], 20, "time of the stage backward");
    is_ms(s->host_s[BRIM_STAGE_OTHER], 11, "time of the stage other");
    ok(s->samples == 32 && s->loss == 0.5 && s->backwards == 1,
       "a step has its samples, loss and backward passes");
    ok(s->collectives == 1 && s->collective_b == 9 && s->collective_s == 1,
       "a step has its collective with bytes and seconds");
    ok(s->device_s[BRIM_STAGE_COPY] == 2 && isnan(s->device_s[BRIM_STAGE_FORWARD]),
       "a step has the device's time of the stage that was told");
    add_up(s);
    step_end(&f, 80);
    ok(f.ended == 2 && s->number == 1, "the next step begins where one ends");
    is_ms(s->host_s[BRIM_STAGE_OTHER], 30, "time of the stage other in a step without stages");
    ok(isnan(s->samples) && isnan(s->loss) && isnan(s->device_s[BRIM_STAGE_COPY]),
       "what is not told of a step is absent");
    step_begin(&f, 100);
    step_end(&f, 101);
    is_ms(step_seconds(s), 1, "time of a step behind a begin of its own");
    is_int(f.ended, 3, "three ends make three steps");
}

static void test_sources(void)
{
    struct feed f = { .ended = 0 };
    const struct step *s = &f.step;

    step_track_init(&f.track);
    step_begin(&f, 0);
    wait_for(&f, 1, 0, 5, 8); /* a validation before the first step */
    wait_for(&f, 2, 10, 30, 16);
    give(&f, (struct step_mark){ .kind = BRIM_RING_FEEDS, .source = 2 }, 31);
    step_end(&f, 40);
    is_ms(s->host_s[BRIM_STAGE_WAIT], 20, "time of the wait for the source that feeds the step");
    is_ms(s->host_s[BRIM_STAGE_OTHER], 20, "time of the stage other beside the wait that counts");
    ok(s->samples == 16, "a step has the samples of the source that feeds it");
    add_up(s);
    wait_for(&f, 1, 40, 50, 8);
    step_end(&f, 60);
    ok(isnan(s->samples), "a step has no samples of a source that does not feed it");
    is_ms(s->host_s[BRIM_STAGE_OTHER], 20,
          "time of the stage other with a wait that does not count");
    wait_for(&f, 2, 60, 61, 1);
    wait_for(&f, 2, 61, 63, 1);
    step_end(&f, 64);
    ok(s->samples == 2, "a step has the samples of two batches");
    is_ms(s->host_s[BRIM_STAGE_WAIT], 3, "time of two waits in a step");
    for (unsigned i = 10; i < 10 + STEP_SOURCES; i++)
        wait_for(&f, i, 64, 64, 1);
    step_end(&f, 70);
    ok(s->samples == 2, "sources that cannot be told apart count");
}

static void test_disorder(void)
{
    struct feed f = { .ended = 0 };
    const struct step *s = &f.step;

    step_track_init(&f.track);
    begin(&f, BRIM_STAGE_FORWARD, 5);
    step_end(&f, 10);
    is_int(f.ended, 0, "an end without a begin is no step");
    end(&f, BRIM_STAGE_FORWARD, 12);
    begin(&f, BRIM_STAGE_BACKWARD, 12);
    begin(&f, BRIM_STAGE_COMMUNICATION, 14); /* its end is missing */
    end(&f, BRIM_STAGE_BACKWARD, 15);
    end(&f, BRIM_STAGE_CHECKPOINT, 16); /* its begin is missing */
    give(&f,
         (struct step_mark){
             .kind = BRIM_RING_STAGE_BEGIN, .stage = BRIM_STAGE_OPTIMIZER, .thread = BESIDE },
         16);
    begin(&f, BRIM_STAGE_OPTIMIZER, 11); /* before what is accounted */
    end(&f, BRIM_STAGE_OPTIMIZER, 18);
    step_end(&f, 20);
    is_ms(s->host_s[BRIM_STAGE_FORWARD], 2, "time of a stage that began before the step");
    is_ms(s->host_s[BRIM_STAGE_BACKWARD], 2, "time of a stage up to the one inside it");
    is_ms(s->host_s[BRIM_STAGE_COMMUNICATION], 1, "time of a stage that ends with the outer one");
    is_ms(s->host_s[BRIM_STAGE_CHECKPOINT], 0, "time of a stage that has an end alone");
    is_ms(s->host_s[BRIM_STAGE_OPTIMIZER], 2, "time of a stage by the marks of the step's thread");
    add_up(s);
    for (int i = 0; i < STEP_DEPTH + 5; i++)
        begin(&f, BRIM_STAGE_COPY, 20);
    step_end(&f, 30);
    is_ms(s->host_s[BRIM_STAGE_COPY], 10, "time of a stage nested deeper than there is room");
    step_track_lost(&f.track);
    step_end(&f, 40);
    is_int(f.ended, 2, "a step that lost marks is dropped");
    begin(&f, BRIM_STAGE_COPY, 42);
    give(&f, (struct step_mark){ .kind = BRIM_RING_STEP_END, .thread = BESIDE }, 50);
    is_int(f.ended, 3, "the step behind a dropped one is whole");
    is_ms(s->host_s[BRIM_STAGE_COPY], 8, "time of a stage in the step behind a dropped one");
    give(&f, (struct step_mark){ .kind = BRIM_RING_STEP_END, .thread = BESIDE }, 60);
    is_ms(s->host_s[BRIM_STAGE_OTHER], 10, "time of the stage other once the thread has changed");
    give(&f, (struct step_mark){ .kind = BRIM_RING_STEP_END, .thread = BESIDE }, 55);
    is_int(f.ended, 4, "a step of negative length is dropped");
}

static void source_begin(struct feed *f, unsigned source, int64_t ms)
{
    give(f,
         (struct step_mark){
             .kind = BRIM_RING_STAGE_BEGIN, .stage = BRIM_STAGE_WAIT, .source = source },
         ms);
}

/* The stage that the loop is in, as it counts: what waits for no step's data is between stages. */
static void test_now(void)
{
    struct feed f = { .ended = 0 };

    step_track_init(&f.track);
    begin(&f, BRIM_STAGE_FORWARD, 1);
    is_int(step_track_stage(&f.track), -1, "before its first step a loop is in no stage");
    end(&f, BRIM_STAGE_FORWARD, 2);
    step_begin(&f, 2);
    is_int(step_track_stage(&f.track), BRIM_STAGE_OTHER, "a loop without a stage is between them");
    begin(&f, BRIM_STAGE_FORWARD, 3);
    begin(&f, BRIM_STAGE_COPY, 4);
    is_int(step_track_stage(&f.track), BRIM_STAGE_COPY, "a loop is in its innermost stage");
    end(&f, BRIM_STAGE_COPY, 5);
    is_int(step_track_stage(&f.track), BRIM_STAGE_FORWARD, "a loop is back in the outer stage");
    end(&f, BRIM_STAGE_FORWARD, 6);
    source_begin(&f, 0, 7);
    is_int(step_track_stage(&f.track), BRIM_STAGE_WAIT, "a loop waits for its only source");
    end(&f, BRIM_STAGE_WAIT, 8);
    source_begin(&f, 3, 9);
    is_int(step_track_stage(&f.track), BRIM_STAGE_WAIT, "a loop waits for a source not seen yet");
    end(&f, BRIM_STAGE_WAIT, 10);
    source_begin(&f, 3, 11);
    is_int(step_track_stage(&f.track), BRIM_STAGE_OTHER,
           "a wait for a source that feeds no step is between the stages");
    end(&f, BRIM_STAGE_WAIT, 12);
    give(&f, (struct step_mark){ .kind = BRIM_RING_FEEDS, .source = 3 }, 12);
    source_begin(&f, 4, 12);
    end(&f, BRIM_STAGE_WAIT, 13);
    source_begin(&f, 3, 13);
    is_int(step_track_stage(&f.track), BRIM_STAGE_WAIT, "a wait for a source that feeds counts");
    begin(&f, BRIM_STAGE_COPY, 14);
    is_int(step_track_stage(&f.track), BRIM_STAGE_COPY, "a stage within a wait is the loop's");
    step_track_lost(&f.track);
    is_int(step_track_stage(&f.track), -1, "a loop whose marks were lost is in no stage");
}

/* What a step told is not the next one's. */
static void test_anew(void)
{
    struct feed f = { .ended = 0 };
    const struct step *s = &f.step;

    step_track_init(&f.track);
    ok(isnan(f.track.now.samples) && isnan(f.track.now.device_s[0]),
       "what is not told before the first step is absent");
    step_begin(&f, 0);
    give(&f, (struct step_mark){ .kind = BRIM_RING_FEEDS, .source = 1 }, 0);
    wait_for(&f, 1, 0, 5, 8);
    give(&f, (struct step_mark){ .kind = BRIM_RING_DEVICE, .stage = BRIM_STAGES - 1, .seconds = 2 },
         6);
    give(&f, (struct step_mark){ .kind = BRIM_RING_DEVICE, .seconds = 1 }, 6);
    give(&f, (struct step_mark){ .kind = BRIM_RING_DEVICE, .seconds = 0.5 }, 6);
    step_end(&f, 10);
    ok(s->device_s[BRIM_STAGES - 1] == 2 && s->device_s[0] == 1.5,
       "times of a device that are told twice add up");
    is_int((long long)s->begin_ns, 0, "a step has its begin");
    is_int((long long)s->end_ns, 10 * MS, "a step has its end");
    step_end(&f, 20);
    ok(isnan(s->device_s[BRIM_STAGES - 1]) && isnan(s->device_s[0]) && isnan(s->samples),
       "the device's times and samples are of one step");
    is_ms(s->host_s[BRIM_STAGE_WAIT], 0, "time of the wait in a step without one");
    is_int((long long)s->begin_ns, 10 * MS, "a step begins where the one before it ended");
    step_end(&f, 20);
    is_int(f.ended, 2, "two ends at the same time are one step");
    give(&f, (struct step_mark){ .kind = BRIM_RING_COLLECTIVE, .count = 3, .seconds = 1 }, 21);
    give(&f, (struct step_mark){ .kind = BRIM_RING_COLLECTIVE, .count = 4, .seconds = 0.5 }, 21);
    give(&f, (struct step_mark){ .kind = BRIM_RING_SAMPLES, .count = 4 }, 21);
    give(&f, (struct step_mark){ .kind = BRIM_RING_SAMPLES, .count = 5 }, 21);
    give(&f, (struct step_mark){ .kind = BRIM_RING_NOTE, .count = 5 }, 21);
    step_end(&f, 30);
    ok(s->collectives == 2 && s->collective_b == 7 && s->collective_s == 1.5,
       "collectives of a step add up");
    ok(s->samples == 9, "samples that are told twice add up");
}

/* The sixteenth source is told apart, the seventeenth is not and counts. */
static void test_many_sources(void)
{
    struct feed f = { .ended = 0 };
    const struct step *s = &f.step;

    step_track_init(&f.track);
    step_begin(&f, 0);
    for (unsigned i = 1; i <= STEP_SOURCES; i++)
        wait_for(&f, i, i - 1, i, 1);
    wait_for(&f, STEP_SOURCES + 1, STEP_SOURCES, STEP_SOURCES + 3, 1);
    step_end(&f, 40);
    is_ms(s->host_s[BRIM_STAGE_WAIT], 3, "time of the wait for a source beyond the sixteenth");
    is_ms(s->host_s[BRIM_STAGE_OTHER], 37, "time of the waits for sources that feed no step");
    ok(s->samples == 1, "samples of a source beyond the sixteenth count");
    add_up(s);
}

int main(void)
{
    test_plain();
    test_sources();
    test_disorder();
    test_now();
    test_anew();
    test_many_sources();
    is_str(step_stage_name(BRIM_STAGE_WAIT), "wait", "the name of the stage wait is 'wait'");
    ok(step_stage_name(BRIM_STAGES - 1) && !step_stage_name(BRIM_STAGES),
       "each stage has a name, and no other number");
    return done();
}
