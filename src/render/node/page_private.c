#include "render/node/page_private.h"

#include "base/utf8.h"

/* One cleaned character; without UTF-8, one that is not ASCII is written as '?'. */
static void add_char(const struct page *p, struct str *to, const char *at, size_t n)
{
    if (n > 1 && !p->look->unicode)
        str_add_char(to, '?');
    else
        str_add_n(to, at, n);
}

void page_add(struct page *p, const char *text, size_t columns)
{
    CLEANUP(str_done) struct str clean = STR_INIT(PAGE_LINE_MAX);
    const char *at;
    uint32_t code;
    size_t all;

    text_add(&clean, text);
    str_fail(&p->line, str_error(&clean));
    at = str_text(&clean);
    all = text_columns(at);
    for (size_t i = 0; *at && i < columns; i++) {
        size_t n = utf8_decode(at, &code);

        if (i + 1 == columns && all > columns) {
            str_add(&p->line, p->look->unicode ? "…" : "~");
            return;
        }
        add_char(p, &p->line, at, n);
        at += n;
    }
}

void page_number(struct page *p, const char *text, size_t columns)
{
    size_t width = text_columns(text);

    str_fill(&p->line, ' ', width < columns ? (int)(columns - width) + 1 : 1);
    page_add(p, text, columns);
}

void page_word(struct page *p, const char *text, size_t columns)
{
    size_t width = text ? text_columns(text) : 0;

    page_add(p, text, columns);
    if (width < columns)
        str_fill(&p->line, ' ', (int)(columns - width));
}

/* Add a line in at most so many columns: it is clean already. */
static void add_cut(struct str *out, const char *at, size_t columns, const char *cut)
{
    size_t all = text_columns(at);
    uint32_t code;

    for (size_t i = 0; *at && i < columns; i++) {
        size_t n = utf8_decode(at, &code);

        if (i + 1 == columns && all > columns) {
            str_add(out, cut);
            return;
        }
        str_add_n(out, at, n);
        at += n;
    }
}

void page_end(struct page *p, int ink)
{
    CLEANUP(str_done) struct str line = STR_INIT(PAGE_LINE_MAX);

    str_fail(p->out, str_error(&p->line));
    if (p->left) {
        add_cut(&line, str_text(&p->line), p->look->columns, p->look->unicode ? "…" : "~");
        str_fail(p->out, str_error(&line));
        text_ink(p->out, p->look->colour && ink != INK_PLAIN, (enum ink)(ink < 0 ? 0 : ink),
                 str_text(&line));
        str_add_char(p->out, '\n');
        p->left--;
    }
    str_reset(&p->line);
}
