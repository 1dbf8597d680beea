/* Optimises a job while it runs: a pilot of run/watch/observe.h that drives a session
 * (tune/session.h) with the job's steps, and asks the job for what the session wants. */
#ifndef BRIM_OPTIMIZE_DRIVE_DRIVE_H
#define BRIM_OPTIMIZE_DRIVE_DRIVE_H
#include "model/verdict/verdict.h"
#include "optimize/goal.h"
#include "optimize/restart_race.h"
#include "run/watch/observe.h"
#include "tune/session.h"

/* Settings of this machine (knobs of KNOB_DEVICE), by the user's word. */
struct drive_machine {
    /* The value of now under a knob's target, of LEVER_WORD letters; false: there is none. */
    bool (*now)(void *arg, const char *target, char *value);
    /* Set it at once: false when that cannot be, with why, of SESSION_TEXT letters. */
    bool (*set)(void *arg, const char *target, const char *value, char *why);
    void *arg;
};

struct drive_config {
    const struct knobs *knobs;
    struct session_plan plan; /* drive_plan() */
    struct goal goal;
    double shm_free_b;         /* of /dev/shm when the job starts; NaN: not known */
    const struct profile *won; /* of earlier runs of the job: tried first; NULL: nothing is known */
    const char *const *named;  /* settings that the user names: struct propose_about */
    unsigned restarts;         /* how often the job may be started anew for what needs that */
    /* What came of settings that needed a restart, and the job before those; NULL: nothing. */
    const struct drive_past *past;
    /* Tell the user a sentence: what is tried, and what came of it. */
    void (*say)(void *arg, const char *sentence);
    /* Whether the job can be started with a candidate; else why not, of SESSION_TEXT letters. NULL:
     * all can. */
    bool (*fits)(void *arg, const struct candidate *c, char *why);
    void *arg;
    const struct drive_machine *machine; /* NULL: that word was not given */
};

/* The usual plan of a session with that many seconds. */
struct session_plan drive_plan(double seconds, const struct goal *g);

/* Steps that were run in one state of the job. */
struct drive_stretch {
    double steps, seconds, samples; /* samples NaN: not told */
    /* The most at a time; NaN: not told. Memory of all processes together, which counts shared
     * pages for each, or once; and of the devices. */
    double resident_b, pss_b, device_b;
    double joules, powered_s; /* of moments whose power is known */
};

/* Mean power; NaN: not known. */
double drive_watts(const struct drive_stretch *s);
double drive_steps_per_s(const struct drive_stretch *s);
double drive_samples_per_s(const struct drive_stretch *s);

/* Of earlier runs of the job: what was kept is in force now. */
struct drive_past {
    struct session_entry entries[SESSION_ENTRIES - SESSION_TRIALS];
    size_t n;
    struct drive_stretch before;
    unsigned heats; /* short runs for it */
};

struct drive_report {
    const char *off; /* why nothing could be tried; NULL */
    size_t ranks;    /* that were steered; 0: none */
    uint64_t steps;  /* of the job, as far as it was steered */
    const struct session *session;
    struct goal goal;
    const struct verdict *remains; /* what limits the job now; NULL: not known */
    const char *nothing;           /* why no setting is worth a trial; "" */
    struct drive_stretch before;   /* with the settings it came with */
    struct drive_stretch after;    /* with all that was kept, since the last of it was */
    const struct proposals *race;  /* the job was ended for these, which need a restart; NULL */
    double start_s;                /* from the start of the job to its first steps; NaN */
    double step_s;                 /* as it was observed first; NaN */
    const struct drive_past *past;
};

struct drive;

/* c is copied; what it points to is borrowed. 0 or -ENOMEM. */
int drive_new(struct drive **ret, const struct drive_config *c) CHECK_RESULT;
void drive_free(struct drive *d);
DEFINE_CLEANUP(struct drive, drive_free)

/* Borrowed, as long as there is a drive. */
const struct observe_pilot *drive_pilot(const struct drive *d);
void drive_tell(const struct drive *d, struct drive_report *ret);

/* The job had ended before anything was tried: what earlier runs of it have shown is all. */
void drive_add_past(struct drive *d, const struct drive_past *past);

#endif
