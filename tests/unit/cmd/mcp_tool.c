/* A command as a tool: what it takes, how it is described, and the command line of a call. */
#include <errno.h>
#include <string.h>

#include "cmd/mcp/arguments.h"
#include "cmd/mcp/schema.h"
#include "made_tools.h"
#include "oom_arena.h"
#include "tap.h"

/* ---- operands ---- */

/* "run? model model* job+": a word for each operand; ?: may be left out, *: may be repeated. */
static const char *operands(const char *args)
{
    static char text[256];
    struct mcp_operands got;
    size_t len = 0;

    mcp_operands_read(args, &got);
    text[0] = '\0';
    for (size_t i = 0; i < got.n; i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s%s%s", i ? " " : "",
                                got.list[i].name, got.list[i].needed ? "" : "?",
                                got.list[i].many ? "*" : "");
    return text;
}

static void test_operands(void)
{
    static const struct {
        const char *args, *want;
    } rows[] = {
        { "", "" },
        { "[RUN]", "run?" },
        { "MODEL...", "model*" },
        { "[FILE|-]...", "file?*" },
        { "TRACE|-", "trace" },
        { "A B", "a b" },
        { "N JOB...", "n job*" },
        { "[CODE [WORD [STATUS]]]", "code? word? status?" },
        { "COMMAND [ARGUMENT...]", "command argument?*" },
        { "TARGET MODEL --cluster=SPEC --batch=N", "target model" },
        { "A B C D E", "a b c d" },
        { "...", "*" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        is_str(operands(rows[i].args), rows[i].want, "operands of '%s' are read", rows[i].args);
}

/* ---- what is offered ---- */

static const char *offered(const struct mcp_tool *t)
{
    static char text[256];
    size_t len = 0;

    text[0] = '\0';
    for (const struct opt *o = t->opts; o->kind != OPT_END; o++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s", len ? " " : "", o->name);
    return text;
}

static void test_offered(const struct mcp_tools *tools)
{
    is_int((long long)tools->n, 6, "each row makes a tool");
    is_str(offered(mcp_tools_find(tools, "look")), "from batch nice pid for kind pin",
           "what writes a file, is always given or left out by the row is not offered");
    is_str(offered(mcp_tools_find(tools, "plan_train")),
           "deep from record batch nice pid for kind pin",
           "a row without words leaves out what writes a file alone");
    ok(!mcp_tools_find(tools, "lo"), "part of a name finds no tool");
}

/* ---- command lines ---- */

/* The words of the line, or the sentence that refuses it. */
static const char *line_of(const struct mcp_tools *tools, const char *tool, const char *arguments)
{
    static char text[1024];
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    const struct json_value *v = NULL;
    struct mcp_line line = { .n = 0 };
    struct err e = { "" };
    size_t len = 0;
    int rc = json_read(&v, &a, "arguments", arguments, strlen(arguments), &e);

    if (rc == 0)
        rc = mcp_line_make(&line, &a, mcp_tools_find(tools, tool), v, &e);
    if (rc < 0) {
        snprintf(text, sizeof(text), "%s%s", rc == ERR_USAGE ? "" : "failed: ", e.text);
        return text;
    }
    for (size_t i = 0; i < line.n; i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s", i ? " " : "", line.argv[i]);
    ok(!line.argv[line.n], "the line of %s with %s ends with NULL", tool, arguments);
    return text;
}

static void test_lines(const struct mcp_tools *tools)
{
    static const struct {
        const char *tool, *arguments, *want;
    } rows[] = {
        { "look", "{}", "brim look --deep --json --" },
        { "look", "null", "brim look --deep --json --" },
        { "look", "{\"run\":\"last\"}", "brim look --deep --json -- last" },
        { "look", "{\"run\":null,\"from\":null}", "brim look --deep --json --" },
        { "look", "{\"run\":\"last\",\"plain\":true}", "brim look --deep -- last" },
        { "look", "{\"plain\":false}", "brim look --deep --json --" },
        { "look", "{\"batch\":8,\"from\":\"a b\"}",
          "brim look --deep --batch=8 --from=a b --json --" },
        { "look", "{\"batch\":\"8\",\"nice\":-2}",
          "brim look --deep --batch=8 --nice=-2 --json --" },
        { "look", "{\"from\":2.5}", "brim look --deep --from=2.5 --json --" },
        { "look", "{\"from\":\"--help\"}", "brim look --deep --from=--help --json --" },
        { "look", "{\"pin\":[\"tp=8\",\"pp=4\"]}",
          "brim look --deep --pin=tp=8 --pin=pp=4 --json --" },
        { "look", "{\"pin\":\"tp=8\"}", "brim look --deep --pin=tp=8 --json --" },
        { "plan_train", "{\"model\":\"A\",\"deep\":true}", "brim plan train --deep --json -- A" },
        { "plan_train", "{\"model\":\"A\",\"deep\":false}", "brim plan train --json -- A" },
        { "put", "{\"command\":\"python\",\"argument\":[\"-c\",\"\",\"--json\"]}",
          "brim put --json -- python -c  --json" },
        { "page", "{}", "brim page --" },
        { "weigh", "{\"n\":-5,\"job\":[12,\"13_2\"]}", "brim weigh -- -5 12 13_2" },
        { "weigh", "{\"n\":\"-5\",\"job\":12}", "brim weigh -- -5 12" },
        { "code", "{\"code\":79}", "brim code --json -- 79" },
        { "code", "{\"word\":2,\"code\":\"145\"}", "brim code --json -- 145 2" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        is_str(line_of(tools, rows[i].tool, rows[i].arguments), rows[i].want,
               "%s with %s becomes a line", rows[i].tool, rows[i].arguments);
}

static void test_refused(const struct mcp_tools *tools)
{
    static const struct {
        const char *tool, *arguments, *want;
    } rows[] = {
        { "look", "[]", "the arguments of look must be an object, not an array" },
        { "look", "\"last\"", "the arguments of look must be an object, not a string" },
        { "look", "{\"runn\":1}", "look: unknown argument 'runn' (did you mean 'run'?)" },
        { "look", "{\"svg\":\"x\"}",
          "look: unknown argument 'svg' (there are run, from, batch, nice, pid, for, kind, pin, "
          "plain)" },
        { "look", "{\"json\":\"x\"}",
          "look: unknown argument 'json' (there are run, from, batch, nice, pid, for, kind, pin, "
          "plain)" },
        { "look", "{\"run\":\"-x\"}", "argument 'run' of look may not begin with a dash: '-x'" },
        { "look", "{\"run\":\"-\"}", "argument 'run' of look may not begin with a dash: '-'" },
        { "look", "{\"run\":\"--json=x\"}",
          "argument 'run' of look may not begin with a dash: '--json=x'" },
        { "look", "{\"run\":\"\"}", "argument 'run' of look is empty" },
        { "look", "{\"run\":[\"a\"]}",
          "argument 'run' of look must be a string or a number, not an array" },
        { "look", "{\"run\":\"a\\u0000b\"}", "argument 'run' of look has a NUL in it" },
        { "look", "{\"from\":{}}",
          "argument 'from' of look must be a string or a number, not an object" },
        { "look", "{\"plain\":1}", "argument 'plain' of look must be true or false, not a number" },
        { "look", "{\"pin\":[null]}",
          "argument 'pin' of look must be a string or a number, not null" },
        { "plan_train", "{\"model\":\"A\",\"deep\":\"yes\"}",
          "argument 'deep' of plan_train must be true or false, not a string" },
        { "plan_train", "{}", "plan_train needs the argument 'model'" },
        { "weigh", "{\"n\":1,\"job\":[]}", "weigh needs the argument 'job'" },
        { "weigh", "{\"n\":1,\"job\":[true]}",
          "argument 'job' of weigh must be a string or a number, not true or false" },
        { "put", "{\"command\":\"-c\"}",
          "argument 'command' of put may not begin with a dash: '-c'" },
        { "page", "{\"plain\":true}", "page takes no arguments, not 'plain'" },
        { "code", "{\"code\":1,\"status\":3}", "argument 'status' of code needs 'word' before it" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        is_str(line_of(tools, rows[i].tool, rows[i].arguments), rows[i].want,
               "%s with %s is refused", rows[i].tool, rows[i].arguments);
}

static void test_long_values(const struct mcp_tools *tools)
{
    CLEANUP(str_done) struct str text = STR_INIT(1 << 20);

    str_add(&text, "{\"from\":\"");
    str_fill(&text, 'x', (64 << 10) + 1);
    str_add(&text, "\"}");
    is_str(line_of(tools, "look", str_text(&text)), "argument 'from' of look is longer than 64 KiB",
           "a value of more than 64 KiB is refused");
}

/* ---- schemas ---- */

static const char look_schema[] =
    "{\"name\":\"look\",\"description\":\"say what limits a run\\nJudge a run.\\nusage: brim look "
    "[OPTIONS] [RUN]\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"run\":{\"type\":"
    "\"string\",\"description\":\"a run: its id, the start of one, its name, a folder, or 'last'\"}"
    ",\"from\":{\"type\":\"string\",\"description\":\"DIR: read a recording\"},\"batch\":{\"type\":"
    "\"integer\",\"minimum\":1,\"maximum\":64,\"description\":\"N: sequences of a step; 1 to 64 of "
    "them\"},\"nice\":{\"type\":\"integer\",\"minimum\":-5,\"maximum\":5,\"description\":\"N: how "
    "to go first; -5 to 5\"},\"pid\":{\"type\":\"integer\",\"minimum\":1,\"description\":\"PID: of "
    "a process; 1 to 4611686018427387903\"},\"for\":{\"type\":\"string\",\"description\":\"TIME: "
    "how long (20s); at least 1s\"},\"kind\":{\"type\":\"string\",\"enum\":[\"small\",\"large\"],"
    "\"description\":\"which of them (small, large)\"},\"pin\":{\"type\":\"array\",\"items\":{"
    "\"type\":\"string\"},\"maxItems\":32,\"description\":\"X=N,...: what is settled\"},\"plain\":"
    "{\"type\":\"boolean\",\"description\":\"what a terminal shows, in place of JSON: shorter\"}},"
    "\"required\":[],\"additionalProperties\":false},\"annotations\":{\"readOnlyHint\":true,"
    "\"openWorldHint\":false}}";
static const char weigh_schema[] =
    "{\"name\":\"weigh\",\"description\":\"let jobs go first\\nusage: brim weigh [OPTIONS] N "
    "JOB...\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"string\","
    "\"description\":\"N in: brim weigh N JOB...\"},\"job\":{\"type\":\"array\",\"items\":{"
    "\"type\":\"string\"},\"minItems\":1,\"description\":\"JOB in: brim weigh N JOB...\"}},"
    "\"required\":[\"n\",\"job\"],\"additionalProperties\":false},\"annotations\":{"
    "\"readOnlyHint\":false,\"destructiveHint\":false,\"openWorldHint\":false}}";

static const char *schema_of(const struct mcp_tools *tools, const char *name, struct str *out)
{
    struct json j = { .out = out, .compact = true };

    str_reset(out);
    mcp_schema_tool(mcp_tools_find(tools, name), &j);
    return str_text(out);
}

static void test_schemas(const struct mcp_tools *tools)
{
    CLEANUP(str_done) struct str out = STR_INIT(1 << 20);

    is_str(schema_of(tools, "look", &out), look_schema, "a tool that reads is described whole");
    is_str(schema_of(tools, "weigh", &out), weigh_schema, "a tool that acts is described whole");
    ok(strstr(schema_of(tools, "put", &out), "\"destructiveHint\":true"),
       "a tool that destroys says so");
    ok(strstr(schema_of(tools, "plan_train", &out),
              "search a layout\\nusage: brim plan train [OPTIONS] MODEL --batch=N\\nexample: brim "
              "plan train A --batch=8\\nexample: brim plan train B --batch=8\""),
       "a subcommand is described with its examples");
    ok(strstr(schema_of(tools, "page", &out), "The page is for people"),
       "a page says whom it is for");
}

/* ---- memory ---- */

static void test_oom(const struct mcp_tools *tools)
{
    static const char text[] = "{\"run\":\"last\",\"batch\":8,\"pin\":[\"a\",\"b\"],\"from\":2.5}";
    CLEANUP(arena_done) struct arena kept = ARENA_INIT;
    const struct json_value *v = NULL;
    bool failed;

    ok(json_read(&v, &kept, "t", text, strlen(text), NULL) == 0, "arguments of this test are read");
    do {
        CLEANUP(arena_done) struct arena a = ARENA_INIT;
        struct mcp_tools made = { .list = NULL };
        struct mcp_line line;
        int rc;

        oom_next();
        rc = made_tools(&made, &a);
        if (rc == 0)
            rc = mcp_line_make(&line, &a, &tools->list[0], v, NULL);
        failed = oom_end();
        ok(failed ? rc == -ENOMEM : rc == 0, "a line is refused whole with allocation %d", oom_at);
    } while (failed);
}

int main(void)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    struct mcp_tools tools = { .list = NULL };

    ok(made_tools(&tools, &a) == 0, "tools of this test are made");
    test_operands();
    test_offered(&tools);
    test_lines(&tools);
    test_refused(&tools);
    test_long_values(&tools);
    test_schemas(&tools);
    test_oom(&tools);
    return done();
}
