/* Jobs that are optimised while they run: simulated ones, that mark into rings of their own by a
 * clock of their own and read the control file. What is found, what is undone, what is told. */
#include "optimize/drive.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <sys/mman.h>

#include "brim/control.h"
#include "brim/ring.h"
#include "folder.h"
#include "knobs_ini.h"
#include "noise.h"
#include "oom.h"
#include "tap.h"

enum { RANKS = 2, CAPACITY = 4096, TEXTS = 8192, TURN_NS = 25000000, STEPS_MOST = 60000 };
enum { RING_SIZE = BRIM_RING_HEADER_SIZE + TEXTS + CAPACITY * 32 };

static const int64_t second = 1000000000;

/* A loader that takes fetch_s for a batch, a model that takes compute_s. */
struct sim {
    char root[PATH_MAX];
    struct noise noise;
    double fetch_s, compute_s;
    unsigned ranks, batch; /* batch: how many were taken since workers changed */
    int workers, tasted;   /* tasted: workers of the last change */
    bool half;             /* precision */
    bool saves;            /* a checkpoint in step 3 */
    unsigned may_restart, observe;
    const struct drive_past *past;
    bool refuses[RANKS], silent, hurts, losses, gpu, hangs, blind;
    uint64_t decays_at, dies_at, restarts_at;
    int64_t now_ns, turn_ns, moment_ns;
    unsigned requests;
    struct goal goal;
    double watts, worker_watts;
    uint64_t steps, seen[RANKS], texts[RANKS];
    unsigned char *map[RANKS];
    const struct brim_control *control;
    struct control *writer;
    struct rings *rings;
    struct run run;
    struct knobs knobs;
    struct drive *drive;
    char said[16384];
};

static void say(void *arg, const char *sentence)
{
    struct sim *s = arg;
    size_t len = strlen(s->said);

    snprintf(s->said + len, sizeof(s->said) - len, "%s\n", sentence);
}

/* ---- the ring's writer ---- */

static struct brim_ring_header *header(const struct sim *s, unsigned rank)
{
    return (void *)s->map[rank];
}

static void put(struct sim *s, unsigned rank, uint32_t kind, uint32_t code, uint64_t value)
{
    struct brim_ring_header *h = header(s, rank);
    struct brim_ring_record *all = (void *)(s->map[rank] + BRIM_RING_HEADER_SIZE + TEXTS);

    all[h->head % CAPACITY] = (struct brim_ring_record){ .seq = h->head + 1,
                                                         .t_ns = s->now_ns,
                                                         .kind = (uint16_t)kind,
                                                         .code = (uint16_t)code,
                                                         .extra = 7,
                                                         .value = value };
    h->head++;
}

static void note(struct sim *s, unsigned rank, const char *text)
{
    struct brim_ring_header *h = header(s, rank);
    struct brim_ring_record *all = (void *)(s->map[rank] + BRIM_RING_HEADER_SIZE + TEXTS);
    size_t len = strlen(text);

    if (s->texts[rank] + len + 1 > TEXTS)
        return;
    memcpy(s->map[rank] + BRIM_RING_HEADER_SIZE + s->texts[rank], text, len);
    put(s, rank, BRIM_RING_NOTE, (uint32_t)len, 0);
    all[(h->head - 1) % CAPACITY].extra = (uint32_t)s->texts[rank];
    s->texts[rank] += len + 1;
}

static void make_ring(struct sim *s, unsigned rank, int pid)
{
    struct brim_ring_header h = { .magic = BRIM_RING_MAGIC,
                                  .major = BRIM_RING_MAJOR,
                                  .header_size = BRIM_RING_HEADER_SIZE,
                                  .text_size = TEXTS,
                                  .record_size = 32,
                                  .capacity = CAPACITY,
                                  .pid = pid,
                                  .rank = (int)rank,
                                  .local_rank = (int)rank,
                                  .world = (int)s->ranks,
                                  .framework = "sim 1",
                                  .host = "here" };
    char path[PATH_MAX];
    int fd;

    if (s->map[rank])
        munmap(s->map[rank], RING_SIZE);
    s->texts[rank] = s->seen[rank] = 0;
    folder_need(snprintf(path, PATH_MAX, "%s/rank-%u-%d.ring", s->root, rank, pid), path);
    fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
    folder_need(fd, path);
    folder_need(ftruncate(fd, RING_SIZE), path);
    s->map[rank] = mmap(NULL, RING_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    memcpy(s->map[rank], &h, sizeof(h));
    note(s, rank, "loader.workers=0");
    if (s->losses)
        note(s, rank, "process.torch=2.4.0");
}

/* ---- the job ---- */

static void answer(struct sim *s, unsigned rank, uint64_t number, int outcome, const char *why)
{
    char text[200];

    snprintf(text, sizeof(text), "switch.%llu=%s", (unsigned long long)number, why);
    if (*why)
        note(s, rank, text);
    put(s, rank, BRIM_RING_SWITCH, (uint32_t)outcome, number);
}

static void obey(struct sim *s, unsigned rank)
{
    const struct brim_control *c = s->control;
    long value;

    if (s->silent || c->number == s->seen[rank] || s->steps < c->at_step)
        return;
    s->seen[rank] = c->number;
    s->requests += rank == 0;
    if (s->refuses[rank]) {
        answer(s, rank, c->number, BRIM_SWITCH_REFUSED, "it is iterable");
        return;
    }
    if (!strncmp(c->text, "loader.workers=", 15)) {
        value = strtol(c->text + 15, NULL, 10);
        s->batch = s->workers == (int)value ? s->batch : 0;
        s->workers = (int)value;
        s->dies_at = s->dies_at == 1 && s->workers ? s->steps + 40 : s->dies_at;
    } else if (!strncmp(c->text, "autocast=", 9)) {
        s->half = strcmp(c->text + 9, "none") != 0;
    } else {
        answer(s, rank, c->number, BRIM_SWITCH_REFUSED, "there is no such setting");
        return;
    }
    answer(s, rank, c->number, BRIM_SWITCH_DONE, "");
}

/* Workers begin their batches one after the other as those are asked for, so that of each round
 * one is waited for and the others are there. */
static double wait_of(struct sim *s)
{
    double compute = s->compute_s, wait;

    if (!s->workers || (s->decays_at && s->steps >= s->decays_at))
        return s->fetch_s * (s->workers ? 2 : 1);
    wait = s->batch++ % (unsigned)s->workers == 0 ? s->fetch_s - (s->workers - 1) * compute : 0;
    return fmax(wait, 1e-4);
}

static double loss_of(struct sim *s)
{
    double loss = 1 + 2 / sqrt(1 + (double)s->steps / 100) + 0.02 * noise_normal(&s->noise);

    return loss + (s->half && s->hurts ? 0.4 : 0);
}

static void step(struct sim *s)
{
    double factor = noise_next(&s->noise), wait = wait_of(s) * factor;
    double compute = s->compute_s * factor * (s->half ? 0.6 : 1), loss = loss_of(s);
    uint64_t bits;

    memcpy(&bits, &loss, sizeof(bits));
    for (unsigned r = 0; r < s->ranks; r++) {
        int64_t begin = s->now_ns;

        put(s, r, BRIM_RING_STAGE_BEGIN, BRIM_STAGE_WAIT, 0);
        s->now_ns += (int64_t)(wait * 1e9);
        put(s, r, BRIM_RING_STAGE_END, BRIM_STAGE_WAIT, 0);
        put(s, r, BRIM_RING_SAMPLES, 0, 16);
        put(s, r, BRIM_RING_STAGE_BEGIN, BRIM_STAGE_FORWARD, 0);
        s->now_ns += (int64_t)(compute * 1e9);
        put(s, r, BRIM_RING_STAGE_END, BRIM_STAGE_FORWARD, 0);
        if (s->saves && s->steps == 3) {
            put(s, r, BRIM_RING_STAGE_BEGIN, BRIM_STAGE_CHECKPOINT, 0);
            s->now_ns += second / 10;
            put(s, r, BRIM_RING_STAGE_END, BRIM_STAGE_CHECKPOINT, 0);
        }
        if (s->losses)
            put(s, r, BRIM_RING_LOSS, 0, bits);
        put(s, r, BRIM_RING_STEP_END, 0, 0);
        obey(s, r);
        s->now_ns = r + 1 < s->ranks ? begin : s->now_ns;
    }
    s->steps++;
}

static void add_moment(struct sim *s)
{
    struct run_moment *m = ARENA_PUSH(&s->run.arena, &s->run.moments, &s->run.n_moments);

    if (!m)
        return;
    *m = (struct run_moment){ .monotonic_ns = s->now_ns,
                              .seconds = (double)(s->now_ns - s->moment_ns) / 1e9 };
    for (int i = 0; i < RUN_SIGNALS; i++)
        m->values[i] = (double)NAN;
    m->values[RUN_CPUS] = 8;
    m->values[RUN_CPU_BUSY] = 0.1;
    m->values[RUN_MEMORY_AVAILABLE] = 16e9;
    m->values[RUN_JOB_RESIDENT] = 1e9 + 1e8 * s->workers;
    /* as it is where it is read now and then */
    m->values[RUN_JOB_PSS] = s->run.n_moments % 2 ? 0.5e9 + 1e7 * s->workers : (double)NAN;
    m->values[RUN_GPU_WATTS] = s->watts > 0 ? s->watts + s->worker_watts * s->workers : (double)NAN;
    m->values[RUN_GPU_MEMORY_USED] = s->gpu ? 3e9 : (double)NAN;
    m->values[RUN_JOB_PROCESSES] = 1 + s->workers;
    m->values[RUN_RANK_CPU] = s->workers ? 0.5 : 0.1;
    m->values[RUN_WORKER_CPU] = s->workers ? 0.01 : (double)NAN;
    m->values[RUN_GPUS] = s->gpu ? 1 : (double)NAN;
    m->values[RUN_GPU_BUSY] = s->gpu ? 0.95 : (double)NAN;
    m->values[RUN_GPU_TENSOR_ACTIVE] = s->gpu ? 0.05 : (double)NAN;
    s->moment_ns = s->now_ns;
}

static void turn(struct sim *s)
{
    const struct observe_pilot *p = drive_pilot(s->drive);
    const struct watched w = { s->rings, &s->run, s->now_ns };

    s->turn_ns = s->now_ns;
    if (s->now_ns - s->moment_ns >= second)
        add_moment(s);
    if (!s->blind && rings_read(s->rings, NULL) < 0) {
        s->blind = true; /* as observe() does */
        p->stop(p->arg);
    }
    if (!s->blind)
        p->turn(p->arg, &w);
}

static bool is_over(const struct sim *s)
{
    struct drive_report r;

    drive_tell(s->drive, &r);
    return r.session->phase == PHASE_OVER;
}

/* So many steps; with more == 0 until the session is over. */
static void run_steps(struct sim *s, uint64_t more)
{
    uint64_t end = s->steps + (more ? more : STEPS_MOST);

    while (s->steps < end && (more || !is_over(s)) && !(s->dies_at > 1 && s->steps >= s->dies_at)) {
        if (s->restarts_at && s->steps == s->restarts_at)
            for (unsigned r = 0; r < s->ranks; r++)
                make_ring(s, r, 5000 + (int)r);
        if (s->hangs && s->requests)
            s->now_ns += TURN_NS;
        else
            step(s);
        if (s->now_ns - s->turn_ns >= TURN_NS)
            turn(s);
        if (s->now_ns > 7200 * second)
            break;
    }
    turn(s);
}

static void sim_init(struct sim *s, uint64_t seed)
{
    *s = (struct sim){ .noise = noise_start(seed, true),
                       .fetch_s = 0.163,
                       .compute_s = 0.0156,
                       .ranks = 1,
                       .now_ns = second,
                       .moment_ns = second,
                       .run = { .id = "id", .name = "sim", .command = "sim", .host = "here" } };
    s->noise.trend = 0;
    folder_make(s->root);
    if (knobs_load(&s->knobs, "k", data_knobs_ini, data_knobs_ini_len, NULL) < 0)
        abort();
}

static int sim_start(struct sim *s, bool numeric)
{
    struct drive_config c = { .knobs = &s->knobs,
                              .plan = drive_plan(3600, &s->goal),
                              .goal = s->goal,
                              .shm_free_b = 8e9,
                              .say = say,
                              .arg = s };
    char path[PATH_MAX];
    struct stat st;
    int fd, rc;

    c.plan.numeric = numeric;
    c.plan.observe = s->observe ? s->observe : c.plan.observe;
    c.restarts = s->may_restart;
    c.past = s->past;
    for (unsigned r = 0; r < s->ranks; r++)
        make_ring(s, r, 4000 + (int)r);
    rc = rings_open(&s->rings, s->root, NULL);
    if (rc == 0)
        rc = control_make(&s->writer, s->root, NULL);
    if (rc == 0)
        rc = drive_new(&s->drive, &c);
    if (rc < 0)
        return rc;
    folder_need(snprintf(path, PATH_MAX, "%s/control", s->root), path);
    fd = open(path, O_RDONLY);
    folder_need(fd < 0 ? fd : fstat(fd, &st), path);
    s->control = mmap(NULL, BRIM_CONTROL_SIZE, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    rings_follow(s->rings, drive_pilot(s->drive)->event, s->drive);
    drive_pilot(s->drive)->start(s->drive, s->writer, false);
    return 0;
}

static void sim_end(struct sim *s, int status, struct drive_report *ret)
{
    const struct observe_pilot *p = drive_pilot(s->drive);
    const struct watched w = { s->rings, &s->run, s->now_ns };

    s->run.end = RUN_EXITED;
    s->run.status = status;
    s->blind = s->blind || rings_read(s->rings, NULL) < 0;
    p->end(p->arg, &w);
    drive_tell(s->drive, ret);
}

static void sim_done(struct sim *s)
{
    drive_free(s->drive);
    control_close(s->writer);
    rings_close(s->rings);
    knobs_done(&s->knobs);
    run_done(&s->run);
    for (unsigned r = 0; r < RANKS; r++)
        if (s->map[r])
            munmap(s->map[r], RING_SIZE);
    folder_remove(s->root);
}

/* The last one of a knob. */
static const struct session_entry *entry(const struct drive_report *r, const char *knob)
{
    for (unsigned i = r->session->n_entries; i-- > 0;)
        if (!strcmp(r->session->entries[i].knob, knob))
            return &r->session->entries[i];
    return NULL;
}

/* ---- what is found ---- */

static void test_finds(unsigned ranks)
{
    struct sim s;
    struct drive_report r;
    const struct session_entry *k;

    sim_init(&s, 3);
    s.ranks = ranks;
    is_int(sim_start(&s, false), 0, "%u ranks", ranks);
    run_steps(&s, 0);
    run_steps(&s, 500);
    sim_end(&s, 0, &r);
    k = entry(&r, "loader.workers");
    ok(k && k->outcome == SESSION_ADOPTED && s.workers >= 11, "%d workers are kept", s.workers);
    ok(k && k->effect.low > 0 && k->effect.high < 5, "the last one for %+.2f to %+.2f",
       k->effect.low, k->effect.high);
    ok(drive_steps_per_s(&r.after) > 7 * drive_steps_per_s(&r.before), "%.1f steps/s, then %.1f",
       drive_steps_per_s(&r.before), drive_steps_per_s(&r.after));
    ok(fabs(drive_samples_per_s(&r.after) / drive_steps_per_s(&r.after) - 16 * ranks) < 0.01,
       "samples are those of all ranks");
    ok(r.before.resident_b == 1e9 && r.after.resident_b > 2e9, "memory before and after");
    ok(r.before.pss_b == 0.5e9 && r.after.pss_b > 0.6e9 && r.after.pss_b < 1e9,
       "and what is shared counted once");
    ok(isnan(r.after.device_b), "of no devices");
    is_int((long long)r.ranks, ranks, "all were steered");
    ok(strstr(s.said, "trying loader.workers=") && strstr(s.said, "times as fast"), "it is told");
    ok(strstr(s.said, "2 of ") && strstr(s.said, "trials changed something: no setting is left"),
       "and how it ended");
    sim_done(&s);
}

/* Four workers that do not keep up: most steps wait for nothing, and one in four for all. */
/* Steps become some seven times as fast; what a worker draws decides what that costs. */
static void test_goal(struct goal g, double worker_watts, bool pays, const char *name)
{
    struct sim s;
    struct drive_report r;
    const struct session_entry *k;
    double watts, gain;

    sim_init(&s, 5);
    s.goal = g;
    s.watts = 300;
    s.worker_watts = worker_watts;
    is_int(sim_start(&s, false), 0, "%s, %.0f W a worker", name, worker_watts);
    run_steps(&s, 0);
    run_steps(&s, 500);
    sim_end(&s, 0, &r);
    k = entry(&r, "loader.workers");
    ok(k && (k->outcome == SESSION_ADOPTED) == pays, "workers are %s", pays ? "kept" : "not kept");
    is_int(s.workers > 0, pays, "and in force");
    watts = drive_watts(&r.before);
    ok(!g.gpus || fabs(watts - 300) < 1, "%.0f W before", watts);
    if (!k || !pays)
        goto out;
    gain = goal_price(&g, 1 / drive_steps_per_s(&r.before), watts) /
           goal_price(&g, 1 / drive_steps_per_s(&r.after), drive_watts(&r.after));
    ok(gain > 1.5, "a step costs a %.1fth of what it did", gain);
out:
    sim_done(&s);
}

static void test_goals(void)
{
    const struct goal energy = { .kind = GOAL_ENERGY, .gpus = true };
    const struct goal hours = { .kind = GOAL_COST, .price_hour = 4 };
    const struct goal both = { GOAL_COST, 0.1, 0.3, true, false };
    const struct run_moment none = { .seconds = 1 };

    test_goal(energy, 10, true, "energy");
    test_goal(energy, 1000, false, "energy");
    test_goal(hours, 1000, true, "the price of an hour");
    test_goal(both, 10, true, "the price of hours and energy");
    test_goal(both, 1000, false, "the price of hours and energy");
    ok(goal_price(&energy, 2, 300) == 600, "joules");
    ok(fabs(goal_price(&both, 3600, 1000) - 0.4) < 1e-12, "an hour, and a kWh in it");
    ok(goal_price(&hours, 900, (double)NAN) == 1, "without power a quarter of an hour");
    ok(isnan(goal_watts(&energy, &none)) && isnan(goal_watts(&hours, &none)), "no power is none");
    ok(!goal_needs_power(&hours) && goal_needs_power(&both) && goal_needs_power(&energy),
       "who wants the power");
}

static void test_bursts(void)
{
    struct sim s;
    struct drive_report r;
    const struct session_entry *k;

    sim_init(&s, 5);
    s.workers = 4;
    is_int(sim_start(&s, false), 0, "a job with four workers");
    note(&s, 0, "loader.workers=4");
    run_steps(&s, 0);
    sim_end(&s, 0, &r);
    k = entry(&r, "loader.workers");
    ok(k && k->outcome == SESSION_ADOPTED && s.workers >= 10, "gets %d", s.workers);
    ok(k && k->effect.gain > 1.1 && k->effect.gain < 2.2, "for what they gain in the mean: %.2f",
       k ? k->effect.gain : 0);
    sim_done(&s);
}

static void test_nothing(void)
{
    struct sim s;
    struct drive_report r;

    sim_init(&s, 1);
    s.fetch_s = 0.0001;
    is_int(sim_start(&s, false), 0, "a job that only computes");
    run_steps(&s, 0);
    sim_end(&s, 0, &r);
    ok(r.session->phase == PHASE_OVER && s.requests == 0, "is not touched");
    ok(strstr(s.said, "nothing worth changing: no setting"), "and it is said: %s", s.said);
    sim_done(&s);
}

/* ---- what needs a restart ---- */

static const char declared[] = "[knob.readers]\nflag = --readers\nvalues = 2, 4, 8\n";

static void declare(struct sim *s)
{
    if (knobs_declare(&s->knobs, "j", declared, sizeof(declared) - 1, NULL) < 0)
        abort();
}

static bool is_to_end(const struct sim *s)
{
    return drive_pilot(s->drive)->over(s->drive);
}

static void test_race(void)
{
    struct sim s;
    struct drive_report r;

    sim_init(&s, 3);
    declare(&s);
    s.may_restart = 12;
    is_int(sim_start(&s, false), 0, "a job that may be started again");
    run_steps(&s, 20);
    ok(!is_to_end(&s), "is not ended before it is judged");
    run_steps(&s, 100);
    ok(is_to_end(&s) && s.requests == 0, "and then at once, with nothing tried");
    sim_end(&s, 0, &r);
    ok(r.race && r.race->count == 2, "for as many settings as starts decide on");
    ok(entry(&r, "readers") && entry(&r, "readers")->outcome == SESSION_LEFT,
       "others are written down");
    ok(r.start_s > 0.5 && r.start_s < 2 && r.step_s > 0.1 && r.step_s < 0.3,
       "it had taken %.2f s to its first steps, and %.3f for one", r.start_s, r.step_s);
    ok(strstr(s.said, "2 settings worth a trial take effect with a restart"), "it is told");
    sim_done(&s);
}

/* What larger batches cost in learning shows later than short runs end. */
static void test_larger_batches(void)
{
    static const char text[] = "[knob.batch.rows]\nflag = --rows\nvalues = 32, 64\n";
    struct sim s;
    struct drive_report r;

    sim_init(&s, 3);
    is_int(knobs_declare(&s.knobs, "j", text, sizeof(text) - 1, NULL), 0, "a knob of the batch");
    s.may_restart = 12;
    is_int(sim_start(&s, false), 0, "a job that may be started again");
    run_steps(&s, 500);
    ok(!is_to_end(&s), "is not ended for larger batches");
    sim_end(&s, 0, &r);
    ok(entry(&r, "batch.rows") && strstr(entry(&r, "batch.rows")->note, "makes batches larger"),
       "which are named: %s", entry(&r, "batch.rows") ? entry(&r, "batch.rows")->note : "");
    sim_done(&s);
}

/* Why there is no race, and what is said then. */
static void test_no_race(void)
{
    static const struct {
        const char *what, *note;
        unsigned restarts, observe;
        bool saves;
    } all[] = {
        { "without the user's word", "--restarts 12 would try it", 0, 0, false },
        { "after a checkpoint", "has written a checkpoint", 12, 0, true },
        { "after a minute and 200 steps", "has run for too long", 12, 400, false },
    };

    for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
        struct sim s;
        struct drive_report r;

        sim_init(&s, 3);
        declare(&s);
        s.may_restart = all[i].restarts;
        s.observe = all[i].observe;
        s.saves = all[i].saves;
        is_int(sim_start(&s, false), 0, "%s", all[i].what);
        run_steps(&s, 500);
        ok(!is_to_end(&s) && s.requests > 0, "the job is not ended, but tuned as it runs");
        sim_end(&s, 0, &r);
        ok(!r.race && entry(&r, "readers") && strstr(entry(&r, "readers")->note, all[i].note),
           "readers: %s", entry(&r, "readers") ? entry(&r, "readers")->note : "");
        sim_done(&s);
    }
}

static void test_past(void)
{
    struct drive_past past = { .n = 2, .heats = 9, .before = { 100, 20, 1600, 1e9 } };
    struct sim s;
    struct drive_report r;

    past.entries[0] = (struct session_entry){ .knob = "readers",
                                              .value = "4",
                                              .outcome = SESSION_ADOPTED,
                                              .effect = { 0.5, 0.4, 0.6 },
                                              .starts = 3,
                                              .steps = 120 };
    past.entries[1] = (struct session_entry){ .knob = "readers",
                                              .value = "8",
                                              .outcome = SESSION_REJECTED,
                                              .effect = { (double)NAN, -1, 1 } };
    sim_init(&s, 3);
    declare(&s);
    s.may_restart = 12;
    s.past = &past;
    is_int(sim_start(&s, false), 0, "a job that was started for good");
    run_steps(&s, 0);
    run_steps(&s, 3000);
    ok(!is_to_end(&s), "is not ended again");
    sim_end(&s, 0, &r);
    ok(s.workers >= 8 && entry(&r, "loader.workers"), "and tuned as it runs");
    is_str(r.session->entries[0].value, "4", "what was found before comes first");
    ok(r.session->entries[0].outcome == SESSION_ADOPTED && r.session->entries[0].steps == 120,
       "as it was found, and not taken back");
    ok(!strstr(s.said, "readers=4") && !strstr(s.said, "readers=8"), "it is not told again");
    ok(drive_steps_per_s(&r.before) == 5 && drive_steps_per_s(&r.after) > 20,
       "the job before is the one as it came");
    sim_done(&s);

    sim_init(&s, 1);
    declare(&s);
    s.fetch_s = 0.0001;
    s.past = &past;
    is_int(sim_start(&s, false), 0, "one that only computes then");
    run_steps(&s, 0);
    run_steps(&s, 6000);
    sim_end(&s, 0, &r);
    ok(r.session->entries[0].outcome == SESSION_ADOPTED && s.requests == 0,
       "has what was found; that is not compared while it runs");
    ok(strstr(s.said, "nothing else worth changing"), "and nothing else to change: %s", s.said);
    sim_done(&s);
}

/* ---- what goes wrong ---- */

static void test_refusals(void)
{
    for (int both = 0; both < 2; both++) {
        struct sim s;
        struct drive_report r;
        const struct session_entry *k;

        sim_init(&s, 2);
        s.ranks = 2;
        s.refuses[1] = true;
        s.refuses[0] = both;
        is_int(sim_start(&s, false), 0, "%s", both ? "both refuse" : "one of two refuses");
        run_steps(&s, 0);
        sim_end(&s, 0, &r);
        k = entry(&r, "loader.workers");
        ok(k && k->outcome == SESSION_BROKE && s.workers == 0, "none is changed");
        is_str(k ? k->note : "", "it is iterable", "the reason is told");
        is_str(r.session->reason, "no setting is left that promises enough", "all is well");
        is_int(s.requests, both ? 1 : 2, "what was done is asked back, and nothing else");
        sim_done(&s);
    }
}

static void test_silence(void)
{
    struct sim s;
    struct drive_report r;

    sim_init(&s, 2);
    s.silent = true;
    is_int(sim_start(&s, false), 0, "a job that does not listen");
    run_steps(&s, 0);
    sim_end(&s, 0, &r);
    is_str(r.session->reason, "the job does not listen to brim", "is left");
    sim_done(&s);

    sim_init(&s, 2);
    s.hangs = true;
    is_int(sim_start(&s, false), 0, "one that hangs");
    run_steps(&s, 0);
    sim_end(&s, 1, &r);
    ok(strstr(s.said, "the job has made no mark for 60 s"), "is told of");
    sim_done(&s);
}

static void test_death(void)
{
    struct sim s;
    struct drive_report r;
    const struct session_entry *k;

    sim_init(&s, 2);
    s.dies_at = 1;
    is_int(sim_start(&s, false), 0, "a job that dies");
    run_steps(&s, 5000);
    sim_end(&s, 3, &r);
    k = entry(&r, "loader.workers");
    ok(k && k->outcome == SESSION_BROKE, "blames the setting");
    is_str(k ? k->note : "", "the job died (exit status 3) while it was tried", "as it was");
    sim_done(&s);

    sim_init(&s, 2);
    is_int(sim_start(&s, false), 0, "a job that is interrupted");
    while (!s.requests)
        run_steps(&s, 1);
    run_steps(&s, 30);
    sim_end(&s, 130, &r);
    k = entry(&r, "loader.workers");
    ok(k && k->outcome == SESSION_UNDECIDED, "does not");
    sim_done(&s);
}

static void test_restart(void)
{
    struct sim s;
    struct drive_report r;

    sim_init(&s, 2);
    s.restarts_at = 20;
    is_int(sim_start(&s, false), 0, "processes that end before anything was tried");
    run_steps(&s, 0);
    sim_end(&s, 0, &r);
    ok(entry(&r, "loader.workers") && entry(&r, "loader.workers")->outcome == SESSION_ADOPTED,
       "have others optimised");
    sim_done(&s);

    sim_init(&s, 2);
    s.restarts_at = 90;
    is_int(sim_start(&s, false), 0, "in mid-trial");
    run_steps(&s, 1500);
    sim_end(&s, 0, &r);
    is_str(r.session->reason, "other processes go on with the job", "they end it");
    sim_done(&s);
}

/* ---- afterwards ---- */

static void test_guard(void)
{
    struct sim s;
    struct drive_report r;

    sim_init(&s, 2);
    is_int(sim_start(&s, false), 0, "what was kept");
    run_steps(&s, 0);
    ok(s.workers > 10, "is in force");
    s.decays_at = s.steps + 2000;
    run_steps(&s, 2000);
    ok(s.workers > 10 || s.requests > 0, "and compared now and then");
    run_steps(&s, 4000);
    sim_end(&s, 0, &r);
    ok(s.workers == 0 && entry(&r, "loader.workers")->outcome == SESSION_ROLLED_BACK &&
           r.session->entries[0].outcome == SESSION_ROLLED_BACK,
       "what stops paying goes, all of it");
    ok(strstr(s.said, "it did not last"), "and that is told");
    sim_done(&s);
}

static void test_stop(void)
{
    struct sim s;
    struct drive_report r;

    sim_init(&s, 2);
    is_int(sim_start(&s, false), 0, "the user stops it");
    while (!s.workers)
        run_steps(&s, 1);
    run_steps(&s, 20);
    drive_pilot(s.drive)->stop(s.drive);
    run_steps(&s, 200);
    sim_end(&s, 0, &r);
    ok(s.workers == 0 && r.session->phase == PHASE_OVER, "what was on trial is taken back");
    is_str(r.session->reason, "it was stopped", "why");
    sim_done(&s);
}

/* ---- numbers ---- */

static void test_numeric(void)
{
    for (int hurts = 0; hurts < 2; hurts++) {
        struct sim s;
        struct drive_report r;
        const struct session_entry *k;

        sim_init(&s, 4);
        s.fetch_s = 0.0001;
        s.gpu = s.losses = true;
        s.hurts = hurts;
        is_int(sim_start(&s, true), 0, "half precision that %s", hurts ? "hurts" : "helps");
        run_steps(&s, 0);
        run_steps(&s, 1000);
        sim_end(&s, 0, &r);
        k = entry(&r, "precision.autocast");
        ok(k && k->outcome == (hurts ? SESSION_BROKE : SESSION_ADOPTED) && s.half == !hurts,
           "is %s", k ? session_outcome_name(k->outcome) : "not tried");
        if (hurts)
            ok(k && strstr(k->note, "the loss"), "for %s", k ? k->note : "?");
        sim_done(&s);
    }
}

static void test_numeric_needs(void)
{
    struct sim s;
    struct drive_report r;
    const struct session_entry *k;

    sim_init(&s, 4);
    s.fetch_s = 0.0001;
    s.gpu = s.losses = true;
    is_int(sim_start(&s, false), 0, "without a word");
    run_steps(&s, 0);
    sim_end(&s, 0, &r);
    k = entry(&r, "precision.autocast");
    is_str(k ? k->note : "", "it changes numbers: --allow numeric", "it is left");
    ok(k && k->outcome == SESSION_LEFT && !s.half && !s.requests, "and not tried");
    sim_done(&s);

    sim_init(&s, 4);
    s.fetch_s = 0.0001;
    s.gpu = s.losses = true;
    is_int(sim_start(&s, true), 0, "without a loss");
    s.losses = false;
    run_steps(&s, 0);
    sim_end(&s, 0, &r);
    k = entry(&r, "precision.autocast");
    is_str(k ? k->note : "", "the job tells no loss that could be compared", "it is left, too");
    sim_done(&s);
}

/* ---- without memory ---- */

/* Whether so many workers are what was kept, or what was there. */
static bool is_kept(const struct drive_report *r, int workers)
{
    for (unsigned i = 0; i < r->session->n_entries && workers; i++)
        if (r->session->entries[i].outcome == SESSION_ADOPTED &&
            strtol(r->session->entries[i].value, NULL, 10) == workers)
            return true;
    return !workers;
}

/* Each allocation of a whole session fails once: the job goes on, and has only what was kept. */
static void test_oom(void)
{
    int wrong = 0, rounds = 0;
    bool failed;

    oom_restart();
    do {
        struct sim s;
        struct drive_report r;

        sim_init(&s, 3);
        oom_next();
        if (sim_start(&s, false) == 0) {
            run_steps(&s, 700);
            drive_pilot(s.drive)->stop(s.drive);
            run_steps(&s, 600);
            sim_end(&s, 0, &r);
            wrong += !is_kept(&r, s.workers);
        }
        failed = oom_end();
        rounds++;
        sim_done(&s);
        oom_at += oom_at / 16; /* all of the first ones, then some */
    } while (failed);
    ok(wrong == 0, "%d of %d allocations that failed left something behind", wrong, rounds);
}

int main(void)
{
    test_finds(1);
    test_finds(2);
    test_goals();
    test_bursts();
    test_nothing();
    test_race();
    test_larger_batches();
    test_no_race();
    test_past();
    test_refusals();
    test_silence();
    test_death();
    test_restart();
    test_guard();
    test_stop();
    test_numeric();
    test_numeric_needs();
    test_oom();
    return done();
}
