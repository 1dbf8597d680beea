#include "cmd/optimize/machine.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/conf.h"
#include "cmd/common/cmd.h"
#include "run/job/environ.h"

static struct machine_setting_about about_here(void)
{
    return (struct machine_setting_about){ .root = "", .gpus = environ_gpus(conf_environment()) };
}

static bool now(void *arg, const char *target, char *value)
{
    struct optimize_machine *m = arg;

    return setting_restorer_now(m->restorer, target, value);
}

static bool set(void *arg, const char *target, const char *value, char *why)
{
    struct optimize_machine *m = arg;
    struct err e = { "" };

    m->changed = true;
    if (setting_restorer_set(m->restorer, target, value, &e) == 0)
        return true;
    snprintf(why, SESSION_TEXT, "%.*s", SESSION_TEXT - 1, e.text);
    return false;
}

/* Each line of what was put back, as a sentence. */
static void tell_lines(struct job_talk *talk, const char *lines)
{
    char line[LEVER_WORD * 4];

    for (; *lines; lines += strcspn(lines, "\n"), lines += *lines == '\n') {
        snprintf(line, sizeof(line), "left changed by a brim that was killed: %.*s",
                 (int)strcspn(lines, "\n"), lines);
        job_tell(talk, line);
    }
}

void machine_recover(struct arena *a, struct job_talk *talk)
{
    CLEANUP(str_done) struct str told = STR_INIT(LEVER_TEXT_MAX);
    const char *folder = conf_state(a, "machine");
    const struct machine_setting_about about = about_here();
    struct err e = { "" };
    int rc = folder ? setting_restorer_undo(folder, &about, &told, &e) : -ENOMEM;

    tell_lines(talk, str_text(&told));
    if (rc < 0 && rc != -EBUSY && rc != -ENOMEM)
        job_tell(talk, e.text);
}

int optimize_machine_begin(struct arena *a, struct optimize_machine *m, bool allowed,
                           struct job_talk *talk, struct err *e)
{
    const char *folder = conf_state(a, "machine");
    const struct machine_setting_about about = about_here();

    *m = (struct optimize_machine){ .drive = { now, set, m }, .talk = talk };
    machine_recover(a, talk);
    if (!folder)
        return err_nomem(e);
    return allowed ? setting_restorer_start(&m->restorer, folder, &about, e) : 0;
}

void optimize_machine_end(struct optimize_machine *m)
{
    struct err e = { "" };

    if (setting_restorer_end(m->restorer, &e) < 0)
        job_tell(m->talk, e.text);
    else if (m->changed)
        job_tell(m->talk, "settings of this machine are again as they were");
    m->restorer = NULL;
}

int machine_undo(struct arena *a, struct err *e)
{
    CLEANUP(str_done) struct str told = STR_INIT(LEVER_TEXT_MAX);
    const char *folder = conf_state(a, "machine");
    const struct machine_setting_about about = about_here();
    int rc = folder ? setting_restorer_undo(folder, &about, &told, e) : err_nomem(e);

    if (rc < 0)
        return rc;
    if (!rc)
        str_add(&told, "nothing of this machine is left changed\n");
    return cmd_print(&told, NULL, e);
}
