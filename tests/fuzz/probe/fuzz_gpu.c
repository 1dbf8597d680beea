/* What samplers of accelerators read: the first byte says whether the rest is a table gpu_metrics
 * or a script. */
#include <errno.h>
#include <math.h>

#include "fuzz.h"
#include "probe/gpu/amd_metrics.h"
#include "probe/gpu/fake_script.h"

static void check_number(double value)
{
    check(isnan(value) || (value >= 0 && isfinite(value)));
}

static void fuzz_table(const uint8_t *data, size_t size)
{
    struct amd_metrics m;
    /* of its own, so that a byte behind it is seen */
    uint8_t *table = malloc(size ? size : 1);
    int rc;

    check(table != NULL);
    memcpy(table, data, size);
    rc = amd_metrics_read(table, size, &m);
    free(table);
    check(rc == 0 || rc == -ENOTSUP);
    if (rc < 0)
        return;
    check_number(m.busy);
    check(!(m.busy > 1) && !(m.memory_busy > 1));
    check_number(m.memory_busy);
    check_number(m.power_watts);
    check_number(m.energy_joules);
    check_number(m.temperature);
    check_number(m.memory_temperature);
    check_number(m.link_received_bytes);
    check_number(m.link_sent_bytes);
    check_number(m.pcie_replays);
}

static void play(const struct fake_script *s, double seconds)
{
    struct gpu_reading r;

    for (int gpu = 0; gpu < s->count; gpu++) {
        fake_script_play(s, gpu, seconds, &r);
        for (size_t i = 0; i < GPU_VALUES; i++)
            check_number(r.gpu[i]);
        for (size_t i = 0; i < GPU_THROTTLE_VALUES; i++)
            check_number(r.throttle[i]);
        for (size_t i = 0; i < GPU_ERROR_VALUES; i++)
            check_number(r.error[i]);
    }
}

static void fuzz_script(const char *text, size_t size)
{
    struct fake_script s;
    struct err e = { "" };
    int rc = fake_script_read(&s, "f.ini", text, size, &e);

    check(rc == 0 || rc == -EINVAL);
    check((rc == 0) == (e.text[0] == '\0'));
    if (rc < 0) {
        check(line_told(e.text, "f.ini:") <= count_lines(text, size));
        return;
    }
    check(s.count > 0 && s.count <= FAKE_GPUS);
    play(&s, 0);
    play(&s, 12.5);
    play(&s, 1e9);
    fake_script_done(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size && data[0] % 2)
        fuzz_table(data + 1, size - 1);
    else if (size)
        fuzz_script((const char *)data + 1, size - 1);
    return 0;
}
