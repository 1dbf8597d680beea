/* Proposals for a loader: workers that fit the machine, epochs that are short, batches ahead; and
 * that brim why advises the same. */
#include "tune/propose/propose.h"

#include "proposed.h"
#include "tap.h"

enum { SEEDS = 20 };

static const char *workers(struct proposed *p)
{
    const struct candidate *c;

    again(p);
    c = allowed(p, "loader.workers");
    return c ? c->value : NULL;
}

static void test_workers(void)
{
    struct made m = waiting();
    struct proposed p;
    const struct candidate *c;

    open_made(&p, &m);
    is_str(workers(&p), "5", "1.15 x 80 ms / 20 ms, rounded up");
    c = allowed(&p, "loader.workers");
    is_str(c->before, "0", "workers are proposed in place of none");
    ok(c->gain > 4.9 && c->gain < 5.1, "the workers promise to be %.2f times as fast", c->gain);
    for (size_t i = 0; i < p.run.n_moments; i++)
        p.run.moments[i].values[RUN_MEMORY_AVAILABLE] = 2e9;
    is_str(workers(&p), "3", "workers are proposed for the memory that is free");
    for (size_t i = 0; i < p.run.n_moments; i++)
        p.run.moments[i].values[RUN_MEMORY_AVAILABLE] = (double)NAN;
    p.run.ranks[0].notes[0] = (struct run_note){
        "note.0", "loader 1: workers 0, batch 16, batch_bytes 1000000, kind map"
    };
    p.about.shm_free_b = 13e6;
    is_str(workers(&p), "2", "workers are proposed for the room in /dev/shm");
    p.run.ranks[0].notes[0].value = "loader 1: workers 0, batch 16, kind iterable";
    is_str(workers(&p), "1", "one for data that come as a stream");
    c = allowed(&p, "loader.workers");
    ok(c && strstr(c->why, "1 worker can read a stream ahead"),
       "the reason names one worker for a stream: %s", c ? c->why : "");
    p.run.ranks[0].notes[0].value = "loader 1: workers 1, batch 16, kind iterable";
    is_str(workers(&p), NULL, "a stream that has a worker gets no more");
    close_made(&p);

    m.s[RUN_CPUS] = 2;
    m.s[RUN_RANK_CPU] = 1;
    open_made(&p, &m);
    is_str(workers(&p), "2", "decoding takes CPUs, of which there are two");
    c = allowed(&p, "loader.workers");
    ok(c && c->gain <= 2.01, "workers that decode promise to be %.2f times as fast at most",
       c ? c->gain : 0);
    close_made(&p);

    m.s[RUN_CPUS] = 0;
    open_made(&p, &m);
    c = workers(&p) ? allowed(&p, "loader.workers") : NULL;
    ok(c && c->gain > 1.5, "a run that saw no CPUs is not thought to lack them: %.2f times",
       c ? c->gain : 0);
    close_made(&p);
}

/* A run's file may say anything. */
static void test_unknown_cpus(void)
{
    static const double cpus[] = { (double)NAN, 0, -1 };

    for (size_t i = 0; i < ARRAY_SIZE(cpus); i++) {
        struct made m = waiting();
        struct proposed p;

        m.s[RUN_CPUS] = cpus[i];
        open_made(&p, &m);
        is_str(workers(&p), "5", "workers are proposed as the job needs where %g CPUs are told",
               cpus[i]);
        close_made(&p);
    }
}

static void test_busy_workers(void)
{
    struct made m = waiting();
    struct proposed p;

    m.notes[0][1] = "loader 1: workers 4, batch 16, prefetch 2, pin no, kind map";
    m.s[RUN_WORKER_CPU] = 0.1;
    m.share[BRIM_STAGE_WAIT] = 0.79;
    m.share[BRIM_STAGE_BACKWARD] = 0.21;
    open_made(&p, &m);
    is_str(workers(&p), "22", "four that are busy all the time: 1.15 x 400 ms / 21 ms");
    close_made(&p);
    m.share[BRIM_STAGE_WAIT] = 0.04;
    m.share[BRIM_STAGE_BACKWARD] = 0.96;
    open_made(&p, &m);
    is_str(workers(&p), NULL, "with 4 %% of waiting they are not: nothing is known");
    close_made(&p);
}

/* Epochs of 16 steps: workers that stay, and no more of them than an epoch has batches. */
static void test_short_epochs(void)
{
    struct made m = waiting();
    struct proposed p;
    const struct candidate *c;

    m.notes[0][1] = "loader 1: workers 0, batch 16, persistent no, kind map, epoch 4";
    open_made(&p, &m);
    is_str(workers(&p), "4", "an epoch of four batches has work for four workers");
    c = allowed(&p, "loader.workers");
    ok(c->also && !strcmp(c->also->name, "loader.persistent"), "workers of short epochs stay");
    ok(strstr(c->why, ", and stay from one short epoch to the next") != NULL,
       "a proposal tells that workers stay: %s", c->why);
    /* 20 ms to compute, and a fourth of the 80 ms that the first batch is waited for. */
    ok(c->gain > 2.4 && c->gain < 2.6, "the first batch of an epoch is waited for: %.2f", c->gain);
    p.run.ranks[0].notes[0].value = "loader 1: workers 0, batch 16, persistent no, kind map, "
                                    "epoch 49";
    is_str(workers(&p), "5", "a longer epoch has work for all that keep up");
    c = allowed(&p, "loader.workers");
    ok(c && !c->also, "five workers start in 5 %% of 49 steps, and may start anew");
    p.run.ranks[0].notes[0].value = "loader 1: workers 0, batch 16, persistent no, kind map, "
                                    "epoch 40";
    again(&p);
    c = allowed(&p, "loader.workers");
    ok(c && c->also, "five workers start in more than 5 %% of 40 steps, and stay");
    p.run.ranks[0].notes[0].value = "loader 1: workers 0, batch 16, persistent no, kind iterable, "
                                    "epoch 40";
    again(&p);
    c = allowed(&p, "loader.workers");
    ok(c && !c->also, "the worker of a stream ends with it");
    close_made(&p);
}

/* The thread that fetches counts, not those of a BLAS that spin meanwhile; workers that sleep do
 * not share CPUs. */
static void test_who_fetches(void)
{
    struct made m = waiting();
    struct proposed p;

    m.s[RUN_CPUS] = 2;
    m.s[RUN_RANK_CPU] = 1.9;
    m.s[RUN_RANK_THREAD_CPU] = 0.24;
    open_made(&p, &m);
    is_str(workers(&p), "5", "a thread that sleeps as it fetches leaves room for all workers");
    close_made(&p);
    m.s[RUN_RANK_THREAD_CPU] = 0.9;
    open_made(&p, &m);
    is_str(workers(&p), "2", "a thread that decodes leaves room for two workers on two CPUs");
    close_made(&p);
    m = made_like(CAUSE_MANY_WORKERS, 1);
    m.s[RUN_CPUS] = 4;
    m.s[RUN_WORKERS] = 128 * (double)m.ranks;
    m.s[RUN_WORKER_CPU] = 0.0004;
    open_made(&p, &m);
    again(&p);
    ok(!allowed(&p, "loader.workers"), "many workers that sleep are left as they are");
    close_made(&p);
}

/* Two workers of the job's, whose start is waited for 1.6 s in each epoch of 16 steps. */
static void test_start_of_workers(void)
{
    struct made m = waiting();
    struct proposed p;

    m.share[BRIM_STAGE_WAIT] = 0.52;
    m.share[BRIM_STAGE_BACKWARD] = 0.48;
    m.notes[0][1] = "loader 1: workers 2, batch 16, persistent no, kind map, epoch 16";
    open_made(&p, &m);
    for (size_t i = 0; i < p.run.ranks[0].n_steps; i++)
        p.run.ranks[0].steps[i].host_s[BRIM_STAGE_WAIT] = i % 16 == 5 ? 0.8 : 0.002;
    is_str(workers(&p), NULL, "the start of workers is no fetching, and more of them help nothing");
    p.run.ranks[0].notes[0].value = "loader 1: workers 2, batch 16, persistent yes, kind map, "
                                    "epoch 16";
    is_str(workers(&p), "5", "workers that stay and are waited for are too few");
    close_made(&p);
}

static void test_prefetch(void)
{
    struct made m = waiting();
    struct proposed p;
    const struct candidate *c;

    m.notes[0][1] = "loader 1: workers 4, batch 16, prefetch 2, pin no, kind map";
    m.share[BRIM_STAGE_WAIT] = 0;
    m.share[BRIM_STAGE_BACKWARD] = 1;
    open_made(&p, &m);
    for (size_t i = 10; i < p.run.ranks[0].n_steps; i += 20)
        p.run.ranks[0].steps[i].host_s[BRIM_STAGE_WAIT] = 1;
    again(&p);
    c = allowed(&p, "loader.prefetch");
    ok(c && !strcmp(c->before, "2") && strtol(c->value, NULL, 10) >= 4,
       "waits of ten steps, once in twenty: %s ahead", c ? c->value : "none");
    ok(!allowed(&p, "loader.workers"), "short waits do not bring more workers");
    close_made(&p);
}

/* The workers that a verdict advises; 0: none. */
static long advised(const struct verdict *v)
{
    for (size_t i = 0; i < v->count; i++)
        if (v->items[i].action && !strncmp(v->items[i].action, "num_workers=", 12))
            return strtol(v->items[i].action + 12, NULL, 10);
    return 0;
}

/* What brim why advises is what brim optimize tries: of all causes, with workers and without, on
 * few CPUs and many, with little memory. */
static void test_one_number(void)
{
    static const double memories_b[] = { 40e9, 2e9 }, cpus[] = { 2, 8, 64 };
    int both = 0, apart = 0;

    for (int cause = CAUSE_NONE; cause < CAUSE_UNKNOWN; cause++)
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            struct made m = made_like((enum cause)cause, seed);
            const struct candidate *c;
            struct proposed p;
            long said;

            m.s[RUN_MEMORY_AVAILABLE] = memories_b[seed % 2];
            m.s[RUN_CPUS] = seed % 5 ? m.s[RUN_CPUS] : cpus[seed % 3];
            open_made(&p, &m);
            again(&p);
            c = allowed(&p, "loader.workers");
            said = advised(&p.verdict);
            /* What promises less than 2 % is advised and not tried; fewer workers are no advice. */
            both += said && c;
            if (said && c && strtol(c->value, NULL, 10) != said) {
                apart++;
                printf("# %s, seed %d: why says %ld, optimize %s\n", cause_name((enum cause)cause),
                       (int)seed, said, c->value);
            }
            close_made(&p);
        }
    ok(both >= 50, "workers are advised and tried in %d made runs", both);
    is_int(apart, 0, "advice and proposal are the same number in all of them");
}

int main(void)
{
    test_workers();
    test_unknown_cpus();
    test_busy_workers();
    test_short_epochs();
    test_start_of_workers();
    test_who_fetches();
    test_prefetch();
    test_one_number();
    return done();
}
