/* What goes wrong behind a session that has ended: words about memory that are none, a job that
 * hangs while a setting is taken back, ranks that are out of reach. */
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
        test_hang(&s);
        test_parted(&s);
    }
    sim_done(&s);
    return done();
}
