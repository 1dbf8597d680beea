#include "cmd/run/start_job.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/conf.h"
#include "cmd/common/terminal_text.h"
#include "run/job/binding.h"

void job_tell(void *arg, const char *sentence)
{
    const struct job_talk *t = arg;

    if (!t->quiet)
        say(t->command, sentence);
}

struct run_card_look job_look(void)
{
    struct run_card_look look = { .columns = 80, .colour = conf_colour(2), .unicode = conf_utf8() };
    struct winsize size;

    if (ioctl(2, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40)
        look.columns = size.ws_col;
    return look;
}

int job_step_aside(const struct profile_settings *job, struct err *e)
{
    char *const *argv = job->argv;
    int error;

    if (job->cpus)
        (void)binding_bind(job->cpus);
    execvpe(argv[0], argv, job->env);
    error = errno;
    err_set(e, -error, "%s: %s", argv[0],
            error == ENOENT && !strchr(argv[0], '/') ? "command not found" : strerror(error));
    return error == ENOENT || error == ENOTDIR ? 127 : 126;
}
