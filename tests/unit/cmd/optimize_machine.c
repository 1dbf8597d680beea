/* Settings of this machine in brim optimize: what is told, and when a restorer is started. Without
 * one: this file's writes down what it is asked for. */
#include "cmd/optimize/machine.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmd/common/cmd.h"
#include "tap.h"

enum { LOG = 2048 };

struct setting_restorer {
    int number;
};

static struct {
    const char *left; /* that a killed brim changed */
    int undo_rc, start_rc, set_rc, end_rc;
} made;

static struct setting_restorer restorer;
static char did[LOG];

static void PRINTF(1, 2) add(const char *fmt, ...)
{
    size_t len = strlen(did);
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(did + len, sizeof(did) - len, fmt, ap);
    va_end(ap);
}

void job_tell(void *arg, const char *sentence)
{
    add("'%s'%s ", sentence, arg ? "" : " to nobody");
}

static void add_about(const char *what, const char *folder, const struct machine_setting_about *a)
{
    add("%s(%s, root '%s', GPUs %s) ", what, folder, a->root,
        a->gpus ? (const char *)a->gpus : "all");
}

int setting_restorer_undo(const char *folder, const struct machine_setting_about *about,
                          struct str *told, struct err *e)
{
    add_about("undo", folder, about);
    if (made.left)
        str_add(told, made.left);
    return made.undo_rc < 0 ? err_set(e, made.undo_rc, "no undo") : made.undo_rc;
}

int setting_restorer_start(struct setting_restorer **ret, const char *folder,
                           const struct machine_setting_about *about, struct err *e)
{
    add_about("start", folder, about);
    *ret = &restorer;
    return made.start_rc < 0 ? err_set(e, made.start_rc, "no start") : 0;
}

bool setting_restorer_now(struct setting_restorer *w, const char *target, char value[LEVER_WORD])
{
    snprintf(value, LEVER_WORD, "%s", w == &restorer ? target : "?");
    return *target == 'a';
}

int setting_restorer_set(struct setting_restorer *w, const char *target, const char *value,
                         struct err *e)
{
    add("set%s(%s=%s) ", w == &restorer ? "" : " nothing", target, value);
    return made.set_rc < 0 ? err_set(e, made.set_rc, "%s cannot be set", target) : 0;
}

int setting_restorer_end(struct setting_restorer *w, struct err *e)
{
    add("end%s ", w ? "" : " nothing");
    return made.end_rc < 0 ? err_set(e, made.end_rc, "no end") : 0;
}

int cmd_print(const struct str *out, const char *path, struct err *e)
{
    (void)e;
    add("print(%s)%s ", str_text(out), path ? " to a file" : "");
    return 0;
}

static void usual(void)
{
    memset(&made, 0, sizeof(made));
    did[0] = '\0';
}

static struct job_talk talk;

#define UNDO "undo(/state/machine, root '', GPUs 1,2) "
#define START "start(/state/machine, root '', GPUs 1,2) "
#define LEFT "'left changed by a brim that was killed: "

static void test_recover(void)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;

    usual();
    machine_recover(&a, &talk);
    is_str(did, UNDO, "nothing is told where nothing was left");
    usual();
    made.left = "a: 1\nb: 2\n\nc";
    made.undo_rc = 3;
    machine_recover(&a, &talk);
    is_str(did, UNDO LEFT "a: 1' " LEFT "b: 2' " LEFT "' " LEFT "c' ",
           "each thing that was put back is told");
    usual();
    made.undo_rc = -EACCES;
    machine_recover(&a, &talk);
    is_str(did, UNDO "'no undo' ", "what could not be put back is told");
    usual();
    made.undo_rc = -EBUSY;
    machine_recover(&a, &talk);
    is_str(did, UNDO, "another brim that is at it is not told");
    usual();
    made.undo_rc = -ENOMEM;
    machine_recover(&a, &talk);
    is_str(did, UNDO, "a lack of memory is not told");
}

static void test_begin(void)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    struct optimize_machine m;
    struct err e = { "" };

    usual();
    is_int(optimize_machine_begin(&a, &m, false, &talk, &e), 0, "a machine may be left alone");
    is_str(did, UNDO, "no restorer is started without the user's word");
    usual();
    made.undo_rc = -EBUSY;
    is_int(optimize_machine_begin(&a, &m, true, &talk, &e), 0, "a machine may be changed");
    is_str(did, UNDO START, "a restorer is started with the user's word");
    usual();
    made.start_rc = -EPERM;
    is_int(optimize_machine_begin(&a, &m, true, &talk, &e), -EPERM, "a restorer may not start");
    is_str(e.text, "no start", "the restorer's sentence is handed on");
}

static void test_drive(void)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    char value[LEVER_WORD], why[SESSION_TEXT] = "";
    struct optimize_machine m;

    usual();
    is_int(optimize_machine_begin(&a, &m, true, &talk, NULL), 0, "a restorer begins");
    ok(m.drive.now(m.drive.arg, "abc", value) && !strcmp(value, "abc"), "a value is read");
    ok(!m.drive.now(m.drive.arg, "b", value), "a value that nothing has is not read");
    did[0] = '\0';
    optimize_machine_end(&m);
    is_str(did, "end ", "nothing is told where nothing was changed");
    ok(!m.restorer, "a restorer ends once");

    is_int(optimize_machine_begin(&a, &m, true, &talk, NULL), 0, "a restorer begins again");
    did[0] = '\0';
    ok(m.drive.set(m.drive.arg, "t", "1", why), "a value is set");
    made.set_rc = -EIO;
    ok(!m.drive.set(m.drive.arg, "u", "2", why), "a value cannot be set");
    is_str(why, "u cannot be set", "a value that cannot be set has its reason");
    is_str(did, "set(t=1) set(u=2) ", "the restorer sets the values");
    did[0] = '\0';
    optimize_machine_end(&m);
    is_str(did, "end 'settings of this machine are again as they were' ",
           "a machine that is as it was is told");
    is_int(optimize_machine_begin(&a, &m, true, &talk, NULL), 0, "a restorer begins once more");
    ok(!m.drive.set(m.drive.arg, "u", "2", why), "a first value cannot be set");
    made.end_rc = -EIO;
    did[0] = '\0';
    optimize_machine_end(&m);
    is_str(did, "end 'no end' ", "what could not be put back at the end is told");
}

static void test_undo(void)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    struct err e = { "" };

    usual();
    is_int(machine_undo(&a, &e), 0, "there is nothing to undo");
    is_str(did, UNDO "print(nothing of this machine is left changed\n) ",
           "a machine with nothing left changed is printed");
    usual();
    made.left = "a: 1\n";
    made.undo_rc = 1;
    is_int(machine_undo(&a, &e), 0, "a thing is put back");
    is_str(did, UNDO "print(a: 1\n) ", "what was put back is printed");
    usual();
    made.undo_rc = -EBUSY;
    is_int(machine_undo(&a, &e), -EBUSY, "another brim is at it");
    is_str(did, UNDO, "nothing is printed after an error");
}

int main(void)
{
    setenv("STATE_DIRECTORY", "/state", 1);
    setenv("CUDA_VISIBLE_DEVICES", "1,2", 1);
    test_recover();
    test_begin();
    test_drive();
    test_undo();
    return done();
}
