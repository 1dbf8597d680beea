/* What an observer looks at and when, by a made-up /proc and a clock of the test. */
#include <errno.h>
#include <math.h>
#include <sys/timerfd.h>

#include "brim/step.h"
#include "folder.h"
#include "run/watch/observe_private.h"
#include "tap.h"

#define NOW_NS (1000 * NS_PER_S)
#define GLANCE_NS (NS_PER_S / 10)

struct bench {
    char root[PATH_MAX], rings[PATH_MAX], runs[PATH_MAX];
    struct observe_config c;
    struct observe_pilot pilot;
    struct observe_teller teller;
    struct observed out;
    struct observer o;
    struct clock clock;
    char *env[1], said[512], trying[64];
    int64_t now_ns;
    unsigned said_n, turns, looks, version;
    bool weighs;
    struct run_tuning tuning;
};

static int64_t read_clock(void *arg)
{
    return ((const struct bench *)arg)->now_ns;
}

static void say(void *arg, const char *sentence)
{
    struct bench *b = arg;

    b->said_n++;
    snprintf(b->said, sizeof(b->said), "%s", sentence);
}

static void turn(void *arg, const struct run_snapshot *w)
{
    struct bench *b = arg;

    b->turns++;
    if (w->now_ns != b->now_ns || w->rings != b->o.rings || w->family != b->o.family)
        ok(false, "a pilot sees the job as it is now");
}

static bool weighs(void *arg)
{
    return ((const struct bench *)arg)->weighs;
}

static void tries(void *arg, char *text, size_t size)
{
    (void)arg;
    snprintf(text, size, "a=1");
}

static const struct run_tuning *tried(void *arg, unsigned *version)
{
    struct bench *b = arg;

    *version = b->version;
    return &b->tuning;
}

static void look(void *arg, const struct run_snapshot *w, const char *rings, const char *trying)
{
    struct bench *b = arg;

    b->looks++;
    snprintf(b->trying, sizeof(b->trying), "%s", trying);
    if (w->asked != SIGTERM || !w->run || !w->inferred || strcmp(rings, "/rings") != 0)
        ok(false, "a teller sees the job whole");
}

/* A process of the job; io: what it has read, NULL: that may not be known. */
static void process(const struct bench *b, int pid, int ticks, const char *io)
{
    char path[64], text[256];

    snprintf(path, sizeof(path), "%d/stat", pid);
    snprintf(text, sizeof(text),
             "%d (a) S 10 1 1 0 -1 4194304 0 0 0 0 %d 0 0 0 20 0 1 0 100 1000 10 0 0 0 0 0 0 0 0 "
             "0 0 0 0 0 17 0 0 0 0 0 0\n",
             pid, ticks);
    folder_text(b->root, path, text);
    snprintf(path, sizeof(path), "%d/smaps_rollup", pid);
    folder_text(b->root, path, "Pss: 5 kB\n");
    snprintf(path, sizeof(path), "%d/io", pid);
    if (io)
        folder_text(b->root, path, io);
}

static void set_up(struct bench *b)
{
    *b = (struct bench){ .now_ns = NOW_NS, .clock = { read_clock, read_clock, b }, .version = 7 };
    folder_make(b->root);
    folder_path(b->root, "rings", b->rings);
    folder_path(b->root, "runs", b->runs);
    folder_folder(b->root, "rings");
    process(b, 11, 50, "rchar: 1\n");
    b->c = (struct observe_config){
        .clock = &b->clock, .env = b->env, .interval_ns = NS_PER_S, .say = say, .arg = b
    };
    b->pilot = (struct observe_pilot){
        .arg = b, .turn = turn, .weighs = weighs, .tries = tries, .tried = tried
    };
    b->teller = (struct observe_teller){ b, look };
    b->o = (struct observer){ .c = &b->c, .out = &b->out, .begin_ns = NOW_NS };
    b->o.proc = open(b->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    b->o.timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    b->o.glance_ns = b->o.inferred_ns = b->o.lines_ns = NOW_NS;
    b->o.due_ns = NOW_NS + NS_PER_S;
    b->o.launch = (struct launch){ .pid = 11, .tty = -1, .signals = -1, .asked = SIGTERM };
    b->o.keep = (struct archive_retry){ .say = say, .arg = b };
    b->o.folder = (struct ring_folder)RING_FOLDER_INIT;
    str_add(&b->o.folder.path, "/rings");
    rank_steps_init(&b->o.inferred);
    folder_need(rings_open(&b->o.rings, b->rings, NULL), b->rings);
    folder_need(family_open(&b->o.family, b->o.proc, false, 10, NULL), "family");
    folder_need(family_sample(b->o.family, &(struct family_growth){ 0 }), "sample");
    tick_begin(&b->o.ticks[0], NOW_NS, NOW_NS);
}

static void tear_down(struct bench *b)
{
    archive_retry_done(&b->o.keep);
    rings_close(b->o.rings);
    family_close(b->o.family);
    rank_steps_done(&b->o.inferred);
    tick_done(&b->o.ticks[0]);
    tick_done(&b->o.ticks[1]);
    str_done(&b->o.folder.path);
    run_done(&b->out.run);
    close(b->o.proc);
    close(b->o.timer);
    folder_remove(b->root);
}

static void glance(struct bench *b, int64_t after_ns)
{
    b->now_ns += after_ns;
    folder_need(observer_glance(&b->o, b->now_ns), "observer_glance");
}

static double value(const struct bench *b, enum run_signal signal)
{
    const struct run *r = &b->out.run;

    return r->n_moments ? r->moments[r->n_moments - 1].values[signal] : (double)NAN;
}

/* ---- when ---- */

/* How far apart turns of the timer are, in ns. */
static int64_t period(const struct bench *b)
{
    struct itimerspec spec;

    folder_need(timerfd_gettime(b->o.timer, &spec), "timerfd_gettime");
    return (int64_t)spec.it_interval.tv_sec * NS_PER_S + spec.it_interval.tv_nsec;
}

/* Turns are so that one falls on the next sample; the first one is the next that does. */
static void test_timer(void)
{
    static const struct {
        int64_t left_s, first_s; /* until the sample is due; by how much the first turn is before */
    } cases[] = { { 3500, 3000 }, { 3001, 3000 }, { 3000, 2000 }, { 1000, 0 },
                  { 999, 0 },     { 0, 0 },       { -500, 0 } };
    struct bench b;

    set_up(&b);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const int64_t real_ns = clock_monotonic_ns(&clock_system);
        struct itimerspec spec;

        b.o.due_ns = real_ns + 10000 * NS_PER_S;
        b.now_ns = b.o.due_ns - cases[i].left_s * NS_PER_S;
        is_int(observer_set_timer(&b.o, 1000 * NS_PER_S), 0, "timer %zu is set", i);
        folder_need(timerfd_gettime(b.o.timer, &spec), "timerfd_gettime");
        is_int((10500 - (int64_t)spec.it_value.tv_sec) / 1000, cases[i].first_s / 1000,
               "the first turn of timer %zu is %d s before the sample", i, (int)cases[i].first_s);
    }
    is_int(observer_set_timer(&b.o, 3 * NS_PER_S / 2), 0, "a timer of one and a half seconds");
    is_int(period(&b), 3 * NS_PER_S / 2, "a period has its seconds and its nanoseconds");
    close(b.o.timer);
    b.o.timer = open("/dev/null", O_RDONLY | O_CLOEXEC);
    is_int(observer_set_timer(&b.o, NS_PER_S), -EINVAL, "what is no timer is not set");
    tear_down(&b);
}

static void test_due(void)
{
    struct bench b;

    set_up(&b);
    glance(&b, NS_PER_S - 1);
    is_int((long long)b.out.run.n_moments, 0, "before it is due no moment is made");
    process(&b, 11, 150, "rchar: 4097\n");
    glance(&b, 1);
    is_int((long long)b.out.run.n_moments, 1, "when it is due a moment is made");
    ok(b.o.due_ns == NOW_NS + 2 * NS_PER_S, "the next moment is due an interval later");
    ok(fabs(value(&b, RUN_JOB_CPU) - 100.0 / (double)sysconf(_SC_CLK_TCK)) < 1e-9,
       "a moment has what the job used: %g", value(&b, RUN_JOB_CPU));
    is_int((long long)value(&b, RUN_JOB_IO_READ), 4096, "a moment has what the job read");
    is_int((long long)value(&b, RUN_JOB_PSS), 5 * 1024, "a moment has the memory of the job");
    glance(&b, 7 * NS_PER_S / 2);
    is_int((long long)b.out.run.n_moments, 2, "of moments that were missed one is made");
    ok(b.o.due_ns == NOW_NS + 5 * NS_PER_S, "moments are due at whole intervals");
    ok(fabs(b.out.run.moments[1].seconds - 3.5) < 1e-9, "a late moment is as long as it took");
    b.o.launch.reaped_s = 7;
    glance(&b, NS_PER_S / 2);
    ok(fabs(value(&b, RUN_JOB_CPU) - 14) < 1e-9, "what ended within the job counts: %g",
       value(&b, RUN_JOB_CPU));
    glance(&b, NS_PER_S);
    ok(value(&b, RUN_JOB_CPU) == 0, "what ended counts once: %g", value(&b, RUN_JOB_CPU));
    is_int((long long)b.o.kin.n, 1, "a process without marks is looked at as a rank");
    glance(&b, NS_PER_S);
    ok(value(&b, RUN_RANK_CPU) == 0, "a rank that was found has its own figures");
    folder_need(observer_sample(&b.o, b.now_ns), "sample");
    is_int((long long)b.out.run.n_moments, 5, "a moment that takes no time is none");
    tear_down(&b);
}

/* At times of chance, from half of the interval to one and a half of it. */
static void test_uneven(void)
{
    int64_t least_ns = INT64_MAX, most_ns = 0;
    struct bench b;

    set_up(&b);
    b.c.uneven = true;
    b.o.chance = 4711;
    for (int i = 0; i < 100; i++) {
        int64_t next_ns;

        glance(&b, b.o.due_ns - b.now_ns);
        next_ns = b.o.due_ns - b.now_ns;
        least_ns = MIN(least_ns, next_ns);
        most_ns = MAX(most_ns, next_ns);
    }
    is_int((long long)b.out.run.n_moments, 100, "each uneven interval has its moment");
    ok(least_ns >= NS_PER_S / 2 && least_ns < 6 * NS_PER_S / 10,
       "the shortest interval is little more than half: %g s", clock_seconds(least_ns));
    ok(most_ns <= 3 * NS_PER_S / 2 && most_ns > 14 * NS_PER_S / 10,
       "the longest interval is little less than one and a half: %g s", clock_seconds(most_ns));
    ok(period(&b) == GLANCE_NS, "the timer is set for an interval of chance");
    tear_down(&b);
}

/* A rank of another host that waits for data for so much of each second. */
static void test_calm(void)
{
    static const struct {
        double wait_s;
        int64_t interval_ns;
        bool pilot, calm;
    } cases[] = {
        { 0, NS_PER_S, false, true },    { 0, NS_PER_S, true, false },
        { 0, GLANCE_NS, false, false },  { 0, GLANCE_NS + 1, false, true },
        { 0.5, NS_PER_S, false, false },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct rank_steps about;
        struct bench b;
        size_t ring;

        set_up(&b);
        b.c.interval_ns = cases[i].interval_ns;
        b.c.pilot = cases[i].pilot ? &b.pilot : NULL;
        rank_steps_init(&about);
        folder_need(rings_far_add(b.o.rings, &about, &ring), "ring");
        for (int k = 0; k < 12; k++) {
            struct step s = { .begin_ns = b.now_ns, .end_ns = b.now_ns + NS_PER_S };

            s.host_s[BRIM_STAGE_WAIT] = cases[i].wait_s;
            folder_need(rings_far_step(b.o.rings, ring, &s), "step");
            glance(&b, NS_PER_S);
        }
        is_int(b.o.calm, cases[i].calm, "job %zu is %s after 12 s", i,
               cases[i].calm ? "calm" : "not calm");
        is_int(observer_glance_period(&b.o),
               cases[i].pilot  ? NS_PER_S / 40
               : cases[i].calm ? cases[i].interval_ns
                               : GLANCE_NS,
               "job %zu is looked at as often as it needs", i);
        is_int(period(&b), cases[i].calm ? cases[i].interval_ns : 0,
               "the timer of job %zu is changed where the job is calm", i);
        is_int((long long)b.o.series.n, 0, "no rhythm is looked for in job %zu, which marks", i);
        b.now_ns += 5 * NS_PER_S;
        folder_need(
            rings_far_step(b.o.rings, ring, &(struct step){ .host_s = { [BRIM_STAGE_WAIT] = 5 } }),
            "step");
        glance(&b, 0);
        ok(!b.o.calm && period(&b) == (cases[i].calm ? GLANCE_NS : 0),
           "job %zu is not calm after it has waited", i);
        tear_down(&b);
    }
}

/* ---- what ---- */

/* Processes that mark are the ranks, from the first moment on. */
static void test_ranks(void)
{
    struct brim_step *rank;
    struct bench b;

    set_up(&b);
    process(&b, (int)getpid(), 0, "rchar: 1\n");
    rank = brim_step_open_at(b.rings, "test 1", 0, 0, 1);
    brim_step_begin(rank);
    brim_step_end(rank);
    glance(&b, NS_PER_S);
    ok(rings_count(b.o.rings) == 1 && rings_lane(b.o.rings, 0)->count == 1, "a rank has marked");
    ok(value(&b, RUN_RANK_CPU) == 0, "a rank that marks has figures from the first moment on");
    is_int((long long)b.o.series.n, 0, "no rhythm is looked for where a rank marks");
    is_int((long long)b.o.kin.samples, 0, "no ranks are looked for where a rank marks");
    glance(&b, 31 * NS_PER_S);
    is_int(b.o.inferred_ns, NOW_NS, "no steps are looked for where a rank marks");
    brim_step_close(rank);
    tear_down(&b);
}

static void test_pilot(void)
{
    struct bench b;

    set_up(&b);
    b.c.pilot = &b.pilot;
    b.c.teller = &b.teller;
    for (int i = 0; i < 40; i++)
        glance(&b, NS_PER_S / 40);
    is_int(b.turns, 40, "a pilot has a turn each time");
    is_int((long long)b.o.series.n, 10,
           "with a pilot processes are looked at each tenth of a second");
    is_int(b.looks, 1, "a teller hears of each moment");
    is_str(b.trying, "a=1", "a teller hears what is on trial");
    ok(b.out.run.tuning == &b.tuning, "a run has what was tried");
    is_int(b.o.tried, 0, "what cannot be stored is not taken for stored");
    ok(!isnan(value(&b, RUN_JOB_PSS)), "memory is read at first");
    glance(&b, NS_PER_S);
    ok(isnan(value(&b, RUN_JOB_PSS)), "memory is read now and then");
    b.weighs = true;
    glance(&b, NS_PER_S);
    ok(!isnan(value(&b, RUN_JOB_PSS)), "memory is read when a pilot asks for it");
    b.pilot.tries = NULL;
    b.pilot.tried = NULL;
    b.pilot.weighs = NULL;
    b.out.run.tuning = NULL;
    glance(&b, NS_PER_S);
    ok(b.looks == 4 && !b.trying[0] && !b.out.run.tuning,
       "a pilot that tries nothing tells nothing");
    tear_down(&b);
}

static void test_stored(void)
{
    struct bench b;

    set_up(&b);
    b.c.pilot = &b.pilot;
    b.out.run.id = b.out.run.name = b.out.run.command = b.out.run.host = b.out.run.user =
        b.out.run.folder = "x";
    archive_retry_begin(&b.o.keep, b.runs, &b.out.run, NOW_NS);
    is_str(b.said, "", "a run is stored");
    glance(&b, NS_PER_S);
    is_int(b.o.tried, 7, "what was tried is stored with the run");
    tear_down(&b);
}

static void test_unreadable(void)
{
    struct bench b;

    set_up(&b);
    process(&b, 12, 0, NULL);
    glance(&b, NS_PER_S);
    is_str(b.said,
           "some of the job's processes belong to another user: what they read and write is not "
           "known",
           "a process that may not be read is told of");
    glance(&b, NS_PER_S);
    is_int(b.said_n, 1, "processes that may not be read are told of once");
    tear_down(&b);
}

/* What looks like no ring is told of as well. */
static void test_no_ring(void)
{
    struct bench b;

    set_up(&b);
    folder_text(b.rings, "rank-1.ring", "noise");
    glance(&b, GLANCE_NS);
    ok(strstr(b.said, "rank-1.ring") && b.said_n == 1, "a file that is no ring is told of: %s",
       b.said);
    tear_down(&b);
}

/* A job that marks nothing and does the same each second. */
static void test_steps(void)
{
    struct bench b;
    int ticks = 50;

    set_up(&b);
    for (int i = 0; i < 299; i++) {
        if (i % 10 < 3)
            process(&b, 11, ticks += 20, "rchar: 1\n");
        glance(&b, GLANCE_NS);
    }
    is_int((long long)b.o.inferred.count, 0, "steps are not looked for within 30 s");
    glance(&b, GLANCE_NS);
    ok(b.o.inferred.count >= 25 && b.o.inferred.count <= 30,
       "steps of one second each are found in half a minute: %d", (int)b.o.inferred.count);
    is_int(b.o.inferred_ns, b.now_ns, "an observer knows when it has looked for steps");
    tear_down(&b);
}

int main(void)
{
    test_timer();
    test_due();
    test_uneven();
    test_calm();
    test_ranks();
    test_pilot();
    test_stored();
    test_unreadable();
    test_no_ring();
    test_steps();
    return done();
}
