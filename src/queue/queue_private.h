/* What the files of the embedded engine share. */
#ifndef BRIM_QUEUE_QUEUE_PRIVATE_H
#define BRIM_QUEUE_QUEUE_PRIVATE_H
#include <sys/types.h>

#include "queue/job/job.h"
#include "queue/job/pool.h"
#include "queue/job/sensor.h"
#include "queue/job/store.h"
#include "queue/job/wire.h"
#include "queue/plan.h"
#include "queue/server.h"

enum { QUEUE_CLIENTS = 64 };

/* One that is connected. */
struct queue_client {
    int fd; /* -1: free */
    uid_t uid;
    gid_t gid;
    char head[WIRE_HEAD];
    size_t got; /* of the head, then of the message */
    struct str in, out;
    size_t sent;
    bool answered;
    bool waits;       /* its request is whole: the answer comes when jobs have ended */
    int64_t since_ms; /* monotonic */
};

/* How busy devices are: who tells, and when to ask. */
struct queue_look {
    int sensor;     /* a descriptor; -1: none */
    int64_t due_ms; /* monotonic: look at CPUs, or start a sensor, then */
    bool said;      /* that nobody tells */
    bool unstored;  /* the last look could not be stored, which was said */
};

/* Attempts without a guard (orphans.c). */
struct queue_orphan;
struct orphans {
    struct queue_orphan *all;
    size_t n;
};

struct local {
    const struct queue_config *c;
    int dir, lock, listener, notify, signals;
    struct queue_store *store;
    struct queue_pool pool;
    struct queue_job **jobs; /* those that have not ended, in the order of their ids */
    size_t n, room;
    bool changed;     /* something is to be decided */
    bool ended;       /* jobs have, since clients that wait for that were looked at */
    int64_t again_ms; /* monotonic: decide again then; INT64_MAX */
    int64_t retry_ms; /* monotonic: the store failed, do not try before; 0 */
    int64_t look_ms;  /* monotonic: look after the guards then */
    int64_t idle_ms;  /* monotonic: since when there is nothing to do; 0: there is */
    bool stop;
    struct queue_look look;
    struct orphans orphans;
    int n_clients;   /* at most, as descriptors leave room for */
    int64_t deaf_ms; /* monotonic: none is accepted before */
    struct queue_client clients[QUEUE_CLIENTS];
};

/* The descriptors that are no client's: the database, locks, a file of a job and its draft, what
 * starting a guard takes. */
enum { QUEUE_FILES = 24, QUEUE_CLIENTS_LEAST = 8 };

/* The time of day, and the time that never steps. */
static inline int64_t queue_wall_ms(const struct local *l)
{
    return clock_wall_ns(l->c->clock) / NS_PER_MS;
}

static inline int64_t queue_now_ms(const struct local *l)
{
    return clock_monotonic_ns(l->c->clock) / NS_PER_MS;
}

/* ---- lifecycle.c: what becomes of jobs ---- */

/* Read the jobs that have not ended, and look after those that run. */
int life_load(struct local *l, struct err *e) CHECK_RESULT;
void life_free(struct local *l);

/* Add a job that was stored. -ENOMEM. */
int life_add(struct local *l, const struct queue_job *j) CHECK_RESULT;

/* The job of that id; NULL when it has ended or there never was one. */
struct queue_job *life_find(const struct local *l, int64_t id);

/* See whether a job that runs has ended, and store that. */
void life_look(struct local *l, struct queue_job *j);
void life_look_all(struct local *l);

/* Begin an attempt that was stored. */
void life_spawn(struct local *l, const struct queue_job *j);

/* Tell the guard of an attempt what was stored: that the job is to end. */
void life_tell(struct local *l, const struct queue_job *j);

/* End a job that waits. 0 or an error of the store: then it waits on. */
int life_drop(struct local *l, struct queue_job *j, enum queue_outcome outcome, const char *why,
              struct err *e) CHECK_RESULT;

/* Take those that have ended out of the list. */
void life_sweep(struct local *l);

/* A failure of the store: said once, tried again later. */
void life_trouble(struct local *l, const struct err *e);

/* ---- unknown.c ---- */

/* Let new jobs have numbers above those of which the folder has files and the database knows
 * nothing. One of them that runs: -EEXIST with a sentence. */
int queue_unknown_pass(const struct local *l, struct err *e) CHECK_RESULT;

/* ---- orphans.c ---- */

/* See to an attempt whose guard was killed: its time limit, its being stopped, and those that its
 * first process leaves behind. Whether any of its processes is left; *stop (enum queue_stop): why
 * it was being ended. */
bool orphans_keep(struct local *l, const struct queue_job *j, uint8_t *stop);

/* The attempt has ended. */
void orphans_forget(struct local *l, const struct queue_job *j);
void orphans_free(struct local *l);

/* ---- decide.c ---- */

/* Ask the scheduler, store what it says, and do it. */
void queue_decide(struct local *l);

/* Which of the jobs may start, by number in l->jobs; says of others why not. ret: room for l->n
 * + 1. */
int queue_decide_items(struct local *l, struct queue_item *ret, struct err *e) CHECK_RESULT;

/* ---- apply.c ---- */

/* Store what a pass decided, and do it. */
int queue_carry(struct local *l, const struct queue_plan *p, struct err *e) CHECK_RESULT;

/* Begin those again that were stopped and go on with other devices. Stored, then done. */
int queue_go_on(struct local *l, struct err *e) CHECK_RESULT;

/* A job that runs and has one of the slots, but that one (0: none); NULL. */
const struct queue_job *queue_holder(const struct local *l, const char *slots, int64_t but);

/* ---- idle_watch.c ---- */

/* Look at how busy jobs are, when it is time, and where the policy asks for that. */
void queue_look(struct local *l);
int64_t queue_look_due(const struct local *l); /* monotonic; INT64_MAX */
void queue_look_take(struct local *l);         /* the sensor has something to read */
void queue_look_done(struct local *l);

/* ---- share.c ---- */

/* The job that is on the same devices as one that runs; NULL. */
struct queue_job *queue_partner(const struct local *l, const struct queue_job *j);

/* Why a job that runs and may share devices shares none now, in words; out stays as it is where
 * that is not so, or where only another job's need is missing. */
void queue_share_why(const struct local *l, const struct queue_job *j, struct str *out);

/* Look at the steps of jobs that may share devices, and let those that cost another one too much go
 * back. After it queue_share_works() says whether one of two on one device works. */
void queue_share_look(struct local *l);

/* Whether a job that is idle may keep its memory on its devices while others have them. */
bool queue_may_park(const struct local *l, const struct queue_job *j);

/* A job that is parked on one of the slots that another one is to have, and has to leave first: its
 * memory does not fit beside that one's. It is asked to. NULL: there is none. */
const struct queue_job *queue_parked(struct local *l, const struct queue_job *j, const char *slots);

/* How busy a job is whose devices were seen to be that busy, in thousandths, their memory in use so
 * far; -1: not known. */
int queue_share_use(struct local *l, struct queue_job *j, int milli, int memory_milli);

/* ---- requests.c ---- */

/* Answer what a client asks. */
void queue_request(struct local *l, const struct queue_client *client, struct str *answer);

/* Whether a client asks to be answered when jobs have ended, and one of them has not. */
bool queue_request_waits(const struct local *l, const struct queue_client *client);

/* ---- submit.c ---- */

int queue_submit(struct local *l, const struct queue_client *client, struct str *answer,
                 struct err *e) CHECK_RESULT;

/* ---- show.c ---- */

/* A job as JSON. Its command and environment are not told: they may hold secrets. */
struct json;
void queue_show_job(struct json *json, const struct queue_job *j, const char *sharing,
                    int64_t now_ms);

/* ---- clients.c ---- */

int clients_open(struct local *l, struct err *e) CHECK_RESULT;
void clients_accept(struct local *l);
void clients_turn(struct local *l, struct queue_client *client);

/* Answer those that waited for jobs that have ended. */
void clients_ended(struct local *l);
void clients_drop(struct queue_client *client);

#endif
