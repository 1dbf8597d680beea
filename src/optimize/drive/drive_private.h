/* The inside of a drive, for its parts. */
#ifndef BRIM_OPTIMIZE_DRIVE_DRIVE_PRIVATE_H
#define BRIM_OPTIMIZE_DRIVE_DRIVE_PRIVATE_H
#include "optimize/drive/drive.h"
#include "optimize/job_request.h"
#include "optimize/join.h"
#include "optimize/loss_check.h"
#include "optimize/progress.h"

enum { DRIVE_TEXT = 320, DRIVE_GROUP_MOST = 64 };

enum drive_state {
    DRIVE_WAITS, /* for ranks that make steps */
    DRIVE_RUNS,  /* the session goes on */
    DRIVE_AFTER, /* the session is over; what was kept is guarded */
    DRIVE_OFF,   /* nothing is changed any more */
};

/* After the session: one of the settings that were kept at a time. */
struct drive_watch {
    bool on, in_force, undoing, doubtful;
    unsigned entry, checks;
    unsigned suspects; /* settings that are still to be looked at, since steps got slower */
    struct recheck guard;
};

/* NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): there is one, and it reads in order */
struct drive {
    struct drive_config c;
    struct observe_pilot pilot;
    struct control *control; /* NULL: it reaches nobody */
    enum drive_state state;
    char off[DRIVE_TEXT];
    bool ended; /* the job has: nothing is asked any more */
    int error;  /* -ENOMEM: steps are missing */
    struct run_snapshot w;

    struct join join;
    bool retry;            /* earlier processes were members, and are gone */
    bool gone;             /* a member has ended: the end of the job will tell why */
    bool lost;             /* marks of a member were */
    bool parted;           /* nobody tells of a member any more: its host is cut off */
    char back[DRIVE_TEXT]; /* what ranks are asked for then; "": nothing */
    int64_t first_ns;      /* when somebody made steps; 0: nobody yet */
    int64_t step_ns;       /* when a step was made last */
    int64_t begin_ns;      /* of the first turn */
    bool saved;            /* a checkpoint was written */
    bool racing;           /* the job is to be ended, for a race of: */
    struct proposals race;

    struct session session;
    struct progress progress;
    struct job_request order;
    struct job_request_marks did;
    int64_t asked_ns; /* when the last request was made */
    bool answered;    /* a rank has ever answered a request */
    bool unheard;     /* the last request to apply was refused by all: nothing has changed */
    uint64_t marks;
    int64_t marks_ns; /* when they grew last */
    struct drive_watch watch;

    /* steps as the session gets them */
    unsigned group, n, settle;
    double group_s, step_s; /* step_s: as it was judged last; 0: not yet */
    struct {
        double joules, seconds; /* of the group's moments */
        double scale;           /* from a step's price to the session's seconds; 0: not yet */
        struct drive_pace {
            double steps, seconds;
        } pace[2]; /* of a trial: without the setting, and with it */
    } power;

    bool asking;                 /* the session wants candidates */
    int64_t since_ns, asking_ns; /* when what is in force now came into force */
    double workers, prefetch;    /* of the loader, as it was kept; NaN: not known */
    double epoch;                /* its batches in an epoch; NaN: not known */
    unsigned kept;               /* settings */
    struct verdict verdict;
    bool judged;
    char nothing[DRIVE_TEXT];

    size_t notes[JOIN_RANKS]; /* of a ring, that were looked at */

    struct loss_check losses;
    bool numeric;           /* the last setting that was tried or kept changes numbers */
    unsigned numeric_entry; /* its entry, once it has one */
    char undo[LOSSES_TEXT]; /* it was kept and has to go when the session is over: why; "" */
    uint64_t steps, begun;  /* steps of the job, and how many when the trial began */
    unsigned begun_trial, entries;
    bool asked; /* some setting was ever changed */
    struct drive_stretch before, after;
    struct drive_stretch without; /* the stretch before the last setting was kept */
    unsigned last;                /* entry of that setting; SESSION_ENTRIES: there is none */
    uint64_t moment_ns;           /* the last one that was looked at */
    int64_t begun_ns;             /* when the trial began that has no entry yet; 0: there is none */
    struct {
        struct run_tuning tuning;
        struct run_trial trials[SESSION_ENTRIES + 1];
        unsigned told; /* sentences of progress: something has changed when there are more */
    } record;
    struct {
        double pss_b, processes; /* when memory was read last, which is now and then; 0: never */
        bool asked;              /* it shall be read: of what runs now it is not known */
    } memory;
};

void drive_say(struct drive *d, const char *fmt, ...) PRINTF(2, 3);

/* Carry out what the session wants; tell it something, and carry out what it wants then. */
void drive_obey(struct drive *d, struct session_command c);
void drive_send(struct drive *d, enum session_event_kind kind, const char *why);

/* A setting, and a knob that is set with it; also NULL: none. */
struct drive_wish {
    const char *knob, *value;
    const char *also, *also_value;
    const char *back; /* the value for ranks that are cut off from the others; NULL: it stays */
};

/* Ask all ranks for it. False when that cannot be asked, with why. */
bool drive_request(struct drive *d, const struct drive_wish *w, bool apply, const char **why);

/* Ranks of another host can not be asked any more: nothing else is tried. */
void drive_part(struct drive *d);

/* The same of a setting of this machine, which is in force when this returns; with why, of
 * SESSION_TEXT letters. */
bool drive_is_machine(const struct drive *d, const char *knob);
bool drive_set_machine(struct drive *d, const char *knob, const char *value, char *why);

/* Add what this machine has set to the notes of a run. -ENOMEM. */
int drive_add_machine(struct drive *d, struct run *r) CHECK_RESULT;

/* Tell what is new, and take note of it when something was kept or is not any more. */
void drive_progress(struct drive *d);
void drive_kept(struct drive *d);

/* Write down what memory the last setting that was kept takes, as far as it was seen. */
void drive_weigh(struct drive *d);

/* What was tried so far, to be stored with the run; valid until the next event, and its texts as
 * long as there is a drive. NULL: there is nothing to try on. */
const struct run_tuning *drive_record(struct drive *d);

/* Nothing is tried any more, for this reason. */
void drive_off(struct drive *d, const char *fmt, ...) PRINTF(2, 3);

/* Begin the session, after what earlier runs have shown. */
void drive_session(struct drive *d);

/* Sort out what takes effect with a restart: true when there is to be a race, which takes *p over;
 * else such candidates are written down as left. */
bool drive_race(struct drive *d, struct proposals *p);

/* Judge the job as it is now, and offer the session what would make it faster. */
void drive_look(struct drive *d);

/* Judge only, for what remains: nothing where too few steps tell; same: then it is what was judged
 * last, with the settings that are in force now. */
void drive_judge(struct drive *d, bool same);

/* After the session: begin; a step; an order came to this; the setting of an entry has to go. */
void drive_watch_begin(struct drive *d);
void drive_watch_step(struct drive *d, double seconds, unsigned steps);
void drive_watch_done(struct drive *d, bool done, const char *why);
void drive_watch_undo(struct drive *d, unsigned entry, const char *why);

/* Find the processes that train; see whether they still are those. */
void drive_gather(struct drive *d);
void drive_look_at_members(struct drive *d);

/* Take what was joined, and what came of a request; take the last moment. */
void drive_take_steps(struct drive *d);
void drive_add_moment(struct drive *d);

/* Begin to count for what is in force now; a setting of this machine came into force just now. */
void drive_begin_group(struct drive *d);
void drive_switched_now(struct drive *d);

/* How many steps after a change are left out: batches that the loader has ready are still used up
 * as they were loaded. */
unsigned drive_settle(const struct drive *d);

/* Count a step for the card, before or after the first change. */
void drive_count_step(struct drive *d, const struct join_step *s);

/* Remember the memory of all processes, which is read now and then: before members are found. */
void drive_see_memory(struct drive *d);

/* With a goal that wants the power: its plan; the end of a moment, before steps of the next: true
 * with what its steps cost, in the session's seconds, where that is known; by how much the setting
 * on trial makes steps faster (NaN: not known). */
void drive_plan_power(struct session_plan *plan);
bool drive_end_moment(struct drive *d, const struct run_moment *m, double *seconds);
double drive_speed(const struct drive *d);

/* Undo what makes the loss worse, or the job hang. */
void drive_look_for_trouble(struct drive *d);

/* See whether the shim took workers back for want of memory; at the end of the job, with the entry
 * of what was tried then, whether it was killed for that. */
void drive_look_at_memory(struct drive *d);
void drive_refuse_at_end(struct drive *d, const struct run *r, unsigned tried);

/* A knob of the loader, which each rank has of its own. */
bool drive_is_loader(const char *knob);

extern const struct drive_stretch drive_stretch_none;

/* Whether the job has just what was kept: no candidate, nothing that is taken back. */
bool drive_at_best(const struct drive *d);

#endif
