/* What each engine carries out of a policy: what it refuses and where it says that stands, and what
 * it does instead. */
#include "sched/engine.h"

#include <errno.h>
#include <string.h>

#include "tap.h"

static int check(const char *text, struct err *e)
{
    const struct engine_policy_text from = { "p.ini", text, strlen(text) };
    struct policy p;
    int rc = policy_read(&p, "p.ini", text, strlen(text), e);

    if (rc < 0)
        printf("Bail out! %s\n", e->text);
    return engine_check(&p, ENGINE_LOCAL, &from, e);
}

static void test_refused(void)
{
    static const struct {
        const char *text, *where, *way_out;
    } cases[] = {
        { "[policy]\norder = srsf\nlength = oracle\npreempt = rebuild\n",
          "p.ini:4: [policy] preempt = rebuild: ", "only brim sim" },
        { "[policy]\norder = srsf\nlength = oracle\ninterleave = 2\npreempt = rebuild\n",
          "p.ini:4: [policy] interleave = 2: ", "only brim sim" },
        { "[policy]\norder = fifo\nrestart-each-pass = yes\n",
          "p.ini:3: [policy] restart-each-pass = yes: ", "only brim sim" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct err e = { "" };

        is_int(check(cases[i].text, &e), -EINVAL, "the queue refuses policy %zu", i);
        ok(!strncmp(e.text, cases[i].where, strlen(cases[i].where)),
           "the error of policy %zu begins with its place: %s", i, e.text);
        ok(strstr(e.text, cases[i].way_out) != NULL, "the error of policy %zu names the way out",
           i);
        ok(strlen(e.text) < sizeof(e.text) - 1, "the error is a whole sentence");
    }
}

static void test_carried_out(void)
{
    static const char *const texts[] = {
        "[policy]\norder = fifo\nbackfill = greedy\nageing = 1h\n[idle]\nreclaim = 1h\n"
        "warn = 30m\nburst = 1m\ngrace = 10m\naction = requeue\n",
        "[policy]\norder = fifo\npriorities = yes\npreempt = victims\nleast-run = 5m\n[idle]\n"
        "reclaim = 1h\naction = warn\n",
        "[policy]\norder = fair\nhalf-life = 1d\ninterleave = 1\nrestart-each-pass = no\n",
        "[policy]\norder = fifo\npreempt = victims\n[quota]\nby = team\nborrow = yes\n"
        "share = vision 2\nshare = nlp 25%\n[idle]\nreclaim = 1h\naction = warn\nexempt = web\n",
        "[policy]\norder = fifo\n[idle]\nreclaim = 1h\naction = shrink\n[elastic]\nevery = 5m\n",
        "[policy]\norder = fifo\n[share]\nbelow = 50%\ntogether = 90%\nafter = 5m\ncost = 10%\n",
    };
    struct err e = { "" };

    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        is_int(check(texts[i], &e), 0, "the queue takes a policy that it can carry out: %s",
               e.text);
}

/* All that have a name: those that move jobs or count steps are refused, also without a text. */
static void test_named(void)
{
    for (size_t i = 0; policy_name_at(i); i++) {
        const struct engine_policy_text from = { .name = policy_name_at(i) };
        struct policy p;
        struct err e = { "" };
        bool refused;

        is_int(policy_named(&p, from.name, &e), 0, "policy_named finds the policy %s", from.name);
        refused = p.preempt == PREEMPT_REBUILD || p.restart_each_pass || p.length == LENGTH_STEPS;
        is_int(engine_check(&p, ENGINE_LOCAL, &from, &e), refused ? -EINVAL : 0,
               "the queue takes policy %s unless it moves jobs: %s", from.name, e.text);
        ok(!refused || strstr(e.text, from.name), "the refusal names the policy %s", from.name);
    }
}

static void test_later_ones(void)
{
    /* what a later brim reads and this engine does not know */
    static const struct {
        const char *text, *where;
    } cases[] = {
        { "[policy]\norder = fifo\n[power]\ncap = 2kW\n", "p.ini:3: [power]: " },
        { "[policy]\norder = fifo\ngrow = yes\n", "p.ini:3: [policy] grow = yes: " },
    };
    struct policy p;
    struct err e = { "" };

    if (policy_named(&p, "fifo", &e) != 0)
        printf("Bail out! %s\n", e.text);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const struct engine_policy_text from = { "p.ini", cases[i].text, strlen(cases[i].text) };

        is_int(engine_check(&p, ENGINE_LOCAL, &from, &e), -EINVAL, "what is not known is refused");
        ok(!strncmp(e.text, cases[i].where, strlen(cases[i].where)),
           "the error of policy %zu begins with its place: %s", i, e.text);
    }
}

/* ---- the table ---- */

static void test_cells(void)
{
    for (size_t i = 0; i < engine_n_parts; i++) {
        const struct engine_part *part = &engine_parts[i];
        char text[ENGINE_PART_TEXT];

        for (size_t k = 0; k < ENGINE_N; k++) {
            const struct engine_cell *c = &part->by[k];

            ok(c->can == ENGINE_DOES || (part->asks && c->why),
               "the table says why %s does not do %s", engine_names[k],
               engine_part_text(part, text));
            ok((c->can == ENGINE_CHANGES) == (c->change && c->instead),
               "the table says what %s does instead of %s, or nothing", engine_names[k],
               engine_part_text(part, text));
        }
    }
}

static void test_keys(void)
{
    static const char *const keys[] = {
        "name",       "order",     "queues",     "place",     "backfill",
        "preempt",    "kinds",     "every",      "least-run", "restart-adds",
        "notice",     "restart",   "ties",       "length",    "restart-multi",
        "interleave", "half-life", "priorities", "ageing",    "restart-each-pass"
    };
    struct policy p;
    struct err e = { "" };

    if (policy_named(&p, "fifo", &e) != 0)
        printf("Bail out! %s\n", e.text);
    for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
        for (int k = 0; k < ENGINE_N; k++) {
            char text[128];
            struct engine_policy_text from = { "p.ini", text, 0 };

            snprintf(text, sizeof(text), "[policy]\n%s = 1\n", keys[i]);
            from.len = strlen(text);
            is_int(engine_check(&p, k, &from, &e), 0, "the table of %s has a row for %s",
                   engine_names[k], keys[i]);
        }
}

/* ---- what an engine does instead ---- */

static void test_changes(void)
{
    static const struct {
        const char *text;
        enum engine engine;
        enum policy_length length;
        enum policy_backfill backfill;
    } cases[] = {
        { "[policy]\nbackfill = easy\nlength = oracle\n", ENGINE_LOCAL, LENGTH_LIMIT,
          BACKFILL_EASY },
        { "[policy]\nbackfill = easy\nlength = oracle\n", ENGINE_SLURM, LENGTH_LIMIT,
          BACKFILL_CONSERVATIVE },
        { "[policy]\nbackfill = greedy\n", ENGINE_SLURM, LENGTH_LIMIT, BACKFILL_CONSERVATIVE },
        { "[policy]\nbackfill = greedy\n[spot]\nclass = spot\n", ENGINE_SLURM, LENGTH_LIMIT,
          BACKFILL_EASY },
        { "[policy]\nbackfill = greedy\n", ENGINE_LOCAL, LENGTH_NONE, BACKFILL_GREEDY },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct policy p;
        struct err e = { "" };
        int rc = policy_read(&p, "p.ini", cases[i].text, strlen(cases[i].text), &e);

        if (rc == 0)
            rc = engine_change(&p, cases[i].engine, &e);
        is_int(rc, 0, "the engine changes policy %zu: %s", i, e.text);
        is_int(p.length, cases[i].length, "the engine knows such lengths of policy %zu", i);
        is_int(p.backfill, cases[i].backfill, "the engine fills so under policy %zu", i);
    }
}

static void test_walls(void)
{
    static const char text[] =
        "[policy]\npriorities = yes\npreempt = victims\nageing = 1d\nplace = fgd\n[quota]\n"
        "borrow = yes\nshare = a 4\n";
    struct policy p;
    struct err e = { "" };

    is_int(policy_read(&p, "p.ini", text, strlen(text), &e), 0, "the policy is read: %s", e.text);
    is_int(engine_change(&p, ENGINE_SLURM, &e), 0, "Slurm changes the policy: %s", e.text);
    ok(!p.quota.borrow, "Slurm lends nothing of a share");
    is_int((int)p.ageing_ms, 0, "Slurm has no ageing that stops others");
    ok(!strcmp(engine_part_text(&engine_parts[0], (char[ENGINE_PART_TEXT]){ 0 }), "name"),
       "a part of [policy] is called by its key");
}

/* Whatever has a name is refused, or is something that the engine does after the change. */
static void test_named_ones(void)
{
    for (size_t i = 0; policy_name_at(i); i++)
        for (int k = 0; k < ENGINE_N; k++) {
            const struct engine_policy_text from = { .name = policy_name_at(i) };
            struct err e = { "" };
            struct policy p;
            size_t at = 0;

            if (policy_named(&p, from.name, &e) != 0 || engine_check(&p, k, &from, &e) != 0)
                continue;
            is_int(engine_change(&p, k, &e), 0, "%s changes policy %s: %s", engine_called(k),
                   from.name, e.text);
            while (engine_next(&p, k, ENGINE_CHANGES, &at))
                if (!strcmp(engine_parts[at - 1].key, "length") ||
                    !strcmp(engine_parts[at - 1].key, "place"))
                    ok(false, "%s leaves %s of policy %s", engine_called(k),
                       engine_parts[at - 1].key, from.name);
        }
}

int main(void)
{
    test_refused();
    test_carried_out();
    test_named();
    test_later_ones();
    test_cells();
    test_keys();
    test_changes();
    test_walls();
    test_named_ones();
    return done();
}
