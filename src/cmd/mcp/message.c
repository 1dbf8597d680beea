#include "cmd/mcp/message.h"

#include <errno.h>
#include <string.h>

#include "base/json.h"

enum { ID_MAX = 256 };

const char *mcp_message_id(struct arena *a, const struct json_value *v)
{
    CLEANUP(str_done) struct str text = STR_INIT((size_t)8 * ID_MAX);
    struct json j = { .out = &text, .compact = true };

    if (v->kind == JSON_NUMBER && v->is_whole)
        json_int(&j, NULL, v->whole);
    else if (v->kind == JSON_STRING && v->len <= ID_MAX && strlen(v->text) == v->len)
        json_string(&j, NULL, v->text);
    else
        return NULL;
    return str_error(&text) ? NULL : arena_strdup(a, str_text(&text));
}

int mcp_message_read(struct mcp_message *ret, struct arena *a, const struct json_value *v,
                     struct err *e)
{
    const struct json_value *version = json_get(v, "jsonrpc"), *id = json_get(v, "id");
    const struct json_value *method = json_get(v, "method"), *params = json_get(v, "params");

    *ret = (struct mcp_message){ .id = NULL };
    if (v->kind != JSON_OBJECT)
        return err_set(e, MCP_NO_MESSAGE, "a message is an object");
    if (id)
        ret->id = mcp_message_id(a, id);
    if (!version || version->kind != JSON_STRING || strcmp(version->text, "2.0") != 0)
        return err_set(e, MCP_NO_MESSAGE, "a message has \"jsonrpc\": \"2.0\"");
    if (!method && id && (json_get(v, "result") || json_get(v, "error")))
        return 0;
    if (!method || method->kind != JSON_STRING || strlen(method->text) != method->len)
        return err_set(e, MCP_NO_MESSAGE, "a message has a method, which is a string");
    if (id && !ret->id)
        return err_set(e, MCP_NO_MESSAGE,
                       "an id is a whole number, or a string of at most %d bytes", ID_MAX);
    if (params && params->kind != JSON_OBJECT)
        return err_set(e, MCP_BAD_PARAMS, "the params of %.100s are an object", method->text);
    ret->method = method->text;
    ret->params = params;
    return 0;
}

void mcp_message_error(struct str *out, const char *id, int code, const char *sentence,
                       const char *data)
{
    struct json j = { .out = out, .compact = true };

    str_addf(out, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":", id ? id : "null");
    json_object(&j, NULL);
    json_int(&j, "code", code);
    json_string(&j, "message", sentence);
    if (data)
        str_addf(out, ",\"data\":%s", data);
    json_end(&j);
    mcp_message_end(out);
}

void mcp_message_begin(struct str *out, const char *id)
{
    str_addf(out, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":", id);
}

void mcp_message_end(struct str *out)
{
    str_add(out, "}\n");
}
