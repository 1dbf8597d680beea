/* Command-line options as a table. The same rows parse the command line, read a section of
 * brim.conf, and print the help text, the manual page and the shell completion.
 *
 *     struct my_opts { bool json; const char *from; };
 *     static const struct opt my_table[] = {
 *         { OPT_FLAG, 'j', "json", offsetof(struct my_opts, json), NULL, "print JSON" },
 *         { OPT_STRING, 0, "from", offsetof(struct my_opts, from), "DIR", "read a recording" },
 *         { OPT_UINT, 0, "size", offsetof(struct my_opts, size_mib), "N", "of the cache (64)",
 *           .least = 1, .most = 1024, .unit = "MiB" },
 *         { .kind = OPT_END },
 *     };
 */
#ifndef BRIM_BASE_OPT_H
#define BRIM_BASE_OPT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

enum opt_kind {
    OPT_END,
    OPT_FLAG,     /* bool */
    OPT_STRING,   /* const char *, borrowed from argv or from the arena of the configuration; never
                   * empty */
    OPT_UINT,     /* uint64_t */
    OPT_INT,      /* int64_t */
    OPT_DURATION, /* int64_t nanoseconds, see parse_duration_ns() */
    OPT_CHOICE,   /* const char *, one of 'choices' */
    OPT_OUTPUT,   /* const char *: "-" for --name, which is standard output; FILE for --name=FILE */
    OPT_MAYBE,    /* const char *: "" for --name alone; VALUE for --name=VALUE */
    OPT_LIST,     /* struct opt_list: all values that are given, borrowed as those of OPT_STRING */
};

/* What is written to the file that an OPT_STRING names. */
enum opt_file {
    OPT_NO_FILE, /* it names none, or one that is read */
    OPT_PAGE,    /* HTML or SVG */
    OPT_JSON,    /* what OPT_OUTPUT names, too */
    OPT_SCRIPT,
    OPT_PROFILE,
};

enum { OPT_LIST_MAX = 32 };

/* For the limits of durations. */
#define OPT_MS 1000000LL
#define OPT_S (1000 * OPT_MS)
#define OPT_MIN (60 * OPT_S)
#define OPT_HOUR (60 * OPT_MIN)

struct opt_list {
    const char *items[OPT_LIST_MAX + 1]; /* NULL behind the last */
    size_t n;
};

struct opt {
    enum opt_kind kind;
    char letter;                /* 0: no short form */
    const char *name;           /* long form, without dashes */
    size_t offset;              /* of the value in the caller's struct */
    const char *arg;            /* placeholder in the help text; NULL for OPT_FLAG */
    const char *help;           /* one line */
    const char *const *choices; /* OPT_CHOICE: NULL-terminated */
    int64_t least, most;        /* of a number, or of a duration in ns; most 0: there is no limit
                                 * but least; both are in the help text */
    const char *unit;           /* of a number: "MiB"; NULL: none */
    enum opt_file file;         /* OPT_STRING */
};

/* Read options from argv[1..] (NULL-terminated, as main() gets it) into *values, which holds the
 * defaults: -j, -jv (two flags), -oDIR, -o DIR, --json, --from=DIR, --from DIR. The value of an
 * OPT_OUTPUT or OPT_MAYBE stands behind '=' or is left out: --json, -j, --json=FILE. Options and
 * operands may be mixed; "--" ends the options, "-" is an operand, and so is a negative number.
 * Operands are moved to the end of argv in their order; returns the index of the first one (argc
 * when there is none), or ERR_USAGE with a sentence that names the option and, for an unknown one,
 * the nearest known. */
int opt_parse(int argc, char **argv, const struct opt *table, void *values, struct err *e)
    CHECK_RESULT;

/* The same, but the first operand ends the options: what follows are the options of another
 * program. */
int opt_parse_front(int argc, char **argv, const struct opt *table, void *values, struct err *e)
    CHECK_RESULT;

/* The first option among argv[1..n-1], as opt_parse() left them, that is in 'table' and not in
 * 'part', a table of some of its rows; NULL: there is none. */
const struct opt *opt_beyond(const struct opt *table, const struct opt *part, int n, char **argv);

/* Set one option by its long name, as a configuration file does. text is borrowed. ERR_USAGE with a
 * sentence when there is no such option (it proposes the nearest), or text does not suit it. Flags
 * take yes/no, true/false, on/off, 1/0. */
int opt_set(const struct opt *table, void *values, const char *name, const char *text,
            struct err *e) CHECK_RESULT;

/* The word among n that is nearest to 'word', for "did you mean"; NULL when none is near. Near is
 * an edit distance (letters added, dropped, changed or swapped with a neighbour; case is no
 * difference) of a third of the length of word at most. Of equally near ones the first, or the
 * first that begins with word. word_at(ctx, i) returns the i-th candidate. */
const char *opt_nearest(const char *word, size_t n,
                        const char *(*word_at)(const void *ctx, size_t i), const void *ctx);

/* The same, where what counts of a candidate is its part before the first dash: of "H1000" the
 * first that begins with "H100-", or is "H100". */
const char *opt_nearest_family(const char *word, size_t n,
                               const char *(*word_at)(const void *ctx, size_t i), const void *ctx);

/* ERR_USAGE for a word that is none of those there are (NULL-terminated): "unknown WHAT 'WORD' (did
 * you mean 'X'?)", or "(there are A, B, C)" where none is near. */
int opt_unknown(const char *what, const char *word, const char *const *words, struct err *e);

/* What documents print: one option per line, aligned; the OPTIONS section of a manual page. Both
 * append the choices of an OPT_CHOICE, "(text, json)", and the limits of a number, "; 1s to 1h". */
void opt_help(const struct opt *table, struct str *out);
void opt_man(const struct opt *table, struct str *out);

/* What opt_help() prints behind the name of one: "of the cache (64); 1 to 1024 MiB". */
void opt_describe(const struct opt *o, struct str *out);

/* The long and short forms, blank-separated, for shell completion. */
void opt_words(const struct opt *table, struct str *out);

#endif
