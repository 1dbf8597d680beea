#include "run/watch/accounts.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/parse.h"

/* A line of /etc/passwd: "name:x:uid:...". False for what is none. */
static bool read_account(const char *line, char *name, size_t size, uint64_t *uid)
{
    const size_t len = strcspn(line, ":\n");
    const char *at = line + len;
    int n;

    if (*at != ':' || len >= size)
        return false;
    memcpy(name, line, len);
    name[len] = '\0';
    at++;
    at += strcspn(at, ":\n");
    n = *at == ':' ? parse_digits(at + 1, 10, 10, uid) : 0;
    return n > 0 && at[1 + n] == ':';
}

/* The name of that account; false when there is none. taken: whether 'told' is the name of one. */
static bool find_account(const char *accounts, int64_t uid, char ret[LIVE_RUN_NAME],
                         const char *told, bool *taken)
{
    bool found = false;

    *taken = false;
    for (const char *line = accounts; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        char each[LIVE_RUN_NAME];
        uint64_t number;

        if (!read_account(line, each, sizeof(each), &number))
            continue;
        *taken = *taken || !strcmp(each, told);
        if (found || number != (uint64_t)uid)
            continue;
        live_run_text(ret, LIVE_RUN_NAME, each);
        found = true;
    }
    return found;
}

void accounts_read(struct str *out)
{
    (void)!file_read("/etc/passwd", out, NULL);
}

void accounts_name(const char *accounts, int64_t uid, char name[LIVE_RUN_NAME])
{
    char found[LIVE_RUN_NAME], told[LIVE_RUN_NAME];
    bool taken;

    if (find_account(accounts, uid, found, name, &taken)) {
        memcpy(name, found, LIVE_RUN_NAME);
        return;
    }
    memcpy(told, name, sizeof(told));
    if (*told && !taken)
        snprintf(name, LIVE_RUN_NAME, "%.40s (%lld)", told, (long long)uid);
    else
        snprintf(name, LIVE_RUN_NAME, "%lld", (long long)uid);
}
