/* Which causes explain others: every pair of causes, put before the pass as two items. A pair that
 * explains and stands in no case below fails, and so does a case that does not explain. */
#include "diagnose/verdict/explain.h"

#include "tap.h"

enum { MOST = 10 };

/* How much of the other's cost a cause has to cost to explain it. */
enum needs { ANY, HALF, ALL };

/* What is left out where the first cause is found as well. */
static const struct {
    enum cause why;
    enum needs needs, needs_stolen; /* the second one where a hypervisor takes the CPUs */
    enum cause seen[MOST];          /* ended by CAUSE_NONE */
} cases[] = {
    /* no memory: files are read again, their pages are searched for, and workers wait for both */
    { CAUSE_MEMORY_PRESSURE,
      ANY,
      ANY,
      { CAUSE_STORAGE_BANDWIDTH, CAUSE_STORAGE_LATENCY, CAUSE_SMALL_FILES, CAUSE_STORAGE_CONTENTION,
        CAUSE_LOADER_WAITS, CAUSE_LOADER_CPU, CAUSE_FEW_WORKERS } },
    /* no CPUs: whatever computes takes longer */
    { CAUSE_CPU_QUOTA,
      HALF,
      HALF,
      { CAUSE_CPU_NEIGHBOURS, CAUSE_LOADER_CPU, CAUSE_LOADER_WAITS, CAUSE_FEW_WORKERS,
        CAUSE_MANY_WORKERS, CAUSE_CPU_THREADS, CAUSE_CPU_SPINNING } },
    { CAUSE_CPU_NEIGHBOURS,
      HALF,
      ALL,
      { CAUSE_LOADER_CPU, CAUSE_LOADER_WAITS, CAUSE_FEW_WORKERS, CAUSE_MANY_WORKERS,
        CAUSE_CPU_THREADS, CAUSE_CPU_SPINNING } },
    { CAUSE_CPU_BINDING,
      HALF,
      HALF,
      { CAUSE_LOADER_CPU, CAUSE_LOADER_WAITS, CAUSE_FEW_WORKERS, CAUSE_MANY_WORKERS,
        CAUSE_CPU_THREADS, CAUSE_CPU_SPINNING, CAUSE_COMMUNICATION, CAUSE_IMBALANCE } },
    { CAUSE_MANY_WORKERS,
      ANY,
      ANY,
      { CAUSE_LOADER_CPU, CAUSE_LOADER_WAITS, CAUSE_FEW_WORKERS, CAUSE_CPU_THREADS } },
    /* steps so short that calls cost most: the loader's call is one of them, as is the loop */
    { CAUSE_SMALL_BATCH, ALL, ALL, { CAUSE_LOADER_CPU, CAUSE_FEW_WORKERS, CAUSE_LOOP } },
    /* pools of threads in each other's way: long steps at equal distances */
    { CAUSE_CPU_SPINNING, ANY, ANY, { CAUSE_GC } },
    /* products of matrices are slow for their threads or their memory first */
    { CAUSE_CPU_THREADS, ANY, ANY, { CAUSE_BLAS } },
    { CAUSE_NUMA, ANY, ANY, { CAUSE_BLAS } },
    /* a thread that may not run is not one of too few, nor busy outside of the stages */
    { CAUSE_PYTHON_LOCK, ANY, ANY, { CAUSE_CPU_THREADS, CAUSE_LOOP } },
    { CAUSE_PCIE, ANY, ANY, { CAUSE_PAGEABLE_COPY } },
    /* one rank is slow: its loop, its clocks, and what the others wait for it */
    { CAUSE_SLOW_RANK, ANY, ANY, { CAUSE_LOOP, CAUSE_IMBALANCE, CAUSE_THERMAL } },
    { CAUSE_LOSSY_NETWORK, ANY, ANY, { CAUSE_SLOW_LINK, CAUSE_COMMUNICATION } },
    { CAUSE_SLOW_LINK, ANY, ANY, { CAUSE_COMMUNICATION } },
    { CAUSE_THERMAL, ANY, ANY, { CAUSE_POWER_CAP } },
};

/* Of the cost of what is explained, a share that is enough; and one that is too little, below 0
 * where any is enough. */
static const struct {
    double enough, little;
} shares[] = { [ANY] = { 0.01, -1 }, [HALF] = { 0.5, 0.49 }, [ALL] = { 1, 0.98 } };

static bool find_case(enum cause why, enum cause seen, bool stolen, enum needs *needs)
{
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        for (size_t k = 0; cases[i].why == why && cases[i].seen[k] != CAUSE_NONE; k++)
            if (cases[i].seen[k] == seen) {
                *needs = stolen ? cases[i].needs_stolen : cases[i].needs;
                return true;
            }
    return false;
}

/* Whether what is seen is left out beside a cause that costs so much of it, in either order; items
 * around them stay. */
static bool is_left_out(enum cause why, enum cause seen, double factor, bool stolen)
{
    static const double cost = 0.4;
    int gone = 0;

    for (int turn = 0; turn < 2; turn++) {
        struct verdict_item items[] = { { .cause = CAUSE_UNKNOWN, .share = 0.9 },
                                        { .cause = turn ? seen : why },
                                        { .cause = turn ? why : seen },
                                        { .cause = CAUSE_UNKNOWN, .share = 0.1 } };
        size_t n;

        items[1 + turn].share = factor * cost;
        items[2 - turn].share = cost;
        n = judge_explain(items, ARRAY_SIZE(items), stolen);
        gone += n == 3 && items[0].share == 0.9 && items[1].cause == why && items[2].share == 0.1;
        if (n < 3 || (n == 3 && items[1].cause != why))
            return false;
    }
    return gone == 2;
}

static void test_pair(enum cause why, enum cause seen, bool stolen)
{
    enum needs needs = ANY;
    const char *host = stolen ? ", beside a hypervisor" : "";

    if (!find_case(why, seen, stolen, &needs)) {
        if (is_left_out(why, seen, 2, stolen))
            ok(false, "%s explains %s%s, and no case says so", cause_name(why), cause_name(seen),
               host);
        return;
    }
    ok(is_left_out(why, seen, shares[needs].enough, stolen),
       "%s explains %s where it costs %.2f of that%s", cause_name(why), cause_name(seen),
       shares[needs].enough, host);
    if (shares[needs].little >= 0)
        ok(!is_left_out(why, seen, shares[needs].little, stolen),
           "%s does not explain %s where it costs %.2f of that%s", cause_name(why),
           cause_name(seen), shares[needs].little, host);
}

static void test_pairs(void)
{
    for (enum cause why = CAUSE_NONE; why < CAUSES; why++)
        for (enum cause seen = CAUSE_NONE; seen < CAUSES; seen++) {
            if (why == seen)
                continue;
            test_pair(why, seen, false);
            test_pair(why, seen, true);
        }
}

/* What is left out explains nothing itself. */
static void test_chain(void)
{
    struct verdict_item items[] = { { .cause = CAUSE_BLAS, .share = 0.3 },
                                    { .cause = CAUSE_CPU_THREADS, .share = 0.3 },
                                    { .cause = CAUSE_CPU_QUOTA, .share = 0.3 } };

    is_int((long long)judge_explain(items, ARRAY_SIZE(items), false), 2,
           "a quota explains the threads, of three causes");
    ok(items[0].cause == CAUSE_BLAS && items[1].cause == CAUSE_CPU_QUOTA,
       "threads that a quota explains do not explain the BLAS");
    is_int((long long)judge_explain(items, 0, false), 0, "nothing is left of no items");
}

int main(void)
{
    test_pairs();
    test_chain();
    return done();
}
