/* Options of a running agent: what is refused, and what the agent is told. Without an agent: this
 * file's writes down its configuration. */
#include "cmd/agent/options.h"

#include <errno.h>
#include <stdio.h>

#include "alerts_ini.h"
#include "cmd/common/fake_option.h"
#include "cmd/common/host_name.h"
#include "cmd/common/nodes_option.h"
#include "cmd/common/token_file.h"
#include "daemon/agent.h"
#include "daemon/http/address.h"
#include "folder.h"
#include "tap.h"

enum { TEXT = 2 * PATH_MAX };

uid_t __wrap_geteuid(void);

static char folder[PATH_MAX], did[TEXT];
static bool no_rules, no_token, is_user;

static void PRINTF(1, 2) add(const char *fmt, ...)
{
    size_t len = strlen(did);
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(did + len, sizeof(did) - len, fmt, ap);
    va_end(ap);
}

uid_t __wrap_geteuid(void)
{
    return is_user ? 1000 : 0;
}

int rules_load(struct rules *ret, const char *file, const char *text, size_t len, struct err *e)
{
    bool own = len == data_alerts_ini_len && !memcmp(text, data_alerts_ini, len);

    ret->count = 0;
    add("rules(%s%s) ", file, own ? ", ours" : "");
    return no_rules ? err_set(e, -EINVAL, "no rules") : 0;
}

void rules_done(struct rules *r)
{
    r->count = 0;
}

int http_address_parse(const char *text, union http_address *ret, struct err *e)
{
    (void)ret;
    return strchr(text, ':') ? 0 : err_set(e, -EINVAL, "no port");
}

int fake_option_check(const char *spec, struct err *e)
{
    return spec && *spec == '?' ? err_usage(e, "no fake") : 0;
}

void host_name(const char *root, char *to, size_t size)
{
    snprintf(to, size, "host of %s", root ? root : "here");
}

int nodes_option_read(struct node_list *ret, struct arena *a, const char *text, struct err *e)
{
    (void)a;
    ret->n = strlen(text);
    return *text == '?' ? err_set(e, -EINVAL, "no nodes") : 0;
}

int nodes_option_token(const char *path, struct str *token, struct err *e)
{
    str_addf(token, "nodes' %s", path);
    return *path == '?' ? err_set(e, -ENOENT, "no token of nodes") : 0;
}

static const char *or_none(const char *text)
{
    return text ? text : "-";
}

int token_file_read(const char *path, struct str *token, struct err *e)
{
    if (!path)
        add("no file ");
    str_addf(token, "of %s", or_none(path));
    return no_token ? err_set(e, -ENOENT, "no token") : 0;
}

int agent_run(const struct agent_config *c, struct err *e)
{
    (void)e;
    add("%s, at %s, token %s, user %s, %lld ms, %lld s, %zu nodes, token %s, store %s, %lld MiB, "
        "fake %s, root %s%s",
        c->host, c->listen, or_none(c->token), or_none(c->user),
        (long long)(c->interval_ns / NS_PER_MS), (long long)(c->silence_ns / NS_PER_S), c->nodes->n,
        or_none(c->nodes_token), or_none(c->store), (long long)(c->keep.max_bytes >> 20),
        or_none(c->fake), or_none(c->root), c->compat ? ", compat" : "");
    for (size_t i = 0; i < c->runs.n; i++)
        add(", runs %s", c->runs.paths[i]);
    return 3;
}

/* What the agent is told, or the error. */
static const char *told(const struct agent_options *o)
{
    const struct app app = { .clock = &clock_system };
    struct err e = { "" };
    int rc;

    did[0] = '\0';
    rc = agent_options_run(&app, o, NULL, NULL, &e);
    if (rc < 0)
        add("! %s", e.text);
    else if (rc != 3)
        add("= %d", rc);
    return did;
}

#define OURS "rules(alerts.ini, ours) "
#define USUAL(store) \
    OURS "host of here, at 127.0.0.1:9410, token -, user -, 1000 ms, 10 s, 0 nodes, token -, " \
         "store " store ", 1024 MiB, fake -, root -"

static void test_told(void)
{
    struct agent_options o = agent_defaults;

    is_str(told(&o), USUAL("/state/agent.db"), "an agent has its defaults");
    o.store = "none";
    is_str(told(&o), USUAL("-"), "an agent may store nothing");
    o = agent_defaults;
    o.token_file = "t";
    o.nodes = "abc";
    o.nodes_token_file = "n";
    o.fake = "1xT4";
    o.root = "/copy";
    o.compat = true;
    o.user = "brim";
    o.store_mib = 16;
    o.runs = (struct opt_list){ { "/", "own" }, 2 };
    is_str(told(&o),
           OURS "host of /copy, at 127.0.0.1:9410, token of t, user brim, 1000 ms, 10 s, 3 nodes, "
                "token nodes' n, store /state/agent/agent.db, 16 MiB, fake 1xT4, root /copy, "
                "compat, runs /, runs /state/runs",
           "an agent is told all its options");
}

static void test_rules(void)
{
    struct agent_options o = agent_defaults;
    char path[PATH_MAX], want[TEXT];
    struct rules r;

    folder_text(folder, "rules.ini", "[x]\n");
    folder_path(folder, "rules.ini", path);
    o.rules = path;
    snprintf(want, sizeof(want), "rules(%s) ", path);
    did[0] = '\0';
    is_int(agent_options_rules(&o, &r, NULL), 0, "rules of a file are read");
    is_str(did, want, "the file has the rules");
    folder_path(folder, "none.ini", path);
    is_int(agent_options_rules(&o, &r, NULL), -ENOENT, "a file of rules has to be there");
    o.rules = NULL;
    no_rules = true;
    is_str(told(&o), OURS "! no rules", "an agent needs rules");
    no_rules = false;
}

static void test_refused(void)
{
    static const struct {
        const char *want;
        struct agent_options o;
        bool is_user, no_token;
    } cases[] = {
        { "! --listen: no port", { .listen = "here" }, false, false },
        { "! --nodes-token-file is for --nodes",
          { .listen = ":1", .nodes_token_file = "t" },
          false,
          false },
        { "! --user is for root: nobody else may become 'brim'",
          { .listen = ":1", .user = "brim" },
          true,
          false },
        { "! no fake", { .listen = ":1", .fake = "?" }, false, false },
        { OURS "! --runs /proc/none: there is no such folder",
          { .listen = ":1", .runs = { { "/proc/none" }, 1 } },
          false,
          false },
        { OURS "! no token", { .listen = ":1", .token_file = "t" }, false, true },
        { OURS "! no nodes", { .listen = ":1", .nodes = "?" }, false, false },
        { OURS "! no token of nodes",
          { .listen = ":1", .nodes = "a", .nodes_token_file = "?" },
          false,
          false },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct agent_options o = cases[i].o;

        o.log = "info";
        is_user = cases[i].is_user;
        no_token = cases[i].no_token;
        is_str(told(&o), cases[i].want, "options %zu are refused", i);
    }
    is_user = no_token = false;
}

/* What is wrong with a store, with "@" for its path; "". */
static const char *store(const char *path)
{
    static char ret[TEXT];
    struct agent_options o = agent_defaults;
    struct err e = { "" };
    char *found;
    int rc;

    o.store = path;
    rc = agent_options_check(&o, &e);
    is_int(rc < 0, *e.text != '\0', "a store that is refused has a sentence");
    found = strstr(e.text, path);
    snprintf(ret, sizeof(ret), "%.*s%s%s", found ? (int)(found - e.text) : TEXT, e.text,
             found ? "@" : "", found ? found + strlen(path) : "");
    return ret;
}

#define NOT_OURS "--store: @ is there and is nothing that brim wrote: name another file"
#define NO_FILE "--store @ is no regular file: name one, which is made if it is not there"

static void test_stores(void)
{
    char path[PATH_MAX];

    folder_path(folder, "store.db", path);
    is_str(store(path), "", "a store that is not there is made");
    folder_text(folder, "store.db", "");
    is_str(store(path), "", "an empty file may be a store");
    folder_file(folder, "store.db", "SQLite format 3\0more", 20);
    is_str(store(path), "", "a database is a store");
    folder_file(folder, "store.db", "SQLite format 3", 15);
    is_str(store(path), NOT_OURS, "a database that breaks off in its first line is none");
    folder_text(folder, "store.db", "SQLite format 4 and more");
    is_str(store(path), NOT_OURS, "a file of somebody else is no store");
    folder_text(folder, "store.db-lock", "");
    is_str(store(path), "", "a damaged file that an agent had locked was a store");
    is_str(store(folder), NO_FILE, "a folder is no store");
    is_str(store("/dev/null"), NO_FILE, "a device is no store");
    is_str(store("store-that-is-not-there.db"), "", "a store may be in this folder");
    is_str(store("/store-that-is-not-there.db"), "", "a store may be in the first folder");
    folder_path(folder, "a/b/store.db", path);
    is_str(store(path), "", "a store's folders are made");
    is_str(store("/no-such-folder/a/store.db"),
           "--store @: there is no folder /no-such-folder: make it, or name another file",
           "no folder is made in the first one");
    is_str(store("none"), "", "a store may be none");
}

int main(void)
{
    setenv("STATE_DIRECTORY", "/state", 1);
    folder_make(folder);
    test_told();
    test_rules();
    test_refused();
    test_stores();
    folder_remove(folder);
    return done();
}
