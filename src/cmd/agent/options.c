#include "cmd/agent/options.h"
#include "cmd/common/fake_option.h"
#include "cmd/common/host_name.h"
#include "cmd/common/nodes_option.h"
#include "cmd/common/token_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "alerts_ini.h"
#include "base/conf.h"
#include "base/file.h"
#include "base/log.h"
#include "daemon/agent.h"
#include "daemon/http/address.h"

enum { RULES_FILE_MAX = 1 << 20, HOST_MAX = 65 };

#define AT(member) offsetof(struct agent_options, member)

const struct opt agent_opts[] = {
    { OPT_FLAG, 0, "once", AT(once), NULL, "print one sample and end" },
    { OPT_OUTPUT, 'j', "json", AT(json), "FILE", "with --once: print JSON" },
    { OPT_STRING, 0, "listen", AT(listen), "ADDRESS:PORT", "where to serve (127.0.0.1:9410)" },
    { OPT_STRING, 0, "token-file", AT(token_file), "FILE",
      "the token that clients must show, on other than loopback addresses" },
    { OPT_STRING, 0, "user", AT(user), "NAME",
      "as root: the account to run under, with the rights that samples need" },
    { OPT_DURATION, 0, "interval", AT(interval_ns), "TIME", "how often to sample (1s)",
      .least = 100 * OPT_MS, .most = OPT_HOUR },
    { OPT_DURATION, 0, "client-timeout", AT(silence_ns), "TIME",
      "drop clients that are silent for so long (10s)", .least = OPT_S, .most = OPT_HOUR },
    { OPT_STRING, 0, "store", AT(store), "FILE",
      "database for what was measured, or 'none' (/var/lib/brim/agent.db)" },
    { OPT_UINT, 0, "store-mib", AT(store_mib), "MIB", "how large the database may get (1024)",
      .least = 16, .most = 1 << 20, .unit = "MiB" },
    { OPT_LIST, 0, "runs", AT(runs), "DIR",
      "serve the finished runs there, or your 'own'; may be repeated" },
    { OPT_STRING, 0, "nodes", AT(nodes), "LIST|FILE",
      "serve a page of these nodes, too: see brim top --nodes" },
    { OPT_STRING, 0, "nodes-token-file", AT(nodes_token_file), "FILE",
      "the token that the agents of --nodes ask for" },
    { OPT_FLAG, 0, "compat", AT(compat), NULL,
      "metrics also under the names of node_exporter and DCGM" },
    { OPT_STRING, 0, "rules", AT(rules), "FILE",
      "alert rules in place of those built in (see brim alerts)" },
    { OPT_CHOICE, 0, "log", AT(log), "LEVEL", "the least urgent lines of the log",
      .choices = log_level_names },
    FAKE_OPTION(AT(fake)),
    { OPT_STRING, 0, "root", AT(root), "DIR",
      "sample the machine whose kernel files lie there, not this one" },
    { .kind = OPT_END },
};

const struct agent_options agent_defaults = { .listen = "127.0.0.1:9410",
                                              .interval_ns = NS_PER_S,
                                              .silence_ns = 10 * NS_PER_S,
                                              .store_mib = 1024,
                                              .log = "info" };

int agent_options_rules(const struct agent_options *o, struct rules *ret, struct err *e)
{
    CLEANUP(str_done) struct str text = STR_INIT(RULES_FILE_MAX);
    int rc;

    if (!o->rules)
        return rules_load(ret, "alerts.ini", data_alerts_ini, data_alerts_ini_len, e);
    rc = file_read(o->rules, &text, e);
    return rc < 0 ? rc : rules_load(ret, o->rules, str_text(&text), text.len, e);
}

/* Whether a file is a store, or was one: a database, or what an agent had locked before it was
 * damaged. */
static bool was_store(const char *path)
{
    static const char head[16] = "SQLite format 3";
    CLEANUP(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
    char name[PATH_MAX], text[sizeof(head)];

    if (fd < 0 || (read(fd, text, sizeof(text)) == (ssize_t)sizeof(text) &&
                   !memcmp(text, head, sizeof(text))))
        return true; /* the store says what is wrong with one that cannot be opened */
    return snprintf(name, sizeof(name), "%s-lock", path) < (int)sizeof(name) &&
           access(name, F_OK) == 0;
}

/* The store moves a damaged file aside: one that was never a store is somebody's. */
static int check_store_file(const char *path, struct err *e)
{
    struct stat st;

    if (stat(path, &st) < 0 || (S_ISREG(st.st_mode) && st.st_size == 0))
        return 0;
    if (!S_ISREG(st.st_mode))
        return err_set(e, S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL,
                       "--store %s is no regular file: name one, which is made if it is not there",
                       path);
    if (was_store(path))
        return 0;
    return err_set(e, -EEXIST,
                   "--store: %s is there and is nothing that brim wrote: name another file", path);
}

/* Folders of the store are made, but none in /: that is a slip of the finger. */
static int check_store(const char *path, struct err *e)
{
    char top[PATH_MAX];
    int rc = check_store_file(path, e);

    if (rc < 0)
        return rc;
    if (path[0] != '/' || !strchr(path + 1, '/'))
        return 0;
    snprintf(top, sizeof(top), "/%.*s", (int)strcspn(path + 1, "/"), path + 1);
    if (access(top, F_OK) == 0)
        return 0;
    return err_set(e, -errno, "--store %s: there is no folder %s: make it, or name another file",
                   path, top);
}

static int check_listen(const char *listen, struct err *e)
{
    union http_address at;
    int rc = err_usage_of(http_address_parse(listen, &at, e));

    return rc == ERR_USAGE ? err_context(e, rc, "--listen: ") : rc;
}

int agent_options_check(const struct agent_options *o, struct err *e)
{
    int rc = check_listen(o->listen, e);

    if (rc == 0 && o->store && strcmp(o->store, "none") != 0)
        rc = check_store(o->store, e);
    if (rc == 0 && o->nodes_token_file && !o->nodes)
        return err_usage(e, "--nodes-token-file is for --nodes");
    if (rc == 0 && o->user && geteuid() != 0)
        return err_set(e, -EPERM, "--user is for root: nobody else may become '%s'", o->user);
    return rc == 0 ? fake_option_check(o->fake, e) : rc;
}

/* Everybody who may open the page may read them: none without a word. */
static int find_runs(const struct agent_options *o, struct arena *a, struct opt_list *ret,
                     struct err *e)
{
    *ret = o->runs;
    for (size_t i = 0; i < ret->n; i++) {
        if (!strcmp(ret->items[i], "own"))
            ret->items[i] = conf_state(a, "runs");
        else if (access(ret->items[i], F_OK) < 0 && errno == ENOENT)
            return err_set(e, -ENOENT, "--runs %s: there is no such folder", ret->items[i]);
        if (!ret->items[i])
            return err_nomem(e);
    }
    return 0;
}

int agent_options_run(const struct app *app, const struct agent_options *o,
                      void (*ready)(void *arg, const char *where), void *arg, struct err *e)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    CLEANUP(rules_done) struct rules rules = { .count = 0 };
    CLEANUP(str_done) struct str token = STR_INIT(TOKEN_FILE_MAX);
    char host[HOST_MAX] = "";
    CLEANUP(str_done) struct str nodes_token = STR_INIT(TOKEN_FILE_MAX);
    struct opt_list runs = { .n = 0 };
    struct node_list nodes = { .n = 0 };
    struct agent_config config = { .clock = app->clock,
                                   .host = host,
                                   .listen = o->listen,
                                   .interval_ns = o->interval_ns,
                                   .silence_ns = o->silence_ns,
                                   .rules = &rules,
                                   .nodes = &nodes,
                                   .store = o->store,
                                   .keep = { .max_bytes = (int64_t)o->store_mib << 20 },
                                   .fake = o->fake,
                                   .root = o->root,
                                   .compat = o->compat,
                                   .ready = ready,
                                   .arg = arg };
    int rc = agent_options_check(o, e);

    if (rc != 0)
        return rc;
    log_set_level(o->log);
    host_name(o->root, host, sizeof(host));
    rc = agent_options_rules(o, &rules, e);
    if (rc == 0)
        rc = find_runs(o, &a, &runs, e);
    if (rc == 0 && o->token_file)
        rc = token_file_read(o->token_file, &token, e);
    if (rc == 0 && o->nodes)
        rc = nodes_option_read(&nodes, &a, o->nodes, e);
    if (rc == 0 && o->nodes_token_file)
        rc = nodes_option_token(o->nodes_token_file, &nodes_token, e);
    if (rc < 0)
        return rc;
    if (o->nodes_token_file)
        config.nodes_token = str_text(&nodes_token);
    config.runs = (struct run_folders){ .paths = runs.items, .n = runs.n };
    if (o->token_file)
        config.token = str_text(&token);
    config.user = o->user;
    if (!o->store)
        config.store = conf_state(&a, o->user ? "agent/agent.db" : "agent.db");
    else if (!strcmp(o->store, "none"))
        config.store = NULL;
    if (!o->store && !config.store)
        return err_nomem(e);
    return agent_run(&config, e);
}
