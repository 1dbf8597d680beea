/* What is measured of a job while it runs, how often, and what is stored of it. */
#include <errno.h>
#include <sys/timerfd.h>

#include "base/clock.h"
#include "run/job/environ.h"
#include "run/watch/observe_private.h"

#define GLANCE_NS (NS_PER_S / 10)
/* How often marks are read for a pilot, who has to see what came of a request. */
#define TURN_NS (NS_PER_S / 40)
#define INFER_NS (30 * NS_PER_S)
/* How often the lines that take the time are stored: at first after each doubling of their age. */
#define LINES_NS (10 * NS_PER_S)

int observer_set_timer(const struct observer *o, int64_t period_ns)
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

int64_t observer_glance_period(const struct observer *o)
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
    (void)observer_set_timer(o, observer_glance_period(o));
}

static struct run_snapshot watched(const struct observer *o, int64_t now_ns)
{
    return (struct run_snapshot){
        .rings = o->rings,
        .inferred = &o->inferred,
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

int observer_sample(struct observer *o, int64_t now_ns)
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
        observer_say(
            o, "some of the job's processes belong to another user: what they read and write is "
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

static int read_marks(struct observer *o, int64_t now_ns)
{
    const struct observe_pilot *p = o->c->pilot;
    const struct run_snapshot now = watched(o, now_ns);
    struct err why = { "" };
    int rc = rings_read(o->rings, &why);

    if (why.text[0])
        observer_say(o, why.text);
    if (rc == 0)
        rc = observer_look_at_meeting(o);
    if (rc == 0 && p)
        p->turn(p->arg, &now);
    return rc;
}

int observer_infer(struct observer *o, int64_t now_ns)
{
    o->inferred_ns = now_ns;
    if (o->loops && loop_watch_counts(o->loops))
        return 0;
    return series_infer(&o->series, &o->inferred, now_ns);
}

/* While nothing is marked. */
static int look_for_steps(struct observer *o, const struct family_glance *g, int64_t now_ns)
{
    pid_t first = o->kin.n ? o->kin.ranks[0] : o->launch.pid;

    series_add(&o->series, g, now_ns);
    return o->loops ? loop_watch_look(o->loops, first, o->series.what ? o->series.from_ns : 0,
                                      &o->inferred)
                    : 0;
}

int observer_glance(struct observer *o, int64_t now_ns)
{
    struct family_glance g;
    int rc = read_marks(o, now_ns);

    /* With a pilot each fourth time, to the tenth of a second that series are made of. */
    if (rc < 0 || (o->c->pilot && now_ns < o->glance_ns))
        return rc;
    o->glance_ns += GLANCE_NS * ((now_ns - o->glance_ns) / GLANCE_NS + 1);
    family_look(o->family, &g, rings_count(o->rings) == 0);
    if (!rings_count(o->rings))
        rc = look_for_steps(o, &g, now_ns);
    if (rc < 0 || now_ns < o->due_ns)
        return rc;
    launch_tty(&o->launch);
    if (!rings_count(o->rings) && now_ns - o->inferred_ns >= INFER_NS)
        rc = observer_infer(o, now_ns);
    while (o->due_ns <= now_ns)
        o->due_ns += next_interval(o);
    if (o->c->uneven && rc == 0)
        rc = observer_set_timer(o, observer_glance_period(o));
    return rc < 0 ? rc : observer_sample(o, now_ns);
}
