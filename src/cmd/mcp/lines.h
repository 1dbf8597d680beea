/* Lines out of bytes as they come. */
#ifndef BRIM_CMD_MCP_LINES_H
#define BRIM_CMD_MCP_LINES_H
#include <stdbool.h>

#include "base/str.h"

enum mcp_line_kind {
    MCP_LINE_NONE, /* no line is whole yet */
    MCP_LINE_WHOLE,
    MCP_LINE_TOO_LONG, /* one was longer than the ceiling of 'text': it is skipped */
};

struct mcp_lines {
    struct str text; /* what has come and was not taken; its ceiling is that of a line, with as much
                      * again as comes at once */
    size_t most;     /* the longest line, without its newline */
    size_t taken;    /* bytes in front that were */
    size_t looked;   /* those in which there is no newline */
    bool skipping;   /* until the next newline */
};

void mcp_lines_init(struct mcp_lines *l, size_t most);
void mcp_lines_done(struct mcp_lines *l);

/* Bytes that have come, at most MCP_LINES_PIECE. Lines that are whole are taken before more is
 * added. 0 or -ENOMEM. */
enum { MCP_LINES_PIECE = 64 << 10 };
int mcp_lines_add(struct mcp_lines *l, const char *bytes, size_t n) CHECK_RESULT;

/* The next line, which is valid until bytes are added. at_end: no more will come, and what is left
 * is a line. */
enum mcp_line_kind mcp_lines_next(struct mcp_lines *l, bool at_end, const char **line, size_t *len);

#endif
