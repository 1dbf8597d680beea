/* What reads, merges, finds and copies runs, with every allocation failing once. */
#include <errno.h>
#include <math.h>

#include "folder.h"
#include "oom_arena.h"
#include "run/archive/archive.h"
#include "run/archive/archive_format.h"
#include "run/archive/figures.h"
#include "run/archive/merge_runs.h"
#include "run/archive/retry.h"
#include "run/archive/run_snapshot.h"
#include "tap.h"

#define S ((int64_t)1000 * 1000 * 1000)

static const char text[] = "[run]\nversion = 1\nid = x\nname = n\ncommand = sh\ncommand =  -c\n"
                           "folder = /\nuser = me\nhost = node1\ninferred = kernels\n"
                           "[note]\nnote = a=b\n[note]\nnote = c=d\n"
                           "[tuning]\ngoal = energy\n[tuning.before]\nprice = 3\n"
                           "[trial]\nknob = loader.workers\nvalue = 8\nnote = well\n"
                           "[lines]\nworker = 9\n"
                           "[line]\nstage = worker\nseen = 9\nline = 5\nfile = /a.py\n";

/* A rank of two steps and two notes, as it is stored. */
struct stored {
    struct archive_steps_header head;
    char notes[16];
    struct archive_step steps[2];
};

static struct stored stored_rank(void)
{
    struct stored s = { .head = { .magic = "",
                                  .order = ARCHIVE_ORDER,
                                  .version = ARCHIVE_VERSION,
                                  .header_size = sizeof(s.head),
                                  .notes_size = sizeof(s.notes),
                                  .record_size = sizeof(s.steps[0]),
                                  .notes_used = 8,
                                  .host = "node1",
                                  .framework = "torch",
                                  .total = { .count = 2 } },
                        .notes = "a=1\0b=2",
                        .steps = { { .number = 1, .end_ns = S }, { .number = 2, .end_ns = S } } };

    memcpy(s.head.magic, ARCHIVE_STEPS_MAGIC, sizeof(s.head.magic));
    return s;
}

struct stored_moments {
    struct archive_moments_header head;
    struct archive_moment all[2];
};

static struct stored_moments stored_moments(void)
{
    struct stored_moments m = { .head = { .magic = "",
                                          .order = ARCHIVE_ORDER,
                                          .version = ARCHIVE_VERSION,
                                          .header_size = sizeof(m.head),
                                          .record_size = sizeof(m.all[0]) },
                                .all = { { 1 * S, S, 1 }, { 2 * S, 2 * S, 1 } } };

    memcpy(m.head.magic, ARCHIVE_MOMENTS_MAGIC, sizeof(m.head.magic));
    return m;
}

/* Begin a walk of rounds in which another allocation fails each. */
#define EACH_FAILING(failed) for (bool failed = (oom_restart(), true); failed;)

static int read_all(struct run *r, struct archive_part *part, struct err *e)
{
    const struct stored rank = stored_rank();
    const struct stored_moments moments = stored_moments();
    int rc = archive_parse_about(text, sizeof(text) - 1, r, part, e);

    if (rc == 0)
        rc = archive_parse_moments(&moments, sizeof(moments), r, e);
    return rc == 0 ? archive_parse_steps(&rank, sizeof(rank), r, e) : rc;
}

static void test_read(void)
{
    EACH_FAILING(failed)
    {
        struct run r = { .id = NULL };
        struct archive_part part;
        struct err e = { "" };
        int rc;

        oom_next();
        rc = read_all(&r, &part, &e);
        failed = oom_end();
        ok(failed ? rc == -ENOMEM && strstr(e.text, "memory") : rc == 0,
           "a run that is read with allocation %d failing returns %d", oom_at, rc);
        ok(failed || (r.n_environment == 2 && r.n_moments == 2 && r.n_ranks == 1 &&
                      r.ranks[0].n_notes == 2 && r.ranks[0].n_steps == 2 &&
                      r.tuning->n_trials == 1 && r.lines->n == 1),
           "a run that is read with allocation %d has all its parts", oom_at);
        run_done(&r);
    }
}

static void test_merge(void)
{
    struct archive_part here, there;
    struct run more = { .id = NULL };

    is_int(read_all(&more, &there, NULL), 0, "a part is read");
    snprintf(there.host, sizeof(there.host), "node2");
    EACH_FAILING(failed)
    {
        struct run r = { .id = NULL };
        int rc;

        snprintf(here.host, sizeof(here.host), "node1");
        here.offset_ns = 0;
        oom_next();
        rc = merge_runs_add(&r, &here, &more, &there);
        failed = oom_end();
        ok(failed ? rc == -ENOMEM : rc == 0,
           "parts that are merged with allocation %d failing return %d", oom_at, rc);
        ok(failed || (r.n_ranks == 1 && !strcmp(r.ranks[0].host, "node1") &&
                      !strcmp(r.ranks[0].framework, "torch") && r.ranks[0].n_steps == 2 &&
                      !strcmp(run_note(&r.ranks[0], "b"), "2") && r.lines->n == 1 &&
                      !strcmp(r.inferred, "kernels")),
           "parts that are merged with allocation %d have a rank, lines and a sentence", oom_at);
        run_done(&r);
    }
    {
        struct run r = { .id = NULL, .inferred = "steps" };

        is_int(merge_runs_add(&r, &here, &more, &there), 0,
               "a part with its own sentence is merged");
        is_str(r.inferred, "steps", "the sentence of the first part stays");
        run_done(&r);
    }
    run_done(&more);
}

/* What is asked for, in a folder of two runs. */
static void find(const char *root, const char *which, int want)
{
    EACH_FAILING(failed)
    {
        CLEANUP(str_done) struct str found = STR_INIT(PATH_MAX);
        int rc;

        oom_next();
        rc = runs_find(root, which, &found, NULL);
        failed = oom_end();
        ok(failed ? rc == -ENOMEM || rc == want : rc == want,
           "run '%s' that is searched with allocation %d failing returns %d", which, oom_at, rc);
    }
}

static void test_find(void)
{
    char root[PATH_MAX];

    folder_make(root);
    folder_text(root, "1/part-a-1.ini", "[run]\nversion = 1\nid = 1\nname = n\nhost = h\n");
    folder_text(root, "2/part-a-1.ini", "[run]\nversion = 1\nid = 2\nhost = h\n");
    find(root, "last", 0);
    find(root, "1", 0);
    find(root, "a/b", 0);
    find(root, "3", -ENOENT);
    folder_remove(root);
}

static void test_list(void)
{
    char root[PATH_MAX];

    folder_make(root);
    folder_folder(root, "1");
    folder_folder(root, "2");
    EACH_FAILING(failed)
    {
        CLEANUP(str_done) struct str list = STR_INIT(4096);
        struct err e = { "" };
        int rc;

        oom_next();
        rc = runs_list(root, &list, &e);
        failed = oom_end();
        ok(failed ? rc == -ENOMEM && strstr(e.text, "memory") : rc == 0,
           "runs that are listed with allocation %d failing return %d", oom_at, rc);
    }
    folder_remove(root);
}

static void test_load(void)
{
    char root[PATH_MAX];

    folder_make(root);
    folder_text(root, "part-a-1.ini", text);
    folder_text(root, "part-b-1.ini", text);
    EACH_FAILING(failed)
    {
        struct run r = { .id = NULL };
        struct err e = { "" };
        int rc;

        oom_next();
        rc = run_load(root, &r, &e);
        failed = oom_end();
        ok(failed ? rc == -ENOMEM && strstr(e.text, "memory") : rc == 0,
           "parts that are loaded with allocation %d failing return %d", oom_at, rc);
        run_done(&r);
    }
    folder_remove(root);
}

/* A run that goes on, with a rank of another host and a moment. */
static void test_snapshot(void)
{
    CLEANUP(rings_closep) struct rings *rings = NULL;
    struct run_moment moments[] = { { .monotonic_ns = 1 * S, .seconds = 1 },
                                    { .monotonic_ns = 2 * S, .seconds = 1 },
                                    { .monotonic_ns = 3 * S, .seconds = 1 } };
    const struct run run = { .id = "x", .moments = moments, .n_moments = 3 };
    struct rank_steps about = { .rank = 1, .host = "node2" };
    const struct step step = { .begin_ns = S, .end_ns = 2 * S };
    struct run_snapshot w = { .run = &run };
    size_t ring;

    folder_need(rings_open(&rings, "/", NULL), "/");
    folder_need(rings_far_add(rings, &about, &ring), "a far ring");
    folder_need(rings_far_step(rings, ring, &step), "a far step");
    w.rings = rings;
    EACH_FAILING(failed)
    {
        struct run r;
        int rc;

        oom_next();
        rc = run_snapshot(&r, &w, S, 100);
        failed = oom_end();
        ok(failed ? rc == -ENOMEM : rc == 0, "a copy with allocation %d failing returns %d", oom_at,
           rc);
        ok(failed || (r.n_moments == 2 && r.moments[0].monotonic_ns == 2 * S && r.n_ranks == 1 &&
                      r.ranks[0].n_steps == 1),
           "a copy with allocation %d has whole moments and the rank", oom_at);
        run_done(&r);
    }
}

static void test_memory(void)
{
    const struct run_moment m = { .seconds = 1 };

    EACH_FAILING(failed)
    {
        struct run r = { .id = NULL };
        int rc;

        oom_next();
        rc = archive_retry_in_memory(&r, &m);
        failed = oom_end();
        ok(failed ? rc == -ENOMEM && !r.n_moments : rc == 0 && r.n_moments == 1,
           "a moment that is kept with allocation %d failing returns %d", oom_at, rc);
        run_done(&r);
    }
}

static void test_figures(void)
{
    struct step steps[] = { { .end_ns = S }, { .begin_ns = S, .end_ns = 3 * S } };
    struct run_rank rank = { .steps = steps, .n_steps = 2, .total = { .number = 2 } };
    const struct run r = { .ranks = &rank, .n_ranks = 1 };

    EACH_FAILING(failed)
    {
        struct run_figures f;
        int rc;

        oom_next();
        rc = run_figures(&r, &f);
        failed = oom_end();
        ok(failed ? rc == -ENOMEM : rc == 0 && f.step_s == 1.5,
           "figures with allocation %d failing return %d", oom_at, rc);
    }
}

int main(void)
{
    test_read();
    test_merge();
    test_find();
    test_list();
    test_load();
    test_snapshot();
    test_memory();
    test_figures();
    return done();
}
