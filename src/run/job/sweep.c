#include "run/job/sweep.h"

#include <signal.h>
#include <stdbool.h>

enum { MEMBERS = 4096 };

/* The members of now. */
static size_t members(struct family *f, struct family_kin kin[MEMBERS])
{
    struct family_growth growth;

    return family_sample(f, &growth) < 0 ? 0 : family_kin(f, kin, MEMBERS);
}

static bool is_among(pid_t pid, const pid_t *pids, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (pids[i] == pid)
            return true;
    return false;
}

void sweep_ask(struct family *f, pid_t first, const pid_t *ranks, size_t n)
{
    struct family_kin kin[MEMBERS];
    size_t there = members(f, kin);

    /* Ranks are whom rings name, and whoever may write a ring may name anybody. */
    for (size_t i = 0; i < there; i++)
        if (kin[i].pid == first || is_among(kin[i].pid, ranks, n))
            kill(kin[i].pid, SIGTERM);
}

size_t sweep_all(struct family *f, int number)
{
    struct family_kin kin[MEMBERS];
    size_t n = members(f, kin);

    for (size_t i = 0; i < n && number; i++)
        kill(kin[i].pid, number);
    return n;
}
