/* Which lines of a job's Python take the time: what its processes were in when they were looked at,
 * summed. A table of a fixed size: the line that was seen least makes room for a new one, and old
 * samples count less than new ones. Pure. */
#ifndef BRIM_MODEL_JOB_LINES_H
#define BRIM_MODEL_JOB_LINES_H
#include <stdbool.h>
#include <stddef.h>

#include "brim/step.h"

enum {
    LINES_WORKER = BRIM_STAGES, /* behind the stages of a rank: a loader's worker that works */
    LINES_THREAD,               /* another thread of a rank that runs beside the loop's */
    LINES_STAGES,
    LINES_FUNCTION = 64,
    LINES_FILE = 192,
    LINES_CALLEE = 96,
    LINES_OFF = 192,
    LINES_MOST = 128,  /* lines at a time: 80 KB */
    LINES_LEAST = 12,  /* samples of a stage: of fewer nothing is said */
    LINES_TOTAL = 2048 /* samples: then all count half */
};

/* A call under way. Texts are borrowed. */
struct lines_call {
    const char *function; /* its qualified name */
    const char *file;
    int line; /* that runs; 0: not known */
};

/* A place in a file. */
struct lines_place {
    char function[LINES_FUNCTION], file[LINES_FILE];
    int line;
};

/* What a sample comes to, and how many were the same. */
struct lines_entry {
    unsigned stage;                /* enum brim_stage, LINES_WORKER or LINES_THREAD */
    struct lines_place at, caller; /* the user's line; the user's call around it: file "": none */
    char callee[LINES_CALLEE];     /* what that line called: "json.dumps"; "": nothing in Python */
    unsigned count;
};

struct lines {
    unsigned total[LINES_STAGES]; /* samples of each stage */
    size_t n;
    struct lines_entry entries[LINES_MOST];
    char off[LINES_OFF]; /* why no calls can be read of this job; "": they can, or nobody tried */
};

/* Find the user's line among the calls of a process, innermost first: the innermost one that is not
 * of Python's library, of installed packages or of the shim, else the innermost of all. worker:
 * it is a child of a rank; its calls outside of what its process was started for are left out. The
 * stage is told by the calls: a caller that knows it sets it. False: it does nothing that counts,
 * as a worker that waits for its next batch, or imports a module. */
bool lines_place(const struct lines_call *calls, size_t n, bool worker, struct lines_entry *ret);

/* Count a sample. */
void lines_count(struct lines *l, const struct lines_entry *e);

/* Count all that another table has. */
void lines_merge(struct lines *l, const struct lines *more);

/* The line of a stage that was seen most. */
struct lines_found {
    const struct lines_place *at; /* in the table */
    const char *callee;           /* in the table; "" */
    int last;                     /* of several lines of that function; else at->line, as 'first' */
    int first;
    double share;     /* of the samples of its stage */
    double least;     /* the same, at least: 95 % sure */
    unsigned samples; /* of its stage */
};

/* False where too few samples were taken of that stage, or none of its lines stands out. Where no
 * line is seen most of the time it is several of one function; where no function is, the one that
 * called most of them. */
bool lines_find(const struct lines *l, unsigned stage, struct lines_found *ret);

/* Whether a file is the user's own. */
bool lines_is_own(const char *file);

/* "other", "wait" ..., "worker", "thread"; NULL for what is no stage. */
const char *lines_stage_name(unsigned stage);

#endif
