/* The file by which a job that runs is asked to change a setting (brim/control.h): its only
 * writer. It is written by calls, not mapped: a job may cut it off, which would end us with SIGBUS
 * under a mapping. */
#ifndef BRIM_RUN_RING_CONTROL_H
#define BRIM_RUN_RING_CONTROL_H
#include <stdint.h>

#include "base/err.h"

struct control;

/* Make it in the folder of rings, before the job starts. 0 or a negative errno with a sentence. */
int control_make(struct control **ret, const char *folder, struct err *e) CHECK_RESULT;

/* Ends our writing; the file stays for its readers. */
void control_close(struct control *c);
DEFINE_CLEANUP(struct control, control_close)

/* Ask for "target=value", from step at_step on; 0: as soon as it is seen. The request takes the
 * place of the last one. Its number, from 1, in *number; -EINVAL for a text that is too long,
 * -ENODATA where the job has cut the file off, or another negative errno: then nobody reads the
 * request. */
int control_ask(struct control *c, const char *text, uint64_t at_step, uint64_t *number)
    CHECK_RESULT;

/* A request to the job's processes, on this host and others. */
struct control_request {
    uint64_t number, at_step;
    const char *text;
    /* What whoever is cut off from the others asks its own processes for: NULL: nothing. */
    const char *back;
};

/* The same of r; r->number is not looked at. */
int control_try(struct control *c, const struct control_request *r, uint64_t *number) CHECK_RESULT;

/* What was asked last is kept: who is cut off leaves it. */
void control_keep(const struct control *c);

/* Have fn told what is asked, before the job of this host can see it; NULL: what was asked last is
 * kept. */
typedef void control_fn(void *arg, const struct control_request *r);
void control_relay(struct control *c, control_fn *fn, void *arg);

/* Hand on a request with the number that another one gave it. 0 or a negative errno. */
int control_hand_on(struct control *c, const struct control_request *r) CHECK_RESULT;

#endif
