#include "cmd/mcp/operands.h"

#include <string.h>

static const char dots[] = "...";

static char lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static void add(struct mcp_operands *to, const char *word, size_t len, bool needed)
{
    struct mcp_operand *o;
    size_t n = 0;

    if (to->n == MCP_OPERANDS)
        return;
    o = &to->list[to->n++];
    *o = (struct mcp_operand){ .needed = needed };
    for (; n < len && n + 1 < sizeof(o->name) && word[n] != '|' && word[n] != '.'; n++)
        o->name[n] = lower(word[n]);
    o->many = len >= strlen(dots) && !memcmp(word + len - strlen(dots), dots, strlen(dots));
}

void mcp_operands_read(const char *args, struct mcp_operands *ret)
{
    int depth = 0;

    ret->n = 0;
    while (*args) {
        size_t len = strcspn(args, " []");

        if (len == strlen(dots) && !memcmp(args, dots, len) && ret->n)
            ret->list[ret->n - 1].many = true;
        else if (len && args[0] != '-')
            add(ret, args, len, depth == 0);
        args += len;
        depth += (*args == '[') - (*args == ']');
        args += *args != '\0';
    }
}
