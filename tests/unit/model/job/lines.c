/* Which line is the user's, and which of many is told. */
#include "model/job/lines.h"

#include <stdio.h>
#include <string.h>

#include "tap.h"

#define LIBRARY "/usr/lib/python3.11/"
#define PACKAGES "/home/ana/venv/lib/python3.12/site-packages/"
#define TORCH PACKAGES "torch/"

static bool place(const struct lines_call *calls, size_t n, struct lines_entry *e)
{
    return lines_place(calls, n, false, e);
}

static void test_own(void)
{
    static const struct {
        const char *file;
        bool own;
    } files[] = { { "/home/ana/train.py", true },
                  { "train.py", true },
                  { "<ipython-input-3-abc>", true },
                  { "<__array_function__ internals>", false },
                  { "<frozen importlib._bootstrap>", false },
                  { LIBRARY "json/__init__.py", false },
                  { "/usr/lib/python311.zip/json/__init__.py", false },
                  { "/opt/py/lib/python3.13t/re/_parser.py", false },
                  { "/usr/lib/python3/dist-packages/numpy/core.py", false },
                  { TORCH "nn/modules/module.py", false },
                  { "/usr/share/brim/torch/brim_torch/loader.py", false },
                  { "/usr/share/brim/torch/sitecustomize.py", false },
                  { "/home/ana/venv/bin/torchrun", false },
                  { "/home/ana/python3/train.py", true },
                  { "/home/ana/python3.11.zips/train.py", true },
                  { "", false } };

    for (size_t i = 0; i < ARRAY_SIZE(files); i++)
        ok(lines_is_own(files[i].file) == files[i].own, "'%s' is%s the user's own file",
           files[i].file, files[i].own ? "" : " not");
}

/* The user's line is the innermost of its own, however deep the library goes below it. */
static void test_callee(void)
{
    const struct lines_call calls[] = { { "_iterencode", LIBRARY "json/encoder.py", 433 },
                                        { "JSONEncoder.encode", LIBRARY "json/encoder.py", 200 },
                                        { "dumps", LIBRARY "json/__init__.py", 231 },
                                        { "log_images", "/home/ana/train.py", 142 },
                                        { "wrapper", "/x/brim_torch/hook.py", 3 },
                                        { "main", "/home/ana/train.py", 200 },
                                        { "<module>", "/home/ana/train.py", 210 } };
    struct lines_entry e;

    ok(place(calls, ARRAY_SIZE(calls), &e), "calls below a line of the user's count");
    is_str(e.at.function, "log_images", "the user's function is the innermost of its own");
    is_int(e.at.line, 142, "the user's line is the one that runs there");
    is_str(e.callee, "json.dumps", "what the line called is named by its module");
    is_str(e.caller.function, "main", "the call around it is the user's as well");
    is_int(e.caller.line, 200, "the call around it has its line");
    is_int((int)e.stage, BRIM_STAGE_OTHER, "calls that are of no stage are between the stages");
}

static void test_nobody(void)
{
    const struct lines_call calls[] = { { "sleep", PACKAGES "tool/run.py", 5 },
                                        { "main", PACKAGES "tool/main.py", 9 } };
    struct lines_entry e;

    ok(place(calls, 2, &e), "calls of packages alone count");
    is_str(e.at.file, PACKAGES "tool/run.py", "without a file of the user's the innermost is told");
    is_str(e.callee, "", "the innermost call has called nothing");
    ok(!place(calls, 0, &e), "no calls are no sample");
}

/* What stands in no file is the user's where the user has none. */
static void test_typed(void)
{
    const struct lines_call calls[] = { { "Point.__init__", "<string>", 3 },
                                        { "main", "/home/ana/train.py", 20 },
                                        { "<module>", "<string>", 1 } };
    struct lines_entry e;

    (void)place(calls, 3, &e);
    is_int(e.at.line, 20, "what a library has made is not the user's line");
    is_str(e.callee, "", "what a library has made is not told as what is called");
    (void)place(calls + 2, 1, &e);
    is_str(e.at.file, "<string>", "what was typed is the user's without a file");
}

/* A job that still imports has not begun; one that is imported itself may train. */
static void test_imports(void)
{
    static const char importer[] = "<frozen importlib._bootstrap>";
    const struct lines_call calls[] = {
        { "Tensor", TORCH "__init__.py", 3 },    { "_find_and_load", importer, 1176 },
        { "<module>", "/home/ana/train.py", 5 }, { "_call_with_frames_removed", importer, 241 },
        { "_find_and_load", importer, 1176 },    { "<module>", "/home/ana/run.py", 1 }
    };
    struct lines_entry e;

    ok(!place(calls, ARRAY_SIZE(calls), &e), "what a line imports does not count");
    ok(place(calls + 2, 4, &e) && e.at.line == 5, "a line of a module that is imported counts");
}

static void test_names(void)
{
    struct lines_call c = { "main.<locals>.<listcomp>", "/home/ana/train.py", 5 };
    struct lines_entry e;

    (void)place(&c, 1, &e);
    is_str(e.at.function, "main", "a comprehension is of the function that it stands in");
    c.function = "<genexpr>";
    (void)place(&c, 1, &e);
    is_str(e.at.function, "<module>", "one outside of all functions is the module's");
    c.function = "main.<locals>.<lambda>";
    (void)place(&c, 1, &e);
    is_str(e.at.function, "main.<lambda>", "a lambda keeps its name and where it stands");
}

static void test_stages(void)
{
    static const struct {
        const char *function, *file;
        unsigned stage;
    } known[] = {
        { "_BaseDataLoaderIter.__next__", TORCH "utils/data/dataloader.py", BRIM_STAGE_WAIT },
        { "save", TORCH "serialization.py", BRIM_STAGE_CHECKPOINT },
        { "Tensor.backward", TORCH "_tensor.py", BRIM_STAGE_BACKWARD },
        { "AdamW.step", TORCH "optim/adamw.py", BRIM_STAGE_OPTIMIZER },
        { "Module._call_impl", TORCH "nn/modules/module.py", BRIM_STAGE_FORWARD },
        { "all_reduce", TORCH "distributed/distributed_c10d.py", BRIM_STAGE_COMMUNICATION },
        { "dumps", LIBRARY "json/__init__.py", BRIM_STAGE_OTHER }
    };
    struct lines_call calls[] = { { "Net.forward", "/home/ana/net.py", 4 },
                                  { "", "", 0 },
                                  { "main", "/home/ana/train.py", 20 } };
    struct lines_entry e;

    for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
        calls[1] = (struct lines_call){ known[i].function, known[i].file, 7 };
        (void)place(calls, 3, &e);
        is_int((int)e.stage, (int)known[i].stage, "calls through %s are of their stage",
               known[i].function);
    }
}

/* What a forked worker has of its parent is not its own. */
static void test_workers(void)
{
    const struct lines_call calls[] = {
        { "load", "/home/ana/data.py", 33 },
        { "_MapDatasetFetcher.fetch", TORCH "utils/data/_utils/fetch.py", 51 },
        { "_worker_loop", TORCH "utils/data/_utils/worker.py", 308 },
        { "BaseProcess.run", LIBRARY "multiprocessing/process.py", 108 },
        { "BaseProcess._bootstrap", LIBRARY "multiprocessing/process.py", 314 },
        { "main", "/home/ana/train.py", 20 }
    };
    const struct lines_call collates[] = { { "default_collate",
                                             TORCH "utils/data/_utils/collate.py", 162 },
                                           calls[1],
                                           calls[2],
                                           calls[4],
                                           calls[5] };
    struct lines_entry e;

    ok(lines_place(calls, 6, true, &e), "a worker that loads counts");
    is_int((int)e.stage, LINES_WORKER, "what a worker does is in a stage of its own");
    is_int(e.at.line, 33, "the worker's line is within what it was started for");
    is_str(e.caller.file, "", "what its parent had called is not around it");
    ok(!lines_place(calls + 2, 4, true, &e), "a worker that waits for work does not count");
    ok(!lines_place(calls, 3, true, &e), "a child that is no worker does not count");
    ok(lines_place(collates, 5, true, &e) && strstr(e.at.file, "collate.py"),
       "a worker that puts a batch together counts, without a line of the user's: %s", e.at.file);
}

static void test_collate(void)
{
    const struct lines_call calls[] = {
        { "collate", TORCH "utils/data/_utils/collate.py", 119 },
        { "default_collate", TORCH "utils/data/_utils/collate.py", 162 },
        { "_BaseDataLoaderIter.__next__", TORCH "utils/data/dataloader.py", 630 },
        { "main", "/home/ana/train.py", 20 }
    };
    struct lines_entry e;

    (void)place(calls, 4, &e);
    is_str(e.callee, "torch's default_collate", "torch's collation is told as what is called");
}

/* ---- sums ---- */

static struct lines_entry seen(unsigned stage, const char *function, int line)
{
    struct lines_entry e = { .stage = stage, .at = { .line = line } };

    snprintf(e.at.file, sizeof(e.at.file), "/home/ana/train.py");
    snprintf(e.at.function, sizeof(e.at.function), "%s", function);
    return e;
}

static void count(struct lines *l, struct lines_entry e, int times)
{
    for (int i = 0; i < times; i++)
        lines_count(l, &e);
}

static void test_find(void)
{
    struct lines l = { .n = 0 };
    struct lines_found f;

    count(&l, seen(BRIM_STAGE_OTHER, "log", 5), LINES_LEAST - 1);
    ok(!lines_find(&l, BRIM_STAGE_OTHER, &f), "of %d samples nothing is told", LINES_LEAST - 1);
    count(&l, seen(BRIM_STAGE_OTHER, "log", 5), 1);
    ok(lines_find(&l, BRIM_STAGE_OTHER, &f), "%d samples of one line tell it", LINES_LEAST);
    ok(f.first == 5 && f.last == 5 && f.share > 0.999, "all samples of the stage are that line");
    ok(f.least > 0.75 && f.least < 0.9, "few samples leave the share unsure: %.2f", f.least);
    ok(!lines_find(&l, BRIM_STAGE_WAIT, &f), "another stage has no line");
    ok(!lines_find(&l, LINES_STAGES, &f), "what is no stage has no line");
    count(&l, seen(BRIM_STAGE_OTHER, "other", 9), 3 * LINES_LEAST);
    (void)lines_find(&l, BRIM_STAGE_OTHER, &f);
    is_int(f.first, 9, "the line that was seen most is told");
    is_int((int)f.samples, 4 * LINES_LEAST, "the line has the samples of its stage");
}

static void test_none_stands_out(void)
{
    struct lines l = { .n = 0 };
    struct lines_found f;
    char name[16];

    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof(name), "f%d", i);
        count(&l, seen(BRIM_STAGE_OTHER, name, i), 20);
    }
    ok(!lines_find(&l, BRIM_STAGE_OTHER, &f), "of four functions with a quarter each none is told");
    count(&l, seen(BRIM_STAGE_OTHER, "f0", 0), 6);
    ok(lines_find(&l, BRIM_STAGE_OTHER, &f), "one with three in ten stands out");
}

/* Lines that share the time are told as a range of their function; functions that do, as the one
 * that called them. */
static void test_ties(void)
{
    struct lines l = { .n = 0 };
    struct lines_found f;
    struct lines_entry e;
    char name[16];

    for (int line = 10; line < 14; line++)
        count(&l, seen(BRIM_STAGE_OTHER, "log", line), 20);
    count(&l, seen(BRIM_STAGE_OTHER, "log", 40), 2);
    ok(lines_find(&l, BRIM_STAGE_OTHER, &f) && f.first == 10 && f.last == 13,
       "lines with a quarter each are a range, without the rare one: %d to %d", f.first, f.last);
    l = (struct lines){ .n = 0 };
    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof(name), "f%d", i);
        e = seen(BRIM_STAGE_OTHER, name, 100 * i + 1);
        e.caller = seen(BRIM_STAGE_OTHER, "evaluate", 20 + i).at;
        count(&l, e, 20);
    }
    count(&l, seen(BRIM_STAGE_OTHER, "evaluate", 30), 20);
    ok(lines_find(&l, BRIM_STAGE_OTHER, &f),
       "functions with a fifth each have one that called them");
    is_str(f.at->function, "evaluate", "the function around is told");
    ok(f.first == 20 && f.last == 30,
       "the function has a range of its calls and own lines: %d to %d", f.first, f.last);
    is_str(f.callee, "", "what several lines call is not told");
}

/* However many lines there are, the table has its size and the one that matters is in it. */
static void test_ceiling(void)
{
    static struct lines l;
    struct lines_found f;

    count(&l, seen(BRIM_STAGE_OTHER, "log", 7), 500);
    for (int i = 0; i < 3 * LINES_MOST; i++)
        count(&l, seen(BRIM_STAGE_OTHER, "rare", 1000 + i), 1);
    is_int((int)l.n, LINES_MOST, "the table does not grow beyond its size");
    ok(lines_find(&l, BRIM_STAGE_OTHER, &f) && f.first == 7, "the line that is seen most stays");
    is_int((int)f.samples, 500 + 3 * LINES_MOST, "samples that had to go still count");
    count(&l, seen(BRIM_STAGE_OTHER, "log", 7), LINES_TOTAL);
    ok(l.total[BRIM_STAGE_OTHER] < LINES_TOTAL, "old samples count half: %u are left",
       l.total[BRIM_STAGE_OTHER]);
    count(&l, seen(BRIM_STAGE_OTHER, "new", 8), LINES_TOTAL);
    ok(lines_find(&l, BRIM_STAGE_OTHER, &f) && f.first == 8, "what the job does now comes before");
    count(&l, seen(LINES_STAGES, "none", 1), 1);
    ok(lines_find(&l, BRIM_STAGE_OTHER, &f), "a sample of no stage is left out");
}

static void test_merge(void)
{
    static struct lines a, b;
    struct lines_found f;

    count(&a, seen(BRIM_STAGE_OTHER, "log", 7), 10);
    count(&b, seen(BRIM_STAGE_OTHER, "log", 7), 10);
    count(&b, seen(LINES_WORKER, "load", 3), 20);
    snprintf(b.off, sizeof(b.off), "may not be read");
    lines_merge(&a, &b);
    ok(lines_find(&a, BRIM_STAGE_OTHER, &f) && f.samples == 20,
       "the same line of two tables is one");
    ok(lines_find(&a, LINES_WORKER, &f) && f.samples == 20, "a line of the other table is there");
    is_str(a.off, "may not be read", "why a part has no lines is kept");
}

static void test_stage_names(void)
{
    is_str(lines_stage_name(LINES_WORKER), "worker", "a worker has the name of a stage");
    is_str(lines_stage_name(LINES_THREAD), "thread", "another thread has the name of a stage");
    is_str(lines_stage_name(BRIM_STAGE_OTHER), "other", "stages of a rank have their names");
    ok(!lines_stage_name(LINES_STAGES), "what is no stage has no name");
}

int main(void)
{
    test_own();
    test_callee();
    test_nobody();
    test_typed();
    test_imports();
    test_names();
    test_stages();
    test_workers();
    test_collate();
    test_find();
    test_none_stands_out();
    test_ties();
    test_ceiling();
    test_merge();
    test_stage_names();
    return done();
}
