#include "run/watch/observe.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "run/archive/archive.h"
#include "run/job/about.h"
#include "run/job/environ.h"
#include "run/job/facts.h"
#include "run/job/sweep.h"
#include "run/watch/observe_private.h"

/* A rest that is shorter makes rates of noise. */
#define REST_NS (NS_PER_S / 5)
/* From being asked to end to being killed; and for what is left behind then. */
#define GRACE_NS (10 * NS_PER_S)
#define CLEAN_NS (8 * NS_PER_S)

enum { CLEAN_TURN_MS = 20 };

bool observe_nested(char *const *env)
{
    const char *ring = environ_get(env, "BRIM_RING");

    return environ_get(env, "BRIM_RUN") && ring && access(ring, W_OK) == 0;
}

static void observer_done(struct observer *o)
{
    node_close(o->node);
    stacks_close(o->stacks);
    loop_watch_close(o->loops);
    family_close(o->family);
    if (o->meeting)
        meeting_close(o->meeting);
    rings_close(o->rings);
    control_close(o->control);
    archive_retry_done(&o->keep);
    ring_folder_done(&o->folder);
    tick_done(&o->ticks[0]);
    tick_done(&o->ticks[1]);
    rank_steps_done(&o->inferred);
    launch_done(&o->launch);
    closep(&o->root);
    closep(&o->proc);
    closep(&o->timer);
    closep(&o->stop);
}

static struct about about_of(const struct observer *o)
{
    return (struct about){ .id = o->identity.id,
                           .name = o->c->name,
                           .argv = o->c->argv,
                           .env = o->c->env,
                           .ring = str_text(&o->folder.path),
                           .plugins = o->c->plugins,
                           .libraries = o->c->libraries,
                           .root = o->root };
}

static int make_timer(struct observer *o, struct err *e)
{
    o->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (o->timer < 0)
        return err_set(e, -errno, "timer: %s", strerror(errno));
    return 0;
}

/* What a pilot needs. The signal is blocked before there are threads, and after launch_init() has
 * seen which signals the job shall have blocked. */
static int board(struct observer *o, struct err *e)
{
    sigset_t set;

    rings_follow(o->rings, observer_take_event, o);
    if (!o->c->pilot)
        return 0;
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN);
    if (sigprocmask(SIG_BLOCK, &set, NULL) == 0)
        o->stop = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    if (o->stop < 0)
        return err_set(e, -errno, "signals: %s", strerror(errno));
    return control_make(&o->control, str_text(&o->folder.path), e);
}

static int prepare(struct observer *o, struct err *e)
{
    const char *bases[4] = { "/dev/shm" };
    const char *runtime = environ_get(o->c->env, "XDG_RUNTIME_DIR");
    size_t n = 1;
    int rc;

    if (runtime && *runtime == '/')
        bases[n++] = runtime;
    bases[n] = "/tmp";
    o->root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    o->proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (o->root < 0 || o->proc < 0)
        return err_set(e, -errno, "/proc: %s", strerror(errno));
    rc = ring_folder_make(bases, &o->folder, e);
    if (rc == 0)
        rc = rings_open(&o->rings, str_text(&o->folder.path), e);
    if (rc == 0)
        rc = board(o, e);
    if (rc == 0)
        rc = family_open(&o->family, o->proc, true, getpid(), e);
    return rc == 0 ? make_timer(o, e) : rc;
}

static void take_stop(const struct observer *o)
{
    struct signalfd_siginfo s;

    if (o->stop >= 0 && read(o->stop, &s, sizeof(s)) == sizeof(s))
        o->c->pilot->stop(o->c->pilot->arg);
}

static bool is_over(const struct observer *o)
{
    const struct observe_pilot *p = o->c->pilot;

    return p && p->over && p->over(p->arg);
}

/* The pilot has enough of the job. Who was asked to end by the user is not asked again. */
static void end_job(struct observer *o, int64_t now_ns)
{
    const pid_t *pids;
    size_t n;

    if (!o->ending_ns) {
        o->ending_ns = now_ns;
        pids = rings_pids(o->rings, &n);
        if (!o->launch.asked)
            sweep_ask(o->family, o->launch.pid, pids, n);
    } else if (now_ns - o->ending_ns > GRACE_NS) {
        sweep_all(o->family, SIGKILL);
    }
}

/* What a job that was to end has left behind goes, too. */
static void clean_up(struct observer *o)
{
    int64_t begin_ns = clock_monotonic_ns(o->c->clock), spent_ns = 0;
    struct pollfd fd = { .fd = o->launch.signals, .events = POLLIN };
    bool asked = false;

    while (spent_ns < CLEAN_NS && sweep_all(o->family, 0)) {
        if (!asked || spent_ns > CLEAN_NS / 4)
            sweep_all(o->family, asked ? SIGKILL : SIGTERM);
        asked = true;
        (void)poll(&fd, 1, CLEAN_TURN_MS);
        launch_signals(&o->launch);
        spent_ns = clock_monotonic_ns(o->c->clock) - begin_ns;
    }
}

/* Until the job's calls are to be looked at next, for poll(). */
static int wait_ms(const struct observer *o, bool measures)
{
    int64_t due_ns = o->stacks && measures ? stacks_due_ns(o->stacks) : INT64_MAX, left_ns;

    if (due_ns == INT64_MAX)
        return -1;
    left_ns = due_ns - clock_monotonic_ns(o->c->clock);
    return left_ns <= 0 ? 0 : (int)(left_ns / NS_PER_MS) + 1;
}

static int look_at_calls(const struct observer *o)
{
    struct err why = { "" };
    int rc;

    if (!o->stacks || stacks_due_ns(o->stacks) > clock_monotonic_ns(o->c->clock))
        return 0;
    rc = stacks_look(o->stacks, o->rings, &why);
    if (why.text[0])
        observer_say(o, why.text);
    return rc;
}

/* Without memory the job's end is still waited for. */
static bool keep_on(const struct observer *o, int rc)
{
    if (rc == 0)
        return true;
    observer_say(o, "out of memory: the job goes on without being watched");
    if (o->c->pilot) /* what is on trial must not stay */
        o->c->pilot->stop(o->c->pilot->arg);
    return false;
}

static void loop(struct observer *o)
{
    struct pollfd fds[] = { { .fd = o->launch.signals, .events = POLLIN },
                            { .fd = o->timer, .events = POLLIN },
                            { .fd = o->meeting ? meeting_fd(o->meeting) : -1, .events = POLLIN } };
    bool measures = true;

    while (!o->launch.ended) {
        uint64_t ticks;
        bool due;
        int rc;

        (void)poll(fds, ARRAY_SIZE(fds), wait_ms(o, measures));
        launch_signals(&o->launch);
        take_stop(o);
        if (o->launch.ended)
            continue;
        rc = measures ? look_at_calls(o) : 0;
        if (rc == 0 && measures && fds[2].revents)
            rc = observer_look_at_meeting(o);
        due = read(o->timer, &ticks, sizeof(ticks)) == sizeof(ticks);
        if (rc == 0 && measures && due)
            rc = observer_glance(o, clock_monotonic_ns(o->c->clock));
        measures = measures && keep_on(o, rc);
        if (!measures)
            fds[2].fd = -1; /* nobody looks at what has come */
        if (due && is_over(o))
            end_job(o, clock_monotonic_ns(o->c->clock));
    }
}

static int add_lanes(struct observer *o)
{
    struct run *r = &o->out->run;
    char text[512];
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < rings_count(o->rings); i++)
        rc = rank_steps_to_run(rings_lane(o->rings, i), r);
    if (rc < 0 || rings_count(o->rings) || !o->inferred.count)
        return rc;
    r->inferred_confidence = 1;
    if (!o->loops || !loop_watch_say(o->loops, text, sizeof(text))) {
        if (!series_say(&o->series, text, sizeof(text)))
            return 0;
        r->inferred_confidence = o->series.confidence;
    }
    r->inferred = arena_strdup(&r->arena, text);
    return r->inferred ? rank_steps_to_run(&o->inferred, r) : -ENOMEM;
}

/* Marks that were overwritten before they could be read: the steps around them are missing. */
static int tell_lost(struct observer *o)
{
    char text[128], number[32];

    if (!rings_lost(o->rings))
        return 0;
    snprintf(number, sizeof(number), "%llu", (unsigned long long)rings_lost(o->rings));
    snprintf(text, sizeof(text), "%s marks came too fast to be read: their steps are missing",
             number);
    observer_say(o, text);
    return facts_add(&o->out->run, "marks.lost", number);
}

/* The job has ended: what is left to be read and kept. */
static int finish(struct observer *o, struct err *e)
{
    int64_t now_ns = clock_monotonic_ns(o->c->clock);
    struct run *r = &o->out->run;
    int rc = rings_read(o->rings, NULL);

    if (rc == 0 && o->meeting)
        rc = meeting_end(o->meeting);
    o->out->leads = observer_leads(o);
    o->out->exit = launch_exit(&o->launch);
    r->end_ns = clock_wall_ns(o->c->clock);
    r->end = WIFSIGNALED(o->launch.status) ? RUN_KILLED : RUN_EXITED;
    r->status = r->end == RUN_KILLED ? WTERMSIG(o->launch.status) : WEXITSTATUS(o->launch.status);
    if (o->c->pilot)
        o->c->pilot->end(
            o->c->pilot->arg,
            &(const struct run_snapshot){
                .rings = o->rings, .run = r, .now_ns = now_ns, .asked = o->launch.asked });
    if (o->c->pilot && o->c->pilot->tried)
        r->tuning = o->c->pilot->tried(o->c->pilot->arg, &o->tried); /* stored with the end */
    if (is_over(o))
        clean_up(o);
    o->out->asked = o->launch.asked;
    if (rc == 0 && !rings_count(o->rings))
        rc = observer_infer(o, now_ns);
    if (rc == 0 && (now_ns - o->ticks[o->now].monotonic_ns >= REST_NS || !r->n_moments))
        rc = observer_sample(o, now_ns);
    if (rc == 0)
        archive_retry_now(&o->keep, NULL, o->rings, &o->inferred, now_ns);
    if (rc == 0)
        rc = add_lanes(o);
    if (rc == 0)
        rc = tell_lost(o);
    if (rc == 0 && o->ending_ns)
        rc = facts_add(r, "ended.by", "brim, to race settings");
    o->out->stored = archive_retry_end(&o->keep, r);
    return rc < 0 ? err_nomem(e) : 0;
}

/* Without memory for that the job goes on, and nobody looks at its calls. */
static void watch_calls(struct observer *o)
{
    struct run *r = &o->out->run;

    r->lines = arena_alloc(&r->arena, sizeof(*r->lines));
    if (r->lines &&
        stacks_open(&o->stacks, &(const struct stacks_config){ .proc = o->proc,
                                                               .first = o->launch.pid,
                                                               .to = r->lines,
                                                               .clock = o->c->clock,
                                                               .chance = o->c->chance }) < 0)
        o->stacks = NULL;
    o->lines_ns = o->begin_ns;
}

static int begin(struct observer *o, struct err *e)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    const struct about about = about_of(o);
    char **env = NULL;
    int rc = about_environment(&a, &about, &env);

    if (rc < 0)
        return err_nomem(e);
    observer_meet(o);
    o->met = o->meeting ? meeting_state(o->meeting) : MEETING_OFF;
    if (o->c->pilot)
        o->c->pilot->start(o->c->pilot->arg, o->control, observer_why_elsewhere(o, o->met));
    o->begin_ns = clock_monotonic_ns(o->c->clock);
    o->inferred_ns = o->begin_ns;
    o->glance_ns = o->begin_ns;
    o->chance = o->c->chance;
    o->due_ns = o->begin_ns + o->c->interval_ns;
    rc = observer_set_timer(o, observer_glance_period(o));
    if (rc < 0)
        return err_set(e, rc, "timer: %s", strerror(-rc));
    o->out->run.begin_ns = clock_wall_ns(o->c->clock);
    o->launch.cpus = o->c->cpus;
    o->launch.shared = o->c->shared;
    rc = launch_start(&o->launch, o->c->argv, env, e);
    if (rc != 0)
        return rc;
    o->out->started = true;
    tick_begin(&o->ticks[0], o->out->run.begin_ns, o->begin_ns);
    if (o->c->runs)
        archive_retry_begin(&o->keep, o->c->runs, &o->out->run, o->begin_ns);
    if (o->keep.archive)
        snprintf(o->out->folder, sizeof(o->out->folder), "%s", archive_folder(o->keep.archive));
    rc = node_open(&o->node, o->root, o->c->fake, NULL);
    if (rc < 0)
        observer_say(o, "out of memory: the node is not watched");
    watch_calls(o);
    if (loop_watch_open(&o->loops, o->c->clock) < 0)
        o->loops = NULL; /* as it is with calls */
    return 0;
}

static int add_notes(struct observer *o)
{
    int rc = 0;

    for (size_t i = 0; i < o->c->n_notes && rc == 0; i++)
        rc = facts_add(&o->out->run, o->c->notes[i].name, o->c->notes[i].value);
    return rc;
}

/* Which run this is. What cannot be written is said where the run's files are made; a name that is
 * not shared is said here. */
static void identify(struct observer *o)
{
    int64_t wall_ns = clock_wall_ns(o->c->clock);
    struct err why = { "" };
    int rc;

    identity_read(&o->identity, o->c->env, (int)getppid());
    identity_make(&o->identity, wall_ns, o->c->chance);
    if (!o->c->runs)
        return;
    rc = runs_make(o->c->runs, &why);
    if (rc == 0)
        rc = identity_claim(&o->identity, o->c->runs, wall_ns, o->c->chance, &why);
    if (rc == 0)
        rc = identity_share(&o->identity, o->c->runs, wall_ns, &why);
    if (rc < 0 && o->identity.key[0])
        observer_say(o, why.text);
}

static int observe_all(struct observer *o, struct err *e)
{
    struct about about;
    struct err why = { "" };
    int rc = launch_init(&o->launch, e);

    if (rc == 0)
        rc = prepare(o, e);
    if (rc < 0)
        return rc;
    if (ring_folder_lacks_room(&o->folder, &why))
        observer_say(o, why.text);
    identify(o);
    o->out->leads = observer_leads(o);
    about = about_of(o);
    if (about_run(&o->out->run, &about) < 0 || add_notes(o) < 0)
        return err_nomem(e);
    about_cgroup(o->proc, "self", o->cgroup);
    rc = begin(o, e);
    if (rc != 0 && o->c->runs)
        identity_release(&o->identity, o->c->runs);
    if (rc > 0) {
        o->out->exit = rc;
        return 0;
    }
    if (rc < 0)
        return rc;
    loop(o);
    return finish(o, e);
}

int observe(const struct observe_config *c, struct observed *ret, struct err *e)
{
    struct observer *o = calloc(1, sizeof(*o));
    int rc;

    *ret = (struct observed){ .exit = 1 };
    if (!o)
        return err_nomem(e);
    o->c = c;
    o->out = ret;
    o->keep = (struct archive_retry){ .say = c->say, .arg = c->arg };
    o->root = o->proc = o->timer = o->stop = -1;
    o->launch.signals = o->launch.tty = -1;
    o->folder = (struct ring_folder)RING_FOLDER_INIT;
    rank_steps_init(&o->inferred);
    rc = observe_all(o, e);
    observer_done(o);
    free(o);
    return rc;
}
