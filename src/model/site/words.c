#include "model/site/words.h"

#include <ctype.h>
#include <signal.h>
#include <string.h>

#include "base/compiler.h"

enum { NODES_MOST = 1000000, SIGNALS = 32 };

/* A number up to 'most' at *s, which is moved behind it; 0: there is none. */
static int32_t number(const char **s, int32_t most)
{
    int64_t n = 0;

    for (; isdigit((unsigned char)**s); (*s)++)
        n = MIN(n * 10 + (**s - '0'), (int64_t)most + 1);
    return n > most ? 0 : (int32_t)n;
}

/* Behind a prefix, or NULL. */
static const char *behind(const char *s, const char *prefix)
{
    size_t len = strlen(prefix);

    return strncmp(s, prefix, len) == 0 ? s + len : NULL;
}

static bool ends(const char *s)
{
    return *s == '\0' || isspace((unsigned char)*s);
}

/* "USR1", "SIGUSR1", "10" at *s, which is moved behind it; 0: it is none. */
static int signal_at(const char **s)
{
    const char *name = behind(*s, "SIG");

    if (isdigit((unsigned char)**s))
        return number(s, SIGNALS - 1);
    name = name ? name : *s;
    for (int i = 1; i < SIGNALS; i++) {
        const char *abbreviation = sigabbrev_np(i);
        const char *end = abbreviation ? behind(name, abbreviation) : NULL;

        if (!end || isalnum((unsigned char)*end))
            continue;
        *s = end;
        return i;
    }
    return 0;
}

/* "B:USR1@60" */
static bool take_signal(struct site_words *w, const char *s)
{
    const char *script = behind(s, "B:");
    int32_t grace = SITE_GRACE_S;
    int which;

    s = script ? script : s;
    which = signal_at(&s);
    if (*s == '@') {
        s++;
        grace = number(&s, SITE_GRACE_MOST_S);
    }
    if (which == 0 || which == SIGKILL || which == SIGSTOP || grace == 0 || !ends(s))
        return false;
    w->signal = which;
    w->to_script = script != NULL;
    w->grace_s = grace;
    return true;
}

/* "2-4" */
static bool take_elastic(struct site_words *w, const char *s)
{
    int32_t fewest = number(&s, NODES_MOST), most = 0;

    if (*s == '-') {
        s++;
        most = number(&s, NODES_MOST);
    }
    if (fewest == 0 || most < fewest || !ends(s))
        return false;
    w->fewest = fewest;
    w->most = most;
    return true;
}

static bool take_word(struct site_words *w, const char *s)
{
    const char *value = behind(s, "signal=");

    if (value)
        return take_signal(w, value);
    value = behind(s, "elastic=");
    if (value)
        return take_elastic(w, value);
    value = behind(s, "place");
    if (!value || !ends(value))
        return false;
    w->place = true;
    return true;
}

/* Behind the "brim:" that begins words, or NULL. */
static const char *first_word(const char *comment)
{
    for (const char *s = comment; s && (s = strstr(s, "brim:")); s++)
        if (s == comment || isspace((unsigned char)s[-1]))
            return behind(s, "brim:");
    return NULL;
}

struct site_words site_words_of(const char *comment)
{
    struct site_words w = { .grace_s = SITE_GRACE_S };
    const char *s = first_word(comment);

    while (s && take_word(&w, s)) {
        s += strcspn(s, " \t\n");
        s += strspn(s, " \t\n");
    }
    return w;
}
