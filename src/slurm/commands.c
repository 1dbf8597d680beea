#include "slurm/commands.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "slurm/backend.h"
#include "slurm/code.h"
#include "slurm/take.h"

enum { OUTPUT_MOST = 1 << 30, LINE = 256 };

struct commands {
    struct str out;
};

static void commands_close(void *state)
{
    struct commands *c = state;

    str_done(&c->out);
    free(c);
}

DEFINE_CLEANUP(void, commands_close)

/* The last word of "slurm-wlm 22.05.8". */
static const char *version_in(struct str *out)
{
    char *text = out->data, *space;

    if (!text)
        return "?";
    text[strcspn(text, "\r\n")] = 0;
    space = strrchr(text, ' ');
    return space ? space + 1 : text;
}

/* Run it: 0, or what its failure means. */
static int run(struct commands *c, const char *const *argv, enum site_deed_kind kind, struct err *e)
{
    char said[LINE];
    int rc = slurm_command(argv, &c->out, said, sizeof(said), e);

    /* scancel ends well although it could not */
    if (rc < 0 || (rc == 0 && (strcmp(argv[0], "scancel") != 0 || !strstr(said, "error"))))
        return rc;
    return err_set(e, slurm_code_of_text(said, kind), "%s: %s", argv[0],
                   said[0] ? said : "it failed and did not say why");
}

static int commands_open(void **ret, const struct slurm_config *config, struct str *how,
                         struct err *e)
{
    static const char *const argv[] = { "sinfo", "--version", NULL };
    struct commands *c = calloc(1, sizeof(*c));
    CLEANUP(commands_closep) void *owner = c;
    int rc;

    (void)config;
    if (!c)
        return err_nomem(e);
    c->out = (struct str)STR_INIT(OUTPUT_MOST);
    rc = run(c, argv, SITE_DEED_KINDS, e);
    if (rc < 0)
        return rc;
    str_addf(how, "squeue and sinfo %s", version_in(&c->out));
    *ret = steal(&owner);
    return 0;
}

static int read_nodes(struct commands *c, struct site *s, struct err *e)
{
    static const char *const first[] = { "sinfo", "--json", NULL };
    static const char *const later[] = { "scontrol", "show", "nodes", "--json", NULL };
    int rc = run(c, first, SITE_DEED_KINDS, e);

    if (rc == 0)
        rc = slurm_json_nodes(s, str_text(&c->out), c->out.len, e);
    if (rc != -ENODATA)
        return rc;
    rc = run(c, later, SITE_DEED_KINDS, e);
    return rc < 0 ? rc : slurm_json_nodes(s, str_text(&c->out), c->out.len, e);
}

static int commands_read(void *state, struct site *ret, struct err *e)
{
    static const char *const argv[] = { "squeue", "--json", NULL };
    struct commands *c = state;
    struct site s = { .time_ms = (int64_t)time(NULL) * 1000 };
    int rc = read_nodes(c, &s, e);

    if (rc == 0 && site_index(&s) < 0)
        rc = err_nomem(e);
    if (rc == 0)
        rc = run(c, argv, SITE_DEED_KINDS, e);
    if (rc == 0)
        rc = slurm_json_jobs(&s, str_text(&c->out), c->out.len, e);
    if (rc == 0 && slurm_take_end(&s) < 0)
        rc = err_nomem(e);
    if (rc < 0) {
        site_done(&s);
        return rc;
    }
    *ret = s;
    return 1;
}

/* PLACE is two: where, and that it may start. */
static int commands_act(void *state, const struct site_deed *deed, struct err *e)
{
    struct site_deed release = { .kind = SITE_DO_RELEASE, .job = deed->job };
    struct arena a = ARENA_INIT;
    const char *const *argv = slurm_command_of(deed, &a);
    enum site_deed_kind kind = (enum site_deed_kind)deed->kind;
    int rc = argv ? run(state, argv, kind, e) : err_nomem(e);

    if (rc == 0 && kind == SITE_DO_PLACE) {
        argv = slurm_command_of(&release, &a);
        rc = argv ? run(state, argv, kind, e) : err_nomem(e);
    }
    arena_done(&a);
    return rc;
}

const struct slurm_backend slurm_by_commands = {
    .open = commands_open,
    .close = commands_close,
    .read = commands_read,
    .act = commands_act,
};
