#include "probe/samplers.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "probe/gpu/gpu_sample.h"

extern const struct sampler_ops sampler_stat, sampler_memory, sampler_vmstat, sampler_numa,
    sampler_pressure, sampler_disk, sampler_net, sampler_infiniband, sampler_softnet, sampler_nfs,
    sampler_lustre, sampler_ceph, sampler_filesystem, sampler_pcie, sampler_sensors, sampler_rapl,
    sampler_edac, sampler_cpufreq, sampler_kmsg, sampler_cgroup, sampler_process, sampler_nvml,
    sampler_amd, sampler_intel, sampler_dcmi, sampler_fake;

static const struct sampler_ops *const all[] = {
    &sampler_stat,    &sampler_memory, &sampler_vmstat,     &sampler_numa,    &sampler_pressure,
    &sampler_disk,    &sampler_net,    &sampler_infiniband, &sampler_softnet, &sampler_nfs,
    &sampler_lustre,  &sampler_ceph,   &sampler_filesystem, &sampler_pcie,    &sampler_sensors,
    &sampler_rapl,    &sampler_edac,   &sampler_cpufreq,    &sampler_kmsg,    &sampler_cgroup,
    &sampler_process, &sampler_nvml,   &sampler_amd,        &sampler_intel,   &sampler_dcmi,
    &sampler_fake,
};

struct samplers {
    size_t n;
    struct {
        const struct sampler_ops *ops;
        void *state;
    } open[ARRAY_SIZE(all)];
};

static bool is_wanted(const char *const *only, const char *name)
{
    if (!only)
        return true;
    for (; *only; only++)
        if (!strcmp(*only, name))
            return true;
    return false;
}

int samplers_open(struct samplers **ret, const struct sampler_env *env, struct err *e)
{
    CLEANUP(samplers_closep) struct samplers *s = calloc(1, sizeof(*s));

    if (!s)
        return err_nomem(e);
    for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
        void *state = NULL;
        struct err why = { "" };
        int rc = -ENOENT;

        if (is_wanted(env->only, all[i]->name))
            rc = all[i]->open(&state, env, &why);
        if (rc == -ENOENT)
            continue;
        if (rc < 0)
            return err_set(e, rc, "%s", why.text);
        s->open[s->n].ops = all[i];
        s->open[s->n++].state = state;
    }
    *ret = steal(&s);
    return 0;
}

int samplers_sample(struct samplers *s, struct tick *t)
{
    for (size_t i = 0; i < s->n; i++) {
        int rc = s->open[i].ops->sample(s->open[i].state, t);

        if (rc < 0)
            return rc;
    }
    tick_group(t); /* accelerators of two makers share their sets */
    return 0;
}

void samplers_close(struct samplers *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n; i++)
        s->open[i].ops->close(s->open[i].state);
    free(s);
}

const struct signal_set *samplers_set(size_t i)
{
    /* whoever makes the accelerators fills these */
    static const struct signal_set *const accelerators[] = { &gpu_set, &gpu_throttle_set,
                                                             &gpu_error_set, &gpu_process_set };

    for (size_t k = 0; k < ARRAY_SIZE(all); k++) {
        const struct signal_set *const *more = all[k]->more;

        if (i-- == 0)
            return all[k]->set;
        for (; more && *more; more++)
            if (i-- == 0)
                return *more;
    }
    return i < ARRAY_SIZE(accelerators) ? accelerators[i] : NULL;
}
