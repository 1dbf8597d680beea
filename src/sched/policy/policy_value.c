#include "sched/policy/policy_value.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/parse.h"

static const int64_t time_max_ns = 365 * 86400 * NS_PER_S;

int policy_bad(const struct ini_entry *at, struct err *e, const char *what)
{
    return err_set(e, -EINVAL, "%s:%d: %s = %s: %s", at->file, at->line, at->key, at->value, what);
}

int policy_choose(unsigned *ret, const char *const *words, const struct ini_entry *at,
                  struct err *e)
{
    char text[128];
    int len = 0;

    for (unsigned i = 0; words[i]; i++) {
        if (!strcmp(words[i], at->value)) {
            *ret = i;
            return 0;
        }
        len += snprintf(text + len, sizeof(text) - (size_t)len, "%s%s", i ? ", " : "", words[i]);
    }
    return err_set(e, -EINVAL, "%s:%d: %s is one of %s", at->file, at->line, at->key, text);
}

int policy_duration(int64_t *ret, const struct ini_entry *at, struct err *e)
{
    int64_t ns;

    if (parse_duration_ns(at->value, &ns) < 0 || ns < 0 || ns > time_max_ns ||
        (ns > 0 && ns < NS_PER_MS))
        return policy_bad(at, e, "a time is a whole number and ms, s, m, h or d, a year at most");
    *ret = ns / NS_PER_MS;
    return 0;
}

int policy_flag(bool *ret, const struct ini_entry *at, struct err *e)
{
    if (strcmp(at->value, "yes") != 0 && strcmp(at->value, "no") != 0)
        return policy_bad(at, e, "yes or no");
    *ret = !strcmp(at->value, "yes");
    return 0;
}
