#include "render/node/nodes_text.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "render/node/nodes_groups.h"
#include "render/node/page_private.h"

enum {
    NAME_LEAST = 8,
    NAME_MOST = 28,
    STATE_WIDTH = 11,
    IDLE_WIDTH = 12,
    NAMES_MAX = 1024,
    SENTENCE_MAX = 1400
};

/* Of a state: what cannot be used is red. */
static int ink_of(enum node_order_state s)
{
    switch (s) {
    case NODE_ORDER_SILENT:
    case NODE_ORDER_CRITICAL:
        return INK_RED;
    case NODE_ORDER_ALERT:
    case NODE_ORDER_LIMITED:
        return INK_YELLOW;
    case NODE_ORDER_UNKNOWN:
    case NODE_ORDER_IDLE:
        return INK_DIM;
    default:
        return INK_PLAIN;
    }
}

static size_t name_width(const struct nodes_groups *g)
{
    size_t widest = NAME_LEAST;

    for (size_t i = 0; i < g->n; i++)
        widest = MAX(widest, text_columns(g->groups[i].names));
    return MIN(widest, (size_t)NAME_MOST);
}

/* "5 of 8", of accelerators that do nothing; "-": there are none. */
static void add_idle(struct page *p, const struct nodes_groups_group *g)
{
    CLEANUP(str_done) struct str text = STR_INIT(64);

    if (g->gpus > 0)
        str_addf(&text, "%.0f of %.0f", g->idle, g->gpus);
    else
        str_add_char(&text, '-');
    str_fail(p->out, str_error(&text));
    page_word(p, str_text(&text), IDLE_WIDTH);
}

static size_t count_breaks(const char *text)
{
    size_t n = 0;

    for (; *text; text++)
        n += *text == '\n';
    return n;
}

/* Break a text at blanks into lines of which the first has 'indent' columns already. */
static void wrap(const struct page *p, const char *text, size_t indent, struct str *out)
{
    if (p->look->columns == UINT_MAX)
        str_add(out, text);
    else
        text_add_wrapped(out, text, indent, p->look->columns);
    str_fail(p->out, str_error(out));
}

/* Write what was wrapped. */
static void add_lines(struct page *p, const char *at, int ink)
{
    for (const char *end; (end = strchr(at, '\n')); at = end + 1) {
        CLEANUP(str_done) struct str line = STR_INIT(PAGE_LINE_MAX);

        str_add_n(&line, at, (size_t)(end - at));
        str_fail(p->out, str_error(&line));
        page_add(p, str_text(&line), SENTENCE_MAX);
        page_end(p, ink);
    }
    page_add(p, at, SENTENCE_MAX);
    page_end(p, ink);
}

/* The sentence behind the columns before it; on more lines where so many are to spare, else cut. */
static void add_sentence(struct page *p, const char *sentence, size_t indent, size_t *spare,
                         int ink)
{
    CLEANUP(str_done) struct str wrapped = STR_INIT(PAGE_LINE_MAX);
    size_t breaks;

    wrap(p, sentence, indent, &wrapped);
    breaks = count_breaks(str_text(&wrapped));
    if (breaks > *spare) {
        page_add(p, sentence, SENTENCE_MAX);
        page_end(p, ink);
        return;
    }
    *spare -= breaks;
    add_lines(p, str_text(&wrapped), ink);
}

static void add_group(struct page *p, const struct nodes_groups_group *g, size_t width,
                      size_t *spare)
{
    char names[NAMES_MAX]; /* ten thousand that no range holds would not fit into a line */

    live_run_text(names, sizeof(names), g->names);
    page_word(p, names, p->look->columns == UINT_MAX ? MAX(width, strlen(names)) : width);
    str_add(&p->line, "  ");
    page_word(p, node_order_state_name(g->worst->state), STATE_WIDTH);
    add_idle(p, g);
    add_sentence(p, g->worst->sentence, width + 2 + STATE_WIDTH + IDLE_WIDTH, spare,
                 ink_of(g->worst->state));
}

static void add_groups(struct page *p, const struct nodes_groups *g, size_t first)
{
    size_t width = name_width(g), i = MIN(first, g->n), spare = 0;

    page_end(p, INK_PLAIN);
    page_word(p, "node", width);
    str_add(&p->line, "  ");
    page_word(p, "state", STATE_WIDTH);
    page_word(p, "GPUs idle", IDLE_WIDTH);
    str_add(&p->line, "what");
    page_end(p, INK_BOLD);
    if (p->look->columns != UINT_MAX && p->left > g->n - i)
        spare = p->left - (g->n - i);
    for (; i < g->n && p->left > (i + 1 < g->n); i++)
        add_group(p, &g->groups[i], width, &spare);
    if (i < g->n && p->left) {
        str_addf(&p->line, "... and %zu more line%s: n goes on, b goes back", g->n - i,
                 str_plural(g->n - i));
        page_end(p, INK_DIM);
    }
}

/* Lines of a page besides the sentence and nodes: one that is empty, headings. */
enum { OTHER_LINES = 2, LINES_LEAST = 2 };

size_t nodes_text(const struct node_order *o, const struct nodes_text_page *which,
                  const struct live_look *look, struct str *out)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    CLEANUP(str_done) struct str sentence = STR_INIT(PAGE_LINE_MAX), head = STR_INIT(PAGE_LINE_MAX);
    struct live_look wide = *look;
    struct page p = { &wide, out, STR_INIT(PAGE_LINE_MAX), look->rows ? look->rows : SIZE_MAX };
    struct nodes_groups groups;
    size_t room = 0, others;

    if (look->columns == 0)
        wide.columns = UINT_MAX;
    if (look->footer && p.left)
        p.left--;
    node_order_sentence(o, &sentence);
    str_fail(out, str_error(&sentence));
    wrap(&p, str_text(&sentence), 0, &head);
    others = count_breaks(str_text(&head)) + 1 + OTHER_LINES;
    if (look->rows && !which->unfolded)
        room = MAX(p.left, others + LINES_LEAST) - others;
    if (nodes_groups_make(&groups, &a, o, room) < 0) {
        str_fail(out, -ENOMEM);
        return 0;
    }
    add_lines(&p, str_text(&head),
              o->n && o->sums.states[NODE_ORDER_SILENT] == o->n ? INK_RED : INK_BOLD);
    add_groups(&p, &groups, which->first);
    if (look->footer) {
        p.left = 1;
        str_add(&p.line, look->footer);
        page_end(&p, INK_DIM);
    }
    str_done(&p.line);
    return groups.n;
}
