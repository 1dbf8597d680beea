/* Reading a ring of marks (brim/ring.h) that a job writes meanwhile, or wrote before it died.
 * Nothing in the mapping is trusted: any bytes give marks or none, never a crash or an endless
 * loop. */
#ifndef BRIM_MODEL_JOB_STEP_RING_H
#define BRIM_MODEL_JOB_STEP_RING_H
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "brim/control.h"
#include "brim/ring.h"
#include "brim/step.h"

struct step_ring {
    const unsigned char *map; /* borrowed; at least size bytes for as long as the ring is read */
    const unsigned char *texts, *records;
    uint32_t text_size, capacity;
    int pid;
    int64_t start_monotonic_ns, start_wall_ns;
    char framework[64], host[64]; /* printable */
    uint64_t next;                /* the record that is read next */
    uint64_t lost;                /* records that were overwritten or torn, so far */
    bool ended;                   /* set by the caller: its writer is gone */
};

/* One record, checked. */
struct step_mark {
    enum brim_ring_kind kind;
    int64_t t_ns;                      /* monotonic */
    uint32_t thread;                   /* kinds up to LOSS */
    unsigned stage;                    /* STAGE_BEGIN, STAGE_END, DEVICE: below BRIM_STAGES */
    unsigned source;                   /* STAGE_BEGIN, SAMPLES, FEEDS: 0 when there is but one */
    unsigned collective;               /* COLLECTIVE: below BRIM_COLLECTIVES */
    unsigned outcome;                  /* SWITCH: enum brim_switch */
    uint64_t count;                    /* SAMPLES; COLLECTIVE: bytes; SWITCH: the request */
    double number;                     /* LOSS, VALUE; may be NaN or infinite, as the job's are */
    double seconds;                    /* COLLECTIVE, DEVICE: not negative */
    char text[BRIM_RING_TEXT_MAX + 1]; /* NOTE; VALUE: the name; printable */
};

/* Look at a mapped file, aligned to 8 bytes as mappings are. -EINVAL for one that is no ring,
 * -EPROTONOSUPPORT for another version, with the sentence in e. Starts at the oldest record. */
int step_ring_attach(struct step_ring *r, const void *map, size_t len, struct err *e);

/* The next mark: 1; 0 when there is none yet; -EPIPE when marks were lost, r->lost has grown and
 * the next call goes on behind them. Records of unknown kinds and codes are skipped. */
int step_ring_next(struct step_ring *r, struct step_mark *out);

/* What may change: -1 where unknown. */
int step_ring_rank(const struct step_ring *r);
int step_ring_local_rank(const struct step_ring *r);
int step_ring_world(const struct step_ring *r);

/* How many records were reserved so far: a heartbeat of the loop. */
uint64_t step_ring_head(const struct step_ring *r);

/* The writer ended in order. */
bool step_ring_closed(const struct step_ring *r);

#endif
