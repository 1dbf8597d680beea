/* The files of one part as they are written: every field of them, what a disk without room leaves,
 * and what is too much. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "folder.h"
#include "run/archive/archive.h"
#include "run/archive/archive_format.h"
#include "tap.h"

#define S ((int64_t)1000 * 1000 * 1000)

static const struct run started = { .id = "r1",
                                    .name = "n",
                                    .command = "c",
                                    .folder = "/f",
                                    .user = "u",
                                    .host = "node1",
                                    .begin_ns = 1000 * S };

static char path[PATH_MAX + 64];

/* A file of the part that this process has written first. */
static const char *part(const char *root, const char *suffix)
{
    snprintf(path, sizeof(path), "%s/r1/part-node1-%d%s", root, (int)getpid(), suffix);
    return path;
}

static long long size_of(const char *name)
{
    struct stat st;

    return stat(name, &st) < 0 ? -1 : (long long)st.st_size;
}

static struct archive *create(const char *root, const struct run *r)
{
    struct archive *a = NULL;
    struct err e = { "" };

    is_int(archive_create(&a, root, r, 400 * S, &e), 0, "a part is made: %s", e.text);
    return a;
}

static struct run load(const char *root)
{
    char folder[PATH_MAX];
    struct err e = { "" };
    struct run r;

    snprintf(folder, sizeof(folder), "%s/r1", root);
    is_int(run_load(folder, &r, &e), 0, "the run is read: %s", e.text);
    return r;
}

static struct step a_step(uint64_t n)
{
    struct step s = { .number = n,
                      .begin_ns = (int64_t)n * S + 1,
                      .end_ns = (int64_t)(n + 1) * S,
                      .samples = 32,
                      .loss = 0.5,
                      .backwards = 3,
                      .collective_s = 0.25,
                      .collective_b = 1e12,
                      .collectives = 7 };

    for (unsigned i = 0; i < BRIM_STAGES; i++) {
        s.host_s[i] = 1 + i;
        s.device_s[i] = 11 + i;
    }
    return s;
}

static void check_step(const struct step *got, const struct step *want, const char *what)
{
    ok(got->number == want->number && got->begin_ns == want->begin_ns &&
           got->end_ns == want->end_ns,
       "%s keeps its number and times", what);
    ok(got->samples == want->samples && got->loss == want->loss &&
           got->backwards == want->backwards,
       "%s keeps its samples, its loss and its backward passes", what);
    ok(got->collective_s == want->collective_s && got->collective_b == want->collective_b &&
           got->collectives == want->collectives,
       "%s keeps its collectives", what);
    for (unsigned i = 0; i < BRIM_STAGES; i++)
        ok(got->host_s[i] == want->host_s[i] && got->device_s[i] == want->device_s[i],
           "%s keeps the times of stage %u", what, i);
}

static void test_fields(const char *root)
{
    CLEANUP(archive_closep) struct archive *a = create(root, &started);
    struct step one = a_step(0), two = a_step(1);
    struct rank_steps lane;
    struct stat st;
    struct run r;

    rank_steps_init(&lane);
    lane.rank = 3;
    lane.local_rank = 1;
    lane.world = 8;
    lane.pid = 4711;
    snprintf(lane.host, sizeof(lane.host), "node1");
    snprintf(lane.framework, sizeof(lane.framework), "torch");
    folder_need(rank_steps_step(&lane, &one), "a step");
    folder_need(rank_steps_step(&lane, &two), "a step");
    is_int(archive_lane(a, 0, &lane, NULL), 0, "a rank is stored");
    ok(stat(part(root, "-0.steps"), &st) == 0 && (st.st_mode & 0777) == 0600,
       "steps are for their owner alone");
    ok(stat(part(root, ".moments"), &st) == 0 && (st.st_mode & 0777) == 0600,
       "moments are for their owner alone");
    ok(stat(part(root, ".ini"), &st) == 0 && (st.st_mode & 0777) == 0600,
       "what is known of a run is for its owner alone");
    r = load(root);
    is_int((int)r.end, RUN_RUNNING, "a run is running whose observer is this process");
    ok(r.n_ranks == 1 && r.ranks[0].rank == 3 && r.ranks[0].local_rank == 1 &&
           r.ranks[0].world == 8 && r.ranks[0].pid == 4711,
       "a rank keeps its numbers");
    is_str(r.ranks[0].host, "node1", "a rank keeps its host");
    is_str(r.ranks[0].framework, "torch", "a rank keeps its framework");
    is_int((long long)r.ranks[0].n_steps, 2, "a rank keeps its steps");
    check_step(&r.ranks[0].steps[0], &one, "the first step");
    check_step(&r.ranks[0].steps[1], &two, "the second step");
    check_step(&r.ranks[0].total, &lane.total, "the sum of steps");
    run_done(&r);
    rank_steps_done(&lane);
}

/* On one host it is the process that tells whether its run goes on, and not the clock. */
static void test_own_host(const char *root)
{
    CLEANUP(archive_closep) struct archive *a = NULL;
    struct timespec long_ago[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
    struct run here = started, r;
    char host[65] = "", moments[PATH_MAX];

    folder_need(gethostname(host, sizeof(host) - 1), "gethostname");
    here.id = "r2";
    here.host = host;
    a = create(root, &here);
    snprintf(moments, sizeof(moments), "%s/part-%s-%d.moments", archive_folder(a), host,
             (int)getpid());
    folder_need(utimensat(AT_FDCWD, moments, long_ago, 0), moments);
    is_int(run_load(archive_folder(a), &r, NULL), 0, "a run of this host is read");
    is_int((int)r.end, RUN_RUNNING, "a run is running as long as this process is");
    run_done(&r);
}

/* Of what a rank has not changed nothing is written again. */
static void test_unchanged(const char *root)
{
    CLEANUP(archive_closep) struct archive *a = create(root, &started);
    struct step one = a_step(0);
    struct rank_steps lane;

    rank_steps_init(&lane);
    is_int(archive_lane(a, 0, &lane, NULL), 0, "a rank without steps is stored");
    ok(size_of(part(root, "-0.steps")) > 0, "a rank without steps has a file");
    folder_need(rank_steps_step(&lane, &one), "a step");
    is_int(archive_lane(a, 0, &lane, NULL), 0, "a rank is stored");
    folder_need(truncate(part(root, "-0.steps"), 0), path);
    is_int(archive_lane(a, 0, &lane, NULL), 0, "a rank is stored again");
    is_int(size_of(part(root, "-0.steps")), 0, "a rank that has not changed is not written");
    folder_need(rank_steps_note(&lane, "a", "b"), "a note");
    is_int(archive_lane(a, 0, &lane, NULL), 0, "a rank with a note is stored");
    ok(size_of(part(root, "-0.steps")) > 0, "a rank with a new note is written");
    folder_need(truncate(part(root, "-0.steps"), 0), path);
    is_int(archive_lane(a, 0, &lane, NULL), 0, "a rank with the same note is stored");
    is_int(size_of(part(root, "-0.steps")), 0, "a rank with the same note is not written again");
    is_int(archive_lane(a, 255, &lane, NULL), 0, "a 256th rank is stored");
    ok(size_of(part(root, "-255.steps")) > 0, "a 256th rank has a file");
    is_int(archive_lane(a, 256, &lane, NULL), 0, "a 257th rank is passed over");
    ok(size_of(part(root, "-256.steps")) < 0, "a 257th rank has no file");
    rank_steps_done(&lane);
}

/* Of a long run moments get coarser. */
static void test_coarse(const char *root)
{
    CLEANUP(archive_closep) struct archive *a = create(root, &started);
    struct run_moment m = { .seconds = 1 };
    struct run r;
    int rc = 0;

    for (int s = 0; s < RUN_SIGNALS; s++)
        m.values[s] = (double)NAN;
    for (int i = 0; i < ARCHIVE_FINE + 5 && rc == 0; i++) {
        m.wall_ns = (1001 + i) * S;
        m.values[RUN_JOB_CPU] = i;
        rc = archive_moment(a, &m, NULL);
    }
    is_int(rc, 0, "many moments are stored");
    r = load(root);
    is_int((long long)r.n_moments, ARCHIVE_FINE + 2, "from then on two moments become one");
    ok(r.moments[ARCHIVE_FINE - 1].seconds == 1 && r.moments[ARCHIVE_FINE].seconds == 2 &&
           r.moments[ARCHIVE_FINE].values[RUN_JOB_CPU] == ARCHIVE_FINE + 0.5,
       "a coarse moment has the mean of both");
    is_int(r.moments[ARCHIVE_FINE + 1].wall_ns / S, 1001 + ARCHIVE_FINE + 3,
           "a coarse moment ends with its last one");
    run_done(&r);
}

/* Texts of any length and any bytes; too many notes. */
static void test_texts(const char *root)
{
    char command[2502], want[2502];
    struct run_note notes[2] = { { "a", "x\ny" }, { "b", "\x7f\xc3\xa4\t\"\\" } };
    struct run r = started, got;
    struct archive *a;
    struct rank_steps lane;
    char name[16], value[201];
    int rc = 0;

    memset(command, 'c', sizeof(command) - 1);
    command[sizeof(command) - 1] = 0;
    command[999] = '"';
    command[1000] = '\\';
    command[1999] = '\x1f';
    snprintf(want, sizeof(want), "%s", command);
    want[1999] = '?';
    r.command = command;
    r.environment = notes;
    r.n_environment = 2;
    a = create(root, &r);
    rank_steps_init(&lane);
    memset(value, 'v', sizeof(value) - 1);
    value[sizeof(value) - 1] = 0;
    for (int i = 0; i < LANE_NOTES && rc == 0; i++) {
        snprintf(name, sizeof(name), "n%d", i);
        rc = rank_steps_note(&lane, name, value);
    }
    is_int(rc, 0, "a rank has many notes");
    is_int(archive_lane(a, 0, &lane, NULL), 0, "a rank with more notes than have room is stored");
    archive_close(a);
    rank_steps_done(&lane);
    got = load(root);
    is_str(got.command, want, "a long command is read back, without control characters");
    is_str(got.environment[0].value, "x?y", "a newline in a note becomes '?'");
    is_str(got.environment[1].value, "?\xc3\xa4?\"\\", "letters and quotes of a note stay");
    ok(got.n_ranks == 1 && got.ranks[0].n_notes > 250 && got.ranks[0].n_notes < LANE_NOTES,
       "of notes those are kept that have room: %zu", got.ranks[0].n_notes);
    is_str(run_note(&got.ranks[0], "n250"), value, "a note within the room is whole");
    run_done(&got);
}

/* A line is stored that was seen once in a hundred samples, and no rarer one. */
static void test_rare(const char *root)
{
    static struct lines lines;
    struct lines_entry common = { .stage = LINES_WORKER, .at = { "f", "/a.py", 1 } };
    struct lines_entry one = { .stage = LINES_WORKER, .at = { "f", "/b.py", 2 } };
    struct run r = started, got;

    lines = (struct lines){ .n = 0 };
    lines_count(&lines, &one);
    for (int i = 0; i < 99; i++)
        lines_count(&lines, &common);
    r.lines = &lines;
    archive_close(create(root, &r));
    got = load(root);
    ok(got.lines && got.lines->n == 2, "a line of one sample in 100 is stored");
    run_done(&got);
    lines_count(&lines, &common);
    folder_need(unlink(part(root, ".ini")), path);
    folder_need(unlink(part(root, ".moments")), path);
    archive_close(create(root, &r));
    got = load(root);
    ok(got.lines && got.lines->n == 1 && got.lines->entries[0].caller.line == 0 &&
           !got.lines->entries[0].caller.file[0] && !got.lines->entries[0].callee[0],
       "a line of one sample in 101 is not stored, and a line without a caller has none");
    run_done(&got);
}

/* While a run goes on its end has room on the disk. */
static void test_reserve(const char *root)
{
    CLEANUP(archive_closep) struct archive *a = create(root, &started);
    struct run ended = started, large = started;
    char command[12001];

    is_int(size_of(part(root, ".ini.new")), 16 << 10, "16 KiB are kept for the end of a run");
    memset(command, 'c', sizeof(command) - 1);
    command[sizeof(command) - 1] = 0;
    large.command = command;
    is_int(archive_about(a, &large, NULL), 0, "a run with a long command is described");
    is_int(size_of(part(root, ".ini.new")), 2 * size_of(part(root, ".ini")),
           "twice its size is kept for the end of a run");
    ended.end = RUN_EXITED;
    is_int(archive_about(a, &ended, NULL), 0, "the end of a run is described");
    ok(size_of(part(root, ".ini.new")) < 0, "nothing is kept for a run that has ended");
    ok(size_of(part(root, ".ini")) < 1000, "what is known of an ended run has its own size");
}

static void limit_files(rlim_t most)
{
    struct rlimit l;

    folder_need(getrlimit(RLIMIT_FSIZE, &l), "getrlimit");
    l.rlim_cur = most;
    folder_need(setrlimit(RLIMIT_FSIZE, &l), "setrlimit");
}

/* A disk without room, which a limit stands for: nothing is printed while it holds, for that may go
 * to a file as well. */
static void test_full(const char *root)
{
    struct archive *a = NULL;
    struct run_moment m = { .wall_ns = 1001 * S, .seconds = 1 };
    struct step one = a_step(0);
    struct rank_steps lane;
    char want[PATH_MAX + 128], folder[PATH_MAX];
    struct err e = { "" }, why = { "" };
    struct run r;
    int rc[2];

    signal(SIGXFSZ, SIG_IGN);
    rank_steps_init(&lane);
    folder_need(rank_steps_step(&lane, &one), "a step");
    limit_files(0);
    rc[0] = archive_create(&a, root, &started, 0, &e);
    limit_files(RLIM_INFINITY);
    is_int(rc[0], -EFBIG, "a part is not made without room");
    snprintf(want, sizeof(want), "%s: File too large", part(root, ".ini"));
    is_str(e.text, want, "the error names the file that has no room");
    snprintf(folder, sizeof(folder), "%s/r1", root);
    ok(access(folder, F_OK) < 0, "nothing is left of a run that did not begin");
    limit_files(1000);
    rc[0] = archive_create(&a, root, &started, 0, &e);
    limit_files(RLIM_INFINITY);
    is_int(rc[0], -EFBIG, "a part is not made without room for moments");
    ok(access(folder, F_OK) < 0, "nothing is left of a run without moments");
    a = create(root, &started);
    limit_files(ARCHIVE_HEADER + 10);
    rc[0] = archive_moment(a, &m, &e);
    rc[1] = archive_lane(a, 0, &lane, &why);
    limit_files(RLIM_INFINITY);
    is_int(rc[0], -EFBIG, "a moment is not stored without room");
    snprintf(want, sizeof(want), "%s: File too large", part(root, ".moments"));
    is_str(e.text, want, "the error names the moments");
    is_int(rc[1], -EFBIG, "steps are not stored without room");
    snprintf(want, sizeof(want), "%s: File too large", part(root, "-0.steps"));
    is_str(why.text, want, "the error names the steps");
    is_int(archive_moment(a, &m, &e), 0, "a moment is stored when there is room again");
    is_int(archive_lane(a, 0, &lane, &e), 0, "steps are stored when there is room again");
    archive_close(a);
    r = load(root);
    ok(r.n_moments == 1 && r.moments[0].wall_ns == m.wall_ns, "no half moment lies before it");
    ok(r.n_ranks == 1 && r.ranks[0].n_steps == 1, "the steps are whole");
    run_done(&r);
    rank_steps_done(&lane);
}

int main(void)
{
    void (*const tests[])(const char *) = { test_fields, test_own_host, test_unchanged, test_coarse,
                                            test_texts,  test_rare,     test_reserve,   test_full };
    char root[PATH_MAX];

    for (size_t i = 0; i < ARRAY_SIZE(tests); i++) {
        folder_make(root);
        tests[i](root);
        folder_remove(root);
    }
    return done();
}
