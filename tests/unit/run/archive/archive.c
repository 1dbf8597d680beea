/* Runs written and read back, allocations that fail, files that are broken. */
#include <errno.h>
#include <glob.h>
#include <math.h>
#include <sys/stat.h>

#include "oom.h"
#include "run/archive/archive.h"
#include "run/archive/archive_format.h"
#include "tap.h"

#define S ((int64_t)1000 * 1000 * 1000)

static char runs[64];

static struct step a_step(uint64_t n)
{
    struct step s = { .number = n,
                      .begin_ns = (int64_t)n * S,
                      .end_ns = (int64_t)(n + 1) * S,
                      .samples = 32,
                      .loss = (double)NAN };

    for (unsigned i = 0; i < BRIM_STAGES; i++)
        s.device_s[i] = (double)NAN;
    s.host_s[BRIM_STAGE_WAIT] = 0.25;
    s.host_s[BRIM_STAGE_FORWARD] = 0.75;
    return s;
}

static struct run a_run(struct run_note *notes)
{
    struct run r = { .id = "20261121-000000-0001",
                     .name = "na\"me\\ #1",
                     .command = "sh -c 'x; y'",
                     .folder = "/",
                     .user = "me",
                     .host = "node1",
                     .begin_ns = 1000 * S,
                     .environment = notes,
                     .n_environment = 1 };

    notes[0] = (struct run_note){ "env.X", "a=b # c" };
    return r;
}

static struct run_moment a_moment(int64_t i)
{
    struct run_moment m = { .wall_ns = (1000 + i) * S, .monotonic_ns = i * S, .seconds = 1 };

    for (int s = 0; s < RUN_SIGNALS; s++)
        m.values[s] = (double)NAN;
    m.values[RUN_JOB_CPU] = 1.5;
    return m;
}

/* A run with a rank of n steps and three moments. */
static int write_run(struct run *r, uint64_t n)
{
    CLEANUP(archive_closep) struct archive *a = NULL;
    struct rank_steps lane;
    int rc;

    rank_steps_init(&lane);
    lane.rank = 3;
    snprintf(lane.host, sizeof(lane.host), "node1");
    rc = archive_create(&a, runs, r, 0, NULL);
    if (rc == 0)
        rc = rank_steps_note(&lane, "loader.workers", "4");
    for (uint64_t i = 0; i < n && rc == 0; i++) {
        const struct step s = a_step(i);

        rc = rank_steps_step(&lane, &s);
        if (rc == 0 && (i % 777 == 0 || i + 1 == n))
            rc = archive_lane(a, 0, &lane, NULL);
    }
    for (int64_t i = 1; i <= 3 && rc == 0; i++) {
        const struct run_moment m = a_moment(i);

        rc = archive_moment(a, &m, NULL);
    }
    r->end = RUN_EXITED;
    r->status = 5;
    r->end_ns = 1003 * S;
    if (rc == 0)
        rc = archive_about(a, r, NULL);
    rank_steps_done(&lane);
    return rc;
}

static struct run_trial a_trial(enum run_trial_end end)
{
    return (struct run_trial){ .knob = "loader.workers",
                               .value = "5",
                               .end = end,
                               .gain = 3.8,
                               .low = -0.25,
                               .high = (double)NAN,
                               .speed = (double)NAN,
                               .steps = 725,
                               .begin_ns = 2 * S,
                               .end_ns = 3 * S };
}

static const char *folder(void)
{
    static const char id[] = "/20261121-000000-0001";
    static char path[128];

    snprintf(path, sizeof(path), "%s%s", runs, id);
    return path;
}

/* Observers of one job in two containers may have the same number and host name. */
static void test_two_of_a_name(void)
{
    CLEANUP(archive_closep) struct archive *one = NULL, *two = NULL;
    struct run_note notes[1];
    struct run r = a_run(notes), got = { .id = NULL };
    const struct run_moment m = a_moment(1), later = a_moment(2);
    struct err e = { "" };
    char path[256];
    struct stat st;
    glob_t found;

    is_int(archive_create(&one, runs, &r, 0, &e), 0, "a first observer has a part: %s", e.text);
    is_int(archive_moment(one, &m, &e), 0, "the first observer stores a moment");
    r.begin_ns += S;
    is_int(archive_create(&two, runs, &r, 0, &e), 0, "a second observer has a part: %s", e.text);
    is_int(archive_moment(two, &later, &e), 0, "the second observer stores a moment");
    is_int(run_load(folder(), &got, &e), 0, "a run of two observers is read: %s", e.text);
    run_done(&got);
    snprintf(path, sizeof(path), "%s/part-*.moments", folder());
    is_int(glob(path, 0, NULL, &found), 0, "parts of two observers are found");
    is_int((long long)found.gl_pathc, 2, "each observer has a part of its own");
    for (size_t i = 0; i < found.gl_pathc; i++)
        ok(stat(found.gl_pathv[i], &st) == 0 && (uint64_t)st.st_size > ARCHIVE_HEADER,
           "part %zu has a moment", i);
    globfree(&found);
    is_int(run_remove(folder(), NULL), 0, "the run of two observers is removed");
}

static void test_round_trip(uint64_t n)
{
    const uint64_t kept = n < 22000 ? n : 22000;
    struct run_note notes[1];
    struct run r = a_run(notes), got;
    struct err e = { "" };

    is_int(write_run(&r, n), 0, "%d steps are written", (int)n);
    is_int(run_load(folder(), &got, &e), 0, "run_load reads the run back: %s", e.text);
    is_str(got.name, r.name, "the run has its name");
    is_str(got.command, r.command, "the run has its command");
    is_int(got.end, RUN_EXITED, "the run has its end");
    is_int(got.status, 5, "the run has its exit status");
    is_int((long long)got.n_moments, 3, "the run has its three moments");
    ok(got.moments[2].values[RUN_JOB_CPU] == 1.5, "moments keep their values");
    ok(isnan(got.moments[2].values[RUN_GPUS]), "an absent value stays absent in a moment");
    is_str(got.environment[0].value, "a=b # c", "a note keeps its value");
    is_int((long long)got.n_ranks, 1, "the run has its one rank");
    is_int(got.ranks[0].rank, 3, "the rank has its number");
    is_int((long long)got.ranks[0].n_steps, (long long)kept, "steps that are kept");
    is_int((long long)got.ranks[0].dropped, (long long)(n - kept),
           "%d steps that are only summed are counted", (int)(n - kept));
    is_int((long long)got.ranks[0].total.number, (long long)n, "the total counts all steps");
    ok(fabs(got.ranks[0].total.host_s[BRIM_STAGE_WAIT] - 0.25 * (double)n) < 1e-6,
       "the total has the time that all steps waited");
    is_int((long long)got.ranks[0].steps[kept - 1].number, (long long)n - 1, "the last one");
    is_int((long long)got.ranks[0].steps[kept > 2000 ? 2000 : 0].number,
           n > 22000     ? (long long)n - 20000
           : kept > 2000 ? 2000
                         : 0,
           "the first step behind the gap is the right one");
    is_str(run_note(&got.ranks[0], "loader.workers"), "4", "the rank keeps its note");
    run_done(&got);
    is_int(run_remove(folder(), NULL), 0, "run_remove removes the run that was read");
}

/* Which lines took the time; rare ones are not stored, and a table without samples is none. */
static void test_lines(void)
{
    static struct lines lines;
    struct lines_entry load = { .stage = LINES_WORKER,
                                .at = { "Set.load", "/home/a na/\"data\".py", 33 },
                                .caller = { "Set.get", "/home/x.py", 12 },
                                .callee = "json.loads" };
    struct lines_entry rare = { .stage = LINES_WORKER, .at = { "f", "/x.py", 1 } };
    struct run_note notes[1];
    struct run r = a_run(notes), got;
    const struct lines *l;

    lines = (struct lines){ .n = 0 };
    r.lines = &lines;
    is_int(write_run(&r, 30), 0, "a run without samples is written");
    is_int(run_load(folder(), &got, NULL), 0, "a run without samples is read back");
    ok(!got.lines, "a run without samples has no lines");
    run_done(&got);
    is_int(run_remove(folder(), NULL), 0, "the run without samples is removed");
    for (int i = 0; i < 150; i++)
        lines_count(&lines, &load);
    lines_count(&lines, &rare);
    is_int(write_run(&r, 30), 0, "a run with lines is written");
    is_int(run_load(folder(), &got, NULL), 0, "a run with lines is read back");
    l = got.lines;
    ok(l && l->n == 1 && l->total[LINES_WORKER] == 151, "the run has its line, and all samples");
    if (!l || l->n != 1)
        return;
    is_str(l->entries[0].at.file, load.at.file, "the line has its file");
    is_str(l->entries[0].at.function, "Set.load", "the line has its function");
    is_str(l->entries[0].callee, "json.loads", "the line has what it called");
    is_str(l->entries[0].caller.function, "Set.get", "the line has the call around it");
    ok(l->entries[0].at.line == 33 && l->entries[0].caller.line == 12 && l->entries[0].count == 150,
       "the line has its numbers");
    run_done(&got);
    is_int(run_remove(folder(), NULL), 0, "the run with lines is removed");
    lines = (struct lines){ .off = "its memory may not be read" };
    is_int(write_run(&r, 3), 0, "a run whose calls may not be read is written");
    is_int(run_load(folder(), &got, NULL), 0, "a run whose calls may not be read is read back");
    is_str(got.lines ? got.lines->off : NULL, "its memory may not be read", "the run says why");
    run_done(&got);
    is_int(run_remove(folder(), NULL), 0, "the run whose calls may not be read is removed");
}

/* Sections that no version writes: what is broken is no line. */
static void test_broken_lines(void)
{
    static const char text[] =
        "[run]\nversion = 1\nid = x\nhost = n\n[lines]\nworker = many\nnight = 3\nother = 20\n"
        "[line]\nstage = night\nseen = 2\nfile = a\n[line]\nstage = other\nseen = 2\n"
        "[line]\nstage = other\nseen = -1\nfile = a\n[line]\nstage = other\nseen = 9\n"
        "file = a\nline = x\nnew = 1\n";
    struct archive_part part;
    struct run r = { .id = NULL };
    struct err e = { "" };

    is_int(archive_parse_about(text, sizeof(text) - 1, &r, &part, &e), 0,
           "a file with broken lines is read: %s", e.text);
    ok(r.lines && r.lines->n == 1 && r.lines->total[BRIM_STAGE_OTHER] == 20 &&
           r.lines->entries[0].at.line == 0,
       "the one line that has a stage, a file and samples is there");
    run_done(&r);
}

/* A run that was optimized, also while it goes on: so it is found when its observer is killed. */
static void test_trials(void)
{
    struct run_trial trials[2] = { a_trial(RUN_TRIAL_ADOPTED), a_trial(RUN_TRIAL_FAILED) };
    const struct run_tuning tuning = {
        RUN_GOAL_ENERGY, { 185, 1480, 3.5 }, { 893, (double)NAN, (double)NAN }, trials, 2
    };
    struct run_note notes[1];
    struct run r = a_run(notes), got;
    const struct run_trial *k;

    trials[0].before = "0";
    trials[0].also = "loader.persistent";
    trials[1].note = "it \"broke\" # here";
    trials[1].starts = 3;
    trials[1].end_ns = 0;
    r.tuning = &tuning;
    is_int(write_run(&r, 30), 0, "a run with trials is written");
    is_int(run_load(folder(), &got, NULL), 0, "a run with trials is read back");
    ok(got.tuning && got.tuning->n_trials == 2 && got.tuning->goal == RUN_GOAL_ENERGY,
       "the run has its two trials and their goal");
    if (!got.tuning || got.tuning->n_trials != 2)
        return;
    k = got.tuning->trials;
    is_str(k[0].knob, "loader.workers", "the first trial has its knob");
    is_str(k[0].value, "5", "the first trial has its value");
    is_str(k[0].before, "0", "the first trial has the value of before");
    is_str(k[0].also, "loader.persistent", "the first trial has what goes with it");
    ok(k[0].end == RUN_TRIAL_ADOPTED && k[1].end == RUN_TRIAL_FAILED, "trials keep their outcomes");
    ok(fabs(k[0].gain - 3.8) < 1e-9 && k[0].low == -0.25 && isnan(k[0].high) && isnan(k[0].speed),
       "a bound that was not known is absent when read back");
    ok(k[0].steps == 725 && k[0].begin_ns == 2 * S && k[0].end_ns == 3 * S && k[1].end_ns == 0,
       "trials keep their steps and times");
    ok(!k[1].before && !k[1].also && k[1].starts == 3, "what a trial does not have is not read");
    is_str(k[1].note, "it \"broke\" # here", "the trial that failed has its reason");
    ok(got.tuning->before.steps_per_s == 185 && got.tuning->before.samples_per_s == 1480 &&
           got.tuning->before.price == 3.5 && got.tuning->after.steps_per_s == 893 &&
           isnan(got.tuning->after.samples_per_s) && isnan(got.tuning->after.price),
       "rates before and after are read back");
    run_done(&got);
    is_int(run_remove(folder(), NULL), 0, "the run with trials is removed");
}

/* What is broken of it is left out, and the run is read. */
static void test_broken_trials(void)
{
    static const char text[] =
        "[run]\nversion = 1\nid = x\nhost = h\n[trial]\nvalue = 5\n[tuning]\n"
        "goal = speed\nnew = 1\n[tuning.after]\nsteps_per_s = nan\n[tuning.more]\n"
        "steps_per_s = 4\n[trial]\nknob = a\nvalue = b\nend = lost\ngain = x\n"
        "steps = -1\nbegin_ns = 9223372036854775807\nend_ns = -5\n[trial]\n";
    struct archive_part part;
    struct run r = { .id = NULL };
    const struct run_tuning *t;

    is_int(archive_parse_about(text, sizeof(text) - 1, &r, &part, NULL), 0,
           "a run with broken trials is read");
    t = r.tuning;
    ok(t && t->n_trials == 1 && t->goal == RUN_GOAL_THROUGHPUT && isnan(t->after.steps_per_s),
       "trials without a knob or a value are left out");
    ok(t && t->n_trials == 1 && t->trials[0].end == RUN_TRIAL_RUNS && isnan(t->trials[0].gain) &&
           !t->trials[0].steps && !t->trials[0].begin_ns && !t->trials[0].end_ns,
       "figures of a trial that can not be read are absent");
    run_done(&r);
}

static void test_oom(void)
{
    struct run_trial trial = a_trial(RUN_TRIAL_ADOPTED);
    const struct run_tuning tuning = { .trials = &trial, .n_trials = 1 };
    bool failed = true;

    for (oom_restart(); failed;) {
        struct run_note notes[1];
        struct run r = a_run(notes), got = { .id = NULL };
        int rc;

        r.tuning = &tuning;
        oom_next();
        rc = write_run(&r, 300);
        if (rc == 0)
            rc = run_load(folder(), &got, NULL);
        failed = oom_end();
        ok(failed ? rc == -ENOMEM || rc == 0 : rc == 0,
           "the archive with allocation %d failing returns %d", oom_at, rc);
        run_done(&got);
        (void)!run_remove(folder(), NULL);
    }
}

static void test_broken(void)
{
    struct archive_part part;
    struct run r = { .id = NULL };
    struct err e = { "" };
    char header[64] = "BRIMMOM1";

    is_int(archive_parse_about("", 0, &r, &part, &e), -EINVAL, "nothing is no run");
    is_int(archive_parse_about("[run]\nversion = 2\n", 18, &r, &part, &e), -EPROTONOSUPPORT,
           "a run of another version is refused");
    is_int(archive_parse_moments(header, sizeof(header), &r, &e), -EPROTONOSUPPORT,
           "moments without a byte order are refused");
    is_int(archive_parse_moments(header, 3, &r, &e), -EINVAL,
           "moments that are too short are refused");
    is_int(archive_parse_steps(header, sizeof(header), &r, &e), -EINVAL,
           "steps that are too short are refused");
    is_int(run_load("/nonexistent", &r, &e), -ENOENT, "a folder that does not exist is no run");
    run_done(&r);
}

static const char *inside(const char *name)
{
    static char path[256];

    snprintf(path, sizeof(path), "%s/%s", folder(), name);
    return path;
}

/* In a folder of another user: nobody writes to the pipe, and the link leads to what its owner may
 * not read. */
static void test_what_is_no_file(void)
{
    struct run_note notes[1];
    struct run r = a_run(notes), got = { .id = NULL };
    char moments[64];

    snprintf(moments, sizeof(moments), "part-node1-%d.moments", (int)getpid());
    is_int(write_run(&r, 5), 0, "a run is written to lie beside pipes");
    is_int(mkfifo(inside("part-a-1.ini"), 0600), 0, "a pipe lies there as a part");
    ok(unlink(inside(moments)) == 0 && mkfifo(inside(moments), 0600) == 0,
       "a pipe lies there as the run's moments");
    is_int(symlink("/etc/passwd", inside("part-b-1.ini")), 0, "a link lies there as a part");
    is_int(run_load(folder(), &got, NULL), 0, "run_load waits for no pipe");
    is_str(got.id, r.id, "the run beside a pipe and a link is read");
    is_int((long long)got.n_moments, 0, "a pipe has no moments");
    run_done(&got);
    (void)!run_remove(folder(), NULL);
}

static void test_find(void)
{
    CLEANUP(str_done) struct str found = STR_INIT(256);
    char begins[128], moments[160];
    struct run_note notes[1];
    struct run r = a_run(notes);
    FILE *f;

    is_int(write_run(&r, 5), 0, "a run is written to be found");
    is_int(runs_find(runs, "2026", &found, NULL), 0, "by the start of its id");
    is_str(str_text(&found), folder(), "the run found by its id is in its folder");
    is_int(runs_find(runs, "last", &found, NULL), 0, "the last one");
    is_int(runs_find(runs, r.name, &found, NULL), 0, "by its name");
    is_str(str_text(&found), folder(), "the run found by its name is in its folder");
    is_int(runs_find(runs, "x", &found, NULL), -ENOENT, "runs_find finds no run of another name");
    snprintf(begins, sizeof(begins), "%s/20991231-000000-0001", runs);
    is_int(mkdir(begins, 0700), 0, "a younger run begins");
    snprintf(moments, sizeof(moments), "%s/part-a-1.moments", begins);
    f = fopen(moments, "we");
    ok(f && fclose(f) == 0, "a younger run has made its first file");
    is_int(runs_find(runs, "last", &found, NULL), 0, "the last run is found while another begins");
    is_str(str_text(&found), folder(), "a run of which nothing is known yet is not the last one");
    (void)!unlink(moments);
    (void)rmdir(begins);
    is_int(run_remove(folder(), NULL), 0, "run_remove removes the run");
    is_int(runs_find(runs, "last", &found, NULL), -ENOENT, "there is none any more");
}

/* Which ids a run may have: they are shown, typed, and names of files. */
static void test_ids(void)
{
    static const char longest[] =
        "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_";
    static const struct {
        const char *id, *more;
        bool good;
    } cases[] = {
        { longest, "", true },  { longest, "x", false }, { "a.b", "", true },
        { ".a", "", false },    { "a/b", "", false },    { "a b", "", false },
        { "a\x7f", "", false }, { "..", "", false },     { "x", "", true },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct archive_part part;
        struct run r = { .id = NULL };
        struct err e = { "" };
        char text[256];
        int rc;

        snprintf(text, sizeof(text), "[run]\nversion = 1\nhost = h\nid = %s%s\n", cases[i].id,
                 cases[i].more);
        rc = archive_parse_about(text, strlen(text), &r, &part, &e);
        is_int(rc, cases[i].good ? 0 : -EINVAL, "'%s%s' is an id of a run or none", cases[i].id,
               cases[i].more);
        ok(!rc == !strstr(e.text, "is no id of a run"), "a run with id %zu is refused for it", i);
        run_done(&r);
    }
}

int main(void)
{
    snprintf(runs, sizeof(runs), "/tmp/t_archive_%d", (int)getpid());
    test_round_trip(1);
    test_round_trip(2500);
    test_round_trip(50000);
    test_two_of_a_name();
    test_trials();
    test_lines();
    test_broken_lines();
    test_broken_trials();
    test_ids();
    test_oom();
    test_broken();
    test_what_is_no_file();
    test_find();
    rmdir(runs);
    return done();
}
