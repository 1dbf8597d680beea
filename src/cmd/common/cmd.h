/* A subcommand: one file each, one const object each, listed once in cmd/table.c; and what all of
 * them print with. */
#ifndef BRIM_CMD_COMMON_CMD_H
#define BRIM_CMD_COMMON_CMD_H
#include "base/clock.h"
#include "base/err.h"
#include "base/opt.h"

/* What commands get from main(): there is no other state. */
struct app {
    const struct clock *clock;
    bool colour;      /* stdout is a terminal that wants colours */
    unsigned columns; /* its width; 100 when it is none */
};

/* The row of --json, which all commands that print data have; its value is the path for
 * cmd_print(). */
#define CMD_JSON(at) \
    { \
        OPT_OUTPUT, 'j', "json", at, "FILE", "print JSON, or write it to FILE" \
    }

/* What completion proposes for an operand or the value of an option. */
enum cmd_words { CMD_NO_WORDS, CMD_RUNS, CMD_PROFILES, CMD_POLICIES, CMD_MODELS, CMD_GPUS };

/* One thing that a command does. The options that are for it alone, or for it and others, begin
 * their help with the names: "train: ...", "with list and show: ..."; those that name none are for
 * all. */
struct cmd_sub {
    const char *name; /* NULL behind the last */
    const char *args; /* "MODEL..."; "" */
    const char *summary;
    const char *examples[2]; /* command lines; what stands behind "brim " */
    enum cmd_words words;    /* of its operands */
};

struct cmd {
    const char *name;
    const char *args;           /* what stands behind the options: "[RUN]"; "" */
    const char *summary;        /* one line */
    const char *about;          /* paragraphs for the help text and the manual page; NULL */
    const struct cmd_sub *subs; /* what it does, by the first operand; NULL: one thing */
    enum cmd_words words;       /* of its operands */
    const struct opt *opts;     /* ends with OPT_END */
    const void *defaults;       /* values of the options, of 'size' bytes */
    size_t size;
    int max_operands;
    bool runs_program; /* the first operand ends the options: those behind it are a program's */
    /* Return the exit status, or with a text in e, which main() prints, a negative errno, which
     * becomes 1, or ERR_USAGE, which becomes 2. */
    int (*run)(const struct app *app, const void *opts, char **operands, struct err *e);
};

enum { EXIT_OK = 0, EXIT_FAILED = 1 };

/* Write to stdout, or to a file when path is neither NULL nor "-". -ENOMEM when out has failed,
 * -EIO and the like when it could not be written whole. */
int cmd_print(const struct str *out, const char *path, struct err *e) CHECK_RESULT;

#endif
