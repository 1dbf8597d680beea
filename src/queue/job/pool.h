/* What jobs are given on one machine: its accelerators, with CPUs near them; where it has none, its
 * CPUs. Made of a machine that was read; pure. */
#ifndef BRIM_QUEUE_JOB_POOL_H
#define BRIM_QUEUE_JOB_POOL_H
#include "model/job/job_spec.h"
#include "model/machine/machine.h"
#include "model/machine/pool.h"
#include "queue/job/job.h"

enum { QUEUE_CPUS = 8192, QUEUE_GIVEN = 4 /* variables */ };

/* An accelerator, or a CPU where those are given. */
struct queue_slot {
    const char *name; /* "GPU0", "CPU3" */
    int32_t index;    /* as the driver counts among those of its maker; of a CPU its number */
    uint16_t vendor;  /* of an accelerator */
    int16_t numa;     /* index; ABSENT */
    int64_t memory_b; /* of an accelerator; ABSENT */
    bool has_pci;     /* an accelerator whose address is known */
    struct pci_address pci;
};

struct queue_pool {
    struct pool pool;         /* its nodes are parts of the machine */
    struct queue_slot *slots; /* those of one node behind the other */
    size_t n_slots;
    uint32_t *first;    /* by node: its first slot; one more behind the last */
    bool cpus;          /* slots are CPUs */
    const char *usable; /* the CPUs that jobs may use, as the kernel lists them */
    int n_cpus;
    const char **near; /* by NUMA index: its CPUs among those; NULL-terminated */
    size_t n_near;
};

/* usable: the CPUs that this process may use. Products tell an accelerator's maker. -EINVAL with a
 * sentence, -ENOMEM. */
int queue_pool_make(struct queue_pool *ret, const struct node *n, const char *usable, struct err *e)
    CHECK_RESULT;
void queue_pool_done(struct queue_pool *p);

/* Check what a job asks for and fill in what it left open. -EINVAL with a sentence. */
int queue_pool_ask(const struct queue_pool *p, struct queue_job *j, struct err *e) CHECK_RESULT;

/* What of the memory of a device it needs, in thousandths: what it said, else what was seen; 0:
 * nobody knows. */
int queue_pool_memory(const struct queue_pool *p, const struct queue_job *j);

/* The same as the scheduler reads it. */
void queue_pool_work(const struct queue_pool *p, const struct queue_job *j, struct work *ret);

/* What a job with slots is given: its CPUs as the kernel lists them, near its devices and not taken
 * by others (bits by CPU, which are set then), and its place in words. */
struct queue_taken {
    uint8_t cpu[QUEUE_CPUS];
};
void queue_pool_give(const struct queue_pool *p, const struct queue_job *j,
                     struct queue_taken *taken, char cpus[QUEUE_SLOTS]);

/* Note the CPUs of a job that runs; of one that does not say (of an earlier brim) those that it
 * would be given now. */
void queue_pool_hold(const struct queue_pool *p, const struct queue_job *j,
                     struct queue_taken *taken);

void queue_pool_place(const struct queue_pool *p, const char *slots, char place[QUEUE_SLOTS]);

/* Variables that show a job its devices alone, name and value by turns, NULL behind them. Texts are
 * in the arena. -ENOMEM. */
int queue_pool_variables(const struct queue_pool *p, const char *slots, struct arena *a,
                         const char *ret[2 * (QUEUE_GIVEN + 1) + 1]) CHECK_RESULT;

#endif
