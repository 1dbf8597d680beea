/* A board's text without what is for others alone. */
#include <errno.h>
#include <string.h>

#include "control/board/board_private.h"

int board_span(struct board *b, uint32_t uid, size_t from, size_t to)
{
    struct board_span *s = ARENA_PUSH(&b->arena, &b->spans, &b->n_spans);

    if (s)
        *s = (struct board_span){ uid, from, to };
    return s ? 0 : -ENOMEM;
}

int board_text_take(struct board_text *to, const struct board *b)
{
    size_t size = b->n_spans * sizeof(*to->spans);

    to->spans = arena_alloc(&to->arena, size);
    if (!to->spans)
        return -ENOMEM;
    if (size > 0)
        memcpy(to->spans, b->spans, size);
    to->n = b->n_spans;
    return 0;
}

void board_text_cut(const struct board_text *t, int64_t uid, struct str *out)
{
    const char *text = str_text(&t->text);
    size_t at = 0;

    for (size_t i = 0; i < t->n; i++) {
        if (t->spans[i].uid == uid)
            continue;
        str_add_n(out, text + at, t->spans[i].from - at);
        at = t->spans[i].to;
    }
    str_add_n(out, text + at, t->text.len - at);
}

void board_text_done(struct board_text *t)
{
    str_done(&t->text);
    arena_done(&t->arena);
    *t = (struct board_text){ .n = 0 };
}
