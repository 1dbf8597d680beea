/* Network interfaces: /proc/net/dev, and what the link runs at from sysfs. */
#include "probe/sample/sampler.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "probe/kernel/kept_file.h"
#include "probe/kernel/scan.h"
#include "probe/sample/table.h"

enum { DEVICES_MAX = 256, SPEEDS_MAX = 64 };

/* Reading a speed asks the driver, under a lock of the whole network stack. */
#define SPEED_NS (10 * NS_PER_S)

enum {
    NET_RECEIVE_BYTES,
    NET_RECEIVE_PACKETS,
    NET_RECEIVE_ERRORS,
    NET_RECEIVE_DROPPED,
    NET_TRANSMIT_BYTES,
    NET_TRANSMIT_PACKETS,
    NET_TRANSMIT_ERRORS,
    NET_TRANSMIT_DROPPED,
    NET_SPEED,
    NET_VALUES,
    NET_UNUSED = NET_VALUES
};

static const struct signal_def defs[NET_VALUES] = {
    [NET_RECEIVE_BYTES] = { "receive_bytes_total", "bytes received", SIGNAL_COUNTER },
    [NET_RECEIVE_PACKETS] = { "receive_packets_total", "packets received", SIGNAL_COUNTER },
    [NET_RECEIVE_ERRORS] = { "receive_errors_total", "packets received broken", SIGNAL_COUNTER },
    [NET_RECEIVE_DROPPED] = { "receive_dropped_total", "packets received and dropped",
                              SIGNAL_COUNTER },
    [NET_TRANSMIT_BYTES] = { "transmit_bytes_total", "bytes sent", SIGNAL_COUNTER },
    [NET_TRANSMIT_PACKETS] = { "transmit_packets_total", "packets sent", SIGNAL_COUNTER },
    [NET_TRANSMIT_ERRORS] = { "transmit_errors_total", "packets that could not be sent",
                              SIGNAL_COUNTER },
    [NET_TRANSMIT_DROPPED] = { "transmit_dropped_total", "packets dropped before sending",
                               SIGNAL_COUNTER },
    [NET_SPEED] = { "speed_bytes", "bytes a second that the link can carry each way",
                    SIGNAL_GAUGE },
};

static const struct signal_set net_set = { "net", "device", defs, NET_VALUES };

/* The columns behind the name. */
static const int columns[] = {
    NET_RECEIVE_BYTES,           NET_RECEIVE_PACKETS,        NET_RECEIVE_ERRORS,
    NET_RECEIVE_DROPPED,         NET_UNUSED /* fifo */,      NET_UNUSED /* frame */,
    NET_UNUSED /* compressed */, NET_UNUSED /* multicast */, NET_TRANSMIT_BYTES,
    NET_TRANSMIT_PACKETS,        NET_TRANSMIT_ERRORS,        NET_TRANSMIT_DROPPED,
};

/* Interfaces that lead nowhere but into this machine: containers have thousands of them. */
static const struct {
    const char *name;
    bool whole; /* or the start of a name */
} skipped[] = {
    { "lo", true },      { "veth", false }, { "ifb", false },
    { "docker", false }, { "cni", false },  { "virbr", false },
};

struct speed {
    char device[SIGNAL_THING]; /* "" while it is free */
    struct kept file;
    double bytes; /* a second; NaN */
    int64_t read_ns;
    bool seen; /* in this sample */
};

struct net {
    int root; /* our own descriptor */
    struct sample_table *table;
    struct speed speeds[SPEEDS_MAX];
};

static void net_close(void *state)
{
    struct net *n = state;

    for (size_t i = 0; i < SPEEDS_MAX; i++)
        if (n->speeds[i].device[0])
            kept_close(&n->speeds[i].file);
    sample_table_close(n->table);
    closep(&n->root);
    free(n);
}

DEFINE_CLEANUP(struct net, net_close)

static int net_open(void **state, const struct sampler_env *env, struct err *e)
{
    CLEANUP(net_closep) struct net *n = calloc(1, sizeof(*n));
    int rc;

    if (!n)
        return err_nomem(e);
    n->root = -1;
    rc = sample_table_open(&n->table, env->root, "proc/net/dev", e);
    if (rc < 0)
        return rc;
    n->root = fcntl(env->root, F_DUPFD_CLOEXEC, 0);
    if (n->root < 0)
        return err_set(e, -errno, "proc/net/dev: %m");
    *state = steal(&n);
    return 0;
}

static bool is_skipped(const char *name)
{
    for (size_t i = 0; i < ARRAY_SIZE(skipped); i++) {
        size_t len = strlen(skipped[i].name);

        if (!strncmp(name, skipped[i].name, len) && (!skipped[i].whole || !name[len]))
            return true;
    }
    return false;
}

/* Ask what a link runs at. A file that does not answer is opened anew: a device that comes back
 * under its old name has another one. */
static void read_speed(struct speed *s, int root, int64_t now_ns)
{
    char path[SIGNAL_THING + 32], text[32];
    const char *at = text;
    double mbit = (double)NAN;
    int len = kept_read(&s->file, text, sizeof(text));

    s->read_ns = now_ns;
    if (len < 0) {
        snprintf(path, sizeof(path), "sys/class/net/%s/speed", s->device);
        kept_close(&s->file);
        kept_open(&s->file, root, path);
        len = kept_read(&s->file, text, sizeof(text));
    }
    if (len > 0)
        mbit = scan_number(&at); /* "-1" is none, and so is 4294967295 on older kernels */
    s->bytes = (double)NAN;
    if (mbit > 0 && mbit < UINT32_MAX)
        s->bytes = mbit * 1e6 / 8;
}

static double speed_of(struct net *n, const char *device, int64_t now_ns)
{
    struct speed *s = NULL;

    for (size_t i = 0; i < SPEEDS_MAX; i++) {
        struct speed *one = &n->speeds[i];

        if (!strcmp(one->device, device)) {
            s = one;
            break;
        }
        if (!s && !one->device[0])
            s = one;
    }
    if (!s || strchr(device, '/') || device[0] == '.')
        return (double)NAN;
    if (!s->device[0]) {
        snprintf(s->device, sizeof(s->device), "%s", device);
        s->file.fd = -1;
        read_speed(s, n->root, now_ns);
    } else if (now_ns - s->read_ns >= SPEED_NS) {
        read_speed(s, n->root, now_ns);
    }
    s->seen = true;
    return s->bytes;
}

/* Close the speeds of devices that are gone. */
static void forget_speeds(struct net *n)
{
    for (size_t i = 0; i < SPEEDS_MAX; i++) {
        struct speed *s = &n->speeds[i];

        if (s->device[0] && !s->seen) {
            kept_close(&s->file);
            s->device[0] = 0;
        }
        s->seen = false;
    }
}

/* One line; 1 when it gave a row. */
static int read_device(struct net *n, struct tick *t, const char *at)
{
    char name[SIGNAL_THING];
    struct signal_row *row;

    if (!sample_name(&at, ':', name) || *at != ':') /* the two lines of the header have none */
        return 0;
    at++;
    if (is_skipped(name) || tick_find(t, &net_set, name))
        return 0;
    row = tick_add(t, &net_set, name);
    if (!row)
        return -ENOMEM;
    for (size_t i = 0; i < ARRAY_SIZE(columns); i++) {
        double value = scan_number(&at);

        if (isnan(value)) /* those behind it would be in the wrong column */
            break;
        if (columns[i] != NET_UNUSED)
            row->values[columns[i]] = value;
    }
    row->values[NET_SPEED] = speed_of(n, name, t->monotonic_ns);
    return 1;
}

static int net_sample(void *state, struct tick *t)
{
    struct net *n = state;
    const char *at;
    char *text;
    int rc = sample_table_read(n->table, &text), count = 0;

    if (rc < 0)
        return rc;
    at = text;
    do {
        rc = read_device(n, t, at);
        if (rc < 0)
            return rc;
        count += rc;
    } while (count < DEVICES_MAX && scan_line(&at));
    forget_speeds(n);
    return 0;
}

const struct sampler_ops sampler_net = { "net", &net_set, net_open, net_sample, net_close };
