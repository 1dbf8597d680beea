/* A job that does what its control file asks (brim/control.h): tuned_job STEPS FETCH_US COMPUTE_US.
 * A batch takes FETCH_US to be fetched, a step COMPUTE_US to be computed; "loader.workers=N" has N
 * batches fetched at a time, each taking turns. TUNED in the environment says how it behaves:
 *
 *     obey     does what it is asked (the default)
 *     dud      the same, and its steps take as long as ever
 *     worse    the same, and its steps take twice as long
 *     refuse   refuses, with a reason
 *     silent   never answers
 *     half     rank 1 refuses, the others obey
 *     die      exits with status 3 some steps after workers were asked for
 *     kill     the same with SIGKILL
 *     hurt     "autocast=bf16" makes steps twice as fast, and the loss grow
 *     help     the same, and the loss is as it was
 *     save     writes a checkpoint in step 20
 *     cut      cuts the control file off in step 5, and reads nothing more of it
 *     deaf     ends in order 5 steps after SIGTERM or SIGINT, with status 9
 *
 * "--readers N" behind the rest has N batches fetched at a time from the start. TUNED_START says
 * what a start is like: "fast" computes in half the time, "lie" the same with a loss that is far
 * higher, "crash" exits with status 3 after two steps, "slow" takes twice the time, "deny" tells
 * that it was refused.
 *
 * Its clock is its own (own_clock.h).
 *
 * Prints the steps it made, the seconds they took, the workers in force at the end, and those with
 * which it made most of its steps. */
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/parse.h"
#include "brim/control.h"
#include "brim/ring.h"
#include "brim/step.h"

#include "own_clock.h"

enum { LAST_STEPS = 40, WORKERS_MOST = 64 };

struct job {
    struct brim_step *s;
    const struct brim_control *control; /* NULL: nobody asks */
    const char *mode;
    bool rank_1, half; /* half: precision */
    uint64_t seq, fetch_us, compute_us, workers, readers, dies_at, step;
    const char *start;           /* TUNED_START */
    uint64_t made[WORKERS_MOST]; /* steps by workers */
};

static const struct brim_control *find_control(void)
{
    const char *folder = getenv("BRIM_RING");
    char path[PATH_MAX];
    void *map;
    int fd;

    if (!folder)
        return NULL;
    snprintf(path, sizeof(path), "%s/" BRIM_CONTROL_NAME, folder);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    map = mmap(NULL, BRIM_CONTROL_SIZE, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    return map == MAP_FAILED ? NULL : map;
}

static bool is(const struct job *j, const char *mode)
{
    return !strcmp(j->mode, mode);
}

static bool begins(const struct job *j, const char *start)
{
    return !strcmp(j->start, start);
}

static volatile sig_atomic_t asked;

static void take_signal(int number)
{
    asked = number;
}

static void answer(struct job *j, uint64_t number, enum brim_switch outcome, const char *why)
{
    char text[BRIM_RING_TEXT_MAX];

    snprintf(text, sizeof(text), "switch.%llu=%s", (unsigned long long)number, why ? why : "");
    if (why)
        brim_step_note(j->s, text);
    brim_step_mark(j->s, BRIM_RING_SWITCH | (uint32_t)outcome << 16, number);
}

static void carry_out(struct job *j, const struct brim_control *c)
{
    static const char workers[] = "loader.workers=", autocast[] = "autocast=";

    if (is(j, "refuse") || (is(j, "half") && j->rank_1)) {
        answer(j, c->number, BRIM_SWITCH_REFUSED, "its data set can not be forked");
        return;
    }
    if (!strncmp(c->text, autocast, sizeof(autocast) - 1)) {
        j->half = strcmp(c->text + sizeof(autocast) - 1, "none") != 0;
    } else if (strncmp(c->text, workers, sizeof(workers) - 1) != 0 ||
               parse_u64(c->text + sizeof(workers) - 1, &j->workers) < 0) {
        answer(j, c->number, BRIM_SWITCH_REFUSED, "this job has no such setting");
        return;
    }
    if ((is(j, "die") || is(j, "kill")) && j->workers && !j->dies_at)
        j->dies_at = j->step + LAST_STEPS;
    answer(j, c->number, BRIM_SWITCH_DONE, NULL);
}

static void cut(struct job *j)
{
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/" BRIM_CONTROL_NAME, getenv("BRIM_RING"));
    j->control = NULL;
    if (truncate(path, 0) < 0)
        perror(path);
}

/* At the end of a step. */
static void look(struct job *j)
{
    struct brim_control c;

    if (!j->control || is(j, "silent") ||
        __atomic_load_n(&j->control->seq, __ATOMIC_ACQUIRE) == j->seq)
        return;
    memcpy(&c, j->control, sizeof(c));
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (c.seq % 2 || __atomic_load_n(&j->control->seq, __ATOMIC_RELAXED) != c.seq ||
        j->step < c.at_step)
        return;
    j->seq = c.seq;
    carry_out(j, &c);
}

static void make_step(struct job *j)
{
    uint64_t compute_us = j->compute_us, step_us;

    if (j->half || begins(j, "fast") || begins(j, "lie"))
        compute_us /= 2;
    if (begins(j, "slow"))
        compute_us *= 2;
    if (j->workers && !is(j, "dud"))
        step_us = j->fetch_us / j->workers;
    else
        step_us = j->fetch_us + compute_us;
    if (j->workers && is(j, "worse"))
        step_us = 2 * (j->fetch_us + compute_us);
    if (j->readers)
        step_us = j->fetch_us / j->readers + compute_us;
    brim_step_begin(j->s);
    if (is(j, "save") && j->step == 20) {
        brim_stage_begin(j->s, BRIM_STAGE_CHECKPOINT);
        own_clock_sleep(1000);
        brim_stage_end(j->s, BRIM_STAGE_CHECKPOINT);
    }
    brim_stage_begin(j->s, BRIM_STAGE_WAIT);
    own_clock_sleep((int64_t)step_us - (int64_t)compute_us);
    brim_stage_end(j->s, BRIM_STAGE_WAIT);
    brim_stage_begin(j->s, BRIM_STAGE_FORWARD);
    own_clock_sleep((int64_t)compute_us);
    brim_stage_end(j->s, BRIM_STAGE_FORWARD);
    brim_step_samples(j->s, 8);
    if (is(j, "hurt") || is(j, "help") || is(j, "deaf"))
        brim_step_loss(j->s, 2 + 0.02 * sin((double)(j->step * 7919 % 1000)) +
                                 (j->half && is(j, "hurt") ? 0.5 : 0) +
                                 (begins(j, "lie") ? 0.5 : 0));
    brim_step_end(j->s);
    j->step++;
    j->made[MIN(j->workers, WORKERS_MOST - 1)]++;
}

static unsigned usual_workers(const struct job *j)
{
    unsigned most = 0;

    for (unsigned n = 1; n < WORKERS_MOST; n++)
        most = j->made[n] > j->made[most] ? n : most;
    return most;
}

int main(int argc, char **argv)
{
    struct job j = { .s = brim_step_open("tuned_job 1"), .mode = getenv("TUNED") };
    const char *rank = getenv("RANK");
    uint64_t steps = 0;
    int64_t first = brim_step_now();

    if ((argc != 4 && argc != 6) || parse_u64(argv[1], &steps) < 0 ||
        parse_u64(argv[2], &j.fetch_us) < 0 || parse_u64(argv[3], &j.compute_us) < 0)
        return 2;
    if (argc == 6 && (strcmp(argv[4], "--readers") != 0 || parse_u64(argv[5], &j.readers) < 0))
        return 2;
    j.mode = j.mode ? j.mode : "obey";
    j.start = getenv("TUNED_START");
    j.start = j.start ? j.start : "";
    if (is(&j, "deaf")) {
        signal(SIGTERM, take_signal);
        signal(SIGINT, take_signal);
    }
    if (begins(&j, "crash"))
        j.dies_at = 2;
    j.rank_1 = rank && !strcmp(rank, "1");
    j.control = find_control();
    brim_step_note(j.s, "loader.workers=0");
    if (begins(&j, "deny"))
        brim_step_note(j.s, "knob.start.refused=this job can not be started so");
    if (is(&j, "hurt") || is(&j, "help"))
        brim_step_note(j.s, "process.torch=2.4.0");
    while (j.step < steps && (!j.dies_at || j.step < j.dies_at)) {
        make_step(&j);
        if (j.control && is(&j, "cut") && j.step == 5)
            cut(&j);
        look(&j);
        if (asked && !j.dies_at)
            j.dies_at = j.step + 5;
    }
    if (j.dies_at && is(&j, "kill"))
        raise(SIGKILL);
    printf("%llu %.3f %llu %u\n", (unsigned long long)j.step,
           (double)(brim_step_now() - first) / 1e9, (unsigned long long)j.workers,
           usual_workers(&j));
    brim_step_close(j.s);
    return asked ? 9 : j.dies_at ? 3 : 0;
}
