/* What a command takes behind its options, read from the line that its help prints: "[CODE [WORD
 * [STATUS]]]", "N JOB...", "TRACE|-". */
#ifndef BRIM_CMD_MCP_OPERANDS_H
#define BRIM_CMD_MCP_OPERANDS_H
#include <stdbool.h>
#include <stddef.h>

enum { MCP_OPERANDS = 4, MCP_OPERAND_NAME = 24 };

struct mcp_operand {
    char name[MCP_OPERAND_NAME]; /* "trace": the first of its words, in small letters */
    bool needed;                 /* it stands outside of brackets */
    bool many;                   /* it may be repeated: "..." */
};

struct mcp_operands {
    struct mcp_operand list[MCP_OPERANDS];
    size_t n;
};

/* args: as a command has it. Options that the line names ("--batch=N") are left out. */
void mcp_operands_read(const char *args, struct mcp_operands *ret);

#endif
