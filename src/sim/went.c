#include "sim/went.h"

/* Of a stretch of time, what lies in another one. */
static int64_t within(const struct work_went *w, int64_t from_ms, int64_t to_ms)
{
    return MAX(MIN(w->end_ms, to_ms) - MAX(w->start_ms, from_ms), 0);
}

int sim_went(struct sim_result *ret, const struct work_went *went, const struct workload *work,
             const struct sim_options *options, struct err *e)
{
    struct sim_result r = { .submitted_ms = sim_until(options, work) };

    r.counted_ms = MAX(r.submitted_ms - options->from_ms, 0);
    r.jobs = arena_alloc(&r.arena, (work->n_jobs + 1) * sizeof(*r.jobs));
    if (!r.jobs) {
        sim_result_done(&r);
        return err_nomem(e);
    }
    for (size_t i = 0; i < work->n_jobs; i++) {
        const struct work *w = &work->jobs[i];
        double devices = (double)w->devices * w->milli / WORK_WHOLE;

        r.jobs[i] = (struct sim_job){
            .start_ms = went[i].start_ms,
            .end_ms = went[i].end_ms,
            .wait_ms = MAX(went[i].start_ms - w->submit_ms, 0),
            .ran_ms = went[i].end_ms - went[i].start_ms,
            .starts = 1,
            .fate = SIM_ENDED,
        };
        r.end_ms = MAX(r.end_ms, went[i].end_ms);
        r.used_all += devices * (double)r.jobs[i].ran_ms;
        r.used += devices * (double)within(&went[i], options->from_ms, r.submitted_ms);
    }
    *ret = r;
    return 0;
}
