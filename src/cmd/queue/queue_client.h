/* What the commands that speak to the queue of this machine have in common. */
#ifndef BRIM_CMD_QUEUE_QUEUE_CLIENT_H
#define BRIM_CMD_QUEUE_QUEUE_CLIENT_H
#include "base/arena.h"
#include "base/err.h"
#include "base/json_read.h"
#include "queue/job/wire.h"

/* The folder of the queue: the one that was named, else that of the machine when it has one for
 * all, else the user's own on this machine, as a home may be on many. In the arena; NULL when out
 * of memory. */
const char *queue_client_folder(struct arena *a, const char *named) CHECK_RESULT;

/* Whether that folder can be made, where it was named and is not there: the one that it lies in is
 * not made too, which would be a slip of the finger. 0, or -ENOENT with a sentence. */
int queue_client_check_folder(const char *named, const char *folder, struct err *e) CHECK_RESULT;

/* Whether a word names a job as "12" or "12_3" do: 0, or ERR_USAGE with a sentence. */
int queue_client_label(const char *label, struct err *e) CHECK_RESULT;

/* The queue's own answer about one job or array ("12", "12_3") as JSON. The text is in answer. 0 or
 * a negative errno with a sentence. */
int queue_client_job(const char *folder, const char *label, struct str *answer, struct err *e)
    CHECK_RESULT;

/* Which jobs: those that have not ended and those that did since a time (ms), of one user or (NULL)
 * of all, from an id on, and at most so many of them. */
struct queue_listing {
    int64_t since_ms, from;
    const char *user;
    uint64_t most;
};

/* The same of these; the engine tells page by page. *next: the id of the first one that was left
 * out; 0: none was. */
int queue_client_jobs(const char *folder, const struct queue_listing *what, struct str *answer,
                      int64_t *next, struct err *e) CHECK_RESULT;

/* The same of one job, or of an array by its first, once it has ended: waits for that. */
int queue_client_wait(const char *folder, int64_t id, struct str *answer, struct err *e)
    CHECK_RESULT;

/* The jobs of such an answer: an array. */
int queue_client_read(const struct json_value **jobs, struct arena *a, const struct str *answer,
                      struct err *e) CHECK_RESULT;

/* A member as text ("" when there is none), and as a number. */
const char *queue_client_text(const struct json_value *job, const char *key);
double queue_client_number(const struct json_value *job, const char *key);

#endif
