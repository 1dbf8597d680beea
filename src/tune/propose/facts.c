#include "tune/propose/facts.h"

#include <math.h>
#include <string.h>

#include "base/parse.h"

enum { GROUP_MAX = 40 };

static const char *keep(const struct facts *f, const char *text, size_t len)
{
    char *kept = arena_strndup(f->scratch, text, len);

    if (!kept)
        *f->no_memory = true;
    return kept;
}

/* The word behind a key in "loader 1: workers 4, batch 16". */
static const char *word_behind(const struct facts *f, const char *text, const char *key)
{
    size_t len = strlen(key);

    for (const char *at = text; (at = strstr(at, key)); at += len)
        if ((at == text || at[-1] == ' ') && at[len] == ' ')
            return keep(f, at + len + 1, strcspn(at + len + 1, ", "));
    return NULL;
}

/* ... in the last note that begins so, in its name or in its text. */
static const char *word_in(const struct facts *f, const struct run_rank *r, const char *begin,
                           const char *key)
{
    size_t len = strlen(begin);

    for (size_t i = r->n_notes; i-- > 0;) {
        const struct run_note *n = &r->notes[i];
        const char *found;

        if (!n->value || (strncmp(n->name, begin, len) != 0 && strncmp(n->value, begin, len) != 0))
            continue;
        found = word_behind(f, n->value, key);
        if (found)
            return found;
    }
    return NULL;
}

static const char *told(const struct facts *f, const struct run_rank *r, const char *name)
{
    const char *found = run_setting(f->run, r, name), *dot = strchr(name, '.');
    char group[GROUP_MAX + 4];

    if (found || !dot || dot - name >= GROUP_MAX)
        return found;
    /* The first loader is the one that trains, as a rule; others validate. */
    snprintf(group, sizeof(group), "%.*s 1", (int)(dot - name), name);
    found = word_in(f, r, group, dot + 1);
    group[dot - name] = '\0';
    return found ? found : word_in(f, r, group, dot + 1);
}

static const char *number_text(const struct facts *f, double value)
{
    char text[40];

    if (isnan(value))
        return NULL;
    snprintf(text, sizeof(text), "%.15g", value);
    return keep(f, text, strlen(text));
}

const char *facts_look(const void *ctx, const char *name)
{
    const struct facts *f = ctx;

    for (size_t i = 0; i < f->run->n_ranks; i++) {
        const char *found = told(f, &f->run->ranks[i], name);

        if (found)
            return strcmp(found, "none") ? found : NULL;
    }
    if (!strcmp(name, "ranks"))
        return number_text(f, (double)f->run->n_ranks);
    for (int s = 0; s < RUN_SIGNALS; s++)
        if (!strcmp(run_signal_name((enum run_signal)s), name))
            return number_text(f, facts_signal(f, (enum run_signal)s));
    return NULL;
}

double facts_number(const struct facts *f, const char *name)
{
    const char *text = facts_look(f, name);
    double value;

    return text && parse_double(text, &value) == 0 ? value : (double)NAN;
}

double facts_signal(const struct facts *f, enum run_signal s)
{
    double sum = 0, seconds = 0;

    for (size_t i = 0; i < f->run->n_moments; i++) {
        const struct run_moment *m = &f->run->moments[i];

        if (!isfinite(m->values[s]) || !(m->seconds > 0))
            continue;
        sum += m->values[s] * m->seconds;
        seconds += m->seconds;
    }
    return seconds > 0 ? sum / seconds : (double)NAN;
}

double facts_ranks_here(const struct facts *f)
{
    double n = 0;

    for (size_t i = 0; i < f->run->n_ranks; i++) {
        const char *host = f->run->ranks[i].host;

        n += !host || !f->run->host || !strcmp(host, f->run->host);
    }
    return fmax(n, 1);
}
