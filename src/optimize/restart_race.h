/* A contest of settings that need a restart: which of them race, what their heats have shown, and
 * what is kept. After a race that was won a second one tries the others beside the winner. Pure;
 * nothing here allocates. */
#ifndef BRIM_OPTIMIZE_RESTART_RACE_H
#define BRIM_OPTIMIZE_RESTART_RACE_H
#include "optimize/race_run.h"
#include "tune/session.h"
#include "tune/trial/race.h"

/* Starts that a race of one setting may take: three rounds of two heats, and the job. */
enum { CONTEST_MOST = RACE_MOST - 1, CONTEST_RESTARTS_LEAST = 7 };

/* Losses of the first steps, summed over heats. */
struct restart_race_losses {
    double sum[HEAT_LOSSES];
    unsigned n[HEAT_LOSSES], heats;
};

struct restart_race_setting {
    struct session_entry entry;
    bool numeric;
    struct restart_race_losses losses;
};

struct restart_race {
    struct restart_race_setting settings[CONTEST_MOST];
    unsigned n;
    struct race race;
    unsigned field[RACE_MOST]; /* the settings that race, by the race's number; 0 is the job */
    unsigned heats, most, kept;
    unsigned races;                    /* that are over */
    bool per_sample, measured;         /* of what times are, once one is known */
    double step_s;                     /* of the job, as it was measured last; NaN */
    struct restart_race_losses losses; /* of the job as it came */
    char ended[HEAT_TEXT];             /* why no heat is run any more; "" */
};

/* How many settings may race, when the job may be started so many times. */
unsigned restart_race_room(unsigned restarts);

/* The job may be started restarts times, the last time with what was found. */
void restart_race_init(struct restart_race *c, unsigned restarts);

/* Before restart_race_begin(); false when there is no room. */
bool restart_race_add(struct restart_race *c, const struct candidate *candidate);
void restart_race_begin(struct restart_race *c);

/* The next heat: 0 the job with what is kept, i: with settings[field[i]] beside that; -1: over. */
int restart_race_want(const struct restart_race *c);

/* The wanted heat is over. */
void restart_race_take(struct restart_race *c, const struct race_run *h);

/* No heat any more, for this reason. */
void restart_race_stop(struct restart_race *c, const char *why);

/* The race is over: write down what came of it, and begin another one with those that were not
 * slower than the job, if it was won and heats are left. False when all is done: then each entry
 * has its outcome. */
bool restart_race_again(struct restart_race *c);

/* Whether a setting is in force: kept, or wanted by this heat. */
bool restart_race_has(const struct restart_race *c, unsigned setting, int heat);

#endif
