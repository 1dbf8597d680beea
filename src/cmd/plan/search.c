#include "cmd/plan/search.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/thread.h"

enum { THREADS_MAX = 256, PATIENCE_NS = 1000 * 1000 * 1000, REPORT_NS = 250 * 1000 * 1000 };

/* The threads share the list of cells, the number of the next one, and how slow a layout may be;
 * each has a search of its own. */
struct crew {
    const struct search_cells *cells;
    atomic_size_t next;
    _Atomic double limit_s;
    int64_t started_ns;
    bool tell; /* the caller's thread says how far it is */
};

struct hand {
    struct crew *crew;
    struct search search;
    pthread_t thread;
    bool first;
};

static void lower_limit(struct crew *c, double limit_s)
{
    double was = atomic_load(&c->limit_s);

    while (limit_s < was && !atomic_compare_exchange_weak(&c->limit_s, &was, limit_s))
        ;
}

/* Returns when to say it next. */
static int64_t tell(const struct crew *c, size_t at, int64_t due_ns)
{
    int64_t now = clock_monotonic_ns(&clock_system);

    if (now < due_ns)
        return due_ns;
    fprintf(stderr, "\rbrim plan: %zu of at most %zu groups of layouts, %.0f s ", at, c->cells->n,
            clock_seconds(now - c->started_ns));
    fflush(stderr);
    return now + REPORT_NS;
}

static void *work(void *arg)
{
    struct hand *h = arg;
    struct crew *c = h->crew;
    const int64_t first_ns = c->started_ns + PATIENCE_NS;
    int64_t due_ns = first_ns;

    for (size_t i; (i = atomic_fetch_add(&c->next, 1)) < c->cells->n;) {
        h->search.limit_s = atomic_load(&c->limit_s);
        if (search_done(&h->search, &c->cells->list[i]))
            break;
        search_cell(&h->search, &c->cells->list[i]);
        lower_limit(c, search_limit(&h->search));
        if (h->first && c->tell)
            due_ns = tell(c, i, due_ns);
    }
    if (due_ns != first_ns)
        fputs("\r\033[K", stderr);
    return NULL;
}

/* The calling thread works too, so that no other is enough. */
static void run(struct hand *hands, unsigned n)
{
    unsigned started = 1;

    while (started < n && thread_start(&hands[started].thread, work, &hands[started]) == 0)
        started++;
    work(&hands[0]);
    for (unsigned i = 1; i < started; i++)
        pthread_join(hands[i].thread, NULL);
}

int plan_search(const struct plan_ask *a, const struct pins *pins,
                const struct plan_search_how *how, struct plan_found *ret, struct err *e)
{
    struct crew crew = { .tell = isatty(STDERR_FILENO) };
    CLEANUP(search_cells_done) struct search_cells cells = { .n = 0 };
    unsigned n = how->threads ? how->threads : thread_cpus();
    CLEANUP(freep) struct hand *hands = NULL;
    int rc;

    crew.started_ns = clock_monotonic_ns(&clock_system);
    memset(ret, 0, sizeof(*ret));
    ret->space = calloc(1, sizeof(*ret->space));
    if (!ret->space)
        return err_nomem(e);
    space_init(ret->space, &a->job, &a->cluster, pins, how->fewer);
    ret->layouts = how->fewer ? (double)NAN : space_count(ret->space);
    search_init(&ret->search, ret->space, &how->opts);
    rc = search_cells(ret->space, &how->opts, &cells, e);
    if (rc < 0)
        return rc;
    n = MIN(MIN(n, (unsigned)THREADS_MAX), (unsigned)(cells.n / 16 + 1));
    hands = calloc(n, sizeof(*hands));
    if (!hands)
        return err_nomem(e);
    crew.cells = &cells;
    atomic_store(&crew.limit_s, (double)INFINITY);
    for (unsigned i = 0; i < n; i++) {
        hands[i].crew = &crew;
        hands[i].first = i == 0;
        search_init(&hands[i].search, ret->space, &how->opts);
    }
    search_start(&hands[0].search, &cells);
    lower_limit(&crew, search_limit(&hands[0].search));
    run(hands, n);
    for (unsigned i = 0; i < n; i++) {
        search_merge(&ret->search, &hands[i].search);
        search_free(&hands[i].search);
    }
    pareto_sort(&ret->search.front);
    if (ret->search.n_best && how->opts.margin > 0)
        ret->plain = search_prefer_plain(&ret->search, &ret->fastest);
    return ret->search.error ? err_nomem(e) : 0;
}

void plan_found_done(struct plan_found *f)
{
    search_free(&f->search);
    free(f->space);
    f->space = NULL;
}

void plan_one_make(const struct plan_ask *a, const struct layout *l, struct plan_one *ret)
{
    ret->layout = *l;
    plan_tables_make(&a->job, &a->cluster, l, &ret->tables);
    plan_step_make(&a->job, &a->cluster, l, &ret->tables, &ret->step);
    memory_make(&a->job, l, &ret->tables.bytes, &ret->memory);
}
