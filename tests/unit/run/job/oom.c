/* What is known of a job and its processes, with every allocation failing once. */
#include <errno.h>

#include "folder.h"
#include "oom_arena.h"
#include "run/job/about.h"
#include "run/job/binding.h"
#include "run/job/environ.h"
#include "run/job/facts.h"
#include "run/job/family.h"
#include "run/job/find_ranks.h"
#include "tap.h"

static void add_process(const char *root, int pid, int parent)
{
    char path[64], text[256];

    snprintf(path, sizeof(path), "%d/stat", pid);
    snprintf(text, sizeof(text),
             "%d (a) S %d 1 1 0 -1 4194304 0 0 0 0 50 1 0 0 20 0 1 0 100 1000 10 0 0 0 0 0 0 0 0 0 "
             "0 0 0 0 17 0 0 0 0 0 0\n",
             pid, parent);
    folder_text(root, path, text);
    snprintf(path, sizeof(path), "%d/io", pid);
    folder_text(root, path, "rchar: 1\n");
}

/* Open a family, look at it twice, and see who its ranks are. */
static int watch(int proc, size_t *kin)
{
    CLEANUP(family_closep) struct family *f = NULL;
    CLEANUP(freep) struct find_ranks_watch *w = __real_calloc(1, sizeof(*w));
    struct family_kin all[8];
    struct family_growth growth;
    int rc = family_open(&f, proc, false, 10, NULL);

    if (rc == 0)
        rc = family_sample(f, &growth);
    if (rc == 0)
        rc = family_sample(f, &growth);
    if (rc < 0)
        return rc;
    *kin = family_kin(f, all, ARRAY_SIZE(all));
    w->ranks[0] = 77;
    w->n = 1;
    w->samples = 32;
    find_ranks_look(w, proc, f, 1);
    ok(w->n == 1 && (w->ranks[0] == 11 || w->ranks[0] == 77),
       "the rank that is found, or that of before, is known: %d", (int)w->ranks[0]);
    return 0;
}

static void test_family(const char *root)
{
    int proc = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool failed = true;

    add_process(root, 11, 10);
    add_process(root, 12, 11);
    for (oom_restart(); failed;) {
        size_t kin = 0;
        int rc;

        oom_next();
        rc = watch(proc, &kin);
        failed = oom_end();
        ok(failed ? rc == -ENOMEM || rc == 0 : rc == 0,
           "a family with allocation %d failing returns %d", oom_at, rc);
        ok(rc < 0 || kin == 2, "a family with allocation %d has both processes", oom_at);
    }
    close(proc);
}

static void test_about(const char *root)
{
    static const char *const words[] = { "python", "train.py" };
    char copies[2][16], *argv[3] = { NULL }, *env[3] = { NULL };
    char threads[] = "OMP_NUM_THREADS=2", path[] = "PYTHONPATH=/x", folder[PATH_MAX];
    int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct about a = { .id = "i", .argv = argv, .env = env, .folder = folder, .root = fd };
    bool failed = true;

    for (size_t i = 0; i < 2; i++)
        snprintf(argv[i] = copies[i], sizeof(copies[i]), "%s", words[i]);
    env[0] = threads;
    env[1] = path;
    a.ring = "/r";
    a.plugins = "/p";
    a.libraries = "/l";
    folder_text(root, "proc/meminfo", "MemTotal: 5 kB\n");
    folder_text(root, "w/.git/HEAD", "ref: refs/heads/main\n");
    folder_text(root, "w/.git/refs/heads/main", "0123456789012345678901234567890123456789\n");
    folder_path(root, "w", folder);
    for (oom_restart(); failed;) {
        struct arena arena = ARENA_INIT;
        struct run r = { .id = NULL };
        char **made = NULL;
        int rc;

        oom_next();
        rc = about_run(&r, &a);
        if (rc == 0)
            rc = about_environment(&arena, &a, &made);
        failed = oom_end();
        ok(failed ? rc == -ENOMEM || rc == 0 : rc == 0,
           "what is known of a job with allocation %d failing returns %d", oom_at, rc);
        ok(rc < 0 || (r.id && r.name && r.command && r.host && r.user && r.folder && made),
           "what is known of a job with allocation %d is all there", oom_at);
        for (size_t i = 0; rc == 0 && i < r.n_environment; i++)
            if (!r.environment[i].name || !r.environment[i].value)
                ok(false, "note %zu of a job lacks its text", i);
        run_done(&r);
        arena_done(&arena);
    }
    close(fd);
}

static void test_binding(const char *root)
{
    CLEANUP(tree_closep) struct tree *t = NULL;
    char none[] = "A=1", job[] = "job", *env[] = { none, NULL }, *argv[] = { job, NULL };
    struct binding_about about = { .cpus = "0-3", .env = env, .argv = argv };
    bool failed = true;

    folder_text(root, "sys/devices/system/node/online", "0-1\n");
    folder_text(root, "sys/devices/system/node/node0/cpulist", "0-1\n");
    folder_text(root, "sys/devices/system/node/node1/cpulist", "2-3\n");
    folder_need(tree_open_dir(&t, root, NULL), root);
    about.tree = t;
    for (oom_restart(); failed;) {
        struct arena a = ARENA_INIT;
        const char *list = NULL, *allowed, *cores;
        char why[BINDING_WHY];
        int rc;

        oom_next();
        allowed = binding_allowed(&a);
        cores = binding_cores(&a, t, "0-3");
        rc = binding_cpus(&a, &about, "numa", &list, why);
        failed = oom_end();
        ok(failed ? rc == -ENOMEM || !allowed || !cores : rc == 0 && list && allowed && cores,
           "a binding with allocation %d failing returns %d", oom_at, rc);
        arena_done(&a);
    }
}

int main(void)
{
    void (*const tests[])(const char *) = { test_family, test_about, test_binding };
    char root[PATH_MAX];

    if (!folder_can_copy()) {
        puts("1..0 # SKIP no openat2");
        return 0;
    }
    for (size_t i = 0; i < ARRAY_SIZE(tests); i++) {
        folder_make(root);
        tests[i](root);
        folder_remove(root);
    }
    return done();
}
