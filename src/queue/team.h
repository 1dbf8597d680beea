/* The team of a job that is submitted: groups of the machine are teams. */
#ifndef BRIM_QUEUE_TEAM_H
#define BRIM_QUEUE_TEAM_H
#include "queue/job/job.h"

/* Of a job whose owner named no team: the primary group of its owner. A group of one, with the name
 * of its user, is none. */
void queue_team_usual(struct queue_job *j);

/* Whether its owner may say so: the name of a group is for those that are in it, another name for
 * all. 0, or -EACCES with a sentence. */
int queue_team_check(const struct queue_job *j, struct err *e) CHECK_RESULT;

#endif
