/* What sacct is asked, and what its failures mean. */
#include "slurm/account/sacct.h"

#include <errno.h>
#include <string.h>

#include "tap.h"

static void test_words(void)
{
    const struct slurm_sacct s = { .since = "2026-11-13T09:00:00", .until = "now" };
    static const char *const wanted[] = { "sacct",         "--allusers",  "--duplicates",
                                          "--allocations", "--parsable2", "--delimiter=\x1f" };
    static const char *const users[] = { "JobName", "Comment", "WorkDir", "SubmitLine",
                                         "Reserved" };
    const char *argv[SLURM_SACCT_WORDS], *fields = NULL;
    size_t n = 0;

    slurm_sacct_argv(&s, argv);
    for (; n < ARRAY_SIZE(wanted); n++)
        is_str(argv[n], wanted[n], "word %zu of sacct", n);
    for (n = 0; argv[n]; n++)
        if (!strncmp(argv[n], "--format=", strlen("--format=")))
            fields = argv[n];
    ok(n < SLURM_SACCT_WORDS, "the words end");
    is_str(argv[n - 4], "--starttime", "the beginning is named");
    is_str(argv[n - 3], "2026-11-13T09:00:00", "the beginning is told");
    is_str(argv[n - 1], "now", "the end is told");
    for (size_t i = 0; i < ARRAY_SIZE(users); i++)
        ok(!strstr(fields, users[i]), "%s is not asked for", users[i]);
}

static void test_failures(void)
{
    static const struct {
        const char *said;
        int rc;
        const char *begins;
    } cases[] = {
        { "Slurm accounting storage is disabled\n", -ENOSYS, "AccountingStorageType is none: " },
        { "You are not running a supported accounting_storage plugin\n"
          "Only 'accounting_storage/slurmdbd' is supported.\n",
          -ENOSYS, "AccountingStorageType is none: " },
        { "sacct: error: slurmdbd: Too wide of a date range in query\n", -E2BIG,
          "slurmdbd does not answer for so many days" },
        { "sacct: error: Munge encode failed: Failed to access \"/run/munge/m\"\n"
          "sacct: error: Problem talking to the database: Protocol authentication error\n",
          -EACCES,
          "slurmdbd does not know who asks: Problem talking to the database: Protocol "
          "authentication error: does munged run here?" },
        { "sacct: error: Access/permission denied\n", -EACCES,
          "sacct may not read the accounting: Access/permission denied: " },
        { "sacct: error: Sending PersistInit msg: Connection refused\n"
          "sacct: error: Problem talking to the database: Connection refused\n",
          -EHOSTDOWN,
          "slurmdbd does not answer: Problem talking to the database: Connection refused: " },
        { "sacct: error: Invalid field requested: \"NodeList\"\n", -ENOTSUP,
          "this sacct lacks a field: Invalid field requested: \"NodeList\"" },
        { "one\n two \n\n", -EIO, "sacct:  two" },
        { "", -EIO, "sacct ended with status 3 and did not say why" },
        { "\n \n", -EIO, "sacct ended with status 3 and did not say why" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct err e = { "" };

        is_int(slurm_sacct_failed(3, cases[i].said, &e), cases[i].rc, "what %zu means", i);
        ok(!strncmp(e.text, cases[i].begins, strlen(cases[i].begins)), "in words: %s", e.text);
    }
}

int main(void)
{
    test_words();
    test_failures();
    return done();
}
