/* Mark the steps of a job, so that brim can tell where their time goes. For jobs that brim's
 * PyTorch shim does not see into: own C, C++, Fortran or Julia code. Link with -lbrim-step.
 *
 *     struct brim_step *s = brim_step_open("mycode 2.1");
 *
 *     while (...) {
 *         brim_step_begin(s);
 *         brim_stage_begin(s, BRIM_STAGE_WAIT);
 *         ... read ...
 *         brim_stage_end(s, BRIM_STAGE_WAIT);
 *         brim_step_samples(s, 32);
 *         ... compute ...
 *         brim_step_end(s);
 *     }
 *     brim_step_close(s);
 *
 * Without brim (no BRIM_RING in the environment) the handle is NULL, and every call with NULL does
 * nothing. A mark costs less than 100 ns, allocates nothing, waits for nobody, and keeps errno.
 *
 * Threads: every call but open and close may be made by any thread at any time. Stages belong to
 * the thread that marks them; the step's time is split by the stages of the thread that ends
 * steps, those of other threads run beside it.
 * Fork: a child's calls do nothing; it may open a ring of its own.
 *
 * The ABI is stable: functions and numbers are added, never changed. */
#ifndef BRIM_STEP_H
#define BRIM_STEP_H
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BRIM_STEP_API __attribute__((visibility("default")))

enum brim_stage {
    BRIM_STAGE_OTHER = 0, /* what no other stage covers; need not be marked */
    BRIM_STAGE_WAIT = 1,  /* for data */
    BRIM_STAGE_COPY = 2,  /* of data to the device */
    BRIM_STAGE_FORWARD = 3,
    BRIM_STAGE_BACKWARD = 4,
    BRIM_STAGE_COMMUNICATION = 5, /* waiting for it: what runs beside computing is not marked */
    BRIM_STAGE_OPTIMIZER = 6,
    BRIM_STAGE_CHECKPOINT = 7,
    BRIM_STAGES = 8
};

enum brim_collective {
    BRIM_COLLECTIVE_OTHER = 0,
    BRIM_COLLECTIVE_ALL_REDUCE = 1,
    BRIM_COLLECTIVE_ALL_GATHER = 2,
    BRIM_COLLECTIVE_REDUCE_SCATTER = 3,
    BRIM_COLLECTIVE_BROADCAST = 4,
    BRIM_COLLECTIVE_REDUCE = 5,
    BRIM_COLLECTIVE_ALL_TO_ALL = 6,
    BRIM_COLLECTIVE_GATHER = 7,
    BRIM_COLLECTIVE_SCATTER = 8,
    BRIM_COLLECTIVE_SEND_RECEIVE = 9,
    BRIM_COLLECTIVE_BARRIER = 10,
    BRIM_COLLECTIVES = 11
};

struct brim_step;

/* A ring in the folder that BRIM_RING names; rank, local rank and world from the launcher's
 * variables (torchrun, Open MPI, PMI, Slurm). framework is a name and version for people, NULL for
 * none. Returns NULL when there is no BRIM_RING or no ring can be made there; errno says why. */
BRIM_STEP_API struct brim_step *brim_step_open(const char *framework);

/* The same in a folder of the caller's choice, with ranks of -1 where unknown. */
BRIM_STEP_API struct brim_step *brim_step_open_at(const char *folder, const char *framework,
                                                  int rank, int local_rank, int world);

/* Ends the ring; the file stays for its reader. No other thread may use the handle any more. */
BRIM_STEP_API void brim_step_close(struct brim_step *s);

/* For ranks that become known after the ring was opened. */
BRIM_STEP_API void brim_step_set_rank(struct brim_step *s, int rank, int local_rank, int world);

/* A step begins, a step ends. Where nothing lies between two steps, the ends alone will do. */
BRIM_STEP_API void brim_step_begin(struct brim_step *s);
BRIM_STEP_API void brim_step_end(struct brim_step *s);

/* Stages may nest: the innermost one counts. */
BRIM_STEP_API void brim_stage_begin(struct brim_step *s, int stage);
BRIM_STEP_API void brim_stage_end(struct brim_step *s, int stage);

/* A stage that ran on the device beside the thread, told when it is over. */
BRIM_STEP_API void brim_stage_device(struct brim_step *s, int stage, int64_t begin_ns,
                                     int64_t end_ns);

/* How many samples this step works on; several calls in a step add up. */
BRIM_STEP_API void brim_step_samples(struct brim_step *s, uint64_t count);

BRIM_STEP_API void brim_step_loss(struct brim_step *s, double loss);

/* A collective (enum brim_collective) of so many bytes on this rank, with times of
 * brim_step_now(). */
BRIM_STEP_API void brim_step_collective(struct brim_step *s, int kind, uint64_t bytes,
                                        int64_t begin_ns, int64_t end_ns);

/* A sentence, and a number with a name; at most 240 bytes of text. Notes are kept whole for readers
 * that come late, in room for a few hundred: they are for what is said once. */
BRIM_STEP_API void brim_step_note(struct brim_step *s, const char *text);
BRIM_STEP_API void brim_step_value(struct brim_step *s, const char *name, double value);

/* CLOCK_MONOTONIC. */
BRIM_STEP_API int64_t brim_step_now(void);

/* For bindings: one record of brim/ring.h of the kinds 1 to 7 and 12; code_kind is
 * kind | code << 16. */
BRIM_STEP_API void brim_step_mark(struct brim_step *s, uint32_t code_kind, uint64_t value);

#ifdef __cplusplus
}
#endif

#endif
