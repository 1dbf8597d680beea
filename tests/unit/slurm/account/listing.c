/* Commands that list: their lines, their end, their silence. */
#include "slurm/account/listing.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "tap.h"

enum { PATIENT_MS = 120000, SHORT_MS = 50 };

static char said[SLURM_LISTING_SAID];
static struct err e;

static int add(void *ctx, char *line)
{
    str_addf(ctx, "<%s>", line ? line : "too long");
    return 0;
}

static int stop(void *ctx, char *line)
{
    (void)ctx;
    return !strcmp(line, "2") ? -EDOM : 0;
}

static int run(const char *script, struct str *lines, int64_t patience_ms)
{
    const char *const argv[] = { "sh", "-c", script, NULL };
    const struct slurm_listing l = { argv, "/conf", patience_ms, add, lines };

    str_reset(lines);
    return slurm_listing_run(&l, said, &e);
}

static void test_lines(void)
{
    CLEANUP(str_done) struct str lines = STR_INIT(1 << 20);

    is_int(run("echo a b; echo; echo c; printf d; echo oh >&2", &lines, PATIENT_MS), 0,
           "a command that ends well");
    is_str(str_text(&lines), "<a b><><c><d>", "lines come one by one, the last without its end");
    is_str(said, "oh\n", "what it complains of is kept");
    is_int(run("exit 3", &lines, PATIENT_MS), 3, "the status of a command is told");
    is_str(str_text(&lines), "", "a command that says nothing has no line");
    is_int(run("kill -9 $$", &lines, PATIENT_MS), 137, "a signal is a status");
    is_int(run("echo $SLURM_TIME_FORMAT $SLURM_CONF", &lines, PATIENT_MS), 0,
           "a command has a setting");
    is_str(str_text(&lines), "<%s /conf>", "times are seconds, and slurm.conf is the one named");
    is_int(run("cat", &lines, PATIENT_MS), 0, "a command has nothing to read");
}

static void test_much(void)
{
    CLEANUP(str_done) struct str lines = STR_INIT(1 << 20);

    is_int(run("head -c 65535 /dev/zero | tr '\\0' x; echo; head -c 65536 /dev/zero | tr '\\0' y; "
               "echo; echo z",
               &lines, PATIENT_MS),
           0, "a line that is too long is no failure");
    ok(lines.len > 65535 && !strncmp(str_text(&lines), "<xxx", 4), "the longest line is whole");
    is_str(str_text(&lines) + 65537, "<too long><z>", "one that is longer is told as such");
    is_int(run("head -c 100000 /dev/zero | tr '\\0' x >&2; echo a", &lines, PATIENT_MS), 0,
           "complaints without end are no failure");
    is_int((int)strlen(said), SLURM_LISTING_SAID - 1, "complaints are cut");
}

static void test_stopped(void)
{
    const char *const argv[] = { "sh", "-c", "echo 1; echo 2; exec sleep 1000", NULL };
    const struct slurm_listing l = { argv, NULL, PATIENT_MS, stop, NULL };

    is_int(slurm_listing_run(&l, said, &e), -EDOM, "whoever reads may end it");
}

/* Whoever it has started holds the end of a pipe as long as it lives. */
static void test_silence(void)
{
    CLEANUP(str_done) struct str lines = STR_INIT(1 << 20);
    int ends[2];
    char c;

    ok(pipe(ends) == 0, "a pipe is there");
    is_int(run("sleep 1000 & sleep 1000", &lines, SHORT_MS), -ETIMEDOUT,
           "a command that falls silent is ended");
    is_str(e.text, "sh has said nothing for 0.05 s", "silence is said so");
    close(ends[1]);
    is_int((int)read(ends[0], &c, 1), 0, "whom it has started is ended, too");
    close(ends[0]);
    is_int(run("exec >&- 2>&-; sleep 1000", &lines, SHORT_MS), -ETIMEDOUT,
           "a command that closes what it writes to and goes on is ended");
}

static void test_missing(void)
{
    const char *const argv[] = { "/nowhere/sacct", NULL };
    const struct slurm_listing l = { argv, NULL, PATIENT_MS, add, NULL };

    is_int(slurm_listing_run(&l, said, &e), -ENOENT, "a command that is not there");
    is_str(e.text, "there is no /nowhere/sacct: install Slurm's client commands",
           "a missing command is named");
}

int main(void)
{
    test_lines();
    test_much();
    test_stopped();
    test_silence();
    test_missing();
    return done();
}
