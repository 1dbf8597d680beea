/* The stage "storage": disks, mounts of NFS, and waiting that neither explains. */
#include <string.h>

#include "diagnose/node/live_private.h"
#include "model/signal/quantity.h"

enum {
    STORAGE_DISK = 1,
    STORAGE_NFS,
    STORAGE_PRESSURE,
    STORAGE_LUSTRE,
    STORAGE_CEPH,
    STORAGE_TARGETS
};
enum { DISK_BUSY, DISK_AWAIT, DISK_RATE };
enum { NFS_QUEUE, NFS_EXECUTE, NFS_OPS };
enum { REMOTE_EACH, REMOTE_WAITING };
enum { TARGETS_MISSING, TARGETS_ALL };

/* The thing that was worst stays so unless another one is clearly worse: the sentence would
 * flicker between two disks. */
static double favour(const struct live_view *v, const char *thing)
{
    return strcmp(v->l->stages[LIVE_STORAGE].thing, thing) != 0 ? 0 : 0.05;
}

/* A disk that is always busy may serve many requests at a time: it is at its limit only when
 * somebody waits for it. */
static double disk_load(const struct live_view *v, const struct live_disk *d)
{
    const struct live_limits *x = &live_limits;
    bool waits = d->await >= x->disk_await_s || d->queue >= x->disk_queue ||
                 v->l->io_pressure >= x->io_pressure;

    if (waits || !(d->busy > x->load_unwaited))
        return d->busy;
    return x->load_unwaited;
}

/* An operation that spends most of its time before it is sent waits for a free slot. It counts as
 * far as there always is one under way. */
static double nfs_load(const struct live_nfs *n)
{
    double load = live_near(n->queue / n->execute, live_limits.nfs_queue_share);

    if (isnan(load))
        return n->ops >= 0 ? 0 : load;
    return load * MIN(n->waiting, 1.0);
}

/* Waiting is laid to the worst thing where that is busy, else to a parallel file system with
 * requests under way, else it is told for itself. */
static void measure_pressure(const struct live *l, const struct live_remote *r,
                             struct live_measure *m)
{
    double load = live_near(l->io_pressure, live_limits.io_pressure_alone);

    if (!(load >= live_limits.load_limit) || m->load >= live_limits.load_limit)
        return;
    if (m->load < live_limits.load_busy && r->kind && r->waiting >= 1)
        *m = (struct live_measure){ .cause = r->kind[0] == 'L' ? STORAGE_LUSTRE : STORAGE_CEPH,
                                    .figures = { r->each, r->waiting },
                                    .thing = r->thing };
    else if (m->load < live_limits.load_busy)
        *m = (struct live_measure){ .cause = STORAGE_PRESSURE,
                                    .figures = { l->io_pressure },
                                    .thing = "" };
    m->load = load;
}

/* What is on a target that is gone makes all wait that need it. */
static void measure_remote(const struct live_view *v, struct live_measure *m)
{
    struct live_remote r = live_worst_remote(v);

    if (r.missing > 0)
        *m = (struct live_measure){ .cause = STORAGE_TARGETS,
                                    .load = live_limits.load_weak,
                                    .figures = { r.missing, r.targets },
                                    .thing = r.thing };
    measure_pressure(v->l, &r, m);
}

static void measure_storage(const struct live_view *v, struct live_measure *m)
{
    const struct live *l = v->l;
    double best = -1;

    for (size_t i = 0; i < l->n_disks; i++) {
        const struct live_disk *d = &l->disks[i];
        double load = disk_load(v, d);

        if (!(load + favour(v, d->device) > best))
            continue;
        best = load + favour(v, d->device);
        *m = (struct live_measure){ .cause = STORAGE_DISK,
                                    .load = load,
                                    .figures = { d->busy, d->await, d->read + d->write },
                                    .thing = d->device };
    }
    for (size_t i = 0; i < l->n_nfs; i++) {
        const struct live_nfs *n = &l->nfs[i];
        double load = nfs_load(n);

        if (!(load + favour(v, n->mount) > best))
            continue;
        best = load + favour(v, n->mount);
        *m = (struct live_measure){ .cause = STORAGE_NFS,
                                    .load = load,
                                    .figures = { n->queue, n->execute, n->ops },
                                    .thing = n->mount };
    }
    measure_remote(v, m);
}

/* What flows, of disks and mounts: drives below a RAID or LVM are counted twice. */
static double flow(const struct live *l)
{
    double sum = 0;
    bool known = false;

    for (size_t i = 0; i < l->n_disks; i++) {
        bool is_whole = strncmp(l->disks[i].device, "dm-", 3) != 0 &&
                        strncmp(l->disks[i].device, "md", 2) != 0;
        double both = l->disks[i].read + l->disks[i].write;

        known |= !isnan(both);
        sum += isnan(both) || !is_whole ? 0 : both;
    }
    for (size_t i = 0; i < l->n_nfs; i++) {
        double both = l->nfs[i].read + l->nfs[i].write;

        known |= !isnan(both);
        sum += isnan(both) ? 0 : both;
    }
    return known ? sum : (double)NAN;
}

static void describe_storage(const struct live_view *v, struct live_stage *s)
{
    const double *f = s->figures;
    double flows = flow(v->l);

    if (!isnan(flows))
        live_say(s->value, sizeof(s->value), "%s", quantity_rate(flows).text);
    if (s->cause == STORAGE_DISK) {
        live_say(s->detail, sizeof(s->detail), "disk %s is %s busy", s->thing,
                 quantity_share(f[DISK_BUSY]).text);
        if (!isnan(f[DISK_AWAIT]))
            live_add(s->detail, " and takes %s a request", quantity_seconds(f[DISK_AWAIT]).text);
    } else if (s->cause == STORAGE_NFS && isnan(f[NFS_EXECUTE])) {
        live_say(s->detail, sizeof(s->detail), "NFS mount %s is idle", s->thing);
    } else if (s->cause == STORAGE_NFS) {
        live_say(s->detail, sizeof(s->detail),
                 "NFS mount %s holds operations back for %s of the %s that each takes", s->thing,
                 quantity_seconds(f[NFS_QUEUE]).text, quantity_seconds(f[NFS_EXECUTE]).text);
    } else if (s->cause == STORAGE_LUSTRE || s->cause == STORAGE_CEPH) {
        live_say(s->detail, sizeof(s->detail), "%s %s takes %s a request, %.0f are under way",
                 s->cause == STORAGE_LUSTRE ? "Lustre" : "Ceph", s->thing,
                 quantity_seconds(f[REMOTE_EACH]).text, f[REMOTE_WAITING]);
    } else if (s->cause == STORAGE_TARGETS) {
        live_say(s->detail, sizeof(s->detail), "Lustre %s has lost %.0f of its %.0f targets",
                 s->thing, f[TARGETS_MISSING], f[TARGETS_ALL]);
    } else if (s->cause == STORAGE_PRESSURE) {
        live_say(s->detail, sizeof(s->detail),
                 "work waits %s of the time for input and output, of no disk that is at its limit",
                 quantity_share(f[0]).text);
    }
}

static void advise_storage(const struct live_view *v, const struct live_stage *s, char *action)
{
    struct live_user u;

    if (s->cause == STORAGE_NFS) {
        live_say(action, LIVE_TEXT,
                 "mount %s with nconnect=8, or raise nfs.max_session_slots: its "
                 "requests wait for a free slot",
                 s->thing);
        return;
    }
    if (s->cause == STORAGE_TARGETS) {
        live_say(action, LIVE_TEXT,
                 "lfs check all; the kernel says since when: dmesg | grep Lustre");
        return;
    }
    if (!live_find_user(v, LIVE_BY_IO, flow(v->l), &u))
        live_say(action, LIVE_TEXT, "brim top --sort io");
    else if (u.writes > u.reads)
        live_advise_user(action, &u, "write", quantity_rate(u.writes).text);
    else
        live_advise_user(action, &u, "read", quantity_rate(u.reads).text);
}

const struct live_stage_ops live_storage = { "storage limits this node", measure_storage,
                                             describe_storage, advise_storage };
