/* Which of several controls leads: the one that has the lease, a row in the database that all of
 * them share. It says until when it has it, by the clock of the database, so that clocks of
 * machines need not agree; a leader trusts in it for a shorter time, by a clock of its own that
 * never steps and counts from before it asked. Each time that another one takes it the lease has
 * the next number: a leader stores only while the number is its own. One that was stopped for long,
 * and goes on, stores nothing. */
#ifndef BRIM_CONTROL_LEASE_H
#define BRIM_CONTROL_LEASE_H
#include "control/db/db.h"

enum {
    LEASE_MS = 60000,       /* how long it is given for */
    LEASE_TRUST_MS = 40000, /* how long a leader trusts in it */
    LEASE_RENEW_MS = 10000, /* how old it gets before it is asked for again */
    LEASE_NAME = 160,
};

/* ---- by whom it is held, as one control knows it; pure ---- */

struct lease {
    char holder[LEASE_NAME]; /* this control: a name that no other has, nor one before it */
    int64_t fence;           /* the number it has; 0: another one leads */
    int64_t asked_ns;        /* when it asked and got it last, by its clock */
    char leader[LEASE_NAME]; /* who leads; "": nobody */
};

/* HOST:PROCESS:RANDOM. */
void lease_name(struct lease *l, const char *host, int64_t process, uint64_t random);

/* The database was asked at that time: it has given the lease with that number, or 0, and says who
 * leads. Whether something changed. */
bool lease_answered(struct lease *l, int64_t asked_ns, int64_t fence, const char *leader);

/* Whether it leads: it may decide and act. */
bool lease_leads(const struct lease *l, int64_t now_ns);

/* Whether it is time to ask. */
bool lease_due(const struct lease *l, int64_t now_ns);

/* ---- in the database ---- */

/* Make the table, unless it is there. */
int lease_prepare(struct db *d, struct err *e) CHECK_RESULT;

/* Take the lease, or keep it: it is free, over, or ours. now_ns: of the clock that lease_leads() is
 * asked with, before this call. Whether something changed (1, 0), or a negative errno: nothing is
 * known then, and what was known counts until it is too old. */
int lease_ask(struct lease *l, struct db *d, int64_t now_ns, struct err *e) CHECK_RESULT;

/* In a transaction: 0 when the lease is still ours, which nobody takes before its end then; -EPERM
 * with a sentence otherwise, and the transaction is to be undone. */
int lease_hold(struct lease *l, struct db *d, struct err *e) CHECK_RESULT;

/* Give it back, so that another one need not wait until it is over. */
void lease_give(struct lease *l, struct db *d);

#endif
