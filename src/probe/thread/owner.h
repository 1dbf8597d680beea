/* A thread that owns a driver's library: it alone calls into it, and reads when it is asked. The
 * loop that asks takes the newest finished reading and never waits for a driver.
 *
 *     static const struct owner_work work = { read_gpus, forget, sizeof(struct reading),
 *                                             "GPU", "gpu", "look at nvidia-smi" };
 *     owner_start(&o, &work, state, e);
 *     each tick:  owner_ask(o);
 *                 if (!owner_report(o, t, patience_ns) && owner_newest(o, &reading, NULL) > 0)
 *                     ... rows of the reading ...
 *     owner_stop(o);
 */
#ifndef BRIM_PROBE_THREAD_OWNER_H
#define BRIM_PROBE_THREAD_OWNER_H
#include <stdbool.h>

#include "model/signal/signal.h"
#include "probe/thread/watch.h"

/* What the thread does. read() and done() run in it; read() tells where it is with watch_at(), may
 * keep what it likes in state, and finds in out what it wrote there the last time (zeros at
 * first). */
struct owner_work {
    int (*read)(void *state, struct watch_where *where, void *out, struct err *e);
    void (*done)(void *state); /* free the state */
    size_t size;               /* of a reading */
    /* for owner_report(), NULL without it: */
    const char *device;  /* what a device is called in sentences: "GPU" */
    const char *thing;   /* and in rows, before its number: "gpu" */
    const char *way_out; /* what to do when it hangs */
};

struct owner;

/* Start the thread and ask for the first reading. The state is the thread's then; when this fails
 * it remains the caller's. work and its strings must live for ever. -ENOMEM, -EAGAIN. */
int owner_start(struct owner **ret, const struct owner_work *work, void *state, struct err *e)
    CHECK_RESULT;

/* Wait until the first reading has finished, at most ns: whether it has. For opening, not for
 * ticks. */
bool owner_wait(struct owner *o, int64_t ns);

/* Ask for a reading; nothing when one is under way. */
void owner_ask(struct owner *o);

/* Copy the newest finished reading to out: 1; 0 while there is none; or what read() returned when
 * it failed, with its sentence. */
int owner_newest(struct owner *o, void *out, struct err *e) CHECK_RESULT;

/* A call that has not answered for too long. */
struct owner_stuck {
    const char *call;
    int device; /* ABSENT: about none */
    int64_t ns; /* for how long */
};

/* Whether a call is under way for longer than patience_ns (<= 0: never too long); *ret says
 * which. */
bool owner_hung(struct owner *o, int64_t patience_ns, struct owner_stuck *ret);

/* Whether a reading is under way for longer than that, also when each of its calls answers: what
 * owner_newest() gives is too old then. */
bool owner_late(struct owner *o, int64_t patience_ns);

/* As owner_hung(), with an event of kind "probe" in the tick when that begins, and its end when the
 * call has answered. */
bool owner_report(struct owner *o, struct tick *t, int64_t patience_ns);

/* End the thread: it frees its state. Waits for it as long as nobody notices (0.1 s since its last
 * call began, and 1 s for all calls together), and leaves it behind when a call hangs: thread and
 * state are freed should that ever return, and do not keep the process from exiting. */
void owner_stop(struct owner *o);
DEFINE_CLEANUP(struct owner, owner_stop)

#endif
