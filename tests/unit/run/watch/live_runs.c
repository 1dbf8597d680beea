/* Runs that go on, found by what their observers write: only while one is there to hold the lock,
 * and whatever else lies in folders that are everybody's. */
#include "run/watch/live_runs.h"

#include <sys/file.h>

#include "folder.h"
#include "run/ring/live_file.h"
#include "run/ring/ring_folder.h"
#include "tap.h"

static char root[PATH_MAX];

/* A run in a folder of that name; the lock's descriptor, or less than 0. */
static int tell(const char *folder, const char *id, int64_t since_ms, int *fd)
{
    CLEANUP(str_done) struct str text = STR_INIT(LIVE_RUN_FILE);
    struct live_run r = live_run_none;
    char path[PATH_MAX];

    folder_path(root, folder, path);
    (void)mkdir(path, 0700);
    live_run_text(r.id, sizeof(r.id), id);
    live_run_text(r.name, sizeof(r.name), id);
    r.since_ms = since_ms;
    live_run_write(&r, &text);
    return live_file_write(path, str_text(&text), text.len, fd);
}

static size_t look(struct live_runs *s)
{
    const char *const folders[] = { root, "/nonexistent", NULL };

    live_runs_look(s, folders);
    return s->n;
}

static void test_while_it_is_held(void)
{
    struct live_runs s;
    int a = -1, b = -1, was;

    is_int(look(&s), 0, "in an empty folder there is no run");
    is_int(tell("brim-run-2-2", "young", 2000, &a), 0, "a run is told of");
    is_int(tell("brim-run-1-1", "old", 1000, &b), 0, "another run is told of");
    is_int(look(&s), 2, "two runs are found");
    is_str(s.runs[0].id, "old", "the oldest run comes first");
    is_int(s.runs[0].uid, geteuid(), "the owner is the file's");
    was = a;
    is_int(tell("brim-run-2-2", "younger", 2000, &a), 0, "a run is told of again");
    ok(a >= 0 && fcntl(was == a ? -1 : was, F_GETFD) < 0, "one descriptor is kept of a run");
    is_int(look(&s), 2, "a run that was told of again is found");
    is_str(s.runs[1].id, "younger", "what was told last is found");
    close(a);
    is_int(look(&s), 1, "a run whose observer has gone is not found");
    is_str(s.runs[0].id, "old", "the run that goes on is found");
    close(b);
    is_int(look(&s), 0, "no run is found when all observers have gone");
}

/* A name that a run's folder may have, in the test's folder. */
static const char *in(const char *name)
{
    static char path[PATH_MAX];

    folder_path(root, name, path);
    return path;
}

static void test_hostile(void)
{
    struct live_runs s;
    int fd = -1, locked;

    folder_text(root, "brim-run-5-5/" LIVE_FILE_NAME, "{}");
    folder_text(root, "brim-run-file", "no folder");
    folder_text(root, "others/" LIVE_FILE_NAME, "{}");
    folder_link(root, "brim-run-link", "others");
    folder_folder(root, "brim-run-folder");
    folder_folder(root, "brim-run-folder/" LIVE_FILE_NAME);
    folder_folder(root, "brim-run-pipe");
    folder_need(mkfifo(in("brim-run-pipe/" LIVE_FILE_NAME), 0600), "mkfifo");
    folder_link(root, "brim-run-6-6/" LIVE_FILE_NAME, "../others/" LIVE_FILE_NAME);
    is_int(tell("brim-run-7-7", "good", 1, &fd), 0, "a run is told of among others' files");
    locked = open(in("brim-run-5-5/" LIVE_FILE_NAME), O_RDONLY | O_CLOEXEC);
    ok(flock(locked, LOCK_EX) == 0, "a file that is no run's is held");
    is_int(look(&s), 1, "only the run is found among files that are none");
    is_str(s.runs[0].id, "good", "the run that is found is the good one");
    is_int(tell("brim-run-file", "x", 1, &fd), -ENOTDIR, "a run cannot be told of in a file");
    is_int(look(&s), 1, "what was told before stays when it cannot be told anew");
    close(locked);
    close(fd);
    fd = -1;
    is_int(tell("not-brim-run-8", "elsewhere", 1, &fd), 0, "a run is told of in another folder");
    is_int(look(&s), 0, "a run in a folder of another name is not found");
    close(fd);
}

/* By the number of its observer, which this process is. */
static void test_one(void)
{
    const char *const folders[] = { "/nonexistent", root, NULL };
    struct live_run r = live_run_none;
    char name[NAME_MAX + 1];
    int fd = -1;

    is_int(ring_folder_of(getpid(), name, sizeof(name)), 0, "a process has a name for its folder");
    is_int(live_runs_of(&r, getpid(), geteuid(), folders), -ENOENT,
           "an observer that tells of no run has none");
    is_int(tell(name, "mine", 1000, &fd), 0, "an observer tells of its run");
    is_int(live_runs_of(&r, getpid(), geteuid(), folders), 0, "a run is found by its observer");
    is_str(r.id, "mine", "the run that is found is the observer's");
    is_int(live_runs_of(&r, getpid(), geteuid() + 1, folders), -ENOENT,
           "a run of another user is not found");
    is_int(live_runs_of(&r, INT_MAX, geteuid(), folders), -ESRCH,
           "a process that is not there has no run");
    close(fd);
    is_int(live_runs_of(&r, getpid(), geteuid(), folders), -ENOENT,
           "a run that nobody holds is not found");
}

static void test_many(void)
{
    int fds[LIVE_RUNS_MAX + 2];
    struct live_runs s;

    for (int i = 0; i < LIVE_RUNS_MAX + 2; i++) {
        char name[64];

        fds[i] = -1;
        snprintf(name, sizeof(name), "brim-run-many-%d", i);
        if (tell(name, name, i, &fds[i]) < 0)
            ok(false, "run %d is told of", i);
    }
    is_int(look(&s), LIVE_RUNS_MAX, "a full list is not overrun");
    is_int((long)s.left_out, 2, "runs that are left out are counted");
    for (int i = 0; i < LIVE_RUNS_MAX + 2; i++)
        closep(&fds[i]);
}

/* As root alone: a run of another account is shown beside as many as there is room for. */
static void test_users(void)
{
    int fds[LIVE_RUNS_MAX + 1];
    struct live_runs s;
    bool found = false;

    for (int i = 0; i <= LIVE_RUNS_MAX; i++) {
        char name[64];

        fds[i] = -1;
        snprintf(name, sizeof(name), "brim-run-users-%d", i);
        if (tell(name, name, i, &fds[i]) < 0)
            ok(false, "run %d of two users is told of", i);
        if (i != LIVE_RUNS_MAX / 2)
            continue;
        folder_need(chown(in(name), 4711, 4711), "chown of the folder");
        snprintf(name, sizeof(name), "brim-run-users-%d/" LIVE_FILE_NAME, i);
        folder_need(chown(in(name), 4711, 4711), "chown of the file");
    }
    is_int(look(&s), LIVE_RUNS_MAX, "a list of two users' runs is full");
    for (size_t i = 0; i < s.n; i++)
        found = found || (s.runs[i].uid == 4711 && !strcmp(s.runs[i].user, "4711"));
    ok(found, "a user with one run is not left out for one with many");
    for (int i = 0; i <= LIVE_RUNS_MAX; i++)
        closep(&fds[i]);
}

/* As root alone: a file that lies in another account's folder is not that account's word. */
static void test_owner(void)
{
    struct live_runs s;
    int fd = -1;

    is_int(tell("brim-run-owner", "x", 1, &fd), 0, "a run of one account is told of");
    is_int(look(&s), 1, "a run of one account is found");
    folder_need(chown(in("brim-run-owner"), 4711, 4711), "chown of the folder");
    is_int(look(&s), 0, "a run is not found that lies in the folder of another account");
    closep(&fd);
}

/* As root alone: whose a run is, by its file's owner; what it says of itself has a number behind
 * it, and is never the name of another account. */
static void test_names(void)
{
    static const struct {
        const char *said;
        uid_t uid;
        const char *want;
    } cases[] = {
        { "", 0, "root" },          { "somebody", 0, "root" },
        { "daemon", 0, "root" },    { "ana", 4711, "ana (4711)" },
        { "", 4711, "4711" },       { "root", 4711, "4711" },
        { "daemon", 4711, "4711" }, { "daemo", 4711, "daemo (4711)" },
    };
    struct live_runs s;

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(str_done) struct str text = STR_INIT(LIVE_RUN_FILE);
        struct live_run r = live_run_none;
        char name[64];
        int fd = -1;

        snprintf(name, sizeof(name), "brim-run-name-%zu", i);
        folder_folder(root, name);
        live_run_text(r.id, sizeof(r.id), "x");
        live_run_text(r.name, sizeof(r.name), "x");
        live_run_text(r.user, sizeof(r.user), cases[i].said);
        live_run_write(&r, &text);
        is_int(live_file_write(in(name), str_text(&text), text.len, &fd), 0,
               "run %zu of somebody is told of", i);
        folder_need(chown(in(name), cases[i].uid, cases[i].uid), "chown of the folder");
        snprintf(name, sizeof(name), "brim-run-name-%zu/" LIVE_FILE_NAME, i);
        folder_need(chown(in(name), cases[i].uid, cases[i].uid), "chown of the file");
        is_int(look(&s), 1, "run %zu of somebody is found", i);
        is_str(s.runs[0].user, cases[i].want, "a run of user %u that says '%s' has its name",
               (unsigned)cases[i].uid, cases[i].said);
        closep(&fd);
    }
}

int main(void)
{
    folder_make(root);
    test_while_it_is_held();
    test_hostile();
    test_one();
    test_many();
    if (geteuid() == 0) {
        test_users();
        test_owner();
        test_names();
    }
    folder_remove(root);
    return done();
}
