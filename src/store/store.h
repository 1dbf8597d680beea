/* The store: what one node measured, in one SQLite file. Layout, for people with the sqlite3 shell:
 *
 *     sets(name, label, keep_s)             kinds of things; label is what a thing's name is
 *     signal(set_name, name, label, kind, col)   kind 0: gauge, 1: counter; col: its column
 *     thing(id, set_name, name, facts, seen)     facts: a JSON object
 *     SET_1s, SET_10s, SET_1m (t, thing, COLUMN...)   one row per thing and moment
 *     event(t, kind, code, thing, over, severity, text, action)   enum severity
 *
 * t is in milliseconds since 1970, absent is NULL. Columns are called as their signals, the value
 * of a label appended: seconds_total_idle. The bytes read by each disk in the last minute:
 *
 *     SELECT datetime(t / 1000, 'unixepoch'), name, read_bytes_total FROM disk_1s
 *     JOIN thing ON thing.id = thing WHERE t > (unixepoch() - 60) * 1000 ORDER BY name, t;
 *
 * Three tiers: the rows themselves, and of each 10 s and each minute (t is its begin) the mean of
 * gauges and the last value of counters. A set that keeps a row in 10 s or more has no 10 s tier.
 *
 * A row that repeats the last stored one of its thing is left out for up to 60 s; when the values
 * change, the last that was left out is written first, so between two equal rows nothing happened.
 * A thing that goes gets a row of NULLs. After a kill, up to 60 s of a thing that did nothing are
 * missing.
 *
 * A step of the wall clock back lets new rows stand between old ones; a row of the very same moment
 * is replaced. Nothing else is overwritten, and nothing fails. */
#ifndef BRIM_STORE_STORE_H
#define BRIM_STORE_STORE_H
#include <stdbool.h>

#include "base/err.h"
#include "model/signal/signal.h"

enum store_tier { STORE_1S, STORE_10S, STORE_1M, STORE_TIERS };

/* A member that is 0 has its default. Where the file gets too large rows go in this order: 1 s rows
 * older than an hour, 10 s rows older than a day, 1 min rows older than 30 days; then what is left
 * of 1 s rows, then of 10 s rows. */
struct store_config {
    int64_t max_bytes;           /* of the file and its log; 1 GiB */
    int64_t keep_s[STORE_TIERS]; /* 1 day, 14 days, 365 days */
};

struct store;

/* Open the file, or make it (0640) and the folders above it (0755). wall_ns is now. One that is
 * damaged, no database, or of a later brim is moved aside to PATH.damaged-SECONDS (.later-SECONDS)
 * and a new one begun: store_note() tells. -EBUSY: another agent has it; -EEXIST: it is a database
 * of another program. */
int store_open(struct store **ret, const char *path, const struct store_config *config,
               int64_t wall_ns, struct err *e) CHECK_RESULT;

/* Write what was left out, then close; NULL is allowed. */
void store_close(struct store *s);

/* Store all rows and events of a tick, or none: -ENOSPC, -EIO, -EROFS, -EBUSY, -ENOMEM ... with a
 * sentence. A tick without rows tells nothing of things. What was stored before stays, and the next
 * tick may work. A file that was deleted is noticed within 60 s, one that turns out damaged
 * (-EUCLEAN) at once; both are begun anew. */
int store_tick(struct store *s, const struct tick *t, struct err *e) CHECK_RESULT;

/* A sentence on what the store did of its own will (moved a file aside); "" when nothing since the
 * last call. Valid until the next call on this store. */
const char *store_note(struct store *s);

/* ---- reading: a connection of its own, for one thread at a time, beside any writer ---- */

struct store_reader;

int store_reader_open(struct store_reader **ret, const char *path, struct err *e) CHECK_RESULT;
void store_reader_close(struct store_reader *r);

struct store_query {
    const char *set, *thing, *signal;
    const char *label; /* of the signal; NULL: none */
    int64_t from_ms, to_ms, step_ms;
    bool rate; /* growth per second of a counter */
};

enum { STORE_POINTS_MAX = 100000 };

/* How many values a query has; 0 when its times make no sense, or more than STORE_POINTS_MAX. */
size_t store_points(const struct store_query *q);

/* Fill out[store_points()]: the mean over each step of the best tier there is: the coarsest that
 * has the step, or a coarser one where finer rows are gone. NaN is where nothing was measured. A
 * counter that went back (a restart) is a gap, a rate is never negative. -ENOENT: no such set,
 * thing or signal. */
int store_series(struct store_reader *r, const struct store_query *q, double *out, struct err *e)
    CHECK_RESULT;

/* What there is; texts are valid during the call only. A callback returns 0 to go on; any other
 * value ends the listing, which returns it. */
typedef int store_thing_fn(void *arg, const char *thing, const char *facts_json);
typedef int store_event_fn(void *arg, const struct event *event);

int store_things(struct store_reader *r, const char *set, store_thing_fn *fn, void *arg,
                 struct err *e) CHECK_RESULT;

/* Events since then, the newest first, at most limit. */
int store_events(struct store_reader *r, int64_t since_ms, int limit, store_event_fn *fn, void *arg,
                 struct err *e) CHECK_RESULT;

#endif
