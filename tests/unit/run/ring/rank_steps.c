/* The steps of a rank as they are kept: which ones of a long run, their sums, its notes. */
#include "run/ring/rank_steps.h"

#include <math.h>
#include <stdio.h>

#include "tap.h"

enum { ALL = LANE_FIRST + LANE_LAST };

static struct step make_step(uint64_t number)
{
    struct step s = { .number = number,
                      .begin_ns = 10 * (int64_t)number,
                      .end_ns = 10 * (int64_t)number + 8,
                      .samples = 2,
                      .loss = 1.0 / (double)(number + 1),
                      .backwards = 3,
                      .collective_s = 0.5,
                      .collective_b = 7,
                      .collectives = 4 };

    for (unsigned i = 0; i < BRIM_STAGES; i++) {
        s.host_s[i] = i + 1;
        s.device_s[i] = (double)NAN;
    }
    return s;
}

static void fill(struct rank_steps *l, uint64_t n)
{
    int rc = 0;

    for (uint64_t i = l->count; i < n && rc == 0; i++) {
        struct step s = make_step(i);

        rc = rank_steps_step(l, &s);
    }
    is_int(rc, 0, "%llu steps are taken", (unsigned long long)n);
}

static void test_kept(void)
{
    static const struct {
        uint64_t n;
        size_t slot;
    } slots[] = { { 0, 0 },        { 1999, 1999 },  { 2000, 2000 },   { 21999, 21999 },
                  { 22000, 2000 }, { 22001, 2001 }, { 41999, 21999 }, { 42000, 2000 } };
    struct rank_steps l;

    for (size_t i = 0; i < ARRAY_SIZE(slots); i++)
        is_int((long long)rank_steps_slot(slots[i].n), (long long)slots[i].slot,
               "step %llu has its slot", (unsigned long long)slots[i].n);
    rank_steps_init(&l);
    ok(l.rank == -1 && l.local_rank == -1 && l.world == -1 && l.pid == -1 &&
           isnan(l.total.samples) && isnan(l.total.loss) && isnan(l.total.device_s[0]) &&
           isnan(l.total.device_s[BRIM_STAGES - 1]),
       "of a new rank nothing is known");
    fill(&l, ALL);
    is_int((long long)rank_steps_kept(&l), ALL, "22,000 steps are kept");
    is_int((long long)rank_steps_at(&l, 2000)->number, 2000, "22,000 steps are kept whole");
    is_int((long long)rank_steps_at(&l, ALL - 1)->number, ALL - 1, "the last of them is kept");
    fill(&l, ALL + 5);
    is_int((long long)rank_steps_kept(&l), ALL, "no more than 22,000 steps are kept");
    is_int((long long)rank_steps_at(&l, 0)->number, 0, "the first step is kept");
    is_int((long long)rank_steps_at(&l, 1999)->number, 1999, "the last of the first is kept");
    is_int((long long)rank_steps_at(&l, 2000)->number, 2005,
           "steps between the first and the last are dropped");
    is_int((long long)rank_steps_at(&l, ALL - 1)->number, ALL + 4, "the newest step is kept");
    is_int((long long)l.total.number, ALL + 5, "all steps are summed up");
    rank_steps_done(&l);
}

static void test_sums(void)
{
    struct step total = { .samples = (double)NAN, .loss = (double)NAN }, s = make_step(4);

    for (unsigned i = 0; i < BRIM_STAGES; i++)
        total.device_s[i] = (double)NAN;
    rank_steps_sum(&total, &s);
    s = make_step(6);
    s.loss = (double)NAN;
    s.device_s[1] = 0.25;
    s.samples = (double)NAN;
    rank_steps_sum(&total, &s);
    s.device_s[1] = 0.5;
    s.samples = 5;
    rank_steps_sum(&total, &s);
    ok(total.number == 3 && total.begin_ns == 40 && total.end_ns == 68,
       "sums begin with the first step and end with the last");
    ok(total.host_s[0] == 3 && total.host_s[BRIM_STAGES - 1] == 3.0 * BRIM_STAGES,
       "times of stages are added up");
    ok(isnan(total.device_s[0]) && total.device_s[1] == 0.75, "times of the device where told");
    ok(total.samples == 7 && total.loss == 0.2, "samples are added up, the last loss stays");
    ok(total.backwards == 9 && total.collective_s == 1.5 && total.collective_b == 21 &&
           total.collectives == 12,
       "what a step did is added up");
}

static void test_notes(void)
{
    struct rank_steps l;
    char name[80], long_name[80];
    int rc = 0;

    rank_steps_init(&l);
    is_int(rank_steps_note(&l, "a", "1"), 0, "a note is taken");
    is_int(rank_steps_note(&l, "b", "2"), 0, "another note is taken");
    is_int(rank_steps_note(&l, "a", "3"), 0, "a note is taken again");
    ok(l.n_notes == 2 && !strcmp(l.notes[0].value, "3") && !strcmp(l.notes[1].value, "2"),
       "a note of a name is replaced");
    for (int i = 0; i < 600 && rc == 0; i++) {
        snprintf(name, sizeof(name), "n%d", i);
        rc = rank_steps_note(&l, name, "x");
    }
    ok(rc == 0 && l.n_notes == LANE_NOTES && !strcmp(l.notes[LANE_NOTES - 1].name, "n509"),
       "notes that are too many are dropped");
    is_int(rank_steps_note(&l, "b", "4"), 0, "one of them is taken again");
    is_str(l.notes[1].value, "4", "a full list takes new values");
    rank_steps_done(&l);
    rank_steps_init(&l);
    memset(long_name, 'x', sizeof(long_name));
    long_name[70] = 0;
    is_int(rank_steps_note(&l, long_name, "1"), 0, "a long name is taken");
    long_name[64] = 'y';
    is_int(rank_steps_note(&l, long_name, "2"), 0, "a name that is the same for so long");
    ok(l.n_notes == 1 && strlen(l.notes[0].name) == 63, "names are cut, and compared as cut");
    rank_steps_done(&l);
}

static void test_parts(void)
{
    static const struct {
        int64_t since_ns;
        size_t most, n;
    } parts[] = { { 0, 100, 6 }, { 30, 100, 3 }, { 31, 100, 2 }, { 0, 4, 4 },
                  { 50, 1, 1 },  { 51, 100, 0 }, { 0, 0, 0 } };
    struct rank_steps l;

    rank_steps_init(&l);
    l.rank = 3;
    l.local_rank = 1;
    l.world = 8;
    l.pid = 77;
    snprintf(l.host, sizeof(l.host), "h");
    snprintf(l.framework, sizeof(l.framework), "f");
    is_int(rank_steps_note(&l, "a", "1"), 0, "a rank has a note");
    fill(&l, 6);
    for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
        struct run r = { .id = NULL };
        const struct run_rank *k;

        is_int(rank_steps_part_to_run(&l, &r, parts[i].since_ns, parts[i].most), 0,
               "part %zu is made", i);
        is_int((long long)r.n_ranks, parts[i].n > 0, "part %zu is a rank or none", i);
        k = r.ranks;
        if (k)
            ok(k->n_steps == parts[i].n && k->total.number == parts[i].n && k->dropped == 0 &&
                   k->steps[0].number == 6 - parts[i].n && k->steps[parts[i].n - 1].number == 5 &&
                   k->total.begin_ns == k->steps[0].begin_ns,
               "part %zu has the last steps and their sum", i);
        run_done(&r);
    }
    fill(&l, ALL + 9);
    {
        struct run r = { .id = NULL };
        const struct run_rank *k;

        is_int(rank_steps_to_run(&l, &r), 0, "a rank of a long run is made");
        k = r.ranks;
        ok(r.n_ranks == 1 && k->n_steps == ALL && k->dropped == 9 && k->total.number == ALL + 9 &&
               k->steps[2000].number == 2009,
           "a rank of a long run tells how many steps it lacks");
        ok(k->rank == 3 && k->local_rank == 1 && k->world == 8 && k->pid == 77 &&
               !strcmp(k->host, "h") && !strcmp(k->framework, "f") && k->n_notes == 1 &&
               !strcmp(k->notes[0].name, "a") && !strcmp(k->notes[0].value, "1"),
           "a rank tells who it is");
        run_done(&r);
    }
    rank_steps_done(&l);
}

int main(void)
{
    test_kept();
    test_sums();
    test_notes();
    test_parts();
    return done();
}
