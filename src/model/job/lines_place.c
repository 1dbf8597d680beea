/* One sample: which of the calls is the user's, and which stage they are. */
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "model/job/lines.h"

/* ---- whose a file is ---- */

/* Where Python's library is: ".../lib/python3.11/json/...", or packed in python311.zip. What stands
 * behind it; NULL: it is not there. */
static const char *in_library(const char *file)
{
    const char *at = file;

    while ((at = strstr(at, "/python3")) != NULL) {
        const char *end = at + strlen("/python3");

        end += strspn(end, ".0123456789t");
        if (end[-1] == '.' && !strncmp(end, "zip/", 4))
            return end + 4;
        if (*end == '/' && at - file >= 4 && !strncmp(at - 4, "/lib", 4))
            return end + 1;
        at = end;
    }
    return NULL;
}

/* What stands behind the folder of installed packages; NULL: it is in none. */
static const char *in_packages(const char *file)
{
    static const char *const folders[] = { "/site-packages/", "/dist-packages/" };

    for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
        const char *at = strstr(file, folders[i]);

        if (at)
            return at + strlen(folders[i]);
    }
    return NULL;
}

static bool ends_with(const char *text, const char *end)
{
    size_t len = strlen(text), n = strlen(end);

    return len >= n && !strcmp(text + len - n, end);
}

static bool is_shim(const char *file)
{
    return strstr(file, "/brim_torch/") || ends_with(file, "/sitecustomize.py");
}

/* A program that an installed package brought: bin/torchrun. */
static bool is_script(const char *file)
{
    const char *slash = strrchr(file, '/');

    return slash && slash - file >= 4 && !strncmp(slash - 4, "/bin", 4);
}

/* What is in no file is mostly what libraries have made. */
bool lines_is_own(const char *file)
{
    return *file && (*file != '<' || !strncmp(file, "<ipython", 8)) && !in_library(file) &&
           !in_packages(file) && !is_shim(file) && !is_script(file);
}

/* Of python -c and of a session. A library may call what it has made so, too: it counts where the
 * user has no file. */
static bool is_typed(const char *file)
{
    return !strcmp(file, "<string>") || !strcmp(file, "<stdin>");
}

/* ---- names ---- */

/* Of what is written in its function and runs as one of its own: "f.<locals>.<listcomp>" is f. */
static void set_function(char *to, size_t size, const char *function)
{
    static const char *const inner[] = { "<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>" };
    static const char locals[] = "<locals>.";
    size_t len = 0;

    for (const char *at = function; *at && len + 1 < size;) {
        if (!strncmp(at, locals, sizeof(locals) - 1))
            at += sizeof(locals) - 1;
        else
            to[len++] = *at++;
    }
    to[len] = 0;
    for (size_t i = 0; i < ARRAY_SIZE(inner); i++) {
        if (!ends_with(to, inner[i]))
            continue;
        len -= strlen(inner[i]);
        to[len ? len - 1 : 0] = 0;
    }
    if (!*to)
        snprintf(to, size, "<module>");
}

static void set_place(struct lines_place *to, const struct lines_call *c)
{
    set_function(to->function, sizeof(to->function), c->function);
    snprintf(to->file, sizeof(to->file), "%s", c->file);
    to->line = c->line;
}

/* "/usr/lib/python3.11/json/__init__.py" is json. */
static void set_module(char *to, size_t size, const char *file)
{
    const char *from = in_packages(file);
    size_t len;

    if (!from)
        from = in_library(file);
    if (!from && !strncmp(file, "<frozen ", 8))
        from = file + 8;
    if (!from)
        from = strrchr(file, '/') ? strrchr(file, '/') + 1 : file;
    snprintf(to, size, "%s", from);
    len = strlen(to);
    if (len && to[len - 1] == '>')
        to[--len] = 0;
    if (ends_with(to, ".py"))
        to[len -= 3] = 0;
    if (ends_with(to, "/__init__"))
        to[len - strlen("/__init__")] = 0;
    for (char *at = to; *at; at++)
        if (*at == '/')
            *at = '.';
}

/* What only passes a call on, as what libraries make without a file does. */
static bool is_wrapper(const struct lines_call *c)
{
    static const char *const names[] = { "decorate_context", "_wrapped_call_impl", "_call_impl",
                                         "_call_with_frames_removed" };
    const char *dot = strrchr(c->function, '.');
    const char *name = dot ? dot + 1 : c->function;

    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (!strcmp(name, names[i]))
            return true;
    return is_shim(c->file) || (*c->file == '<' && strncmp(c->file, "<frozen ", 8) != 0);
}

/* What the call number 'at' has called: the next one further in that does not only pass it on; of
 * those within torch's collation, that. */
static void set_callee(struct lines_entry *to, const struct lines_call *calls, size_t at)
{
    char module[LINES_CALLEE], function[LINES_FUNCTION];

    for (size_t i = at; i-- > 0;)
        if (ends_with(calls[i].function, "default_collate")) {
            snprintf(to->callee, sizeof(to->callee), "torch's default_collate");
            return;
        }
    for (size_t i = at; i-- > 0;) {
        if (is_wrapper(&calls[i]))
            continue;
        set_module(module, sizeof(module), calls[i].file);
        set_function(function, sizeof(function), calls[i].function);
        if (snprintf(to->callee, sizeof(to->callee), "%s.%s", module, function) >=
            (int)sizeof(to->callee))
            snprintf(to->callee, sizeof(to->callee), "%s", function);
        return;
    }
}

/* ---- what it does ---- */

static bool calls_in(const struct lines_call *calls, size_t n, const char *file, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strstr(calls[i].file, file) && ends_with(calls[i].function, name))
            return true;
    return false;
}

/* The stage of a rank by what it calls in PyTorch: what loads comes first, since it may do all the
 * rest. */
static unsigned stage_of(const struct lines_call *calls, size_t n)
{
    static const struct {
        const char *file, *name;
        unsigned stage;
    } known[] = { { "torch/utils/data/dataloader.py", "__next__", BRIM_STAGE_WAIT },
                  { "torch/serialization.py", "save", BRIM_STAGE_CHECKPOINT },
                  { "torch/distributed/checkpoint/", "save", BRIM_STAGE_CHECKPOINT },
                  { "torch/_tensor.py", "backward", BRIM_STAGE_BACKWARD },
                  { "torch/autograd/__init__.py", "backward", BRIM_STAGE_BACKWARD },
                  { "torch/optim/", "step", BRIM_STAGE_OPTIMIZER },
                  { "torch/nn/modules/module.py", "_call_impl", BRIM_STAGE_FORWARD },
                  { "torch/distributed/distributed_c10d.py", "", BRIM_STAGE_COMMUNICATION } };

    for (size_t i = 0; i < ARRAY_SIZE(known); i++)
        if (calls_in(calls, n, known[i].file, known[i].name))
            return known[i].stage;
    return BRIM_STAGE_OTHER;
}

/* How many of the calls are within what a process of multiprocessing was started for; 0: it is
 * none. A forked one has its parent's calls outside of that. */
static size_t within_worker(const struct lines_call *calls, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (ends_with(calls[i].file, "multiprocessing/process.py") &&
            ends_with(calls[i].function, "_bootstrap"))
            return i;
    return 0;
}

/* The innermost call in a file of the user's, else in what the user has typed; n: there is none. */
static size_t find_own(const struct lines_call *calls, size_t n, bool (**whose)(const char *file))
{
    static bool (*const kinds[])(const char *file) = { lines_is_own, is_typed };

    for (size_t k = 0; k < ARRAY_SIZE(kinds); k++)
        for (size_t i = 0; i < n; i++)
            if (kinds[k](calls[i].file)) {
                *whose = kinds[k];
                return i;
            }
    return n;
}

/* What a line calls that imports: a job does that when it starts, as no part of its steps. */
static const char importing[] = "importlib._bootstrap";

bool lines_place(const struct lines_call *calls, size_t n, bool worker, struct lines_entry *ret)
{
    bool (*is_own)(const char *file) = lines_is_own;
    size_t at, around;

    *ret = (struct lines_entry){ .stage = LINES_WORKER };
    if (worker)
        n = within_worker(calls, n);
    else
        ret->stage = stage_of(calls, n);
    at = find_own(calls, n, &is_own);
    if (!n || (worker && at == n && !calls_in(calls, n, "torch/utils/data/_utils/fetch.py", "")))
        return false;
    if (at == n) {
        set_place(&ret->at, &calls[0]);
        return true;
    }
    set_place(&ret->at, &calls[at]);
    set_callee(ret, calls, at);
    if (!strncmp(ret->callee, importing, sizeof(importing) - 1))
        return false;
    for (around = at + 1; around < n; around++) {
        if (!is_own(calls[around].file))
            continue;
        set_place(&ret->caller, &calls[around]);
        if (strcmp(ret->caller.function, ret->at.function) != 0 ||
            strcmp(ret->caller.file, ret->at.file) != 0)
            return true;
    }
    ret->caller = (struct lines_place){ .line = 0 };
    return true;
}
