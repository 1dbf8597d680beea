/* What is said of a cause whose line is known, and that nothing is said else. */
#include <string.h>

#include "diagnose/verdict/judge.h"
#include "judged.h"
#include "tap.h"

/* So many samples of a line. */
static void see(struct lines *l, unsigned stage, const char *function, int line, const char *callee,
                unsigned samples)
{
    struct lines_entry e = { .stage = stage, .at = { .line = line } };

    snprintf(e.at.file, sizeof(e.at.file), "/home/ana/train.py");
    snprintf(e.at.function, sizeof(e.at.function), "%s", function);
    snprintf(e.callee, sizeof(e.callee), "%s", callee);
    for (unsigned i = 0; i < samples; i++)
        lines_count(l, &e);
}

static struct made looping(double share)
{
    struct made m = small_node();

    made_stage(&m, BRIM_STAGE_WAIT, 0.01);
    made_stage(&m, BRIM_STAGE_OTHER, share);
    m.s[RUN_WORKER_CPU] = (double)NAN;
    return m;
}

static void judge_lines(struct made *m, struct lines *l, struct verdict *v)
{
    struct run r;

    made_build(m, &r);
    r.folder = "/home/ana";
    r.lines = l;
    (void)judge_built(&r, v);
    run_done(&r);
}

static void test_loop(void)
{
    struct lines l = { .n = 0 };
    struct made m = looping(0.5);
    struct verdict v;
    const struct verdict_item *i;

    see(&l, BRIM_STAGE_OTHER, "log_images", 142, "json.dumps", 91);
    see(&l, BRIM_STAGE_OTHER, "main", 20, "", 9);
    judge_lines(&m, &l, &v);
    i = &v.items[0];
    is_int(i->cause, CAUSE_LOOP, "a loop with a known line is still the loop");
    is_str(i->sentence,
           "the loop between steps takes 50 % of a step: train.py:142 in log_images (json.dumps), "
           "91 % of it, on a CPU",
           "the loop's sentence names file, line, function and what is called");
    is_str(i->action, "do what train.py:142 does every 10th step, or in the loader's workers",
           "the loop's advice is about that line");
    ok(i->line && i->line->first == 142, "the finding has its line as data");
    ok(v.n_lines == 1 && v.lines[0].share > 0.44 && v.lines[0].share < 0.47,
       "the line takes its share of the stage's share: %.2f", v.lines[0].share);
    verdict_done(&v);
    see(&l, BRIM_STAGE_OTHER, "f1", 1, "", 150);
    see(&l, BRIM_STAGE_OTHER, "f2", 2, "", 150);
    see(&l, BRIM_STAGE_OTHER, "f3", 3, "", 150);
    judge_lines(&m, &l, &v);
    ok(strstr(v.items[0].sentence, "in each step the loop does something else") &&
           strstr(v.items[0].action, "py-spy"),
       "where no line stands out the sentence stays as it was: %s", v.items[0].sentence);
    verdict_done(&v);
}

/* Folders and names: outside of the job's folder a file has its name alone; a module has none. */
static void test_texts(void)
{
    struct lines l = { .n = 0 };
    struct made m = looping(0.5);
    struct lines_entry e = { .stage = BRIM_STAGE_OTHER,
                             .at = { "<module>", "/opt/lab/tools/x.py", 3 } };
    struct verdict v;

    for (int i = 0; i < 20; i++)
        lines_count(&l, &e);
    judge_lines(&m, &l, &v);
    is_str(v.lines[0].text, "x.py:3", "a module's line has no function");
    is_str(v.lines[0].file, "/opt/lab/tools/x.py", "the whole path is there as data");
    verdict_done(&v);
    l = (struct lines){ .n = 0 };
    for (int line = 3; line < 6; line++)
        see(&l, BRIM_STAGE_OTHER, "f", line, "", 20);
    judge_lines(&m, &l, &v);
    is_str(v.lines[0].text, "train.py:3-5 in f", "several lines of a function are a range");
    verdict_done(&v);
}

static void test_loader(void)
{
    struct lines l = { .n = 0 };
    struct made m = made_like(CAUSE_LOADER_WAITS, 3);
    struct verdict v;

    m.noise = 0;
    see(&l, BRIM_STAGE_WAIT, "main", 20, "torch.utils.data.dataloader.__next__", 100);
    judge_lines(&m, &l, &v);
    ok(v.items[0].cause == CAUSE_LOADER_WAITS && !v.items[0].line,
       "a call of the loader alone does not tell what it does: %s", v.items[0].sentence);
    verdict_done(&v);
    see(&l, LINES_WORKER, "Set.__getitem__", 33, "", 50);
    judge_lines(&m, &l, &v);
    ok(strstr(v.items[0].sentence, ", 100 % of it at train.py:33 in Set.__getitem__"),
       "what the workers do is what is waited for: %s", v.items[0].sentence);
    ok(v.lines[0].stage == LINES_WORKER && v.lines[0].share > 0.2,
       "the workers' line takes what is waited for them: %.2f", v.lines[0].share);
    verdict_done(&v);
}

/* Steps that nobody marked: the calls alone tell, and what computes is not what waits. */
static void test_unmarked(void)
{
    struct lines l = { .n = 0 };
    struct made m = made_like(CAUSE_LOADER_WAITS, 3);
    struct verdict v;

    for (int s = 0; s < BRIM_STAGES; s++)
        m.share[s] = s == BRIM_STAGE_OTHER;
    m.ranks = 1;
    m.s[RUN_RANK_CPU] = m.s[RUN_JOB_CPU] = m.s[RUN_RANK_THREAD_CPU] = 0.4;
    see(&l, BRIM_STAGE_BACKWARD, "main", 21, "", 60);
    see(&l, BRIM_STAGE_OTHER, "fetch", 5, "", 40);
    judge_lines(&m, &l, &v);
    ok(v.n_lines == 2 && v.lines[0].first == 21, "without marks samples tell the shares");
    for (size_t i = 0; i < v.count; i++)
        ok(!v.items[i].line || v.items[i].line->first == 5,
           "a cause that waits is not told at what computes: %s", v.items[i].sentence);
    verdict_done(&v);
}

/* What keeps the first thread from running is another thread's line, which takes no time of the
 * step. */
static void test_lock(void)
{
    struct lines l = { .n = 0 };
    struct made m = looping(0.15);
    struct verdict v;

    m.s[RUN_RANK_THREAD_CPU] = 0.1;
    m.s[RUN_RANK_THREAD_WAIT] = 0.03;
    see(&l, BRIM_STAGE_BACKWARD, "main", 21, "", 60);
    see(&l, LINES_THREAD, "export", 12, "", 60);
    judge_lines(&m, &l, &v);
    is_int(v.items[0].cause, CAUSE_PYTHON_LOCK, "a lock with a known line is still the lock");
    ok(strstr(v.items[0].sentence, ", 100 % of it at train.py:12 in export"),
       "the lock's sentence names what the other thread does: %s", v.items[0].sentence);
    is_str(v.items[0].action, "move what train.py:12 does to a process of its own",
           "the lock's advice is about that line");
    ok(v.n_lines == 2 && isnan(v.lines[1].share) && v.lines[1].first == 12,
       "another thread's line stands last, without a share of the time");
    verdict_done(&v);
}

static void test_checkpoint(void)
{
    struct lines l = { .n = 0 };
    struct made m = made_like(CAUSE_CHECKPOINT, 3);
    struct verdict v;

    see(&l, BRIM_STAGE_CHECKPOINT, "save", 88, "torch.serialization.save", 40);
    judge_lines(&m, &l, &v);
    ok(strstr(v.items[0].sentence, "100 % of it at train.py:88 in save (torch.serialization.save)"),
       "a checkpoint names the line that saves: %s", v.items[0].sentence);
    verdict_done(&v);
}

static void test_off(void)
{
    struct lines l = { .n = 0 };
    struct made m = looping(0.5);
    struct verdict v;

    snprintf(l.off, sizeof(l.off), "process 7: its memory may not be read");
    judge_lines(&m, &l, &v);
    is_str(v.lines_off, "process 7: its memory may not be read", "why no lines are known is told");
    ok(v.n_lines == 0 && !v.items[0].line, "without samples no line is told");
    verdict_done(&v);
}

int main(void)
{
    test_loop();
    test_texts();
    test_loader();
    test_unmarked();
    test_lock();
    test_checkpoint();
    test_off();
    return done();
}
