/* Disks, mounts and networks. */
#include <string.h>

#include "run/moment/moment_private.h"

/* Drives below a RAID or LVM would count twice in sums. */
static bool is_whole(const char *device)
{
    return strncmp(device, "dm-", 3) != 0 && strncmp(device, "md", 2) != 0;
}

static void fill_disks(const struct moment_view *v)
{
    size_t n;
    const struct signal_row *rows = tick_set(v->now, "disk", &n);
    double *x = v->values;

    for (size_t i = 0; i < n; i++) {
        const struct signal_row *row = &rows[i];
        double busy = moment_rate(v, row, "io_seconds_total", NULL);
        double requests = moment_rate(v, row, "reads_total", NULL) +
                          moment_rate(v, row, "writes_total", NULL);
        double seconds = moment_rate(v, row, "read_seconds_total", NULL) +
                         moment_rate(v, row, "write_seconds_total", NULL);

        if (is_whole(row->thing)) {
            moment_add(&x[RUN_DISK_READ], moment_rate(v, row, "read_bytes_total", NULL));
            moment_add(&x[RUN_DISK_WRITE], moment_rate(v, row, "write_bytes_total", NULL));
            moment_add(&x[RUN_DISK_REQUESTS], requests);
        }
        if (isnan(busy) || busy <= x[RUN_DISK_BUSY])
            continue;
        x[RUN_DISK_BUSY] = busy;
        x[RUN_DISK_AWAIT] = seconds / requests;
        x[RUN_DISK_QUEUE] = moment_rate(v, row, "queue_seconds_total", NULL);
    }
    x[RUN_DISK_BUSY] = x[RUN_DISK_BUSY] > 1 ? 1 : x[RUN_DISK_BUSY];
}

/* All operations of all mounts. */
static double nfs_rate(const struct moment_view *v, const char *name)
{
    static const char *const kinds[] = { "op=\"read\"", "op=\"write\"", "op=\"metadata\"" };
    size_t n;
    const struct signal_row *rows = tick_set(v->now, "nfs", &n);
    double sum = (double)NAN;

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < ARRAY_SIZE(kinds); k++)
            moment_add(&sum, moment_rate(v, &rows[i], name, kinds[k]));
    return sum;
}

static void fill_net(const struct moment_view *v)
{
    size_t n;
    const struct signal_row *rows = tick_set(v->now, "net", &n);
    double *x = v->values;

    for (size_t i = 0; i < n; i++) {
        double received = moment_rate(v, &rows[i], "receive_bytes_total", NULL);
        double sent = moment_rate(v, &rows[i], "transmit_bytes_total", NULL);
        double speed = moment_gauge(&rows[i], "speed_bytes", NULL);
        double load = (received > sent ? received : sent) / speed;

        if (!strcmp(rows[i].thing, "lo")) {
            x[RUN_LOOPBACK] = received;
            continue;
        }
        moment_add(&x[RUN_NET_RECEIVED], received);
        moment_add(&x[RUN_NET_SENT], sent);
        if (speed > 0 && !(load <= x[RUN_NET_LOAD]))
            x[RUN_NET_LOAD] = load;
    }
}

void moment_io(const struct moment_view *v)
{
    double ops = nfs_rate(v, "operations_total");

    fill_disks(v);
    fill_net(v);
    v->values[RUN_NFS_OPS] = ops;
    v->values[RUN_NFS_QUEUE] = nfs_rate(v, "queue_seconds_total") / ops;
    v->values[RUN_NFS_ROUND_TRIP] = nfs_rate(v, "rpc_seconds_total") / ops;
    v->values[RUN_NFS_EXECUTE] = nfs_rate(v, "execute_seconds_total") / ops;
}
