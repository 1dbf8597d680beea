#include "queue/job/sharing.h"

#include <math.h>

#include "base/compiler.h"
#include "model/job/job_spec.h"

enum { PAUSE_STEPS = 20, PAUSE_LOOKS = 2, KEEP_MS = 3600000, MEMORY_STEP = 10 };

void sharing_begin(struct queue_job *j)
{
    j->steps = -1;
    j->works = true;
    j->use_ms = j->beside_ms = j->beside = j->late_ms = j->waited_ms = 0;
    if (queue_job_stretches(j))
        j->alone_ms = j->alone = j->worked_ms = j->worked = 0;
}

/* Half of what is an hour old counts: a job may change. */
static void add(int64_t *ms, int64_t *sum, int64_t more_ms, int64_t more)
{
    if (*ms > KEEP_MS) {
        *ms /= 2;
        *sum /= 2;
    }
    *ms += more_ms;
    *sum += more;
}

/* How long no step may end before it is a pause. */
static double patience_ms(const struct queue_job *j, int64_t look_ms)
{
    double step_ms = j->alone > 0 ? (double)j->alone_ms / (double)j->alone : 0;

    return PAUSE_LOOKS * (double)look_ms + PAUSE_STEPS * step_ms;
}

void sharing_note_steps(struct queue_job *j, int64_t now_ms, double steps, int64_t look_ms,
                        enum sharing_time time)
{
    int64_t gap_ms = now_ms - j->steps_ms;
    double more = steps - j->steps;
    bool pause = (double)gap_ms > patience_ms(j, look_ms);

    if (isnan(steps) || steps < 0) /* what is not known is work */
        return;
    if (j->steps >= 0 && more >= 0 && more < 1) {
        j->works = !pause;
        return;
    }
    if (j->steps >= 0 && more >= 1 && !pause && time == SHARING_ALONE)
        add(&j->alone_ms, &j->alone, gap_ms, (int64_t)more);
    if (j->steps >= 0 && more >= 1 && !pause && time == SHARING_BESIDE) {
        j->beside_ms += gap_ms;
        j->beside += (int64_t)more;
    }
    j->works = true;
    j->steps = steps;
    j->steps_ms = now_ms;
}

void sharing_note_waits(struct queue_job *j, int64_t waited_ms, int64_t other_ms,
                        enum sharing_time time)
{
    int64_t waited = waited_ms + 1 - j->waited_ms, other = other_ms + 1 - j->other_ms;
    bool known = j->waited_ms > 0 && j->other_ms > 0 && waited_ms >= 0 && other_ms >= 0;

    if (known && time == SHARING_BESIDE && waited > 0 && other >= 0)
        j->late_ms += MAX(waited - other, 0);
    j->waited_ms = time == SHARING_BESIDE ? waited_ms + 1 : 0;
    j->other_ms = time == SHARING_BESIDE ? other_ms + 1 : 0;
}

void sharing_note_use(struct queue_job *j, int64_t now_ms, int milli, int memory_milli)
{
    int64_t passed_ms = j->use_ms ? now_ms - j->use_ms : 0;

    j->use_ms = now_ms;
    if (milli > WORK_IDLE)
        add(&j->worked_ms, &j->worked, passed_ms, passed_ms * milli);
    if (memory_milli > j->memory_milli) {
        if (memory_milli > j->memory_milli + MEMORY_STEP)
            j->kept_ms = 0; /* to be stored soon: an engine that comes later relies on it */
        j->memory_milli = memory_milli;
    }
}

int sharing_usual(const struct queue_job *j)
{
    return j->worked_ms > 0 ? (int)(j->worked / j->worked_ms) : 0;
}

bool sharing_is_known(const struct queue_job *j, int64_t after_ms)
{
    return j->alone > 0 && j->alone_ms >= after_ms && j->worked_ms >= after_ms;
}

int sharing_cost(struct queue_job *j, int64_t after_ms, int *milli)
{
    double before, now;

    if (j->beside_ms < after_ms || j->beside <= 0 || j->alone <= 0)
        return 0;
    before = (double)j->alone_ms / (double)j->alone;
    now = (double)(j->beside_ms - MIN(j->late_ms, j->beside_ms)) / (double)j->beside;
    j->beside_ms = j->beside = j->late_ms = 0;
    if (!(before > 0))
        return 0;
    *milli = (int)lround(MIN(now / before - 1, 1000.0) * WORK_WHOLE);
    return 1;
}
