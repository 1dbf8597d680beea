/* Loops of Python processes that run here, each still at a place that is known: what they have
 * given out by then. */
#include "probe/python/loop.h"

#include <errno.h>

#include "job.h"
#include "probe/python/stack.h"
#include "tap.h"

enum { MOST = 64 };

/* What is done before the number is written: all within one line. */
#define SIT "    sys.stdout.write('1\\n'), sys.stdout.flush(), time.sleep(99)\n"
#define READY "import itertools, sys, time\ndef sit():\n" SIT

/* "function at/left" of each loop that is left or has begun, the outermost one first. A range tells
 * what is left alone. */
static void tell(const struct python_loop_of_call *loops, int n, char *text, size_t size)
{
    size_t len = 0;

    text[0] = 0;
    for (int i = 0; i < n && len < size; i++) {
        const struct python_progress *p = &loops[i].loop.progress;

        len += (size_t)snprintf(text + len, size - len, "%s%s ", i ? ", " : "",
                                loops[i].place.function);
        if (p->left >= 0 && len < size)
            len += (size_t)snprintf(text + len, size - len, "%ld left", (long)p->left);
        else if (len < size)
            len += (size_t)snprintf(text + len, size - len, "at %ld", (long)p->at);
    }
}

static int loops_of(pid_t pid, struct python_loop_of_call loops[MOST])
{
    CLEANUP(python_process_closep) struct python_process *p = NULL;
    struct err e = { "" };

    is_int(python_process_open(&p, pid, &e), 0, "the Python of a process is found: %s", e.text);
    return p ? python_process_loops(p, 0, loops, MOST) : -1;
}

static void test_one(const char *python, const char *script, const char *want, const char *what)
{
    struct job job = start(python, script);
    struct python_loop_of_call loops[MOST];
    char told[512];

    tell(loops, loops_of(job.pid, loops), told, sizeof(told));
    is_str(told, want, "%s", what);
    stop(&job);
}

static void test_kinds(const char *python)
{
    test_one(python, READY "for i in range(2, 20, 3):\n    if i == 8: sit()\n", "<module> 3 left",
             "a range has so many rounds left");
    test_one(python, READY "for i in [1, 2, 3, 4]:\n    if i == 2: sit()\n", "<module> 2 left",
             "a list has so many rounds left");
    test_one(python, READY "for i in tuple([1, 2, 3, 4]):\n    if i == 3: sit()\n",
             "<module> 1 left", "a tuple has so many rounds left");
    test_one(python, READY "for i, c in enumerate('abcdef'):\n    if c == 'd': sit()\n",
             "<module> at 4", "enumerate() counts rounds");
    test_one(python, READY "for i in itertools.count(7):\n    if i == 9: sit()\n", "<module> at 10",
             "itertools.count() counts rounds");
    test_one(python, READY "for i in itertools.islice('abcdef', 5):\n    if i == 'c': sit()\n",
             "<module> at 3", "itertools.islice() counts rounds");
    test_one(python, READY "for a, b in zip(range(9), 'abcdef'):\n    if b == 'c': sit()\n",
             "<module> 6 left", "zip() counts as the first that it asks does");
    test_one(python, READY "for a in map(str, range(9)):\n    if a == '4': sit()\n",
             "<module> 4 left", "map() counts as the first that it asks does");
    test_one(python, READY "for c in 'abc':\n    if c == 'b': sit()\n", "",
             "what does not count itself is left out");
    test_one(python, READY "while True:\n    sit()\n", "", "a loop without an iterator is none");
}

static void test_generators(const char *python)
{
    test_one(python,
             READY "def batches(n):\n"
                   "    for i in range(n):\n"
                   "        yield i\n"
                   "def train():\n"
                   "    for batch in batches(10):\n"
                   "        if batch == 6: sit()\n"
                   "train()\n",
             "train 3 left", "a generator counts by its own loop, and is its reader's");
    test_one(python,
             READY "def batches(n):\n"
                   "    for i in range(n):\n"
                   "        if i == 6: sit()\n"
                   "        yield i\n"
                   "def train():\n"
                   "    for batch in batches(10):\n"
                   "        pass\n"
                   "train()\n",
             "train 3 left", "a generator that runs is told once");
    test_one(python,
             READY "def each(n):\n"
                   "    for i in range(n):\n"
                   "        yield i\n"
                   "def pairs(x):\n"
                   "    for a in x:\n"
                   "        yield a\n"
                   "for i in pairs(pairs(each(8))):\n"
                   "    if i == 2: sit()\n",
             "<module> 5 left", "a generator in generators is found");
}

static void test_nested(const char *python)
{
    test_one(python,
             READY "def step():\n"
                   "    for layer in [1, 2, 3]:\n"
                   "        if layer == 2: sit()\n"
                   "def train():\n"
                   "    for epoch in range(5):\n"
                   "        if epoch < 2: continue\n"
                   "        for batch in range(10):\n"
                   "            if batch == 7: step()\n"
                   "train()\n",
             "train 2 left, train 2 left, step 1 left", "loops in loops are told from outside in");
}

/* Which loops are within others: what for statements hold, from the outermost call to the innermost
 * one, generators where they are asked. */
static void test_within(const char *python)
{
    static const char script[] = READY "def batches(n):\n"
                                       "    for i in range(n):\n"
                                       "        yield i\n"
                                       "def parts(n):\n"
                                       "    for part in range(n):\n"
                                       "        if part == 2: step()\n"
                                       "        yield part\n"
                                       "def step():\n"
                                       "    for layer in [1, 2, 3]:\n"
                                       "        if layer == 2: sit()\n"
                                       "def train():\n"
                                       "    it, left = iter(range(90)), batches(70)\n"
                                       "    next(it), next(left)\n"
                                       "    for batch in batches(10):\n"
                                       "        asked = parts(9)\n"
                                       "        for i in range(5):\n"
                                       "            if batch == 6: next(asked)\n"
                                       "train()\n";
    static const struct {
        int64_t left;
        bool entered;
    } want[] = {
        { 89, false }, { 69, false }, /* variables, a generator that waits */
        { 6, true },                  /* one that runs */
        { 3, true },   { 2, true },   { 1, true },
    };
    struct job job = start(python, script);
    struct python_loop_of_call loops[MOST];
    int n = loops_of(job.pid, loops);

    is_int(n, ARRAY_SIZE(want), "a variable that counts is found, and all loops");
    for (int i = 0; i < MIN(n, (int)ARRAY_SIZE(want)); i++) {
        is_int(loops[i].loop.progress.left, want[i].left, "number %d has so many rounds left", i);
        ok(loops[i].loop.entered == want[i].entered, "number %d is %s", i,
           want[i].entered ? "a for statement's" : "a variable's");
        if (i > 0)
            ok(loops[i - 1].loop.order < loops[i].loop.order, "number %d is within %d", i, i - 1);
    }
    stop(&job);
}

/* The same loop later on; in a call that goes on, and by its place. */
static void test_again(const char *python)
{
    struct job job = start(python, "import time\n"
                                   "def train():\n"
                                   "    for i in range(10**9):\n"
                                   "        if i == 3: print(1, flush=True)\n"
                                   "        time.sleep(0.001)\n"
                                   "train()\n");
    CLEANUP(python_process_closep) struct python_process *p = NULL;
    struct python_loop_of_call loops[MOST];
    struct python_loop first;
    int n;

    is_int(python_process_open(&p, job.pid, NULL), 0, "the Python of a loop is found");
    n = python_process_loops(p, 0, loops, MOST);
    is_int(n, 1, "a loop that runs is found");
    first = loops[0].loop;
    is_str(loops[0].place.function, "train", "a loop has the function that it is in");
    do {
        n = python_process_again(p, &loops[0].loop);
    } while (n == 0 && loops[0].loop.progress.at < first.progress.at + 20);
    is_int(n, 0, "a loop is looked at again");
    ok(loops[0].loop.iterator == first.iterator && loops[0].loop.id == first.id,
       "a loop that goes on is the same one");
    ok(first.progress.left - loops[0].loop.progress.left ==
           loops[0].loop.progress.at - first.progress.at,
       "what a loop has made is no longer left");
    stop(&job);
    ok(python_process_again(p, &loops[0].loop) < 0, "a loop of a process that has ended is gone");
    is_int(python_process_loops(p, 0, loops, MOST), 0, "a process that has ended has no loops");
}

/* Another function's frame lies where that of the loop lay, and has an iterator in the same
 * place. */
static void test_another_call(const char *python)
{
    struct job job = start(python, "import signal, time\n"
                                   "told = []\n"
                                   "signal.signal(signal.SIGUSR1, lambda *a: told.append(1))\n"
                                   "def train():\n"
                                   "    for i in range(10**9):\n"
                                   "        if i == 3: print(1, flush=True)\n"
                                   "        time.sleep(0.001)\n"
                                   "        if told: break\n"
                                   "def save():\n"
                                   "    for i in range(7):\n"
                                   "        time.sleep(99)\n"
                                   "        time.sleep(99)\n"
                                   "        if told: break\n"
                                   "train()\n"
                                   "save()\n");
    CLEANUP(python_process_closep) struct python_process *p = NULL;
    struct python_loop_of_call loops[MOST];
    struct python_loop first = { .id = 0 };
    int n;

    is_int(python_process_open(&p, job.pid, NULL), 0, "the Python of a call is found");
    if (python_process_loops(p, 0, loops, MOST) == 1)
        first = loops[0].loop;
    ok(first.id, "the loop of a call is found");
    kill(job.pid, SIGUSR1);
    do {
        n = python_process_again(p, &first);
    } while (n == 0 && first.progress.left > 7);
    is_int(n, -ENOENT, "a loop has ended when another call is where it was");
    while (python_process_loops(p, 0, loops, MOST) != 1 || loops[0].loop.progress.left > 7)
        usleep(1000);
    ok(loops[0].loop.id != first.id, "the loop of a call has a name of its own");
    stop(&job);
}

static void test_most(const char *python)
{
    struct job job = start(python, READY "for a in range(9):\n"
                                         " for b in range(8):\n"
                                         "  for c in range(7):\n"
                                         "   sit()\n");
    CLEANUP(python_process_closep) struct python_process *p = NULL;
    struct python_loop_of_call loops[MOST];

    is_int(python_process_open(&p, job.pid, NULL), 0, "the Python of three loops is found");
    is_int(python_process_loops(p, 0, loops, 2), 2, "no more loops are told than wanted");
    ok(loops[0].loop.progress.left == 8 && loops[1].loop.progress.left == 7,
       "the outermost loops are told first");
    ok(loops[0].loop.order < loops[1].loop.order, "an inner loop has the larger order");
    stop(&job);
}

static int read_words(const void *state, const struct python_piece *pieces, size_t n)
{
    for (size_t i = 0; i < n; i++)
        memcpy(pieces[i].to, (const char *)state + pieces[i].at, pieces[i].len);
    return 0;
}

/* What is read of another process may be anything. */
static void test_wild(void)
{
    uint64_t words[8] = { 0, 0, UINT64_MAX, 0, 0, UINT64_C(1) << 63, UINT64_MAX, 0 };
    const struct python_memory m = { read_words, words };
    struct python_offsets o;
    struct python_progress p;

    is_int(python_offsets_of_version(&o, 0x030b0000, NULL), 0, "the offsets of 3.11 are known");
    is_int(python_iterator_read(&m, &o, PYTHON_RANGE, 0, &p), 0, "a range of wild numbers is read");
    ok(p.at == 0 && p.left == 0, "a number of rounds that nobody makes is 0, in a range");
    is_int(python_iterator_read(&m, &o, PYTHON_SLICE, 0, &p), 0, "a slice of wild numbers is read");
    is_int(p.at, 0, "a number of rounds that nobody makes is 0, in a slice");
    is_int(python_iterator_read(&m, &o, PYTHON_ZIP, 0, &p), -ENOENT, "zip() has no count itself");
}

/* Memory that can be read so many times more. */
struct lost {
    uint64_t words[40];
    int left;
};

static int read_lost(const void *state, const struct python_piece *pieces, size_t n)
{
    struct lost *lost = *(struct lost *const *)state;

    return lost->left-- > 0 ? read_words(lost->words, pieces, n) : -EIO;
}

/* A loop of a process that ends while the loop is looked at again. */
static void test_lost(void)
{
    static const struct {
        const char *what;
        int rc;
    } reads[] = {
        { "its place", -EIO },    { "its iterator's type", -EIO }, { "the type's name", -ENOENT },
        { "that name", -ENOENT }, { "its rounds", -EIO },          { "nothing", 0 },
    };
    enum { HOLDER = 8, CODE = 16, ITERATOR = 64, TYPE = 160, NAME = 256 };
    struct lost lost = { .left = 0 }, *state = &lost;
    const struct python_memory m = { read_lost, &state };
    struct python_offsets o;

    is_int(python_offsets_of_version(&o, 0x030b0000, NULL), 0, "the offsets of 3.11 are there");
    lost.words[HOLDER / 8] = ITERATOR;
    lost.words[CODE / 8] = 24;
    lost.words[(ITERATOR + o.type) / 8] = TYPE;
    lost.words[(TYPE + o.type_name) / 8] = NAME;
    memcpy(&lost.words[NAME / 8], "range_iterator", 15);
    for (size_t i = 0; i < ARRAY_SIZE(reads); i++) {
        CLEANUP(freep) struct python_loops *l = calloc(1, sizeof(*l));
        struct python_loop loop = { .holder = HOLDER,
                                    .frame = (uint64_t)CODE - o.frame.code,
                                    .code = 24 };

        l->memory = &m;
        l->offsets = &o;
        lost.left = (int)i;
        is_int(python_loops_again(l, &loop), reads[i].rc,
               "a loop of which %s cannot be read is told to be so", reads[i].what);
    }
}

static void test_all(const char *python)
{
    printf("# %s\n", python);
    test_kinds(python);
    test_generators(python);
    test_nested(python);
    test_within(python);
    test_again(python);
    test_another_call(python);
    test_most(python);
}

int main(void)
{
    folder_make(root);
    test_wild();
    test_lost();
    each_python(test_all);
    folder_remove(root);
    return done();
}
