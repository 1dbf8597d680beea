/* A job that runs already, watched from outside: a shell's children, by a clock of the test in
 * which time passes as fast as it is looked at. */
#include "run/watch/outside.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include "folder.h"
#include "tap.h"

/* A test ends this way when what it waits for does not come. */
enum { TURNS_MOST = 12000, TURN_MS = 5 };

/* By so much the clock goes on when it is read. */
#define READ_NS (NS_PER_S / 10)

static int64_t now_ns, ends_ns; /* when the job is killed; 0: it is not */
static pid_t job;

static int64_t read_clock(void *arg)
{
    (void)arg;
    now_ns += READ_NS;
    if (ends_ns && now_ns >= ends_ns) {
        ends_ns = 0;
        kill(job, SIGKILL);
        waitpid(job, NULL, 0);
    }
    return now_ns;
}

static const struct clock quick = { read_clock, read_clock, NULL };

/* Whether the kernel tells the variables of the job's program, as it does once that has begun. */
static bool has_begun(void)
{
    char path[64], text[64] = "";
    ssize_t len;
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/environ", (int)job);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    len = read(fd, text, sizeof(text) - 1);
    close(fd);
    return len > 0 && !strncmp(text, "OMP_NUM_THREADS=3", 17);
}

/* A process in a folder, which waits. */
static void begin(const char *folder)
{
    now_ns = 1000 * NS_PER_S;
    job = fork();
    folder_need(job, "fork");
    if (job == 0) {
        char *const env[] = { (char[]){ "OMP_NUM_THREADS=3" }, (char[]){ "HOME=/" }, NULL };

        if (chdir(folder) == 0)
            execle("/bin/sleep", "/x/train.py", "1000", (char *)NULL, env);
        _exit(127);
    }
    for (int i = 0; i < TURNS_MOST && !has_begun(); i++)
        (void)poll(NULL, 0, TURN_MS);
}

static void end(void)
{
    kill(job, SIGKILL);
    waitpid(job, NULL, 0);
}

static const char *note(const struct run *r, const char *name)
{
    for (size_t i = 0; i < r->n_environment; i++)
        if (!strcmp(r->environment[i].name, name))
            return r->environment[i].value;
    return NULL;
}

static void test_still(const char *folder)
{
    struct outside c = { .clock = &quick, .for_ns = 60 * NS_PER_S };
    struct err e = { "" };
    struct run r;

    begin(folder);
    c.pid = job;
    is_int(outside_watch(&c, &r, &e), 0, "a job that runs is watched: %s", e.text);
    ok(!r.id && r.end == RUN_RUNNING, "a job that is watched from outside is no run that is kept");
    is_str(r.name, "train.py", "a job is called after its program");
    is_str(r.command, "/x/train.py 1000", "a job has its command");
    is_str(r.folder, folder, "a job has its folder");
    is_str(note(&r, "env.OMP_NUM_THREADS"), "3", "a job has its variables");
    ok(!note(&r, "env.HOME"), "a job has no variables that nobody needs");
    ok(r.n_moments >= 20 && r.n_moments < 60, "a job has a moment a second: %zu", r.n_moments);
    ok(r.moments[0].values[RUN_JOB_PROCESSES] == 1 && r.moments[0].seconds >= 1,
       "a moment has what the job is");
    ok(r.n_ranks == 1 && r.ranks[0].pid == job && r.ranks[0].rank == 0 && r.ranks[0].world == 1,
       "a process alone is the one rank");
    is_str(r.inferred,
           "no steps were marked, and nothing repeats itself at 10 Hz: shares are of the time",
           "where nothing repeats itself it is said");
    ok(r.inferred_confidence == 0, "moments are no steps that anybody found");
    is_int((long long)r.ranks[0].n_steps, (long long)r.n_moments, "each moment is a step");
    for (size_t i = 0; i < r.n_moments && i < r.ranks[0].n_steps; i++) {
        const struct step *s = &r.ranks[0].steps[i];

        if (s->number != i || s->end_ns != r.moments[i].monotonic_ns ||
            llabs(s->end_ns - s->begin_ns - clock_ns(r.moments[i].seconds)) > 1000 ||
            fabs(s->host_s[BRIM_STAGE_OTHER] - r.moments[i].seconds) > 1e-6 ||
            !isnan(s->device_s[0]) || !isnan(s->samples) || !isnan(s->loss))
            ok(false, "step %zu is its moment", i);
    }
    ok(r.begin_ns > 0 && r.end_ns - r.begin_ns >= 60 * NS_PER_S, "a job is watched for its time");
    run_done(&r);
    end();
}

static void test_ends(const char *folder)
{
    struct outside c = { .clock = &quick, .for_ns = 600 * NS_PER_S };
    struct err e = { "" };
    struct run r;

    begin(folder);
    c.pid = job;
    ends_ns = now_ns + 60 * NS_PER_S;
    is_int(outside_watch(&c, &r, &e), 0, "a job that ends meanwhile is watched: %s", e.text);
    ok(r.n_moments > 0 && r.end_ns - r.begin_ns < 120 * NS_PER_S,
       "a job is watched until it ends: %zu", r.n_moments);
    is_int((long long)r.n_ranks, 1, "a job that has ended had its rank");
    run_done(&r);
    begin(folder);
    c.pid = job;
    end();
    is_int(outside_watch(&c, &r, &e), -ESRCH, "a job that has ended is not watched");
    ok(strstr(e.text, " ended before anything could be seen of it"),
       "the error says that the job has ended: %s", e.text);
    run_done(&r);
}

int main(void)
{
    char folder[PATH_MAX];

    folder_make(folder);
    test_still(folder);
    test_ends(folder);
    folder_remove(folder);
    return done();
}
