#include "run/archive/lines_read.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"

enum { SEEN_MAX = 1 << 24 };

static bool find_stage(const char *name, unsigned *ret)
{
    for (unsigned s = 0; s < LINES_STAGES; s++)
        if (!strcmp(name, lines_stage_name(s))) {
            *ret = s;
            return true;
        }
    return false;
}

static void take_count(const char *value, unsigned *to)
{
    uint64_t n;

    if (parse_u64(value, &n) == 0 && n <= SEEN_MAX)
        *to = (unsigned)n;
}

/* What goes on under the same key is one text. */
static void add_text(char *to, size_t size, const char *more)
{
    size_t len = strlen(to);

    snprintf(to + len, size - len, "%s", more);
}

static void take_line(struct lines_entry *k, const struct ini_entry *at)
{
    const struct {
        const char *key;
        char *to;
        size_t size;
    } texts[] = {
        { "file", k->at.file, sizeof(k->at.file) },
        { "function", k->at.function, sizeof(k->at.function) },
        { "callee", k->callee, sizeof(k->callee) },
        { "from_file", k->caller.file, sizeof(k->caller.file) },
        { "from_function", k->caller.function, sizeof(k->caller.function) },
    };
    unsigned line = 0;

    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        if (!strcmp(at->key, texts[i].key))
            add_text(texts[i].to, texts[i].size, at->value);
    if (!strcmp(at->key, "stage") && !find_stage(at->value, &k->stage))
        k->stage = LINES_STAGES;
    if (!strcmp(at->key, "seen"))
        take_count(at->value, &k->count);
    if (strcmp(at->key, "line") != 0 && strcmp(at->key, "from_line") != 0)
        return;
    take_count(at->value, &line);
    *(*at->key == 'l' ? &k->at.line : &k->caller.line) = (int)line;
}

static void take_total(struct lines *l, const struct ini_entry *at)
{
    unsigned stage;

    if (!strcmp(at->key, "off"))
        add_text(l->off, sizeof(l->off), at->value);
    else if (find_stage(at->key, &stage))
        take_count(at->value, &l->total[stage]);
}

/* Lines lie as they were counted: what is broken is none. */
void lines_read_end(struct lines_read *l)
{
    struct lines *to = l->run->lines;

    if (l->reads && l->now.stage < LINES_STAGES && l->now.count && l->now.at.file[0] &&
        to->n < LINES_MOST)
        to->entries[to->n++] = l->now;
    l->reads = false;
}

int lines_read_take(struct lines_read *l, const struct ini_entry *at, struct err *e)
{
    struct run *r = l->run;
    bool line = !strcmp(at->section, "line");

    if (!at->key)
        lines_read_end(l);
    if (!line && strcmp(at->section, "lines") != 0)
        return 0;
    if (!r->lines)
        r->lines = arena_alloc(&r->arena, sizeof(*r->lines));
    if (!r->lines)
        return err_nomem(e);
    if (!at->key && line) {
        l->now = (struct lines_entry){ .stage = LINES_STAGES };
        l->reads = true;
    } else if (at->key && line && l->reads) {
        take_line(&l->now, at);
    } else if (at->key && !line) {
        take_total(r->lines, at);
    }
    return 0;
}
