/* What goes wrong where NVIDIA's GPUs are sampled: GPUs that are lost, drivers that are reloaded,
 * late, slow, or hang. The build runs this with the folder of tests/fake/nvml in LD_LIBRARY_PATH
 * ("now", and "hangs", which leaves threads behind), and with none ("absent"). */
#include "probe/nvidia/sample_nvml.h"

#include "sampled_nvml.h"

static void check_lost(void)
{
    const struct event *event;

    play("", USUAL);
    is_int(open_with(&often, 10000 * MS), 0, "the sampler opens with a GPU to be lost");
    play("any.1 = lost\n", USUAL);
    its.reload();
    event = wait_for("gpu-lost");
    ok(event != NULL, "a GPU that is lost makes an event");
    if (event) {
        is_int(event->severity, SEVERITY_CRITICAL, "the event of a lost GPU is critical");
        is_str(event->thing, "0000:27:00.0", "the event of a lost GPU has its address");
        is_str(event->text, "GPU 1 is lost: the driver does not reach it",
               "the event of a lost GPU has its text");
        is_str(event->action, "reboot the node, then inspect the GPU: XID 79 in dmesg tells more",
               "the event of a lost GPU has the way out");
        ok(!event->over, "the event of a lost GPU begins");
    }
    is_value(gpu_set, "1", GPU_LOST, "1");
    is_value(gpu_set, "1", GPU_TEMPERATURE, "absent");
    is_value(gpu_throttle_set, "1", GPU_THROTTLED_POWER, "no row");
    is_value(gpu_error_set, "1", GPU_ECC_CORRECTED, "no row");
    is_value(gpu_set, "0", GPU_TEMPERATURE, "61");
    is_value(gpu_set, "0", GPU_LOST, "0");
    for (int i = 0; i < 20; i++) {
        sleep_ms(5);
        sample();
        if (its.tick.n_events)
            break;
    }
    is_int(its.tick.n_events, 0, "a lost GPU is told once");
    play("", USUAL);
    its.reload();
    event = wait_for("gpu-lost");
    ok(event && event->over, "a GPU that is back ends the event");
    becomes(gpu_set, "1", GPU_TEMPERATURE, "61");
    end();
}

/* A lost GPU is left alone. */
static void check_lost_calls(void)
{
    unsigned before;

    play("nvmlDeviceGetTemperature.1 = lost\n", USUAL);
    is_int(open_with(&seldom, 10000 * MS), 0, "the sampler opens with a GPU that is lost soon");
    ok(wait_for("gpu-lost") != NULL, "a GPU that is lost soon makes an event");
    before = its.calls(NULL, 1);
    for (int i = 0; i < 10; i++) {
        sample();
        sleep_ms(5);
    }
    is_int(its.calls(NULL, 1) - before, 0, "a lost GPU is not called");
    end();
}

static void check_reload(void)
{
    play("", USUAL);
    is_int(open_with(&often, 10000 * MS), 0, "the sampler opens with a driver to be unloaded");
    play("any = not_loaded\nnvmlInit_v2 = not_loaded\n", USUAL);
    its.reload();
    becomes(gpu_set, "0", GPU_TEMPERATURE, "no row");
    is_int(its.tick.n_rows, 0, "there are no rows while the driver is away");
    play("", USUAL);
    becomes(gpu_set, "1", GPU_TEMPERATURE, "61");
    end();
}

/* A driver that is loaded after the agent was started. */
static void check_late_driver(void)
{
    play("any = not_loaded\nnvmlInit_v2 = not_loaded\n", USUAL);
    is_int(open_with(&often, 10000 * MS), 0, "the sampler opens before its driver");
    is_int(sample(), 0, "there are no rows before the driver");
    play("", USUAL);
    becomes(gpu_set, "1", GPU_TEMPERATURE, "61");
    end();
}

/* A driver that is away is not tried all the time. */
static void check_reload_pace(const char *rules)
{
    struct nvml_paces paces = seldom;
    unsigned before;

    paces.reload_ns = 200 * MS;
    play("", USUAL);
    is_int(open_with(&paces, 10000 * MS), 0, "the sampler opens with a driver that goes away");
    play(rules, USUAL);
    its.reload();
    becomes(gpu_set, "0", GPU_TEMPERATURE, "no row");
    before = its.calls("nvmlInit_v2", 0);
    for (int i = 0; i < 50; i++) {
        sleep_ms(10);
        sample();
    }
    ok(its.calls("nvmlInit_v2", 0) - before <= 10,
       "a driver that is away is tried 10 times at most: %u times",
       its.calls("nvmlInit_v2", 0) - before);
    ok(its.calls("nvmlInit_v2", 0) > before, "a driver that is away is tried now and then");
    end();
}

/* A call that is late for longer than the patience. */
static void check_late(void)
{
    const struct event *event;

    play("", USUAL);
    is_int(open_with(&seldom, 150 * MS), 0, "the sampler opens with a GPU that will be late");
    play("nvmlDeviceGetTemperature.1 = 1s\n", USUAL);
    its.reload();
    sample();
    is_value(gpu_set, "1", GPU_TEMPERATURE, "61");
    event = wait_for("probe");
    ok(event != NULL, "a call that is late makes an event");
    if (event) {
        is_int(event->severity, SEVERITY_WARNING, "the event of a late call is a warning");
        is_str(event->thing, "0000:27:00.0", "the event of a late call has the GPU's address");
        is_str(event->text, "nvmlDeviceGetTemperature of GPU 1 has not answered for 0.15 s",
               "the event of a late call names it");
        is_str(event->action,
               "look at dmesg for lines with NVRM; the GPU may have fallen off the bus",
               "the event of a late call has the way out");
        ok(!event->over, "the event of a late call begins");
    }
    is_value(gpu_set, "0", GPU_TEMPERATURE, "absent");
    is_int(its.tick.n_rows, 2, "only the rows of what the GPUs are stay");
    is_str(signal_fact(&its.tick.rows[0], "model"), "H100",
           "a row without values has the GPU's model");
    sample();
    is_int(its.tick.n_events, 0, "a late call is told once");
    play("", USUAL);
    its.reload();
    event = wait_for("probe");
    ok(event && event->over, "a call that answers ends the event");
    if (event)
        is_str(event->text, "nvmlDeviceGetTemperature of GPU 1 answers again",
               "the event's end says that the call answers again");
    becomes(gpu_set, "1", GPU_TEMPERATURE, "61");
    end();
}

/* Calls that are each in time, but of which one after the other takes too long. */
static void check_slow(void)
{
    unsigned events = 0;

    play("", USUAL);
    is_int(open_with(&seldom, 300 * MS), 0, "the sampler opens with calls that will be slow");
    play("any = 40ms\n", USUAL);
    its.reload();
    for (int k = 0; k < 1000; k++) {
        sleep_ms(5);
        sample();
        events += its.tick.n_events != 0;
        if (isnan(value(&gpu_set, "1", GPU_TEMPERATURE)))
            break;
    }
    is_value(gpu_set, "1", GPU_TEMPERATURE, "absent");
    becomes(gpu_set, "1", GPU_TEMPERATURE, "61");
    is_int(events, 0, "slow calls that are each in time make no event");
    end();
}

/* When a tick has no room for more events the rows come all the same. */
static void check_full(void)
{
    play("any.1 = lost\n", USUAL);
    is_int(open_with(&seldom, 10000 * MS), 0,
           "the sampler opens with a GPU that is lost from the start");
    tick_begin(&its.tick, 7, 0);
    while (its.tick.n_events < EVENTS_MAX)
        ok(tick_event(&its.tick, "other", SEVERITY_NOTE, -1) != NULL, "a tick takes an event");
    is_int(sampler_nvml.sample(its.state, &its.tick), 0,
           "the sampler succeeds in a tick full of events");
    is_value(gpu_set, "1", GPU_LOST, "1");
    end();
}

static void check_oom(void)
{
    bool failed;

    play("any.1 = lost\n", USUAL "process 12 = 1000 0.5\n");
    oom_restart();
    do {
        int rc;

        end();
        oom_next();
        rc = open_with(&seldom, 10000 * MS);
        if (rc == 0)
            rc = sample();
        if (rc >= 0)
            rc = sample();
        failed = oom_end();
        ok(failed ? rc == -ENOMEM : rc > 0, "the sampler with allocation %d failing returns %d",
           oom_at, rc);
    } while (failed);
    end();
}

static void check_nothing(void)
{
    const struct sampler_env copy = { .root = -1, .live = false, .patience_ns = 10000 * MS };
    struct err e = { "" };

    play("", USUAL);
    is_int(sampler_nvml.open(&its.state, &copy, &e), -ENOENT,
           "the sampler does not open on another machine");
    fixture_script(FAKE, "[nvml]\ncount = 0\n");
    is_int(open_with(&seldom, 10000 * MS), 0, "the sampler opens without a GPU");
    is_int(sample(), 0, "a driver without GPUs makes no rows");
    end();
    play("nvmlDeviceGetHandleByIndex_v2.1 = no_permission\n", USUAL);
    is_int(open_with(&seldom, 10000 * MS), 0, "the sampler opens with a GPU that is not ours");
    is_int(sample(), 3, "a GPU that is not ours has no rows");
    end();
    play("nvmlDeviceGetHandleByIndex_v2.1 = lost\n", USUAL);
    is_int(open_with(&seldom, 10000 * MS), 0, "the sampler opens with a GPU that was lost before");
    sample();
    is_value(gpu_set, "1", GPU_LOST, "1");
    is_str(signal_fact(&its.tick.rows[1], "pci"), "", "a GPU that was lost before has no address");
    end();
}

static void check_now(void)
{
    check_lost();
    check_lost_calls();
    check_reload();
    check_late_driver();
    check_reload_pace("any = mismatch\n");
    check_reload_pace("any = not_loaded\nnvmlInit_v2 = not_loaded\n");
    check_late();
    check_slow();
    check_full();
    check_oom();
    check_nothing();
}

/* Each leaves a thread behind. */
static void check_hangs(void)
{
    int64_t begin = clock_monotonic_ns(&clock_system);
    const struct event *event;

    play("nvmlInit_v2 = hang\n", USUAL);
    is_int(open_with(&seldom, 200 * MS), 0, "the sampler opens though the driver hangs");
    ok(clock_monotonic_ns(&clock_system) - begin < 1500 * MS,
       "the sampler opens within its patience, and a bit");
    event = wait_for("probe"); /* it may come with the first sample */
    is_int(its.tick.n_rows, 0, "a driver that hangs makes no rows");
    ok(event && strcmp(event->text, "nvmlInit_v2 has not answered for 0.2 s") == 0,
       "the event names the call that hangs");
    ok(event && !event->thing[0], "the event of a driver that hangs is of no GPU");
    begin = clock_monotonic_ns(&clock_system);
    end();
    ok(clock_monotonic_ns(&clock_system) - begin < 500 * MS,
       "the sampler closes without waiting for the driver");

    play("nvmlDeviceGetUtilizationRates.0 = hang\n", USUAL);
    is_int(open_with(&seldom, 60000 * MS), 0,
           "the sampler opens though a GPU hangs, with more patience");
    begin = clock_monotonic_ns(&clock_system);
    end();
    ok(clock_monotonic_ns(&clock_system) - begin < 2500 * MS,
       "the sampler closes after a second at most, and a bit");
}

static void check_absent(void)
{
    void *library = dlopen("libnvidia-ml.so.1", RTLD_LAZY);

    if (library) {
        dlclose(library);
        ok(true, "the driver library is absent # SKIP this machine has one");
        return;
    }
    is_int(open_with(&seldom, 10000 * MS), -ENOENT, "the sampler does not open without a library");
}

int main(int argc, char **argv)
{
    const char *driver = argc > 1 ? argv[1] : "absent";

    if (strcmp(driver, "absent") != 0)
        load_fake();
    if (strcmp(driver, "now") == 0)
        check_now();
    else if (strcmp(driver, "hangs") == 0)
        check_hangs();
    else
        check_absent();
    fixture_done();
    return done();
}
