/* Jobs of little use that share devices: two that were seen to keep theirs busy for a part of the
 * time only, and together no more than all of it, go on on those of one of them when another job
 * waits. For src/sched alone. */
#ifndef BRIM_SCHED_DEVICE_SHARING_H
#define BRIM_SCHED_DEVICE_SHARING_H
#include "base/ini.h"
#include "sched/policy.h"
#include "sched/choose_victims.h"

struct sched;

struct share_job {
    int64_t seen_ms;  /* that it was seen at work */
    double sum;       /* of how busy, by that time */
    int64_t since_ms; /* that it is that busy; it runs */
    uint32_t partner; /* WAITING_NONE */
    int16_t milli;
    bool guest; /* its devices are its partner's */
};

struct share {
    struct share_job *jobs; /* NULL: there is no [share] */
    struct stop *stops;     /* those that could move to others */
    uint32_t *host;         /* of each, by job */
};

/* A key of [share]; whether all that it needs was said. -EINVAL with a sentence. */
int share_take(struct policy_share_devices *p, const struct ini_entry *at, struct err *e)
    CHECK_RESULT;
int share_check(const struct policy *p, const char *file, struct err *e) CHECK_RESULT;

/* -ENOMEM. */
int share_open(struct sched *s, struct err *e) CHECK_RESULT;

/* A job starts, no longer runs, or is that busy from now on. What it shared is its partner's
 * alone. */
void share_begin(struct sched *s, uint32_t job, int64_t now_ms);
void share_leave(struct sched *s, uint32_t job, int64_t now_ms);
void share_use(struct sched *s, uint32_t job, int64_t now_ms, int milli);

/* Whether its devices are another one's; with whom it shares some, WAITING_NONE. */
bool share_is_guest(const struct sched *s, uint32_t job);
uint32_t share_partner(const struct sched *s, uint32_t job);

/* Jobs that could go to the devices of others, each that owns some; what can be freed, in the form
 * of stops. Where one of two that share devices is idle and can be stopped, the other one counts as
 * alone. Returns how many. */
size_t share_guests(struct sched *s, int64_t now_ms, struct stop *ret);

/* One of them does, so that another job has a place. -ENOMEM. */
int share_join(struct sched *s, uint32_t owner, uint32_t other, int64_t now_ms) CHECK_RESULT;

#endif
