/* The search of brim plan on threads: how many there are, what they find together, and what a
 * terminal is told while it takes long, by a clock that goes a tenth of a second each time that it
 * is read. Link with --wrap of the two functions below. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plan/search/searched.h"
#include "base/clock.h"
#include "base/thread.h"
#include "cmd/plan/search.h"
#include "tap.h"

static int64_t now_ns, step_ns = NS_PER_S / 10;
static unsigned asked, most; /* threads that were asked for, and that there may be */

int64_t __wrap_clock_monotonic_ns(const struct clock *c);
int __real_thread_start(pthread_t *ret, void *(*work)(void *arg), void *arg);
int __wrap_thread_start(pthread_t *ret, void *(*work)(void *arg), void *arg);

int64_t __wrap_clock_monotonic_ns(const struct clock *c)
{
    (void)c;
    now_ns += step_ns;
    return now_ns;
}

int __wrap_thread_start(pthread_t *ret, void *(*work)(void *arg), void *arg)
{
    return asked++ < most ? __real_thread_start(ret, work, arg) : -EAGAIN;
}

static struct plan_ask *make_ask(int batch)
{
    struct plan_ask *a = calloc(1, sizeof(*a));

    if (!a)
        abort();
    a->job = dense_job(12, 3072, batch);
    a->cluster = make_cluster(1, 8, 40);
    return a;
}

static size_t count_cells(const struct plan_ask *a, const struct search_opts *opts)
{
    struct space *space = calloc(1, sizeof(*space));
    struct search_cells cells;
    size_t n;

    if (!space)
        abort();
    space_init(space, &a->job, &a->cluster, &a->pins, false);
    if (search_cells(space, opts, &cells, NULL) != 0)
        abort();
    n = cells.n;
    search_cells_done(&cells);
    free(space);
    return n;
}

static void test_threads(void)
{
    static const struct {
        unsigned threads, most;
    } rows[] = { { 1, 99 }, { 2, 99 }, { 3, 99 }, { 3, 1 }, { 3, 0 }, { 65536, 99 } };
    struct plan_ask *a = make_ask(8);
    struct found_layout want = { .gpus = 0 }, *want_list = calloc(8, sizeof(*want_list));
    size_t cells, front = 0;

    if (!want_list)
        abort();
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct plan_search_how how = { .opts = { .best = 8, .front = true, .margin = .04 },
                                       .threads = rows[i].threads };
        CLEANUP(plan_found_done) struct plan_found found = { .space = NULL };
        unsigned ends;

        cells = count_cells(a, &how.opts);
        ends = (unsigned)(cells / 16 + 1);
        asked = 0;
        most = rows[i].most;
        is_int(plan_search(a, &a->pins, &how, &found, NULL), 0, "a search with %u threads ends",
               rows[i].threads);
        is_int(asked, MIN(MIN(rows[i].threads, ends) - 1, rows[i].most + 1),
               "a search of %zu cells with %u threads starts some beside its own", cells,
               rows[i].threads);
        if (i == 0) {
            want = found.fastest;
            memcpy(want_list, found.search.best, 8 * sizeof(*want_list));
            front = found.search.front.n;
        }
        ok(found.search.n_best == 8 && same_list(want_list, found.search.best, 8) &&
               found.search.front.n == front && same_list(&want, &found.fastest, 1),
           "%u threads, of which %u start, find what one does", rows[i].threads, rows[i].most);
        ok(found.layouts > 0 && found.search.made > 0 && found.search.fit > 0,
           "a search with %u threads counts its layouts", rows[i].threads);
    }
    free(want_list);
    free(a);
}

/* With no margin the fastest is the first; with 'fewer' layouts are not counted. */
static void test_how(void)
{
    struct plan_search_how how = { .opts = { .best = 3 }, .threads = 1 };
    struct plan_ask *a = make_ask(8);
    CLEANUP(plan_found_done) struct plan_found found = { .space = NULL };

    is_int(plan_search(a, &a->pins, &how, &found, NULL), 0, "a search without a margin ends");
    ok(!found.plain && isfinite(found.layouts), "a search without a margin prefers nothing");
    plan_found_done(&found);
    how.opts.margin = .5;
    a->cluster.gpu.memory_b = 10e9;
    is_int(plan_search(a, &a->pins, &how, &found, NULL), 0, "a search with a wide margin ends");
    ok(found.plain && found.fastest.time_s < found.search.best[0].time_s &&
           found.search.best[0].time_s <= 1.5 * found.fastest.time_s,
       "the plainest that is near enough goes first");
    plan_found_done(&found);
    how.opts.margin = 0;
    how.fewer = true;
    is_int(plan_search(a, &a->pins, &how, &found, NULL), 0, "a search of fewer GPUs ends");
    ok(isnan(found.layouts), "layouts on fewer GPUs are not counted");
    plan_found_done(&found);
    how.fewer = false;
    how.opts.margin = .04;
    a->cluster.gpu.memory_b = 1e9;
    is_int(plan_search(a, &a->pins, &how, &found, NULL), 0, "a search that finds nothing ends");
    ok(!found.search.n_best && !found.plain, "what finds nothing prefers nothing");
    free(a);
}

/* What a search says on a file or a terminal in place of stderr; read from 'from'. */
static size_t said_by(const struct plan_ask *a, int to, int from, char *ret, size_t size)
{
    struct plan_search_how how = { .opts = { .best = 8, .front = true }, .threads = 1 };
    CLEANUP(plan_found_done) struct plan_found found = { .space = NULL };
    int old = dup(STDERR_FILENO);
    size_t n = 0;
    ssize_t got;

    if (old < 0 || dup2(to, STDERR_FILENO) < 0)
        abort();
    if (plan_search(a, &a->pins, &how, &found, NULL) != 0)
        abort();
    fflush(stderr);
    if (dup2(old, STDERR_FILENO) < 0)
        abort();
    close(old);
    fcntl(from, F_SETFL, O_NONBLOCK);
    while (n + 1 < size && (got = read(from, ret + n, size - 1 - n)) > 0)
        n += (size_t)got;
    ret[n] = '\0';
    return n;
}

static void test_telling(void)
{
    struct plan_ask *a = make_ask(8);
    const struct search_opts opts = { .best = 8, .front = true };
    size_t cells = count_cells(a, &opts);
    int master = posix_openpt(O_RDWR | O_NOCTTY), terminal, pipes[2];
    char said[4096], want[4096] = "";
    size_t len = 0;

    if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0 || pipe(pipes) < 0) {
        ok(true, "there are no terminals here # SKIP");
        return;
    }
    terminal = open(ptsname(master), O_RDWR | O_NOCTTY);
    if (terminal < 0)
        abort();
    /* The first word after a second, which is the tenth reading, then after a quarter each. */
    for (size_t i = 9; i < cells; i += 3)
        len += (size_t)snprintf(want + len, sizeof(want) - len,
                                "\rbrim plan: %zu of at most %zu groups of layouts, %.0f s ", i,
                                cells, (double)(i + 1) / 10);
    snprintf(want + len, sizeof(want) - len, "\r\033[K");
    now_ns = 0;
    said_by(a, terminal, master, said, sizeof(said));
    is_str(said, want, "a search that takes long tells a terminal how far it is");
    is_int((long long)said_by(a, pipes[1], pipes[0], said, sizeof(said)), 0,
           "a search tells nothing to what is no terminal");
    step_ns = NS_PER_S / (int64_t)(cells + 2);
    is_int((long long)said_by(a, terminal, master, said, sizeof(said)), 0,
           "a search of less than a second tells nothing");
    close(terminal);
    close(master);
    close(pipes[0]);
    close(pipes[1]);
    free(a);
}

int main(void)
{
    test_threads();
    test_how();
    test_telling();
    return done();
}
