/* What of a run that goes on is judged, which processes are ranks where nobody tells, which may be
 * looked at, and where a run keeps what it sees. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "folder.h"
#include "run/archive/run_tail.h"
#include "run/job/attach.h"
#include "run/job/find_ranks.h"
#include "tap.h"

#define S ((int64_t)1000000000)

/* Steps of so many seconds each up to a time, and a moment a second. */
static void build(struct run *r, size_t ranks, size_t steps, double step_s, int64_t end_ns)
{
    *r = (struct run){ .id = "x", .n_ranks = ranks };
    r->ranks = arena_alloc(&r->arena, ranks * sizeof(*r->ranks));
    for (size_t k = 0; k < ranks; k++) {
        struct run_rank *to = &r->ranks[k];

        to->steps = arena_alloc(&r->arena, steps * sizeof(*to->steps));
        to->n_steps = steps;
        for (size_t i = 0; i < steps; i++) {
            to->steps[i].number = i;
            to->steps[i].end_ns = end_ns - (int64_t)((double)(steps - 1 - i) * step_s * 1e9);
            to->steps[i].begin_ns = to->steps[i].end_ns - (int64_t)(step_s * 1e9);
        }
    }
    r->n_moments = 300;
    r->moments = arena_alloc(&r->arena, r->n_moments * sizeof(*r->moments));
    for (size_t i = 0; i < r->n_moments; i++) {
        r->moments[i].monotonic_ns = end_ns - (int64_t)(r->n_moments - 1 - i) * S;
        r->moments[i].seconds = 1;
    }
}

static void test_window(void)
{
    struct run_tail w;
    struct run r;

    build(&r, 2, 1000, 0.1, 1000 * S);
    run_tail_cut(&r, 60, 1001 * S, &w);
    ok(r.ranks[0].n_steps == 590 && r.ranks[1].n_steps == 590, "steps of the last minute: %zu",
       r.ranks[0].n_steps);
    is_int((int)r.ranks[0].steps[0].number, 410, "the last ones");
    is_int((int)r.ranks[0].dropped, 410, "the others count as dropped");
    is_int((int)r.n_moments, 59, "moments of the last minute are kept");
    ok(fabs(w.seconds - 60) < 1e-6 && fabs(w.longest_s - 0.1) < 1e-6,
       "the window has %g s and the longest step", w.seconds);
    ok(w.still_s < 1e-6, "what is behind the last moment is not kept yet");
    run_done(&r);
    build(&r, 1, 100, 10, 1000 * S);
    run_tail_cut(&r, 60, 1000 * S, &w);
    is_int((int)r.ranks[0].n_steps, WINDOW_STEPS, "long steps: as many as a verdict needs");
    ok(fabs(w.seconds - 200) < 1e-6, "the window of long steps takes %g s", w.seconds);
    run_done(&r);
}

static void test_still(void)
{
    struct run_tail w;
    struct run r;

    build(&r, 2, 500, 0.1, 1000 * S);
    for (size_t i = 0; i < r.n_moments; i++)
        r.moments[i].monotonic_ns += 90 * S;
    r.ranks[1].n_steps = 100; /* ended long ago */
    run_tail_cut(&r, 60, INT64_MIN, &w);
    ok(fabs(w.still_s - 90) < 1e-6, "the job has made no step for %g s", w.still_s);
    is_int((int)r.ranks[0].n_steps, WINDOW_STEPS, "the last ones are judged");
    is_int((int)r.ranks[1].n_steps, 0, "steps of a rank that ended before are not judged");
    run_done(&r);
    r = (struct run){ .id = "x" };
    run_tail_cut(&r, 60, 1000 * S, &w);
    ok(isnan(w.still_s) && isnan(w.longest_s), "a run without anything");
    run_tail_cut(&r, 60, INT64_MIN, &w);
    ok(isnan(w.seconds), "a run without anything has no time");
    run_done(&r);
}

/* Who are ranks, as text. */
static const char *ranks_of(const struct find_ranks *all, size_t n, char text[64])
{
    pid_t pids[KIN_MAX];
    size_t count = find_ranks_list(all, n, pids);

    text[0] = 0;
    for (size_t i = 0; i < count; i++)
        snprintf(text + strlen(text), 64 - strlen(text), "%s%d", i ? " " : "", (int)pids[i]);
    return text;
}

static void test_ranks(void)
{
    static const char train[] = "python\0train.py\0", torchrun[] = "torchrun\0train.py\0",
                      shell[] = "sh\0-c\0", sleeps[] = "sleep\0100\0",
                      tracker[] = "python\0-c\0from multiprocessing.resource_tracker import main\0";
    char text[64];
    const struct find_ranks one[] = { { 1, 0, 0, train } };
    const struct find_ranks forked[] = { { 1, 0, 0.01, train },
                                         { 2, 1, 0.9, train },
                                         { 3, 1, 1, train } };
    const struct find_ranks spawned[] = { { 1, 0, 0.01, train }, { 2, 1, 0.9, tracker } };
    const struct find_ranks two[] = {
        { 1, 0, 0.01, torchrun }, { 2, 1, 0.9, train }, { 3, 1, 1, train }, { 4, 3, 0.5, train }
    };
    const struct find_ranks deep[] = {
        { 1, 0, 0, shell }, { 2, 1, 0, torchrun }, { 3, 2, 1, train }, { 4, 1, 0, sleeps }
    };
    const struct find_ranks idle[] = { { 1, 0, 0, shell }, { 2, 1, 0, sleeps } };
    const struct find_ranks busy[] = { { 1, 0, 0, shell },
                                       { 2, 1, 0.05, train },
                                       { 3, 1, 0.049, sleeps } };
    const struct find_ranks least[] = { { 1, 0, 0.05, shell }, { 2, 1, 1, train } };
    const struct find_ranks nameless[] = { { 1, 0, 0, "" }, { 2, 1, 0, "" } };
    const struct find_ranks longer[] = { { 1, 0, 0, "a\0" }, { 2, 1, 0, "a\0b\0" } };
    const struct find_ranks helper[] = { { 1, 0, 0, train },
                                         { 2, 1, 0, "python\0x/compile_worker\0" } };
    const struct find_ranks circle[] = { { 1, 2, 0, shell }, { 2, 1, 0, sleeps } };

    is_str(ranks_of(one, 1, text), "1", "a process alone is the rank");
    is_str(ranks_of(forked, 3, text), "1", "one with forked workers is, though they work");
    is_str(ranks_of(spawned, 2, text), "1",
           "a process with a helper of multiprocessing is the rank");
    is_str(ranks_of(two, 4, text), "2 3", "a launcher is none, its children are");
    is_str(ranks_of(deep, 4, text), "3", "behind a shell, without what sleeps beside");
    is_str(ranks_of(idle, 2, text), "2", "a process that sleeps alone is the rank");
    is_str(ranks_of(circle, 2, text), "", "a circle ends");
    is_str(ranks_of(one, 0, text), "", "no processes have no rank");
    is_str(ranks_of(busy, 3, text), "2", "one that uses a twentieth of a CPU computes");
    is_str(ranks_of(least, 2, text), "1", "one that computes is a rank above its children");
    is_str(ranks_of(nameless, 2, text), "2", "processes without a command are not of one kind");
    is_str(ranks_of(longer, 2, text), "2", "a command that goes on is another one");
    is_str(ranks_of(helper, 2, text), "1", "a process that compiles for PyTorch is a helper");
}

/* A process of a made-up /proc: its state, its parent, the flags that the kernel has of it. */
static void add_process(const char *root, int pid, char state, int parent, unsigned flags)
{
    char path[64], text[256];

    snprintf(path, sizeof(path), "%d/stat", pid);
    snprintf(
        text, sizeof(text),
        "%d (a) %c %d 1 1 0 -1 %u 0 0 0 0 1 1 0 0 20 0 1 0 100 1000 10 0 0 0 0 0 0 0 0 0 0 0 0 "
        "0 17 0 0 0 0 0 0\n",
        pid, state, parent, flags);
    folder_text(root, path, text);
    snprintf(path, sizeof(path), "%d/io", pid);
    folder_text(root, path, "rchar: 1\n");
}

static void test_processes(void)
{
    static const struct {
        int pid;
        char state;
        unsigned flags;
        int want;
        const char *said;
    } cases[] = {
        { 10, 'S', 0x400000, 0, "" },
        { 11, 'Z', 0x400000, -ESRCH, "process 11 has ended" },
        { 12, 'X', 0x400000, -ESRCH, "process 12 has ended" },
        { 13, 'S', 0x200040, -ESRCH, "process 13 is a thread of the kernel" },
        { 14, 'R', 0x1fffff, 0, "" },
        { 15, 0, 0, -ESRCH, "there is no process 15" },
    };
    char root[PATH_MAX];
    int proc;

    folder_make(root);
    proc = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct err e = { "" };

        if (cases[i].state)
            add_process(root, cases[i].pid, cases[i].state, 1, cases[i].flags);
        is_int(attach_check(proc, cases[i].pid, &e), cases[i].want,
               "process %d in state '%c' is judged", cases[i].pid, cases[i].state);
        is_str(e.text, cases[i].said, "what is said of process %d", cases[i].pid);
    }
    close(proc);
    folder_remove(root);
}

/* A launcher with as many children as can be told of, and with more. */
static void test_many_ranks(void)
{
    static struct find_ranks all[KIN_MAX + 2];
    pid_t pids[KIN_MAX];

    for (int i = 0; i < KIN_MAX + 2; i++)
        all[i] = (struct find_ranks){ i + 1, i ? 1 : 0, i ? 1 : 0, i ? "b\0" : "a\0" };
    is_int((long long)find_ranks_list(all, KIN_MAX - 1, pids), KIN_MAX - 2,
           "as many children as can be told of are ranks");
    is_int(pids[KIN_MAX - 3], KIN_MAX - 1, "the last child is the last rank");
    is_int((long long)find_ranks_list(all, KIN_MAX + 2, pids), KIN_MAX,
           "of more children as many are ranks as have room");
}

/* Ranks are looked for from the second sample on, and every 32 samples where there are some. */
static void test_looks(void)
{
    static struct find_ranks_watch w;
    struct family_growth growth;
    struct family *f = NULL;
    char root[PATH_MAX], gone[PATH_MAX];
    int proc;

    folder_make(root);
    proc = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    add_process(root, 11, 'S', 10, 0);
    folder_need(family_open(&f, proc, false, 10, NULL), "family");
    folder_need(family_sample(f, &growth), "sample");
    find_ranks_look(&w, proc, f, 1);
    ok(w.n == 0 && w.samples == 1 && w.n_before == 1, "nobody is a rank by one sample");
    find_ranks_look(&w, proc, f, 0);
    ok(w.n == 0 && w.samples == 2, "nobody is a rank when no time has passed");
    find_ranks_look(&w, proc, f, 1);
    ok(w.n == 1 && w.ranks[0] == 11 && w.samples == 3, "a process alone is a rank");
    folder_text(root, "11/stat", ""); /* which stays open */
    folder_path(root, "11", gone);
    folder_remove(gone);
    add_process(root, 12, 'S', 10, 0);
    folder_need(family_sample(f, &growth), "sample");
    while (w.samples < 32) {
        find_ranks_look(&w, proc, f, 1);
        if (w.ranks[0] != 11)
            ok(false, "by sample %u the rank is another one", w.samples);
    }
    find_ranks_look(&w, proc, f, 1);
    ok(w.n == 1 && w.ranks[0] == 12, "after 32 samples ranks are looked for again");
    family_close(f);
    close(proc);
    folder_remove(root);
}

/* Of a process and its ancestors the nearest that has a run open. */
static void test_folders(void)
{
    static const struct {
        int pid;
        const char *file, *folder; /* what it has open; the folder that is found */
    } cases[] = {
        { 20, NULL, "" },
        { 21, "/dev/null", "" },
        { 22, "/runs/a/part-n1-5.moments", "/runs/a" },
        { 23, "/runs/a/part-n1-5.steps", "" },
        { 24, "/runs/a/apart-n1-5.moments", "" },
        { 25, "/part-n1-5.moments", "" },
        { 26, "/runs/a/part-n1-5.moments2", "" },
        { 27, "part-n1-5.moments", "" },
        { 28, "/r/part-.moments", "/r" },
        { 29, ".moments", "" },
    };
    CLEANUP(str_done) struct str folder = STR_INIT(4096);
    char root[PATH_MAX], path[64];
    int proc;

    folder_make(root);
    proc = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        add_process(root, cases[i].pid, 'S', 0, 0);
        if (cases[i].file) {
            snprintf(path, sizeof(path), "%d/fd/1", cases[i].pid);
            folder_link(root, path, "/dev/tty");
            snprintf(path, sizeof(path), "%d/fd/7", cases[i].pid);
            folder_link(root, path, cases[i].file);
        }
        is_int(attach_folder(proc, cases[i].pid, &folder), 0, "process %d is looked at",
               cases[i].pid);
        is_str(str_text(&folder), cases[i].folder, "the run of process %d is found", cases[i].pid);
    }
    add_process(root, 30, 'S', 31, 0);
    add_process(root, 31, 'S', 22, 0);
    is_int(attach_folder(proc, 30, &folder), 0, "a grandchild is looked at");
    is_str(str_text(&folder), "/runs/a", "the run of a grandparent is found");
    add_process(root, 32, 'S', 99, 0);
    is_int(attach_folder(proc, 32, &folder), 0, "one whose parent has gone is looked at");
    is_str(str_text(&folder), "", "one whose parent has gone has no run");
    add_process(root, 33, 'S', 34, 0);
    add_process(root, 34, 'S', 33, 0);
    is_int(attach_folder(proc, 33, &folder), 0, "a circle of parents ends");
    close(proc);
    folder_remove(root);
}

int main(void)
{
    test_processes();
    test_looks();
    test_many_ranks();
    test_folders();
    test_window();
    test_still();
    test_ranks();
    return done();
}
