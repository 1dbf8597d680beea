/* Since when --from-sacct looks back. */
#include "cmd/sim/accounts.h"

#include <stdlib.h>
#include <time.h>

#include "tap.h"

enum { NOW = 1795770000 }; /* 2026-11-27T09:00:00Z */

static void test_since(void)
{
    static const struct {
        const char *text;
        int64_t at_s;
    } good[] = {
        { "", NOW - INT64_C(14) * 86400 },   { "1", NOW - 86400 },
        { "30", NOW - INT64_C(30) * 86400 }, { "3660", NOW - INT64_C(3660) * 86400 },
        { "2026-11-27", NOW - 9 * 3600 },    { "2026-11-26T08:30", NOW - 86400 - 1800 },
        { "2026-11-27T08:59:59", NOW - 1 },
    };
    static const char *const bad[] = { "0",          "3661",       "99999999999999999999",
                                       "x",          "2026-13-01", "2026-11-27T",
                                       "2026-11-28", "-5",         "2026-11-27T09:00:00",
                                       "14d",        "2026-11-27 " };
    int64_t at_s;
    struct err e;

    setenv("TZ", "UTC", 1);
    tzset();
    for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
        at_s = 0;
        is_int(sim_accounts_since(good[i].text, NOW, &at_s, &e), 0, "'%s' is a time", good[i].text);
        ok(at_s == good[i].at_s, "it is that many seconds");
    }
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        is_int(sim_accounts_since(bad[i], NOW, &at_s, &e), ERR_USAGE, "'%s' is none", bad[i]);
        ok(e.text[0], "in words: %s", e.text);
    }
    setenv("TZ", "Etc/GMT-2", 1);
    tzset();
    ok(sim_accounts_since("2026-11-27", NOW, &at_s, &e) == 0 && at_s == NOW - 11 * 3600,
       "a date is one of here");
}

int main(void)
{
    test_since();
    return done();
}
