/* An observer of one job, as the files of observe() see it: observe.c from its start to its end,
 * measure.c what is measured meanwhile, others.c observers on other hosts. */
#ifndef BRIM_RUN_WATCH_OBSERVE_PRIVATE_H
#define BRIM_RUN_WATCH_OBSERVE_PRIVATE_H
#include <stdbool.h>
#include <stdint.h>

#include "run/archive/retry.h"
#include "run/job/family.h"
#include "run/job/find_ranks.h"
#include "run/job/identity.h"
#include "run/job/launch.h"
#include "run/job/pss.h"
#include "run/job/sample_rate.h"
#include "run/meet/meeting.h"
#include "run/moment/moment.h"
#include "run/ring/control.h"
#include "run/ring/ring_folder.h"
#include "run/ring/rings.h"
#include "run/watch/loop_watch.h"
#include "run/watch/node.h"
#include "run/watch/observe.h"
#include "run/watch/series.h"
#include "run/watch/stacks.h"

struct observer {
    const struct observe_config *c;
    struct observed *out;
    struct identity identity;
    struct launch launch;
    int root, proc, timer;
    int stop;                /* a signalfd: the pilot shall stop; -1 */
    struct control *control; /* NULL: there is no pilot */
    struct meeting *meeting; /* with observers of other hosts; NULL: there is none */
    enum meeting_state met;  /* as the pilot was told */
    struct node *node;
    struct family *family;
    struct rings *rings;
    struct archive_retry keep;
    struct ring_folder folder;
    struct tick ticks[2];
    int now;
    int64_t begin_ns, due_ns, glance_ns, inferred_ns; /* monotonic */
    double reaped_s;                                  /* told to the family */
    char cgroup[SIGNAL_THING];
    struct series series;
    struct loop_watch *loops;    /* NULL: nobody counts the rounds of its loops */
    struct rank_steps inferred;  /* while no rank marks anything */
    struct find_ranks_watch kin; /* while no rank marks anything */
    struct sample_rate pace;
    bool calm;
    int64_t ending_ns; /* when the pilot had enough of the job; 0: it goes on */
    struct pss shared;
    bool told_io;
    uint64_t chance;
    unsigned tried;        /* version of what the pilot has tried that is stored */
    struct stacks *stacks; /* NULL: nobody looks at the job's calls */
    int64_t lines_ns;      /* when lines were stored last */
};

static inline void observer_say(const struct observer *o, const char *sentence)
{
    o->c->say(o->c->arg, sentence);
}

/* ---- measure.c ---- */

/* Wake up at each period, and so that one ends when the next sample is due: 0 or -errno. */
int observer_set_timer(const struct observer *o, int64_t period_ns);
int64_t observer_glance_period(const struct observer *o);

/* What a turn of the timer asks for: marks, a look at the processes, a moment when one is due. 0 or
 * -ENOMEM. */
int observer_glance(struct observer *o, int64_t now_ns) CHECK_RESULT;

/* Steps that were not marked: by the loop that makes them, or by what repeats itself. 0 or
 * -ENOMEM. */
int observer_infer(struct observer *o, int64_t now_ns) CHECK_RESULT;

/* A moment now: 0 or -ENOMEM. */
int observer_sample(struct observer *o, int64_t now_ns) CHECK_RESULT;

/* ---- others.c ---- */

/* Meet observers of other hosts, if the job has ranks there. Without them it is observed as
 * ever. */
void observer_meet(struct observer *o);

/* What has come from them: 0 or -ENOMEM. Who leads may be found out late, or that nobody does. */
int observer_look_at_meeting(struct observer *o) CHECK_RESULT;

/* Why the pilot is not to ask the job for anything; NULL: it may. */
const char *observer_why_elsewhere(const struct observer *o, enum meeting_state met);

/* One of all observers tells the user: who leads, and whoever it has not heard. */
bool observer_leads(const struct observer *o);

/* What rings tell, for the pilot and for the others; arg: the observer. */
void observer_take_event(void *arg, const struct ring_event *e);

#endif
