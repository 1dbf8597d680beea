/* A job under observation, from its start to its end. */
#ifndef BRIM_RUN_WATCH_OBSERVE_H
#define BRIM_RUN_WATCH_OBSERVE_H
#include "base/clock.h"
#include "model/job/run.h"
#include "run/archive/run_snapshot.h"
#include "run/meet/meeting_key.h"
#include "run/meet/meeting_place.h"
#include "run/ring/control.h"

/* One that steers the job while it runs. All of it is called by the loop that observes; nothing it
 * does may take long. */
struct observe_pilot {
    void *arg;
    /* The job is about to start, and listens to control. elsewhere: why this control does not reach
     * all ranks, or shall not: a sentence that lives; NULL: it does. It may be called again with
     * one when that is found out later. */
    void (*start)(void *arg, struct control *control, const char *elsewhere);
    void (*event)(void *arg, const struct ring_event *e);
    /* The marks of a moment were read; some 40 times a second. */
    void (*turn)(void *arg, const struct run_snapshot *w);
    /* The user wants it to stop: SIGRTMIN, which is the one signal that is not the job's. */
    void (*stop)(void *arg);
    /* The job has ended, and all that it marked was told; w->run says how. */
    void (*end)(void *arg, const struct run_snapshot *w);
    /* Whether the job is to be ended, asked after each turn and end: it is asked with SIGTERM and
     * killed after some seconds, and nothing that it started stays. NULL: it never is. */
    bool (*over)(void *arg);
    /* Whether memory is to be read in the next moment, which costs more than the rest of it
     * together: else it is now and then. NULL: never. */
    bool (*weighs)(void *arg);
    /* What is on trial now, as text of that size: "" when nothing is. NULL: nothing ever is. */
    void (*tries)(void *arg, char *text, size_t size);
    /* What was tried so far, which is stored with the run: valid until the next call of the pilot,
     * and after 'end' as long as the pilot is. NULL: nothing can be. *version is another one when
     * more than rates have changed. NULL: nothing ever is. */
    const struct run_tuning *(*tried)(void *arg, unsigned *version);
    /* Whether the user of this host allows what an observer on another one asks the job for. NULL:
     * nothing. */
    bool (*may)(void *arg, const char *request);
};

/* One that tells others of the job while it goes on; called after each sample, by the loop that
 * observes. rings: the folder of the rings; trying: what a pilot has on trial, or "". */
struct observe_teller {
    void *arg;
    void (*look)(void *arg, const struct run_snapshot *w, const char *rings, const char *trying);
};

struct observe_config {
    const struct clock *clock;
    char *const *argv; /* the job */
    char *const *env;  /* ours */
    const char *name;  /* NULL: after the job */
    int64_t interval_ns;
    bool uneven;           /* samples are at times of chance, with that interval in the mean */
    const char *runs;      /* the folder of all runs; NULL: it is not stored */
    const char *plugins;   /* the folder of the shim for Python; NULL: there is none */
    const char *libraries; /* its BRIM_LIB; NULL: it needs none */
    const char *fake;      /* a file that scripts accelerators that are not there; NULL */
    const char *cpus;      /* bind the job to these, as the kernel lists them; NULL */
    const struct run_note *notes; /* more for the run's environment */
    size_t n_notes;
    bool shared;     /* see struct launch: Ctrl-C is told to us as well as to the job */
    unsigned chance; /* 16 random bits */
    /* Where observers of the job's other ranks are met, with what secret; NULL: they are not. */
    const struct meeting_place *place;
    const struct meeting_key *key;
    const struct observe_pilot *pilot;   /* NULL: the job is only watched */
    const struct observe_teller *teller; /* NULL: nobody is told of it */
    /* Tell the user a sentence, at most once each. */
    void (*say)(void *arg, const char *sentence);
    void *arg;
};

struct observed {
    int exit;         /* the status that a shell would tell */
    bool started;     /* else exit says why not, and there is no run */
    bool stored;      /* the run can be loaded from folder */
    int asked;        /* the last signal that came for the job and ends jobs; 0: none */
    bool leads;       /* of several observers of the job, the one who reports */
    char folder[512]; /* of the run; "" */
    struct run run;   /* what this observer saw; run_done() */
};

/* Whether we are under another observer already, which sees all that the job does. */
bool observe_nested(char *const *env);

/* Run it. 0 with *ret filled, or a negative errno with a sentence when the job could not be
 * started for want of something. run_done(&ret->run) in any case. */
int observe(const struct observe_config *c, struct observed *ret, struct err *e) CHECK_RESULT;

#endif
