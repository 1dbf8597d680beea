/* How a simulation counts what jobs have done and have left: by their length alone, by it and what
 * they save for when nodes fail, or by what they do with their devices. For src/sim. */
#ifndef BRIM_SIM_COUNTING_H
#define BRIM_SIM_COUNTING_H
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct sim;

struct sim_counting {
    bool own_rate; /* left_ms is work: it stays the same on other devices */
    bool away;     /* time passes for jobs without devices, too */

    /* Before the scheduler is opened; NULL. -ENOMEM, or -EINVAL with a sentence. */
    int (*open)(struct sim *m, struct err *e);

    /* When a job ends, or does something else with its devices, notice_ms included; WORK_UNKNOWN.
     * Let that happen: 1 when the scheduler has to be asked, 0 when not, -ENOMEM. */
    int64_t (*until_ms)(const struct sim *m, uint32_t job, bool runs, int64_t notice_ms);
    int (*happens)(struct sim *m, uint32_t job);

    /* A job whose start was to be later by ms stops before; NULL. */
    void (*early)(struct sim *m, uint32_t job, int64_t ms);

    /* Count what a running job has done since it started: left_ms and fresh_ms are what is left.
     * What of its data it would have paid yet is not. */
    void (*count)(struct sim *m, uint32_t job);

    /* It started, and begins delay_ms later; NULL. */
    void (*started)(struct sim *m, uint32_t job, int64_t delay_ms);

    /* It was stopped by the scheduler, and its next start costs that; NULL. -ENOMEM. */
    int (*preempted)(struct sim *m, uint32_t job, int64_t cost_ms);

    /* It stops where it has saved nothing since its last checkpoint (lost), or what it did; its
     * next start costs restart_ms. Returns the work that it goes back by. */
    int64_t (*goes_back)(struct sim *m, uint32_t job, bool lost, int64_t restart_ms);

    /* It has no devices any more, and waits; NULL. -ENOMEM. */
    int (*waits)(struct sim *m, uint32_t job);

    /* It goes on with as many devices, at the price of cost_ms; NULL. */
    void (*resized)(struct sim *m, uint32_t job, int32_t devices, int64_t cost_ms);

    /* It has ended, or was given up, and the scheduler will be told next; NULL. -ENOMEM. */
    int (*ended)(struct sim *m, uint32_t job);

    /* Bring what was counted into the result; NULL. */
    void (*sum)(struct sim *m);
};

extern const struct sim_counting counting_by_length, counting_with_saves, counting_by_use;

#endif
