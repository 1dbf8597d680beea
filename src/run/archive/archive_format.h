/* How a run lies in files. docs/runs.md describes it; what is written here and read back by
 * archive_read.c has the byte order of the machine, which the mark of order tells.
 *
 *     RUNS/ID/part-HOST-PID.ini        what ran, where, how it ended; one of each observer
 *     RUNS/ID/part-HOST-PID.moments    header, then records of one size
 *     RUNS/ID/part-HOST-PID-N.steps    one of each rank: header, notes, then slots of one size */
#ifndef BRIM_RUN_ARCHIVE_ARCHIVE_FORMAT_H
#define BRIM_RUN_ARCHIVE_ARCHIVE_FORMAT_H
#include <stdint.h>

#include "brim/step.h"

#define ARCHIVE_MOMENTS_MAGIC "BRIMMOM1"
#define ARCHIVE_STEPS_MAGIC "BRIMSTP1"

/* Which namespace numbers of processes are of here; 0 where /proc does not tell. */
uint64_t archive_pid_space(void);

enum {
    ARCHIVE_VERSION = 1,
    ARCHIVE_ORDER = 0x01020304,
    ARCHIVE_HEADER = 4096,
    ARCHIVE_NOTES = 65536,
    ARCHIVE_SIGNALS_MAX = 256
};

struct archive_moments_header {
    char magic[8];
    uint32_t order, version;
    uint32_t header_size; /* records start here */
    uint32_t record_size;
    uint32_t n_signals; /* names follow, each ends with a NUL */
    uint32_t unused;
};

/* Followed by n_signals floats, in the order of the names. */
struct archive_moment {
    int64_t wall_ns, monotonic_ns;
    double seconds;
};

struct archive_total {
    uint64_t count, collectives;
    int64_t begin_ns, end_ns;
    double host_s[BRIM_STAGES], device_s[BRIM_STAGES];
    double samples, loss, backwards, collective_s, collective_b;
};

struct archive_steps_header {
    char magic[8];
    uint32_t order, version;
    uint32_t header_size; /* notes start here: "name=value", each ends with a NUL */
    uint32_t notes_size;  /* slots start behind them */
    uint32_t record_size;
    uint32_t first, last; /* slots of the first steps, and of the ring of the last ones */
    int32_t rank, local_rank, world, pid;
    uint32_t notes_used;
    char host[64], framework[64];
    struct archive_total total;
};

/* Step n is in slot n, from 'first' on in slot first + (n - first) % last. */
struct archive_step {
    uint64_t number; /* n + 1; 0: nothing was written here */
    int64_t begin_ns, end_ns;
    float host_s[BRIM_STAGES], device_s[BRIM_STAGES];
    float samples, loss, backwards, collective_s;
    double collective_b;
    uint32_t collectives, unused;
};

#endif
