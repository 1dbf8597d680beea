#include "cmd/common/slurm_json.h"

#include "model/job/slurm_job.h"

void slurm_json(const struct run *r, struct json *j)
{
    struct slurm_job s;

    if (!slurm_job_of(r, &s))
        return;
    json_object(j, "slurm");
    json_int(j, "job", (int64_t)s.job);
    if (s.step >= 0)
        json_int(j, "step", s.step);
    if (s.task >= 0) {
        json_int(j, "array_job", (int64_t)s.array);
        json_int(j, "array_task", s.task);
    }
    json_int(j, "requeued", (int64_t)s.restarts);
    json_string(j, "name", s.name);
    json_string(j, "cluster", s.cluster);
    json_end(j);
}
