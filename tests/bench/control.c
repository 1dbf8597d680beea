/* What a cycle of brim control costs on a cluster of 10,000 nodes with 100,000 jobs, 20,000 of them
 * running: CPU, memory; and what asking all nodes costs how busy their devices are. The cluster is
 * made up behind the functions that src/slurm stands behind; what Slurm's own answer takes is not
 * in it. Prints name, value, unit, limit and note with tabs between them; script/bench makes the
 * table. With an address of a PostgreSQL (postgres://...) the cycle alone, whose book is there. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "control/board/board.h"
#include "control/cycle.h"
#include "jobs/tellers.h"

enum { NODES = 10000, GPUS = 8, RUN = 20000, JOBS = 100000, CYCLES = 5, PERIOD_MS = 15000 };

static const int64_t start_ms = INT64_C(1795000000000);

struct cluster {
    int64_t now_ms;
    struct node_answer *answers;
};

/* Job i has four GPUs of node i/2; each tenth is idle, as its node's agent says. */
static void add_running(struct site *s, uint32_t i)
{
    struct site_part *part = arena_alloc(&s->arena, sizeof(*part));

    *part = (struct site_part){ i / 2, i % 2 ? 0xf0 : 0x0f, GPUS / 2 };
    s->jobs[i].state = SITE_RUNNING;
    s->jobs[i].start_ms = start_ms;
    s->jobs[i].parts = part;
    s->jobs[i].n_parts = 1;
    s->jobs[i].devices = GPUS / 2;
}

static int read_site(void *ctx, struct site *ret, struct err *e)
{
    struct site s = { .n_nodes = NODES, .n_jobs = JOBS, .cluster = "made up" };

    (void)ctx;
    s.nodes = arena_alloc(&s.arena, NODES * sizeof(*s.nodes));
    s.jobs = arena_alloc(&s.arena, JOBS * sizeof(*s.jobs));
    if (!s.nodes || !s.jobs)
        return err_nomem(e);
    for (unsigned i = 0; i < NODES; i++)
        s.nodes[i] = (struct site_node){ .name = arena_printf(&s.arena, "n%u", i),
                                         .devices = GPUS,
                                         .kind = "h100",
                                         .cpus = 128,
                                         .path = arena_printf(&s.arena, "leaf%u", i / 32) };
    for (uint32_t i = 0; i < JOBS; i++) {
        s.jobs[i] = (struct site_job){ .id = i + 1,
                                       .name = "job",
                                       .user = arena_printf(&s.arena, "user%u", i % 500),
                                       .account = arena_printf(&s.arena, "team%u", i % 40),
                                       .partition = "batch",
                                       .qos = "normal",
                                       .state = SITE_WAITING,
                                       .batch = true,
                                       .requeue = true,
                                       .nodes = 1,
                                       .cpus = 16,
                                       .limit_ms = 86400000,
                                       .devices = GPUS / (1 << i % 4),
                                       .devices_per_node = GPUS / (1 << i % 4),
                                       .priority = 1000 + i % 977 };
        if (i < RUN)
            add_running(&s, i);
    }
    *ret = s;
    return site_index(ret) < 0 ? err_nomem(e) : 1;
}

static int act(void *ctx, const struct site_deed *deed, struct err *e)
{
    (void)ctx, (void)deed, (void)e;
    return 0;
}

static int ask(void *ctx, const struct site *site, const bool *which, const struct node_answer **of,
               struct err *e)
{
    struct cluster *x = ctx;

    (void)which, (void)e;
    for (size_t i = 0; i < site->n_nodes; i++) {
        x->answers[i].report.time_ms = x->now_ms;
        for (int k = 0; k < GPUS; k++)
            x->answers[i].report.busy[k] = i % 10 ? 0.8 : 0;
        x->answers[i].report.n_busy = GPUS;
        of[i] = &x->answers[i];
    }
    return 0;
}

static int64_t wall(void *arg)
{
    return ((struct cluster *)arg)->now_ms * NS_PER_MS;
}

static double cpu_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int cycles(struct cycle *c, struct cluster *x, double *worst, struct cycle_view *v)
{
    struct err e = { "" };

    for (int i = 0; i < CYCLES; i++) {
        struct site site;
        double begin = cpu_ms(), made;

        if (read_site(x, &site, NULL) < 0) /* what making it up costs is not the cycle's */
            return 1;
        site_done(&site);
        made = cpu_ms() - begin;
        x->now_ms += PERIOD_MS;
        begin = cpu_ms();
        if (cycle_run(c, v, &e) < 0) {
            fprintf(stderr, "control: %s\n", e.text);
            return 1;
        }
        *worst = i ? MAX(*worst, cpu_ms() - begin - made) : 0; /* the first one fills the book */
    }
    return 0;
}

/* What the page of the last cycle costs. */
static int page(const struct cycle *c, const struct cluster *x)
{
    CLEANUP(str_done) struct str text = STR_INIT(64 << 20);
    const struct node_answer **of = calloc(NODES, sizeof(const void *));
    const struct board_scene scene = { cycle_site(c), cycle_seen(c), { of, x->now_ms } };
    struct json j = { .out = &text, .compact = true };
    double begin = cpu_ms();
    struct board b;

    for (size_t i = 0; of && i < NODES; i++)
        of[i] = &x->answers[i];
    if (!of || board_make(&b, &scene, NULL) < 0)
        return 1;
    json_object(&j, NULL);
    board_add_json(&b, &j);
    json_end(&j);
    board_done(&b);
    free(of);
    printf("control: the page\t%.0f\tms CPU\t<= 100\tits JSON, once a cycle\n", cpu_ms() - begin);
    printf("control: the page\t%.2f\tMB\t<= 2\tits JSON\n", (double)text.len / 1e6);
    return str_error(&text) != 0;
}

static int measure(const char *folder)
{
    static const char text[] = "[idle]\nwarn = 30s\nreclaim = 45s\naction = requeue\n";
    struct cluster x = { start_ms, calloc(NODES, sizeof(*x.answers)) };
    const struct clock clock = { wall, wall, &x };
    CLEANUP(control_book_closep) struct control_book *book = NULL;
    CLEANUP(cycle_closep) struct cycle *c = NULL;
    struct policy policy;
    struct cycle_config config = { .engine = { read_site, act, ask, NULL, &x },
                                   .policy = &policy,
                                   .clock = &clock,
                                   .mode = { CONTROL_ACT, CONTROL_ACT },
                                   .percent = 1 };
    struct cycle_view v = { 0 };
    struct rusage used;
    double worst = 0;
    int rc = 1;

    if (x.answers && policy_read(&policy, "bench", text, strlen(text), NULL) == 0 &&
        control_book_open(&book, folder, true, NULL) == 0 && control_book_lead(book, NULL) == 1) {
        config.book = book;
        rc = cycle_open(&c, &config, NULL) < 0 || cycles(c, &x, &worst, &v);
    }
    getrusage(RUSAGE_SELF, &used);
    if (rc == 0) {
        printf("control: a cycle\t%.0f\tms CPU\t<= 500\t10,000 nodes, 100,000 jobs, 2,000 of "
               "20,000 idle\n",
               worst);
        printf("control: memory\t%.0f\tMiB\t<= 1024\tpeak, of the cluster made up twice\n",
               (double)used.ru_maxrss / 1024);
        rc = page(c, &x);
    }
    free(x.answers);
    return rc;
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/brim-bench-control-XXXXXX", path[64];
    static const char *const names[] = { "control.db", "control.db-wal", "control.db-shm", "lock" };
    int rc;

    log_set_level("error");
    (void)signal(SIGPIPE, SIG_IGN);
    if (argc > 1)
        return measure(argv[1]);
    if (tellers_measure() != 0 || !mkdtemp(folder))
        return 1;
    rc = measure(folder);
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
    return rc;
}
