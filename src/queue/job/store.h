/* What a queue remembers: its jobs, in one SQLite file. Each change is on the disk when the call
 * that commits it returns. With the sqlite3 shell: SELECT * FROM job. */
#ifndef BRIM_QUEUE_JOB_STORE_H
#define BRIM_QUEUE_JOB_STORE_H
#include "queue/job/job.h"

struct local_store;

/* Open the file or make it. A file that is damaged, or of a later brim, is left as it is: -EUCLEAN,
 * with a sentence. */
int local_store_open(struct local_store **ret, const char *path, struct err *e) CHECK_RESULT;
void local_store_close(struct local_store *s);
DEFINE_CLEANUP(struct local_store, local_store_close)

/* What stands between these is stored whole or not at all. Not nested. */
int local_store_begin(struct local_store *s, struct err *e) CHECK_RESULT;
int local_store_commit(struct local_store *s, struct err *e) CHECK_RESULT;
void local_store_rollback(struct local_store *s);

/* Add a job: its id is set, to one that no job ever had. */
int local_store_add(struct local_store *s, struct local_job *j, struct err *e) CHECK_RESULT;

/* What became of it. */
int local_store_put(struct local_store *s, const struct local_job *j, struct err *e) CHECK_RESULT;

/* Jobs in the order of their ids; the callback's job is valid during the call. It returns 0 to go
 * on; any other value ends the listing, which returns it. */
enum local_which {
    LOCAL_LIVE,     /* those that have not ended */
    LOCAL_RECENT,   /* these, and those that ended since the argument (ms) */
    LOCAL_OF_ARRAY, /* those of an array, or the one job with that id */
    LOCAL_OLD,      /* those that ended before the argument (ms), 1,000 at most */
};
typedef int local_job_fn(void *arg, const struct local_job *j);
int local_store_list(struct local_store *s, enum local_which which, int64_t argument,
                     local_job_fn *fn, void *arg, struct err *e) CHECK_RESULT;

/* How many of those that a dependency on id names are where; all 0: there is no such job. */
int local_store_met(struct local_store *s, int64_t id, struct local_met *ret, struct err *e)
    CHECK_RESULT;

/* Device time in ms that users had of jobs that ended, each halved every half_life_ms until now. */
typedef int local_had_fn(void *arg, const char *user, double had_ms);
int local_store_had(struct local_store *s, int64_t now_ms, int64_t half_life_ms, local_had_fn *fn,
                    void *arg, struct err *e) CHECK_RESULT;

/* The first job that was submitted with a token by a user; 0: none. */
int local_store_token(struct local_store *s, const char *token, uint32_t uid, int64_t *ret,
                      struct err *e) CHECK_RESULT;

int local_store_remove(struct local_store *s, int64_t id, struct err *e) CHECK_RESULT;

#endif
