/* A run that cannot be stored for a while: what is said of that, and when it is tried again. */
#include "run/archive/retry.h"

#include <math.h>
#include <signal.h>
#include <sys/resource.h>

#include "folder.h"
#include "tap.h"

enum { MOMENTS_MAX = 4096 };

#define S ((int64_t)1000 * 1000 * 1000)

struct heard {
    int n;
    char text[640];
};

static void hear(void *arg, const char *sentence)
{
    struct heard *h = arg;

    h->n++;
    snprintf(h->text, sizeof(h->text), "%s", sentence);
}

static const struct run started = { .id = "r1", .host = "node1", .begin_ns = 1000 * S };

/* Nothing is printed while it holds, for that may go to a file as well. */
static void limit_files(rlim_t most)
{
    struct rlimit l;

    folder_need(getrlimit(RLIMIT_FSIZE, &l), "getrlimit");
    l.rlim_cur = most;
    folder_need(setrlimit(RLIMIT_FSIZE, &l), "setrlimit");
}

static size_t moments_in(const char *root)
{
    char folder[PATH_MAX];
    struct run r;
    size_t n;

    snprintf(folder, sizeof(folder), "%s/r1", root);
    folder_need(run_load(folder, &r, NULL), folder);
    n = r.n_moments;
    run_done(&r);
    return n;
}

static void test_again(const char *root)
{
    struct run_moment m = { .seconds = 1, .wall_ns = 1001 * S };
    CLEANUP(rings_closep) struct rings *rings = NULL;
    struct heard heard = { 0 };
    struct archive_retry k = { .say = hear, .arg = &heard };
    struct rank_steps none;
    bool stored;

    rank_steps_init(&none);
    folder_need(rings_open(&rings, root, NULL), root);
    archive_retry_begin(&k, root, &started, 0);
    archive_retry_now(&k, &m, rings, &none, 1 * S);
    ok(k.archive && !heard.n && moments_in(root) == 1, "a moment is stored at once");
    limit_files(10);
    archive_retry_now(&k, &m, rings, &none, 2 * S);
    limit_files(RLIM_INFINITY);
    is_int(heard.n, 1, "the user hears of a moment that is not stored");
    ok(!strncmp(heard.text, "the run is not stored: ", 23) &&
           strstr(heard.text, ": File too large; the job goes on"),
       "the sentence has the reason: %s", heard.text);
    ok(!archive_retry_about(&k, &started, 3 * S), "what is known is not stored soon after");
    archive_retry_now(&k, &m, rings, &none, 12 * S - 1);
    is_int((long long)moments_in(root), 1, "a moment is not tried again before 10 s have passed");
    ok(!archive_retry_about(&k, &started, 12 * S - 1), "neither is what is known of the run");
    archive_retry_now(&k, &m, rings, &none, 12 * S);
    is_int((long long)moments_in(root), 2, "a moment is tried again after 10 s");
    is_int(k.failed_ns, 0, "what failed before is forgotten when it went well");
    archive_retry_now(&k, NULL, rings, &none, 12 * S + 1);
    is_int((long long)moments_in(root), 2, "no moment is stored where there is none");
    archive_retry_now(&k, &m, rings, &none, 12 * S + 2);
    is_int((long long)moments_in(root), 3, "what went well is not waited for");
    ok(archive_retry_about(&k, &started, 12 * S + 3), "what is known of the run is stored again");
    limit_files(10);
    stored = archive_retry_about(&k, &started, 14 * S);
    limit_files(RLIM_INFINITY);
    ok(!stored, "what is known is not stored without room");
    is_int(heard.n, 1, "what was said once is not said again");
    ok(!archive_retry_about(&k, &started, 15 * S), "what failed is not tried again soon after");
    ok(archive_retry_about(&k, &started, 24 * S),
       "what is known of the run is tried again after 10 s");
    ok(!archive_retry_end(&k, &started), "a run of which something is missing is not stored whole");
    archive_retry_done(&k);
    ok(!k.archive, "an archive that is done is forgotten");
    ok(!archive_retry_end(&k, &started), "without an archive no end is stored");
    ok(!archive_retry_about(&k, &started, 99 * S), "without an archive nothing is stored");
    rank_steps_done(&none);
}

/* A run that cannot even begin; one that ends well; one whose end finds no room. */
static void test_ends(const char *root)
{
    struct heard heard = { 0 };
    struct archive_retry k = { .say = hear, .arg = &heard };
    struct run ended = started;
    bool stored;

    ended.end = RUN_EXITED;
    limit_files(10);
    archive_retry_begin(&k, root, &started, 5);
    limit_files(RLIM_INFINITY);
    ok(!k.archive && heard.n == 1 && k.failed_ns == 5,
       "the user hears of a run that is not stored at all");
    archive_retry_now(&k, NULL, NULL, NULL, 99 * S);
    archive_retry_done(&k);
    k = (struct archive_retry){ .say = hear, .arg = &heard };
    archive_retry_begin(&k, root, &started, 0);
    ok(archive_retry_end(&k, &ended), "a run that ends well is stored whole");
    is_int(heard.n, 1, "nothing is said of a run that ends well");
    limit_files(10);
    stored = archive_retry_end(&k, &ended);
    limit_files(RLIM_INFINITY);
    ok(!stored, "a run whose end has no room is not stored whole");
    is_int(heard.n, 2, "the user hears of an end that is not stored");
    archive_retry_done(&k);
}

/* Without marks the inferred steps are stored, and with marks those. */
static void test_lanes(const char *root)
{
    CLEANUP(rings_closep) struct rings *rings = NULL;
    const struct rank_steps far = { .rank = 5, .host = "node2" };
    const struct step step = { .end_ns = S };
    struct heard heard = { 0 };
    struct archive_retry k = { .say = hear, .arg = &heard };
    struct rank_steps inferred;
    char path[PATH_MAX];
    struct run r;
    size_t ring;

    rank_steps_init(&inferred);
    folder_need(rings_open(&rings, root, NULL), root);
    archive_retry_begin(&k, root, &started, 0);
    archive_retry_now(&k, NULL, rings, &inferred, 1);
    snprintf(path, sizeof(path), "%s/r1", root);
    folder_need(run_load(path, &r, NULL), path);
    is_int((long long)r.n_ranks, 0, "inferred steps are not stored before there is one");
    run_done(&r);
    inferred.rank = 1;
    folder_need(rank_steps_step(&inferred, &step), "a step");
    archive_retry_now(&k, NULL, rings, &inferred, 1);
    folder_need(run_load(path, &r, NULL), path);
    ok(r.n_ranks == 1 && r.ranks[0].rank == 1, "inferred steps are stored");
    run_done(&r);
    folder_need(rings_far_add(rings, &far, &ring), "a ring");
    folder_need(rings_far_step(rings, ring, &step), "a step");
    folder_need(rings_far_step(rings, ring, &step), "a step");
    archive_retry_now(&k, NULL, rings, &inferred, 1);
    folder_need(run_load(path, &r, NULL), path);
    ok(r.n_ranks == 1 && r.ranks[0].rank == 5 && r.ranks[0].total.number == 2,
       "steps of rings are stored in place of inferred ones");
    run_done(&r);
    archive_retry_done(&k);
    rank_steps_done(&inferred);
}

/* A run that is kept in memory alone: of a long one moments get coarser. */
static void test_in_memory(void)
{
    struct run r = { .id = "r1" };
    struct run_moment m = { .seconds = 1 };
    int rc = 0;

    for (int i = 0; i < MOMENTS_MAX && rc == 0; i++) {
        m.wall_ns = i * S;
        m.values[RUN_CPUS] = i;
        rc = archive_retry_in_memory(&r, &m);
    }
    is_int(rc, 0, "moments are kept in memory");
    ok(r.n_moments == MOMENTS_MAX && r.moments[MOMENTS_MAX - 1].seconds == 1,
       "as many moments as there is room for are kept as they are");
    m.values[RUN_CPUS] = 7;
    is_int(archive_retry_in_memory(&r, &m), 0, "a moment more is kept");
    is_int((long long)r.n_moments, MOMENTS_MAX / 2 + 1, "two moments each become one");
    ok(r.moments[0].values[RUN_CPUS] == 0.5 && r.moments[0].seconds == 2 &&
           r.moments[0].wall_ns == S,
       "the first two moments are one of their mean");
    ok(r.moments[MOMENTS_MAX / 2 - 1].values[RUN_CPUS] == MOMENTS_MAX - 1.5,
       "the last two moments are one of their mean");
    ok(r.moments[MOMENTS_MAX / 2].values[RUN_CPUS] == 7 && r.moments[MOMENTS_MAX / 2].seconds == 1,
       "the moment that came last is as it was");
    run_done(&r);
}

int main(void)
{
    void (*const tests[])(const char *) = { test_again, test_ends, test_lanes };
    char root[PATH_MAX];

    signal(SIGXFSZ, SIG_IGN);
    for (size_t i = 0; i < ARRAY_SIZE(tests); i++) {
        folder_make(root);
        tests[i](root);
        folder_remove(root);
    }
    test_in_memory();
    return done();
}
