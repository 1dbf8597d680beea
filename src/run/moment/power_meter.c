#include "run/moment/power_meter.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>

#include "probe/samplers.h"
#include "run/moment/moment.h"
#include "run/moment/moment_private.h"

static const char *const samplers[] = { "nvml", "amd", "intel", "dcmi", "fake", "rapl", NULL };

static bool tells(const struct tick *t, const char *set, const char *signal)
{
    size_t n;
    const struct signal_row *rows = tick_set(t, set, &n);

    for (size_t i = 0; i < n; i++)
        if (!isnan(moment_gauge(&rows[i], signal, NULL)))
            return true;
    return false;
}

/* Whether a device that tells its power does not count its energy. */
static bool looks(const struct tick *t)
{
    size_t n;
    const struct signal_row *rows = tick_set(t, "gpu", &n);

    for (size_t i = 0; i < n; i++)
        if (!isnan(moment_gauge(&rows[i], "power_watts", NULL)) &&
            isnan(moment_gauge(&rows[i], "energy_joules_total", NULL)))
            return true;
    return false;
}

static int ask(struct tick *t, int root, const char *fake, const struct clock *clock, struct err *e)
{
    const struct sampler_env env = { .root = root,
                                     .live = true,
                                     .fake = fake,
                                     .patience_ns = SAMPLER_PATIENCE_NS,
                                     .only = samplers };
    CLEANUP(samplers_closep) struct samplers *s = NULL;
    int rc = samplers_open(&s, &env, e);

    if (rc < 0)
        return rc;
    tick_begin(t, clock_wall_ns(clock), clock_monotonic_ns(clock));
    rc = samplers_sample(s, t);
    return rc < 0 ? err_nomem(e) : 0;
}

int power_meters_find(struct power_meters *ret, const char *root, const char *fake,
                      const struct clock *clock, struct err *e)
{
    static const char domain[] = "sys/class/powercap/intel-rapl:0";
    CLEANUP(closep) int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct tick t = { .n_events = 0 };
    struct power_meters found;
    int rc = fd < 0 ? err_set(e, -errno, "%s: %s", root, strerror(errno))
                    : ask(&t, fd, fake, clock, e);

    /* The power of one that counts energy alone is known from its second reading on. */
    found = (struct power_meters){ tells(&t, "gpu", "power_watts") ||
                                       tells(&t, "gpu", "energy_joules_total"),
                                   tells(&t, "rapl", "energy_joules_total"), looks(&t) };
    tick_done(&t);
    if (rc < 0)
        return rc;
    if (!found.gpus && !found.cpus)
        return err_set(e, -ENODEV, "no accelerator tells what it draws, and processors (%s) %s",
                       "/sys/class/powercap",
                       faccessat(fd, domain, F_OK, 0) == 0 ? "tell root alone" : "do not either");
    *ret = found;
    return 0;
}
