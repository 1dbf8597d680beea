#include "run/job/sweep.h"

#include <signal.h>

enum { MEMBERS = 4096 };

void sweep_ask(pid_t first, const pid_t *ranks, size_t n)
{
    kill(first, SIGTERM);
    for (size_t i = 0; i < n; i++)
        if (ranks[i] > 1 && ranks[i] != first)
            kill(ranks[i], SIGTERM);
}

size_t sweep_all(struct family *f, int number)
{
    struct family_growth growth;
    struct family_kin kin[MEMBERS];
    size_t n;

    if (family_sample(f, &growth) < 0)
        return 0;
    n = family_kin(f, kin, MEMBERS);
    for (size_t i = 0; i < n && number; i++)
        kill(kin[i].pid, number);
    return n;
}
