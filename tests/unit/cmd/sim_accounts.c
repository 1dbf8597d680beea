/* Since when --from-sacct looks back. */
#include "cmd/sim/accounts.h"

#include <stdlib.h>
#include <time.h>

#include "folder.h"
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
        ok(at_s == good[i].at_s, "a time is so many seconds since 1970");
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

/* An sacct that prints the jobs of some users. */
static void write_sacct(const char *folder, const char *users)
{
    char text[1024], path[PATH_MAX];

    snprintf(text, sizeof(text),
             "#!/bin/sh\necho 'JobIDRaw|User|Submit|Start|End|ElapsedRaw|AllocTRES'\n"
             "for u in %s; do echo \"1|$u|%d|%d|%d|60|gres/gpu=1\"; done\n",
             users, NOW - 120, NOW - 90, NOW - 30);
    folder_text(folder, "sacct", text);
    folder_path(folder, "sacct", path);
    folder_need(chmod(path, 0755), path);
}

static void ask(const char *folder, const char *users, const char *user, const char *only)
{
    CLEANUP(pool_done) struct pool pool = { .n_nodes = 0 };
    const struct sim_accounts_ask asked = {
        .since = "", .user = user, .patience_ms = 120000, .now_s = NOW
    };
    struct sim_accounts a = { .any = false };
    struct err e = { "" };

    write_sacct(folder, users);
    ok(pool_parse(&pool, "1x2", &e) == 0, "nodes are given");
    is_int(sim_accounts_ask(&a, &pool, &asked, &e), 0, "jobs of %s are read", users);
    ok(a.any && !a.has_cluster && a.until_ms == 120000, "up to now, on the jobs' own clock");
    is_str(a.only ? a.only : "-", only, "whether %s sees others'", user ? user : "root");
    sim_accounts_done(&a);
}

static void test_who_sees_what(void)
{
    char folder[PATH_MAX], path[PATH_MAX + 32];

    folder_make(folder);
    snprintf(path, sizeof(path), "%s:/usr/bin:/bin", folder);
    setenv("PATH", path, 1);
    ask(folder, "ada bo", "ada", "-");
    ask(folder, "ada", "ada", "ada");
    ask(folder, "ada", "bo", "-");
    ask(folder, "ada", NULL, "-");
    folder_remove(folder);
}

int main(void)
{
    test_since();
    test_who_sees_what();
    return done();
}
