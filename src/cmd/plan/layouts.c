/* Layouts that the user names, beside each other and against the fastest. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cmd/plan/nothing.h"
#include "cmd/plan/train.h"
#include "render/text.h"

enum { LAYOUTS_MAX = 6, WORDS_MAX = 512, COLUMN = 13, NAME = 18 };

/* What was named, and what became of it. */
struct named {
    const char *option, *words;
    struct plan_one one;
    bool fits, impossible;
    bool searched; /* it is one of those that a search tries */
};

/* Who names tp, pp and dp means no other degrees. */
static void close_degrees(struct pins *p)
{
    const uint32_t named = 1U << PIN_TP | 1U << PIN_PP | 1U << PIN_DP;
    const struct {
        enum pin pin;
        int *value;
    } others[] = { { PIN_CP, &p->layout.cp },
                   { PIN_EP, &p->layout.ep },
                   { PIN_ETP, &p->layout.etp } };

    for (size_t i = 0; (p->fixed & named) == named && i < ARRAY_SIZE(others); i++)
        if (!pins_has(p, others[i].pin)) {
            *others[i].value = 1;
            p->fixed |= 1U << others[i].pin;
        }
}

static int read_words(const struct plan_ask *a, const struct named *n, struct pins *ret,
                      struct err *e)
{
    struct pins own = { .fixed = 0 };
    int rc = err_usage_of(pins_read(&own, n->words, e));

    if (rc < 0)
        return err_context(e, rc, "--%s: ", n->option);
    if (own.fixed >> PINS_LAYOUT)
        return err_usage(e, "--%s: '%.60s': what is not of the layout belongs into --pin",
                         n->option, n->words);
    /* What it does not say is as --pin has it. */
    *ret = a->pins;
    ret->fixed |= own.fixed;
    ret->any |= own.any;
    pins_set_layout(&own, &ret->layout);
    close_degrees(ret);
    return 0;
}

/* The fastest that has these parts and fits; else the one that needs least memory; else, when they
 * are all that it takes, the layout itself. */
static int resolve(const struct plan_train *t, struct named *n, struct err *e)
{
    struct plan_search_how how = { .opts = { .best = 1 }, .threads = (unsigned)t->opts->threads };
    CLEANUP(plan_found_done) struct plan_found found = { .space = NULL };
    struct found_layout c;
    struct pins pins;
    struct layout l;
    int rc = read_words(t->ask, n, &pins, e);

    if (rc)
        return rc;
    how.fewer = t->forced || t->opts->fewer || pins_has(&pins, PIN_DP);
    rc = plan_search(t->ask, &pins, &how, &found, e);
    if (rc < 0)
        return rc;
    n->fits = found.search.n_best > 0;
    n->searched = n->fits || search_near(found.space, &c);
    if (n->searched) {
        plan_one_make(t->ask, n->fits ? &found.search.best[0].layout : &c.layout, &n->one);
        return 0;
    }
    rc = pins_complete(&pins, &t->ask->job, &t->ask->cluster, &l, e);
    n->impossible = rc < 0;
    if (rc < 0)
        return err_context(e, rc, "%.60s is not possible: ", n->words);
    plan_one_make(t->ask, &l, &n->one);
    n->fits = n->one.memory.total <= t->ask->cluster.gpu.memory_b;
    return 0;
}

/* ---- compare ---- */

static void add_cell(struct str *out, const char *text)
{
    str_addf(out, "%*s", COLUMN, text);
}

static void add_row(struct str *out, const char *name, const struct named *list, size_t n,
                    double (*value)(const struct plan_one *o, int part), int part)
{
    double most = 0;

    for (size_t i = 0; i < n; i++)
        most = fmax(most, value(&list[i].one, part));
    if (!(most > 0))
        return;
    str_addf(out, "%-*s", NAME, name);
    for (size_t i = 0; i < n; i++)
        add_cell(out, plan_seconds(value(&list[i].one, part)).text);
    str_add_char(out, '\n');
}

static double part_of(const struct plan_one *o, int part)
{
    return o->step.part[part];
}

static double step_of(const struct plan_one *o, int part)
{
    (void)part;
    return o->step.time_s;
}

static void add_figures(const struct plan_train *t, const struct named *list, size_t n,
                        struct str *out)
{
    char text[32];

    str_addf(out, "%-*s", NAME, "tokens/s");
    for (size_t i = 0; i < n; i++)
        add_cell(out,
                 plan_thousands(list[i].one.step.tokens_s * layout_gpus(&list[i].one.layout)).text);
    str_addf(out, "\n%-*s", NAME, "MFU");
    for (size_t i = 0; i < n; i++) {
        snprintf(text, sizeof(text), "%.1f %%", 100 * list[i].one.step.mfu);
        add_cell(out, text);
    }
    str_addf(out, "\nGB of %-*.0f", NAME - 6, t->ask->cluster.gpu.memory_b / 1e9);
    for (size_t i = 0; i < n; i++) {
        snprintf(text, sizeof(text), "%s%.1f", list[i].fits ? "" : "! ",
                 list[i].one.memory.total / 1e9);
        add_cell(out, text);
    }
    str_add_char(out, '\n');
}

static void add_names(const struct named *list, size_t n, struct str *out)
{
    for (size_t i = 0; i < n; i++) {
        str_addf(out, "%c  ", (char)('A' + i));
        layout_words(&list[i].one.layout, out);
        if (!list[i].fits)
            str_add(out, "  (! does not fit)");
        if (!list[i].searched)
            str_add(out, "  (no search tries it: groups across nodes, or uneven chunks)");
        str_add_char(out, '\n');
    }
}

static void add_beside(const struct plan_train *t, const struct named *list, size_t n,
                       struct str *out)
{
    add_names(list, n, out);
    str_addf(out, "\n%-*s", NAME, "");
    for (size_t i = 0; i < n; i++)
        add_cell(out, (char[]){ (char)('A' + i), '\0' });
    str_add_char(out, '\n');
    add_row(out, "step", list, n, step_of, 0);
    for (int p = 0; p < PARTS; p++)
        add_row(out, step_part_name((enum step_part)p), list, n, part_of, p);
    add_figures(t, list, n, out);
}

int plan_compare(const struct plan_train *t, char *const *more, struct str *out, struct err *e)
{
    CLEANUP(freep) struct named *list = calloc(LAYOUTS_MAX, sizeof(*list));
    size_t n = 0;
    int rc = 0;

    if (!list)
        return err_nomem(e);
    for (size_t i = 0; i < t->opts->compares.n; i++, n++)
        if (n < LAYOUTS_MAX)
            list[n].words = t->opts->compares.items[i];
    for (; *more; more++, n++)
        if (n < LAYOUTS_MAX)
            list[n].words = *more;
    if (n > LAYOUTS_MAX)
        return err_usage(e, "%zu layouts are too many to compare: up to %d", n, LAYOUTS_MAX);
    for (size_t i = 0; i < n && rc == 0; i++) {
        list[i].option = "compare";
        rc = resolve(t, &list[i], e);
    }
    if (rc)
        return rc;
    add_beside(t, list, n, out);
    return 0;
}

/* ---- why ---- */

/* "pipeline bubble +312 ms, tensor parallel +40 ms": what differs most, the largest first. */
static void add_differences(const struct plan_one *slow, const struct plan_one *fast,
                            struct str *out)
{
    bool told[PARTS] = { false };

    for (int k = 0; k < 4; k++) {
        double most = .01 * fast->step.time_s;
        int at = -1;

        for (int p = 0; p < PARTS; p++)
            if (!told[p] && fabs(slow->step.part[p] - fast->step.part[p]) > most) {
                most = fabs(slow->step.part[p] - fast->step.part[p]);
                at = p;
            }
        if (at < 0)
            return;
        told[at] = true;
        str_addf(out, "%s%s %c%s", k ? ", " : ": ", step_part_name((enum step_part)at),
                 slow->step.part[at] > fast->step.part[at] ? '+' : '-', plan_seconds(most).text);
    }
}

static void add_lack(const struct plan_train *t, const struct named *n, struct str *out)
{
    double room = t->ask->cluster.gpu.memory_b;
    struct plan_memory_part part, most = { "", "", 0 };

    for (size_t i = 0; plan_memory_part(&n->one.memory, &t->ask->job, i, &part); i++)
        most = part.bytes > most.bytes ? part : most;
    str_addf(out,
             "%s does not fit: even with the rest chosen to save memory it takes %.1f GB of its "
             "fullest GPU, %.1f GB more than there are; the largest part are %s with %.1f GB.",
             n->words, n->one.memory.total / 1e9, (n->one.memory.total - room) / 1e9, most.name,
             most.bytes / 1e9);
}

int plan_why(const struct plan_train *t, struct str *out, struct err *e)
{
    CLEANUP(str_done) struct str sentence = STR_INIT(4096);
    struct named list[2] = { { .option = "why", .words = t->opts->why }, { .words = NULL } };
    struct plan_one *fast = &list[1].one;
    double times;
    struct err why = { "" };
    int rc = resolve(t, &list[0], &why);

    if (rc == -EINVAL && list[0].impossible) { /* which is the answer */
        str_addf(out, "%s.\n", why.text);
        return 0;
    }
    if (rc)
        return err_set(e, rc, "%s", why.text);
    list[1].fits = list[1].searched = true;
    plan_one_make(t->ask, &t->found->search.best[0].layout, fast);
    times = list[0].one.step.time_s / fast->step.time_s;
    if (!list[0].fits) {
        add_lack(t, &list[0], &sentence);
    } else if (!layout_compare(&list[0].one.layout, &fast->layout)) {
        str_addf(&sentence, "%s is part of %s.", list[0].words,
                 t->found->plain ? "the layout that is chosen" : "the fastest layout");
    } else {
        str_addf(&sentence, "%s takes %s at best, %.1f %% %s than the %s", list[0].words,
                 plan_seconds(list[0].one.step.time_s).text, 100 * fabs(times - 1),
                 times >= 1 ? "longer" : "less",
                 t->found->plain ? "plainest of those as fast" : "fastest");
        add_differences(&list[0].one, fast, &sentence);
        str_add_char(&sentence, '.');
    }
    str_fail(out, str_error(&sentence));
    text_add_wrapped(out, str_text(&sentence), 0, t->app->columns);
    str_add(out, "\n\n");
    add_beside(t, list, 2, out);
    return 0;
}
