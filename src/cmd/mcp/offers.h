/* Which commands brim mcp offers as tools, a row each. What a tool takes, and how that is
 * described, comes from the command's own table of options. */
#ifndef BRIM_CMD_MCP_OFFERS_H
#define BRIM_CMD_MCP_OFFERS_H
#include <stdbool.h>
#include <stddef.h>

/* What a command prints. */
enum mcp_gives {
    MCP_JSON, /* with --json */
    MCP_TEXT,
    MCP_PAGE, /* HTML */
};

enum { MCP_WITHOUT = 4 };

struct mcp_offer {
    const char *name;    /* of the tool */
    const char *command; /* brim COMMAND ... */
    const char *sub;     /* ... SUBCOMMAND; NULL: it has none */
    enum mcp_gives gives;
    bool acts;                        /* it changes something: with --act alone */
    bool destroys;                    /* what it does cannot be taken back */
    const char *always;               /* an option that is always given; NULL: none */
    const char *without[MCP_WITHOUT]; /* options that are not offered, beside those whose rows say
                                       * that a file is written */
};

/* NULL behind the last. */
const struct mcp_offer *mcp_offer_at(size_t i);

#endif
