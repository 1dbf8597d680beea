/* Where the data of jobs are: a job goes to the best of the places that have them, if several are
 * as good by the policy; a start elsewhere may cost it the time to bring them. For src/sched. */
#ifndef BRIM_SCHED_DATA_H
#define BRIM_SCHED_DATA_H
#include "base/err.h"
#include "sched/free_capacity.h"

struct action;
struct sched;
struct str;

struct data {
    struct nearby *lists; /* by number of the workload's places; NULL: no job says where */
    int64_t *until_ms;    /* by job: its data are there, in this start; NULL: that costs nothing */
};

/* -ENOMEM; -EINVAL with a sentence for a policy under which jobs cannot pay for their data. */
int data_open(struct sched *s, struct err *e) CHECK_RESULT;

/* Where the data of a job are; NULL: nobody said. */
const struct nearby *data_of(const struct sched *s, uint32_t job);

/* What a job that waits pays at most for its data. */
int64_t data_most_ms(const struct sched *s, uint32_t job);

/* A job starts at its place from a time on, before it is among those that run: it pays for its
 * data. It stops: what it has not paid yet is no longer left of it. */
void data_start(struct sched *s, uint32_t job, int64_t from_ms);
void data_stop(struct sched *s, uint32_t job, int64_t now_ms);

/* Behind the sentence of a start. */
void reason_data(const struct sched *s, const struct action *a, struct str *out);

#endif
