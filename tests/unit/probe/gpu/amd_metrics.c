/* The binary tables of the amdgpu driver, whole: of each layout how long it is, and what is read
 * from where. In a table whose bits are all set nothing is known; two bytes of it are a small
 * number, at one place after the other. The bits of throttling are set one after the other.
 *
 *     t_probe_gpu_amd_metrics FILE */
#include "probe/gpu/amd_metrics.h"

#include <errno.h>
#include <math.h>

#include "base/str.h"
#include "golden.h"

enum { ROOM = 1 << 20, MOST = 1200, REVISIONS = 12 };

static void make(uint8_t table[MOST], int revision, size_t size)
{
    memset(table, 0xff, MOST);
    table[0] = (uint8_t)(size & 0xff);
    table[1] = (uint8_t)(size >> 8);
    table[2] = 1;
    table[3] = (uint8_t)revision;
}

/* The least size that a layout is read at; 0: it is not known. */
static size_t least(int revision)
{
    uint8_t table[MOST];
    struct amd_metrics m;

    for (size_t n = 4; n < MOST; n++) {
        make(table, revision, n);
        if (amd_metrics_read(table, n, &m) == 0)
            return n;
    }
    return 0;
}

static void add(struct str *out, const char *name, double value)
{
    if (!isnan(value))
        str_addf(out, " %s %.9g", name, value);
}

/* What is known. */
static void add_known(struct str *out, const struct amd_metrics *m)
{
    static const char *const reasons[AMD_REASONS] = { "power", "thermal", "brake", "other" };

    add(out, "busy", m->busy);
    add(out, "memory-busy", m->memory_busy);
    add(out, "watts", m->power_watts);
    add(out, "joules", m->energy_joules);
    add(out, "temperature", m->temperature);
    add(out, "memory-temperature", m->memory_temperature);
    add(out, "received", m->link_received_bytes);
    add(out, "sent", m->link_sent_bytes);
    add(out, "replays", m->pcie_replays);
    if (m->has_cycles)
        str_addf(out, " cycles %u", m->cycles);
    for (int i = 0; i < AMD_LIMITS && m->has_cycles; i++)
        if (m->limited[i])
            str_addf(out, " limit-%d %u", i, m->limited[i]);
    for (int i = 0; i < AMD_REASONS && m->has_active; i++)
        if (m->active[i])
            str_addf(out, " %s", reasons[i]);
    if (m->has_active)
        str_add(out, " active");
}

static void add_at(struct str *out, int revision, size_t size, size_t at, unsigned value)
{
    CLEANUP(str_done) struct str known = STR_INIT(4096);
    uint8_t table[MOST];
    struct amd_metrics m;

    make(table, revision, size);
    table[at] = (uint8_t)(value & 0xff);
    table[at + 1] = (uint8_t)(value >> 8);
    if (amd_metrics_read(table, size, &m) < 0)
        str_add(&known, " not read");
    else
        add_known(&known, &m);
    if (known.len)
        str_addf(out, "1.%d at %zu is %#x:%s\n", revision, at, value, str_text(&known));
}

/* Eight bytes of zeros but for one bit, where a state of throttling stands. */
static void add_bits(struct str *out, int revision, size_t size, size_t at)
{
    for (int bit = 0; bit < 64; bit++) {
        CLEANUP(str_done) struct str known = STR_INIT(4096);
        uint8_t table[MOST];
        struct amd_metrics m;

        make(table, revision, size);
        memset(table + at, 0, 8);
        table[at + (size_t)bit / 8] = (uint8_t)(1 << bit % 8);
        if (amd_metrics_read(table, size, &m) == 0 && m.has_active)
            add_known(&known, &m);
        if (known.len)
            str_addf(out, "1.%d bit %d at %zu:%s\n", revision, bit, at, str_text(&known));
    }
}

static void add_layout(struct str *out, int revision)
{
    uint8_t table[MOST];
    struct amd_metrics m;
    size_t size = least(revision);

    str_addf(out, "1.%d: %zu bytes at least\n", revision, size);
    if (size == 0)
        return;
    make(table, revision, size - 1);
    is_int(amd_metrics_read(table, size, &m), -ENOTSUP,
           "a table of layout 1.%d that says that it is shorter is not read", revision);
    make(table, revision, size);
    table[2] = 2;
    is_int(amd_metrics_read(table, size, &m), -ENOTSUP, "a table of layout 2.%d is not read",
           revision);
    for (size_t at = 4; at + 2 <= size; at += 2)
        add_at(out, revision, size, at, 7);
    for (unsigned share = 9900; share <= 10001; share += 1 + 99 * (share < 10000))
        for (size_t at = 12; at <= 18; at += 2)
            add_at(out, revision, size, at, share);
    for (size_t at = 40; at + 8 <= MIN(size, (size_t)120); at += 8)
        add_bits(out, revision, size, at);
}

int main(int argc, char **argv)
{
    CLEANUP(str_done) struct str out = STR_INIT(ROOM);

    if (argc != 2)
        return 2;
    for (int revision = 0; revision < REVISIONS; revision++)
        add_layout(&out, revision);
    golden(argv[1], str_text(&out));
    return done();
}
