/* What brim control remembers, in one SQLite file, or in a PostgreSQL that several controls share,
 * of which one leads: when jobs were busy, and what was decided, with
 * what became of it. An action is on the disk before it is carried out, so that one who was killed
 * meanwhile finds it, and asks the cluster whether it happened. With the sqlite3 shell:
 *
 *     SELECT datetime(t / 1000, 'unixepoch'), kind, job, state, reason FROM action; */
#ifndef BRIM_CONTROL_BOOK_H
#define BRIM_CONTROL_BOOK_H
#include "control/faults.h"
#include "control/plan.h"

struct control_book;

enum control_state {
    CONTROL_SAID,     /* under --mode observe: nothing is done */
    CONTROL_PROPOSED, /* waits for an operator */
    CONTROL_APPROVED, /* by an operator */
    CONTROL_DUE,      /* is being carried out, or was when its control was killed */
    CONTROL_DONE,
    CONTROL_FAILED,
    CONTROL_STALE, /* it was no longer so when it was looked at again */
    CONTROL_STATES
};

/* "proposed"; NULL behind the last. */
extern const char *const control_state_names[];
const char *control_kind_name(uint8_t kind); /* "warn", "requeue" ... */

/* One decision: about a job that began to run at start_ms, or about a node (node is its name, job
 * is 0) for what began then. */
struct control_row {
    int64_t id, time_ms, start_ms;
    uint32_t job, other, restarts; /* ids of Slurm; other 0: none; how often it had restarted */
    int32_t devices;
    uint8_t kind, state;
    char user[64], account[64]; /* of the job; "" */
    char node[64];              /* "" */
    char reason[CONTROL_TEXT];
    char outcome[CONTROL_TEXT]; /* Slurm's words where it failed; "" */
};

/* Open a folder's file or make it; the folder is made, for its owner alone; one that others may
 * write in is refused: -EPERM. One control at a time has it to act: -EBUSY with a sentence. Or open
 * an address of a PostgreSQL (db.h), in which tables are made: any number of controls have it, of
 * which one leads. 'act' false: to look only. */
int control_book_open(struct control_book **ret, const char *where, bool act, struct err *e)
    CHECK_RESULT;

/* Whether this control leads: always with a folder; else it has the lease (lease.h), which is asked
 * for when it is time. Before each cycle. 1; 0, or a negative errno with a sentence: it may not
 * act. What it stores is refused from the moment on at which another one leads: -EPERM. */
int control_book_lead(struct control_book *b, struct err *e) CHECK_RESULT;

/* The same as far as is known without asking: right before a deed. */
bool control_book_leads(const struct control_book *b);

/* Who leads, by what was known last: "HOST:PROCESS:...", or "". */
const char *control_book_leader(const struct control_book *b);

void control_book_close(struct control_book *b);
DEFINE_CLEANUP(struct control_book, control_book_close)

/* What stands between these is stored whole or not at all. */
int control_book_begin(struct control_book *b, struct err *e) CHECK_RESULT;
int control_book_commit(struct control_book *b, struct err *e) CHECK_RESULT;

/* What was seen of a job that began at start_ms; of another start nothing is known: *ret is as of
 * one that begins then. 0 or an error. */
int control_book_seen(struct control_book *b, const struct site_job *j, struct control_seen *ret,
                      struct err *e) CHECK_RESULT;
int control_book_see(struct control_book *b, const struct site_job *j,
                     const struct control_seen *seen, struct err *e) CHECK_RESULT;

/* Forget jobs that nobody has seen since. */
int control_book_forget(struct control_book *b, int64_t before_ms, struct err *e) CHECK_RESULT;

/* What was seen of the nodes of a site, by number. */
int control_book_nodes(struct control_book *b, const struct site *site, int64_t now_ms,
                       struct control_node *nodes, struct err *e) CHECK_RESULT;
int control_book_see_node(struct control_book *b, const char *name, const struct control_node *n,
                          struct err *e) CHECK_RESULT;

/* Add a decision: its id is set. What became of one. */
int control_book_add(struct control_book *b, struct control_row *row, struct err *e) CHECK_RESULT;
int control_book_became(struct control_book *b, int64_t id, enum control_state state,
                        const char *outcome, struct err *e) CHECK_RESULT;

/* The newest decision of the kind of 'like' about its job's attempt, or its node. 1, 0: there is
 * none, or an error. */
int control_book_last(struct control_book *b, const struct control_row *like,
                      struct control_row *ret, struct err *e) CHECK_RESULT;

/* How many of a kind were carried out, or begun, since then. */
int control_book_count(struct control_book *b, uint8_t kind, int64_t since_ms, int64_t *ret,
                       struct err *e) CHECK_RESULT;

/* Rows of those states (bits), the newest first, 'most' of them. The callback returns 0 to go on;
 * any other value ends the listing, which returns it. */
typedef int control_row_fn(void *arg, const struct control_row *row);
int control_book_rows(struct control_book *b, unsigned states, int most, control_row_fn *fn,
                      void *arg, struct err *e) CHECK_RESULT;

/* Whether an operator has stopped all actions; stop them, or let them go on. */
int control_book_stopped(struct control_book *b, bool *ret, struct err *e) CHECK_RESULT;
int control_book_stop(struct control_book *b, bool stopped, struct err *e) CHECK_RESULT;

#endif
