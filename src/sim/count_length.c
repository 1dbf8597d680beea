/* Jobs of which only the length is known, and what they save for when nodes fail. */
#include <errno.h>

#include "sim/counting.h"
#include "sim/outages.h"
#include "sim/sim_private.h"

static int64_t until_ms(const struct sim *m, uint32_t job, bool runs, int64_t notice_ms)
{
    return runs ? m->since_ms[job] + m->left_ms[job] + notice_ms : WORK_UNKNOWN;
}

static int happens(struct sim *m, uint32_t job)
{
    return sim_end_job(m, job) < 0 ? -ENOMEM : 1;
}

static int64_t goes_back(struct sim *m, uint32_t job, bool lost, int64_t restart_ms)
{
    int64_t back = sim_account(m, job, lost);

    sim_scale(m, job, false);
    m->left_ms[job] += restart_ms;
    return back;
}

/* ---- with checkpoints ---- */

static int64_t until_saved_ms(const struct sim *m, uint32_t job, bool runs, int64_t notice_ms)
{
    int64_t fresh = m->fresh_ms[job];

    if (!runs)
        return WORK_UNKNOWN;
    return m->since_ms[job] + fresh +
           outages_takes(m->left_ms[job] - fresh, m->work->jobs[job].checkpoint_ms,
                         m->save_cost_ms) +
           notice_ms;
}

static void count_saved(struct sim *m, uint32_t job)
{
    sim_account(m, job, false);
}

static int ended_saved(struct sim *m, uint32_t job)
{
    sim_account(m, job, false);
    return 0;
}

const struct sim_counting counting_by_length = {
    .until_ms = until_ms,
    .happens = happens,
    .count = sim_count_work,
    .goes_back = goes_back,
};

const struct sim_counting counting_with_saves = {
    .until_ms = until_saved_ms,
    .happens = happens,
    .count = count_saved,
    .goes_back = goes_back,
    .ended = ended_saved,
};
