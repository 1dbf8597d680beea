/* The processes that compute on a GPU. */
#include "probe/nvidia/nvml_session.h"

enum { PERCENT = 100 };

static int call(struct nvml_session *s, struct nvml_watched *g, unsigned *n)
{
    struct nvml_process_v1 *old = (struct nvml_process_v1 *)(void *)s->list;
    int code;

    if (s->api.processes) {
        nvml_calls(s, g, "nvmlDeviceGetComputeRunningProcesses_v3");
        return s->api.processes(g->device, n, s->list);
    }
    nvml_calls(s, g, "nvmlDeviceGetComputeRunningProcesses");
    code = s->api.processes_v1(g->device, n, old);
    for (unsigned i = MIN(*n, (unsigned)NVML_LIVE_PROCESSES); i > 0 && code == NVML_OK; i--) {
        struct nvml_process_v1 one = old[i - 1]; /* the new form is longer: from the end */

        s->list[i - 1] = (struct nvml_process){ .pid = one.pid, .used_b = one.used_b };
    }
    return code;
}

/* A process stands once for each of a MIG GPU's instances that it uses. */
static struct nvml_live_process *find(struct nvml_watched *g, unsigned pid)
{
    for (size_t i = 0; i < g->n_processes; i++)
        if (g->processes[i].pid == pid)
            return &g->processes[i];
    return NULL;
}

static void add(struct nvml_watched *g, const struct nvml_process *p)
{
    struct nvml_live_process *known = find(g, p->pid);
    double used_b = p->used_b == ~0ULL ? (double)NAN : (double)p->used_b;

    if (known)
        known->values[GPU_PROCESS_MEMORY] += used_b;
    else if (g->n_processes < NVML_GPU_PROCESSES)
        g->processes[g->n_processes++] = (struct nvml_live_process){
            .gpu = g->now.index,
            .pid = p->pid,
            .values = { [GPU_PROCESS_MEMORY] = used_b, [GPU_PROCESS_BUSY] = (double)NAN },
        };
}

static void read_list(struct nvml_session *s, struct nvml_watched *g)
{
    unsigned n = NVML_LIVE_PROCESSES;
    int code = call(s, g, &n);

    g->n_processes = 0;
    g->now.gpu[GPU_PROCESSES] = (double)NAN;
    if (code == NVML_INSUFFICIENT_SIZE) /* it says how many there are, and names none */
        g->now.gpu[GPU_PROCESSES] = n;
    if (!nvml_answered(s, g, NVML_SLOT_PROCESSES, NVML_SLOW, code))
        return;
    n = MIN(n, (unsigned)NVML_LIVE_PROCESSES);
    g->now.gpu[GPU_PROCESSES] = n;
    for (unsigned i = 0; i < n; i++)
        add(g, &s->list[i]);
}

/* The driver tells of those that were busy since the time that it is given; the others were not. */
static void read_busy(struct nvml_session *s, struct nvml_watched *g)
{
    unsigned n = NVML_LIVE_PROCESSES;
    unsigned long long since = g->busy_since;
    int code;

    nvml_calls(s, g, "nvmlDeviceGetProcessUtilization");
    code = s->api.process_busy(g->device, s->busy, &n, since);
    if (code == NVML_NOT_FOUND) {
        code = NVML_OK;
        n = 0;
    }
    if (!nvml_answered(s, g, NVML_SLOT_PROCESS_BUSY, NVML_SLOW, code))
        return;
    for (size_t i = 0; i < g->n_processes; i++)
        g->processes[i].values[GPU_PROCESS_BUSY] = 0;
    for (unsigned i = 0; i < MIN(n, (unsigned)NVML_LIVE_PROCESSES); i++) {
        struct nvml_live_process *p = find(g, s->busy[i].pid);

        if (p && s->busy[i].timestamp > since && s->busy[i].sm <= PERCENT)
            p->values[GPU_PROCESS_BUSY] = (double)s->busy[i].sm / PERCENT;
        g->busy_since = MAX(g->busy_since, s->busy[i].timestamp);
    }
}

void nvml_read_processes(struct nvml_session *s, struct nvml_watched *g)
{
    if ((!s->api.processes && !s->api.processes_v1) || !nvml_due(s, g, NVML_SLOT_PROCESSES))
        return;
    read_list(s, g);
    if (g->n_processes && s->api.process_busy && nvml_due(s, g, NVML_SLOT_PROCESS_BUSY))
        read_busy(s, g);
}
