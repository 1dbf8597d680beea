/* A process that stores is killed at any moment: the file is whole, and has what was acknowledged.
 * t_store_kill ROUNDS: how often; 30. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "base/parse.h"
#include "stored.h"

/* Rows of two things; one does nothing. Each second that is stored is told. */
static void child(struct stored *s, int64_t first, int fd)
{
    struct err e = { "" };

    if (stored_open(s, &e) < 0)
        _exit(3);
    for (int64_t second = first;; second++) {
        tick_begin(&s->tick, second * S_NS, second * S_NS);
        for (int i = 0; i < 20; i++) {
            char name[16];

            snprintf(name, sizeof(name), "vd%d", i);
            stored_row(s, name, i == 1 ? 1 : (double)second + i, i == 1 ? 1 : (double)second);
        }
        if (store_tick(s->store, &s->tick, &e) < 0 ||
            write(fd, &second, sizeof(second)) != sizeof(second))
            _exit(4);
    }
}

/* The last second that was told before the end; first - 1 when none was. */
static int64_t last_told(int fd, int64_t first)
{
    int64_t told[512], last = first - 1;
    ssize_t got;

    while ((got = read(fd, told, sizeof(told))) >= (ssize_t)sizeof(told[0]))
        last = told[(size_t)got / sizeof(told[0]) - 1];
    return last;
}

static unsigned next_random(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static int64_t round_of(struct stored *s, int64_t first, long wait_us)
{
    struct timespec t = { .tv_nsec = wait_us * 1000 };
    int64_t last, there;
    char sql[128];
    int pipes[2], status;
    pid_t pid;

    folder_need(pipe2(pipes, O_CLOEXEC), "pipe2");
    pid = fork();
    folder_need(pid, "fork");
    if (pid == 0) {
        close(pipes[0]);
        child(s, first, pipes[1]);
    }
    close(pipes[1]);
    nanosleep(&t, NULL);
    kill(pid, SIGKILL);
    last = last_told(pipes[0], first);
    close(pipes[0]);
    waitpid(pid, &status, 0);
    if (!WIFSIGNALED(status))
        ok(false, "the child ended by itself: %d", WEXITSTATUS(status));
    if (strcmp(ask(s, "PRAGMA integrity_check"), "ok") != 0)
        ok(false, "the file is whole after a kill behind %ld us: %s", wait_us, s->answer);
    snprintf(sql, sizeof(sql), "SELECT count(DISTINCT t) FROM disk_1s WHERE t >= %lld",
             (long long)first * 1000);
    there = last >= first ? strtoll(ask(s, sql), NULL, 10) : 0;
    if (last >= first && there < last - first + 1)
        ok(false, "after %ld us %lld of %lld acknowledged ticks are there", wait_us,
           (long long)there, (long long)(last - first + 1));
    return last;
}

int main(int argc, char **argv)
{
    uint64_t rounds = 30;
    unsigned state = 42;
    int64_t first = 1000, ticks = 0;
    struct stored s;
    struct err e = { "" };

    if (argc > 1 && parse_u64(argv[1], &rounds) < 0)
        return 2;
    stored_make(&s);
    stored_close(&s);
    for (uint64_t i = 0; i < rounds; i++) {
        int64_t last = round_of(&s, first, 2000 + (long)(next_random(&state) % 250000));

        ticks += last - first + 1;
        first = last + 2; /* the one that was not acknowledged may be there */
    }
    ok(ticks > 0, "the store had %d kills in %lld ticks", (int)rounds, (long long)ticks);
    ok(stored_open(&s, &e) == 0, "the file opens %s", e.text);
    is_str(store_note(s.store), "", "nothing was moved aside");
    put(&s, first, 1, 1);
    stored_remove(&s);
    return done();
}
