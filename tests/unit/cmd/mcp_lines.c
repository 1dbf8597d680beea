/* Lines out of bytes that come in pieces of any size. */
#include "cmd/mcp/lines.h"

#include <string.h>

#include "tap.h"

enum { MOST = 8 };

/* What the lines of a text are, "|abc|too long|", when it comes in pieces of n bytes. */
static const char *cut(const char *text, size_t n)
{
    static char got[512];
    struct mcp_lines l;
    size_t len = strlen(text), at = 0, out = 0;
    const char *line;
    size_t line_len;

    mcp_lines_init(&l, MOST);
    got[0] = '|';
    got[1] = '\0';
    out = 1;
    for (;;) {
        bool at_end = at == len;
        enum mcp_line_kind kind = mcp_lines_next(&l, at_end, &line, &line_len);

        if (kind == MCP_LINE_TOO_LONG)
            out += (size_t)snprintf(got + out, sizeof(got) - out, "too long|");
        else if (kind == MCP_LINE_WHOLE)
            out += (size_t)snprintf(got + out, sizeof(got) - out, "%.*s|", (int)line_len, line);
        else if (at_end)
            break;
        else {
            size_t piece = MIN(n, len - at);

            if (mcp_lines_add(&l, text + at, piece) < 0)
                break;
            at += piece;
        }
    }
    mcp_lines_done(&l);
    return got;
}

int main(void)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        { "", "|" },
        { "a", "|a|" },
        { "a\n", "|a|" },
        { "\n\n", "|||" },
        { "a\nbc\n", "|a|bc|" },
        { "12345678\n", "|12345678|" },
        { "123456789\n", "|too long|" },
        { "123456789", "|too long|" },
        { "12345678901234567890\nab\n", "|too long|ab|" },
        { "ab\n123456789\n123456789\n\ncd", "|ab|too long|too long||cd|" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        for (size_t n = 1; n <= 16; n++)
            is_str(cut(rows[i].text, n), rows[i].want, "row %zu in pieces of %zu is cut", i, n);
    return done();
}
