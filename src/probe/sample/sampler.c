#include "probe/sample/sampler.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
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

void kept_open(struct kept *k, int root, const char *path)
{
    k->fd = openat(root, path, O_RDONLY | O_CLOEXEC);
}

void kept_close(struct kept *k)
{
    if (k->fd >= 0)
        close(k->fd);
    k->fd = -1;
}

int kept_read(const struct kept *k, char *buf, size_t size)
{
    size_t len = 0;
    const char *newline;

    if (k->fd < 0)
        return -ENOENT;
    /* a short read is not the end: the kernel hands out /proc a buffer at a time */
    while (len < size - 1) {
        ssize_t got = pread(k->fd, buf + len, size - 1 - len, (off_t)len);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -errno;
        if (got == 0)
            break;
        len += (size_t)got;
    }
    if (len == size - 1) {
        newline = memrchr(buf, '\n', len);
        len = newline ? (size_t)(newline + 1 - buf) : 0;
    }
    buf[len] = 0;
    return (int)len;
}

void scan_blanks(const char **at)
{
    while (**at == ' ' || **at == '\t')
        ++*at;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Add a digit to *n unless that is too large for it. */
static bool add_digit(uint64_t *n, char digit)
{
    uint64_t more;

    if (__builtin_mul_overflow(*n, 10U, &more) ||
        __builtin_add_overflow(more, (uint64_t)(digit - '0'), &more))
        return false;
    *n = more;
    return true;
}

double scan_number(const char **at)
{
    uint64_t n = 0;
    double scale = 1;
    bool fits = true;

    scan_blanks(at);
    if (!is_digit(**at))
        return (double)NAN;
    for (; is_digit(**at); ++*at)
        fits = fits && add_digit(&n, **at);
    if (!fits)
        scale = (double)NAN;
    if (**at != '.' || !is_digit((*at)[1]))
        return (double)n / scale;
    for (++*at; is_digit(**at); ++*at) {
        fits = fits && add_digit(&n, **at); /* digits that are too many are dropped */
        scale *= fits ? 10 : 1;
    }
    return (double)n / scale;
}

int scan_line(const char **at)
{
    const char *newline = strchr(*at, '\n');

    *at = newline ? newline + 1 : *at + strlen(*at);
    return **at != 0;
}

int scan_word(const char **at, const char *word)
{
    const char *p = *at;

    for (; *word && *p == *word; word++)
        p++;
    if (*word || (*p && *p != ' ' && *p != '\t' && *p != '\n'))
        return 0;
    *at = p;
    return 1;
}

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
