/* Jobs of little use that share devices: two that were seen to keep theirs busy for a part of the
 * time only, and together no more than all of it, go on on those of one of them when another job
 * waits. For src/sched alone. */
#ifndef BRIM_SCHED_DEVICE_SHARING_H
#define BRIM_SCHED_DEVICE_SHARING_H
#include "base/ini.h"
#include "sched/policy.h"
#include "sched/choose_victims.h"

struct sched;

struct device_sharing_job {
    int64_t seen_ms;  /* that it was seen at work */
    double sum;       /* of how busy, by that time */
    int64_t since_ms; /* that it is that busy; it runs */
    uint32_t partner; /* WAITING_NONE */
    int16_t milli;
    bool guest; /* its devices are its partner's */
};

struct device_sharing {
    struct device_sharing_job *jobs; /* NULL: there is no [share] */
    struct victim *victims;          /* those that could move to others */
    uint32_t *host;                  /* of each, by job */
};

/* A key of [share]; whether all that it needs was said. -EINVAL with a sentence. */
int device_sharing_take(struct policy_share_devices *p, const struct ini_entry *at, struct err *e)
    CHECK_RESULT;
int device_sharing_check(const struct policy *p, const char *file, struct err *e) CHECK_RESULT;

/* -ENOMEM. */
int device_sharing_open(struct sched *s, struct err *e) CHECK_RESULT;

/* A job starts, no longer runs, or is that busy from now on. What it shared is its partner's
 * alone. */
void device_sharing_begin(struct sched *s, uint32_t job, int64_t now_ms);
void device_sharing_leave(struct sched *s, uint32_t job, int64_t now_ms);
void device_sharing_use(struct sched *s, uint32_t job, int64_t now_ms, int milli);

/* Whether its devices are another one's; with whom it shares some, WAITING_NONE. */
bool device_sharing_is_guest(const struct sched *s, uint32_t job);
uint32_t device_sharing_partner(const struct sched *s, uint32_t job);

/* Jobs that could go to the devices of others, each that owns some; what can be freed, in the form
 * of victims. Where one of two that share devices is idle and can be stopped, the other one counts
 * as alone. Returns how many. */
size_t device_sharing_guests(struct sched *s, int64_t now_ms, struct victim *ret);

/* One of them does, so that another job has a place. -ENOMEM. */
int device_sharing_join(struct sched *s, uint32_t owner, uint32_t other, int64_t now_ms)
    CHECK_RESULT;

#endif
