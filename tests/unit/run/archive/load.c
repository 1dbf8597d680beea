/* Folders of runs with several parts: which of them are read, whose observer still lives, and which
 * end the run has. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sys/file.h>
#include <time.h>

#include "base/str.h"
#include "folder.h"
#include "probe/process/files.h"
#include "run/archive/archive.h"
#include "run/archive/archive_format.h"
#include "tap.h"

#define S ((int64_t)1000 * 1000 * 1000)

enum { ROOM = 4096 };

/* Who wrote a part. */
struct writer {
    const char *host;
    int pid;
    uint64_t start_ticks, pid_space;
};

static const struct writer another = { "elsewhere", 1, 1, 1 };

static struct writer here(void)
{
    static char host[65];
    struct process_stat stat = { .start_ticks = 0 };

    folder_need(gethostname(host, sizeof(host) - 1), "gethostname");
    folder_need(process_stat_here(getpid(), &stat), "/proc");
    return (struct writer){ host, (int)getpid(), stat.start_ticks, archive_pid_space() };
}

/* The text of a part; begin: in seconds. */
static void add_part(const char *root, const char *name, const struct writer *w, int begin,
                     const char *end)
{
    CLEANUP(str_done) struct str text = STR_INIT(ROOM);

    str_addf(&text,
             "[run]\nversion = 1\nid = %.*s\nhost = %s\npid = %d\nstart_ticks = %llu\n"
             "pid_space = %llu\nbegin_ns = %lld\nend = %s\n",
             (int)strcspn(name, "."), name, w->host, w->pid, (unsigned long long)w->start_ticks,
             (unsigned long long)w->pid_space, (long long)(begin * S), end);
    folder_text(root, name, str_text(&text));
}

/* A part of this host with so many moments, a second each from its begin on. */
static void add_moments(const char *root, const char *name, int begin, int n)
{
    struct {
        struct archive_moments_header head;
        struct archive_moment all[8];
    } file = { .head = { .magic = "",
                         .order = ARCHIVE_ORDER,
                         .version = ARCHIVE_VERSION,
                         .header_size = sizeof(file.head),
                         .record_size = sizeof(file.all[0]) } };

    memcpy(file.head.magic, ARCHIVE_MOMENTS_MAGIC, sizeof(file.head.magic));
    for (int i = 0; i < n; i++)
        file.all[i] = (struct archive_moment){ .wall_ns = (begin + i + 1) * S, .seconds = 1 };
    folder_file(root, name, &file, sizeof(file.head) + (size_t)n * sizeof(file.all[0]));
}

static void make_older(const char *root, const char *name, int seconds)
{
    const struct timespec then[2] = { { .tv_nsec = UTIME_OMIT },
                                      { .tv_sec = time(NULL) - seconds } };
    char path[PATH_MAX];

    folder_path(root, name, path);
    folder_need(utimensat(AT_FDCWD, path, then, 0), path);
}

/* How a run with that one part ended; -1: it is none. */
static int end_of(const char *root, const struct writer *w)
{
    struct run r = { .id = NULL };
    int end = -1;

    add_part(root, "part-a-1.ini", w, 1000, "running");
    if (run_load(root, &r, NULL) == 0)
        end = (int)r.end;
    run_done(&r);
    return end;
}

/* A process tells by its number and start whether it lives. */
static void test_number(const char *root)
{
    struct writer w = here();

    is_int(end_of(root, &w), RUN_RUNNING, "a run whose observer lives is running");
    w.pid_space = 0;
    is_int(end_of(root, &w), RUN_RUNNING, "an observer of an unknown namespace is one of here");
    w.start_ticks++;
    folder_text(root, "part-a-1.ini.new", "room");
    is_int(end_of(root, &w), RUN_LOST, "a run is lost whose observer's number has another process");
    w = here();
    w.pid = 999999999;
    is_int(end_of(root, &w), RUN_LOST, "a run is lost whose observer is gone");
}

/* What a living observer keeps room with stays; what a dead one left goes. */
static void test_draft(const char *root)
{
    struct writer w = here();
    char path[PATH_MAX];

    folder_text(root, "part-a-1.ini.new", "room");
    folder_path(root, "part-a-1.ini.new", path);
    is_int(end_of(root, &w), RUN_RUNNING, "a run with a draft is running");
    ok(access(path, F_OK) == 0, "the draft of a living observer stays");
    w.start_ticks++;
    is_int(end_of(root, &w), RUN_LOST, "a run with a draft is lost");
    ok(access(path, F_OK) < 0, "the draft of a dead observer goes");
}

/* In another container of this host its number says nothing, and its lock does. */
static void test_lock(const char *root)
{
    struct writer w = here();
    char path[PATH_MAX];
    int fd;

    w.pid_space++;
    is_int(end_of(root, &w), RUN_LOST, "a part of another container without moments is lost");
    add_moments(root, "part-a-1.moments", 1000, 1);
    is_int(end_of(root, &w), RUN_LOST, "a part of another container is lost without its lock");
    folder_path(root, "part-a-1.moments", path);
    fd = open(path, O_RDWR | O_CLOEXEC);
    folder_need(flock(fd, LOCK_EX | LOCK_NB), path);
    is_int(end_of(root, &w), RUN_RUNNING, "a part of another container is running by its lock");
    is_int(end_of(root, &another), RUN_RUNNING, "a part of another host is not asked for its lock");
    make_older(root, "part-a-1.moments", 1000);
    is_int(end_of(root, &w), RUN_RUNNING, "a lock says more than the age of a file");
    is_int(end_of(root, &another), RUN_LOST, "the lock of a part of another host says nothing");
    close(fd);
}

/* On another host the last write tells: a minute without one is too long. */
static void test_silence(const char *root)
{
    is_int(end_of(root, &another), RUN_LOST, "a part of another host without moments is lost");
    add_moments(root, "part-a-1.moments", 1000, 1);
    make_older(root, "part-a-1.moments", 40);
    is_int(end_of(root, &another), RUN_RUNNING, "40 s without a moment are no end");
    make_older(root, "part-a-1.moments", 75);
    is_int(end_of(root, &another), RUN_LOST, "75 s without a moment are one");
}

/* A lost run ended with its last moment. */
static void test_lost_end(const char *root)
{
    struct run r = { .id = NULL };

    add_part(root, "part-a-1.ini", &another, 1000, "lost");
    is_int(run_load(root, &r, NULL), 0, "a lost run without moments is read");
    is_int(r.end_ns, 0, "the end of a lost run without moments is not known");
    run_done(&r);
    add_moments(root, "part-a-1.moments", 1000, 3);
    is_int(run_load(root, &r, NULL), 0, "a lost run is read");
    is_int(r.end_ns / S, 1003, "a lost run ended with its last moment");
    run_done(&r);
    is_int(run_load_about(root, &r, NULL), 0, "what is known of a lost run is read");
    ok(r.n_moments == 0 && r.end == RUN_LOST, "moments are left out where only its end is asked");
    run_done(&r);
    add_part(root, "part-a-1.ini", &another, 1000, "exited");
    is_int(run_load(root, &r, NULL), 0, "a run that exited is read");
    ok(r.n_moments == 3 && r.end_ns == 0, "moments do not end a run that exited");
    run_done(&r);
}

/* Of several parts the first one tells whose run it is. */
static void test_order(const char *root)
{
    struct run r = { .id = NULL };

    add_part(root, "part-b-1.ini", &another, 1000, "exited");
    add_part(root, "part-a-1.ini", &another, 2000, "exited");
    add_part(root, "part-c-1.ini", &another, 3000, "exited");
    is_int(run_load(root, &r, NULL), 0, "a run of three parts is read");
    is_str(r.id, "part-b-1", "the part that began first comes first");
    run_done(&r);
    add_part(root, "part-a-1.ini", &another, 1000, "exited");
    is_int(run_load(root, &r, NULL), 0, "a run of parts that began together is read");
    is_str(r.id, "part-a-1", "of parts that began together the first by name comes first");
    run_done(&r);
}

/* What is no part, and what is a broken one. */
static void test_broken(const char *root)
{
    static const char wrong[] = "[run]\nversion = 1\nhost = n\n";
    CLEANUP(str_done) struct str large = STR_INIT(4 << 20);
    struct run r = { .id = NULL };
    struct err e = { "" };
    char path[PATH_MAX], want[PATH_MAX + 128];

    is_int(run_load(root, &r, &e), -ENODATA, "an empty folder is no run");
    snprintf(want, sizeof(want), "%s holds no run: nothing could be stored of it", root);
    is_str(e.text, want, "the error says that an empty folder holds no run");
    folder_text(root, "part-a-1.txt", "x");
    folder_text(root, "apart-a-1.ini", "x");
    folder_text(root, ".ini", "x");
    is_int(run_load(root, &r, &e), -ENODATA, "files of other names are no parts");
    folder_text(root, "part-a-1.ini", wrong);
    is_int(run_load(root, &r, &e), -EINVAL, "a folder with a broken part alone is no run");
    folder_path(root, "part-a-1.ini", path);
    snprintf(want, sizeof(want), "%s: this describes no run: id, host and version are needed",
             path);
    is_str(e.text, want, "the error names the broken part");
    while (large.len <= 1 << 20)
        str_add(&large, "# a comment of sixty-four bytes, which says nothing of the run.\n");
    folder_text(root, "part-b-1.ini", str_text(&large));
    folder_folder(root, "part-c-1.ini");
    add_part(root, "part-d-1.ini", &another, 1000, "exited");
    is_int(run_load(root, &r, &e), 0, "broken parts do not hide a whole one");
    is_str(r.id, "part-d-1", "the whole part is read");
    run_done(&r);
}

/* The steps of ranks 0, 1, ... until there is no such file. */
static void test_ranks(const char *root)
{
    struct archive_steps_header h = { .order = ARCHIVE_ORDER,
                                      .version = ARCHIVE_VERSION,
                                      .header_size = sizeof(h),
                                      .record_size = sizeof(struct archive_step) };
    struct run r = { .id = NULL };
    char path[PATH_MAX], name[64];

    memcpy(h.magic, ARCHIVE_STEPS_MAGIC, sizeof(h.magic));
    add_part(root, "part-a-1.ini", &another, 1000, "exited");
    for (int i = 0; i < 6; i++) {
        h.rank = i;
        snprintf(name, sizeof(name), "part-a-1-%d.steps", i);
        if (i != 4)
            folder_file(root, name, &h, sizeof(h));
    }
    folder_text(root, "part-a-1-1.steps", "broken");
    folder_path(root, "part-a-1-2.steps", path);
    folder_need(truncate(path, (8 << 20) + 1), path);
    is_int(run_load(root, &r, NULL), 0, "a run with broken steps is read");
    ok(r.n_ranks == 2 && r.ranks[0].rank == 0 && r.ranks[1].rank == 3,
       "steps that are broken or too many are left out, and nothing is read behind a gap");
    run_done(&r);
}

int main(void)
{
    void (*const tests[])(const char *) = { test_number,   test_draft, test_lock,   test_silence,
                                            test_lost_end, test_order, test_broken, test_ranks };
    char root[PATH_MAX];

    for (size_t i = 0; i < ARRAY_SIZE(tests); i++) {
        folder_make(root);
        tests[i](root);
        folder_remove(root);
    }
    return done();
}
