/* What the files of the store share. Functions return SQLite's codes, so that one place
 * (store.c) makes sentences of them. */
#ifndef BRIM_STORE_STORE_PRIVATE_H
#define BRIM_STORE_STORE_PRIVATE_H
#include <limits.h>
#include <sys/stat.h>

#include "store/sql.h"
#include "store/store.h"

enum { ROLLS = 2, REPEAT_MS = 60000, ROWS_OF_THE_PAST = 120000 };

#define NEVER INT64_MIN
#define NO_ROWS INT64_MAX

/* One thing of a set, while it is there. */
struct thing {
    int64_t id; /* 0: to be looked up */
    char name[SIGNAL_THING];
    uint64_t facts; /* a hash of those in the file */
    bool born;      /* its id is of the transaction that is open */
    bool present;   /* it had a row in the last tick that was stored */
    uint64_t mark;  /* the number of the last tick that had a row of it */
    int64_t stored_ms;
    int64_t skipped_ms; /* of the last row that was left out; NEVER */
    int64_t seen_ms;    /* as in the file */
    double *last;       /* the values of stored_ms */
    double *sums[ROLLS];
    uint32_t *counts[ROLLS];
};

struct set {
    const struct signal_set *set;
    struct table *table;
    sqlite3_stmt *insert[STORE_TIERS]; /* NULL: the set has no such tier */
    int64_t bucket[ROLLS];             /* the begin of the open one; NEVER */
    int64_t slot;                      /* of the last rows when it has keep_s; NEVER */
    struct thing **things;
    size_t n_things, things_room;
};

/* What is in the file of a set, seen in this run or not: for retention. */
struct table {
    char name[SIGNAL_THING];
    int64_t oldest[2]; /* of the 1 s and the 10 s tier; NO_ROWS */
};

/* What happens to a row of the tick. */
struct fate {
    struct set *set;
    struct thing *thing;
    bool write;
};

struct store {
    sqlite3 *db;
    int lock_fd;
    char path[PATH_MAX];
    struct store_config config;
    struct stat file; /* to notice that it was deleted */
    int64_t looked_ns;
    char note[512], told[512];
    uint64_t ticks; /* tried so far */
    struct set **sets;
    size_t n_sets;
    struct table **tables;
    size_t n_tables;
    struct fate *fates;
    size_t fates_room;
    sqlite3_stmt *begin, *commit, *rollback, *thing_find, *thing_add, *thing_facts, *thing_seen;
    sqlite3_stmt *event_add, *pages, *free_pages, *next_thing;
    int64_t page_bytes;
    int64_t minute_thing;                   /* retention of the 1 min tier goes thing by thing */
    int64_t minute_oldest, minute_seen_min; /* of the last round, of this one */
    int64_t minute_cut;
};

/* ---- schema.c ---- */

/* Bring the tables that do not depend on sets to the version of this program; SQLITE_SCHEMA when
 * the file is of a later one. */
int schema_migrate(sqlite3 *db);

/* Make or widen the tables of a set. Inside a transaction. */
int schema_set(sqlite3 *db, const struct signal_set *set);

/* Add the name of a signal's column. */
void schema_column(struct str *out, const struct signal_def *def);

/* "disk_1s", quoted. */
void schema_table(struct str *out, const char *set, enum store_tier tier);

extern const int64_t schema_bucket_ms[STORE_TIERS];

/* Whether the set has rows in that tier. */
bool schema_has(const struct signal_set *set, enum store_tier tier);

/* ---- sets.c ---- */

int sets_find(struct store *s, const struct signal_set *def, struct set **ret);
int sets_tables(struct store *s);
void sets_drop(struct store *s);

/* ---- things.c ---- */

/* The thing of that name, made when missing; hint is where it stood in the last tick. NULL when out
 * of memory. */
struct thing *set_thing(struct set *set, const char *name, size_t hint) CHECK_RESULT;
void set_drop_thing(struct set *set, size_t i);

/* ---- write.c ---- */

int write_rows(struct store *s, const struct tick *t, int64_t now_ms);
void write_remember(struct store *s, const struct tick *t, int64_t now_ms);
void write_forget(struct store *s);

/* The values of a thing that were left out last. */
int write_skipped(struct set *set, struct thing *thing);
int write_events(struct store *s, const struct tick *t);

/* ---- roll.c ---- */

/* Write the buckets that end before now. */
int roll_write(struct store *s, int64_t now_ms);

/* After the commit: forget them; then take the rows of the tick in with roll_add(). */
void roll_ended(struct store *s, int64_t now_ms);
void roll_add(const struct set *set, struct thing *thing, const double *values);

/* Read the open buckets of a set that was just opened. */
int roll_restore(struct store *s, struct set *set);

/* ---- retain.c ---- */

int retain(struct store *s, int64_t now_ms, size_t rows);

#endif
