/* When the memory of a job's processes is read, and what is told of it: by a made-up /proc and a
 * clock of the test. */
#include "run/job/pss.h"

#include <math.h>

#include "folder.h"
#include "tap.h"

#define NOW_NS (1000 * NS_PER_S)

/* As many processes as are too many to be read. */
enum { FEW = 20, MANY = 511 };

struct bench {
    char root[PATH_MAX];
    int proc;
    struct family *family;
    int64_t now_ns;
    struct clock clock;
};

static int64_t read_clock(void *arg)
{
    return ((const struct bench *)arg)->now_ns;
}

static void add_process(const struct bench *b, int pid, const char *sizes)
{
    char path[64], text[256];

    snprintf(path, sizeof(path), "%d/stat", pid);
    snprintf(text, sizeof(text),
             "%d (a) S 10 1 1 0 -1 4194304 0 0 0 0 50 1 0 0 20 0 1 0 100 1000 10 0 0 0 0 0 0 0 0 0 "
             "0 0 0 0 17 0 0 0 0 0 0\n",
             pid);
    folder_text(b->root, path, text);
    snprintf(path, sizeof(path), "%d/smaps_rollup", pid);
    if (sizes)
        folder_text(b->root, path, sizes);
}

static void set_up(struct bench *b, int processes)
{
    *b = (struct bench){ .now_ns = NOW_NS, .clock = { read_clock, read_clock, b } };
    folder_make(b->root);
    b->proc = open(b->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; i < processes; i++)
        add_process(b, 11 + i, i < 2 ? "Rss: 9 kB\nPss: 3 kB\n" : NULL);
    folder_need(family_open(&b->family, b->proc, false, 10, NULL), "family");
    folder_need(family_sample(b->family, &(struct family_growth){ 0 }), "sample");
}

static void tear_down(struct bench *b)
{
    family_close(b->family);
    close(b->proc);
    folder_remove(b->root);
}

static double look(const struct bench *b, struct pss *s, double resident_b)
{
    return pss_look(s, b->proc, b->family, resident_b, &b->clock);
}

static void test_sum(void)
{
    struct pss s = { .due_ns = 0 };
    char path[PATH_MAX];
    struct bench b;

    set_up(&b, FEW);
    is_int((long long)look(&b, &s, 1e9), 6 * 1024, "the sizes of two processes are one sum");
    is_int((long long)s.processes, FEW, "processes without a size are counted, too");
    is_int(s.read_ns, NOW_NS, "the time of a reading is known");
    ok(s.cost_ns >= 0 && s.due_ns == NOW_NS + MAX(5 * NS_PER_S, 2000 * s.cost_ns),
       "the next reading is 5 s later, or 2000 times as long as this one took");
    ok(isnan(look(&b, &s, 1e9)), "nothing is told before the next reading is due");
    pss_ask(&s);
    is_int((long long)look(&b, &s, 255e9), 6 * 1024,
           "a reading that was asked for is made at once");
    pss_ask(&s);
    ok(isnan(look(&b, &s, 256e9)), "what would take too long is not read");
    ok(isnan(look(&b, &s, (double)NAN)), "what may take too long is not read");
    folder_path(b.root, "12/smaps_rollup", path);
    folder_need(unlink(path), path);
    folder_folder(b.root, "12/smaps_rollup");
    pss_ask(&s);
    ok(isnan(look(&b, &s, 1e9)), "without the size of one process there is no sum");
    folder_need(rmdir(path), path);
    add_process(&b, 11, "Rss: 9 kB\n");
    pss_ask(&s);
    ok(isnan(look(&b, &s, 1e9)), "a sum of nothing is no sum");
    tear_down(&b);
}

static void test_when(void)
{
    static const struct {
        int64_t due_ns, ago_ns, cost_ns; /* from now on; of the last reading */
        size_t processes;                /* at the last reading */
        bool reads;
    } cases[] = {
        { 0, 5 * NS_PER_S, 0, FEW, true },
        { 1, 5 * NS_PER_S, 0, FEW, false },
        { 1, 5 * NS_PER_S, 0, 0, false },
        { 1, 5 * NS_PER_S, 0, 15, true },
        { 1, 5 * NS_PER_S, 0, 16, false },
        { 1, 5 * NS_PER_S, 0, 25, false },
        { 1, 5 * NS_PER_S, 0, 26, true },
        { 1, 3 * NS_PER_S, 0, 26, true },
        { 1, 3 * NS_PER_S - 1, 0, 26, false },
        { 1, 5 * NS_PER_S, NS_PER_S / 10, 15, true },
        { 1, 5 * NS_PER_S - 1, NS_PER_S / 10, 15, false },
    };
    struct bench b;

    set_up(&b, FEW);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct pss s = { NOW_NS + cases[i].due_ns, NOW_NS - cases[i].ago_ns, cases[i].cost_ns,
                         cases[i].processes };

        ok(!isnan(look(&b, &s, 1e9)) == cases[i].reads, "case %zu is %s", i,
           cases[i].reads ? "read" : "not read yet");
        is_int(s.read_ns == NOW_NS, cases[i].reads, "case %zu keeps when it was read last", i);
    }
    tear_down(&b);
}

static void test_many(void)
{
    struct pss s = { .due_ns = 0 };
    struct bench b;

    set_up(&b, MANY);
    is_int((long long)look(&b, &s, 1e9), 6 * 1024, "%d processes are read", MANY);
    add_process(&b, 11 + MANY, NULL);
    folder_need(family_sample(b.family, &(struct family_growth){ 0 }), "sample");
    pss_ask(&s);
    ok(isnan(look(&b, &s, 1e9)), "one process more is too many");
    tear_down(&b);
}

int main(void)
{
    test_sum();
    test_when();
    test_many();
    return done();
}
