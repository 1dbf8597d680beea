#include "run/job/family.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/resource.h>

#include "probe/kernel/kept_file.h"
#include "probe/kernel/taskstats.h"
#include "run/job/family_list.h"

/* Files that stay open: two of each member, within what the system allows us. */
enum { DESCRIPTORS_MIN = 1024, KEPT_MAX = 128, ANCESTRY_MAX = 64, ASKED_MAX = 512 };

struct family {
    struct family_list list;
    struct kept delays;
    struct taskstats_client *client; /* NULL */
    double tick_s, page_b;
    bool keep;
    double reaped_ticks; /* since the last sample */
    double cpu_s;        /* up to the last sample */
    double bytes;
    const pid_t *ranks;
    size_t n_ranks;
    struct taskstats_usage usages[ASKED_MAX];
};

int family_open(struct family **ret, int proc, bool live, pid_t ancestor, struct err *e)
{
    CLEANUP(family_closep) struct family *f = calloc(1, sizeof(*f));
    struct rlimit limit;
    int rc;

    if (!f)
        return err_nomem(e);
    f->delays.fd = -1;
    rc = family_list_open(&f->list, proc, ancestor, e);
    if (rc < 0)
        return rc;
    kept_open(&f->delays, proc, "sys/kernel/task_delayacct");
    f->tick_s = 1.0 / (double)sysconf(_SC_CLK_TCK);
    f->page_b = (double)sysconf(_SC_PAGESIZE);
    f->keep = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur >= DESCRIPTORS_MIN;
    if (live && taskstats_open(&f->client, NULL) == -ENOMEM)
        return err_nomem(e);
    *ret = steal(&f);
    return 0;
}

void family_close(struct family *f)
{
    if (!f)
        return;
    taskstats_close(f->client);
    kept_close(&f->delays);
    family_list_done(&f->list);
    free(f);
}

void family_reaped(struct family *f, double cpu_s)
{
    f->reaped_ticks += cpu_s / f->tick_s;
}

void family_take(struct family *f, pid_t pid)
{
    f->list.first = pid;
}

size_t family_kin(const struct family *f, struct family_kin *kin, size_t n)
{
    size_t found = 0;

    for (size_t i = 0; i < f->list.n && found < n; i++) {
        const struct member *m = &f->list.members[i];

        kin[found++] = (struct family_kin){
            m->pid, m->parent, (double)(m->stat.user_ticks + m->stat.system_ticks) * f->tick_s
        };
    }
    return found;
}

void family_ranks(struct family *f, const pid_t *pids, size_t n)
{
    f->ranks = pids;
    f->n_ranks = n;
}

/* Whether it waits for a disk, or for a file system that is not on one. */
static bool is_blocked(const struct family *f, const struct member *m)
{
    if (m->stat.state == 'S' && (m->is_rank || m->is_worker))
        return thread_waits_for_files(f->list.proc, m->pid);
    return m->stat.state == 'D';
}

/* Read a member's stat: false when it ended. */
static bool read_stat(struct family *f, struct member *m, bool keep)
{
    char text[PROCESS_TEXT];
    struct process_stat stat;
    int rc = process_files_read(f->list.proc, m->pid, "stat", keep ? &m->files.stat : NULL, text);

    if (rc < 0 || process_parse_stat(text, &stat) < 0 || stat.start_ticks != m->start_ticks)
        return rc == -EMFILE || rc == -ENFILE;
    m->stat = stat;
    m->parent = (pid_t)stat.parent;
    m->looks++;
    m->blocked += is_blocked(f, m);
    return true;
}

static double or_zero(double value)
{
    return isnan(value) ? 0 : value;
}

static double all_ticks(const struct process_stat *s)
{
    return (double)(s->user_ticks + s->system_ticks + s->waited_ticks);
}

static void read_io(struct family *f, struct member *m, bool keep)
{
    char text[PROCESS_TEXT] = "";

    (void)process_files_read(f->list.proc, m->pid, "io", keep ? &m->files.io : NULL, text);
    process_parse_io(text, &m->now.io);
}

void family_look(struct family *f, struct family_glance *ret, bool bytes)
{
    *ret = (struct family_glance){ .cpu_s = f->cpu_s, .bytes = f->bytes };
    for (size_t i = 0; i < f->list.n && i < FAMILY_GLANCED; i++) {
        struct member *m = &f->list.members[i];
        bool keep = f->keep && i < KEPT_MAX;

        if (m->gone || m->fresh || !read_stat(f, m, keep))
            continue;
        ret->cpu_s += (all_ticks(&m->stat) - m->before.ticks) * f->tick_s;
        if (!bytes)
            continue;
        read_io(f, m, keep);
        ret->bytes += or_zero(m->now.io.read_bytes - m->before.io.read_bytes);
        ret->bytes += or_zero(m->now.io.written_bytes - m->before.io.written_bytes);
    }
}

static void read_members(struct family *f)
{
    for (size_t i = 0; i < f->list.n; i++) {
        struct member *m = &f->list.members[i];
        bool keep = f->keep && i < KEPT_MAX;

        m->gone = !read_stat(f, m, keep);
        m->now = m->before;
        m->waited_left = 0;
        if (m->gone)
            continue;
        read_io(f, m, keep);
        m->now.ticks = all_ticks(&m->stat);
        m->now.waited_ticks = (double)m->stat.waited_ticks;
        m->now.major_faults = (double)(m->stat.major_faults + m->stat.waited_major_faults);
        m->waited_left = m->now.waited_ticks - m->before.waited_ticks;
    }
}

static struct member *find_any(struct family *f, pid_t pid)
{
    for (size_t i = 0; i < f->list.n; i++)
        if (f->list.members[i].pid == pid)
            return &f->list.members[i];
    return NULL;
}

/* What ended is in the counters of the nearest one above it that lives, if it was waited for: what
 * is in there twice is taken off. The ancestor's are those that it reaped. */
static double take_off_ended(struct family *f, struct member_counts *ret)
{
    struct process_io *io = &ret->io;
    double left = f->reaped_ticks, off = 0;

    for (size_t i = 0; i < f->list.n; i++) {
        const struct member *m = &f->list.members[i];
        struct member *above = NULL;
        double *room = &left;
        pid_t parent = m->parent;

        if (!m->gone)
            continue;
        for (int depth = 0; depth < ANCESTRY_MAX && parent != f->list.ancestor; depth++) {
            above = find_any(f, parent);
            if (!above || !above->gone)
                break;
            parent = above->parent;
        }
        if (parent != f->list.ancestor) {
            if (!above || above->gone)
                continue;
            room = &above->waited_left;
        }
        if (*room < m->before.ticks)
            continue;
        *room -= m->before.ticks;
        off += m->before.ticks;
        if (parent == f->list.ancestor)
            continue;
        ret->major_faults += m->before.major_faults;
        io->read_bytes += or_zero(m->before.io.read_bytes);
        io->written_bytes += or_zero(m->before.io.written_bytes);
        io->disk_read_bytes += or_zero(m->before.io.disk_read_bytes);
        io->disk_written_bytes += or_zero(m->before.io.disk_written_bytes);
        io->read_calls += or_zero(m->before.io.read_calls);
        io->write_calls += or_zero(m->before.io.write_calls);
    }
    return off;
}

/* Ranks, and those below them. */
static void tell_roles(struct family *f)
{
    for (size_t i = 0; i < f->list.n; i++) {
        struct member *m = &f->list.members[i];

        m->is_rank = false;
        for (size_t r = 0; r < f->n_ranks && !m->is_rank; r++)
            m->is_rank = f->ranks[r] == m->pid;
    }
    for (size_t i = 0; i < f->list.n; i++) {
        struct member *m = &f->list.members[i];
        const struct member *above = m;

        m->is_worker = false;
        for (int depth = 0; depth < ANCESTRY_MAX && above && !m->is_worker && !m->is_rank;
             depth++) {
            above = find_any(f, above->parent);
            m->is_worker = above && above->is_rank;
        }
    }
}

static void add_told(double *sum, double value)
{
    if (!isnan(value))
        *sum = isnan(*sum) ? value : *sum + value;
}

static void add_io(const struct member *m, struct process_io *sum)
{
    const struct process_io *now = &m->now.io, *then = &m->before.io;

    add_told(&sum->read_bytes, now->read_bytes - or_zero(then->read_bytes));
    add_told(&sum->written_bytes, now->written_bytes - or_zero(then->written_bytes));
    add_told(&sum->disk_read_bytes, now->disk_read_bytes - or_zero(then->disk_read_bytes));
    add_told(&sum->disk_written_bytes, now->disk_written_bytes - or_zero(then->disk_written_bytes));
    add_told(&sum->read_calls, now->read_calls - or_zero(then->read_calls));
    add_told(&sum->write_calls, now->write_calls - or_zero(then->write_calls));
}

static double grown(uint64_t now, uint64_t *before)
{
    double more = now > *before ? (double)(now - *before) : 0;

    *before = now;
    return more;
}

/* What the kernel says of waiting. A thread that ended takes what it had with it: then nothing is
 * told of its process for once. */
static void add_waits(struct family *f, struct member *m, const struct taskstats_usage *u,
                      bool delays, struct family_growth *ret)
{
    double run = grown(u->run_wait_ns, &m->run_wait_ns) / 1e9;
    double io = grown(u->block_io_wait_ns, &m->io_wait_ns) / 1e9;
    double memory = grown(u->swap_in_wait_ns + u->reclaim_wait_ns + u->thrashing_wait_ns +
                              u->compact_wait_ns,
                          &m->memory_wait_ns) /
                    1e9;

    (void)f;
    ret->run_wait_s += run;
    ret->preemptions += grown(u->involuntary_switches, &m->switches);
    if (!delays)
        return;
    ret->io_wait_s += io;
    ret->memory_wait_s += memory;
    if (m->is_worker)
        ret->worker_io_wait_s += io;
}

static void ask_waits(struct family *f, struct family_growth *ret)
{
    char text[16];
    bool delays = kept_read(&f->delays, text, sizeof(text)) <= 0 || text[0] != '0';
    size_t n = MIN(f->list.n, (size_t)ASKED_MAX);

    ret->run_wait_s = ret->preemptions = ret->io_wait_s = ret->memory_wait_s = (double)NAN;
    if (!f->client)
        return;
    ret->run_wait_s = ret->preemptions = 0;
    if (delays)
        ret->io_wait_s = ret->memory_wait_s = ret->worker_io_wait_s = 0;
    for (size_t i = 0; i < n; i++)
        f->usages[i] = (struct taskstats_usage){ .pid = f->list.members[i].pid, .rc = -ENOTSUP };
    taskstats_ask(f->client, f->usages, n);
    for (size_t i = 0; i < n; i++)
        if (f->usages[i].rc == 0)
            add_waits(f, &f->list.members[i], &f->usages[i], delays, ret);
}

static void add_thread(struct family *f, struct member *m, struct family_growth *ret)
{
    struct thread_times now;

    if (thread_times(f->list.proc, m->pid, &now) < 0)
        return;
    if (m->thread.ran_ns && now.ran_ns >= m->thread.ran_ns) {
        add_told(&ret->thread_cpu_s, (double)(now.ran_ns - m->thread.ran_ns) / 1e9);
        add_told(&ret->thread_run_wait_s, (double)(now.waited_ns - m->thread.waited_ns) / 1e9);
    }
    m->thread = now;
}

static void add_member(struct family *f, struct member *m, struct family_growth *ret)
{
    double own = m->now.ticks - m->now.waited_ticks - m->before.ticks + m->before.waited_ticks;

    ret->processes++;
    ret->threads += (double)m->stat.threads;
    ret->resident_b += (double)m->stat.resident_pages * f->page_b;
    ret->major_faults += m->now.major_faults - m->before.major_faults;
    ret->unreadable += isnan(m->now.io.read_bytes) && m->stat.state != 'Z';
    if (m->looks)
        ret->blocked += (double)m->blocked / m->looks;
    if (m->is_rank) {
        ret->ranks++;
        ret->rank_cpu_s += own * f->tick_s;
        add_thread(f, m, ret);
    }
    if (m->is_worker) {
        ret->workers++;
        ret->worker_blocked += m->looks ? (double)m->blocked / m->looks : 0;
        ret->worker_cpu_s += own * f->tick_s;
    }
}

static double not_below_zero(double value)
{
    return value < 0 ? 0 : value;
}

int family_sample(struct family *f, struct family_growth *ret)
{
    struct process_io io = { (double)NAN, (double)NAN, (double)NAN,
                             (double)NAN, (double)NAN, (double)NAN };
    struct member_counts off = { 0 };
    double ticks = 0;
    int rc = family_list_update(&f->list);

    if (rc < 0)
        return rc;
    *ret = (struct family_growth){ .worker_io_wait_s = (double)NAN,
                                   .thread_cpu_s = (double)NAN,
                                   .thread_run_wait_s = (double)NAN };
    read_members(f);
    tell_roles(f);
    ask_waits(f, ret);
    for (size_t i = 0; i < f->list.n; i++) {
        struct member *m = &f->list.members[i];

        ticks += m->now.ticks - m->before.ticks;
        if (m->gone)
            continue;
        add_io(m, &io);
        add_member(f, m, ret);
    }
    ticks += f->reaped_ticks - take_off_ended(f, &off);
    f->reaped_ticks = 0;
    ret->cpu_s = not_below_zero(ticks) * f->tick_s;
    ret->read_b = not_below_zero(io.disk_read_bytes - off.io.disk_read_bytes);
    ret->written_b = not_below_zero(io.disk_written_bytes - off.io.disk_written_bytes);
    ret->io_read_b = not_below_zero(io.read_bytes - off.io.read_bytes);
    ret->io_written_b = not_below_zero(io.written_bytes - off.io.written_bytes);
    ret->read_calls = not_below_zero(io.read_calls - off.io.read_calls);
    ret->write_calls = not_below_zero(io.write_calls - off.io.write_calls);
    ret->major_faults = not_below_zero(ret->major_faults - off.major_faults);
    f->cpu_s += ret->cpu_s;
    f->bytes += or_zero(ret->io_read_b) + or_zero(ret->io_written_b);
    family_list_drop(&f->list);
    for (size_t i = 0; i < f->list.n; i++) {
        struct member *m = &f->list.members[i];

        m->before = m->now;
        m->fresh = false;
        m->looks = m->blocked = 0;
    }
    return 0;
}
