/* What a queue remembers: its jobs, in one SQLite file. Each change is on the disk when the call
 * that commits it returns. With the sqlite3 shell: SELECT * FROM job. */
#ifndef BRIM_QUEUE_JOB_STORE_H
#define BRIM_QUEUE_JOB_STORE_H
#include "queue/job/job.h"

struct queue_store;

/* Open the file or make it. A file that is damaged, or of a later brim, is left as it is: -EUCLEAN,
 * with a sentence. */
int queue_store_open(struct queue_store **ret, const char *path, struct err *e) CHECK_RESULT;
void queue_store_close(struct queue_store *s);
DEFINE_CLEANUP(struct queue_store, queue_store_close)

/* What stands between these is stored whole or not at all. Not nested. */
int queue_store_begin(struct queue_store *s, struct err *e) CHECK_RESULT;
int queue_store_commit(struct queue_store *s, struct err *e) CHECK_RESULT;
void queue_store_rollback(struct queue_store *s);

/* Add a job: its id is set, to one that no job ever had. */
int queue_store_add(struct queue_store *s, struct queue_job *j, struct err *e) CHECK_RESULT;

/* The last id that a job was given; 0: none. And let the next one be above an id. */
int queue_store_last(struct queue_store *s, int64_t *ret, struct err *e) CHECK_RESULT;
int queue_store_pass(struct queue_store *s, int64_t id, struct err *e) CHECK_RESULT;

/* What became of it. */
int queue_store_put(struct queue_store *s, const struct queue_job *j, struct err *e) CHECK_RESULT;

/* Jobs in the order of their ids; the callback's job is valid during the call. It returns 0 to go
 * on; any other value ends the listing, which returns it. */
enum queue_which {
    QUEUE_LIVE,     /* those that have not ended */
    QUEUE_RECENT,   /* for queue_store_recent() */
    QUEUE_OF_ARRAY, /* those of an array, or the one job with that id */
    QUEUE_OLD,      /* those that ended before the argument (ms), 1,000 at most */
};
typedef int queue_job_fn(void *arg, const struct queue_job *j);
int queue_store_list(struct queue_store *s, enum queue_which which, int64_t argument,
                     queue_job_fn *fn, void *arg, struct err *e) CHECK_RESULT;

/* The same of those that have not ended, or have since then (ms), with an id of 'from' at least. */
int queue_store_recent(struct queue_store *s, int64_t since_ms, int64_t from, queue_job_fn *fn,
                       void *arg, struct err *e) CHECK_RESULT;

/* How many of those that a dependency on id names are where; all 0: there is no such job. */
int queue_store_met(struct queue_store *s, int64_t id, struct queue_met *ret, struct err *e)
    CHECK_RESULT;

/* Device time in ms that users had of jobs that ended, each halved every half_life_ms until now. */
typedef int queue_had_fn(void *arg, const char *user, double had_ms);
int queue_store_had(struct queue_store *s, int64_t now_ms, int64_t half_life_ms, queue_had_fn *fn,
                    void *arg, struct err *e) CHECK_RESULT;

/* The first job that was submitted with a token by a user; 0: none. */
int queue_store_token(struct queue_store *s, const char *token, uint32_t uid, int64_t *ret,
                      struct err *e) CHECK_RESULT;

int queue_store_remove(struct queue_store *s, int64_t id, struct err *e) CHECK_RESULT;

#endif
