/* Rings and what is kept of them, with every allocation failing once. */
#include <errno.h>

#include "brim/step.h"
#include "folder.h"
#include "oom_arena.h"
#include "run/ring/control.h"
#include "run/ring/ring_folder.h"
#include "run/ring/rings.h"
#include "tap.h"

/* Read the one ring of a folder, and add one of another host. */
static int read_rings(const char *folder, struct err *e)
{
    CLEANUP(rings_closep) struct rings *s = NULL;
    const struct rank_steps about = { .rank = 1, .host = "node2" };
    const struct step step = { .end_ns = 5 };
    size_t ring = 9;
    int rc = rings_open(&s, folder, e);

    if (rc == 0)
        rc = rings_read(s, e);
    if (rc == 0)
        rc = rings_far_add(s, &about, &ring);
    if (rc == 0)
        rc = rings_far_step(s, ring, &step);
    if (rc == 0)
        rc = rings_far_note(s, ring, "a", "b");
    if (rc < 0)
        return rc;
    ok(rings_count(s) == 2 && rings_lane(s, 0)->count == 1 && rings_lane(s, 0)->n_notes == 1 &&
           rings_lane(s, 1)->count == 1 && rings_lane(s, 1)->n_notes == 1,
       "both rings have their step and their note");
    return 0;
}

static void test_rings(const char *root)
{
    struct brim_step *s = brim_step_open_at(root, "test 1", 0, 0, 1);
    bool failed = true;

    brim_step_note(s, "loader.workers=3");
    brim_step_begin(s);
    brim_step_end(s);
    for (oom_restart(); failed;) {
        struct err e = { "" };
        int rc;

        oom_next();
        rc = read_rings(root, &e);
        failed = oom_end();
        ok(failed ? rc == -ENOMEM : rc == 0, "rings with allocation %d failing return %d", oom_at,
           rc);
    }
    brim_step_close(s);
}

/* A lane of one step and one note becomes a rank, whole and in part. */
static void test_ranks(const char *root)
{
    const struct step step = { .begin_ns = 1, .end_ns = 5 };
    struct rank_steps l;
    bool failed = true;

    (void)root;
    rank_steps_init(&l);
    folder_need(rank_steps_step(&l, &step), "a step");
    folder_need(rank_steps_note(&l, "a", "b"), "a note");
    for (oom_restart(); failed;) {
        struct run r = { .id = NULL };
        int rc;

        oom_next();
        rc = rank_steps_to_run(&l, &r);
        if (rc == 0)
            rc = rank_steps_part_to_run(&l, &r, 1, 10);
        failed = oom_end();
        ok(failed ? rc == -ENOMEM : rc == 0, "ranks with allocation %d failing return %d", oom_at,
           rc);
        ok(failed || (r.n_ranks == 2 && r.ranks[0].n_steps == 1 && r.ranks[1].n_steps == 1 &&
                      r.ranks[0].n_notes == 1),
           "ranks with allocation %d have their steps", oom_at);
        run_done(&r);
    }
    rank_steps_done(&l);
}

static void test_folder(const char *root)
{
    const char *bases[] = { root, NULL };
    bool failed = true;

    for (oom_restart(); failed;) {
        struct ring_folder f = RING_FOLDER_INIT;
        struct control *c = NULL;
        struct err e = { "" };
        int rc;

        oom_next();
        rc = ring_folder_make(bases, &f, &e);
        if (rc == 0)
            rc = control_make(&c, str_text(&f.path), &e);
        failed = oom_end();
        ok(failed ? rc == -ENOMEM && e.text[0] : rc == 0 && c,
           "a folder of rings with allocation %d failing returns %d", oom_at, rc);
        control_close(c);
        ring_folder_done(&f);
    }
}

int main(void)
{
    void (*const tests[])(const char *) = { test_rings, test_ranks, test_folder };
    char root[PATH_MAX];

    for (size_t i = 0; i < ARRAY_SIZE(tests); i++) {
        folder_make(root);
        tests[i](root);
        folder_remove(root);
    }
    return done();
}
