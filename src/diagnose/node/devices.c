/* Disks, file systems, mounts of NFS, network interfaces and InfiniBand ports. */
#include "diagnose/node/live_private.h"

#define FIELD_OP(name, op, to) LIVE_FIELD_OF(live_nfs, name, "op=\"" op "\"", LIVE_RATE, to)
#define FIELD_OPS(name, to) \
    FIELD_OP(name, "read", to), FIELD_OP(name, "write", to), FIELD_OP(name, "metadata", to)

static const struct live_field disk_fields[] = {
    LIVE_FIELD(live_disk, "read_bytes_total", LIVE_RATE, read),
    LIVE_FIELD(live_disk, "write_bytes_total", LIVE_RATE, write),
    LIVE_FIELD(live_disk, "reads_total", LIVE_RATE, iops),
    LIVE_FIELD(live_disk, "writes_total", LIVE_RATE, iops),
    LIVE_FIELD(live_disk, "read_seconds_total", LIVE_RATE, await),
    LIVE_FIELD(live_disk, "write_seconds_total", LIVE_RATE, await),
    LIVE_FIELD(live_disk, "io_seconds_total", LIVE_RATE, busy),
    LIVE_FIELD(live_disk, "queue_seconds_total", LIVE_RATE, queue),
    LIVE_FIELD_END,
};

static const struct live_field filesystem_fields[] = {
    LIVE_FIELD(live_filesystem, "size_bytes", LIVE_GAUGE, size),
    LIVE_FIELD(live_filesystem, "free_bytes", LIVE_GAUGE, free),
    LIVE_FIELD_END,
};

static const struct live_field nfs_fields[] = {
    FIELD_OPS("operations_total", ops),
    FIELD_OP("bytes_total", "read", read),
    FIELD_OP("bytes_total", "write", write),
    FIELD_OPS("rpc_seconds_total", rtt),
    FIELD_OPS("queue_seconds_total", queue),
    FIELD_OPS("execute_seconds_total", execute),
    LIVE_FIELD_END,
};

static const struct live_field net_fields[] = {
    LIVE_FIELD(live_net, "receive_bytes_total", LIVE_RATE, rx),
    LIVE_FIELD(live_net, "transmit_bytes_total", LIVE_RATE, tx),
    LIVE_FIELD(live_net, "speed_bytes", LIVE_GAUGE, speed),
    LIVE_FIELD(live_net, "receive_errors_total", LIVE_RATE, errors),
    LIVE_FIELD(live_net, "transmit_errors_total", LIVE_RATE, errors),
    LIVE_FIELD(live_net, "receive_dropped_total", LIVE_RATE, drops),
    LIVE_FIELD(live_net, "transmit_dropped_total", LIVE_RATE, drops),
    LIVE_FIELD(live_net, "receive_packets_total", LIVE_RATE, packets),
    LIVE_FIELD(live_net, "transmit_packets_total", LIVE_RATE, packets),
    LIVE_FIELD_END,
};

static const struct live_field infiniband_fields[] = {
    LIVE_FIELD(live_net, "received_bytes_total", LIVE_RATE, rx),
    LIVE_FIELD(live_net, "sent_bytes_total", LIVE_RATE, tx),
    LIVE_FIELD(live_net, "rate_bytes_per_second", LIVE_GAUGE, speed),
    LIVE_FIELD_END,
};

static void fill_disks(struct live_view *v)
{
    struct live *l = v->l;
    struct live_rows rows;

    live_rows_of(v, "disk", disk_fields, &rows);
    l->n_disks = MIN(rows.n, (size_t)LIVE_DISKS_MAX);
    for (size_t i = 0; i < l->n_disks; i++) {
        struct live_disk *d = &l->disks[i];

        d->device = rows.rows[i].thing;
        live_fill(&rows, i, d);
        d->await = d->iops > 0 ? d->await / d->iops : (double)NAN;
        d->busy = d->busy > 1 ? 1 : d->busy; /* the kernel counts it in ticks of its own */
    }
}

static void fill_filesystems(struct live_view *v)
{
    struct live *l = v->l;
    struct live_rows rows;

    live_rows_of(v, "filesystem", filesystem_fields, &rows);
    l->n_filesystems = MIN(rows.n, (size_t)LIVE_FILESYSTEMS_MAX);
    for (size_t i = 0; i < l->n_filesystems; i++) {
        struct live_filesystem *f = &l->filesystems[i];

        f->mount = rows.rows[i].thing;
        live_fill(&rows, i, f);
        f->used = f->size - f->free;
    }
}

static void fill_nfs(struct live_view *v)
{
    struct live *l = v->l;
    struct live_rows rows;

    live_rows_of(v, "nfs", nfs_fields, &rows);
    l->n_nfs = MIN(rows.n, (size_t)LIVE_NFS_MAX);
    for (size_t i = 0; i < l->n_nfs; i++) {
        struct live_nfs *m = &l->nfs[i];
        double ops;

        m->mount = rows.rows[i].thing;
        live_fill(&rows, i, m);
        ops = m->ops > 0 ? m->ops : (double)NAN;
        m->waiting = m->execute;
        m->rtt /= ops;
        m->queue /= ops;
        m->execute /= ops;
    }
}

static void fill_nets(struct live_view *v, const char *set, const struct live_field *fields,
                      const char *kind)
{
    struct live *l = v->l;
    struct live_rows rows;

    live_rows_of(v, set, fields, &rows);
    for (size_t i = 0; i < rows.n && l->n_nets < LIVE_NETS_MAX; i++) {
        struct live_net *n = &l->nets[l->n_nets++];

        *n = (struct live_net){ .device = rows.rows[i].thing,
                                .kind = kind,
                                .errors = (double)NAN,
                                .drops = (double)NAN,
                                .packets = (double)NAN };
        live_fill(&rows, i, n);
    }
}

void live_fill_devices(struct live_view *v)
{
    fill_disks(v);
    fill_filesystems(v);
    fill_nfs(v);
    v->l->n_nets = 0;
    fill_nets(v, "net", net_fields, "ethernet");
    fill_nets(v, "infiniband", infiniband_fields, "infiniband");
}
