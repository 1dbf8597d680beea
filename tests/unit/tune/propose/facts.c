/* What is known of a run under a name: its notes, words in them, signals, ranks. */
#include "tune/propose/facts.h"

#include <math.h>
#include <string.h>

#include "tap.h"

static bool no_memory;

struct made {
    struct run run;
    struct run_rank ranks[3];
    struct run_note notes[3][8];
    struct run_moment moments[4];
    struct arena scratch;
};

static struct facts facts_of(struct made *m)
{
    m->run.ranks = m->ranks;
    for (size_t i = 0; i < ARRAY_SIZE(m->ranks); i++)
        m->ranks[i].notes = m->notes[i];
    m->run.moments = m->moments;
    no_memory = false;
    return (struct facts){ &m->run, &m->scratch, &no_memory };
}

static void note(struct made *m, size_t rank, const char *name, const char *value)
{
    m->notes[rank][m->ranks[rank].n_notes++] = (struct run_note){ name, value };
    m->run.n_ranks = rank + 1 > m->run.n_ranks ? rank + 1 : m->run.n_ranks;
}

static void test_words(void)
{
    static const struct {
        const char *name, *want;
    } known[] = {
        { "loader.workers", "4" },
        { "loader.batch", "32" },
        { "loader.kind", "map" },
        { "loader.batc", NULL },
        { "loader.pin", NULL }, /* none */
        { "loader.prefetch", "3" },
        { "process.torch", "2.4.0" },
        { "process.threads", "8" },
        { "process.reads", NULL },
        { "ddp.bucket", "25" },
        { "plain", "yes" },
        { "plain.x", "exact" },
        { "other.x", NULL },
        { "loader", NULL },
        { "validation.batch", NULL },
        { "aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd.x", NULL },
        { "aaaaaaaaaabbbbbbbbbbccccccccccddddddddd.x", "7" },
    };
    struct made m = { .run = { .id = NULL } };
    struct facts f;

    note(&m, 0, "note.0", "loader 1: workers 9, batch 32, prefetch 3, pin none, kind map");
    note(&m, 0, "note.1", "loader 2: workers 7, batch 64");
    note(&m, 0, "note.2", "loader 1: workers 4, spread 5");
    note(&m, 0, "process", "torch 2.4.0, threads 8, rereads 5");
    note(&m, 0, "plain", "yes");
    note(&m, 0, "plain.x", "exact");
    note(&m, 0, "note.3", "aaaaaaaaaabbbbbbbbbbccccccccccddddddddd: x 7");
    note(&m, 0, "note.4", "aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd: x 7");
    note(&m, 1, "note.0", "ddp: bucket 25, view no");
    f = facts_of(&m);
    for (size_t i = 0; i < ARRAY_SIZE(known); i++)
        is_str(facts_look(&f, known[i].name), known[i].want, "what is known as %s", known[i].name);
    ok(fabs(facts_number(&f, "loader.batch") - 32) < 1e-9, "a number is read");
    ok(isnan(facts_number(&f, "loader.kind")), "a word is no number");
    ok(isnan(facts_number(&f, "nothing")), "what is not known is no number");
    is_str(facts_look(&f, "ranks"), "2", "the ranks are counted");
    ok(!no_memory, "there was memory for all texts");
    arena_done(&m.scratch);
}

static void test_signals(void)
{
    struct made m = { .run = { .id = NULL } };
    struct facts f;

    for (size_t i = 0; i < ARRAY_SIZE(m.moments); i++) {
        for (int s = 0; s < RUN_SIGNALS; s++)
            m.moments[i].values[s] = (double)NAN;
        m.moments[i].seconds = (double)i; /* the first lasts no time */
    }
    m.run.n_moments = ARRAY_SIZE(m.moments);
    m.moments[0].values[RUN_GPUS] = 100;
    m.moments[1].values[RUN_GPUS] = 1;
    m.moments[2].values[RUN_GPUS] = (double)INFINITY;
    m.moments[3].values[RUN_GPUS] = 3;
    f = facts_of(&m);
    ok(fabs(facts_signal(&f, RUN_GPUS) - 2.5) < 1e-9,
       "a signal is the mean over the time in which it was known");
    is_str(facts_look(&f, "gpus"), "2.5", "a signal is found by its name");
    ok(isnan(facts_signal(&f, RUN_CPUS)), "a signal that was never known is not known");
    ok(!facts_look(&f, "cpus"), "a signal that is not known has no text");
    arena_done(&m.scratch);
}

static void test_hosts(void)
{
    struct made m = { .run = { .id = NULL, .n_ranks = 3 } };
    struct facts f = facts_of(&m);

    is_int((long long)facts_ranks_here(&f), 3, "ranks of unknown hosts are here");
    m.run.host = "n1";
    is_int((long long)facts_ranks_here(&f), 3, "ranks without a host are here");
    m.ranks[0].host = "n1";
    m.ranks[1].host = m.ranks[2].host = "n2";
    is_int((long long)facts_ranks_here(&f), 1, "ranks of another host are not here");
    m.run.host = "n3";
    is_int((long long)facts_ranks_here(&f), 1, "one rank is here at least");
    m.run.host = NULL;
    is_int((long long)facts_ranks_here(&f), 3,
           "all ranks are here where nobody says where that is");
    m.run.host = "n2";
    m.ranks[0].host = NULL;
    is_int((long long)facts_ranks_here(&f), 3, "a rank without a host counts beside others");
    m.run.n_ranks = 0;
    is_int((long long)facts_ranks_here(&f), 1, "a run without ranks counts as one");
}

int main(void)
{
    test_words();
    test_signals();
    test_hosts();
    return done();
}
