/* What the page of a cluster shows: what the time of each device goes into, who waits for what, who
 * has what. Made of a site and of what agents say. Pure; texts are borrowed from the site, and are
 * whatever users wrote. */
#ifndef BRIM_CONTROL_BOARD_BOARD_H
#define BRIM_CONTROL_BOARD_BOARD_H
#include "base/json.h"
#include "control/watch.h"

/* What the time of a device goes into. */
enum board_use {
    BOARD_WORKS,
    BOARD_UNKNOWN,   /* held; nobody tells how busy it is */
    BOARD_IDLE,      /* held by a job that is idle */
    BOARD_STARTING,  /* of a job whose nodes are being made ready */
    BOARD_ENDING,    /* of a job that ends */
    BOARD_SUSPENDED, /* of a job that is suspended */
    BOARD_WANTED,    /* free, and a job waits that would fit, as far as its GPUs tell */
    BOARD_SPLIT,     /* free, and jobs wait for more on a node, or for more nodes */
    BOARD_BARRED,    /* free, and the jobs that wait may not start for another reason */
    BOARD_FREE,      /* free, and no job waits for it */
    BOARD_RESERVED,
    BOARD_DRAINED,
    BOARD_DOWN, /* its node is down, or silent */
    BOARD_OFF,  /* its node's power is off */
    BOARD_USES
};

/* "idle"; "held by jobs that keep them idle"; whether somebody paid for it in vain. */
const char *board_use_name(enum board_use use);
const char *board_use_text(enum board_use use);
bool board_use_wastes(enum board_use use);

enum {
    BOARD_KINDS = 16,  /* of GPUs that are told apart; the last one stands for all others */
    BOARD_QUEUE = 200, /* rows; behind them only sums */
    BOARD_RUNNING = 300,
    BOARD_PARTIES = 100,
    BOARD_REASONS = 32
};

/* A node's devices, one character each: '.' free, '0' to '9' how busy in tenths, '?' held and
 * nobody tells, 's', 'e', 'z' of a job that starts, ends, is suspended, 'x' no job can have it. */
struct board_node {
    uint32_t node; /* number in the site */
    uint8_t kind;  /* number in the board */
    int32_t held;
    char cells[SITE_DEVICES + 1];
    uint32_t job[SITE_DEVICES]; /* number in the site; CONTROL_NONE */
};

/* One that holds devices, on however many nodes. */
struct board_job {
    uint32_t job;
    int busy;                     /* in thousandths, in the mean; -1: nobody tells */
    int64_t idle_ms;              /* since when it is idle; 0 */
    size_t watched;               /* nodes whose agents tell of a run of it */
    const struct node_run *worst; /* what limits it most; NULL: nobody tells. The scene's */
    uint32_t worst_node;          /* where; number in the site */
};

/* An account or a user. */
struct board_party {
    const char *name;
    int64_t held, idle, waited; /* GPUs */
    size_t running, waiting;    /* jobs */
    uint32_t uid;               /* of a user */
};

struct board_parties {
    struct board_party *list; /* those with most GPUs first */
    size_t n;
};

/* Why jobs wait. */
struct board_reason {
    const char *word; /* Slurm's */
    size_t jobs;
    int64_t devices;
};

/* What stands between these in a board's text is about that user. */
struct board_span {
    int64_t uid;
    size_t from, to;
};

struct board {
    struct arena arena;
    const struct site *site;
    int64_t now_ms;
    struct board_node *nodes; /* that have devices */
    size_t n_nodes;
    int64_t devices, waited; /* of all nodes; that jobs wait for */
    int64_t used[BOARD_KINDS][BOARD_USES];
    const char *kinds[BOARD_KINDS]; /* "h100"; "" where nobody said */
    size_t n_kinds;
    struct board_job *running; /* idle ones first, then those with most devices */
    size_t n_running;
    uint32_t *queue; /* numbers of jobs that wait, in Slurm's order */
    size_t n_queue;
    struct board_reason reasons[BOARD_REASONS]; /* the last one stands for all others */
    size_t n_reasons;
    struct board_parties accounts, users;
    struct board_span *spans; /* of the text that was written last, in their order */
    size_t n_spans;
};

struct board_scene {
    const struct site *site;
    const struct control_seen *seen; /* by number of the job */
    struct control_answers answers;  /* of: NULL where nobody was asked */
};

/* 0 or -ENOMEM. */
int board_make(struct board *ret, const struct board_scene *scene, struct err *e) CHECK_RESULT;
void board_done(struct board *b);

/* Devices of all kinds. */
int64_t board_used(const struct board *b, enum board_use use);

/* Add why a job waits, in words. */
void board_add_reason(const char *word, struct str *out);

/* Add the sentence about all: "8 of 96 GPUs are held and idle, 16 are drained; 3 jobs wait for 24
 * GPUs". */
void board_sentence(const struct board *b, struct str *out);

/* Add its members to an object that is open: bounded, whatever a cluster has. */
void board_add_json(struct board *b, struct json *j);

/* That text, which outlives its board. {0} is empty. */
struct board_text {
    struct str text; /* its ceiling must be set */
    struct arena arena;
    struct board_span *spans;
    size_t n;
};

/* Take which parts of it are about whom: when it is written. 0 or -ENOMEM. */
int board_text_take(struct board_text *to, const struct board *b) CHECK_RESULT;

/* Add it without what is about users but this one: names, and what limits their jobs. */
void board_text_cut(const struct board_text *t, int64_t uid, struct str *out);
void board_text_done(struct board_text *t);

#endif
