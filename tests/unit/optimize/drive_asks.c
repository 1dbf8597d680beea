/* What a drive asks of a job and of the machine, and what it writes down of trials. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "brim/control.h"
#include "optimize/drive/drive_private.h"
#include "sim_job.h"
#include "tap.h"

#define S NS_PER_S
#define WORKERS "loader.workers"
#define HALF "precision.autocast"

/* Requests: their text, the step for which they are, and what goes back where a rank is cut off. */
static void test_requests(struct sim *s)
{
    static const char only_shim[] = "only jobs with brim's shim can change it while they run";
    static const char lost[] =
        "marks of a rank were lost, so that ranks can not be told to change at the same step";
    static const struct {
        const char *knob, *value, *also, *before;
        size_t members;
        double step_s, far_s;
        bool lost;
        uint64_t at_step;
        const char *text, *then; /* then: what goes back; without a text why nothing is asked */
    } cases[] = {
        { WORKERS, "4", NULL, NULL, 1, 0.1, 0, false, 0, "loader.workers=4", "" },
        { WORKERS, "4", NULL, "2", 2, 0.1, 0, false, 0, "loader.workers=4", "loader.workers=2" },
        { WORKERS, "4", NULL, "", 2, 0.1, 0, true, 0, "loader.workers=4", "" },
        { WORKERS, "4", "yes", NULL, 1, 1, 0, true, 0, "loader.persistent=yes;loader.workers=4",
          "" },
        { WORKERS, "4", NULL, NULL, 2, 0.125, 0.25, false, 18, "loader.workers=4", "" },
        { WORKERS, "4", NULL, NULL, 2, 0.1, 0.2, true, 0, "loader.workers=4", "" },
        { WORKERS, "4", NULL, NULL, 1, 0.1, 0.2, false, 0, "loader.workers=4", "" },
        { HALF, "bf16", NULL, "none", 2, 0.0195, 0, false, 18, "autocast=bf16", "" },
        { HALF, "bf16", NULL, NULL, 2, 0, 0, false, 13, "autocast=bf16", "" },
        { HALF, "bf16", NULL, NULL, 2, 1e-6, 0, false, 1013, "autocast=bf16", "" },
        { HALF, "bf16", NULL, NULL, 1, 0.1, 0, true, 0, "autocast=bf16", "" },
        { HALF, "bf16", NULL, NULL, 2, 0.1, 0, true, 0, NULL, lost },
        { "malloc.arenas", "2", NULL, NULL, 1, 0.1, 0, false, 0, NULL, only_shim },
        { "no.knob", "2", NULL, NULL, 1, 0.1, 0, false, 0, NULL, only_shim },
    };
    struct drive *d = s->drive;

    d->join.ranks[0].in = true;
    d->join.ranks[0].newest = 10;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const struct drive_wish wish = { cases[i].knob, cases[i].value,
                                         cases[i].also ? "loader.persistent" : NULL, cases[i].also,
                                         cases[i].before };
        const uint64_t before = s->control->number;
        const char *why = "";
        bool asked;

        d->join.members = cases[i].members;
        d->step_s = cases[i].step_s;
        d->w.far_s = cases[i].far_s;
        d->w.now_ns = (int64_t)(i + 1) * S;
        d->lost = cases[i].lost;
        d->asked = false;
        d->order = (struct job_request){ .open = false };
        d->back[0] = '\0';
        asked = drive_request(d, &wish, i % 2, &why);
        ok(asked == !!cases[i].text && d->asked == asked && d->order.open == asked,
           "request %zu is made or is not", i);
        is_str(d->back, asked ? cases[i].then : "", "request %zu goes back to its value before", i);
        if (!asked) {
            is_str(why, cases[i].then, "request %zu says why it is not made", i);
            is_int((long long)s->control->number, (long long)before, "no other request is made");
            continue;
        }
        is_str(s->control->text, cases[i].text, "request %zu has its text", i);
        is_int((long long)s->control->at_step, (long long)cases[i].at_step,
               "request %zu is for its step", i);
        ok(d->order.number == s->control->number && d->order.number == before + 1 &&
               d->order.apply == i % 2,
           "request %zu waits for its answer", i);
        ok(d->asked_ns == d->w.now_ns && d->marks_ns == d->w.now_ns,
           "request %zu has the time at which it was made", i);
    }
    snprintf(d->back, sizeof(d->back), "loader.workers=2");
    d->session.entries[0] = (struct session_entry){ .knob = "k", .outcome = SESSION_ADOPTED };
    d->session.n_entries = 1;
    drive_kept(d);
    is_str(d->back, "", "a setting that is kept does not go back");
    snprintf(d->back, sizeof(d->back), "loader.workers=2");
    d->session.entries[0].outcome = SESSION_ROLLED_BACK;
    drive_kept(d);
    is_str(d->back, "loader.workers=2", "one setting less leaves what goes back");
    d->control = NULL;
    ok(!drive_request(d, &(const struct drive_wish){ WORKERS, "4", NULL, NULL, NULL }, true,
                      &(const char *){ NULL }),
       "a job that nobody reaches is asked for nothing");
}

/* ---- the machine ---- */

struct machine {
    bool denies;
    unsigned sets;
    char value[KNOB_VALUE_MAX];
};

static bool now(void *arg, const char *target, char *value)
{
    const struct machine *m = arg;

    snprintf(value, KNOB_VALUE_MAX, "%s", m->value);
    return !strcmp(target, "power.limit");
}

static bool set(void *arg, const char *target, const char *value, char *why)
{
    struct machine *m = arg;

    m->sets++;
    snprintf(why, SESSION_TEXT, "%s is for root alone", target);
    if (!m->denies)
        snprintf(m->value, sizeof(m->value), "%s", value);
    return !m->denies;
}

/* A limit of power is on trial; the machine sets it, denies it, or is not to be asked. */
static void test_machine(const struct sim *s)
{
    static const char *const notes[] = { "", "power.limit is for root alone",
                                         "it needs an operator: --allow privileged" };

    for (int i = 0; i < 3; i++) {
        struct machine box = { .denies = i == 1, .value = "700" };
        struct drive_machine machine = { now, set, &box };
        struct drive_config c = s->drive->c;
        struct session *all;
        struct drive *d;

        c.machine = i == 2 ? NULL : &machine;
        if (drive_new(&d, &c) < 0)
            abort();
        d->state = DRIVE_RUNS;
        d->w.now_ns = 9 * S;
        all = &d->session;
        all->phase = PHASE_CANARY;
        all->trials = all->n_offers = 1;
        all->switching = all->switching_to = true;
        all->offers[0] = (struct session_offer){ .knob = "power.limit",
                                                 .value = "500",
                                                 .before = "700" };
        drive_obey(d, (struct session_command){
                          .what = SESSION_APPLY, .knob = "power.limit", .value = "500" });
        is_int((long long)box.sets, i < 2, "case %d: the machine is asked once at most", i);
        is_str(box.value, i ? "700" : "500", "case %d: the machine has its limit", i);
        ok(!d->unheard && d->asked == !i && d->settle == (i ? 0 : 2),
           "case %d: a limit that was set begins a new stretch", i);
        ok(i ? all->phase == PHASE_OVER && d->state == DRIVE_AFTER : all->in_force,
           "case %d: a limit is on trial or was given up", i);
        is_str(all->n_entries ? all->entries[0].note : "", notes[i],
               "case %d: an entry says why there is no limit", i);
        ok(!i || strstr(s->said, "0 of 1 trials changed something"),
           "case %d: what came of it is told", i);
        drive_free(d);
    }
}

/* Of a job that has ended nothing is asked; a session that asks is judged later. */
static void test_obey(const struct sim *s)
{
    for (int i = 0; i < 3; i++) {
        struct machine box = { .value = "700" };
        struct drive_machine machine = { now, set, &box };
        struct drive_config c = s->drive->c;
        struct drive *d;

        c.machine = &machine;
        if (drive_new(&d, &c) < 0)
            abort();
        d->state = DRIVE_RUNS;
        d->w.now_ns = 9 * S;
        d->ended = i == 1;
        d->gone = i == 2;
        drive_obey(d, (struct session_command){
                          .what = SESSION_APPLY, .knob = "power.limit", .value = "500" });
        is_int((long long)box.sets, !i, "case %d: a job that goes on has its limit set", i);
        drive_obey(d, (struct session_command){ .what = SESSION_ASK });
        ok(d->asking && d->asking_ns == 9 * S, "case %d: a session asks from now on", i);
        drive_free(d);
    }
}

/* What the machine has set is noted with each rank. */
static void test_notes(const struct sim *s)
{
    struct machine box = { .value = "700" };
    struct drive_machine machine = { now, set, &box };
    CLEANUP(run_done) struct run r = { .id = NULL };
    struct drive_config c = s->drive->c;
    struct drive *d;

    for (int i = 0; i < 2; i++) {
        struct run_rank *rank = ARENA_PUSH(&r.arena, &r.ranks, &r.n_ranks);

        if (!rank)
            abort();
        *rank = (struct run_rank){ .rank = i };
    }
    c.machine = NULL;
    if (drive_new(&d, &c) < 0)
        abort();
    ok(drive_add_machine(d, &r) == 0 && !r.ranks[0].n_notes, "without a machine nothing is noted");
    d->c.machine = &machine;
    is_int(drive_add_machine(d, &r), 0, "drive_add_machine ends well");
    for (int i = 0; i < 2; i++)
        ok(r.ranks[i].n_notes == 1 && !strcmp(r.ranks[i].notes[0].name, "power.limit") &&
               !strcmp(r.ranks[i].notes[0].value, "700"),
           "rank %d has the limit in its notes", i);
    ok(drive_is_machine(d, "power.limit") && !drive_is_machine(d, "loader.workers") &&
           !drive_is_machine(d, "no.knob"),
       "a limit of power is the machine's, workers are not");
    drive_free(d);
}

/* ---- what is written down ---- */

static void test_entries(const struct sim *s)
{
    struct drive *d;
    struct session *all;

    if (drive_new(&d, &s->drive->c) < 0)
        abort();
    all = &d->session;
    d->state = DRIVE_RUNS;
    d->first_ns = 10 * S;
    d->w.now_ns = 20 * S;
    d->steps = 40;
    d->did.did[0] = true;
    d->power.pace[0] = d->power.pace[1] = (struct drive_pace){ 4, 2 };
    all->trials = 1;
    drive_progress(d);
    ok(d->begun == 40 && d->begun_ns == 20 * S, "a trial has the step and the time of its begin");
    ok(!d->did.did[0] && !(d->power.pace[0].steps > 0) && !(d->power.pace[1].seconds > 0),
       "a new trial has nothing of the one before");
    d->w.now_ns = 30 * S;
    d->steps = 100;
    d->power.pace[0] = (struct drive_pace){ 4, 2 };
    d->power.pace[1] = (struct drive_pace){ 3, 1 };
    all->entries[0] = (struct session_entry){ .knob = "l", .outcome = SESSION_LEFT };
    all->entries[1] = (struct session_entry){ .knob = "k", .outcome = SESSION_ADOPTED };
    all->entries[2] = (struct session_entry){ .knob = "j", .outcome = SESSION_REJECTED };
    all->n_entries = 3;
    drive_progress(d);
    ok(!all->entries[0].at_step && !all->entries[0].end_ns, "a setting that was left has no time");
    ok(all->entries[1].steps == 60 && all->entries[1].at_step == 100 &&
           fabs(all->entries[1].at_s - 20) < 1e-9 && fabs(all->entries[1].speed - 0.5) < 1e-9,
       "an entry has its steps, its time and its speed");
    ok(all->entries[1].begin_ns == 20 * S && all->entries[1].end_ns == 30 * S,
       "an entry has the stretch of its trial");
    ok(!all->entries[2].begin_ns && !all->entries[2].end_ns, "one trial is that of one entry");
    d->w.now_ns = 50 * S;
    drive_progress(d);
    ok(all->entries[1].end_ns == 30 * S, "an entry that holds ends once");
    all->entries[1].outcome = SESSION_ROLLED_BACK;
    all->entries[2].outcome = SESSION_BROKE;
    drive_progress(d);
    ok(all->entries[1].end_ns == 50 * S && !all->entries[2].end_ns,
       "an entry that did not hold ends when that is seen");
    is_int(d->record.told, 4, "each line that is told makes a new version");
    drive_free(d);
}

int main(void)
{
    struct sim s;

    sim_init(&s, 2);
    is_int(sim_start(&s, false), 0, "the drive of a job starts");
    test_machine(&s);
    test_obey(&s);
    test_notes(&s);
    test_entries(&s);
    test_requests(&s);
    sim_done(&s);
    return done();
}
