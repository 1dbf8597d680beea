/* brim control: idle GPUs of a Slurm cluster, for the jobs that wait. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/conf.h"
#include "base/file.h"
#include "base/log.h"
#include "base/parse.h"
#include "cmd/common/cmd.h"
#include "cmd/control/door.h"
#include "cmd/control/mail.h"
#include "cmd/control/operate.h"
#include "cmd/control/page.h"
#include "cmd/control/show.h"
#include "cmd/control/source.h"
#include "control/db/db.h"
#include "control/used.h"
#include "control/used_file.h"
#include "slurm/slurm.h"

enum { POLICY_MAX = 64 << 10, OUTPUT_MAX = 64 << 20, OPERANDS = 1000 };

struct control_opts {
    const char *policy, *mode, *directory, *conf, *token, *json, *log;
    const char *prometheus, *query, *login, *book, *door, *mail;
    int64_t every_ns, patience_ns, back_ns;
    uint64_t port, most;
    struct page_opts page;
};

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

/* Without a file: what sites do that reclaim idle GPUs, with a grace for a job's start. */
static const char usual[] =
    "[policy]\nname = usual\nplace = topology\n[idle]\nwarn = 1h\nreclaim = 2h\nburst = 1m\n"
    "grace = 10m\naction = requeue\n";

/* A command while it runs. */
struct session {
    const struct app *app;
    const struct control_opts *o;
    const char *where;  /* the book is: a folder, or an address */
    const char *folder; /* what is not in the book is there */
    struct policy policy;
    struct source source;
    struct slurm *slurm;
    struct control_book *book;
    struct cycle *control;
    struct cycle_config config;
    struct page *page; /* NULL: nobody wants one */
    struct page_config page_config;
    struct door *door; /* with run; NULL */
    struct door_config door_config;
    struct used *used; /* with run; NULL */
};

/* ---- the cluster ---- */

/* Write down what the jobs that have ended used: without it control goes on. */
static void tell_used(struct session *s, const struct site *site)
{
    CLEANUP(str_done) struct str lines = STR_INIT(OUTPUT_MAX);
    struct err e = { "" };

    used_end(s->used, site, &lines);
    if (used_file_add(s->folder, &lines, &e) < 0)
        log_warning("%s", e.text);
}

static int read_site(void *ctx, struct site *ret, struct err *e)
{
    struct session *s = ctx;
    int rc = slurm_read(s->slurm, ret, e);

    if (rc > 0 && s->used)
        tell_used(s, ret);
    return rc;
}

/* One that was stopped for long may find that another one leads. */
static int act(void *ctx, const struct site_deed *deed, struct err *e)
{
    const struct session *s = ctx;

    if (!control_book_leads(s->book))
        return err_set(e, -EPERM, "another brim control may lead by now");
    return slurm_act(s->slurm, deed, e);
}

static int ask(void *ctx, const struct site *site, const bool *which, const struct node_answer **of,
               struct err *e)
{
    struct session *s = ctx;
    int rc = source_ask(&s->source, site, which, of, e);
    const struct control_answers answers = { of, clock_wall_ns(s->app->clock) / NS_PER_MS };

    if (rc == 0 && s->used && used_see(s->used, site, &answers) < 0)
        log_warning("out of memory: what jobs used is not seen this time");
    return rc == 0 ? page_asked(s->page, of, site->n_nodes, e) : rc;
}

static void tell_owner(void *ctx, const struct site_job *j, const char *text)
{
    const struct session *s = ctx;

    if (s->o->mail && !mail_send(s->o->mail, j->user, j->id, text))
        log_warning("job %u: no letter to its owner %s", (unsigned)j->id, j->user);
}

static int load_policy(struct session *s, struct err *e)
{
    CLEANUP(str_done) struct str text = STR_INIT(POLICY_MAX);
    int rc = 0;

    if (s->o->policy)
        rc = file_read(s->o->policy, &text, e);
    else
        str_add(&text, usual);
    if (rc == 0)
        rc = policy_read(&s->policy, s->o->policy ? s->o->policy : "usual", str_text(&text),
                         text.len, e);
    return rc < 0 ? rc : control_policy_check(&s->policy, e);
}

static int open_session(struct session *s, struct err *e)
{
    const struct slurm_config slurm = { .conf = s->o->conf,
                                        .patience_ms = s->o->patience_ns / NS_PER_MS };
    const struct source_opts source = { s->o->prometheus, s->o->query,          s->o->login,
                                        s->o->token,      (unsigned)s->o->port, s->o->patience_ns };
    int rc;

    s->config = (struct cycle_config){ .engine = { read_site, act, ask, tell_owner, s },
                                       .policy = &s->policy,
                                       .clock = s->app->clock,
                                       .back_ms = s->o->back_ns / NS_PER_MS,
                                       .percent = (unsigned)s->o->most };
    rc = control_modes_read(s->o->mode, s->config.mode, e);
    if (rc == 0)
        rc = load_policy(s, e);
    if (rc == 0)
        rc = source_open(&s->source, &source, s->app->clock, e);
    if (rc == 0)
        rc = control_book_open(&s->book, s->where, true, e);
    if (rc == 0)
        rc = slurm_open(&s->slurm, &slurm, e);
    s->config.book = s->book;
    return rc == 0 ? cycle_open(&s->control, &s->config, e) : rc;
}

static void close_session(struct session *s)
{
    door_close(s->door);
    page_close(s->page);
    used_close(s->used);
    cycle_close(s->control);
    slurm_close(s->slurm);
    control_book_close(s->book);
    source_done(&s->source);
}

/* ---- run, once ---- */

/* When a node was drained there are jobs on it to look at, and nothing to wait for. */
static int run_cycle(struct session *s, struct cycle_view *v, struct err *e)
{
    int rc = cycle_run(s->control, v, e);

    return rc == 0 && v->drained ? cycle_run(s->control, v, e) : rc;
}

static int once(struct session *s, struct err *e)
{
    CLEANUP(str_done) struct str out = STR_INIT(OUTPUT_MAX);
    struct cycle_view v;
    int64_t now_ms;
    int rc = control_book_lead(s->book, e);

    if (rc == 0)
        return err_set(e, -EBUSY, "another brim control leads: %s", control_book_leader(s->book));
    if (rc > 0)
        rc = run_cycle(s, &v, e);
    if (rc < 0)
        return rc;
    now_ms = clock_wall_ns(s->app->clock) / NS_PER_MS;
    if (s->o->json)
        show_cycle_json(s->control, &v, now_ms, &out);
    else
        show_cycle(s->control, &v, now_ms, &out);
    return cmd_print(&out, s->o->json, e);
}

/* A sentence is logged when it says something else than the one before. */
static void tell(const struct cycle_view *v, struct str *last)
{
    CLEANUP(str_done) struct str now = STR_INIT(1024);

    show_sentence(v, &now);
    if (str_error(&now) || !strcmp(str_text(&now), str_text(last)))
        return;
    log_info("%s", str_text(&now));
    str_done(last);
    *last = (struct str)STR_INIT(1024);
    str_add(last, str_text(&now));
}

/* The hook of job_submit holds jobs for a control that was there a moment ago, and gives them their
 * places: the time in seconds, in the file "alive". */
static void show_life(const struct session *s, bool lives)
{
    char path[PATH_MAX], text[32];
    struct err why = { "" };
    int len = snprintf(text, sizeof(text), "%lld\n",
                       (long long)(clock_wall_ns(s->app->clock) / NS_PER_S));

    if (s->config.mode[CONTROL_PLACING] != CONTROL_ACT ||
        snprintf(path, sizeof(path), "%s/alive", s->folder) >= (int)sizeof(path))
        return;
    if (!lives)
        (void)unlink(path);
    else if (file_write(path, text, (size_t)len, &why) < 0)
        log_warning("%s: jobs are not held for their places", why.text);
}

/* Whether this one leads; who does is logged when that changes. */
static bool leads(struct session *s, char leader[CONTROL_TEXT])
{
    struct err why = { "" };
    int rc = control_book_lead(s->book, &why);

    if (rc < 0)
        log_warning("%s", why.text);
    if (rc == 0 && strcmp(leader, control_book_leader(s->book)) != 0)
        log_info("brim control of %s leads: waits", control_book_leader(s->book));
    else if (rc == 1 && *leader && strcmp(leader, control_book_leader(s->book)) != 0)
        log_info("leads by now");
    if (rc >= 0)
        snprintf(leader, CONTROL_TEXT, "%s", control_book_leader(s->book));
    return rc == 1;
}

/* Until SIGTERM or SIGINT. */
static int go_on(struct session *s, struct err *e)
{
    CLEANUP(str_done) struct str last = STR_INIT(1024);
    char leader[CONTROL_TEXT] = "";
    const struct timespec pause = { s->o->every_ns / NS_PER_S, s->o->every_ns % NS_PER_S };
    sigset_t ends;
    int rc;

    s->page_config = (struct page_config){ &s->o->page, s->where, s->folder, s->o->mode,
                                           s->app->clock };
    rc = page_open(&s->page, &s->page_config, e);
    s->door_config = (struct door_config){ .path = s->o->door,
                                           .where = s->where,
                                           .conf = s->o->conf,
                                           .patience_ms = s->o->patience_ns / NS_PER_MS,
                                           .own = s->o->page.own };
    if (rc == 0 && s->o->door)
        rc = door_open(&s->door, &s->door_config, e);
    if (rc < 0)
        return rc;
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    sigprocmask(SIG_BLOCK, &ends, NULL);
    log_info("reads the cluster by %s; %s", slurm_how(s->slurm), s->o->mode);
    do {
        struct cycle_view v;
        struct err why = { "" };

        if (!leads(s, leader))
            continue;
        if (run_cycle(s, &v, &why) < 0) {
            log_warning("%s", why.text);
            page_trouble(s->page, why.text);
        } else {
            tell(&v, &last);
            page_show(s->page, s->control);
        }
        show_life(s, !*why.text);
    } while (sigtimedwait(&ends, NULL, &pause) < 0);
    show_life(s, false);
    return EXIT_OK;
}

static int with_session(struct session *s, int (*fn)(struct session *s, struct err *e),
                        struct err *e)
{
    int rc;

    (void)signal(SIGPIPE, SIG_IGN); /* what an agent that goes away would send */
    rc = open_session(s, e);
    if (rc == 0)
        rc = fn(s, e);
    close_session(s);
    return rc;
}

static int run_once(struct session *s, struct err *e)
{
    log_set_level("warning");
    return with_session(s, once, e);
}

static int run_on(struct session *s, struct err *e)
{
    log_set_level(s->o->log);
    if (used_open(&s->used) < 0)
        return err_nomem(e);
    return with_session(s, go_on, e);
}

/* ---- what operators do ---- */

/* Ask the control that runs, or whoever may write the book does it himself. */
static int order(struct session *s, const char *text, struct str *out, struct err *e)
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

static int list(struct session *s, struct err *e)
{
    CLEANUP(str_done) struct str out = STR_INIT(OUTPUT_MAX);
    int rc = order(s, s->o->json ? "list json" : "list", &out, e);

    return rc < 0 ? rc : cmd_print(&out, s->o->json, e);
}

static int approve(struct session *s, char **ids, struct err *e)
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

static int set_switch(struct session *s, bool stopped, struct err *e)
{
    CLEANUP(str_done) struct str out = STR_INIT(OUTPUT_MAX);

    return order(s, stopped ? "stop" : "go", &out, e);
}

/* ---- the command ---- */

static const char *const words[] = { "run", "once", "list", "stop", "go", "approve", NULL };

enum word { RUN, ONCE, LIST, STOP, GO, APPROVE };

static int obey(struct session *s, enum word word, char **operands, struct err *e)
{
    switch (word) {
    case RUN:
        return run_on(s, e);
    case ONCE:
        return run_once(s, e);
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
    struct session s = { .app = app, .o = values };
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
