/* Samplers on copies of /proc: exact values, files that are missing, cut or change, and every
 * allocation failing once. */
#include "probe/kernel/kept_file.h"
#include "probe/kernel/scan.h"
#include "probe/samplers.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>

#include "folder.h"
#include "oom_arena.h"
#include "tap.h"

extern const struct sampler_ops sampler_stat, sampler_memory, sampler_vmstat, sampler_pressure;

static const char stat_text[] = "cpu  477388 38151 112629 848541 1659 0 743 1492 17 3\n"
                                "cpu0 236856 17533 58555 425316 1009 0 266 700 0 0\n"
                                "cpu17 9876543210123 20618 54073 423225 650 0 477 792 0 0\n"
                                "intr 3987067 0 0 1 1 8 0 0 0 0 1481 127 0 133 1 552305\n"
                                "ctxt 5871117\n"
                                "btime 1795218361\n"
                                "processes 131569\n"
                                "procs_running 4\n"
                                "procs_blocked 2\n"
                                "softirq 2303103 0 456789 1 34567\n";

static const char meminfo_text[] = "MemTotal:       24684084 kB\n"
                                   "MemFree:        19942328 kB\n"
                                   "MemAvailable:   24218252 kB\n"
                                   "Buffers:          166244 kB\n"
                                   "Cached:          4133980 kB\n"
                                   "SwapCached:            9 kB\n"
                                   "Active:          1997240 kB\n"
                                   "Active(anon):       1012 kB\n"
                                   "SwapTotal:       1048576 kB\n"
                                   "SwapFree:        1048000 kB\n"
                                   "Dirty:             21364 kB\n"
                                   "Writeback:            12 kB\n"
                                   "AnonPages:         10136 kB\n"
                                   "Shmem:              8872 kB\n"
                                   "Slab:             331108 kB\n"
                                   "WritebackTmp:          7 kB\n"
                                   "ShmemHugePages:        5 kB\n"
                                   "HugePages_Total:      64\n"
                                   "HugePages_Free:       60\n"
                                   "HugePages_Rsvd:        3\n"
                                   "Hugepagesize:       2048 kB\n";

static const char vmstat_text[] = "nr_free_pages 4985582\n"
                                  "numa_hit 119518154\n"
                                  "numa_miss 31\n"
                                  "numa_foreign 5\n"
                                  "pgpgin 2618477\n"
                                  "pgpgout 8656436\n"
                                  "pswpin 11\n"
                                  "pswpout 12\n"
                                  "allocstall_dma 1\n"
                                  "allocstall_dma32 20\n"
                                  "allocstall_normal 300\n"
                                  "allocstall_movable 4000\n"
                                  "allocstall_device 50000\n"
                                  "pgfault 152243662000\n"
                                  "pgmajfault 1653\n"
                                  "pgscan_kswapd 77\n"
                                  "pgscan_direct 78\n"
                                  "pgscan_direct_throttle 9\n"
                                  "oom_kill 2\n"
                                  "workingset_refault_anon 6\n"
                                  "workingset_refault_file 4242\n";

static const char io_text[] = "some avg10=12.34 avg60=5.22 avg300=24.85 total=9161424404\n"
                              "full avg10=0.50 avg60=0.00 avg300=0.00 total=1500000\n";

static void write_all(const char *root)
{
    folder_text(root, "proc/stat", stat_text);
    folder_text(root, "proc/loadavg", "0.21 1.05 12.50 4/331 131569\n");
    folder_text(root, "proc/meminfo", meminfo_text);
    folder_text(root, "proc/vmstat", vmstat_text);
    folder_text(root, "proc/pressure/io", io_text);
    folder_text(root, "proc/pressure/memory",
                "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"
                "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n");
    folder_text(root, "proc/pressure/cpu",
                "some avg10=100.00 avg60=5.22 avg300=24.85 total=250000\n"); /* before 5.13 */
}

struct bench {
    char root[PATH_MAX];
    int fd;
    struct samplers *samplers;
    struct tick tick;
};

static void bench_open(struct bench *b)
{
    struct err e = { "" };

    b->fd = open(b->root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    is_int(samplers_open(&b->samplers, &(struct sampler_env){ .root = b->fd }, &e), 0,
           "the samplers open on a folder");
}

static void bench_make(struct bench *b)
{
    *b = (struct bench){ .fd = -1 };
    folder_make(b->root);
    folder_folder(b->root, "proc");
}

static void bench_sample(struct bench *b)
{
    tick_begin(&b->tick, 0, 0);
    is_int(samplers_sample(b->samplers, &b->tick), 0, "the samplers sample a folder");
}

static void bench_done(struct bench *b)
{
    samplers_close(b->samplers);
    tick_done(&b->tick);
    closep(&b->fd);
    folder_remove(b->root);
}

static const struct signal_row *row_of(const struct bench *b, const char *set, const char *thing)
{
    for (size_t i = 0; i < b->tick.n_rows; i++)
        if (!strcmp(b->tick.rows[i].set->name, set) && !strcmp(b->tick.rows[i].thing, thing))
            return &b->tick.rows[i];
    return NULL;
}

/* Of a signal, or of the one of that name with the label name. */
static double value_of(const struct bench *b, const char *set, const char *thing, const char *name)
{
    const struct signal_row *row = row_of(b, set, thing);

    for (size_t i = 0; row && i < row->set->n_defs; i++) {
        const struct signal_def *d = &row->set->defs[i];

        if (!strcmp(d->name, name) || (d->label && !strcmp(d->label, name)))
            return row->values[i];
    }
    return -1;
}

#define is_value(want, ...) tap_is_value(value_of(__VA_ARGS__), (want), TAP_HERE, #__VA_ARGS__)

/* Equal, or both absent. */
static void tap_is_value(double got, double want, struct tap_place at, const char *what)
{
    char detail[96];

    snprintf(detail, sizeof(detail), "got %.17g, want %.17g", got, want);
    tap_ok(isnan(want) ? isnan(got) : fabs(got - want) <= 1e-15 * fabs(want), detail, at,
           "the value is right: %s", what);
}

static void test_scan(void)
{
    const char *at = " \t12 x3.25y\n18446744073709551615 18446744073709551616 5. .5 -1";
    const char *end = "last";

    ok(scan_number(&at) == 12 && *at == ' ', "scan_number reads digits up to a blank");
    ok(isnan(scan_number(&at)) && *at == 'x',
       "scan_number is NAN without digits, and blanks are passed");
    at++;
    ok(scan_number(&at) == 3.25 && *at == 'y', "scan_number reads a fraction");
    ok(!scan_word(&at, "yy") && !scan_word(&at, "") && *at == 'y',
       "scan_word passes no other word");
    ok(scan_word(&at, "y") && *at == '\n', "scan_word passes the word");
    ok(isnan(scan_number(&at)) && *at == '\n', "scan_number does not pass the end of a line");
    ok(scan_line(&at) == 1 && *at == '1', "scan_line goes to the next line");
    ok(scan_number(&at) == 18446744073709551616.0,
       "scan_number reads the largest number of 64 bits");
    ok(isnan(scan_number(&at)) && *at == ' ', "scan_number passes a larger number as none");
    ok(scan_number(&at) == 5 && *at == '.', "scan_number leaves a point without digits");
    at++;
    ok(isnan(scan_number(&at)) && *at == '.', "scan_number reads no number behind a point alone");
    at += 2;
    ok(isnan(scan_number(&at)) && *at == '-', "scan_number reads no sign");
    ok(scan_line(&at) == 0 && *at == 0 && scan_line(&at) == 0,
       "scan_line stays at the end of the text");
    ok(!scan_word(&end, "las") && !scan_word(&end, "lastly") && scan_word(&end, "last"),
       "scan_word wants the whole word");
    at = "1.00000000000000000000000005";
    ok(scan_number(&at) == 1 && *at == 0, "scan_number passes digits beyond a double");
}

static void test_kept(void)
{
    struct bench b;
    struct kept k;
    char buf[16];
    int fd;

    bench_make(&b);
    folder_text(b.root, "proc/x", "one 1\ntwo 2\nthree 3\n");
    fd = open(b.root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    kept_open(&k, fd, "proc/none");
    is_int(kept_read(&k, buf, sizeof(buf)), -ENOENT, "kept_read is -ENOENT where there is no file");
    kept_close(&k);
    kept_open(&k, fd, "proc");
    is_int(kept_read(&k, buf, sizeof(buf)), -EISDIR, "kept_read is -EISDIR for a folder");
    kept_close(&k);
    kept_open(&k, fd, "proc/x");
    is_int(kept_read(&k, buf, sizeof(buf)), 12,
           "kept_read reads a part of a text that is too long");
    is_str(buf, "one 1\ntwo 2\n", "kept_read reads whole lines of a text that is too long");
    folder_text(b.root, "proc/x", "one 2\n");
    is_int(kept_read(&k, buf, sizeof(buf)), 6, "kept_read reads the same file once more");
    is_str(buf, "one 2\n", "kept_read reads what the file says now");
    is_int(kept_read(&k, buf, 4), 0, "kept_read is 0 where not even one line fits");
    is_str(buf, "", "kept_read leaves an empty text where no line fits");
    kept_close(&k);
    is_int(kept_read(&k, buf, sizeof(buf)), -ENOENT, "kept_read is -ENOENT once it is closed");
    close(fd);
    bench_done(&b);
}

static void check_cpu(const struct bench *b)
{
    const double hz = (double)sysconf(_SC_CLK_TCK);

    is_value(477388 / hz, b, "cpu", "", "mode=\"user\"");
    is_value(38151 / hz, b, "cpu", "", "mode=\"nice\"");
    is_value(112629 / hz, b, "cpu", "", "mode=\"system\"");
    is_value(848541 / hz, b, "cpu", "", "mode=\"idle\"");
    is_value(1659 / hz, b, "cpu", "", "mode=\"iowait\"");
    is_value(0, b, "cpu", "", "mode=\"irq\"");
    is_value(743 / hz, b, "cpu", "", "mode=\"softirq\"");
    is_value(1492 / hz, b, "cpu", "", "mode=\"steal\"");
    is_value(17 / hz, b, "cpu", "", "mode=\"guest\"");
    is_value(3 / hz, b, "cpu", "", "mode=\"guest_nice\"");
    is_value(266 / hz, b, "core", "0", "mode=\"softirq\"");
    is_value(9876543210123 / hz, b, "core", "17", "mode=\"user\"");
}

static void check_host(const struct bench *b)
{
    is_value(5871117, b, "host", "", "context_switches_total");
    is_value(3987067, b, "host", "", "interrupts_total");
    is_value(131569, b, "host", "", "forks_total");
    is_value(4, b, "host", "", "processes_running");
    is_value(2, b, "host", "", "processes_blocked");
    is_value(1795218361, b, "host", "", "boot_time_seconds");
    is_value(0.21, b, "host", "", "load1");
    is_value(1.05, b, "host", "", "load5");
    is_value(12.5, b, "host", "", "load15");
}

static void check_memory(const struct bench *b)
{
    is_value(24684084 * 1024.0, b, "memory", "", "total_bytes");
    is_value(19942328 * 1024.0, b, "memory", "", "free_bytes");
    is_value(24218252 * 1024.0, b, "memory", "", "available_bytes");
    is_value(166244 * 1024.0, b, "memory", "", "buffers_bytes");
    is_value(4133980 * 1024.0, b, "memory", "", "cached_bytes");
    is_value(21364 * 1024.0, b, "memory", "", "dirty_bytes");
    is_value(12 * 1024.0, b, "memory", "", "writeback_bytes");
    is_value(10136 * 1024.0, b, "memory", "", "anonymous_bytes");
    is_value(8872 * 1024.0, b, "memory", "", "shmem_bytes");
    is_value(331108 * 1024.0, b, "memory", "", "slab_bytes");
    is_value(1048576 * 1024.0, b, "memory", "", "swap_total_bytes");
    is_value(1048000 * 1024.0, b, "memory", "", "swap_free_bytes");
    is_value(64, b, "memory", "", "huge_pages_total");
    is_value(60, b, "memory", "", "huge_pages_free");
}

static void check_vmstat(const struct bench *b)
{
    is_value(152243662000, b, "vmstat", "", "page_faults_total");
    is_value(1653, b, "vmstat", "", "major_faults_total");
    is_value(2618477 * 1024.0, b, "vmstat", "", "pages_in_bytes_total");
    is_value(8656436 * 1024.0, b, "vmstat", "", "pages_out_bytes_total");
    is_value(11, b, "vmstat", "", "swap_in_pages_total");
    is_value(12, b, "vmstat", "", "swap_out_pages_total");
    is_value(2, b, "vmstat", "", "oom_kills_total");
    is_value(54321, b, "vmstat", "", "direct_reclaim_stalls_total");
    is_value(77, b, "vmstat", "", "kswapd_scanned_pages_total");
    is_value(78, b, "vmstat", "", "direct_scanned_pages_total");
    is_value(119518154, b, "vmstat", "", "numa_hit_total");
    is_value(31, b, "vmstat", "", "numa_miss_total");
    is_value(4242, b, "vmstat", "", "file_refault_pages_total");
}

static void check_pressure(const struct bench *b)
{
    is_value(9161.424404, b, "pressure", "io", "waiting_seconds_total");
    is_value(1.5, b, "pressure", "io", "stalled_seconds_total");
    is_value(0.1234, b, "pressure", "io", "waiting_share");
    is_value(0, b, "pressure", "memory", "waiting_seconds_total");
    is_value(0, b, "pressure", "memory", "stalled_seconds_total");
    is_value(0.25, b, "pressure", "cpu", "waiting_seconds_total");
    is_value((double)NAN, b, "pressure", "cpu", "stalled_seconds_total");
    is_value(1, b, "pressure", "cpu", "waiting_share");
}

static void test_values(void)
{
    struct bench b;

    bench_make(&b);
    write_all(b.root);
    bench_open(&b);
    bench_sample(&b);
    is_int((long long)b.tick.n_rows, 9, "all files of a machine make nine rows");
    check_cpu(&b);
    check_host(&b);
    check_memory(&b);
    check_vmstat(&b);
    check_pressure(&b);
    bench_done(&b);
}

static int open_fds(void)
{
    DIR *d = opendir("/proc/self/fd");
    int n = 0;

    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n;
}

/* What an open sampler reads after the files have changed. */
static void test_change(void)
{
    int before = open_fds(), opened;
    struct bench b;

    bench_make(&b);
    write_all(b.root);
    bench_open(&b);
    opened = open_fds();
    for (int i = 0; i < 100; i++) {
        tick_begin(&b.tick, i, i);
        if (samplers_sample(b.samplers, &b.tick) != 0)
            ok(false, "the samplers succeed in sample %d", i);
    }
    is_int(open_fds(), opened, "100 samples open no file");
    is_int((long long)b.tick.n_rows, 9, "a tick has the rows of the last sample only");
    folder_text(b.root, "proc/loadavg", "7.00 1.05 12.50 4/331 131569\n");
    folder_text(b.root, "proc/stat", "cpu  1 2 3 4\ncpu0 1\nctxt 9\n");
    folder_text(b.root, "proc/meminfo", "");
    folder_text(b.root, "proc/vmstat", "pgfault 4294967297\npgmajf");
    folder_text(b.root, "proc/pressure/io", "some avg10=");
    bench_sample(&b);
    is_value(7, &b, "host", "", "load1");
    is_value(9, &b, "host", "", "context_switches_total");
    is_value((double)NAN, &b, "host", "", "interrupts_total");
    is_value(4 / (double)sysconf(_SC_CLK_TCK), &b, "cpu", "", "mode=\"idle\"");
    is_value((double)NAN, &b, "cpu", "", "mode=\"iowait\"");
    is_value((double)NAN, &b, "core", "0", "mode=\"nice\"");
    ok(!row_of(&b, "core", "17"), "a CPU that went offline has no row");
    ok(!row_of(&b, "memory", ""), "a file without text has no row");
    is_value(4294967297, &b, "vmstat", "", "page_faults_total");
    is_value((double)NAN, &b, "vmstat", "", "major_faults_total");
    is_value((double)NAN, &b, "vmstat", "", "direct_reclaim_stalls_total");
    is_value((double)NAN, &b, "pressure", "io", "waiting_share");
    is_value((double)NAN, &b, "pressure", "io", "waiting_seconds_total");
    bench_done(&b);
    is_int(open_fds(), before, "no file is open once the samplers are closed");
}

static void test_missing(void)
{
    static const struct sampler_ops *const all[] = { &sampler_stat, &sampler_memory,
                                                     &sampler_vmstat, &sampler_pressure };
    struct bench b;

    bench_make(&b);
    bench_open(&b);
    for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
        void *state = NULL;

        is_int(all[i]->open(&state, &(struct sampler_env){ .root = b.fd }, NULL), -ENOENT,
               "the sampler %s does not open without files", all[i]->name);
    }
    bench_sample(&b);
    is_int((long long)b.tick.n_rows, 0, "a machine without files has no rows");
    bench_done(&b);

    bench_make(&b);
    folder_text(b.root, "proc/stat", "ctxt 3\n");
    folder_text(b.root, "proc/pressure/memory", "full total=2000000\n");
    folder_text(b.root, "proc/vmstat", "allocstall 6\n");
    bench_open(&b);
    bench_sample(&b);
    is_int((long long)b.tick.n_rows, 3, "the files that are there have rows");
    is_value(3, &b, "host", "", "context_switches_total");
    is_value((double)NAN, &b, "host", "", "load1");
    is_value(2, &b, "pressure", "memory", "stalled_seconds_total");
    is_value((double)NAN, &b, "pressure", "memory", "waiting_seconds_total");
    is_value(6, &b, "vmstat", "", "direct_reclaim_stalls_total");
    bench_done(&b);
}

/* A text that is cut anywhere gives values or absent ones. */
static void test_cut(void)
{
    struct bench b;
    size_t rows = 0;

    bench_make(&b);
    write_all(b.root);
    bench_open(&b);
    for (size_t n = 0; n < sizeof(stat_text); n++) {
        folder_file(b.root, "proc/stat", stat_text, n);
        folder_file(b.root, "proc/meminfo", meminfo_text, n);
        folder_file(b.root, "proc/pressure/io", io_text, MIN(n, strlen(io_text)));
        tick_begin(&b.tick, 0, 0);
        if (samplers_sample(b.samplers, &b.tick) != 0)
            ok(false, "the samplers succeed with files cut at %zu", n);
        rows = MAX(rows, b.tick.n_rows);
    }
    is_int((long long)rows, 9, "files cut at any byte make nine rows at most");
    bench_done(&b);
}

static void test_oom(void)
{
    int before = open_fds();
    struct bench b;
    bool failed;

    bench_make(&b);
    write_all(b.root);
    b.fd = open(b.root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    do {
        struct tick t = { .n_rows = 0 };
        struct samplers *s = NULL;
        struct err e = { "" };
        int rc;

        oom_next();
        rc = samplers_open(&s, &(struct sampler_env){ .root = b.fd }, &e);
        ok(!rc == (s != NULL) && !rc == !*e.text,
           "samplers_open gives samplers or a sentence with allocation %d failing", oom_at);
        tick_begin(&t, 0, 0);
        if (rc == 0)
            rc = samplers_sample(s, &t);
        failed = oom_end();
        is_int(rc, failed ? -ENOMEM : 0, "the samplers return -ENOMEM where allocation %d fails",
               oom_at);
        tick_done(&t);
        samplers_close(s);
    } while (failed);
    ok(oom_at > 10, "the samplers make more than ten allocations: %d", oom_at);
    bench_done(&b);
    is_int(open_fds(), before, "no file is open after all failures");
}

/* The machine that this runs on. */
static void test_live(void)
{
    struct tick t = { .n_rows = 0 };
    struct samplers *s = NULL;
    int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    const struct sampler_env env = { .root = fd, .live = true, .patience_ns = SAMPLER_PATIENCE_NS };

    is_int(samplers_open(&s, &env, NULL), 0, "the samplers open on this machine");
    for (int i = 0; i < 3; i++) {
        tick_begin(&t, 0, 0);
        is_int(samplers_sample(s, &t), 0, "the samplers succeed in sample %d of this machine", i);
    }
    samplers_close(s);
    tick_done(&t);
    close(fd);
}

int main(void)
{
    test_scan();
    test_kept();
    test_values();
    test_change();
    test_missing();
    test_cut();
    test_oom();
    test_live();
    return done();
}
