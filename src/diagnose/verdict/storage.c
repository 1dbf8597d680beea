/* Why data is waited for, when it is storage: bandwidth, latency, many small files, or others. */
#include "diagnose/verdict/judge_private.h"

/* What the disks do for the job. */
struct storage {
    double waiting;   /* share of the waiting for data in which the loader waits for files; NaN */
    double request;   /* bytes of a request of the disks; NaN */
    double call;      /* bytes of a read; NaN */
    double others;    /* share of the disks' bytes that other processes move; NaN */
    double nfs_share; /* of an operation's time, in the client's queue; NaN */
    bool nfs;
    bool remote; /* the files are on no disk of this node, and not on NFS */
};

static double ratio(double a, double b)
{
    return b > 0 ? a / b : (double)NAN;
}

static double known_or_zero(double x)
{
    return isnan(x) ? 0 : x;
}

/* Whether the files are on another file system (FUSE, Lustre, Ceph): the job reads and waits for
 * files, and no bytes come from disks or NFS. */
static bool is_remote(const struct judge *j, const struct storage *s)
{
    return !s->nfs && judge_mean(j, RUN_JOB_READ) < j->l.bytes_some / 10 &&
           !(judge_mean(j, RUN_DISK_BUSY) >= j->l.disk_idle) && s->waiting >= j->l.io_waiting &&
           judge_mean(j, RUN_JOB_READ_CALLS) >= j->l.nfs_operations;
}

static struct storage look(const struct judge *j)
{
    double loaders = fmax(1, j->workers) * (double)j->n_ranks, others, all;
    double waits = fmax(judge_mean(j, RUN_JOB_IO_WAIT), judge_mean(j, RUN_JOB_BLOCKED));
    double saving = 0;
    struct storage s = { .nfs = judge_mean(j, RUN_NFS_OPS) >= j->l.nfs_operations };

    (void)judge_saving_most(j, &saving);
    /* Workers wait all the time; without them, the rank waits while data is waited for, and where
     * it saves. */
    if (isnan(loaders))
        loaders = (double)j->n_ranks;
    s.waiting = fmax(0, waits - saving) / (loaders * (j->workers > 0 ? 1 : j->wait));
    if (j->workers > 0)
        s.waiting = fmax(s.waiting, judge_mean(j, RUN_WORKER_IO_WAIT));
    s.request = ratio(judge_mean(j, RUN_DISK_READ) + known_or_zero(judge_mean(j, RUN_DISK_WRITE)),
                      judge_mean(j, RUN_DISK_REQUESTS));
    s.call = ratio(judge_mean(j, RUN_JOB_IO_READ), judge_mean(j, RUN_JOB_READ_CALLS));
    others = known_or_zero(judge_mean(j, RUN_OTHER_READ)) +
             known_or_zero(judge_mean(j, RUN_OTHER_WRITE));
    all = others + judge_mean(j, RUN_JOB_READ) + known_or_zero(judge_mean(j, RUN_JOB_WRITE));
    s.others = all >= j->l.bytes_some ? others / all : (double)NAN;
    s.nfs_share = ratio(judge_mean(j, RUN_NFS_QUEUE), judge_mean(j, RUN_NFS_EXECUTE));
    s.remote = is_remote(j, &s);
    return s;
}

/* Whether ranks wait for data that comes from disks: much comes from there, and processes wait for
 * disks a quarter of that time at least. The rest of it goes to calls and copies. */
static bool is_streaming(const struct judge *j)
{
    return judge_mean(j, RUN_JOB_READ) >= j->l.streaming * j->wait &&
           judge_mean(j, RUN_IO_PRESSURE) >= j->wait / 4 && !(j->cpu_waiting >= j->l.loader_on_cpu);
}

/* Whether the loader waits for files at all. */
static bool is_waited_for(const struct judge *j, const struct storage *s)
{
    double busy = judge_mean(j, RUN_DISK_BUSY), read = judge_mean(j, RUN_JOB_READ);
    double pressure = judge_mean(j, RUN_IO_PRESSURE);

    if (s->remote)
        return true;

    if (s->nfs &&
        (judge_mean(j, RUN_NFS_EXECUTE) >= j->l.nfs_round_trip ||
         judge_mean(j, RUN_NFS_ROUND_TRIP) >= j->l.nfs_round_trip || s->waiting >= j->l.io_waiting))
        return true;
    if (read < j->l.bytes_some / 10 && !(busy >= j->l.disk_idle))
        return false;
    /* An idle disk under pressure: a limit of a cgroup holds the job's requests back. */
    return s->waiting >= j->l.io_waiting || is_streaming(j) ||
           (pressure >= j->l.io_pressure && (busy >= j->l.disk_idle || pressure >= j->wait / 3) &&
            !(j->cpu_waiting >= j->l.loader_on_cpu));
}

static bool is_latency(const struct judge *j, const struct storage *s)
{
    if (s->nfs)
        return judge_mean(j, RUN_NFS_ROUND_TRIP) >= j->l.nfs_round_trip &&
               !(s->nfs_share >= j->l.nfs_queue);
    return judge_mean(j, RUN_DISK_AWAIT) >= j->l.disk_await &&
           !(judge_mean(j, RUN_DISK_QUEUE) >= j->l.disk_queue) &&
           !(s->request >= j->l.request_large);
}

/* Whether files are mapped into memory: more bytes come from disks than calls have read. */
static bool is_mapped(const struct judge *j)
{
    return judge_mean(j, RUN_JOB_IO_READ) < judge_mean(j, RUN_JOB_READ) / 2;
}

static bool is_small_files(const struct judge *j, const struct storage *s)
{
    bool small_calls = s->call < j->l.call_small &&
                       judge_mean(j, RUN_JOB_READ_CALLS) >= j->l.calls_many;

    if (s->nfs)
        return small_calls;
    if (is_mapped(j))
        return false;
    return s->request < j->l.request_small || (small_calls && !(s->request >= j->l.request_large));
}

static bool is_flat(const struct judge *j)
{
    return j->s[RUN_JOB_READ].variation <= j->l.flat &&
           judge_mean(j, RUN_JOB_READ) >= j->l.bytes_some;
}

/* Whether a limit holds the rate down: the disk is idle, and the rate does not change. */
static bool is_held_down(const struct judge *j, const struct storage *s)
{
    return !s->nfs && judge_mean(j, RUN_DISK_BUSY) < j->l.disk_idle && is_flat(j) &&
           !(s->request < j->l.request_small);
}

static enum cause find(const struct judge *j, const struct storage *s)
{
    double busy = judge_mean(j, RUN_DISK_BUSY);

    if (s->remote)
        return s->call < j->l.call_small ? CAUSE_SMALL_FILES : CAUSE_STORAGE_LATENCY;
    if (s->others >= j->l.others_storage && busy >= j->l.disk_idle)
        return CAUSE_STORAGE_CONTENTION;
    if (is_latency(j, s))
        return CAUSE_STORAGE_LATENCY;
    if (is_held_down(j, s))
        return CAUSE_STORAGE_BANDWIDTH;
    if (is_small_files(j, s))
        return CAUSE_SMALL_FILES;
    return CAUSE_STORAGE_BANDWIDTH;
}

static void say(struct judge *j, const struct storage *s, struct verdict_item *to)
{
    switch (to->cause) {
    case CAUSE_STORAGE_CONTENTION:
        judge_says(j, to, "other processes use the same disks: they move %s of the bytes",
                   quantity_share(s->others).text);
        judge_advises(j, to, "see which: iotop -o; copy the data to a disk of the job's own");
        break;
    case CAUSE_STORAGE_LATENCY:
        if (s->remote)
            judge_says(j, to, "the loader waits for a file system that is on no disk of this node");
        else
            judge_says(j, to, "the loader waits for slow storage: %s for a request",
                       quantity_seconds(s->nfs ? judge_mean(j, RUN_NFS_ROUND_TRIP)
                                               : judge_mean(j, RUN_DISK_AWAIT))
                           .text);
        judge_advises(j, to,
                      "ask for more at once: more workers, prefetch_factor=4; or copy the "
                      "data to a local disk first");
        break;
    case CAUSE_SMALL_FILES:
        judge_says(j, to, "the loader reads many small files: each costs more than its bytes");
        judge_advises(j, to, "pack them into shards (tar, one file of a GB each), or more workers");
        break;
    default:
        judge_says(j, to,
                   is_held_down(j, s)
                       ? "the loader reads as fast as it may: the disk is idle, a limit of "
                         "its cgroup or of the volume holds it down at %s"
                       : "the storage gives no more than %s",
                   quantity_rate(judge_mean(j, RUN_JOB_READ)).text);
        judge_advises(j, to,
                      is_held_down(j, s)
                          ? "raise the limit (io.max, blkio.throttle.read_bps_device), or "
                            "read less"
                          : "read less: compressed shards, a cache in memory, or a faster "
                            "disk");
    }
}

static void tell(struct judge *j, const struct storage *s, struct verdict_item *to)
{
    double busy = judge_mean(j, RUN_DISK_BUSY), await = judge_mean(j, RUN_DISK_AWAIT);

    judge_tells_wait(j, to);
    if (s->waiting >= j->l.io_waiting)
        judge_agrees(j, to, "the loader is in I/O %s of that time",
                     quantity_share(fmin(1, s->waiting)).text);
    if (busy >=
        0) /* a bandwidth that is used up is one that agrees, or one that something limits */
        (to->cause == CAUSE_STORAGE_BANDWIDTH && busy < j->l.disk_busy && !is_held_down(j, s)
             ? judge_tells
             : judge_agrees)(j, to, "the busiest disk is %s busy, %s for a request",
                             quantity_share(busy).text, quantity_seconds(await).text);
    if (s->request > 0)
        judge_agrees(j, to, "%s per request", quantity_bytes(s->request).text);
    if (s->call > 0)
        judge_tells(j, to, "%s per read, %s/s", quantity_bytes(s->call).text,
                    quantity_count(judge_mean(j, RUN_JOB_READ_CALLS)).text);
    if (judge_mean(j, RUN_IO_PRESSURE) >= j->l.io_pressure)
        judge_agrees(j, to, "I/O pressure %s", quantity_share(judge_mean(j, RUN_IO_PRESSURE)).text);
    if (s->nfs)
        judge_agrees(j, to, "NFS: %s operations/s, %s each, %s of it in the queue",
                     quantity_count(judge_mean(j, RUN_NFS_OPS)).text,
                     quantity_seconds(judge_mean(j, RUN_NFS_EXECUTE)).text,
                     quantity_share(s->nfs_share).text);
}

void judge_storage(struct judge *j, bool *found)
{
    struct storage s;
    struct verdict_item *to;

    if (!(j->wait >= j->l.wait_warning))
        return;
    s = look(j);
    if (!is_waited_for(j, &s))
        return;
    *found = true;
    to = judge_add(j, find(j, &s), -1, j->wait);
    say(j, &s, to);
    tell(j, &s, to);
}
