/* What brim run, brim optimize and brim why print of made runs, whole: each outcome of a setting,
 * each goal, each end. Without cmd/common/load_run.c: there is no earlier run.
 *
 *     t_cmd_cards RUN OPTIMIZE WHY */
#include <math.h>

#include "cmd/common/load_run.h"
#include "cmd/optimize/card.h"
#include "cmd/run/card.h"
#include "cmd/why/card.h"
#include "golden.h"
#include "made_run.h"

enum { ROOM = 1 << 20 };

static const struct made mades[] = { { 8, 60, 0.4, false, false, NULL },
                                     { 1, 40, 0.25, true, false, NULL },
                                     { 1, 40, 0.4, false, true, NULL },
                                     { 2, 0, 0.4, false, false, NULL } };

int load_run_earlier(const struct run *r, struct run *out, struct err *e)
{
    (void)r;
    (void)e;
    *out = (struct run){ .id = NULL };
    return 0;
}

/* When steps began and ended in all. */
static void add_ends(struct run *r)
{
    for (size_t i = 0; i < r->n_ranks; i++)
        if (r->ranks[i].n_steps) {
            r->ranks[i].total.begin_ns = r->ranks[i].steps[0].begin_ns;
            r->ranks[i].total.end_ns = r->ranks[i].steps[r->ranks[i].n_steps - 1].end_ns;
        }
}

static void add_json(struct str *out, const struct run *r, const struct verdict *v)
{
    is_int(run_card_json(r, v, out), 0, "the card of run %s is JSON", r->id);
    str_add_char(out, '\n');
}

/* A job that had ended before the first look has used memory, and nobody knows how much. */
static void test_ended_before_a_look(void)
{
    const struct run_card_look look = { 100, false, false };
    CLEANUP(run_done) struct run r = { .id = NULL };
    CLEANUP(str_done) struct str out = STR_INIT(ROOM);

    made_run(&r, &mades[1]);
    for (size_t i = 0; i < r.n_moments; i++)
        r.moments[i].values[RUN_JOB_RESIDENT] = r.moments[i].values[RUN_JOB_PSS] = 0;
    is_int(run_card(&r, NULL, true, &look, &out), 0, "the card of a short run is printed");
    ok(r.n_moments > 0 && strstr(str_text(&out), "CPUs used") != NULL,
       "the card of a short run tells of its CPUs: %s", str_text(&out));
    ok(!strstr(str_text(&out), ", 0 B"), "memory that nobody saw is not told as 0 B");
}

static void test_run(const char *path)
{
    static const struct run_card_look looks[] = { { 100, false, false },
                                                  { 60, true, true },
                                                  { 30, true, false } };
    CLEANUP(str_done) struct str out = STR_INIT(ROOM);

    for (size_t i = 0; i < ARRAY_SIZE(mades); i++) {
        CLEANUP(run_done) struct run r = { .id = NULL };
        CLEANUP(verdict_done) struct verdict v = { .count = 0 };

        made_run(&r, &mades[i]);
        if (mades[i].steps)
            made_verdict(&v, &r, &mades[i]);
        add_ends(&r);
        r.end = (enum run_end)i;
        r.status = (int)i * 3;
        for (size_t k = 0; k < ARRAY_SIZE(looks); k++) {
            str_addf(&out, "== run %zu, %u columns\n", i, looks[k].columns);
            is_int(run_card(&r, v.count ? &v : NULL, k == 0, &looks[k], &out), 0,
                   "run %zu has a card of %u columns", i, looks[k].columns);
        }
        add_json(&out, &r, v.count ? &v : NULL);
    }
    golden(path, str_text(&out));
}

static void add_entry(struct session *s, const char *knob, enum session_outcome outcome,
                      double gain, const char *note)
{
    unsigned n = s->n_entries++;
    struct session_entry *k = &s->entries[n];

    *k = (struct session_entry){ .outcome = outcome,
                                 .effect = { gain, gain - 0.02, gain + 0.03 },
                                 .memory_b = n % 2 ? 1.5e9 : -2e8,
                                 .device_b = n % 3 ? (double)NAN : 3e8,
                                 .speed = n % 2 ? 0.04 : (double)NAN,
                                 .steps = 100 + 7 * n,
                                 .starts = n % 4 == 3 ? 4 : n == 6,
                                 .at_step = n % 2 ? 300 + n : 0,
                                 .at_s = 12.5 };
    snprintf(k->knob, sizeof(k->knob), "%s", knob);
    snprintf(k->value, sizeof(k->value), "%u", 8 + n);
    snprintf(k->before, sizeof(k->before), "%s", n % 5 == 4 ? "" : "2");
    snprintf(k->also, sizeof(k->also), "%s", n % 4 == 1 ? "loader.persistent" : "");
    snprintf(k->why, sizeof(k->why),
             "2 loader workers cannot hide reads of 30 ms a request from nvme0n1, and there are %u "
             "CPUs that nobody uses",
             n);
    snprintf(k->note, sizeof(k->note), "%s", note);
}

static void fill_session(struct session *s, enum session_goal goal)
{
    session_init(s, NULL);
    s->plan.goal = goal;
    s->trials = 5;
    add_entry(s, "batch.size", SESSION_LEFT, (double)NAN, "it needs a word: --allow numeric");
    add_entry(s, "loader.workers", SESSION_ADOPTED, 0.31, "");
    add_entry(s, "loader.prefetch", SESSION_REJECTED, -0.04, "");
    add_entry(s, "threads.intra", SESSION_UNDECIDED, 0.011, "there was no time left");
    add_entry(s, "malloc.arenas", SESSION_ADOPTED, 1.2, "tried again");
    add_entry(s, "ddp.bucket", SESSION_BROKE, (double)NAN, "rank 2 did not answer for 30 s");
    add_entry(s, "cudnn.benchmark", SESSION_ROLLED_BACK, 0.08, "it did not last");
    add_entry(s, "disk.readahead", SESSION_LEFT, (double)NAN, "");
}

static const struct drive_stretch before = { 120, 48, 7680, 12e9, 9e9, 22e9, 14400, 48 };
static const struct drive_stretch stretches[] = {
    { 300, 91, 19200, 13e9, 9.5e9, 23e9, 30000, 91 },
    { 300, 50, 19200, 13e9, (double)NAN, (double)NAN, (double)NAN, 0 },
    { 0, 0, 0, (double)NAN, (double)NAN, (double)NAN, 0, 0 },
};

static void add_optimize(struct str *out, const struct run *r, const struct verdict *v,
                         enum session_goal goal, size_t i)
{
    static struct drive_past past;
    static struct session s;
    struct json j = JSON_INIT(out);
    struct drive_report report = { .ranks = 8,
                                   .steps = 4321,
                                   .session = &s,
                                   .goal = { goal, 12.5, 0.2, true, true },
                                   .remains = i < 2 ? v : NULL,
                                   .nothing = i == 3 ? "it computes 97 % of the step" : "",
                                   .before = before,
                                   .after = stretches[i % 3],
                                   .off = i == 3 ? "nobody answered" : NULL };
    const struct optimize_card card = { r, &report, i ? NULL : "/home/ana/p.ini",
                                        i ? NULL : "brim run --profile p -- train" };

    fill_session(&s, goal);
    past.heats = 6;
    report.past = i == 1 ? &past : NULL;
    if (i == 3) {
        session_init(&s, NULL);
        report.before.steps = 0;
    }
    s.reason = i == 2 ? "the budget of steps is used up" : NULL;
    str_addf(out, "== goal %d, case %zu\n", (int)goal, i);
    is_int(optimize_card(&card, i ? 72 : 110, out), 0, "goal %d has a card in case %zu", (int)goal,
           i);
    json_object(&j, NULL);
    optimize_card_json(&card, &j);
    json_end(&j);
    str_add_char(out, '\n');
}

/* Who could do something about what remains: of nothing that was tried. */
static void add_remains(struct str *out, const struct run *r, const struct verdict *v)
{
    static struct session s;
    const struct drive_report report = { .session = &s, .nothing = "", .remains = v };
    const struct optimize_card card = { r, &report, NULL, NULL };

    session_init(&s, NULL);
    str_addf(out, "== %s\n", cause_name(v->items[0].cause));
    is_int(optimize_card(&card, 90, out), 0, "what remains by %s has a card",
           cause_name(v->items[0].cause));
}

static void test_optimize(const char *path)
{
    CLEANUP(str_done) struct str out = STR_INIT(ROOM);
    CLEANUP(run_done) struct run r = { .id = NULL };
    CLEANUP(verdict_done) struct verdict v = { .count = 0 };

    made_run(&r, &mades[0]);
    made_verdict(&v, &r, &mades[0]);
    for (size_t i = 0; i < 4; i++)
        for (int goal = GOAL_THROUGHPUT; goal <= GOAL_COST; goal++)
            add_optimize(&out, &r, &v, (enum session_goal)goal, i);
    r.end = RUN_RUNNING; /* under an observer of another host */
    r.end_ns = 0;
    for (int cause = 0; cause < CAUSES; cause++) {
        v.items[0].cause = (enum cause)cause;
        v.items[0].action = cause % 2 ? "look at its GPU" : "brim optimize --restarts";
        add_remains(&out, &r, &v);
    }
    golden(path, str_text(&out));
}

/* A setting that was kept, one that was not, and one in which the job died. */
static struct run_trial trials[] = {
    { "loader.workers", "5", "0", "loader.persistent", NULL, RUN_TRIAL_ADOPTED, 3.8, 3.7, 3.9,
      (double)NAN, 725, 0, 2000000000, 5000000000 },
    { "loader.prefetch", "4", "2", NULL, NULL, RUN_TRIAL_REJECTED, -0.031, -0.04, -0.02,
      (double)NAN, 120, 0, 6000000000, 7000000000 },
    { "loader.workers", "9", "5", NULL, "the job died (signal 9) while it was tried",
      RUN_TRIAL_FAILED, (double)NAN, (double)NAN, (double)NAN, (double)NAN, 14, 0, 8000000000,
      9000000000 },
};

/* Runs that were optimized: gained, in vain, died in a trial, nothing tried. */
static void add_tuned(struct str *out)
{
    static const struct {
        size_t first, n;
    } cases[] = { { 0, 1 }, { 0, 2 }, { 1, 1 }, { 0, 3 }, { 2, 1 }, { 0, 0 } };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const struct run_tuning t = { .before = { 185, 1480, (double)NAN },
                                      .after = { 893, 7144, (double)NAN },
                                      .trials = trials + cases[i].first,
                                      .n_trials = cases[i].n };
        CLEANUP(run_done) struct run r = { .id = NULL };
        CLEANUP(verdict_done) struct verdict v = { .count = 0 };

        made_run(&r, &mades[0]);
        made_verdict(&v, &r, &mades[0]);
        r.tuning = &t;
        r.end = RUN_EXITED;
        v.stretch_s = i % 2 ? 0 : 12.5;
        str_addf(out, "== optimized %zu\n", i);
        why_card(&r, &v, NULL, false, 90, out);
        why_json(&r, &v, NULL, out);
        add_json(out, &r, &v);
    }
}

/* Of a job whose calls may not be read the card says why. */
static void add_without_lines(struct str *out)
{
    CLEANUP(run_done) struct run r = { .id = NULL };
    CLEANUP(verdict_done) struct verdict v = { .count = 0 };

    made_run(&r, &mades[0]);
    made_verdict(&v, &r, &mades[0]);
    v.lines_off = "the memory of process 77 may not be read";
    str_add(out, "== no lines\n");
    why_card(&r, &v, NULL, false, 90, out);
    why_json(&r, &v, NULL, out);
}

static void test_why(const char *path)
{
    static const struct why_live lives[] = {
        { 77, false, 60, 0.4, 0.9 },
        { 77, true, 20, 4.9, 0.9 },
        { 77, true, 20, 5, 1 },
        { 77, false, 60, 5, 1.001 },
        { 77, false, 60, 5.1, (double)NAN },
        { 77, false, 60, (double)NAN, (double)NAN },
        { 77, false, 60, 499.9, 100 },
        { 77, false, 60, 500, 100 },
    };
    CLEANUP(str_done) struct str out = STR_INIT(ROOM);

    for (size_t i = 0; i < ARRAY_SIZE(lives) + 4; i++) {
        CLEANUP(run_done) struct run r = { .id = NULL };
        CLEANUP(verdict_done) struct verdict v = { .count = 0 };
        const struct made *m = &mades[i % 3];
        const struct why_live *live = i < ARRAY_SIZE(lives) ? &lives[i] : NULL;

        made_run(&r, m);
        made_verdict(&v, &r, m);
        r.end = (enum run_end)(i % 4);
        r.status = (int)i;
        if (i == 2)
            r.id = NULL;
        str_addf(&out, "== case %zu\n", i);
        why_card(&r, &v, live, i % 2, (unsigned)(30 + 20 * i), &out);
        why_json(&r, &v, live, &out);
        str_add_char(&out, '\n');
    }
    add_tuned(&out);
    add_without_lines(&out);
    golden(path, str_text(&out));
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        printf("Bail out! RUN OPTIMIZE WHY\n");
        return 1;
    }
    test_ended_before_a_look();
    test_run(argv[1]);
    test_optimize(argv[2]);
    test_why(argv[3]);
    return done();
}
