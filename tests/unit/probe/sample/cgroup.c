/* Control groups of both versions. */
#include "sampled.h"

extern const struct sampler_ops sampler_cgroup;

#define V2 "sys/fs/cgroup"
#define JOB V2 "/system.slice/slurmstepd.scope/job_7"
#define HEX16 "0123456789abcdef"

static void test_v2(struct sampled *s)
{
    folder_text(s->folder, V2 "/cgroup.controllers", "cpu io memory\n");
    folder_text(s->folder, JOB "/cpu.stat",
                "usage_usec 2500000\nuser_usec 1\nnr_periods 10\nnr_throttled 4\n"
                "throttled_usec 300000\n");
    folder_text(s->folder, JOB "/cpu.max", "150000 100000\n");
    folder_text(s->folder, JOB "/memory.current", "1048576\n");
    folder_text(s->folder, JOB "/memory.max", "2097152\n");
    folder_text(s->folder, JOB "/memory.peak", "1548576\n");
    folder_text(s->folder, JOB "/memory.events", "low 0\noom 5\noom_kill 3\noom_group_kill 9\n");
    folder_text(s->folder, JOB "/io.stat",
                "254:0 rbytes=100 wbytes=20 rios=1 wios=2 dbytes=7 dios=0\n"
                "8:0 rbytes=1 wbytes=2 rios=1 wios=2 dbytes=0 dios=0\n"
                "8:16 rbytes= wbytes=x rios=1\n");
    folder_text(s->folder, JOB "/cpu.pressure", "some avg10=0.00 total=1500000\nfull total=9\n");
    folder_text(s->folder, JOB "/io.pressure", "some avg10=0.00 total=2500000\n");
    folder_text(s->folder, JOB "/memory.pressure", "broken");
    folder_text(s->folder, JOB "/step_0/memory.current", "5\n");
    folder_text(s->folder, JOB "/step_0/memory.max", "max\n");
    folder_text(s->folder, JOB "/step_0/cpu.max", "max 100000\n");
    folder_text(s->folder, JOB "/step_0/user/task_0/memory.current", "5\n");
    folder_text(s->folder, V2 "/system.slice/a.service/cpu.stat", "usage_usec 1000000\n");
    folder_text(s->folder, V2 "/agent.slice/x.scope/memory.current", "77\n");
    folder_text(s->folder, "proc/self/cgroup", "0::/agent.slice/x.scope\n");
    is_int(sampled_open(s), 0, "the sampler opens with groups of version 2");
    is_int(sampled_at(s, 0), 3, "a job, its step and the agent's own group have rows");
    is_value(s, "job_7", "cpu_seconds_total", "2.5");
    is_value(s, "job_7", "cpu_limit_cores", "1.5");
    is_value(s, "job_7", "periods_total", "10");
    is_value(s, "job_7", "throttled_periods_total", "4");
    is_value(s, "job_7", "throttled_seconds_total", "0.3");
    is_value(s, "job_7", "memory_bytes", "1048576");
    is_value(s, "job_7", "memory_limit_bytes", "2097152");
    is_value(s, "job_7", "memory_peak_bytes", "1548576");
    is_value(s, "job_7", "oom_kills_total", "3");
    is_value(s, "job_7", "read_bytes_total", "101");
    is_value(s, "job_7", "write_bytes_total", "22");
    is_value(s, "job_7", "cpu_waiting_seconds_total", "1.5");
    is_value(s, "job_7", "io_waiting_seconds_total", "2.5");
    is_value(s, "job_7", "memory_waiting_seconds_total", "absent");
    is_value(s, "job_7/step_0", "memory_limit_bytes", "absent");
    is_value(s, "job_7/step_0", "cpu_limit_cores", "absent");
    is_value(s, "job_7/step_0", "cpu_seconds_total", "absent");
    is_value(s, "x.scope", "memory_bytes", "77");
}

static void test_v2_changes(struct sampled *s)
{
    char path[PATH_MAX];

    folder_text(s->folder, JOB "/memory.max", "4194304\n");
    folder_text(s->folder, JOB "/memory.current", "6\n");
    folder_text(s->folder, V2 "/system.slice/a.service/cpu.stat", "usage_usec 1090000\n");
    is_int(sampled_at(s, 9), 3, "the same groups have rows nine seconds later");
    is_value(s, "job_7", "memory_bytes", "6");
    is_value(s, "job_7", "memory_limit_bytes", "2097152");
    is_int(sampled_at(s, 10), 3, "a service that does little has no row");
    is_value(s, "job_7", "memory_limit_bytes", "4194304");
    folder_text(s->folder, V2 "/system.slice/a.service/cpu.stat", "usage_usec 1200000\n");
    is_int(sampled_at(s, 20), 4, "a service that does something has a row");
    is_value(s, "a.service", "cpu_seconds_total", "1.2");
    is_int(sampled_at(s, 79), 4, "a service has a row for less than a minute without work");
    is_int(sampled_at(s, 80), 3, "a service has no row after a minute without work");
    folder_path(s->folder, JOB, path);
    folder_remove(path);
    is_int(sampled_at(s, 81), 1, "a job that ended has no row");
    is_int(sampled_at(s, 100), 1, "a job that ended has no row after the next walk");
    for (int i = 0; i < 70; i++) {
        char name[128];

        snprintf(name, sizeof(name), V2 "/docker/%02d" HEX16 HEX16 HEX16 "0123456789abcd/cpu.stat",
                 i);
        folder_text(s->folder, name, "usage_usec 1\n");
    }
    is_int(sampled_at(s, 120), 64, "the sampler has 64 rows at most");
    is_value(s, "docker/000123456789", "cpu_seconds_total", "1e-06");
    is_value(s, "x.scope", "memory_bytes", "77");
}

/* Groups eight folders down are found; what is in a service, a container or a step is not looked
 * for; a path that is too long is passed over, and so is what is no folder. */
static void test_depth(void)
{
    static const char long_name[] = "abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghij"
                                    "abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghij";
    struct sampled s;
    char path[512];

    sampled_make(&s, &sampler_cgroup);
    folder_text(s.folder, V2 "/cgroup.controllers", "memory\n");
    folder_text(s.folder, V2 "/1/2/3/4/5/6/7/job_8/memory.current", "8\n");
    folder_text(s.folder, V2 "/1/2/3/4/5/6/7/8/job_9/memory.current", "9\n");
    folder_text(s.folder, V2 "/b.service/job_10/memory.current", "10\n");
    folder_text(s.folder, V2 "/job_11/step_0/job_12/memory.current", "12\n");
    folder_text(s.folder, V2 "/pod01234567-89ab-cdef-0123-456789abcdef/job_13/memory.current", "1");
    folder_text(s.folder, V2 "/job_14", "a file");
    snprintf(path, sizeof(path), V2 "/%s/%s/job_15/memory.current", long_name, long_name);
    folder_text(s.folder, path, "15\n");
    snprintf(path, sizeof(path), V2 "/%s/%s/12345/job_16/memory.current", long_name, long_name);
    folder_text(s.folder, path, "16\n");
    snprintf(path, sizeof(path), V2 "/%s/%s/123456/job_17/memory.current", long_name, long_name);
    folder_text(s.folder, path, "17\n");
    folder_link(s.folder, V2 "/link", "1/2");
    is_int(sampled_open(&s), 0, "the sampler opens with groups far down");
    is_int(sampled_at(&s, 0), 4, "groups that are looked for have rows");
    is_value(&s, "job_8", "memory_bytes", "8");
    is_value(&s, "job_9", "memory_bytes", "no row");
    is_value(&s, "job_10", "memory_bytes", "no row");
    is_value(&s, "job_12", "memory_bytes", "no row");
    is_value(&s, "job_13", "memory_bytes", "1");
    is_value(&s, "job_15", "memory_bytes", "15");
    is_value(&s, "job_16", "memory_bytes", "16");
    is_value(&s, "job_17", "memory_bytes", "no row");
    sampled_remove(&s);
}

/* The agent's own group first, then by what a group holds, and by path. */
static void test_order(void)
{
    static const char *const groups[] = { "z.scope",
                                          "job_1",
                                          "job_1/step_0",
                                          "job_2",
                                          "pod01234567-89ab-cdef-0123-456789abcdef",
                                          "docker/" HEX16 HEX16 HEX16 HEX16 };
    static const char *const want[] = { "z.scope",
                                        "job_1",
                                        "job_2",
                                        "job_1/step_0",
                                        "pod/01234567-89ab-cdef-0123-456789abcdef",
                                        "docker/0123456789ab" };
    struct sampled s;
    char path[256];

    sampled_make(&s, &sampler_cgroup);
    folder_text(s.folder, V2 "/cgroup.controllers", "memory\n");
    for (size_t i = 0; i < ARRAY_SIZE(groups); i++) {
        snprintf(path, sizeof(path), V2 "/%s/memory.current", groups[i]);
        folder_text(s.folder, path, "1\n");
    }
    folder_text(s.folder, "proc/self/cgroup", "0::/z.scope\n");
    is_int(sampled_open(&s), 0, "the sampler opens with groups of each kind");
    if (is_int(sampled_at(&s, 0), 6, "groups of each kind have rows"))
        for (size_t i = 0; i < ARRAY_SIZE(want); i++)
            is_str(s.tick.rows[i].thing, want[i], "row %zu is of group %s", i, want[i]);
    folder_text(s.folder, "proc/self/cgroup", "0::/job_2\n");
    is_int(sampled_at(&s, 10), 5, "a group that is no longer the agent's has no row");
    is_str(s.tick.rows[0].thing, "job_2", "a job that the agent is in comes first");
    folder_text(s.folder, "proc/self/cgroup", "0::/z.scope\n");
    is_int(sampled_at(&s, 20), 6, "a group that is the agent's again has a row");
    is_str(s.tick.rows[0].thing, "z.scope", "a group that is the agent's again comes first");
    is_str(s.tick.rows[1].thing, "job_1", "a job that the agent left is as other jobs");
    sampled_remove(&s);
}

static void test_container(void)
{
    struct sampled s;

    sampled_make(&s, &sampler_cgroup);
    folder_text(s.folder, V2 "/cgroup.controllers", "cpu\n");
    folder_text(s.folder, V2 "/memory.current", "9\n");
    folder_text(s.folder, "proc/self/cgroup", "0::/\n");
    is_int(sampled_open(&s), 0, "the sampler opens in a container");
    is_int(sampled_at(&s, 0), 0, "the root group has no row without a limit");
    folder_text(s.folder, V2 "/cpu.max", "50000 100000\n");
    is_int(sampled_at(&s, 10), 1, "the root group with a limit, a container's, has a row");
    is_value(&s, "/", "cpu_limit_cores", "0.5");
    folder_text(s.folder, V2 "/cpu.max", "50000 0\n");
    is_int(sampled_at(&s, 20), 1, "the root group has a row with a broken limit");
    is_value(&s, "/", "cpu_limit_cores", "absent");
    folder_text(s.folder, "sys/other/cpu.stat", "usage_usec 1\n");
    folder_text(s.folder, "proc/self/cgroup", "0::/../../other\n");
    is_int(sampled_at(&s, 30), 0, "a group outside of the container is not to be seen");
    sampled_remove(&s);
}

static void test_v1(void)
{
    struct sampled s;

    sampled_make(&s, &sampler_cgroup);
    folder_text(s.folder, V2 "/unified/cgroup.controllers", "\n");
    folder_text(s.folder, V2 "/cpu,cpuacct/cpu.shares", "1024\n");
    folder_text(s.folder, V2 "/cpu,cpuacct/cpuacct.usage", "1024\n");
    folder_text(s.folder, V2 "/memory/memory.usage_in_bytes", "1024\n");
    folder_text(s.folder, V2 "/blkio/cgroup.procs", "1\n");
#define V1JOB "/slurm/uid_0/job_8"
    folder_text(s.folder, V2 "/cpu,cpuacct" V1JOB "/cpuacct.usage", "1500000000\n");
    folder_text(s.folder, V2 "/cpu,cpuacct" V1JOB "/cpu.cfs_quota_us", "200000\n");
    folder_text(s.folder, V2 "/cpu,cpuacct" V1JOB "/cpu.cfs_period_us", "100000\n");
    folder_text(s.folder, V2 "/cpu,cpuacct" V1JOB "/cpu.stat",
                "nr_periods 6\nnr_throttled 5\nthrottled_time 4000000000\n");
    folder_text(s.folder, V2 "/memory" V1JOB "/memory.usage_in_bytes", "11\n");
    folder_text(s.folder, V2 "/memory" V1JOB "/memory.limit_in_bytes", "12\n");
    folder_text(s.folder, V2 "/memory" V1JOB "/memory.max_usage_in_bytes", "13\n");
    folder_text(s.folder, V2 "/memory" V1JOB "/memory.oom_control",
                "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n");
    folder_text(s.folder, V2 "/memory/own/memory.limit_in_bytes", "9223372036854771712\n");
    folder_text(s.folder, V2 "/cpu,cpuacct/own/cpu.cfs_quota_us", "-1\n");
    folder_text(s.folder, V2 "/cpu,cpuacct/own/cpu.cfs_period_us", "100000\n");
    folder_text(s.folder, V2 "/cpu,cpuacct/own/cpuacct.usage", "1000000000\n");
    folder_text(s.folder, V2 "/blkio" V1JOB "/blkio.throttle.io_service_bytes",
                "254:0 Read 14\n254:0 Write 15\n254:0 Sync 3\n8:0 Read 1\n8:0 Write 2\nTotal 32\n");
    folder_text(s.folder, "proc/self/cgroup", "3:memory:/own\n2:cpu,cpuacct:/own\n0::/\n");
    is_int(sampled_open(&s), 0, "the sampler opens with groups of version 1");
    is_int(sampled_at(&s, 0), 2, "a job and the agent's own group have rows");
    is_value(&s, "job_8", "cpu_seconds_total", "1.5");
    is_value(&s, "job_8", "cpu_limit_cores", "2");
    is_value(&s, "job_8", "periods_total", "6");
    is_value(&s, "job_8", "throttled_periods_total", "5");
    is_value(&s, "job_8", "throttled_seconds_total", "4");
    is_value(&s, "job_8", "memory_bytes", "11");
    is_value(&s, "job_8", "memory_limit_bytes", "12");
    is_value(&s, "job_8", "memory_peak_bytes", "13");
    is_value(&s, "job_8", "oom_kills_total", "2");
    is_value(&s, "job_8", "read_bytes_total", "15");
    is_value(&s, "job_8", "write_bytes_total", "17");
    is_value(&s, "own", "memory_limit_bytes", "absent");
    is_value(&s, "own", "cpu_limit_cores", "absent");
    is_value(&s, "own", "cpu_seconds_total", "1");
    sampled_oom(&s);
    sampled_remove(&s);
}

/* Where the controllers of processors lie apart from each other. */
static void test_v1_apart(void)
{
    struct sampled s;

    sampled_make(&s, &sampler_cgroup);
    folder_text(s.folder, V2 "/cpu/cpu.shares", "1024\n");
    folder_text(s.folder, V2 "/cpuacct/cpuacct.usage", "1024\n");
    folder_text(s.folder, V2 "/cpu/own/cpu.cfs_quota_us", "50000\n");
    folder_text(s.folder, V2 "/cpu/own/cpu.cfs_period_us", "100000\n");
    folder_text(s.folder, V2 "/cpuacct/own/cpuacct.usage", "3000000000\n");
    folder_text(s.folder, "proc/self/cgroup", "4:memory:/own\n3:cpuacct:/own\n2:cpu:/own\n");
    is_int(sampled_open(&s), 0, "the sampler opens with two controllers of processors");
    is_int(sampled_at(&s, 0), 1, "the agent's own group has a row");
    is_value(&s, "own", "cpu_seconds_total", "3");
    is_value(&s, "own", "cpu_limit_cores", "0.5");
    folder_text(s.folder, V2 "/cpuacct/system.slice/x.service/cpuacct.usage", "1000000000\n");
    is_int(sampled_at(&s, 100), 1, "a service that was not seen at work has no row");
    folder_text(s.folder, V2 "/cpuacct/system.slice/x.service/cpuacct.usage", "90000000000\n");
    is_int(sampled_at(&s, 200), 2, "a service at work has a row, in version 1 too");
    is_value(&s, "x.service", "cpu_seconds_total", "90");
    sampled_remove(&s);
}

int main(void)
{
    struct sampled s;

    sampled_make(&s, &sampler_cgroup);
    is_int(sampled_open(&s), -ENOENT, "the sampler does not open without control groups");
    test_v2(&s);
    test_v2_changes(&s);
    sampled_oom(&s);
    sampled_remove(&s);
    test_depth();
    test_order();
    test_container();
    test_v1();
    test_v1_apart();
    return done();
}
