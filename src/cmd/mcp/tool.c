#include "cmd/mcp/tool.h"

#include <errno.h>
#include <string.h>

static bool is_left_out(const struct mcp_offer *offer, const char *name)
{
    if (!strcmp(name, "help") || (offer->always && !strcmp(name, offer->always)))
        return true;
    for (size_t i = 0; i < MCP_WITHOUT && offer->without[i]; i++)
        if (!strcmp(name, offer->without[i]))
            return true;
    return false;
}

static bool is_offered(const struct mcp_offer *offer, const struct opt *o)
{
    return o->kind != OPT_OUTPUT && o->file == OPT_NO_FILE && !is_left_out(offer, o->name);
}

int mcp_tools_add(struct mcp_tools *to, struct arena *a, const struct mcp_tool *tool,
                  const struct opt *all)
{
    struct mcp_tool *t;
    struct opt *opts;
    size_t n = 0;

    while (all[n].kind != OPT_END)
        n++;
    opts = arena_alloc(a, (n + 1) * sizeof(*opts));
    t = opts ? ARENA_PUSH(a, &to->list, &to->n) : NULL;
    if (!t)
        return -ENOMEM;
    *t = *tool;
    t->opts = opts;
    for (; all->kind != OPT_END; all++)
        if (is_offered(t->offer, all))
            *opts++ = *all;
    *opts = (struct opt){ .kind = OPT_END };
    mcp_operands_read(mcp_tool_args(t), &t->operands);
    return 0;
}

const struct mcp_tool *mcp_tools_find(const struct mcp_tools *t, const char *name)
{
    for (size_t i = 0; i < t->n; i++)
        if (!strcmp(t->list[i].offer->name, name))
            return &t->list[i];
    return NULL;
}

void mcp_tool_words(const struct mcp_tool *t, struct str *out)
{
    str_add(out, t->cmd->name);
    if (t->sub)
        str_addf(out, " %s", t->sub->name);
}

const char *mcp_tool_args(const struct mcp_tool *t)
{
    return t->sub ? t->sub->args : t->cmd->args;
}
