#include "cmd/mcp/schema.h"

enum { TEXT_MAX = 16 << 10 };

/* ---- what it takes ---- */

static const char *of_words(enum cmd_words words)
{
    static const char *const texts[] = {
        [CMD_NO_WORDS] = NULL,
        [CMD_RUNS] = "a run: its id, the start of one, its name, a folder, or 'last'",
        [CMD_PROFILES] = "a profile: its name, or a path",
        [CMD_POLICIES] = "a policy",
        [CMD_MODELS] = "a model: a name of plan_models, or the path of a config.json",
        [CMD_GPUS] = "a GPU: a name of plan_gpus",
    };

    return texts[words];
}

/* Of the last operands, where there are several: "TARGET MODEL". */
static const char *of_operand(const struct mcp_tool *t, size_t i)
{
    const enum cmd_words words = t->sub ? t->sub->words : t->cmd->words;

    return i + 1 == t->operands.n || words == CMD_RUNS ? of_words(words) : NULL;
}

static void add_capitals(const char *word, struct str *out)
{
    for (; *word; word++)
        str_add_char(out, (char)(*word >= 'a' && *word <= 'z' ? *word - 'a' + 'A' : *word));
}

static void add_operand(const struct mcp_tool *t, size_t i, struct json *j)
{
    CLEANUP(str_done) struct str text = STR_INIT(TEXT_MAX);
    const struct mcp_operand *o = &t->operands.list[i];

    if (of_operand(t, i)) {
        str_add(&text, of_operand(t, i));
    } else {
        add_capitals(o->name, &text);
        str_add(&text, " in: brim ");
        mcp_tool_words(t, &text);
        str_addf(&text, " %s", mcp_tool_args(t));
    }
    json_object(j, o->name);
    json_string(j, "type", o->many ? "array" : "string");
    if (o->many) {
        json_object(j, "items");
        json_string(j, "type", "string");
        json_end(j);
        if (o->needed)
            json_int(j, "minItems", 1);
    }
    json_string(j, "description", str_text(&text));
    str_fail(j->out, str_error(&text));
    json_end(j);
}

static void add_limits(const struct opt *o, struct json *j)
{
    if (o->kind == OPT_UINT || o->least != 0 || o->most != 0)
        json_int(j, "minimum", o->least);
    if (o->most != 0 && o->most <= MCP_WHOLE_MOST)
        json_int(j, "maximum", o->most);
}

static void add_type(const struct opt *o, struct json *j)
{
    switch (o->kind) {
    case OPT_FLAG:
        json_string(j, "type", "boolean");
        break;
    case OPT_UINT:
    case OPT_INT:
        json_string(j, "type", "integer");
        add_limits(o, j);
        break;
    case OPT_LIST:
        json_string(j, "type", "array");
        json_object(j, "items");
        json_string(j, "type", "string");
        json_end(j);
        json_int(j, "maxItems", OPT_LIST_MAX);
        break;
    case OPT_CHOICE:
        json_string(j, "type", "string");
        json_array(j, "enum");
        for (size_t i = 0; o->choices[i]; i++)
            json_string(j, NULL, o->choices[i]);
        json_end(j);
        break;
    default: /* texts and durations */
        json_string(j, "type", "string");
        break;
    }
}

static void add_option(const struct opt *o, struct json *j)
{
    CLEANUP(str_done) struct str text = STR_INIT(TEXT_MAX);

    if (o->arg && o->kind != OPT_CHOICE)
        str_addf(&text, "%s: ", o->arg);
    opt_describe(o, &text);
    json_object(j, o->name);
    add_type(o, j);
    json_string(j, "description", str_text(&text));
    str_fail(j->out, str_error(&text));
    json_end(j);
}

static void add_plain(struct json *j)
{
    json_object(j, MCP_PLAIN);
    json_string(j, "type", "boolean");
    json_string(j, "description", "what a terminal shows, in place of JSON: shorter");
    json_end(j);
}

static void add_input(const struct mcp_tool *t, struct json *j)
{
    json_object(j, "inputSchema");
    json_string(j, "type", "object");
    json_object(j, "properties");
    for (size_t i = 0; i < t->operands.n; i++)
        add_operand(t, i, j);
    for (const struct opt *o = t->opts; o->kind != OPT_END; o++)
        add_option(o, j);
    if (t->offer->gives == MCP_JSON)
        add_plain(j);
    json_end(j);
    json_array(j, "required");
    for (size_t i = 0; i < t->operands.n; i++)
        if (t->operands.list[i].needed)
            json_string(j, NULL, t->operands.list[i].name);
    json_end(j);
    json_bool(j, "additionalProperties", false);
    json_end(j);
}

/* ---- what it is for ---- */

static void add_text(const struct mcp_tool *t, struct str *out)
{
    str_add(out, t->sub ? t->sub->summary : t->cmd->summary);
    if (!t->sub && t->cmd->about)
        str_addf(out, "\n%s", t->cmd->about);
    str_add(out, "\nusage: brim ");
    mcp_tool_words(t, out);
    str_addf(out, " [OPTIONS]%s%s", *mcp_tool_args(t) ? " " : "", mcp_tool_args(t));
    for (size_t i = 0; t->sub && i < ARRAY_SIZE(t->sub->examples); i++)
        str_addf(out, "\nexample: brim %s", t->sub->examples[i]);
    if (t->offer->gives == MCP_PAGE)
        str_add(out, "\nThe page is for people: 'why' has what it says as JSON.");
}

void mcp_schema_tool(const struct mcp_tool *t, struct json *j)
{
    CLEANUP(str_done) struct str text = STR_INIT(TEXT_MAX);

    add_text(t, &text);
    json_object(j, NULL);
    json_string(j, "name", t->offer->name);
    json_string(j, "description", str_text(&text));
    add_input(t, j);
    json_object(j, "annotations");
    json_bool(j, "readOnlyHint", !t->offer->acts);
    if (t->offer->acts)
        json_bool(j, "destructiveHint", t->offer->destroys);
    json_bool(j, "openWorldHint", false);
    json_end(j);
    json_end(j);
    str_fail(j->out, str_error(&text));
}
