#include "sim_job.h"

#include <limits.h>
#include <stdbool.h>
#include <sys/mman.h>

#include "brim/control.h"
#include "brim/ring.h"
#include "knobs_ini.h"

enum { CAPACITY = 4096, TEXTS = 8192, TURN_NS = 25000000, STEPS_MOST = 60000 };
enum { RING_SIZE = BRIM_RING_HEADER_SIZE + TEXTS + CAPACITY * 32 };

static const int64_t second = 1000000000;

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
                                                         .t_ns = s->now_ns - s->behind_ns,
                                                         .kind = (uint16_t)kind,
                                                         .code = (uint16_t)code,
                                                         .extra = 7,
                                                         .value = value };
    h->head++;
}

void sim_note(struct sim *s, unsigned rank, const char *text)
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
    sim_note(s, rank, "loader.workers=0");
    if (s->losses)
        sim_note(s, rank, "process.torch=2.4.0");
}

/* ---- the job ---- */

static void answer(struct sim *s, unsigned rank, uint64_t number, int outcome, const char *why)
{
    char text[200];

    snprintf(text, sizeof(text), "switch.%llu=%s", (unsigned long long)number, why);
    if (*why)
        sim_note(s, rank, text);
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
    unsigned ranks = s->steps < s->late ? 1 : s->ranks;
    int64_t begin = s->now_ns;
    uint64_t bits;

    if (s->limit > 0)
        compute *= 1 + s->slows * (1 - s->limit / SIM_LIMIT_W);
    memcpy(&bits, &loss, sizeof(bits));
    for (unsigned r = 0; r < ranks; r++) {
        s->now_ns = begin;
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
    }
    s->steps++;
}

static bool is_weighed(const struct sim *s)
{
    const struct observe_pilot *p = drive_pilot(s->drive);

    if (s->once)
        return s->run.n_moments == 1;
    return s->rare ? s->run.n_moments == 2 || p->weighs(p->arg) : s->run.n_moments % 2;
}

/* As the meter of a device shows it just now. */
static double watts_now(const struct sim *s)
{
    double at = fmod((double)s->now_ns / 1e9 / s->wave_s + s->phase, 1);

    return (at < s->duty ? s->watts : s->low_watts) * (s->limit < SIM_LIMIT_W ? 1 - s->spares : 1);
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
    m->values[RUN_JOB_PSS] = is_weighed(s) ? 0.5e9 + 1e7 * s->workers : (double)NAN;
    m->values[RUN_GPU_WATTS] = s->watts > 0 ? s->watts + s->worker_watts * s->workers : (double)NAN;
    if (s->limit > 0 && m->values[RUN_GPU_WATTS] > s->limit)
        m->values[RUN_GPU_WATTS] = s->limit;
    if (s->wave_s > 0) {
        m->values[RUN_GPU_WATTS] = watts_now(s);
        s->next_ns = second / 2 + (int64_t)(noise_even(&s->noise) * 1e9);
    }
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
    const struct run_snapshot w = { .rings = s->rings, .run = &s->run, .now_ns = s->now_ns };

    s->turn_ns = s->now_ns;
    if (s->now_ns - s->moment_ns >= (s->next_ns ? s->next_ns : second))
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

void sim_run(struct sim *s, uint64_t more)
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

static bool limit_now(void *arg, const char *target, char *value)
{
    const struct sim *s = arg;

    if (!(s->limit > 0) || strcmp(target, "power.limit") != 0)
        return false;
    snprintf(value, 8, "%.0f", s->limit);
    return true;
}

static bool limit_set(void *arg, const char *target, const char *value, char *why)
{
    struct sim *s = arg;

    snprintf(why, SESSION_TEXT, "%s is for root alone", target);
    if (!s->denies)
        s->limit = strtod(value, NULL);
    return !s->denies;
}

void sim_init(struct sim *s, uint64_t seed)
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

int sim_start(struct sim *s, bool numeric)
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

    s->machine = (struct drive_machine){ limit_now, limit_set, s };
    c.machine = s->limit > 0 ? &s->machine : NULL;
    c.plan.privileged = s->limit > 0;
    c.plan.numeric = numeric;
    c.plan.observe = s->observe ? s->observe : c.plan.observe;
    c.restarts = s->may_restart;
    c.past = s->past;
    c.won = s->won;
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
    drive_pilot(s->drive)->start(s->drive, s->writer, NULL);
    return 0;
}

void sim_end(struct sim *s, int status, struct drive_report *ret)
{
    const struct observe_pilot *p = drive_pilot(s->drive);
    const struct run_snapshot w = { .rings = s->rings, .run = &s->run, .now_ns = s->now_ns };

    s->run.end = RUN_EXITED;
    s->run.status = status;
    s->blind = s->blind || rings_read(s->rings, NULL) < 0;
    p->end(p->arg, &w);
    drive_tell(s->drive, ret);
}

void sim_done(struct sim *s)
{
    drive_free(s->drive);
    control_close(s->writer);
    rings_close(s->rings);
    knobs_done(&s->knobs);
    run_done(&s->run);
    for (unsigned r = 0; r < SIM_RANKS; r++)
        if (s->map[r])
            munmap(s->map[r], RING_SIZE);
    folder_remove(s->root);
}

const struct session_entry *sim_entry(const struct drive_report *r, const char *knob)
{
    for (unsigned i = r->session->n_entries; i-- > 0;)
        if (!strcmp(r->session->entries[i].knob, knob))
            return &r->session->entries[i];
    return NULL;
}

bool sim_is_to_end(const struct sim *s)
{
    return drive_pilot(s->drive)->over(s->drive);
}
