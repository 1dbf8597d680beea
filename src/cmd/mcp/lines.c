#include "cmd/mcp/lines.h"

#include <string.h>

void mcp_lines_init(struct mcp_lines *l, size_t most)
{
    *l = (struct mcp_lines){ .text = STR_INIT(most + MCP_LINES_PIECE), .most = most };
}

void mcp_lines_done(struct mcp_lines *l)
{
    str_done(&l->text);
}

/* Bytes in front that nobody wants any more. */
static void drop(struct mcp_lines *l, size_t n)
{
    if (!n)
        return;
    memmove(l->text.data, l->text.data + n, l->text.len - n);
    l->text.len -= n;
    l->text.data[l->text.len] = '\0';
    l->taken = l->looked = 0;
}

int mcp_lines_add(struct mcp_lines *l, const char *bytes, size_t n)
{
    drop(l, l->taken);
    str_add_n(&l->text, bytes, n);
    return str_error(&l->text);
}

enum mcp_line_kind mcp_lines_next(struct mcp_lines *l, bool at_end, const char **line, size_t *len)
{
    const char *from = str_text(&l->text) + l->taken;
    size_t left = l->text.len - l->taken;
    const char *newline = left > l->looked ? memchr(from + l->looked, '\n', left - l->looked)
                                           : NULL;
    size_t n = newline ? (size_t)(newline - from) : left;
    bool whole = newline || (at_end && left);

    if (l->skipping || n > l->most) {
        bool told = l->skipping;

        l->taken += n + (newline != NULL);
        l->looked = 0;
        l->skipping = !newline;
        if (!told)
            return MCP_LINE_TOO_LONG;
        return newline ? mcp_lines_next(l, at_end, line, len) : MCP_LINE_NONE;
    }
    if (!whole) {
        l->looked = left;
        return MCP_LINE_NONE;
    }
    *line = from;
    *len = n;
    l->taken += n + (newline != NULL);
    l->looked = 0;
    return MCP_LINE_WHOLE;
}
