/* brim control: policies on a cluster that Slurm schedules. */
#include <stdio.h>
#include <string.h>

#include "base/conf.h"
#include "base/log.h"
#include "base/parse.h"
#include "cmd/control/look.h"
#include "cmd/control/operate.h"
#include "control/db/db.h"

enum { OUTPUT_MAX = 64 << 20, OPERANDS = 1000 };

static const struct opt opts[] = {
    { OPT_STRING, 'p', "policy", offsetof(struct control_opts, policy), "FILE",
      "with run, once: an INI file with a section [idle] (told after 1h, taken after 2h)" },
    { OPT_STRING, 'm', "mode", offsetof(struct control_opts, mode), "MODE",
      "with run, once: observe (only say it), propose (do what brim control approve names) or act; "
      "or one for each: idle=act,faults=propose,place=act" },
    { OPT_UINT, 0, "most", offsetof(struct control_opts, most), "N",
      "with run, once: in an hour requeue so many of the jobs that hold GPUs, and drain so many "
      "nodes; at least one (5)",
      .least = 0, .most = 100, .unit = "%" },
    { OPT_DURATION, 0, "every", offsetof(struct control_opts, every_ns), "TIME",
      "with run: how often to look (15s)", .least = OPT_S, .most = OPT_MIN },
    { OPT_DURATION, 0, "return-after", offsetof(struct control_opts, back_ns), "TIME",
      "with run, once: a node that was drained for a fault is well for so long before it serves "
      "again (10m)",
      .least = 0, .most = 24 * OPT_HOUR },
    { OPT_UINT, 0, "port", offsetof(struct control_opts, port), "PORT",
      "with run, once: of the agents of the nodes (9410)", .least = 1, .most = 65535 },
    { OPT_STRING, 0, "token", offsetof(struct control_opts, token), "FILE",
      "with run, once: the token that agents ask for" },
    { OPT_STRING, 0, "prometheus", offsetof(struct control_opts, prometheus), "URL",
      "with run, once: ask this Prometheus how busy GPUs are, and no agents (http://HOST:9090)" },
    { OPT_STRING, 0, "prometheus-query", offsetof(struct control_opts, query), "EXPR",
      "with run, once: what it is asked (brim_gpu_busy_ratio, and what DCGM's exporter says)" },
    { OPT_STRING, 0, "prometheus-token", offsetof(struct control_opts, login), "FILE",
      "with run, once: the token, or USER:PASSWORD, that Prometheus asks for" },
    { OPT_DURATION, 0, "patience", offsetof(struct control_opts, patience_ns), "TIME",
      "with run, once: how long Slurm, an agent, or Prometheus may take to answer (10s)",
      .least = OPT_S, .most = OPT_MIN },
    { OPT_STRING, 0, "slurm-conf", offsetof(struct control_opts, conf), "FILE",
      "with run, once: slurm.conf (where Slurm's own commands look for it)" },
    { OPT_STRING, 'd', "directory", offsetof(struct control_opts, directory), "DIR",
      "where it remembers what was seen and decided" },
    { OPT_STRING, 0, "mail", offsetof(struct control_opts, mail), "COMMAND",
      "with run, once: owners who are told get a letter, too: COMMAND -s SUBJECT USER, as mail "
      "takes it" },
    { OPT_STRING, 0, "door", offsetof(struct control_opts, door), "SOCKET",
      "with run, list, approve, stop, go: where users of this machine ask, as far as Slurm lets "
      "them" },
    { OPT_STRING, 'l', "listen", offsetof(struct control_opts, page.listen), "ADDRESS:PORT",
      "with run: serve the page of the cluster there" },
    { OPT_STRING, 0, "token-file", offsetof(struct control_opts, page.token_file), "FILE",
      "with --listen: the token that who reads the page needs (none, on a loopback address)" },
    { OPT_STRING, 0, "operators", offsetof(struct control_opts, page.operators_file), "FILE",
      "with --listen: the token that who acts on the page needs (nobody may)" },
    { OPT_FLAG, 0, "own", offsetof(struct control_opts, page.own), NULL,
      "with --listen, --door: who looks is told of its own jobs alone; operators, of all" },
    { OPT_STRING, 0, "price", offsetof(struct control_opts, page.rates.price), "USD|KIND=USD,...",
      "with --listen: dollars for an hour of a GPU (else of data/prices.csv)" },
    { OPT_STRING, 0, "gpu", offsetof(struct control_opts, page.rates.gpu), "NAME",
      "with --listen: what GPUs are where Slurm does not say" },
    { OPT_STRING, 0, "book", offsetof(struct control_opts, book), "URL",
      "remember it in this PostgreSQL instead, for several controls of which one leads "
      "(postgres://HOST/NAME)" },
    { OPT_CHOICE, 0, "log", offsetof(struct control_opts, log), "LEVEL",
      "with run: the least urgent lines of the log", .choices = log_level_names },
    CMD_JSON(offsetof(struct control_opts, json)),
    { .kind = OPT_END },
};

static const struct control_opts defaults = {
    .mode = "observe",
    .log = "info",
    .every_ns = 15 * NS_PER_S,
    .patience_ns = 10 * NS_PER_S,
    .back_ns = 600 * NS_PER_S,
    .port = NODE_LIST_PORT,
    .most = 5,
};

/* ---- what operators do ---- */

/* Ask the control that runs, or whoever may write the book does it himself. */
static int order(struct control_session *s, const char *text, struct str *out, struct err *e)
{
    const struct asker owner = { .operates = true };
    CLEANUP(control_book_closep) struct control_book *book = NULL;
    struct order o;
    int rc;

    if (s->o->door)
        return door_ask(s->o->door, text, out, e);
    rc = order_read(&o, text);
    if (rc == 0)
        rc = control_book_open(&book, s->where, false, e);
    return rc < 0 ? rc : operate(book, &o, &owner, out, e);
}

static int list(struct control_session *s, struct err *e)
{
    CLEANUP(str_done) struct str out = STR_INIT(OUTPUT_MAX);
    int rc = order(s, s->o->json ? "list json" : "list", &out, e);

    return rc < 0 ? rc : cmd_print(&out, s->o->json, e);
}

static int approve(struct control_session *s, char **ids, struct err *e)
{
    CLEANUP(str_done) struct str out = STR_INIT(OUTPUT_MAX);
    char text[64];
    uint64_t id;
    int rc = 0;

    for (char **at = ids; *at && rc == 0; at++)
        if (parse_u64(*at, &id) < 0)
            rc = err_set(e, ERR_USAGE, "'%s' is no number of an action: brim control list has them",
                         *at);
    for (; rc == 0 && *ids; ids++) {
        rc = parse_u64(*ids, &id);
        snprintf(text, sizeof(text), "approve %llu", (unsigned long long)id);
        if (rc == 0)
            rc = order(s, text, &out, e);
    }
    return rc;
}

static int set_switch(struct control_session *s, bool stopped, struct err *e)
{
    CLEANUP(str_done) struct str out = STR_INIT(OUTPUT_MAX);

    return order(s, stopped ? "stop" : "go", &out, e);
}

/* ---- the command ---- */

static const char *const words[] = { "run", "once", "list", "stop", "go", "approve", NULL };

enum word { RUN, ONCE, LIST, STOP, GO, APPROVE };

static int obey(struct control_session *s, enum word word, char **operands, struct err *e)
{
    switch (word) {
    case RUN:
        return control_run(s, e);
    case ONCE:
        return control_once(s, e);
    case LIST:
        return list(s, e);
    case STOP:
        return set_switch(s, true, e);
    case GO:
        return set_switch(s, false, e);
    case APPROVE:
        break;
    }
    return approve(s, operands, e);
}

static int run(const struct app *app, const void *values, char **operands, struct err *e)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    struct control_session s = { .app = app, .o = values };
    const char *word = operands[0] ? operands[0] : "once";
    size_t i = 0;
    int rc;

    while (words[i] && strcmp(words[i], word) != 0)
        i++;
    if (!words[i])
        return opt_unknown("subcommand", word, words, e);
    if (i == APPROVE && !operands[1])
        return err_set(e, ERR_USAGE,
                       "approve needs the number of an action: brim control list has "
                       "them");
    if (i != APPROVE && operands[0] && operands[1])
        return err_set(e, ERR_USAGE, "brim control %s takes nothing behind it", word);
    rc = page_check(&s.o->page, e);
    if (rc == 0 && s.o->page.own && !s.o->page.listen && !s.o->door)
        rc = err_usage(e, "--own is for --listen and --door");
    if (rc < 0)
        return rc;
    if (s.o->book && !db_is_address(s.o->book))
        return err_usage(e, "--book %s: this is no address: postgres://HOST/NAME", s.o->book);
    s.folder = s.o->directory ? s.o->directory : conf_state(&a, "control");
    s.where = s.o->book ? s.o->book : s.folder;
    if (!s.where)
        return err_nomem(e);
    return obey(&s, (enum word)i, operands[0] ? operands + 1 : operands, e);
}

static const struct cmd_sub subs[] = {
    { .name = "once",
      .args = "",
      .summary = "look once, and say it",
      .examples = { "control", "control once --json" } },
    { .name = "run",
      .args = "",
      .summary = "look again and again, as a service does",
      .examples = { "control run --mode act --policy site.ini" } },
    { .name = "list",
      .args = "",
      .summary = "what was done, proposed, or would have been",
      .examples = { "control list" } },
    { .name = "approve",
      .args = "ID...",
      .summary = "let what was proposed be done",
      .examples = { "control approve 12" } },
    { .name = "stop",
      .args = "",
      .summary = "do nothing any more, until go",
      .examples = { "control stop" } },
    { .name = "go", .args = "", .summary = "end that", .examples = { "control go" } },
    { .name = NULL },
};

const struct cmd cmd_control = {
    .name = "control",
    .args = "[once | run | list | approve ID... | stop | go]",
    .summary = "on a Slurm cluster: who keeps GPUs idle, for whom, and take them back",
    .about =
        "Reads jobs and nodes from Slurm, asks the agents of nodes (or Prometheus) how busy GPUs\n"
        "are, and decides by section [idle] of a policy, as brim sim does: owners of jobs whose\n"
        "GPUs are idle are told (admin_comment, and the terminal of srun), and when another job\n"
        "waits for these GPUs the idle one is requeued. It only says so unless --mode asks for\n"
        "more. What it does is written down before; it may be killed at any time.",
    .subs = subs,
    .opts = opts,
    .defaults = &defaults,
    .size = sizeof(struct control_opts),
    .max_operands = OPERANDS,
    .run = run,
};
