/* Settings that need a restart: whether a job that runs is ended for a race of them, and what it is
 * told afterwards (sim_job.h). */
#include "sim_job.h"
#include "tap.h"

static const char declared[] = "[knob.readers]\nflag = --readers\nvalues = 2, 4, 8\n";

static void declare(struct sim *s)
{
    if (knobs_declare(&s->knobs, "j", declared, sizeof(declared) - 1, NULL) < 0)
        abort();
}

static void test_race(void)
{
    struct sim s;
    struct drive_report r;

    sim_init(&s, 3);
    declare(&s);
    s.may_restart = 12;
    is_int(sim_start(&s, false), 0, "the drive of a job that may be started again starts");
    sim_run(&s, 20);
    ok(!sim_is_to_end(&s), "a job that may be started again is not ended before it is judged");
    sim_run(&s, 100);
    ok(sim_is_to_end(&s) && s.requests == 0,
       "a job that may be started again is ended before any trial");
    sim_end(&s, 0, &r);
    ok(r.race && r.race->count == 2, "the race has as many settings as 12 starts decide on");
    ok(sim_entry(&r, "readers") && sim_entry(&r, "readers")->outcome == SESSION_LEFT,
       "a setting left out of the race has an entry");
    ok(r.start_s > 0.5 && r.start_s < 2 && r.step_s > 0.1 && r.step_s < 0.3,
       "the job took %.2f s to its first steps, and %.3f for one", r.start_s, r.step_s);
    ok(strstr(s.said, "2 settings worth a trial take effect with a restart"),
       "the report counts the settings that need a restart");
    sim_done(&s);
}

/* What larger batches cost in learning shows later than short runs end. */
static void test_larger_batches(void)
{
    static const char text[] = "[knob.batch.rows]\nflag = --rows\nvalues = 32, 64\n";
    struct sim s;
    struct drive_report r;

    sim_init(&s, 3);
    is_int(knobs_declare(&s.knobs, "j", text, sizeof(text) - 1, NULL), 0,
           "a job's knob of larger batches is declared");
    s.may_restart = 12;
    is_int(sim_start(&s, false), 0, "the drive of a job with larger batches starts");
    sim_run(&s, 500);
    ok(!sim_is_to_end(&s), "a job is not ended for larger batches");
    sim_end(&s, 0, &r);
    ok(sim_entry(&r, "batch.rows") &&
           strstr(sim_entry(&r, "batch.rows")->note, "makes batches larger"),
       "the note of the knob names larger batches: %s",
       sim_entry(&r, "batch.rows") ? sim_entry(&r, "batch.rows")->note : "");
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
        is_int(sim_start(&s, false), 0, "the drive starts where there is no race: %s", all[i].what);
        sim_run(&s, 500);
        ok(!sim_is_to_end(&s) && s.requests > 0, "the job is not ended, but tuned as it runs: %s",
           all[i].what);
        sim_end(&s, 0, &r);
        ok(!r.race && sim_entry(&r, "readers") &&
               strstr(sim_entry(&r, "readers")->note, all[i].note),
           "the note of readers says why there is no race: %s",
           sim_entry(&r, "readers") ? sim_entry(&r, "readers")->note : "");
        sim_done(&s);
    }
}

static void test_past(void)
{
    struct drive_past past = { .n = 2, .heats = 9, .before = { 100, 20, 1600, 1e9 } };
    struct sim s;
    struct drive_report r;
    unsigned unnamed = 0;

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
    is_int(sim_start(&s, false), 0, "the drive of a job with a past race starts");
    sim_run(&s, 0);
    sim_run(&s, 3000);
    ok(!sim_is_to_end(&s), "a job with a past race is not ended again");
    sim_end(&s, 0, &r);
    ok(s.workers >= 8 && sim_entry(&r, "loader.workers"),
       "a job with a past race is tuned as it runs");
    is_str(r.session->entries[0].value, "4", "the past race's winner is the first entry");
    ok(r.session->entries[0].outcome == SESSION_ADOPTED && r.session->entries[0].steps == 120,
       "the past race's winner stays adopted with its steps");
    for (unsigned i = 0; i < r.session->n_entries; i++)
        unnamed += !*r.session->entries[i].knob;
    is_int(unnamed, 0, "each entry of a session has a knob's name");
    ok(!strstr(s.said, "readers=4") && !strstr(s.said, "readers=8"),
       "the report tells nothing of the past race again");
    ok(drive_steps_per_s(&r.before) == 5 && drive_steps_per_s(&r.after) > 20,
       "the rates before are those before the past race");
    sim_done(&s);

    sim_init(&s, 1);
    declare(&s);
    s.fetch_s = 0.0001;
    s.past = &past;
    is_int(sim_start(&s, false), 0,
           "the drive of a job that only computes after a past race starts");
    sim_run(&s, 0);
    sim_run(&s, 6000);
    sim_end(&s, 0, &r);
    ok(r.session->entries[0].outcome == SESSION_ADOPTED && s.requests == 0,
       "the past race's winner is not compared while the job runs");
    ok(strstr(s.said, "nothing else worth changing"),
       "the report says that nothing else is worth changing: %s", s.said);
    sim_done(&s);
}

int main(void)
{
    test_race();
    test_larger_batches();
    test_no_race();
    test_past();
    return done();
}
