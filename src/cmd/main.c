#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/conf.h"
#include "base/log.h"
#include "cmd/common/output.h"
#include "cmd/common/own_stack.h"
#include "cmd/common/terminal_text.h"
#include "cmd/table.h"

/* What a shell learns of wrong usage; the rest of the codes are in cmd.h. */
enum { EXIT_USAGE = 2 };

/* Print one line about a failure. */
static void complain(const char *command, const char *text)
{
    char who[64];

    snprintf(who, sizeof(who), "brim%s%s", command ? " " : "", command ? command : "");
    if (conf_journal(STDERR_FILENO))
        log_error("%s: %s", who, text);
    else
        say(who, text);
}

/* How a command ended: say why if it failed, and make its code an exit status. */
static int finish(const char *command, int rc, const struct err *e)
{
    if (*e->text)
        complain(command, e->text);
    else if (rc < 0)
        complain(command, rc == ERR_USAGE ? "wrong usage (see --help)" : strerror(-rc));
    return rc == ERR_USAGE ? EXIT_USAGE : rc < 0 ? EXIT_FAILED : rc;
}

static bool wants_help(const struct cmd *c, int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (c->runs_program && argv[i][0] != '-')
            return false;
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
            return true;
    }
    return false;
}

/* What the first operand asks a command to do; NULL: nothing that it knows. */
static const struct cmd_sub *sub_of(const struct cmd *c, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (argv[i][0] != '-')
            return cmd_sub_find(c, argv[i]);
    return NULL;
}

static int too_many(const struct cmd *c, const char *word, struct err *e)
{
    if (c->max_operands == 0)
        return err_usage(e, "takes no argument, not '%.100s'", word);
    return err_usage(e, "takes no further argument, not '%.100s': brim %s %s", word, c->name,
                     c->args);
}

/* What a command does takes those options alone that are for it, so that none is without effect. */
static int check_sub(const struct cmd *c, int n, char **argv, struct err *e)
{
    const struct cmd_sub *s = argv[n] ? cmd_sub_find(c, argv[n]) : NULL;
    struct cmd_options all;
    const struct opt *o;

    if (!s)
        return 0;
    cmd_sub_options(c, s, &all);
    o = opt_beyond(c->opts, all.list, n, argv);
    return o ? err_usage(e, "--%s is no option of %s %s: brim help %s %s lists those that are",
                         o->name, c->name, s->name, c->name, s->name)
             : 0;
}

/* Options from brim.conf, then from the command line, then the command itself. */
static int run(const struct app *app, const struct cmd *c, int argc, char **argv, struct err *e)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    CLEANUP(freep) void *values = calloc(1, c->size + 1);
    const char *path = conf_path(&a);
    int first, rc;

    if (!values || !path)
        return err_nomem(e);
    if (c->defaults)
        memcpy(values, c->defaults, c->size);
    rc = conf_load(&a, path, c->name, c->opts, values, e);
    if (rc < 0)
        return rc;
    first = c->runs_program ? opt_parse_front(argc, argv, c->opts, values, e)
                            : opt_parse(argc, argv, c->opts, values, e);
    if (first < 0)
        return first;
    if (argc - first > c->max_operands)
        return too_many(c, argv[first + c->max_operands], e);
    rc = check_sub(c, first, argv, e);
    if (rc < 0)
        return rc;
    rc = c->runs_program ? output_check_apart(c->opts, values, argv + first, e) : 0;
    if (rc == 0)
        rc = output_check(c->opts, values, e);
    return rc == 0 ? c->run(app, values, argv + first, e) : rc;
}

/* The command of the first word; NULL: there is none of that name. */
static const struct cmd *find(const char *word)
{
    static const char *const versions[] = { "--version", "-V", "-v" };

    if (!strcmp(word, "--help") || !strcmp(word, "-h"))
        return cmd_find("help");
    for (size_t i = 0; i < ARRAY_SIZE(versions); i++)
        if (!strcmp(word, versions[i]))
            return cmd_find("version");
    return cmd_find(word);
}

/* A file that is opened while 0, 1 or 2 is closed would get that number, and then what is meant for
 * stdout or stderr. What stands there instead cannot be used either: writing and reading fail. */
static void close_gaps(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd ? O_RDONLY : O_WRONLY) != fd)
            return; /* without /dev/null it stays as it is */
}

static struct app app_of_terminal(void)
{
    struct app app = { .clock = &clock_system, .colour = conf_colour(1), .columns = 100 };
    struct winsize size;

    if (ioctl(1, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40)
        app.columns = size.ws_col;
    return app;
}

/* The call that wrote too much returns EFBIG, and whoever wrote tells. */
static void take_file_limit(int number)
{
    (void)number;
}

/* A file that would grow beyond a limit (ulimit -f) is to end what is written, not us. A handler,
 * and not SIG_IGN, which those whom we start would inherit. */
static void survive_file_limit(void)
{
    struct sigaction was, now = { .sa_handler = take_file_limit, .sa_flags = SA_RESTART };

    if (sigaction(SIGXFSZ, NULL, &was) == 0 && was.sa_handler == SIG_DFL)
        (void)sigaction(SIGXFSZ, &now, NULL);
}

static int brim(int argc, char **argv)
{
    CLEANUP(str_done) struct str out = STR_INIT(1 << 20);
    struct app app = app_of_terminal();
    struct err e = { "" };
    const struct cmd *c;
    const struct cmd_sub *s;
    int rc;

    close_gaps();
    survive_file_limit();
    log_set_journal(conf_journal(STDERR_FILENO));
    if (argc < 2) {
        cmd_help_all(&out);
        fputs(str_text(&out), stderr);
        return EXIT_USAGE;
    }
    c = find(argv[1]);
    if (!c)
        return finish(NULL, cmd_unknown(argv[1], &e), &e);
    if (wants_help(c, argc - 1, argv + 1)) {
        s = sub_of(c, argc - 1, argv + 1);
        if (s)
            cmd_sub_help(c, s, &out);
        else
            cmd_help(c, &out);
        rc = cmd_print(&out, NULL, &e);
    } else {
        rc = run(&app, c, argc - 1, argv + 1, &e);
    }
    return finish(c->name, rc, &e);
}

int main(int argc, char **argv)
{
    return own_stack_call(brim, argc, argv);
}
