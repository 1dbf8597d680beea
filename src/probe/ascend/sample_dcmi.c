/* Ascend NPUs, from Huawei's library DCMI. Its calls may take long or hang: a thread of their own
 * makes them (probe/thread/owner.h), and a tick shows what it read last. */
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/ascend/dcmi.h"
#include "probe/ascend/dcmi_api.h"
#include "probe/gpu/gpu_reading.h"
#include "probe/sample/sampler.h"
#include "probe/thread/owner.h"

enum { HEALTH_TEXTS = 4 };

struct npu {
    struct gpu_reading values;
    int health; /* 0 good, 1 minor, 2 major, 3 critical alarm; ABSENT */
};

struct npus {
    unsigned n;
    struct npu npus[DCMI_CHIPS];
};

/* ---- in the thread ---- */

/* The thread's own. */
struct driver {
    void *library; /* NULL until the first reading */
    struct dcmi_api api;
    struct dcmi_reading chips; /* which do not change */
    struct watch_where *where;
};

static void driver_done(void *state)
{
    struct driver *d = state;

    if (d->library)
        dlclose(d->library);
    free(d);
}

static int start(struct driver *d, struct err *e)
{
    int rc;

    d->library = dcmi_api_open(&d->api, d->where);
    if (!d->library)
        return err_set(e, -ENODEV, "no Ascend driver library");
    rc = dcmi_lib_read(&d->chips, d->where, e);
    if (rc == 0 && d->chips.n_chips == 0)
        rc = err_set(e, -ENODEV, "the Ascend driver has no NPU");
    if (rc < 0) {
        dlclose(d->library);
        d->library = NULL;
    }
    return rc;
}

/* One chip that is asked. */
struct asked {
    const struct driver *d;
    const struct dcmi_chip *c;
    int nth;
    struct npu *npu;
    bool lost;
};

/* The answer of a call: true when it is a value. */
static bool good(struct asked *a, int code)
{
    a->lost = a->lost || code == DCMI_DEVICE_NOT_EXIST;
    return code == DCMI_OK;
}

static double rate(struct asked *a, enum dcmi_rate kind)
{
    unsigned percent = 0;

    if (!a->d->api.rate || a->lost)
        return (double)NAN;
    watch_at(a->d->where, "dcmi_get_device_utilization_rate", a->nth);
    if (!good(a, a->d->api.rate(a->c->card, a->c->device, kind, &percent)) || percent > 100)
        return (double)NAN;
    return percent / 100.0;
}

static double frequency(struct asked *a, enum dcmi_frequency kind)
{
    unsigned mhz = 0;

    if (!a->d->api.frequency || a->lost)
        return (double)NAN;
    watch_at(a->d->where, "dcmi_get_device_frequency", a->nth);
    if (!good(a, a->d->api.frequency(a->c->card, a->c->device, kind, &mhz)) || mhz == 0)
        return (double)NAN;
    return mhz * 1e6;
}

static void ask_sensors(struct asked *a, double *gpu)
{
    int celsius = 0, tenths = 0;

    if (a->d->api.temperature && !a->lost) {
        watch_at(a->d->where, "dcmi_get_device_temperature", a->nth);
        if (good(a, a->d->api.temperature(a->c->card, a->c->device, &celsius)))
            gpu[GPU_TEMPERATURE] = celsius;
    }
    if (a->d->api.power && !a->lost) {
        watch_at(a->d->where, "dcmi_get_device_power_info", a->nth);
        if (good(a, a->d->api.power(a->c->card, a->c->device, &tenths)) && tenths >= 0)
            gpu[GPU_POWER] = tenths / 10.0;
    }
}

static void ask_memory(struct asked *a, double *gpu)
{
    struct dcmi_hbm_info hbm = { .size = 0 };
    int64_t used;

    if (!a->d->api.hbm || a->lost)
        return;
    watch_at(a->d->where, "dcmi_get_device_hbm_info", a->nth);
    if (!good(a, a->d->api.hbm(a->c->card, a->c->device, &hbm)))
        return;
    used = dcmi_hbm_bytes(hbm.used, hbm.size);
    if (used == ABSENT)
        return;
    gpu[GPU_MEMORY_USED] = (double)used;
    gpu[GPU_MEMORY_TOTAL] = (double)dcmi_hbm_bytes(hbm.size, hbm.size);
    gpu[GPU_MEMORY_FREE] = gpu[GPU_MEMORY_TOTAL] - gpu[GPU_MEMORY_USED];
    gpu[GPU_MEMORY_TEMPERATURE] = hbm.temperature;
    if (hbm.freq)
        gpu[GPU_MEMORY_CLOCK] = hbm.freq * 1e6;
}

static void ask_ecc(struct asked *a, double *error)
{
    struct dcmi_ecc_info ecc = { .enabled = 0 };

    if (!a->d->api.ecc || a->lost)
        return;
    watch_at(a->d->where, "dcmi_get_device_ecc_info", a->nth);
    if (!good(a, a->d->api.ecc(a->c->card, a->c->device, DCMI_PART_HBM, &ecc)) || !ecc.enabled)
        return;
    error[GPU_ECC_CORRECTED] = ecc.single_bit;
    error[GPU_ECC_UNCORRECTED] = ecc.double_bit;
    error[GPU_ECC_CORRECTED_EVER] = ecc.single_bit_ever;
    error[GPU_ECC_UNCORRECTED_EVER] = ecc.double_bit_ever;
    error[GPU_PAGES_RETIRED] = (double)ecc.single_bit_pages + ecc.double_bit_pages;
}

static void ask_health(struct asked *a)
{
    unsigned health = 0;

    if (!a->d->api.health || a->lost)
        return;
    watch_at(a->d->where, "dcmi_get_device_health", a->nth);
    if (!good(a, a->d->api.health(a->c->card, a->c->device, &health)))
        return;
    a->lost = health == DCMI_HEALTH_ABSENT;
    if (health < HEALTH_TEXTS)
        a->npu->health = (int)health;
}

static void read_npu(const struct driver *d, int nth, struct npu *npu)
{
    const struct dcmi_chip *c = &d->chips.chips[nth];
    struct gpu_reading *r = &npu->values;
    struct asked a = { d, c, nth, npu, false };

    gpu_reading_clear(r);
    npu->health = ABSENT;
    snprintf(r->thing, sizeof(r->thing), "ascend%d", nth);
    snprintf(r->facts[GPU_VENDOR], sizeof(r->facts[0]), "huawei");
    snprintf(r->facts[GPU_PCI], sizeof(r->facts[0]), "%s", c->bdf);
    if (c->name[0])
        snprintf(r->facts[GPU_MODEL], sizeof(r->facts[0]), "%.20s%s%.20s", c->type,
                 c->type[0] ? " " : "", c->name);
    ask_health(&a);
    r->gpu[GPU_BUSY] = rate(&a, DCMI_RATE_AICORE);
    r->gpu[GPU_DRAM_ACTIVE] = rate(&a, DCMI_RATE_HBM_BANDWIDTH);
    r->gpu[GPU_SM_CLOCK] = frequency(&a, DCMI_FREQUENCY_AICORE);
    r->gpu[GPU_SM_CLOCK_MAX] = frequency(&a, DCMI_FREQUENCY_AICORE_MAX);
    ask_sensors(&a, r->gpu);
    ask_memory(&a, r->gpu);
    ask_ecc(&a, r->error);
    if (a.lost)
        gpu_reading_clear(r);
    r->gpu[GPU_LOST] = a.lost;
}

static int driver_read(void *state, struct watch_where *where, void *out, struct err *e)
{
    struct driver *d = state;
    struct npus *npus = out;
    int rc = 0;

    d->where = where;
    if (!d->library)
        rc = start(d, e);
    if (rc < 0)
        return rc;
    npus->n = d->chips.n_chips;
    for (unsigned i = 0; i < npus->n; i++)
        read_npu(d, (int)i, &npus->npus[i]);
    return 0;
}

static const struct owner_work work = {
    .read = driver_read,
    .done = driver_done,
    .size = sizeof(struct npus),
    .device = "NPU",
    .thing = "ascend",
    .way_out =
        "look at npu-smi info and dmesg; an NPU whose driver hangs needs a reset or a reboot",
};

/* ---- in the loop ---- */

struct dcmi {
    struct owner *owner;
    int64_t patience_ns;
    struct npus npus;
    int told[DCMI_CHIPS]; /* the alarm of each NPU that an event told */
};

static void dcmi_close(void *state)
{
    struct dcmi *d = state;

    owner_stop(d->owner);
    free(d);
}
DEFINE_CLEANUP(struct dcmi, dcmi_close)

static int dcmi_open(void **state, const struct sampler_env *env, struct err *e)
{
    CLEANUP(dcmi_closep) struct dcmi *d = NULL;
    CLEANUP(freep) struct driver *driver = NULL;
    int rc;

    if (!env->live)
        return err_set(e, -ENOENT, "the driver of NPUs is this machine's");
    d = calloc(1, sizeof(*d));
    driver = calloc(1, sizeof(*driver));
    if (!d || !driver)
        return err_nomem(e);
    d->patience_ns = env->patience_ns;
    rc = owner_start(&d->owner, &work, driver, e);
    if (rc < 0)
        return rc;
    (void)steal(&driver);
    /* so that a machine without NPUs is known as one; a driver that hangs comes to light later */
    if (owner_wait(d->owner, env->patience_ns) && owner_newest(d->owner, &d->npus, e) < 0)
        return -ENOENT;
    *state = steal(&d);
    return 0;
}

/* An event when the driver raises an alarm, changes or ends it. */
static int tell_health(struct dcmi *d, unsigned nth, struct tick *t)
{
    static const char *const texts[HEALTH_TEXTS] = { "no", "a minor", "a major", "a critical" };
    int health = d->npus.npus[nth].health;
    struct event *event;

    if (health == ABSENT || health == d->told[nth])
        return 0;
    event = tick_event(t, "health", health > 1 ? SEVERITY_CRITICAL : SEVERITY_WARNING, -1);
    if (!event) /* when there are too many, at the next tick */
        return t->n_events == EVENTS_MAX ? 0 : -ENOMEM;
    event->over = health == 0;
    snprintf(event->thing, sizeof(event->thing), "ascend%u", nth);
    snprintf(event->text, sizeof(event->text), "the driver reports %s alarm of NPU %u",
             texts[health], nth);
    if (health)
        snprintf(event->action, sizeof(event->action), "npu-smi info -t health -i %d", (int)nth);
    d->told[nth] = health;
    return 0;
}

static int dcmi_sample(void *state, struct tick *t)
{
    struct dcmi *d = state;
    bool hung = owner_report(d->owner, t, d->patience_ns);
    int rc = owner_newest(d->owner, &d->npus, NULL);

    owner_ask(d->owner);
    if (rc <= 0)
        return 0;
    for (unsigned i = 0; i < d->npus.n; i++) {
        if (hung) /* what is known is too old */
            gpu_reading_clear(&d->npus.npus[i].values);
        else if (tell_health(d, i, t) < 0)
            return -ENOMEM;
    }
    return gpu_reading_add(&d->npus.npus[0].values, d->npus.n, sizeof(d->npus.npus[0]), t);
}

const struct sampler_ops sampler_dcmi = { "dcmi", &gpu_set, dcmi_open, dcmi_sample, dcmi_close };
