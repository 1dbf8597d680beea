/* Section [share]: jobs of little use that share devices: two that were seen to keep theirs busy
 * for a part of the time only, and together no more than all of it, go on on those of one of them
 * when another job waits (reclaim.h). The other one is a guest: it has no place of its own. For
 * src/sched alone. Without such a section nobody shares. */
#ifndef BRIM_SCHED_FEATURE_DEVICE_SHARING_H
#define BRIM_SCHED_FEATURE_DEVICE_SHARING_H
#include "sched/core/choose_victims.h"
#include "sched/core/feature.h"

extern const struct feature feature_device_sharing;

/* Whether jobs may share at all. */
bool device_sharing_shares(const struct sched *s);

/* With whom a job shares devices, WAITING_NONE. Whose devices it has: of a guest its partner, of
 * any other itself. */
uint32_t device_sharing_partner(const struct sched *s, uint32_t job);
uint32_t device_sharing_host(const struct sched *s, uint32_t job);

/* A job that was taken up without a place of its own runs on the devices of another one, which runs
 * and shares them with no other. */
void device_sharing_pair(struct sched *s, uint32_t guest, uint32_t host);

/* A job was seen at work for so long, before now, and was that busy then. */
void device_sharing_seen(struct sched *s, uint32_t job, int64_t now_ms, int64_t worked_ms,
                         int milli);

/* Jobs that could go to the devices of others, each that owns some; what can be freed, in the form
 * of victims. Where one of two that share devices is idle and can be stopped, the other one counts
 * as alone. Returns how many. */
size_t device_sharing_guests(struct sched *s, int64_t now_ms, struct victim *ret);

/* One of them does, so that another job has a place. -ENOMEM. */
int device_sharing_join(struct sched *s, uint32_t owner, uint32_t other, int64_t now_ms)
    CHECK_RESULT;

/* A key of [share]; whether all that it needs was said (device_sharing_read.c). -EINVAL with a
 * sentence. */
int device_sharing_take(struct policy *p, const struct ini_entry *at, struct err *e) CHECK_RESULT;
int device_sharing_check(const struct policy *p, const char *file, struct err *e) CHECK_RESULT;

#endif
