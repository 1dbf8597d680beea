/* Lines of samples: whose a file is by where it lies, what a call is named, which stage it is of,
 * and what is around it. */
#include <stdio.h>
#include <string.h>

#include "model/job/lines.h"
#include "tap.h"

#define LIBRARY "/usr/lib/python3.11/"
#define PACKAGES "/opt/venv/lib/python3.12/site-packages/"

static const char own[] = "/home/ana/train.py";

static void test_folders(void)
{
    static const struct {
        const char *file;
        bool own;
    } files[] = {
        { "/lib/python3.11/json/decoder.py", false },
        { "lib/python3.11/json/decoder.py", true },
        { "/home/ana/python3/lib/python3.11/json/decoder.py", false },
        { "/srv/python3.zip/json/decoder.py", false },
        { "/srv/python3.11/train.py", true },
        { "/bin/torchrun", false },
        { "bin/torchrun", true },
        { "/home/ana/cabin/train.py", true },
        { "<ipytools>", false },
        { "<ipython", true },
        { "/usr/lib/python3/dist-packages/yaml.py", false },
        { "/srv/site-packages/yaml.py", false },
        { "/home/ana/sitecustomize.py", false },
        { "/home/ana/sitecustomize.py.txt", true },
    };

    for (size_t i = 0; i < ARRAY_SIZE(files); i++)
        ok(lines_is_own(files[i].file) == files[i].own, "'%s' is%s the user's own file",
           files[i].file, files[i].own ? "" : " not");
}

/* What a line of the user's called, as it is told. */
static const char *callee_of(const char *function, const char *file, struct lines_entry *e)
{
    const struct lines_call calls[] = { { function, file, 3 }, { "main", own, 20 } };

    if (!lines_place(calls, 2, false, e))
        return "not counted";
    return e->callee;
}

static void test_modules(void)
{
    static const struct {
        const char *function, *file, *callee;
    } calls[] = {
        { "dumps", "/usr/lib/python311.zip/json/__init__.py", "json.dumps" },
        { "dumps", LIBRARY "json/__init__.py", "json.dumps" },
        { "JSONDecoder.decode", LIBRARY "json/decoder.py", "json.decoder.JSONDecoder.decode" },
        { "load", PACKAGES "yaml.py", "yaml.load" },
        { "load", PACKAGES "yaml/c/loader.py", "yaml.c.loader.load" },
        { "load", PACKAGES "fast.so", "fast.so.load" },
        { "load", "<frozen zipimport>", "zipimport.load" },
        { "_find_and_load", "<frozen importlib._bootstrap>", "not counted" },
        { "main", "/usr/bin/tool", "tool.main" },
        { "load.<locals>.<listcomp>", PACKAGES "yaml.py", "yaml.load" },
        { "__init__", "<string>", "" },
        { "hook", "/x/brim_torch/hook.py", "" },
        { "decorate_context", PACKAGES "torch/utils/_contextlib.py", "" },
        { "context.decorate_context", PACKAGES "torch/utils/_contextlib.py", "" },
        { "Module._wrapped_call_impl", PACKAGES "torch/nn/modules/module.py", "" },
        { "Module._call_impl", PACKAGES "torch/nn/modules/module.py", "" },
        { "_call_with_frames_removed", "<frozen zipimport>", "" },
        { "default_collate", PACKAGES "torch/utils/data/_utils/collate.py",
          "torch's default_collate" },
    };
    struct lines_entry e;

    for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
        is_str(callee_of(calls[i].function, calls[i].file, &e), calls[i].callee,
               "a call of %s in %s is told as '%s'", calls[i].function, calls[i].file,
               calls[i].callee);
}

/* Names that are longer than there is room. */
static void test_long_names(void)
{
    const int room = LINES_CALLEE - LINES_FUNCTION; /* of a module and a dot */
    char name[2 * LINES_FUNCTION + 1] = "", file[sizeof(PACKAGES) + LINES_CALLEE];
    struct lines_entry e;

    memset(name, 'f', LINES_FUNCTION - 1);
    for (int more = 0; more < 2; more++) {
        snprintf(file, sizeof(file), PACKAGES "%0*d.py", room - 1 + more, 0);
        is_int((int)strlen(callee_of(name, file, &e)), more ? LINES_FUNCTION - 1 : LINES_CALLEE - 1,
               "a callee %s its module", more ? "that does not fit is told without" : "has");
    }
    memset(name, 'g', sizeof(name) - 1);
    for (int more = -1; more < 2; more++) {
        const struct lines_call call = { name, own, 5 };

        name[LINES_FUNCTION - 1 + more] = '\0';
        (void)lines_place(&call, 1, false, &e);
        is_int((int)strlen(e.at.function), LINES_FUNCTION - 1 + (more < 0 ? more : 0),
               "a function of %d letters is told with what has room", LINES_FUNCTION - 1 + more);
        name[LINES_FUNCTION - 1 + more] = 'g';
    }
}

static void test_inner(void)
{
    static const char *const names[][2] = {
        { "f.<locals>.<listcomp>", "f" },
        { "f.<locals>.<dictcomp>", "f" },
        { "f.<locals>.<setcomp>", "f" },
        { "f.<locals>.<genexpr>", "f" },
        { "<setcomp>", "<module>" },
        { "f.<locals>.g", "f.g" },
        { "", "<module>" },
    };
    struct lines_entry e;

    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        const struct lines_call call = { names[i][0], own, 5 };

        (void)lines_place(&call, 1, false, &e);
        is_str(e.at.function, names[i][1], "'%s' runs in the function %s", names[i][0],
               names[i][1]);
    }
}

/* The stage that is looked for first counts, wherever it stands. */
static void test_stages(void)
{
    static const struct {
        struct lines_call calls[2];
        unsigned stage;
    } known[] = {
        { { { "save", PACKAGES "torch/distributed/checkpoint/state_dict_saver.py", 3 },
            { "main", own, 20 } },
          BRIM_STAGE_CHECKPOINT },
        { { { "backward", PACKAGES "torch/autograd/__init__.py", 3 }, { "main", own, 20 } },
          BRIM_STAGE_BACKWARD },
        { { { "Adam.step", PACKAGES "torch/optim/adam.py", 3 },
            { "_Iter.__next__", PACKAGES "torch/utils/data/dataloader.py", 9 } },
          BRIM_STAGE_WAIT },
        { { { "main", own, 20 }, { "Adam.step", PACKAGES "torch/optim/adam.py", 3 } },
          BRIM_STAGE_OPTIMIZER },
        { { { "Adam.steps", PACKAGES "torch/optim/adam.py", 3 }, { "main", own, 20 } },
          BRIM_STAGE_OTHER },
    };
    struct lines_entry e;

    for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
        (void)lines_place(known[i].calls, 2, false, &e);
        is_int((int)e.stage, (int)known[i].stage, "a call of %s, below one of %s, is of its stage",
               known[i].calls[0].function, known[i].calls[1].function);
    }
}

/* What is around a line: the next function of the user's, not the same one again. */
static void test_around(void)
{
    struct lines_call calls[] = { { "walk", own, 5 },
                                  { "walk", own, 7 },
                                  { "dumps", LIBRARY "json/__init__.py", 1 },
                                  { "walk", "/home/ana/other.py", 9 } };
    struct lines_entry e;

    ok(lines_place(calls, 4, false, &e) && e.caller.line == 9,
       "a function of the same name in another file is around it");
    calls[3] = (struct lines_call){ "main", own, 11 };
    ok(lines_place(calls, 4, false, &e) && e.caller.line == 11,
       "another function of the same file is around it");
    ok(lines_place(calls, 3, false, &e) && e.at.line == 5 && e.caller.line == 0 &&
           !e.caller.file[0] && !e.caller.function[0],
       "nothing is around a function that calls itself alone");
    ok(lines_place(calls + 1, 2, false, &e) && e.at.line == 7 && !e.caller.file[0],
       "nothing is around the outermost line");
    calls[0] = (struct lines_call){ "<module>", "<string>", 1 };
    calls[1] = (struct lines_call){ "main", "<stdin>", 2 };
    ok(lines_place(calls, 3, false, &e) && e.at.line == 1 && e.caller.line == 2,
       "what was typed is around what was typed");
    ok(!e.callee[0], "the innermost call has called nothing");
}

/* A worker is told by the frame that starts it, of which the name and the file count. */
static void test_worker(void)
{
    struct lines_call calls[] = {
        { "fetch", PACKAGES "torch/utils/data/_utils/fetch.py", 5 },
        { "BaseProcess._bootstrap", LIBRARY "multiprocessing/process.py", 7 },
        { "main", own, 9 },
    };
    struct lines_entry e;

    ok(lines_place(calls, 3, true, &e) && strstr(e.at.file, "fetch.py"),
       "a worker that fetches in a package's code counts");
    ok(!e.caller.file[0], "the line of its parent is not around what a worker does");
    calls[1].function = "BaseProcess.run";
    ok(!lines_place(calls, 3, true, &e), "a child without its start is no worker");
    calls[1] = (struct lines_call){ "BaseProcess._bootstrap", own, 7 };
    ok(!lines_place(calls, 3, true, &e), "a function of the same name in another file starts none");
    calls[1].file = LIBRARY "multiprocessing/process.py";
    ok(!lines_place(calls + 1, 2, true, &e), "a worker without calls of its own does not count");
}

int main(void)
{
    test_folders();
    test_modules();
    test_long_names();
    test_inner();
    test_stages();
    test_around();
    test_worker();
    return done();
}
