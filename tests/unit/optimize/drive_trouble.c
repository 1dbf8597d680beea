/* What goes wrong behind a session that has ended: words about memory that are none, a job that
 * hangs while a setting is taken back, ranks that are out of reach. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "optimize/drive/drive_private.h"
#include "sim_job.h"
#include "tap.h"

/* The entry of workers that were kept; NULL. */
static struct session_entry *kept(const struct sim *s)
{
    struct session_entry *found = NULL;

    for (unsigned i = 0; i < s->drive->session.n_entries; i++) {
        struct session_entry *k = &s->drive->session.entries[i];

        if (k->outcome == SESSION_ADOPTED && !strcmp(k->knob, "loader.workers"))
            found = k;
    }
    return found;
}

static void test_words(struct sim *s)
{
    static const char *const none[] = {
        "loaders 1: workers 4, prefetch 2 in force, for memory ran low with 12 workers",
        "a loader 1: workers 4, prefetch 2 in force, for memory ran low with 12 workers",
        "loader 1: workers four, for memory ran low with 12 workers",
        "loader 1: prefetch 4 in force, for memory ran low with 12 workers",
        "loader 1: workers 4, prefetch 2 in force",
        "memory ran low with 12 workers",
    };
    char value[KNOB_VALUE_MAX];

    snprintf(value, sizeof(value), "%s", kept(s) ? kept(s)->value : "none");
    for (size_t i = 0; i < ARRAY_SIZE(none); i++) {
        sim_note(s, 0, none[i]);
        sim_run(s, 20);
        is_str(kept(s) ? kept(s)->value : "none", value, "'%s' takes no workers back", none[i]);
    }
    sim_note(s, 0, "loader 1: workers 99, for memory ran low with 100 workers");
    sim_run(s, 20);
    is_str(kept(s) ? kept(s)->value : "none", value, "fewer workers than are left stay");
}

/* Workers that were kept become those that memory carries, or what was there before. */
static void test_fewer(struct sim *s, struct session_entry *k)
{
    static const struct {
        const char *value, *before, *now; /* now: NULL where the setting is rolled back */
    } cases[] = {
        { "12", "2", "4" },  { "12", "3", "4" }, { "12", "4", NULL },
        { "12", "5", NULL }, { "5", "0", "4" },  { "4", "0", "4" },
    };
    struct session *all = &s->drive->session;

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const struct session_entry was = *k;
        unsigned n = all->n_entries;
        char word[80];

        for (unsigned e = 0; e < n; e++) /* it alone is kept */
            if (&all->entries[e] != k && !strcmp(all->entries[e].knob, "loader.workers"))
                all->entries[e].outcome = SESSION_REJECTED;
        snprintf(k->value, sizeof(k->value), "%s", cases[i].value);
        snprintf(k->before, sizeof(k->before), "%s", cases[i].before);
        snprintf(word, sizeof(word),
                 "loader %zu: workers 4, for memory ran low with 12 workers: so", i);
        sim_note(s, 0, word);
        sim_run(s, 20);
        if (cases[i].now)
            ok(k->outcome == SESSION_ADOPTED && !strcmp(k->value, cases[i].now),
               "of %s workers after %s those stay that memory carries: %s", cases[i].value,
               cases[i].before, k->value);
        else
            ok(k->outcome == SESSION_ROLLED_BACK && k->refused &&
                   !strcmp(k->note, "memory ran low with 12 workers: so"),
               "%s workers after %s are rolled back", cases[i].value, cases[i].before);
        is_int(s->drive->workers, 4, "the job has the workers that are left");
        *k = was;
        all->n_entries = n;
    }
}

/* A job that was killed when memory was full has had too many workers. */
static void test_killed(const struct sim *s, struct session_entry *k)
{
    static const struct {
        double group, of_group, free, of_all; /* in the last moment; 0: not known */
        int status;
        enum run_end end;
        bool refused;
        const char *what;
    } cases[] = {
        { 90, 100, 50, 100, 9, RUN_KILLED, true, "a full group" },
        { 89, 100, 50, 100, 9, RUN_KILLED, false, "a group with room" },
        { 0, 0, 5, 100, 9, RUN_KILLED, true, "a full machine" },
        { 0, 0, 6, 100, 9, RUN_KILLED, false, "a machine with room" },
        { 90, 100, 5, 100, 15, RUN_KILLED, false, "another signal" },
        { 90, 100, 5, 100, 137, RUN_EXITED, true, "the status of a shell whose child was killed" },
        { 90, 100, 5, 100, 9, RUN_EXITED, false, "an exit status of 9" },
    };
    struct session *all = &s->drive->session;

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const struct session_entry was = *k;
        struct run_moment m = { .seconds = 1 };
        const struct run r = {
            .end = cases[i].end, .status = cases[i].status, .moments = &m, .n_moments = 1
        };

        for (int v = 0; v < RUN_SIGNALS; v++)
            m.values[v] = (double)NAN;
        if (cases[i].of_group > 0) {
            m.values[RUN_JOB_MEMORY] = cases[i].group;
            m.values[RUN_JOB_MEMORY_LIMIT] = cases[i].of_group;
        }
        m.values[RUN_MEMORY_AVAILABLE] = cases[i].free;
        m.values[RUN_MEMORY_TOTAL] = cases[i].of_all;
        k->refused = false;
        drive_refuse_at_end(s->drive, &r, all->n_entries);
        ok(k->refused == cases[i].refused, "%s at a job's end refuses workers or does not",
           cases[i].what);
        *k = was;
    }
    {
        const struct run r = { .end = RUN_KILLED, .status = 9 };

        k->refused = false;
        drive_refuse_at_end(s->drive, &r, all->n_entries);
        ok(!k->refused, "without a moment nothing is refused");
    }
}

/* After 60 s without a mark, or 100 steps where these take longer, nobody answers any more. */
static void test_hang(struct sim *s)
{
    static const struct {
        double step_s;
        int64_t limit_s;
    } cases[] = { { 0.1, 60 }, { 0.6, 60 }, { 0.61, 61 }, { 2, 200 } };
    struct drive *d = s->drive;
    const int64_t now_ns = d->w.now_ns;

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct session_entry *k = kept(s);
        char want[80];

        d->step_s = cases[i].step_s;
        d->marks_ns = now_ns;
        d->order.open = true;
        d->watch.on = true;
        d->watch.entry = (unsigned)(k - d->session.entries);
        d->w.now_ns = now_ns + cases[i].limit_s * NS_PER_S - 1;
        drive_look_for_trouble(d);
        ok(d->order.open && k->outcome == SESSION_ADOPTED,
           "within %d s a job with steps of %g s may answer", (int)cases[i].limit_s,
           cases[i].step_s);
        d->w.now_ns++;
        drive_look_for_trouble(d);
        ok(!d->order.open && !d->watch.on && k->outcome == SESSION_BROKE,
           "after %d s nobody waits for an answer any more", (int)cases[i].limit_s);
        snprintf(want, sizeof(want), "the job has made no mark for %d s", (int)cases[i].limit_s);
        is_str(k->note, want, "the setting has the reason");
        k->outcome = SESSION_ADOPTED;
    }
    d->marks_ns = now_ns;
    d->order.open = false;
    d->watch.on = true;
    d->w.now_ns = now_ns + 1000 * NS_PER_S;
    drive_look_for_trouble(d);
    ok(d->watch.on && kept(s), "a job that was asked for nothing may be silent");
    d->marks_ns = now_ns;
    d->marks++;
    drive_look_for_trouble(d);
    is_int(d->marks_ns, d->w.now_ns, "a new mark is a sign of life");
    d->watch.on = false;
    d->w.now_ns = now_ns;
}

static void test_parted(struct sim *s)
{
    struct drive *d = s->drive;

    d->order.open = true;
    d->back[0] = '\0';
    drive_part(d);
    ok(strstr(s->said, "settings stay as they are: ranks on another host are out of reach"),
       "settings that were kept stay where ranks are out of reach");
    ok(!strstr(s->said, "what was on trial is taken back"),
       "nothing is taken back without a trial");
    ok(d->state == DRIVE_OFF && !d->order.open, "nothing is asked any more");
    snprintf(d->back, sizeof(d->back), "loader.workers=1");
    drive_part(d);
    ok(strstr(s->said, "what was on trial is taken back: loader.workers=1"),
       "what was on trial is taken back");
    ok(!d->back[0], "what was taken back is not taken back again");
}

int main(void)
{
    struct sim s;

    sim_init(&s, 2);
    is_int(sim_start(&s, false), 0, "the drive of a job starts");
    sim_run(&s, 0);
    ok(kept(&s) && s.drive->state == DRIVE_AFTER, "the session of the job has ended");
    if (kept(&s)) {
        test_words(&s);
        test_fewer(&s, kept(&s));
        test_killed(&s, kept(&s));
        test_hang(&s);
        test_parted(&s);
    }
    sim_done(&s);
    return done();
}
