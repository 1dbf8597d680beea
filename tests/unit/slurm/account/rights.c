#include "slurm/account/rights.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tap.h"

static struct slurm_rights of(const char *user, const char *text)
{
    struct slurm_rights r = { .operates = false };
    char line[256];

    snprintf(line, sizeof(line), "%s", text);
    slurm_rights_line(&r, user, line);
    return r;
}

static void test_lines(void)
{
    static const struct {
        const char *line;
        bool operates;
        const char *accounts;
    } rows[] = {
        { "ana|None|", false, "" },
        { "ana|None|lab", false, ",lab," },
        { "ana|None|lab,bio", false, ",lab,bio," },
        { "ana|Operator|", true, "" },
        { "ana|Administrator|lab", true, ",lab," },
        { "bob|Administrator|lab", false, "" },
        { "anal|Operator|lab", false, "" },
        { "ana", false, "" },
        { "", false, "" },
        { "|||", false, "" },
        { "ana|operator|", false, "" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct slurm_rights r = of("ana", rows[i].line);

        ok(r.operates == rows[i].operates && !strcmp(r.accounts, rows[i].accounts),
           "the rights of ana are read from '%s'", rows[i].line);
    }
}

static void test_accounts(void)
{
    const struct slurm_rights r = of("ana", "ana|None|lab,bio2");

    ok(slurm_rights_has(&r, "lab") && slurm_rights_has(&r, "bio2"), "accounts are found");
    ok(!slurm_rights_has(&r, "bio") && !slurm_rights_has(&r, "ab"), "a part of a name is none");
    ok(!slurm_rights_has(&r, "") && !slurm_rights_has(&r, "lab,bio2"), "an account is one word");
}

static void test_names(void)
{
    static const char *const names[] = { "a,b", "a=b", "a b", "a'b", "a\nb" };
    struct slurm_rights r;

    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        is_int(slurm_rights_ask(&r, names[i], NULL, 1000, NULL), -EINVAL,
               "Slurm is not asked for a user of name %zu", i);
}

int main(void)
{
    test_lines();
    test_accounts();
    test_names();
    return done();
}
