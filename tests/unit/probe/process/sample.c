/* Processes on folders that look like /proc, and on this machine. */
#include "sampled.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "probe/kernel/taskstats.h"
#include "probe/process/table.h"

extern const struct sampler_ops sampler_process;

static const double hz = 100; /* of the texts: the test is for machines with this one */

struct fake {
    int pid, start;
    const char *comm;
    char state;
    int user, system, flags, threads, block_io, waited;
};

static void write_stat(const struct sampled *s, struct fake f)
{
    char path[64], text[512];

    snprintf(path, sizeof(path), "proc/%d/stat", f.pid);
    snprintf(
        text, sizeof(text),
        "%d (%s) %c 1 1 1 0 -1 %d 0 0 7 0 %d %d %d 0 20 0 %d 0 %d 1000 25 1 1 1 0 0 0 0 0 0 0 0 "
        "0 0 17 1 0 0 %d 0 0 0 0 0 0 0 0 0 0\n",
        f.pid, f.comm, f.state, f.flags, f.user, f.system, f.waited, f.threads ? f.threads : 1,
        f.start, f.block_io);
    folder_text(s->folder, path, text);
}

static void write_file(const struct sampled *s, int pid, const char *name, const char *text)
{
    char path[64];

    snprintf(path, sizeof(path), "proc/%d/%s", pid, name);
    folder_text(s->folder, path, text);
}

static void write_io(const struct sampled *s, int pid, int bytes)
{
    char text[256];

    snprintf(text, sizeof(text),
             "rchar: %d\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 5\nwrite_bytes: 6\n", bytes);
    write_file(s, pid, "io", text);
}

static void remove_process(const struct sampled *s, int pid)
{
    char path[64], full[PATH_MAX];

    snprintf(path, sizeof(path), "proc/%d", pid);
    folder_path(s->folder, path, full);
    folder_remove(full);
}

static const char *fact_of(const struct sampled *s, const char *pid, const char *name)
{
    const struct signal_row *row = tick_find(&s->tick, sampler_process.set, pid);

    return row ? signal_fact(row, name) : "no row";
}

static void test_values(struct sampled *s)
{
    char uid[16];

    folder_text(s->folder, "proc/stat", "cpu 1 2 3\nbtime 1700000000\n");
    folder_text(s->folder, "proc/sys/kernel/task_delayacct", "1\n");
    write_stat(s, (struct fake){ 100, 5000, ") R 1 (\n", 'D', 110, 220, 0, 1, 30, 70 });
    write_io(s, 100, 1000);
    write_file(s, 100, "cgroup", "0::/system.slice/ssh.service\n");
    write_stat(s, (struct fake){ 2, 0, "kthreadd", 'S', 1, 1, 0x200000 });
    write_stat(s, (struct fake){ 30, 6000, "many", 'S', 1, 1, 0, 8, 30 });
    write_file(s, 40, "stat", "40 (broken");
    folder_folder(s->folder, "proc/50");
    folder_folder(s->folder, "proc/60x");
    folder_folder(s->folder, "proc/99999999999");
    is_int(sampled_open(s), 0, "the sampler opens on made processes");
    is_int(sampled_at(s, 0), 2, "two processes have rows, a thread of the kernel has none");
    is_labelled(s, "100", "cpu_seconds_total", "mode=\"user\"", "1.1");
    is_labelled(s, "100", "cpu_seconds_total", "mode=\"system\"", "2.2");
    is_value(s, "100", "children_cpu_seconds_total", "0.7");
    is_value(s, "100", "io_wait_seconds_total", "0.3");
    is_value(s, "100", "run_wait_seconds_total", "absent");
    is_value(s, "100", "memory_wait_seconds_total", "absent");
    is_labelled(s, "100", "context_switches_total", "kind=\"voluntary\"", "absent");
    is_value(s, "100", "io_read_bytes_total", "1000");
    is_value(s, "100", "io_written_bytes_total", "2");
    is_value(s, "100", "read_bytes_total", "5");
    is_value(s, "100", "write_bytes_total", "6");
    ok(strtol(sampled_value(s, "100", "resident_bytes", NULL, (char[32]){ "" }), NULL, 10) ==
           25 * sysconf(_SC_PAGESIZE),
       "resident memory is 25 pages");
    is_value(s, "100", "threads", "1");
    is_value(s, "100", "major_faults_total", "7");
    is_value(s, "100", "start_time_seconds", "1700000050");
    is_value(s, "100", "blocked", "1");
    is_str(fact_of(s, "100", "comm"), ") R 1 (\n",
           "a process has its name with a newline and brackets");
    is_str(fact_of(s, "100", "cgroup"), "ssh.service", "a process has its control group");
    snprintf(uid, sizeof(uid), "%u", getuid());
    is_str(fact_of(s, "100", "uid"), uid, "a process has its owner");
    is_value(s, "30", "io_wait_seconds_total", "absent");
    is_value(s, "30", "io_read_bytes_total", "absent");
    is_value(s, "30", "blocked", "0");
    is_int((long long)s->tick.n_events, 0, "two processes make no event");
}

static void test_changes(struct sampled *s)
{
    write_stat(s, (struct fake){ 100, 5000, "renamed", 'R', 120, 220 });
    write_io(s, 100, 2000);
    remove_process(s, 30);
    write_stat(s, (struct fake){ 200, 9000, "new", 'R', 1, 0 });
    is_int(sampled_at(s, 1), 2, "the sampler follows one that ended and one that came");
    is_labelled(s, "100", "cpu_seconds_total", "mode=\"user\"", "1.2");
    is_value(s, "100", "io_read_bytes_total", "2000");
    is_str(fact_of(s, "100", "comm"), "renamed", "a process has its new name");
    is_value(s, "30", "threads", "no row");
    is_value(s, "200", "threads", "1");
    write_stat(s, (struct fake){ 200, 9999, "reused", 'R', 500, 0 });
    is_int(sampled_at(s, 2), 1, "a pid that another process has is none for a moment");
    is_value(s, "200", "threads", "no row");
    is_int(sampled_at(s, 3), 2, "a pid that another process has is that process then");
    is_str(fact_of(s, "200", "comm"), "reused", "the other process has its own name");
    write_file(s, 100, "cgroup", "0::/docker.service\n");
    is_int(sampled_at(s, 20), 2, "the sampler has both processes 20 s later");
    is_str(fact_of(s, "100", "cgroup"), "ssh.service",
           "a control group is not read again within half a minute");
    is_int(sampled_at(s, 45), 2, "the sampler has both processes half a minute later");
    is_str(fact_of(s, "100", "cgroup"), "docker.service",
           "a control group is read again after half a minute");
}

/* Those that do nothing are read less often. */
static void test_quiet(struct sampled *s)
{
    int waited = 0;

    for (int i = 50; i < 56; i++)
        is_int(sampled_at(s, i), 2, "the sampler has both processes in second %d", i);
    write_stat(s, (struct fake){ 100, 5000, "renamed", 'R', 180, 220 });
    do
        (void)sampled_at(s, 56 + waited++);
    while (waited < 10 &&
           strcmp(sampled_value(s, "100", "cpu_seconds_total", "mode=\"user\"", (char[32]){ "" }),
                  "1.8") != 0);
    ok(waited <= 4, "a quiet process that works is noticed after %d ticks, 4 at most", waited);
    write_stat(s, (struct fake){ 100, 5000, "renamed", 'R', 190, 220 });
    (void)sampled_at(s, 70);
    is_labelled(s, "100", "cpu_seconds_total", "mode=\"user\"", "1.9");
}

/* Delay accounting that is switched on while the agent runs. */
static void test_delays(struct sampled *s)
{
    sampled_close(s);
    folder_text(s->folder, "proc/sys/kernel/task_delayacct", "0\n");
    write_stat(s, (struct fake){ 100, 5000, "old", 'R', 1, 0 });
    is_int(sampled_open(s), 0, "the sampler opens without delay accounting");
    is_int(sampled_at(s, 100), 2, "the sampler has both processes without delay accounting");
    is_int((long long)s->tick.n_events, 1, "a lack of delay accounting makes one event");
    is_str(s->tick.events[0].kind, "probe", "the event is of kind probe");
    is_int(s->tick.events[0].severity, SEVERITY_NOTE, "the event of delay accounting is a note");
    is_str(s->tick.events[0].action, "sysctl -w kernel.task_delayacct=1",
           "the event says how to turn delay accounting on");
    is_value(s, "100", "io_wait_seconds_total", "absent");
    sampled_close(s);
    is_int(sampled_open(s), 0, "the sampler opens once more");
    tick_begin(&s->tick, 0, 100 * (int64_t)1000000000);
    while (tick_event(&s->tick, "test", SEVERITY_NOTE, -1))
        ;
    is_int(s->ops->sample(s->state, &s->tick), 0, "the sampler needs no room for its event");
    (void)sampled_at(s, 101);
    is_int((long long)s->tick.n_events, 0, "a lack of delay accounting is told once");
    folder_text(s->folder, "proc/sys/kernel/task_delayacct", "1\n");
    write_stat(s, (struct fake){ 200, (int)(103 * hz), "young", 'R', 1, 0 });
    (void)sampled_at(s, 102);
    (void)sampled_at(s, 103);
    is_value(s, "100", "io_wait_seconds_total", "absent");
    is_value(s, "200", "io_wait_seconds_total", "0");
    write_stat(s, (struct fake){ 100, 5000, "old", 'R', 2, 0, 0, 1, 50 });
    (void)sampled_at(s, 104);
    is_value(s, "100", "io_wait_seconds_total", "0.5");
}

/* More than are reported: those that do something are. */
static void test_many(struct sampled *s)
{
    for (int i = 0; i < 300; i++)
        write_stat(s, (struct fake){ 1000 + i, 10000, "idle", 'S', 1, 0 });
    is_int(sampled_at(s, 200), 256, "the sampler has 256 rows at most");
    is_value(s, "1299", "threads", "no row");
    for (int second = 201; second < 216; second++) {
        write_stat(s, (struct fake){ 1299, 10000, "busy", 'R', second * 50, 0 });
        is_int(sampled_at(s, second), 256, "the sampler has 256 rows in second %d", second);
    }
    is_labelled(s, "1299", "cpu_seconds_total", "mode=\"user\"", "107.5");
    is_value(s, "100", "threads", "1");
    for (int i = 0; i < 300; i++)
        remove_process(s, 1000 + i);
    is_int(sampled_at(s, 220), 2, "processes that ended have no rows");
}

/* The kernel tells the last number that it gave: while it is the same, there is no new process, and
 * for ten seconds nobody looks. */
static void test_last_pid(struct sampled *s)
{
    sampled_close(s);
    folder_text(s->folder, "proc/loadavg", "0.00 0.00 0.00 1/2 500\n");
    is_int(sampled_open(s), 0, "the sampler opens with the last number");
    is_int(sampled_at(s, 300), 2, "both processes have rows at first");
    write_stat(s, (struct fake){ 400, 10000, "new", 'R', 1, 0 });
    is_int(sampled_at(s, 309), 2, "with the same last number nobody looks for nine seconds");
    is_int(sampled_at(s, 310), 3, "with the same last number one looks after ten seconds");
    write_stat(s, (struct fake){ 401, 10000, "new", 'R', 1, 0 });
    folder_text(s->folder, "proc/loadavg", "0.00 0.00 0.00 1/2 501\n");
    is_int(sampled_at(s, 311), 4, "with another last number one looks at once");
    write_stat(s, (struct fake){ 402, 10000, "new", 'R', 1, 0 });
    is_int(sampled_at(s, 312), 4, "the sampler compares with the newest number from then on");
    folder_text(s->folder, "proc/loadavg", "0.00 0.00 0.00 1/2 x\n");
    is_int(sampled_at(s, 313), 5, "without a last number one looks at once");
    write_stat(s, (struct fake){ 403, 10000, "new", 'R', 1, 0 });
    folder_text(s->folder, "proc/loadavg", "");
    is_int(sampled_at(s, 314), 6, "with an empty file one looks at once");
    for (int pid = 400; pid < 404; pid++)
        remove_process(s, pid);
    is_int(sampled_at(s, 315), 2, "four processes that ended have no rows");
}

/* A hundred megabytes count as much as a second of CPU, and one that has a row keeps it against
 * one that did a quarter more: all use a CPU each, and one moves bytes. */
static void test_bytes(struct sampled *s)
{
    enum { BUSY = 256, READER = 1299 };
    static const int mb[] = { 140, 110 };
    static const bool has[] = { true, false };
    char text[96];

    for (size_t k = 0; k < ARRAY_SIZE(mb); k++) {
        sampled_close(s);
        for (int i = 0; i < BUSY; i++)
            write_stat(s, (struct fake){ 1000 + i, 10000, "busy", 'R', 1, 0 });
        write_stat(s, (struct fake){ READER, 10000, "reader", 'S', 1, 0 });
        write_io(s, READER, 0);
        is_int(sampled_open(s), 0, "the sampler opens with %d processes", BUSY + 3);
        for (int tick = 0; tick < 6; tick++) {
            for (int i = 0; i < BUSY && tick > 3; i++)
                write_stat(s, (struct fake){ 1000 + i, 10000, "busy", 'R', (tick - 3) * 10000, 0 });
            write_stat(s, (struct fake){ 100, 5000, "old", 'R', tick > 3 ? tick * 10000 : 1, 0 });
            write_stat(s, (struct fake){ 200, (int)(103 * hz), "young", 'R',
                                         tick > 3 ? tick * 10000 : 1, 0 });
            snprintf(text, sizeof(text), "read_bytes: %lld\nwrite_bytes: %lld\n",
                     tick * mb[k] * 50000000LL, tick * mb[k] * 50000000LL);
            write_file(s, READER, "io", text);
            is_int(sampled_at(s, 400 + 100 * tick), 256, "the sampler has 256 rows in tick %d",
                   tick);
        }
        ok((tick_find(&s->tick, sampler_process.set, "1299") != NULL) == has[k],
           "one that moves %d MB/s while others use a CPU each has a row or none", mb[k]);
        for (int i = 0; i < BUSY; i++)
            remove_process(s, 1000 + i);
        remove_process(s, READER);
    }
}

/* Slots go in the order of pids until there are too few. Then those that did most get them when it
 * is asked for again; one that has a slot keeps it against one that did little more. */
static void test_slots(void)
{
    static struct process all[PROCESS_SLOTS + 2];
    struct process_table t = { .all = all, .n = ARRAY_SIZE(all) };
    struct process *last = &all[PROCESS_SLOTS + 1], *late = last - 1, *idle = &all[7];

    for (size_t i = 0; i < ARRAY_SIZE(all); i++)
        all[i] = (struct process){
            .pid = (int)i + 1, .slot = PROCESS_NO_SLOT, .known = true, .score = 4
        };
    all[3].kernel_thread = true;
    idle->score = 3;
    is_int(process_table_rank(&t, false), 0, "slots are given");
    is_int((long long)t.n_programs, PROCESS_SLOTS + 1, "a thread of the kernel is no program");
    is_int(all[3].slot, PROCESS_NO_SLOT, "a thread of the kernel has no slot");
    is_int(all[2].slot, 2, "the third process has the third slot");
    is_int(late->slot, PROCESS_SLOTS - 1, "the last slot goes to the one before the last");
    is_int(last->slot, PROCESS_NO_SLOT, "there is no slot for the last");
    last->score = 3.7; /* less than 1.25 times as much */
    is_int(process_table_rank(&t, true), 0, "slots are given again");
    ok(last->slot == PROCESS_NO_SLOT && idle->slot == 6, "one that did little more gets no slot");
    last->score = 3.8;
    is_int(process_table_rank(&t, false), 0, "slots are not given again");
    ok(last->slot == PROCESS_NO_SLOT && idle->slot == 6, "a slot is kept until it is asked again");
    is_int(process_table_rank(&t, true), 0, "slots are given once more");
    ok(last->slot == 6 && idle->slot == PROCESS_NO_SLOT, "the slot goes to one that did more");
    process_table_end(&t, &all[0]);
    is_int(process_table_rank(&t, true), 0, "slots are given after an end");
    is_int((long long)t.n_programs, PROCESS_SLOTS, "one that ended is no program any more");
    is_int(idle->slot, 0, "the slot of one that ended is given on");
}

/* A child that reads a disk past the cache until it has waited, and what the agent says of it. */
static void read_disk(int fd)
{
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    for (;;)
        if (pread(fd, page, 4096, 0) < 0)
            _exit(1);
}

static double live_value(struct sampled *s, pid_t pid, const char *name)
{
    char thing[16];
    const struct signal_row *row;

    snprintf(thing, sizeof(thing), "%d", pid);
    row = tick_find(&s->tick, sampler_process.set, thing);
    return row ? row->values[signal_index(sampler_process.set, name, NULL)] : -1;
}

/* Sample until the child has waited for the disk, and both have a row: where many programs run,
 * those that do most get one, and later. False after two minutes. */
static bool wait_for_both(struct sampled *s, pid_t child, int *second)
{
    for (*second = 2; *second < 1200; ++*second) {
        if (sampled_at(s, *second) < 0)
            return false;
        if (live_value(s, child, "io_wait_seconds_total") > 0.01 &&
            live_value(s, getpid(), "run_wait_seconds_total") >= 0)
            return true;
        usleep(100000);
    }
    return false;
}

static void test_live(void)
{
    static const char knob[] = "/proc/sys/kernel/task_delayacct";
    const struct sampler_env env = { .root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC),
                                     .live = true };
    struct sampled s = { .ops = &sampler_process, .root = -1 };
    struct taskstats_client *client = NULL;
    char path[] = "./brim-test-XXXXXX", block[4096] = { 0 };
    int fd = mkstemp(path), off = 0, second = 0;
    FILE *f = fopen(knob, "re");
    pid_t child;

    if (taskstats_open(&client, NULL) < 0 || fd < 0 || !f || (off = fgetc(f)) == EOF) {
        ok(true, "waits of this machine are read # SKIP without CAP_NET_ADMIN or the kernel's "
                 "accounting");
        return;
    }
    fclose(f);
    taskstats_close(client);
    off = off == '1';
    ok(write(fd, block, sizeof(block)) == sizeof(block) && fsync(fd) == 0,
       "a file is written to the disk");
    close(fd);
    fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
    unlink(path);
    f = off ? NULL : fopen(knob, "we");
    if (fd < 0 || (!off && (!f || fputs("1\n", f) < 0 || fclose(f) != 0))) {
        ok(true, "a reader can wait # SKIP direct I/O or the switch is not to be had here");
        return;
    }
    child = fork();
    if (child == 0)
        read_disk(fd);
    is_int(sampler_process.open(&s.state, &env, NULL), 0, "the sampler opens on this machine");
    ok(sampled_at(&s, 1) > 0, "the sampler has rows of this machine");
    ok(wait_for_both(&s, child, &second), "a reader of a disk waits, and has a row");
    ok(live_value(&s, child, "read_bytes_total") >= 4096,
       "the bytes of a reader of a disk are counted");
    ok(live_value(&s, getpid(), "run_wait_seconds_total") >= 0,
       "the time that this process waited for a CPU is known");
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    ok(sampled_at(&s, second + 1) > 0, "the sampler has rows once the reader is killed");
    ok(live_value(&s, child, "threads") < 0, "a reader that was killed has no row");
    if (!off && (f = fopen(knob, "we")) != NULL) {
        fputs("0\n", f);
        fclose(f);
    }
    sampled_close(&s);
    tick_done(&s.tick);
    close(fd);
    close(env.root);
}

int main(void)
{
    struct sampled s;

    sampled_make(&s, &sampler_process);
    is_int(sampled_open(&s), -ENOENT, "the sampler does not open on an empty folder");
    if (sysconf(_SC_CLK_TCK) == (long)hz) {
        test_values(&s);
        test_changes(&s);
        test_quiet(&s);
        test_delays(&s);
        test_many(&s);
        test_last_pid(&s);
        test_bytes(&s);
        sampled_oom(&s);
    }
    sampled_remove(&s);
    test_slots();
    test_live();
    return done();
}
