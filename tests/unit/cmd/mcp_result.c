/* What a client is answered for what a command printed, and how it ended. */
#include "cmd/mcp/result.h"

#include <errno.h>
#include <string.h>

#include "made_tools.h"
#include "oom_arena.h"
#include "tap.h"

static struct mcp_tools tools;

struct row {
    const char *tool;
    bool modern, plain;
    enum mcp_end end;
    int status;
    const char *out, *err, *want;
};

#define HEAD "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"content\":["
#define TEXT(text) "{\"type\":\"text\",\"text\":\"" text "\"}"
#define GOOD "],\"isError\":false}}\n"
#define BAD "],\"isError\":true}}\n"

static const struct row rows[] = {
    { "look", false, false, MCP_ENDED, 0, "{\n  \"a b\": [1, \"x \\\" y\"]\n}\n", "",
      HEAD TEXT("{\\\"a b\\\":[1,\\\"x \\\\\\\" y\\\"]}") "],\"structuredContent\":{\"a b\":[1,"
                                                          "\"x \\\" y\"]},\"isError\":false}}\n" },
    { "look", true, false, MCP_ENDED, 0, "{}", "",
      HEAD TEXT("{}") "],\"structuredContent\":{},\"isError\":false,\"resultType\":\"complete\","
                      "\"_meta\":{\"io.modelcontextprotocol/serverInfo\":{\"name\":\"brim\","
                      "\"version\":\"" BRIM_VERSION "\"}}}}\n" },
    { "look", false, false, MCP_ENDED, 1, "{}", "a driver hangs\n",
      HEAD TEXT("{}") "," TEXT("a driver hangs\\n") "],\"structuredContent\":{},\"isError\":false"
                                                    "}}\n" },
    { "look", false, false, MCP_ENDED, 1, "", "brim look: no run is kept\n",
      HEAD TEXT("brim look: no run is kept") BAD },
    { "look", false, false, MCP_ENDED, 0, "[]", "", HEAD TEXT("brim look printed no JSON") BAD },
    { "look", false, false, MCP_ENDED, 0, "{\"cut", "",
      HEAD TEXT("brim look printed no JSON") BAD },
    { "look", false, false, MCP_ENDED, 2, "", "",
      HEAD TEXT("brim look ended with status 2 and said nothing") BAD },
    { "plan_train", false, false, MCP_ENDED, -9, "{}", "",
      HEAD TEXT("brim plan train was ended by signal 9") BAD },
    { "look", false, true, MCP_ENDED, 0, "a line\n", "", HEAD TEXT("a line\\n") GOOD },
    { "look", false, true, MCP_ENDED, 1, "a line\n", "a word\n",
      HEAD TEXT("a line\\n") "," TEXT("a word\\n") GOOD },
    { "look", false, true, MCP_ENDED, 1, "", "a word\n", HEAD TEXT("a word") BAD },
    { "weigh", false, false, MCP_ENDED, 0, "", "", HEAD TEXT("done") GOOD },
    { "weigh", false, false, MCP_ENDED, 0, "", "note\n", HEAD TEXT("note\\n") GOOD },
    { "weigh", false, false, MCP_ENDED, 1, "12\n", "no job 13\n",
      HEAD TEXT("12\\n") "," TEXT("no job 13\\n") BAD },
    { "page", false, false, MCP_ENDED, 0, "<html>", "",
      HEAD "{\"type\":\"resource\",\"resource\":{\"uri\":\"brim://report/page.html\",\"mimeType\":"
           "\"text/html\",\"text\":\"<html>\"},\"annotations\":{\"audience\":[\"user\"]}}" GOOD },
    { "look", false, false, MCP_TOO_LONG, -15, "{}", "",
      HEAD TEXT("brim look took longer than LIMIT and was ended: ask for less, or start the server "
                "with a longer --timeout") BAD },
    { "look", false, false, MCP_TOO_MUCH, -15, "{}", "",
      HEAD TEXT("brim look printed more than LIMIT and was ended: ask for less (fewer files, no "
                "list of everything), or run it in a shell") BAD },
};

static int result_of(const struct row *r, struct str *out)
{
    const struct mcp_call call = {
        .id = "7", .modern = r->modern, .plain = r->plain, .tool = mcp_tools_find(&tools, r->tool)
    };
    CLEANUP(str_done) struct str printed = STR_INIT(1024), said = STR_INIT(1024);
    const struct mcp_outcome o = {
        .end = r->end, .status = r->status, .out = &printed, .err = &said, .limit = "LIMIT"
    };

    str_add(&printed, r->out);
    str_add(&said, r->err);
    return str_error(&printed) || str_error(&said) ? -ENOMEM : mcp_result(&call, &o, out);
}

static void test_compact(void)
{
    static const struct {
        const char *json, *want;
    } cases[] = {
        { "", "" },
        { " { } \n", "{}" },
        { "{\"a\" : \" b \\\" c \\\\\" , \"d\":\t1}\r\n", "{\"a\":\" b \\\" c \\\\\",\"d\":1}" },
        { "\"open \\", "\"open \\" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(str_done) struct str out = STR_INIT(1024);

        mcp_result_compact(cases[i].json, strlen(cases[i].json), &out);
        is_str(str_text(&out), cases[i].want, "blanks of text %zu between values are left out", i);
    }
}

int main(void)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;

    ok(made_tools(&tools, &a) == 0, "tools of this test are made");
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        CLEANUP(str_done) struct str out = STR_INIT(1 << 20);

        ok(result_of(&rows[i], &out) == 0, "row %zu has a result", i);
        is_str(str_text(&out), rows[i].want, "row %zu has the result that it should", i);
    }
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        bool failed;

        oom_restart();
        do {
            CLEANUP(str_done) struct str out = STR_INIT(1 << 20);
            int rc;

            oom_next();
            rc = result_of(&rows[i], &out);
            failed = oom_end();
            ok(failed ? rc == -ENOMEM : rc == 0, "row %zu is refused with allocation %d", i,
               oom_at);
        } while (failed);
    }
    test_compact();
    return done();
}
