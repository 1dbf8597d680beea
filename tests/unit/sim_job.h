/* A simulated job that is optimised while it runs: it marks into rings of its own by a clock of its
 * own, and reads the control file. Link with sim_job.c. */
#ifndef BRIM_TESTS_SIM_JOB_H
#define BRIM_TESTS_SIM_JOB_H
#include <stdbool.h>

#include "folder.h"
#include "noise.h"
#include "optimize/drive/drive.h"

enum { SIM_RANKS = 2, SIM_LIMIT_W = 700 };

/* A loader that takes fetch_s for a batch, a model that takes compute_s. */
struct sim {
    char root[PATH_MAX];
    struct noise noise;
    double fetch_s, compute_s;
    unsigned ranks, batch; /* batch: how many were taken since workers changed */
    int workers;
    bool half;     /* precision */
    bool saves;    /* a checkpoint in step 3 */
    bool rare;     /* memory is read at the start, and when that is asked for */
    bool once;     /* memory is read in the first second alone */
    unsigned late; /* steps that rank 0 makes before the others begin */
    unsigned may_restart, observe;
    const struct drive_past *past;
    const struct profile *won;
    bool refuses[SIM_RANKS], silent, hurts, losses, gpu, hangs, blind;
    uint64_t decays_at, dies_at, restarts_at;
    int64_t now_ns, turn_ns, moment_ns, next_ns;
    int64_t behind_ns; /* the job's clock is so far behind brim's */
    unsigned requests;
    struct goal goal;
    double watts, worker_watts;
    double limit, slows; /* of power, 0: none; of compute_s, that a limit of nothing would add */
    bool denies;         /* may not set it */
    /* What is drawn goes up and down: watts for 'duty' of each wave_s, low_watts for the rest;
     * 0: it does not. The limit takes 'spares' off both, then, and nothing else. Moments end by
     * chance. */
    double wave_s, phase, duty, low_watts, spares;
    struct drive_machine machine;
    uint64_t steps, seen[SIM_RANKS], texts[SIM_RANKS];
    unsigned char *map[SIM_RANKS];
    const struct brim_control *control;
    struct control *writer;
    struct rings *rings;
    struct run run;
    struct knobs knobs;
    struct drive *drive;
    char said[16384];
};

void sim_init(struct sim *s, uint64_t seed);

/* Start it with a drive: 0 or -ENOMEM. */
int sim_start(struct sim *s, bool numeric);

/* So many steps; with more == 0 until the session is over. */
void sim_run(struct sim *s, uint64_t more);

/* It has ended with that status. */
void sim_end(struct sim *s, int status, struct drive_report *ret);
void sim_done(struct sim *s);

/* A rank tells of itself. */
void sim_note(struct sim *s, unsigned rank, const char *text);

/* The last entry of a knob; NULL. */
const struct session_entry *sim_entry(const struct drive_report *r, const char *knob);

/* Whether the drive wants it to end. */
bool sim_is_to_end(const struct sim *s);

#endif
