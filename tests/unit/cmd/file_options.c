/* Files that options name: what a command may write over, lists of nodes, and secrets. */
#include <errno.h>
#include <stdio.h>

#include "cmd/common/nodes_option.h"
#include "cmd/common/output.h"
#include "cmd/common/token_file.h"
#include "daemon/http/access.h"
#include "folder.h"
#include "tap.h"

enum { TEXT = PATH_MAX + 256 };

static char root[PATH_MAX];

int http_access_token(const char *token, struct err *e)
{
    return strlen(token) < 4 ? err_set(e, -EINVAL, "the token is short") : 0;
}

/* A path below the test's folder. */
static const char *at(const char *name)
{
    static char path[PATH_MAX];

    folder_path(root, name, path);
    return path;
}

/* ---- what is written over ---- */

struct opts {
    const char *json, *page, *script, *profile, *read;
    bool flag;
};

static const struct opt table[] = {
    { OPT_FLAG, 0, "flag", offsetof(struct opts, flag), NULL, "" },
    { OPT_OUTPUT, 'j', "json", offsetof(struct opts, json), "FILE", "" },
    { OPT_STRING, 0, "page", offsetof(struct opts, page), "FILE", "", .file = OPT_PAGE },
    { OPT_STRING, 0, "script", offsetof(struct opts, script), "FILE", "", .file = OPT_SCRIPT },
    { OPT_STRING, 0, "profile", offsetof(struct opts, profile), "FILE", "", .file = OPT_PROFILE },
    { OPT_STRING, 0, "read", offsetof(struct opts, read), "FILE", "" },
    { .kind = OPT_END },
};

/* The error that is told of a file, with "@" for its path; "". */
static const char *check(const char *option, const char *path)
{
    static char ret[TEXT];
    struct opts o = { .flag = true };
    struct err e = { "" };
    char whole[PATH_MAX], *found;
    int rc;

    snprintf(whole, sizeof(whole), "%s", path);
    is_int(opt_set(table, &o, option, whole, &e), 0, "--%s is an option", option);
    rc = output_check(table, &o, &e);
    ok(*e.text ? rc < 0 : rc == 0, "--%s has a sentence with an error alone", option);
    found = strstr(e.text, whole);
    if (*whole && found)
        snprintf(ret, sizeof(ret), "%.*s@%s", (int)(found - e.text), e.text, found + strlen(whole));
    else
        snprintf(ret, sizeof(ret), "%s", e.text);
    return ret;
}

static void test_ours(void)
{
    static const struct {
        const char *option, *text;
        bool ours;
    } cases[] = {
        { "json", "", true },
        { "json", "{\"schema\": \"brim.why.v1\"}", true },
        { "json", "{\"schema\": \"other\"}", false },
        { "json", " {\"schema\": \"brim.why.v1\"}", false },
        { "json", "x", false },
        { "page", "<!DOCTYPE html><title>brim</title>", true },
        { "page", "<svg>other</svg>", false },
        { "page", "brim", false },
        { "script", "#!/bin/sh\n# profile train\n", true },
        { "script", "#!/bin/sh\necho\n", false },
        { "profile", "[profile]\nname = x\n", true },
        { "profile", "[other]\n", false },
        { "profile", "[prof", false },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char want[TEXT];

        folder_text(root, "old", cases[i].text);
        snprintf(want, sizeof(want),
                 "--%s: @ is there and is nothing that brim wrote: name another file",
                 cases[i].option);
        is_str(check(cases[i].option, at("old")), cases[i].ours ? "" : want,
               "--%s and a file with '%s'", cases[i].option, cases[i].text);
    }
    folder_text(root, "old", "of somebody else");
    is_str(check("read", at("old")), "", "a file that is read is not written over");
}

static void test_places(void)
{
    char name[PATH_MAX + 16], here[PATH_MAX];

    is_str(check("json", "-"), "", "standard output can be written");
    is_str(check("json", at("new")), "", "a new file can be written");
    is_str(check("json", "/dev/null"), "", "a device can be written");
    is_str(check("json", at(".")), "--json: cannot write @: Is a directory",
           "a folder cannot be written");
    is_str(check("page", "/proc/none/page.html"),
           "--page: cannot write @: No such file or directory",
           "a file in a folder that is not there cannot be written");
    folder_text(root, "old", "x");
    snprintf(name, sizeof(name), "%s/below", at("old"));
    is_str(check("json", name), "--json: cannot write @: Not a directory",
           "a file below a file cannot be written");
    folder_need(getcwd(here, sizeof(here)) ? 0 : -1, "the folder of the test");
    folder_need(chdir(root), root);
    is_str(check("json", "new"), "", "a new file of this folder can be written");
    folder_text(root, "-", "of somebody else");
    is_str(check("json", "-"), "", "a file called as standard output is not looked at");
    folder_need(chdir(here), here);
}

static void test_apart(void)
{
    static const struct {
        const char *json, *first, *second;
        bool wrong;
    } cases[] = {
        { "-", "out.json", "--", true }, { "out.json", "train", "--", false },
        { NULL, "train", "--", false },  { "-", "train", "-x", false },
        { "-", "train", NULL, false },   { "-", NULL, NULL, false },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const struct opts o = { .json = cases[i].json, .page = "-" };
        char first[16], second[16], *operands[] = { first, second, NULL };
        struct err e = { "" };

        snprintf(first, sizeof(first), "%s", cases[i].first ? cases[i].first : "");
        snprintf(second, sizeof(second), "%s", cases[i].second ? cases[i].second : "");
        if (!cases[i].first)
            operands[0] = NULL;
        if (!cases[i].second)
            operands[1] = NULL;
        is_int(output_check_apart(table, &o, operands, &e), cases[i].wrong ? ERR_USAGE : 0,
               "words %zu behind --json are checked", i);
        is_str(e.text, cases[i].wrong ? "a file of --json stands behind '=': --json=out.json" : "",
               "what is wrong with words %zu is told", i);
    }
}

/* ---- lists of nodes, secrets ---- */

static const char *nodes(const char *text)
{
    static char ret[TEXT];
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    struct node_list l = { .n = 0 };
    struct err e = { "" };
    int rc = nodes_option_read(&l, &a, text, &e);

    snprintf(ret, sizeof(ret), "%s", rc == ERR_USAGE ? "usage: " : rc < 0 ? "error: " : "");
    if (rc < 0)
        snprintf(ret + strlen(ret), sizeof(ret) - strlen(ret), "%s", e.text);
    for (size_t i = 0; rc == 0 && i < l.n; i++)
        snprintf(ret + strlen(ret), sizeof(ret) - strlen(ret), "%s ", l.nodes[i].text);
    return ret;
}

static void test_nodes(void)
{
    char want[TEXT], here[PATH_MAX];

    is_str(nodes("a,b[1-2]"), "a b1 b2 ", "a list names nodes");
    is_str(nodes(" "), "usage: --nodes names no node", "a list without nodes is wrong usage");
    ok(strstr(nodes("a[2-"), "usage: --nodes: "), "a list that breaks off is wrong usage");
    folder_text(root, "nodes", "a\nb # two\n");
    is_str(nodes(at("nodes")), "a b ", "a file names nodes");
    folder_text(root, "none", "# nobody\n");
    snprintf(want, sizeof(want), "error: %s names no node", at("none"));
    is_str(nodes(at("none")), want, "a file without nodes is an error");
    folder_text(root, "bad", "a\nb[2-\n");
    snprintf(want, sizeof(want), "error: %s:2: ", at("bad"));
    ok(strstr(nodes(at("bad")), want), "a line that breaks off is an error");
    ok(strstr(nodes(at("missing")), "error: "), "a file that is not there is an error");
    folder_need(getcwd(here, sizeof(here)) ? 0 : -1, "the folder of the test");
    folder_need(chdir(root), root);
    is_str(nodes("nodes"), "a b ", "a file of this folder is one");
    folder_folder(root, "rack");
    is_str(nodes("rack"), "rack ", "a folder of this folder is no list of nodes");
    folder_need(chdir(here), here);
}

static void test_tokens(void)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        { "secret", "secret" },
        { "  secret \n", "secret" },
        { "secret other\n", "secret" },
        { "\t\r\nsecret", "secret" },
        { "abc", "the token is short" },
        { "", NULL },
        { " \n", NULL },
    };
    CLEANUP(str_done) struct str none = STR_INIT(TOKEN_FILE_MAX);

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(str_done) struct str token = STR_INIT(TOKEN_FILE_MAX);
        char want[TEXT];
        struct err e = { "" };
        int rc;

        folder_text(root, "token", cases[i].text);
        snprintf(want, sizeof(want), "%s has no token in it", at("token"));
        rc = nodes_option_token(at("token"), &token, &e);
        is_str(rc < 0 ? e.text : str_text(&token), cases[i].want ? cases[i].want : want,
               "the token of file %zu is read", i);
        if (rc == 0)
            is_int((long long)token.len, 6, "nothing stands behind a token");
    }
    is_int(nodes_option_token(at("missing"), &none, NULL), -ENOENT, "a token needs its file");
}

int main(void)
{
    folder_make(root);
    test_ours();
    test_places();
    test_apart();
    test_nodes();
    test_tokens();
    folder_remove(root);
    return done();
}
