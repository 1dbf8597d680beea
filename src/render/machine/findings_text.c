#include <errno.h>
#include <string.h>

#include "render/names.h"
#include "render/machine/table.h"
#include "render/text.h"

enum { INDENT = 10 };

/* A finding, and the first that says the same about another node: that one is shown for all. */
struct same {
    const struct finding *one;
    size_t at, first;
};

struct audit {
    const struct findings *findings;
    const struct machine_view *view;
    struct str *out;
    size_t *first;      /* by finding: the first that says the same */
    const char **nodes; /* work space: names of the nodes of one finding */
    const char **checks;
};

static int compare_words(const struct finding *a, const struct finding *b)
{
    int c = strcmp(a->check, b->check);

    if (a->severity != b->severity)
        return a->severity < b->severity ? -1 : 1;
    return c ? c : strcmp(a->sentence, b->sentence);
}

static int compare(const void *x, const void *y)
{
    const struct same *a = x, *b = y;
    int c = compare_words(a->one, b->one);

    return c ? c : a->at < b->at ? -1 : a->at > b->at;
}

/* Fill first[]: by sorting, since a thousand nodes make tens of thousands of findings. */
static int find_same(const struct findings *f, size_t *first)
{
    CLEANUP(freep) struct same *order = calloc(f->count + 1, sizeof(*order));

    if (!order)
        return -ENOMEM;
    for (size_t i = 0; i < f->count; i++)
        order[i] = (struct same){ &f->list[i], i, i };
    qsort(order, f->count, sizeof(*order), compare);
    for (size_t i = 0; i < f->count; i++) {
        if (i && !compare_words(order[i - 1].one, order[i].one))
            order[i].first = order[i - 1].first;
        first[order[i].at] = order[i].first;
    }
    return 0;
}

static bool is_first(const struct audit *a, size_t at)
{
    return a->first[at] == at;
}

static size_t count_shown(const struct audit *a, enum severity s)
{
    size_t count = 0;

    for (size_t i = 0; i < a->findings->count; i++)
        count += a->findings->list[i].severity == s && is_first(a, i);
    return count;
}

/* Names of the nodes with the same finding; 0 when it is about all. */
static size_t nodes_of(const struct audit *a, size_t at)
{
    const struct findings *f = a->findings;
    size_t count = 0;

    for (size_t i = at; i < f->count; i++)
        if (f->list[i].node && a->first[i] == at)
            a->nodes[count++] = f->list[i].node;
    return count;
}

/* ---- the line that sums up ---- */

static int add_subject(const struct audit *a)
{
    const struct machine *m = a->view->machine;
    enum { FITS = 60 };
    CLEANUP(freep) const char **names = calloc(m->n_nodes + 1, sizeof(*names));
    CLEANUP(str_done) struct str text = STR_INIT(1 << 20);
    int rc;

    if (!names)
        return -ENOMEM;
    for (size_t i = 0; i < m->n_nodes; i++)
        names[i] = m->nodes[i]->name ? m->nodes[i]->name : "?";
    rc = names_compress(&text, names, m->n_nodes);
    str_fail(a->out, str_error(&text));
    if (rc < 0)
        return rc;
    if (text.len > FITS && m->n_nodes > 1)
        str_addf(a->out, "%zu nodes", m->n_nodes);
    else
        str_add(a->out, str_text(&text));
    return 0;
}

static int add_summary(const struct audit *a)
{
    const struct findings *f = a->findings;
    size_t critical = count_shown(a, SEVERITY_CRITICAL), unmade = 0;
    size_t warnings = count_shown(a, SEVERITY_WARNING), notes = count_shown(a, SEVERITY_NOTE);
    const char *comma = ": ";
    int rc = add_subject(a);

    if (critical) {
        str_addf(a->out, "%s%zu critical", comma, critical);
        comma = ", ";
    }
    if (warnings) {
        str_add(a->out, comma);
        text_count(a->out, warnings, "warning");
        comma = ", ";
    }
    if (notes) {
        str_add(a->out, comma);
        text_count(a->out, notes, "note");
    }
    if (!critical && !warnings && !notes)
        str_add(a->out, ": nothing found");
    for (size_t i = 0; i < f->count; i++)
        unmade += f->list[i].severity == SEVERITY_UNKNOWN;
    str_add(a->out, "; ");
    text_count(a->out, f->passed, "check");
    str_add(a->out, " passed");
    if (unmade)
        str_addf(a->out, ", %zu could not be made", unmade);
    str_add_char(a->out, '\n');
    return rc;
}

/* ---- findings ---- */

static void add_label(const struct audit *a, enum severity s)
{
    static const enum ink inks[] = {
        [SEVERITY_UNKNOWN] = INK_DIM,
        [SEVERITY_NOTE] = INK_CYAN,
        [SEVERITY_WARNING] = INK_YELLOW,
        [SEVERITY_CRITICAL] = INK_RED,
    };

    text_ink(a->out, a->view->colour, inks[s], severity_text(s));
    str_fill(a->out, ' ', INDENT - (int)strlen(severity_text(s)));
}

static void add_detail(const struct audit *a, const char *label, const char *text)
{
    size_t column = INDENT + strlen(label);

    if (!text)
        return;
    str_fill(a->out, ' ', INDENT);
    str_add(a->out, label);
    text_add_wrapped(a->out, text, column, machine_text_width(a->view));
    str_add_char(a->out, '\n');
}

/* A command stays in one line, so that it can be pasted. */
static void add_action(const struct audit *a, const char *text)
{
    if (!text)
        return;
    str_fill(a->out, ' ', INDENT);
    str_add(a->out, "do: ");
    text_add(a->out, text);
    str_add_char(a->out, '\n');
}

/* Evidence: of one node, where it differs between those that share the sentence. */
static void add_evidence(const struct audit *a, size_t at)
{
    const struct findings *f = a->findings;
    const struct finding *one = &f->list[at];
    bool differs = false;

    if (!one->evidence)
        return;
    for (size_t i = at + 1; i < f->count; i++)
        if (a->first[i] == at)
            differs |= !f->list[i].evidence || strcmp(f->list[i].evidence, one->evidence) != 0;
    if (!differs || !one->node) {
        add_detail(a, "", one->evidence);
        return;
    }
    str_fill(a->out, ' ', INDENT);
    text_add(a->out, one->node);
    str_add(a->out, ": ");
    text_add_wrapped(a->out, one->evidence, INDENT + text_columns(one->node) + 2,
                     machine_text_width(a->view));
    str_add_char(a->out, '\n');
}

static int add_finding(const struct audit *a, size_t at)
{
    const struct finding *one = &a->findings->list[at];
    int rc = 0;

    str_add_char(a->out, '\n');
    add_label(a, one->severity);
    text_add_wrapped(a->out, one->sentence, INDENT, machine_text_width(a->view));
    str_add_char(a->out, '\n');
    if (a->view->machine->n_nodes > 1) {
        size_t count = nodes_of(a, at);

        str_fill(a->out, ' ', INDENT);
        if (count) {
            str_add(a->out, count > 1 ? "" : "on ");
            if (count > 1)
                str_addf(a->out, "on %zu nodes: ", count);
            rc = names_compress(a->out, a->nodes, count);
        } else {
            str_add(a->out, "on all nodes");
        }
        str_add_char(a->out, '\n');
    }
    add_evidence(a, at);
    add_detail(a, "effect: ", one->effect);
    add_action(a, one->action);
    return rc;
}

/* ---- what could not be checked ---- */

/* The checks that share a reason, each once. */
static size_t checks_of(const struct audit *a, const char *reason)
{
    const struct findings *f = a->findings;
    size_t count = 0;

    for (size_t i = 0; i < f->count; i++) {
        bool known = f->list[i].severity != SEVERITY_UNKNOWN ||
                     strcmp(f->list[i].sentence, reason) != 0;

        for (size_t k = 0; k < count && !known; k++)
            known = !strcmp(a->checks[k], f->list[i].check);
        if (!known)
            a->checks[count++] = f->list[i].check;
    }
    return count;
}

static bool is_first_reason(const struct findings *f, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (f->list[i].severity == SEVERITY_UNKNOWN &&
            !strcmp(f->list[i].sentence, f->list[at].sentence))
            return false;
    return true;
}

/* "  reason: check, check" */
static void add_reason(const struct audit *a, size_t at)
{
    size_t count = checks_of(a, a->findings->list[at].sentence);
    CLEANUP(str_done) struct str line = STR_INIT(1 << 16);

    str_add(&line, a->findings->list[at].sentence);
    for (size_t i = 0; i < count; i++)
        str_addf(&line, "%s%s", i ? ", " : ": ", a->checks[i]);
    str_fail(a->out, str_error(&line));
    str_add(a->out, "  ");
    text_add_wrapped(a->out, str_text(&line), 2, machine_text_width(a->view));
    str_add_char(a->out, '\n');
}

/* "  check: reason", and on which nodes */
static int add_unchecked(const struct audit *a, size_t at)
{
    const struct finding *one = &a->findings->list[at];
    size_t count = nodes_of(a, at);
    int rc = 0;

    str_add(a->out, "  ");
    text_add(a->out, one->check);
    str_add(a->out, ": ");
    text_add_wrapped(a->out, one->sentence, text_columns(one->check) + 4,
                     machine_text_width(a->view));
    if (count && a->view->machine->n_nodes > 1) {
        str_add(a->out, " (");
        rc = names_compress(a->out, a->nodes, count);
        str_add_char(a->out, ')');
    }
    str_add_char(a->out, '\n');
    return rc;
}

static int add_not_checked(const struct audit *a, bool all)
{
    const struct findings *f = a->findings;
    bool headed = false;
    int rc = 0;

    for (size_t i = 0; i < f->count && rc == 0; i++) {
        if (f->list[i].severity != SEVERITY_UNKNOWN ||
            !(all ? is_first(a, i) : is_first_reason(f, i)))
            continue;
        str_add(a->out, headed ? "" : "\nnot checked\n");
        headed = true;
        if (all)
            rc = add_unchecked(a, i);
        else
            add_reason(a, i);
    }
    return rc;
}

int findings_render_text(const struct findings *f, const struct machine_view *v, bool all,
                         struct str *out)
{
    CLEANUP(freep) const char **names = calloc(2 * f->count + 1, sizeof(*names));
    CLEANUP(freep) size_t *first = calloc(f->count + 1, sizeof(*first));
    struct audit a = { f, v, out, first, names, names ? names + f->count : NULL };
    int rc;

    rc = names && first ? find_same(f, first) : -ENOMEM;
    if (rc == 0)
        rc = add_summary(&a);
    for (int s = SEVERITY_CRITICAL; s > SEVERITY_UNKNOWN && rc == 0; s--)
        for (size_t i = 0; i < f->count && rc == 0; i++)
            if ((int)f->list[i].severity == s && is_first(&a, i))
                rc = add_finding(&a, i);
    if (rc == 0)
        rc = add_not_checked(&a, all);
    str_fail(out, rc);
    return str_error(out);
}
