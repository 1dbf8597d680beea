#include "queue/job/sensor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/parse.h"
#include "probe/gpu/gpu_sample.h"
#include "probe/samplers.h"
#include "queue/job/fds.h"

_Static_assert(sizeof(struct queue_sensed) <= 4096, "a pipe takes it whole or not at all");

/* ---- what rows say ---- */

/* The number at the end of a name: "0", "fake3"; -1. */
static int number_of(const char *name)
{
    uint64_t value;
    size_t len = strcspn(name, "0123456789");

    return parse_u64(name + len, &value) == 0 && value < QUEUE_SENSED ? (int)value : -1;
}

static bool is_of(const struct queue_slot *slot, const struct signal_row *row)
{
    struct pci_address at;

    if (slot->has_pci && pci_address_parse(signal_fact(row, "pci"), &at) == 0)
        return pci_address_cmp(slot->pci, at) == 0;
    return number_of(row->thing) == slot->index;
}

/* NaN where it is not known. */
static double busy_of(const struct signal_row *row)
{
    double busy = row->values[GPU_BUSY], active = row->values[GPU_SM_ACTIVE];

    if (row->values[GPU_LOST] > 0)
        return (double)NAN;
    return fmax(busy, active); /* of a number and NaN that is the number */
}

/* How much of its memory is in use; NaN. */
static double memory_of(const struct signal_row *row)
{
    double used = row->values[GPU_MEMORY_USED], all = row->values[GPU_MEMORY_TOTAL];

    return row->values[GPU_LOST] > 0 || !(all > 0) ? (double)NAN : used / all;
}

static int16_t milli_of(double share)
{
    if (!(share >= 0))
        return -1;
    return (int16_t)lround(MIN(share, 1.0) * WORK_WHOLE);
}

void queue_sensor_map(const struct queue_pool *p, const struct tick *t, struct queue_sensed *ret)
{
    size_t n;
    const struct signal_row *rows = tick_set(t, gpu_set.name, &n);

    for (size_t i = 0; i < QUEUE_SENSED; i++)
        ret->milli[i] = ret->memory[i] = -1;
    for (size_t i = 0; i < MIN(p->n_slots, (size_t)QUEUE_SENSED); i++)
        for (size_t k = 0; k < n; k++)
            if (is_of(&p->slots[i], &rows[k])) {
                ret->milli[i] = milli_of(busy_of(&rows[k]));
                ret->memory[i] = milli_of(memory_of(&rows[k]));
                break;
            }
}

/* ---- the process ---- */

struct sensing {
    const struct queue_pool *pool;
    const char *fake;
    int64_t interval_ms;
    int out;
};

/* Whether somebody listens, after a while. */
static bool rest(const struct sensing *s)
{
    struct pollfd fd = { .fd = s->out };

    return poll(&fd, 1, (int)s->interval_ms) == 0;
}

static int sense(const struct sensing *s, struct err *e)
{
    static const char *const only[] = { "nvml", "amd", "intel", "dcmi", "fake", NULL };
    CLEANUP(closep) int root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CLEANUP(samplers_closep) struct samplers *samplers = NULL;
    const struct sampler_env env = { .root = root,
                                     .live = true,
                                     .fake = s->fake,
                                     .patience_ns = SAMPLER_PATIENCE_NS,
                                     .only = only };
    struct tick t = { .n_rows = 0 };
    struct queue_sensed now;
    int rc = root < 0 ? err_set(e, -errno, "/: %s", strerror(errno))
                      : samplers_open(&samplers, &env, e);

    while (rc == 0) {
        tick_begin(&t, clock_wall_ns(&clock_system), clock_monotonic_ns(&clock_system));
        if (samplers_sample(samplers, &t) < 0)
            rc = err_nomem(e);
        queue_sensor_map(s->pool, &t, &now);
        if (rc == 0 && (write(s->out, &now, sizeof(now)) < 0 || !rest(s)))
            break;
    }
    tick_done(&t);
    return rc;
}

static void become_sensor(struct sensing *s, pid_t engine)
{
    struct err e = { "" };
    sigset_t none;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    (void)prctl(PR_SET_NAME, "brim-sensor", 0, 0, 0);
    if (getppid() != engine || queue_fds_null(QUEUE_LOW_FDS - 1) < 0 ||
        dup2(s->out, QUEUE_LOW_FDS) < 0)
        _exit(1);
    s->out = QUEUE_LOW_FDS;
    queue_fds_close(QUEUE_LOW_FDS + 1);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGCHLD, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (sense(s, &e) < 0)
        log_error("%s", e.text);
    _exit(0);
}

int queue_sensor_start(const struct queue_pool *p, const char *fake, int64_t interval_ms)
{
    struct sensing s = { p, fake, interval_ms, -1 };
    pid_t engine = getpid(), pid;
    int ends[2];

    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
        return -errno;
    s.out = ends[1];
    pid = fork();
    if (pid == 0)
        become_sensor(&s, engine);
    close(ends[1]);
    if (pid > 0)
        return ends[0];
    close(ends[0]);
    return -EAGAIN;
}

int queue_sensor_read(int fd, struct queue_sensed *ret)
{
    bool any = false;
    ssize_t n;

    while ((n = read(fd, ret, sizeof(*ret))) == (ssize_t)sizeof(*ret))
        any = true;
    if (any)
        return 1;
    return n < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -EPIPE;
}
