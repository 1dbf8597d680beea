#include "run/watch/observe.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
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
#include "run/archive/retry.h"
#include "run/job/about.h"
#include "run/job/environ.h"
#include "run/job/facts.h"
#include "run/job/family.h"
#include "run/job/find_ranks.h"
#include "run/job/identity.h"
#include "run/job/launch.h"
#include "run/job/pss.h"
#include "run/job/sample_rate.h"
#include "run/job/sweep.h"
#include "run/meet/meeting.h"
#include "run/moment/moment.h"
#include "run/ring/ring_folder.h"
#include "run/ring/rings.h"
#include "run/watch/node.h"
#include "run/watch/series.h"
#include "run/watch/stacks.h"

#define GLANCE_NS (NS_PER_S / 10)
/* How often marks are read for a pilot, who has to see what came of a request. */
#define TURN_NS (NS_PER_S / 40)
/* A rest that is shorter makes rates of noise. */
#define REST_NS (NS_PER_S / 5)
#define INFER_NS (30 * NS_PER_S)
/* How often the lines that take the time are stored: at first after each doubling of their age. */
#define LINES_NS (10 * NS_PER_S)
/* From being asked to end to being killed; and for what is left behind then. */
#define GRACE_NS (10 * NS_PER_S)
#define CLEAN_NS (8 * NS_PER_S)

enum { CLEAN_TURN_MS = 20 };

struct observer {
    const struct observe_config *c;
    struct observed *out;
    struct identity identity;
    struct launch launch;
    int root, proc, timer;
    int stop;                /* a signalfd: the pilot shall stop; -1 */
    struct control *control; /* NULL: there is no pilot */
    struct meeting *meeting; /* with observers of other hosts; NULL: there is none */
    enum meeting_state met;  /* as the pilot was told */
    struct node *node;
    struct family *family;
    struct rings *rings;
    struct archive_retry keep;
    struct ring_folder folder;
    struct tick ticks[2];
    int now;
    int64_t begin_ns, due_ns, glance_ns, inferred_ns; /* monotonic */
    double reaped_s;                                  /* told to the family */
    char cgroup[SIGNAL_THING];
    struct series series;
    struct rank_steps inferred;
    struct find_ranks_watch kin; /* while no rank marks anything */
    struct sample_rate pace;
    bool calm;
    int64_t ending_ns; /* when the pilot had enough of the job; 0: it goes on */
    struct pss shared;
    bool told_io;
    uint64_t chance;
    unsigned tried;        /* version of what the pilot has tried that is stored */
    struct stacks *stacks; /* NULL: nobody looks at the job's calls */
    int64_t lines_ns;      /* when lines were stored last */
};

static void say(const struct observer *o, const char *sentence)
{
    o->c->say(o->c->arg, sentence);
}

bool observe_nested(char *const *env)
{
    const char *ring = environ_get(env, "BRIM_RING");

    return environ_get(env, "BRIM_RUN") && ring && access(ring, W_OK) == 0;
}

static void observer_done(struct observer *o)
{
    node_close(o->node);
    stacks_close(o->stacks);
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

/* ---- observers on other hosts ---- */

/* Why the pilot is not to ask the job for anything; NULL: it may. */
static const char *why_elsewhere(const struct observer *o, enum meeting_state met)
{
    bool others = o->identity.key[0] && o->identity.world > 1;

    if (met == MEETING_FOLLOWING)
        return "the ranks of this host are steered by the brim beside rank 0";
    if (met == MEETING_LEADING || (met == MEETING_SEEKS && o->meeting) || !others)
        return NULL;
    return "ranks of this job are under other observers, which can not be asked from here: start "
           "all of them below one brim optimize, or set BRIM_TOKEN to the same secret for all of "
           "them";
}

static void take_event(void *arg, const struct ring_event *e)
{
    const struct observer *o = arg;

    if (o->c->pilot)
        o->c->pilot->event(o->c->pilot->arg, e);
    if (o->meeting)
        meeting_event(o->meeting, e);
}

/* Without the others the job is observed as ever. */
static void meet(struct observer *o)
{
    const struct observe_pilot *p = o->c->pilot;
    struct meeting_config c = { .clock = o->c->clock,
                                .host = o->out->run.host,
                                .purpose = p ? 'o' : 'r',
                                .rings = o->rings,
                                .control = o->control,
                                .may = p ? p->may : NULL,
                                .may_arg = p ? p->arg : NULL,
                                .say = o->c->say,
                                .arg = o->c->arg };
    struct err why = { "" };

    if (!o->c->place || !o->c->key)
        return;
    c.place = *o->c->place;
    c.key = *o->c->key;
    if (meeting_open(&o->meeting, &c, &why) < 0 || meeting_turn(o->meeting) < 0)
        say(o, *why.text ? why.text : "out of memory: other hosts are not met");
}

/* One of all observers tells the user: who leads, and whoever it has not heard. */
static bool leads(const struct observer *o)
{
    if (o->meeting &&
        (meeting_state(o->meeting) == MEETING_LEADING || meeting_deserted(o->meeting)))
        return true;
    if (o->meeting && meeting_heard(o->meeting))
        return false;
    return !o->identity.key[0] || o->identity.rank <= 0;
}

/* ---- what is measured ---- */

/* Wake up at each period, and so that one ends when the next sample is due. */
static int set_timer(const struct observer *o, int64_t period_ns)
{
    const struct timespec every = { .tv_sec = (time_t)(period_ns / NS_PER_S),
                                    .tv_nsec = (long)(period_ns % NS_PER_S) };
    const int64_t left_ns = o->due_ns - clock_monotonic_ns(o->c->clock);
    const int64_t first_ns = o->due_ns - MAX(left_ns - 1, 0) / period_ns * period_ns;
    const struct itimerspec spec = { .it_interval = every,
                                     .it_value = { .tv_sec = (time_t)(first_ns / NS_PER_S),
                                                   .tv_nsec = (long)(first_ns % NS_PER_S) } };

    return timerfd_settime(o->timer, TFD_TIMER_ABSTIME, &spec, NULL) < 0 ? -errno : 0;
}

/* What is looked at and not counted would be seen at the same point of its rises and falls again
 * and again, where these keep time with us; from half of the interval to one and a half of it
 * all points are as likely. */
static int64_t next_interval(struct observer *o)
{
    const int64_t ns = o->c->interval_ns;

    if (!o->c->uneven)
        return ns;
    o->chance = o->chance * 6364136223846793005U + 1442695040888963407U;
    return ns / 2 + (int64_t)((double)ns * (double)(o->chance >> 40) / (double)(1U << 24));
}

static int64_t glance_period(const struct observer *o)
{
    if (o->c->pilot)
        return TURN_NS;
    return o->calm ? o->c->interval_ns : GLANCE_NS;
}

/* Look more often, or less so, from here on. */
static void keep_pace(struct observer *o, int64_t now_ns, double blocked)
{
    struct sample_rate_look look = { .now_ns = now_ns,
                                     .ranks = rings_count(o->rings),
                                     .marks = rings_marks(o->rings),
                                     .blocked = blocked,
                                     .next_s = clock_seconds(o->c->interval_ns) };
    bool calm;

    for (size_t i = 0; i < look.ranks; i++)
        look.waited_s += rings_lane(o->rings, i)->total.host_s[BRIM_STAGE_WAIT];
    calm = sample_rate_is_calm(&o->pace, &look) && !o->c->pilot && !o->meeting &&
           o->c->interval_ns > GLANCE_NS;
    if (calm == o->calm)
        return;
    o->calm = calm;
    (void)set_timer(o, glance_period(o));
}

static struct run_snapshot watched(const struct observer *o, int64_t now_ns)
{
    return (struct run_snapshot){
        .rings = o->rings,
        .run = &o->out->run,
        .now_ns = now_ns,
        .family = o->family,
        .asked = o->launch.asked,
        .far_s = o->meeting ? meeting_far_s(o->meeting) : 0,
    };
}

static void tell(const struct observer *o, int64_t now_ns)
{
    enum { TRYING = 320 };
    const struct observe_pilot *p = o->c->pilot;
    const struct run_snapshot now = watched(o, now_ns);
    char trying[TRYING] = "";

    if (!o->c->teller)
        return;
    if (p && p->tries)
        p->tries(p->arg, trying, sizeof(trying));
    o->c->teller->look(o->c->teller->arg, &now, str_text(&o->folder.path), trying);
}

/* What a pilot has tried is stored when it changes, so that it is there when we are killed. */
static void note_trials(struct observer *o, int64_t now_ns)
{
    const struct observe_pilot *p = o->c->pilot;
    unsigned version = o->tried;

    if (!p || !p->tried)
        return;
    o->out->run.tuning = p->tried(p->arg, &version);
    if (version != o->tried && archive_retry_about(&o->keep, &o->out->run, now_ns))
        o->tried = version;
}

/* Which lines take the time is stored now and then, for those who ask meanwhile and in case that we
 * are killed. */
static void note_lines(struct observer *o, int64_t now_ns)
{
    int64_t every_ns = MIN(LINES_NS, o->lines_ns - o->begin_ns);

    if (!o->stacks || now_ns - o->lines_ns < every_ns || !stacks_is_new(o->stacks))
        return;
    o->lines_ns = now_ns;
    (void)archive_retry_about(&o->keep, &o->out->run, now_ns);
}

/* Whose calls are looked at from here on. */
static void find_stacks(const struct observer *o)
{
    size_t n = 0;
    const pid_t *pids = rings_pids(o->rings, &n);

    if (o->stacks && n)
        stacks_of(o->stacks, o->family, pids, n);
    else if (o->stacks)
        stacks_of(o->stacks, o->family, o->kin.ranks, o->kin.n);
}

static int sample(struct observer *o, int64_t now_ns)
{
    struct tick *before = &o->ticks[o->now], *now = &o->ticks[!o->now];
    const char *gpus = environ_gpus(o->c->env);
    const struct moment_job job = { .cgroup = o->cgroup,
                                    .has_gpu = gpus ? environ_has_gpu : NULL,
                                    .arg = gpus };
    struct family_growth growth;
    struct run_moment m;
    const pid_t *pids;
    size_t n_pids;
    int rc;

    tick_begin(now, clock_wall_ns(o->c->clock), now_ns);
    rc = node_sample(o->node, now);
    if (rc < 0)
        return rc;
    family_reaped(o->family, o->launch.reaped_s - o->reaped_s);
    o->reaped_s = o->launch.reaped_s;
    pids = rings_pids(o->rings, &n_pids);
    if (n_pids)
        family_ranks(o->family, pids, n_pids);
    else
        family_ranks(o->family, o->kin.ranks, o->kin.n);
    rc = family_sample(o->family, &growth);
    if (rc < 0)
        return rc;
    if (growth.unreadable > 0 && !o->told_io) {
        o->told_io = true;
        say(o, "some of the job's processes belong to another user: what they read and write is "
               "not known");
    }
    keep_pace(o, now_ns, growth.blocked);
    o->now = !o->now;
    moment_make(before, now, &growth, &job, &m);
    if (!(m.seconds > 0))
        return 0;
    if (o->c->pilot && o->c->pilot->weighs && o->c->pilot->weighs(o->c->pilot->arg))
        pss_ask(&o->shared);
    m.values[RUN_JOB_PSS] = pss_look(&o->shared, o->proc, o->family, growth.resident_b,
                                     o->c->clock);
    if (!n_pids)
        find_ranks_look(&o->kin, o->proc, o->family, m.seconds);
    find_stacks(o);
    note_trials(o, now_ns);
    note_lines(o, now_ns);
    archive_retry_now(&o->keep, &m, o->rings, &o->inferred, now_ns);
    rc = archive_retry_in_memory(&o->out->run, &m);
    if (rc == 0)
        tell(o, now_ns);
    return rc;
}

/* Who leads may be found out late, or that nobody does. */
static int look_at_meeting(struct observer *o)
{
    const struct observe_pilot *p = o->c->pilot;
    int rc = o->meeting ? meeting_turn(o->meeting) : 0;
    enum meeting_state now = o->meeting ? meeting_state(o->meeting) : o->met;

    if (now != o->met && p)
        p->start(p->arg, o->control, why_elsewhere(o, now));
    o->met = now;
    return rc;
}

static int read_marks(struct observer *o, int64_t now_ns)
{
    const struct observe_pilot *p = o->c->pilot;
    const struct run_snapshot now = watched(o, now_ns);
    struct err why = { "" };
    int rc = rings_read(o->rings, &why);

    if (why.text[0])
        say(o, why.text);
    if (rc == 0)
        rc = look_at_meeting(o);
    if (rc == 0 && p)
        p->turn(p->arg, &now);
    return rc;
}

static int glance(struct observer *o, int64_t now_ns)
{
    struct family_glance g;
    int rc = read_marks(o, now_ns);

    /* With a pilot each fourth time, to the tenth of a second that series are made of. */
    if (rc < 0 || (o->c->pilot && now_ns < o->glance_ns))
        return rc;
    o->glance_ns += GLANCE_NS * ((now_ns - o->glance_ns) / GLANCE_NS + 1);
    family_look(o->family, &g, rings_count(o->rings) == 0);
    if (!rings_count(o->rings))
        series_add(&o->series, &g, now_ns);
    if (now_ns < o->due_ns)
        return 0;
    launch_tty(&o->launch);
    if (!rings_count(o->rings) && now_ns - o->inferred_ns >= INFER_NS) {
        o->inferred_ns = now_ns;
        rc = series_infer(&o->series, &o->inferred, now_ns);
    }
    while (o->due_ns <= now_ns)
        o->due_ns += next_interval(o);
    if (o->c->uneven && rc == 0)
        rc = set_timer(o, glance_period(o));
    return rc < 0 ? rc : sample(o, now_ns);
}

/* ---- from start to end ---- */

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

    rings_follow(o->rings, take_event, o);
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
        say(o, why.text);
    return rc;
}

/* Without memory the job's end is still waited for. */
static bool keep_on(const struct observer *o, int rc)
{
    if (rc == 0)
        return true;
    say(o, "out of memory: the job goes on without being watched");
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
            rc = look_at_meeting(o);
        due = read(o->timer, &ticks, sizeof(ticks)) == sizeof(ticks);
        if (rc == 0 && measures && due)
            rc = glance(o, clock_monotonic_ns(o->c->clock));
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
    char text[256];
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < rings_count(o->rings); i++)
        rc = rank_steps_to_run(rings_lane(o->rings, i), r);
    if (rc < 0 || rings_count(o->rings) || !o->inferred.count ||
        !series_say(&o->series, text, sizeof(text)))
        return rc;
    r->inferred = arena_strdup(&r->arena, text);
    r->inferred_confidence = o->series.confidence;
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
    say(o, text);
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
    o->out->leads = leads(o);
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
        rc = series_infer(&o->series, &o->inferred, now_ns);
    if (rc == 0 && (now_ns - o->ticks[o->now].monotonic_ns >= REST_NS || !r->n_moments))
        rc = sample(o, now_ns);
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
    meet(o);
    o->met = o->meeting ? meeting_state(o->meeting) : MEETING_OFF;
    if (o->c->pilot)
        o->c->pilot->start(o->c->pilot->arg, o->control, why_elsewhere(o, o->met));
    o->begin_ns = clock_monotonic_ns(o->c->clock);
    o->inferred_ns = o->begin_ns;
    o->glance_ns = o->begin_ns;
    o->chance = o->c->chance;
    o->due_ns = o->begin_ns + o->c->interval_ns;
    rc = set_timer(o, glance_period(o));
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
        say(o, "out of memory: the node is not watched");
    watch_calls(o);
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
        say(o, why.text);
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
        say(o, why.text);
    identify(o);
    o->out->leads = leads(o);
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
