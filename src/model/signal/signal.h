/* Signals: measured quantities over time. A set is what is measured of one kind of thing (a disk, a
 * network interface, the host); a row holds one thing's values of one moment, in the order of its
 * set. Rows are what the store keeps, what the metrics are rendered from and what rules read.
 *
 * Absent is NaN: a value that could not be read is not zero. Counters are as the kernel keeps them,
 * in base units (seconds, bytes); rates are taken later, over two rows. */
#ifndef BRIM_MODEL_SIGNAL_SIGNAL_H
#define BRIM_MODEL_SIGNAL_SIGNAL_H
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "model/signal/event.h"

enum signal_kind { SIGNAL_GAUGE, SIGNAL_COUNTER };

struct signal_def {
    const char *name; /* "read_bytes_total": ends in its unit, counters in _total */
    const char *help; /* one line, without a dot at its end */
    enum signal_kind kind;
    const char *label; /* one fixed label that tells like signals apart: mode="idle"; NULL */
};

struct signal_set {
    const char *name;  /* "disk": metrics are called brim_disk_... */
    const char *thing; /* the label that names the thing: "device"; NULL when there is only one */
    const struct signal_def *defs;
    size_t n_defs;
    const char *const *facts; /* what else is known of a thing, as labels of brim_SET_info: "uuid",
                               * "model"; SIGNAL_FACTS at most, ends with NULL; NULL: nothing */
    unsigned keep_s;          /* the store keeps one row in so many seconds; 0: each */
    bool facts_on_samples;    /* facts are labels of every sample instead of brim_SET_info */
};

enum { SIGNAL_THING = 48, SIGNAL_FACTS = 4 };

struct signal_row {
    const struct signal_set *set;
    char thing[SIGNAL_THING];    /* "nvme0n1"; "" when there is only one */
    double *values;              /* n_defs of the set; NaN is absent */
    char (*facts)[SIGNAL_THING]; /* in the order of the set's; "" is unknown */
    size_t values_room;
};

/* All rows and events of one moment. They are used again for the next: add between tick_begin() and
 * the next one. The rows of a set stand together. */
struct tick {
    struct arena arena; /* of the rows' values, which stay where they are */
    struct signal_row *rows;
    size_t n_rows, n_room;
    struct event *events;
    size_t n_events, n_events_room;
    int64_t wall_ns;      /* since 1970 */
    int64_t monotonic_ns; /* for rates */
};

void tick_begin(struct tick *t, int64_t wall_ns, int64_t monotonic_ns);
void tick_done(struct tick *t);

/* A row of the set with every value absent; NULL when out of memory. Valid until the next one is
 * added. A name that is too long is cut. */
struct signal_row *tick_add(struct tick *t, const struct signal_set *set, const char *thing)
    CHECK_RESULT;

/* Let the rows of each set stand together, in the order in which the sets came first. */
void tick_group(struct tick *t);

/* The row of that set and thing, NULL when there is none. */
const struct signal_row *tick_find(const struct tick *t, const struct signal_set *set,
                                   const char *thing);

/* The first row of the set called name, and in *n how many of it follow each other; NULL and 0 when
 * there are none. */
const struct signal_row *tick_set(const struct tick *t, const char *name, size_t *n);

/* Set fact i of a row that was just added; a text that is too long is cut. */
void tick_fact(struct signal_row *row, size_t i, const char *text);

/* What is known under a name ("uuid"); "" when nothing is. */
const char *signal_fact(const struct signal_row *row, const char *name);

/* Where in its set a signal stands, by name and label (NULL: none); the set's n_defs when it has no
 * such signal. */
size_t signal_index(const struct signal_set *set, const char *name, const char *label);

/* An event of this moment, filled but for thing, text and action, which are empty; NULL when out of
 * memory, or when EVENTS_MAX were added to this tick: events are dropped, not piled up. */
struct event *tick_event(struct tick *t, const char *kind, enum severity severity, int code)
    CHECK_RESULT;

#endif
