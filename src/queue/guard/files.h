/* The files of a queue, beside its database:
 *
 *     jobs/ID/order       what was asked for, as it came over the socket; of an array the first's
 *     jobs/ID/output      what the job writes, unless it was told to write elsewhere
 *     jobs/ID/claim.N     held under lock by the guard of attempt N for as long as it lives; it
 *                         tells the guard, and where the attempt's control group is to be
 *     jobs/ID/start.N     which process the command is, and its control group; on the disk before
 *                         it is executed
 *     jobs/ID/stop.N      how the engine wants it to end
 *     ends/ID.N           how it ended; on the disk before the guard goes
 *
 * A claim appears with its lock held and never twice: of two guards of one attempt one finds it
 * there and goes. So a command is executed once per attempt, whoever dies when. */
#ifndef BRIM_QUEUE_GUARD_FILES_H
#define BRIM_QUEUE_GUARD_FILES_H
#include <sys/types.h>

#include "queue/guard/control_group.h"
#include "queue/job/job.h"

/* Open the folder, made if need be with jobs/ and ends/ in it; shared: others may look into it.
 * Returns a descriptor. */
int queue_files_open(const char *path, bool shared, struct err *e) CHECK_RESULT;

/* Make the folder of a job. */
int queue_folder_make(int dir, int64_t id, struct err *e) CHECK_RESULT;

int queue_order_write(int dir, int64_t array, const struct str *order, struct err *e) CHECK_RESULT;
int queue_order_read(int dir, int64_t array, struct str *ret, struct err *e) CHECK_RESULT;

/* Claim an attempt: a descriptor that holds the lock, -EEXIST when it was claimed. group: where its
 * control group is to be; "". */
int queue_claim(int dir, int64_t id, int32_t attempt, const char *group) CHECK_RESULT;

enum queue_claimed { CLAIM_NONE, CLAIM_HELD, CLAIM_LEFT };

/* Whether an attempt is claimed and its guard lives, or not any more. *pid is that guard's. */
enum queue_claimed queue_claim_look(int dir, int64_t id, int32_t attempt, pid_t *pid);

/* Note that the command is process pid in a control group; "": there is none. Returns after it is
 * on the disk. */
int queue_start_write(int dir, int64_t id, int32_t attempt, pid_t pid, const char *group)
    CHECK_RESULT;

enum queue_started { START_NONE, START_LIVES, START_GONE };

/* Whether the command was about to be executed, and that very process is there. */
enum queue_started queue_start_look(int dir, int64_t id, int32_t attempt, pid_t *pid);

/* The attempt's control group since this machine was started: of its start, else the one that its
 * guard was to make; "" when there is none. */
void queue_group_look(int dir, int64_t id, int32_t attempt, char ret[CONTROL_GROUP]);

int queue_end_write(int dir, int64_t id, int32_t attempt, const struct queue_end *end) CHECK_RESULT;
/* 0, or -ENOENT when there is none. */
int queue_end_read(int dir, int64_t id, int32_t attempt, struct queue_end *ret) CHECK_RESULT;

int queue_stop_write(int dir, int64_t id, int32_t attempt, enum queue_stop stop) CHECK_RESULT;
enum queue_stop queue_stop_read(int dir, int64_t id, int32_t attempt);

/* Remove what tells of an attempt, once the database has it: all but the claim, which a guard may
 * still come to that was started long ago. All of a job. */
void queue_attempt_forget(int dir, int64_t id, int32_t attempt);
void queue_folder_remove(int dir, int64_t id);

#endif
