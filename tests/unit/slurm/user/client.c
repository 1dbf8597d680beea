/* One of Slurm's commands: programs of a shell stand for it. */
#include "slurm/user/client.h"

#include <errno.h>

#include "slurm/user/order.h"
#include "tap.h"

static char given[] = "GIVEN=yes", path[] = "PATH=/usr/bin:/bin";
static char *const env[] = { given, path, NULL };

static int start(struct slurm_client *c, const char *line, const char *script)
{
    const char *argv[] = { "sh", "-c", line, NULL };

    return slurm_client_start(c, argv, env, script, NULL);
}

static void test_whole(void)
{
    CLEANUP(slurm_client_done) struct slurm_client c = SLURM_CLIENT_INIT;

    is_int(start(&c, "cat /proc/self/fd/3; echo $GIVEN; cat; echo no >&2; exit 3", "script\n"), 0,
           "a command is started");
    is_int(slurm_client_hear(&c, false, 60000, NULL), 0, "a command is heard to its end");
    is_int(slurm_client_end(&c, NULL), 3, "a command has its status");
    is_str(str_text(&c.texts[0]), "script\nyes\n",
           "a command has a script, an environment, no stdin");
    is_str(str_text(&c.texts[1]), "no\n", "a complaint is another text");
}

static void test_line(void)
{
    CLEANUP(slurm_client_done) struct slurm_client c = SLURM_CLIENT_INIT;

    is_int(start(&c, "echo 12; kill -STOP $$; exit 5", NULL), 0,
           "a command that goes on is started");
    is_int(slurm_client_hear(&c, true, 60000, NULL), 0,
           "the first line is heard of a command that goes on");
    is_str(str_text(&c.texts[0]), "12\n", "the first line is there");
}

static void test_patience(void)
{
    CLEANUP(slurm_client_done) struct slurm_client c = SLURM_CLIENT_INIT;
    struct err e = { "" };

    is_int(start(&c, "echo first >&2; echo last >&2; kill -STOP $$", NULL), 0,
           "a command that hangs is started");
    while (!strstr(str_text(&c.texts[1]), "last\n"))
        if (slurm_client_hear(&c, false, 1, NULL) != -ETIMEDOUT)
            break;
    is_int(slurm_client_hear(&c, false, 1, &e), -ETIMEDOUT,
           "a command that hangs is not waited for");
    is_str(e.text, "Slurm does not answer within 0.001 s: last; look at slurmctld",
           "the last words of one that hangs are told");
}

static void test_failures(void)
{
    CLEANUP(slurm_client_done) struct slurm_client c = SLURM_CLIENT_INIT;
    CLEANUP(slurm_client_done) struct slurm_client killed = SLURM_CLIENT_INIT;
    const char *argv[] = { "/none/sbatch", NULL };
    struct err e = { "" };

    is_int(slurm_client_start(&c, argv, env, NULL, &e), 0,
           "a command that is not there is started");
    is_int(slurm_client_hear(&c, true, 60000, &e), 0, "a command that is not there says nothing");
    is_int(slurm_client_end(&c, &e), -ENOENT, "a command that is not there is an error");
    ok(strstr(e.text, "there is no /none/sbatch: install Slurm's client commands"),
       "the error says what to install: %s", e.text);
    is_int(start(&killed, "kill -9 $$", NULL), 0, "a command that is killed is started");
    is_int(slurm_client_hear(&killed, false, 60000, &e), 0, "a command that is killed ends");
    is_int(slurm_client_end(&killed, &e), -EIO, "a command that was killed has no status");
    is_str(e.text, "sh was killed by signal 9", "the signal that killed it is told");
}

int main(void)
{
    test_whole();
    test_line();
    test_patience();
    test_failures();
    return done();
}
