/* Rings as brim run reads them: by calls, into a copy, while their processes write or cut them
 * off. */
#include "run/ring/rings.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "brim/step.h"
#include "folder.h"
#include "model/job/step.h"
#include "run/ring/ring_copy.h"
#include "tap.h"

enum { THREADS = 2, EACH = 300000, MASK = 0x7fff };

static char folder[PATH_MAX];

static int open_file(char path[PATH_MAX + 64])
{
    glob_t found;

    snprintf(path, PATH_MAX + 64, "%s/rank-0-%d[-.]*ring", folder, (int)getpid());
    folder_need(glob(path, 0, NULL, &found) ? -1 : 0, path);
    snprintf(path, PATH_MAX + 64, "%s", found.gl_pathv[0]);
    globfree(&found);
    return open(path, O_RDWR | O_CLOEXEC);
}

static void mark_steps(struct brim_step *s, int n)
{
    for (int i = 0; i < n; i++) {
        brim_stage_begin(s, BRIM_STAGE_FORWARD);
        brim_stage_end(s, BRIM_STAGE_FORWARD);
        brim_step_samples(s, 32);
        brim_step_end(s);
    }
}

static void test_steps(void)
{
    struct brim_step *s = brim_step_open_at(folder, "test 1", 0, 0, 1);
    struct rings *rings = NULL;
    char path[PATH_MAX + 64];
    struct err e = { "" };

    is_int(rings_open(&rings, folder, &e), 0, "rings_open opens a folder of rings");
    brim_step_note(s, "loader.workers=3");
    brim_step_begin(s);
    mark_steps(s, 10);
    is_int(rings_read(rings, &e), 0, "the ring of ten steps is read");
    is_int((int)rings_count(rings), 1, "one has steps");
    is_int((int)rings_lane(rings, 0)->count, 10, "the ring has ten steps");
    ok(rings_lane(rings, 0)->n_notes == 1 && !strcmp(rings_lane(rings, 0)->notes[0].value, "3"),
       "the ring has a note with its text");
    mark_steps(s, 5);
    is_int(rings_read(rings, &e), 0, "the ring of five more steps is read");
    is_int((int)rings_lane(rings, 0)->count, 15, "what is new");
    ok(!e.text[0] && rings_lost(rings) == 0, "nothing is missing");
    for (int i = 0; i < 5; i++)
        mark_steps(s, BRIM_RING_CAPACITY / 4);
    is_int(rings_read(rings, &e), 0, "behind more than it holds");
    ok(rings_lost(rings) > BRIM_RING_CAPACITY / 4 &&
           rings_lane(rings, 0)->count > BRIM_RING_CAPACITY / 8,
       "the last ones are there, %d marks are counted as lost", (int)rings_lost(rings));
    rings_close(rings);
    brim_step_close(s);
    close(open_file(path));
    unlink(path);
}

/* In which stage a loop was at a time: the marks around it tell, also those that came later. */
static void test_stage(void)
{
    struct brim_step *s = brim_step_open_at(folder, "test 1", 0, 0, 1);
    struct rings *rings = NULL;
    char path[PATH_MAX + 64];
    int64_t loading, between, saving;

    folder_need(rings_open(&rings, folder, NULL), folder);
    folder_need(rings_read(rings, NULL), folder);
    rings_ask(rings, 0, brim_step_now());
    folder_need(rings_read(rings, NULL), folder);
    is_int(rings_answer(rings, 0), -1, "before the first step a loop is in no stage");
    brim_step_begin(s);
    brim_stage_begin(s, BRIM_STAGE_WAIT);
    loading = brim_step_now();
    brim_stage_end(s, BRIM_STAGE_WAIT);
    brim_stage_begin(s, BRIM_STAGE_CHECKPOINT);
    saving = brim_step_now();
    rings_ask(rings, 0, loading);
    folder_need(rings_read(rings, NULL), folder);
    is_int(rings_answer(rings, 0), BRIM_STAGE_WAIT, "the stage is that of the time asked for");
    rings_ask(rings, 0, saving);
    folder_need(rings_read(rings, NULL), folder);
    is_int(rings_answer(rings, 0), BRIM_STAGE_CHECKPOINT, "a stage that goes on is the answer");
    brim_stage_end(s, BRIM_STAGE_CHECKPOINT);
    brim_step_end(s);
    folder_need(rings_read(rings, NULL), folder);
    is_int(rings_answer(rings, 0), BRIM_STAGE_CHECKPOINT, "the answer stays when marks go on");
    between = brim_step_now();
    brim_stage_begin(s, BRIM_STAGE_FORWARD);
    rings_ask(rings, 0, between);
    folder_need(rings_read(rings, NULL), folder);
    is_int(rings_answer(rings, 0), BRIM_STAGE_OTHER, "between stages it is in none of them");
    rings_close(rings);
    brim_step_close(s);
    close(open_file(path));
    unlink(path);
}

/* A file that shrinks would end who has it mapped. */
static void test_cut(off_t size)
{
    struct brim_step *s = brim_step_open_at(folder, "test 1", 0, 0, 1);
    struct rings *rings = NULL;
    char path[PATH_MAX + 64];
    struct err e = { "" };
    struct stat st;
    int fd = open_file(path);

    folder_need(fstat(fd, &st), path);
    folder_need(rings_open(&rings, folder, NULL), folder);
    mark_steps(s, 3);
    is_int(rings_read(rings, &e), 0, "steps before it is cut to %d bytes", (int)size);
    mark_steps(s, 3);
    folder_need(ftruncate(fd, size), path);
    is_int(rings_read(rings, &e), 0, "a ring that is cut to %d bytes is read", (int)size);
    ok(strstr(e.text, "cut off"), "the error names the ring that was cut off: %s", e.text);
    ok(rings_count(rings) == 1 && rings_lane(rings, 0)->count == 2, "what was read is kept");
    e.text[0] = 0;
    folder_need(ftruncate(fd, st.st_size), path); /* its writer has it mapped, too */
    mark_steps(s, 3);
    ok(rings_read(rings, &e) == 0 && !e.text[0], "a ring that was cut off is reported once");
    is_int((int)rings_lane(rings, 0)->count, 2, "a ring that was cut off is not read any more");
    rings_close(rings);
    brim_step_close(s);
    unlink(path);
    close(fd);
}

static void test_no_ring(void)
{
    struct rings *rings = NULL;
    char path[PATH_MAX + 64];
    struct err e = { "" };
    int fd;

    snprintf(path, sizeof(path), "%s/rank-0-77.ring", folder);
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    folder_need(rings_open(&rings, folder, NULL), folder);
    ok(rings_read(rings, &e) == 0 && strstr(e.text, "rank-0-77.ring"),
       "the error names an empty file: %s", e.text);
    e.text[0] = 0;
    ok(rings_read(rings, &e) == 0 && !e.text[0] && rings_count(rings) == 0,
       "an empty file is reported once");
    rings_close(rings);
    close(fd);
    unlink(path);
}

static void *mark_many(void *arg)
{
    for (int i = 0; i < EACH; i++)
        brim_step_mark(arg, BRIM_RING_SAMPLES | (uint32_t)(i & MASK) << 16, (uint64_t)i);
    return NULL;
}

/* Whole records only, though nobody waits for who copies. */
static void test_threads(void)
{
    struct brim_step *s = brim_step_open_at(folder, "test 1", 0, 0, 1);
    pthread_t threads[THREADS];
    struct ring_copy copy;
    struct step_ring r;
    struct step_mark m;
    struct stat st = { .st_size = 0 };
    char path[PATH_MAX + 64];
    uint64_t got = 0;
    bool bad = false;
    int fd = open_file(path);

    folder_need(fstat(fd, &st), path);
    is_int(ring_copy_open(&copy, fd, (size_t)st.st_size), 0,
           "ring_copy_open makes a copy of the ring");
    is_int(step_ring_attach(&r, copy.bytes, copy.size, NULL), 0, "the copy of a ring is a ring");
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, mark_many, s);
    while (got + r.lost < THREADS * EACH) {
        int rc = ring_copy_update(&copy, r.next);

        while (rc == 0 && (rc = step_ring_next(&r, &m)) != 0) {
            got += rc == 1;
            if (rc == 1)
                bad |= m.count >= EACH || m.source != (m.count & MASK);
            rc = 0;
        }
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    ok(!bad, "no mark is torn");
    is_int((long long)(got + r.lost), THREADS * EACH, "all are there or counted: %lld lost",
           (long long)r.lost);
    ring_copy_done(&copy);
    brim_step_close(s);
    unlink(path);
}

/* A process of number 1 that makes a ring, tells so, and lives until 'until' ends; the process
 * above it. Where there can be no numbers of its own nobody tells. */
static pid_t start_alone(const int told[2], const int until[2])
{
    pid_t above = fork(), alone;
    char c;

    folder_need(above, "fork");
    if (above)
        return above;
    close(told[0]);
    close(until[1]);
    alone = unshare(CLONE_NEWPID) < 0 ? -1 : fork();
    if (alone == 0) {
        bool made = brim_step_open_at(folder, "alone", 0, 0, 1) && write(told[1], "x", 1) == 1;

        _exit(made && read(until[0], &c, 1) == 0 ? 0 : 1);
    }
    close(told[1]);
    _exit(alone > 0 && waitpid(alone, NULL, 0) == alone ? 0 : 1);
}

/* Two containers of a job: in each the process has the number 1. */
static void test_two_of_a_number(void)
{
    char path[PATH_MAX + 64], c;
    int told[2], until[2], n = 0;
    pid_t above[2];
    glob_t found;

    folder_need(pipe2(told, O_CLOEXEC), "pipe");
    folder_need(pipe2(until, O_CLOEXEC), "pipe");
    for (int i = 0; i < 2; i++)
        above[i] = start_alone(told, until);
    close(told[1]);
    while (n < 2 && read(told[0], &c, 1) == 1)
        n++;
    snprintf(path, sizeof(path), "%s/rank-0-1[-.]*ring", folder);
    if (n == 2) {
        is_int(glob(path, 0, NULL, &found), 0, "two processes of number 1 have rings");
        is_int((long long)found.gl_pathc, 2, "each process of number 1 has a ring of its own");
        globfree(&found);
    } else {
        ok(true, "two processes of number 1 # SKIP no numbers of their own can be had here");
    }
    close(until[0]);
    close(until[1]);
    close(told[0]);
    for (int i = 0; i < 2; i++)
        (void)waitpid(above[i], NULL, 0);
}

/* Rings of another host are no processes of ours, whatever their numbers. */
static void test_far(void)
{
    const struct rank_steps about = { .rank = 3, .world = 4, .pid = (int)getpid(), .host = "two" };
    CLEANUP(rings_closep) struct rings *s = NULL;
    struct brim_step *ours;
    size_t far, n = 9;
    int rc;

    folder_need(rings_open(&s, folder, NULL), folder);
    is_int((long long)rings_of_pid(s, getpid()), 0, "without rings no process has one");
    folder_need(rings_far_add(s, &about, &far), "ring");
    is_int((long long)rings_of_pid(s, getpid()), 1, "a number of another host is none of ours");
    (void)rings_pids(s, &n);
    is_int((long long)n, 0, "a process of another host is none of ours");
    ours = brim_step_open_at(folder, "test 1", 0, 0, 4);
    folder_need(rings_read(s, NULL), "read");
    is_int((long long)rings_count(s), 2, "a ring of ours is one more");
    is_int((long long)rings_of_pid(s, getpid()), 1, "a process has its ring");
    is_int((long long)rings_of_pid(s, getppid()), 2, "a process without a ring has none");
    ok(rings_pids(s, &n)[0] == getpid() && n == 1, "a process with a ring is one of ours");
    rings_far_lost(s, far, 5);
    is_int((long long)rings_lost(s), 5, "what another host has lost is lost");
    brim_step_close(ours);
    for (rc = 0, n = 0; rc == 0 && n <= RINGS_MAX; n++)
        rc = rings_far_add(s, &about, &far);
    is_int(rc, -ENOSPC, "there is an end to rings");
    is_int((long long)rings_count(s), RINGS_MAX, "as many rings are known as have room");
}

static void count_closed(void *ctx, const struct ring_event *e)
{
    *(int *)ctx += e->kind == RING_CLOSED;
}

/* That a process ended in order is told once, however often its ring is read. */
static void test_closed(void)
{
    struct brim_step *ours = brim_step_open_at(folder, "test 1", 0, 0, 1);
    CLEANUP(rings_closep) struct rings *s = NULL;
    int closed = 0;

    folder_need(rings_open(&s, folder, NULL), folder);
    rings_follow(s, count_closed, &closed);
    mark_steps(ours, 1);
    folder_need(rings_read(s, NULL), "read");
    is_int(closed, 0, "a ring in use is not told as closed");
    brim_step_close(ours);
    for (int i = 0; i < 3; i++)
        folder_need(rings_read(s, NULL), "read");
    is_int(closed, 1, "a ring is told as closed once");
}

/* A note has a name in front of its first '=', else it is a sentence, which is kept once. */
static void test_notes(void)
{
    static const struct {
        const char *text, *name, *value;
    } cases[] = {
        { "a=1", "a", "1" },
        { "b=c=d", "b", "c=d" },
        { "c=", "c", "" },
        { "a sentence", "note.3", "a sentence" },
        { "=1", "note.4", "=1" },
        { "x is=1", "note.5", "x is=1" },
        { "n12345678901234567890123456789012345678901234567890123456789012=1",
          "n12345678901234567890123456789012345678901234567890123456789012", "1" },
        { "n123456789012345678901234567890123456789012345678901234567890123=1", "note.7",
          "n123456789012345678901234567890123456789012345678901234567890123=1" },
    };
    CLEANUP(rings_closep) struct rings *s = NULL;
    struct brim_step *ours = brim_step_open_at(folder, "test 1", 0, 0, 1);
    const struct rank_steps *l;

    for (size_t i = 0; i < 2 * ARRAY_SIZE(cases); i++)
        brim_step_note(ours, cases[i % ARRAY_SIZE(cases)].text);
    folder_need(rings_open(&s, folder, NULL), folder);
    folder_need(rings_read(s, NULL), "read");
    l = rings_lane(s, rings_of_pid(s, getpid()));
    is_int((long long)l->n_notes, ARRAY_SIZE(cases), "each note is kept once");
    for (size_t i = 0; i < ARRAY_SIZE(cases) && i < l->n_notes; i++) {
        is_str(l->notes[i].name, cases[i].name, "the note '%s' has its name", cases[i].text);
        is_str(l->notes[i].value, cases[i].value, "the note '%s' has its text", cases[i].text);
    }
    brim_step_close(ours);
}

int main(void)
{
    folder_make(folder);
    test_steps();
    test_stage();
    test_cut(0);
    test_cut(BRIM_RING_HEADER_SIZE + BRIM_RING_TEXT_SIZE);
    test_no_ring();
    test_threads();
    test_far();
    test_closed();
    test_notes();
    test_two_of_a_number();
    folder_remove(folder);
    return done();
}
