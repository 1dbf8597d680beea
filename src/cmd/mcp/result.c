#include "cmd/mcp/result.h"

#include <errno.h>
#include <string.h>

#include "base/json_read.h"
#include "cmd/mcp/message.h"

enum { SENTENCE_MAX = 32 << 10, COMPACT_MAX = 16 << 20 };

void mcp_result_compact(const char *json, size_t len, struct str *out)
{
    const char *end = json + len, *from = json;
    bool quoted = false;

    for (const char *at = json; at < end; at++) {
        if (quoted && *at == '\\' && at + 1 < end) {
            at++;
        } else if (*at == '"') {
            quoted = !quoted;
        } else if (!quoted && *at && strchr(" \t\r\n", *at)) {
            str_add_n(out, from, (size_t)(at - from));
            from = at + 1;
        }
    }
    str_add_n(out, from, (size_t)(end - from));
}

void mcp_result_modern(struct json *j)
{
    json_string(j, "resultType", "complete");
    json_object(j, "_meta");
    json_object(j, "io.modelcontextprotocol/serverInfo");
    json_string(j, "name", "brim");
    json_string(j, "version", BRIM_VERSION);
    json_end(j);
    json_end(j);
}

/* ---- parts of it ---- */

static void add_text(struct json *j, const char *text)
{
    json_object(j, NULL);
    json_string(j, "type", "text");
    json_string(j, "text", text);
    json_end(j);
}

/* An HTML page, for the user and not for the model. */
static void add_page(struct json *j, const char *page)
{
    json_object(j, NULL);
    json_string(j, "type", "resource");
    json_object(j, "resource");
    json_string(j, "uri", "brim://report/page.html");
    json_string(j, "mimeType", "text/html");
    json_string(j, "text", page);
    json_end(j);
    json_object(j, "annotations");
    json_array(j, "audience");
    json_string(j, NULL, "user");
    json_end(j);
    json_end(j);
    json_end(j);
}

static void begin(struct json *j, const char *id, struct str *out)
{
    *j = (struct json){ .out = out, .compact = true };
    mcp_message_begin(out, id);
    json_object(j, NULL);
    json_array(j, "content");
}

/* structured: JSON on one line, or NULL. */
static void end(struct json *j, bool modern, const char *structured, bool is_error)
{
    json_end(j);
    if (structured)
        str_addf(j->out, ",\"structuredContent\":%s", structured);
    json_bool(j, "isError", is_error);
    if (modern)
        mcp_result_modern(j);
    json_end(j);
    mcp_message_end(j->out);
}

void mcp_result_refused(const char *id, bool modern, const char *sentence, struct str *out)
{
    struct json j;

    begin(&j, id, out);
    add_text(&j, sentence);
    end(&j, modern, NULL, true);
}

/* ---- what went wrong ---- */

/* What stderr says, without the newline; how it ended where that says nothing. */
static void add_reason(const struct mcp_call *c, const struct mcp_outcome *o, struct str *out)
{
    size_t len = o->err->len;

    while (len && strchr("\r\n", str_text(o->err)[len - 1]))
        len--;
    str_add_n(out, str_text(o->err), len);
    if (len)
        return;
    str_add(out, "brim ");
    mcp_tool_words(c->tool, out);
    if (o->status < 0)
        str_addf(out, " was ended by signal %d", -o->status);
    else if (o->status == 0)
        str_add(out, " printed no JSON");
    else
        str_addf(out, " ended with status %d and said nothing", o->status);
}

static void add_limit(const struct mcp_call *c, const struct mcp_outcome *o, struct str *out)
{
    str_add(out, "brim ");
    mcp_tool_words(c->tool, out);
    if (o->end == MCP_TOO_LONG)
        str_addf(out,
                 " took longer than %s and was ended: ask for less, or start the server with a "
                 "longer --timeout",
                 o->limit);
    else
        str_addf(out,
                 " printed more than %s and was ended: ask for less (fewer files, no list of "
                 "everything), or run it in a shell",
                 o->limit);
}

static int refuse(const struct mcp_call *c, const struct mcp_outcome *o, struct str *out)
{
    CLEANUP(str_done) struct str sentence = STR_INIT(SENTENCE_MAX);

    if (o->end == MCP_ENDED)
        add_reason(c, o, &sentence);
    else
        add_limit(c, o, &sentence);
    mcp_result_refused(c->id, c->modern, str_text(&sentence), out);
    return str_error(&sentence);
}

/* ---- what was printed ---- */

/* Whether it is an object of JSON; -ENOMEM. */
static int is_object(const struct str *text)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    const struct json_value *root = NULL;
    int rc = text->len ? json_read(&root, &a, "stdout", str_text(text), text->len, NULL) : -EINVAL;

    return rc == 0 ? root->kind == JSON_OBJECT : rc == -ENOMEM ? rc : 0;
}

static void add_stderr(struct json *j, const struct mcp_outcome *o)
{
    if (o->err->len)
        add_text(j, str_text(o->err));
}

static int give_json(const struct mcp_call *c, const struct mcp_outcome *o, struct str *out)
{
    CLEANUP(str_done) struct str line = STR_INIT(COMPACT_MAX);
    struct json j;

    mcp_result_compact(str_text(o->out), o->out->len, &line);
    begin(&j, c->id, out);
    add_text(&j, str_text(&line));
    add_stderr(&j, o);
    end(&j, c->modern, str_text(&line), false);
    return str_error(&line);
}

static int give_text(const struct mcp_call *c, const struct mcp_outcome *o, struct str *out)
{
    bool failed = o->status != 0 && c->tool->offer->acts;
    struct json j;

    begin(&j, c->id, out);
    if (c->tool->offer->gives == MCP_PAGE)
        add_page(&j, str_text(o->out));
    else if (o->out->len || !o->err->len)
        add_text(&j, o->out->len ? str_text(o->out) : "done");
    add_stderr(&j, o);
    end(&j, c->modern, NULL, failed);
    return 0;
}

int mcp_result(const struct mcp_call *c, const struct mcp_outcome *o, struct str *out)
{
    bool ended = o->end == MCP_ENDED && o->status >= 0;
    int rc = 1;

    if (ended && c->tool->offer->gives == MCP_JSON && !c->plain)
        rc = is_object(o->out);
    if (rc < 0)
        return rc;
    if (!ended || rc == 0 || (o->status != 0 && !o->out->len))
        rc = refuse(c, o, out);
    else if (c->tool->offer->gives == MCP_JSON && !c->plain)
        rc = give_json(c, o, out);
    else
        rc = give_text(c, o, out);
    return rc < 0 ? rc : str_error(out);
}
