/* The Model Context Protocol: each message and its answer, in both of its eras. */
#include "cmd/mcp/session.h"

#include <errno.h>
#include <string.h>

#include "made_tools.h"
#include "oom_arena.h"
#include "tap.h"

/* What a session asked for, in words. */
struct asked {
    char text[2048];
    int begin; /* what beginning a call returns */
};

static int begin(void *arg, const struct mcp_call *call)
{
    struct asked *asked = arg;
    size_t len = strlen(asked->text);

    len += (size_t)snprintf(asked->text + len, sizeof(asked->text) - len, "%s%s%s:", call->id,
                            call->modern ? " modern" : "", call->plain ? " plain" : "");
    for (size_t i = 1; call->argv[i] && len < sizeof(asked->text); i++)
        len += (size_t)snprintf(asked->text + len, sizeof(asked->text) - len, " %s", call->argv[i]);
    return asked->begin;
}

static void cancel(void *arg, const char *id)
{
    struct asked *asked = arg;
    size_t len = strlen(asked->text);

    snprintf(asked->text + len, sizeof(asked->text) - len, "cancel %s", id);
}

/* A session of this test: all that it says to a message. */
struct peer {
    struct arena arena;
    struct mcp_tools tools;
    struct asked asked;
    struct mcp_work work;
    struct mcp_session session;
    struct str out;
};

static void peer_open(struct peer *p)
{
    *p = (struct peer){ .out = STR_INIT(1 << 20) };
    p->work = (struct mcp_work){ .arg = &p->asked, .begin = begin, .cancel = cancel };
    p->session = (struct mcp_session){ .tools = &p->tools, .work = &p->work };
    ok(made_tools(&p->tools, &p->arena) == 0, "tools of this session are made");
}

static void peer_close(struct peer *p)
{
    str_done(&p->out);
    arena_done(&p->arena);
}

static const char *say(struct peer *p, const char *line)
{
    str_reset(&p->out);
    p->asked.text[0] = '\0';
    ok(mcp_session_take(&p->session, line, strlen(line), &p->out) == 0, "%.80s is taken", line);
    return str_text(&p->out);
}

#define HEAD "{\"jsonrpc\":\"2.0\","
#define HELLO(version) \
    HEAD "\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"" version "\"}}"
#define META_OF(version) \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"" version \
    "\",\"io.modelcontextprotocol/clientCapabilities\":{}}"
#define MODERN META_OF("2026-07-28")
#define FAIL(id, code, text) \
    HEAD "\"id\":" id ",\"error\":{\"code\":" code ",\"message\":\"" text "\"}}\n"

/* ---- messages that are none ---- */

static void test_broken(struct peer *p)
{
    static const struct {
        const char *line, *want;
    } rows[] = {
        { "", "" },
        { "  \r\n", "" },
        { "{", FAIL("null", "-32700", "message:1:2: a key in double quotes is missing") },
        { "\xff", NULL },
        { "7", FAIL("null", "-32600", "a message is an object") },
        { "{}", FAIL("null", "-32600", "a message has \\\"jsonrpc\\\": \\\"2.0\\\"") },
        { "{\"jsonrpc\":\"1.0\",\"id\":4,\"method\":\"ping\"}",
          FAIL("4", "-32600", "a message has \\\"jsonrpc\\\": \\\"2.0\\\"") },
        { HEAD "\"id\":4}", FAIL("4", "-32600", "a message has a method, which is a string") },
        { HEAD "\"id\":4,\"method\":7}",
          FAIL("4", "-32600", "a message has a method, which is a string") },
        { HEAD "\"id\":null,\"method\":\"ping\"}",
          FAIL("null", "-32600", "an id is a whole number, or a string of at most 256 bytes") },
        { HEAD "\"id\":1.5,\"method\":\"ping\"}",
          FAIL("null", "-32600", "an id is a whole number, or a string of at most 256 bytes") },
        { HEAD "\"id\":\"a\\u0000\",\"method\":\"ping\"}",
          FAIL("null", "-32600", "an id is a whole number, or a string of at most 256 bytes") },
        { HEAD "\"id\":4,\"method\":\"ping\",\"params\":[]}",
          FAIL("4", "-32602", "the params of ping are an object") },
        { HEAD "\"id\":4,\"method\":\"resources/list\"}",
          FAIL("4", "-32601", "brim has no method 'resources/list'") },
        { HEAD "\"id\":4,\"result\":{}}", "" },
        { HEAD "\"method\":\"notifications/unheard\"}", "" },
        { HEAD "\"id\":4,\"method\":\"ping\"}", HEAD "\"id\":4,\"result\":{}}\n" },
        { HEAD "\"id\":\"a\\\"\\n\",\"method\":\"ping\"}",
          HEAD "\"id\":\"a\\\"\\n\",\"result\":{}}\n" },
        { HEAD "\"id\":-9007199254740993,\"method\":\"ping\"}",
          HEAD "\"id\":-9007199254740993,\"result\":{}}\n" },
        { "[]", FAIL("null", "-32600",
                     "a line is one message: only revision 2025-03-26 has arrays of them") },
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        const char *got = say(p, rows[i].line);

        if (rows[i].want)
            is_str(got, rows[i].want, "'%s' has its answer", rows[i].line);
        else
            ok(strstr(got, "\"code\":-32700"), "a byte that is no UTF-8 is no JSON");
    }
}

static void test_long_things(struct peer *p)
{
    CLEANUP(str_done) struct str line = STR_INIT(1 << 20);

    str_add(&line, HEAD "\"method\":\"ping\",\"id\":\"");
    str_fill(&line, 'x', 256);
    str_add(&line, "\"}");
    ok(strstr(say(p, str_text(&line)), "\"result\":{}"), "an id of 256 bytes is taken");
    str_reset(&line);
    str_add(&line, HEAD "\"method\":\"ping\",\"id\":\"");
    str_fill(&line, 'x', 257);
    str_add(&line, "\"}");
    ok(strstr(say(p, str_text(&line)), "-32600"), "an id of 257 bytes is refused");
    str_reset(&line);
    str_fill(&line, '[', 100);
    ok(strstr(say(p, str_text(&line)), "-32700"), "a message of 100 brackets is refused");
    str_reset(&p->out);
    mcp_session_too_long(1 << 20, &p->out);
    is_str(str_text(&p->out), FAIL("null", "-32600", "a message is longer than 1024 KiB"),
           "a line that is too long has an answer");
}

/* ---- with a handshake ---- */

static void test_handshake(struct peer *p)
{
    static const struct {
        const char *hello, *want;
    } rows[] = {
        { HELLO("2024-11-05"), "2024-11-05" }, { HELLO("2025-03-26"), "2025-03-26" },
        { HELLO("2025-06-18"), "2025-06-18" }, { HELLO("2025-11-25"), "2025-11-25" },
        { HELLO("2026-07-28"), "2025-11-25" }, { HELLO("2099-01-01"), "2025-11-25" },
        { HELLO(""), "2025-11-25" },
    };

    is_str(say(p, HEAD "\"id\":4,\"method\":\"tools/list\"}"),
           FAIL("4", "-32600",
                "tools/list comes after initialize, or has io.modelcontextprotocol/protocolVersion "
                "in its _meta"),
           "a list before the handshake is refused");
    is_str(say(p, HEAD "\"id\":4,\"method\":\"initialize\",\"params\":{}}"),
           FAIL("4", "-32602", "initialize needs a protocolVersion, such as \\\"2025-11-25\\\""),
           "a handshake without a revision is refused");
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        char want[256];

        snprintf(want, sizeof(want),
                 HEAD "\"id\":0,\"result\":{\"protocolVersion\":\"%s\",\"serverInfo\":{\"name\":"
                      "\"brim\",\"version\":\"" BRIM_VERSION
                      "\"},\"capabilities\":{\"tools\":{}},\"instructions\":\"brim says what",
                 rows[i].want);
        is_int(strncmp(say(p, rows[i].hello), want, strlen(want)), 0,
               "the handshake %zu settles %s", i, rows[i].want);
        is_str(p->session.version, rows[i].want, "the session keeps the revision of handshake %zu",
               i);
    }
    is_str(say(p, HEAD "\"method\":\"notifications/initialized\"}"), "",
           "a notification has no answer");
}

static void test_list(struct peer *p)
{
    const char *got = say(p, HEAD "\"id\":\"l\",\"method\":\"tools/list\",\"params\":{}}");

    ok(strstr(got, HEAD "\"id\":\"l\",\"result\":{\"tools\":[{\"name\":\"look\",") == got,
       "the list begins with the first tool");
    ok(strstr(got, "{\"name\":\"code\"") != NULL, "the list has the last tool");
    ok(!strstr(got, "resultType") && strchr(got, '\n') == got + strlen(got) - 1,
       "a list after a handshake is one line, without what the next revision has");
    ok(strstr(say(p, HEAD "\"id\":1,\"method\":\"tools/list\",\"params\":{\"cursor\":\"x\"}}"),
              "-32602"),
       "a cursor that nobody gave is refused");
}

static void test_calls(struct peer *p)
{
    is_str(say(p, HEAD "\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"look\","
                       "\"arguments\":{\"run\":\"last\"}}}"),
           "", "a call has no answer at once");
    is_str(p->asked.text, "7: look --deep --json -- last", "a call is begun");
    say(p, HEAD "\"id\":\"a\",\"method\":\"tools/call\",\"params\":{\"name\":\"look\","
                "\"arguments\":{\"plain\":true}}}");
    is_str(p->asked.text, "\"a\" plain: look --deep --", "a call for text is begun");
    is_str(say(p, HEAD "\"id\":8,\"method\":\"tools/call\",\"params\":{\"name\":\"look\","
                       "\"arguments\":{\"runn\":1}}}"),
           HEAD "\"id\":8,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"look: unknown "
                "argument 'runn' (did you mean 'run'?)\"}],\"isError\":true}}\n",
           "an argument that is none is told to the model");
    is_str(p->asked.text, "", "what is refused is not begun");
    is_str(say(p, HEAD "\"id\":8,\"method\":\"tools/call\",\"params\":{\"name\":\"lok\"}}"),
           FAIL("8", "-32602", "no tool 'lok' (did you mean 'look'?)"),
           "a tool that is none is an error");
    is_str(say(p, HEAD "\"id\":8,\"method\":\"tools/call\",\"params\":{\"name\":\"submit\"}}"),
           FAIL("8", "-32602", "tool 'submit' changes something: brim mcp --act offers it"),
           "a tool that acts is not there without --act");
    is_str(say(p, HEAD "\"id\":8,\"method\":\"tools/call\"}"),
           FAIL("8", "-32602", "tools/call needs the name of a tool"),
           "a call without a name is an error");
    say(p, HEAD "\"method\":\"tools/call\",\"params\":{\"name\":\"look\"}}");
    is_str(p->asked.text, "", "a call without an id is not begun");
}

static void test_full(struct peer *p)
{
    static const char line[] = HEAD
        "\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"page\"}}";

    p->asked.begin = -EEXIST;
    is_str(say(p, line), FAIL("7", "-32600", "id 7 is that of a call that goes on"),
           "an id that is taken is refused");
    p->asked.begin = -EAGAIN;
    is_str(say(p, line),
           HEAD "\"id\":7,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"too many calls go "
                "on at once: wait for one of their answers\"}],\"isError\":true}}\n",
           "a call too many is told to the model");
    p->asked.begin = -ENOMEM;
    is_int(mcp_session_take(&p->session, line, strlen(line), &p->out), -ENOMEM,
           "a call without memory ends the session");
    p->asked.begin = 0;
}

static void test_cancel(struct peer *p)
{
    say(p, HEAD "\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":7}}");
    is_str(p->asked.text, "cancel 7", "a call is cancelled by its number");
    say(p, HEAD "\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":\"a\"}}");
    is_str(p->asked.text, "cancel \"a\"", "a call is cancelled by its string");
    say(p, HEAD "\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":{}}}");
    is_str(p->asked.text, "", "an id that is none cancels nothing");
    say(p, HEAD "\"method\":\"notifications/cancelled\"}");
    is_str(p->asked.text, "", "a cancellation of nothing is skipped");
}

static void test_batches(struct peer *p)
{
    static const char two[] = "[" HEAD "\"id\":1,\"method\":\"ping\"}," HEAD
                              "\"method\":\"notifications/initialized\"}," HEAD
                              "\"id\":2,\"method\":\"ping\"}]";

    say(p, HELLO("2025-06-18"));
    ok(strstr(say(p, two), "only revision 2025-03-26"), "2025-06-18 has no arrays of messages");
    say(p, HELLO("2025-03-26"));
    is_str(say(p, two), HEAD "\"id\":1,\"result\":{}}\n" HEAD "\"id\":2,\"result\":{}}\n",
           "2025-03-26 has arrays of messages");
    ok(strstr(say(p, "[]"), "-32600"), "an array of no messages is refused");
}

/* ---- without one ---- */

static void test_modern(struct peer *p)
{
    static const struct {
        const char *line, *want;
    } rows[] = {
        { HEAD "\"id\":1,\"method\":\"server/discover\"}",
          FAIL("1", "-32602",
               "_meta needs io.modelcontextprotocol/protocolVersion, such as \\\"2026-07-28\\\"") },
        { HEAD "\"id\":1,\"method\":\"tools/list\",\"params\":{\"_meta\":{"
               "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"}}}",
          FAIL("1", "-32602",
               "_meta needs io.modelcontextprotocol/clientCapabilities, an object") },
        { HEAD "\"id\":1,\"method\":\"tools/list\",\"params\":{\"_meta\":{"
               "\"io.modelcontextprotocol/protocolVersion\":7}}}",
          FAIL("1", "-32602",
               "_meta needs io.modelcontextprotocol/protocolVersion, such as \\\"2026-07-28\\\"") },
        { HEAD "\"id\":1,\"method\":\"tools/list\",\"params\":{" META_OF("1900-01-01") "}}",
          HEAD "\"id\":1,\"error\":{\"code\":-32022,\"message\":\"unsupported protocol version: "
               "'supported' has those that brim knows\",\"data\":{\"supported\":[\"2026-07-28\","
               "\"2025-11-25\",\"2025-06-18\",\"2025-03-26\",\"2024-11-05\"],\"requested\":"
               "\"1900-01-01\"}}}\n" },
        { HEAD "\"id\":1,\"method\":\"ping\",\"params\":{" MODERN "}}",
          FAIL("1", "-32601", "brim has no method 'ping'") },
        { HEAD "\"id\":1,\"method\":\"subscriptions/listen\",\"params\":{" MODERN "}}",
          FAIL("1", "-32601", "brim has no method 'subscriptions/listen'") },
    };
    const char *got;

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        is_str(say(p, rows[i].line), rows[i].want, "'%s' has its answer", rows[i].line);
    got = say(p, HEAD "\"id\":1,\"method\":\"server/discover\",\"params\":{" MODERN "}}");
    ok(strstr(got, HEAD "\"id\":1,\"result\":{\"supportedVersions\":[\"2026-07-28\",") == got,
       "discovery begins with the newest revision");
    ok(strstr(got, "\"ttlMs\":3600000,\"cacheScope\":\"private\",\"resultType\":\"complete\","
                   "\"_meta\":{\"io.modelcontextprotocol/serverInfo\":{\"name\":\"brim\","
                   "\"version\":\"" BRIM_VERSION "\"}}}}\n"),
       "discovery ends with who answers");
    got = say(p, HEAD "\"id\":1,\"method\":\"tools/list\",\"params\":{" MODERN "}}");
    ok(strstr(got, "\"tools\":[{") && strstr(got, "\"cacheScope\":\"private\""),
       "a list needs no handshake");
    say(p, HEAD "\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"page\"," MODERN "}}");
    is_str(p->asked.text, "1 modern: page --", "a call needs no handshake");
    ok(strstr(say(p, HEAD "\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"page\","
                          "\"arguments\":{\"x\":1}," MODERN "}}"),
              "\"isError\":true,\"resultType\":\"complete\""),
       "a call that is refused says what its answer is");
    ok(!p->session.version, "requests that say their revision settle none");
}

/* ---- memory ---- */

static void test_oom(struct peer *p)
{
    static const char *const lines[] = {
        HEAD "\"id\":\"a\",\"method\":\"tools/list\",\"params\":{" MODERN "}}",
        HEAD "\"id\":\"a\",\"method\":\"tools/call\",\"params\":{\"name\":\"look\","
             "\"arguments\":{\"run\":\"last\",\"batch\":8}," MODERN "}}",
        HEAD "\"id\":\"a\",\"method\":\"tools/list\",\"params\":{" META_OF("1900-01-01") "}}",
        HEAD "\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":7}}",
    };

    for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
        bool failed;

        oom_restart();
        do {
            CLEANUP(str_done) struct str out = STR_INIT(1 << 20);
            int rc;

            p->asked.text[0] = '\0';
            oom_next();
            rc = mcp_session_take(&p->session, lines[i], strlen(lines[i]), &out);
            failed = oom_end();
            ok(rc == 0 || (failed && rc == -ENOMEM), "message %zu is told with allocation %d", i,
               oom_at);
        } while (failed);
    }
}

int main(void)
{
    struct peer p;

    peer_open(&p);
    test_broken(&p);
    test_long_things(&p);
    test_modern(&p);
    test_handshake(&p);
    test_list(&p);
    test_calls(&p);
    test_full(&p);
    test_cancel(&p);
    test_batches(&p);
    test_oom(&p);
    peer_close(&p);
    return done();
}
