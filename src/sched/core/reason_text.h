/* Parts of the sentences that say why; for src/sched alone. */
#ifndef BRIM_SCHED_CORE_REASON_TEXT_H
#define BRIM_SCHED_CORE_REASON_TEXT_H
#include "base/str.h"
#include "model/job/job_spec.h"

struct sched;

/* "40 s". */
void reason_time(struct str *out, int64_t ms);

/* "4 devices", "an instance of 3g", "20 % of a device"; "4 CPUs" where those are given. */
void reason_devices(const struct sched *s, const struct work *w, int32_t devices, struct str *out);

/* "job 7, which waits for 4 devices". */
void reason_other(const struct sched *s, uint32_t job, struct str *out);

#endif
