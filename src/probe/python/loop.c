#include "probe/python/loop.h"

#include <errno.h>

/* Of a call's words the first ones; calls of a generator in a generator; and which calls at all:
 * the outermost ones, for what trains is not deep. */
enum { WORD_BITS = 6, WORDS = 1 << WORD_BITS, NESTED = 3, CALLS = 64 };
enum { CALL_SHIFT = (NESTED + 1) * WORD_BITS };

struct search {
    struct python_loops *in;
    const struct python_call *calls;
    size_t n_calls;
    struct python_loop *to;
    size_t n, most;
};

/* Where is looked: a frame, that of a call or of a generator which a call holds; in it a word. */
struct place {
    uint64_t frame, code;
    uint64_t id;    /* 0: what the call's own frame holds is known by its place there */
    uint32_t order; /* the call, then the word in it, then that in a generator there, and so on */
    bool entered;
    size_t call;
    unsigned nested;
};

/* Where the number of a word, of a frame that is nested so deep, stands in the order. */
static unsigned order_shift(unsigned nested)
{
    return (NESTED - nested) * WORD_BITS;
}

/* The id of what is held by something that a call holds, and may be another object in each
 * round. */
static uint64_t id_within(uint64_t id, uint64_t which)
{
    return (id ^ which) * 0x9e3779b97f4a7c15u;
}

/* Words that may be addresses of objects. 3.14 has the kind of a reference in the lowest bits. */
static uint64_t object_of(uint64_t word)
{
    return word & ~(uint64_t)7;
}

/* The types of n objects: 0 where one cannot be read. */
static void read_types(const struct search *s, const uint64_t *words, size_t n, uint64_t *types)
{
    struct python_piece pieces[WORDS];
    size_t wanted = 0;

    for (size_t i = 0; i < n; i++) {
        types[i] = 0;
        if (object_of(words[i]))
            pieces[wanted++] = (struct python_piece){ object_of(words[i]) + s->in->offsets->type,
                                                      &types[i], sizeof(types[i]) };
    }
    if (python_memory_gather(s->in->memory, pieces, wanted) == 0)
        return;
    for (size_t i = 0; i < n; i++)
        if (!object_of(words[i]) ||
            python_memory_word(s->in->memory, object_of(words[i]) + s->in->offsets->type,
                               &types[i]) < 0)
            types[i] = 0;
}

static void look_at_frame(struct search *s, const struct place *where);

/* A generator that was asked, and has not answered yet: calls within it are within its loops. */
static bool is_running(const struct search *s, uint64_t frame)
{
    for (size_t i = 0; i < s->n_calls; i++)
        if (s->calls[i].at == frame)
            return true;
    return false;
}

static void look_at_generator(struct search *s, const struct place *holder, uint64_t object)
{
    struct place in = { .frame = object + s->in->offsets->generator,
                        .id = holder->id,
                        .order = holder->order,
                        .call = holder->call,
                        .nested = holder->nested + 1 };
    uint64_t code;

    in.entered = holder->entered || is_running(s, in.frame);
    if (in.nested > NESTED ||
        python_memory_word(s->in->memory, in.frame + s->in->offsets->frame.code, &code) < 0)
        return;
    in.code = object_of(code);
    look_at_frame(s, &in);
}

/* A generator that runs is a call, and is held by the one that asked it, where its loops are found
 * first: whether it runs or not, they are the same ones. */
static bool is_found(const struct search *s, uint64_t iterator)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->to[i].iterator == iterator)
            return true;
    return false;
}

/* What a word of a frame leads to. */
static void look_at_object(struct search *s, const struct place *where, uint64_t holder,
                           uint64_t object, uint64_t type)
{
    enum python_kind kind = python_kind_of(&s->in->kinds, s->in->memory, s->in->offsets, type);
    struct python_loop found = { .id = where->id,
                                 .frame = where->frame,
                                 .code = where->code,
                                 .holder = holder,
                                 .iterator = object,
                                 .order = where->order,
                                 .entered = where->entered,
                                 .call = where->call };

    if (kind == PYTHON_ZIP || kind == PYTHON_MAP) {
        struct place within = *where;
        uint64_t first, next, its_type;

        /* The first of those that it asks counts for all. */
        if (where->nested == NESTED ||
            python_iterator_first(s->in->memory, s->in->offsets, kind, object, &first) < 0 ||
            python_memory_word(s->in->memory, first, &next) < 0 ||
            python_memory_word(s->in->memory, object_of(next) + s->in->offsets->type, &its_type) <
                0)
            return;
        within.id = id_within(where->id, WORDS);
        within.nested++;
        look_at_object(s, &within, first, object_of(next), its_type);
    } else if (kind == PYTHON_GENERATOR) {
        look_at_generator(s, where, object);
    } else if (s->n < s->most && !is_found(s, object) &&
               python_iterator_read(s->in->memory, s->in->offsets, kind, object, &found.progress) ==
                   0) {
        s->to[s->n++] = found;
    }
}

/* Variables, and what lies on the stack behind them: what is above the top of that is of a loop
 * that has ended, and does not go on. */
static void look_at_frame(struct search *s, const struct place *where)
{
    const struct python_offsets *o = s->in->offsets;
    uint64_t words[WORDS], types[WORDS], begin = where->frame + o->frame.locals;
    uint32_t stack = 0, variables = 0;
    const struct python_piece sizes[] = {
        { where->code + o->code.stack, &stack, sizeof(stack) },
        { where->code + o->code.variables, &variables, sizeof(variables) },
    };
    size_t n;

    if (python_memory_gather(s->in->memory, sizes, ARRAY_SIZE(sizes)) < 0 || stack > 4096 ||
        variables > 4096)
        return;
    n = MIN(stack + variables, (uint32_t)WORDS);
    if (!n || python_memory_read(s->in->memory, begin, words, n * sizeof(*words)) < 0)
        return;
    read_types(s, words, n, types);
    for (size_t i = 0; i < n; i++) {
        uint64_t holder = begin + i * sizeof(*words);
        struct place at = *where;

        at.order += (uint32_t)i << order_shift(where->nested);
        at.entered = where->entered && i >= variables;
        at.id = id_within(where->id ? where->id : holder, where->code + i);
        look_at_object(s, &at, holder, object_of(words[i]), types[i]);
    }
}

size_t python_loops_find(struct python_loops *l, const struct python_call *calls, size_t n,
                         struct python_loop *ret, size_t most)
{
    struct search s = { l, calls, n, ret, 0, most };

    for (size_t i = 0; i < MIN(n, (size_t)CALLS); i++) {
        const struct python_call *c = &calls[n - 1 - i];

        if (python_call_is_python(c))
            look_at_frame(&s, &(const struct place){ .frame = c->at,
                                                     .code = c->code,
                                                     .order = (uint32_t)i << CALL_SHIFT,
                                                     .entered = true,
                                                     .call = n - 1 - i });
    }
    return s.n;
}

int python_loops_again(struct python_loops *l, struct python_loop *loop)
{
    uint64_t word, type, code;
    const struct python_piece pieces[] = {
        { loop->holder, &word, sizeof(word) },
        { loop->frame + l->offsets->frame.code, &code, sizeof(code) },
    };
    int rc = python_memory_gather(l->memory, pieces, ARRAY_SIZE(pieces));

    if (rc < 0)
        return rc;
    loop->iterator = object_of(word);
    if (!loop->iterator || object_of(code) != object_of(loop->code))
        return -ENOENT;
    rc = python_memory_word(l->memory, loop->iterator + l->offsets->type, &type);
    if (rc < 0)
        return rc;
    return python_iterator_read(l->memory, l->offsets,
                                python_kind_of(&l->kinds, l->memory, l->offsets, type),
                                loop->iterator, &loop->progress);
}
