#include "run/job/pss.h"

#include <errno.h>
#include <math.h>
#include <time.h>

#include "base/clock.h"
#include "probe/process/files.h"
#include "probe/process/text.h"

/* Of the time, one part may go into reading; and where processes come and go. */
enum { PROCESSES_MOST = 512, RARITY = 2000, RARITY_CHANGED = 50 };

/* How soon it is read again; and when there are other processes than at the last time. */
#define AGAIN_NS (5 * NS_PER_S)
#define CHANGED_NS (3 * NS_PER_S)

/* Measured: 3.7 ms for 1 GiB of 4 KiB pages, so that this is a second at most. */
static const double resident_most_b = 256e9;

/* Of one process; 0 of one that has ended. NaN: it may not be read, or the kernel lacks it. */
static double read_pss(int proc, pid_t pid)
{
    char text[PROCESS_TEXT] = "";
    int rc = process_files_read(proc, pid, "smaps_rollup", NULL, text);

    if (rc == -ENOENT || rc == -ESRCH) /* the kernel's age shows in that none is there */
        return 0;
    return rc < 0 ? (double)NAN : process_parse_pss(text);
}

/* What reading has taken of a CPU: on a busy machine it lasts longer, and costs no more. */
static int64_t cpu_ns(void)
{
    struct timespec t = { .tv_sec = 0 };

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

/* A quarter more or less: what is known is of another job. */
static bool has_changed(const struct pss *s, size_t n, int64_t now_ns)
{
    return s->processes && (4 * n > 5 * s->processes || 5 * n < 4 * s->processes) &&
           now_ns - s->read_ns >= MAX(CHANGED_NS, RARITY_CHANGED * s->cost_ns);
}

void pss_ask(struct pss *s)
{
    s->due_ns = 0;
}

double pss_look(struct pss *s, int proc, const struct family *f, double resident_b,
                const struct clock *clock)
{
    struct family_kin kin[PROCESSES_MOST];
    size_t n = family_kin(f, kin, PROCESSES_MOST);
    int64_t begin_ns = clock_monotonic_ns(clock), begin_cpu_ns = cpu_ns();
    double sum = 0;

    if ((begin_ns < s->due_ns && !has_changed(s, n, begin_ns)) || n == PROCESSES_MOST ||
        !(resident_b < resident_most_b))
        return (double)NAN;
    for (size_t i = 0; i < n && !isnan(sum); i++)
        sum += read_pss(proc, kin[i].pid);
    s->processes = n;
    s->read_ns = clock_monotonic_ns(clock);
    s->cost_ns = cpu_ns() - begin_cpu_ns;
    s->due_ns = s->read_ns + MAX(AGAIN_NS, RARITY * s->cost_ns);
    return sum > 0 ? sum : (double)NAN;
}
