/* A scheduler: told what happened to jobs, asked at moments of the caller's choice what to do. It
 * has no clock and does nothing itself: a simulator or a real cluster carries its actions out. */
#ifndef BRIM_SCHED_SCHED_H
#define BRIM_SCHED_SCHED_H
#include "base/str.h"
#include "model/machine/pool.h"
#include "model/job/bursts.h"
#include "model/job/job_spec.h"
#include "sched/core/action.h"
#include "sched/policy/policy.h"
#include "sched/place/free_capacity.h"
#include "sched/core/sched_job.h"
#include "sched/core/watts.h"

struct sched;

/* For the jobs of a workload on a pool, all devices of which are free. All three are borrowed.
 * -ENOMEM, or -EINVAL with a sentence for a policy that cannot work. */
int sched_open(struct sched **ret, const struct policy *policy, const struct pool *pool,
               const struct workload *jobs, struct err *e) CHECK_RESULT;
void sched_close(struct sched *s);
DEFINE_CLEANUP(struct sched, sched_close)

/* Under a policy with [power], before anything else: what devices of each kind of the pool draw.
 * Without such a section nothing happens. -ENOMEM, or -EINVAL with a sentence. */
int sched_watts(struct sched *s, const struct watts *kinds, struct err *e) CHECK_RESULT;

/* What all nodes draw by that; how many starts were at a lower limit. */
int64_t sched_drawn_mw(const struct sched *s);
uint64_t sched_limited(const struct sched *s);

/* Which of the three a job is (tiers.h): a replica of a service, a batch job, a spot job. */
bool sched_is_service(const struct sched *s, uint32_t job);
bool sched_is_spot(const struct sched *s, uint32_t job);

/* Whether a running job has a node that its data are not on, where it says where they are. */
bool sched_is_away(const struct sched *s, uint32_t job);

/* What spot jobs were told to leave and nobody has yet, in thousandths of devices. */
int64_t sched_leaving(const struct sched *s);

/* What a node keeps for services: devices of its reserve. */
int sched_reserve(const struct sched *s, uint32_t node);

/* Whether a job could ever run on this pool. */
bool sched_possible(struct sched *s, uint32_t job);

/* A job waits from now on; length_ms is what is known of how long it will take, or WORK_UNKNOWN. */
void sched_submit(struct sched *s, uint32_t job, int64_t now_ms, int64_t length_ms);

/* Instead, take up a job as another scheduler had it: was is what sched_job() said there, where is
 * the place of one that runs (NULL: it waits). -ENOMEM. */
int sched_take_up(struct sched *s, uint32_t job, int64_t now_ms, const struct sched_job *was,
                  const struct fit *where) CHECK_RESULT;

/* The same for one that runs on the devices of another job, which was taken up before: it has no
 * place of its own, and the policy a section [share]. */
void sched_take_up_guest(struct sched *s, uint32_t job, int64_t now_ms, const struct sched_job *was,
                         uint32_t host);

/* A job that runs was seen at work for so long up to now, and was that busy then, in thousandths;
 * for a policy with [share]. */
void sched_seen(struct sched *s, uint32_t job, int64_t now_ms, int64_t worked_ms, int milli);

/* What a user (by number; -1: those without one) has had before, as device time in ms that is
 * worth something yet at now_ms. */
void sched_had(struct sched *s, int user, int64_t now_ms, double had_ms);

/* A job has ended, or failed, or was taken away. */
void sched_end(struct sched *s, uint32_t job, int64_t now_ms);

/* It became known what is left of a running job. */
void sched_progress(struct sched *s, uint32_t job, int64_t now_ms, int64_t left_ms);

/* All jobs that run have stopped and start again, each at the cost of a start; since_ms: by job,
 * when it began to run. left_ms: by job, what was left of it then, and what is left of it now.
 * Returns by how much each ends later so; WORK_UNKNOWN: some by more than others. */
int64_t sched_restart_all(struct sched *s, int64_t now_ms, const int64_t *since_ms,
                          int64_t *left_ms);

/* A running job has lost its devices: it waits again. left_ms is what is known to be left of it. */
void sched_return(struct sched *s, uint32_t job, int64_t now_ms, int64_t left_ms);

/* A node is lost (up false), on which no job runs any more; it is back. */
void sched_node(struct sched *s, uint32_t node, bool up);

/* From now on nothing starts on a node, or may again. -ENOMEM. */
int sched_close_node(struct sched *s, uint32_t node, bool closed) CHECK_RESULT;

/* Whether a job that runs has a part of a node. */
bool sched_is_on(const struct sched *s, uint32_t job, uint32_t node);

/* A running job keeps its devices that busy from now on, in thousandths; before it is told
 * anything, it is busy. Looked at with a section [idle] or [share] only. */
void sched_use(struct sched *s, uint32_t job, int64_t now_ms, int milli);

/* The same for one that was taken up: when it kept its devices busy up to now_ms, on a clock that
 * was at first_ms when that of the scheduler was at 0. What nobody saw for long is work. */
void sched_worked(struct sched *s, uint32_t job, const struct bursts *b, int64_t now_ms,
                  int64_t first_ms);

/* A job that was parked needs devices again: it waits. So much of what is left of it has passed
 * meanwhile. */
void sched_wake(struct sched *s, uint32_t job, int64_t now_ms, int64_t passed_ms);

/* Whether jobs are resized at all. How many devices a job has, or asked for while it has none. */
bool sched_resizes(const struct sched *s);
int32_t sched_devices(const struct sched *s, uint32_t job);

/* What it costs a job to start again after a preemption. */
int64_t sched_restart_ms(const struct sched *s, uint32_t job);

/* Decide. The actions count as carried out, in their order; they are valid until the next call.
 * Sets when to ask again if nothing happens before; WORK_UNKNOWN: no need to. -ENOMEM. */
int sched_pass(struct sched *s, int64_t now_ms, int64_t *again_ms) CHECK_RESULT;
const struct action *sched_actions(const struct sched *s, size_t *n);

/* Add the sentence that says why. Times in it are relative to now_ms. */
void sched_reason(const struct sched *s, const struct action *a, int64_t now_ms, struct str *out);

/* Whether a job that waits would be above the share of its class or team; adds a sentence that says
 * so. */
bool sched_above_share(const struct sched *s, uint32_t job, struct str *out);

const struct sched_job *sched_job(const struct sched *s, uint32_t job);
const struct free_capacity *sched_capacity(const struct sched *s);

/* The jobs that run, in no order. */
const uint32_t *sched_running(const struct sched *s, size_t *n);

#endif
