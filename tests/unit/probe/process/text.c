/* What /proc/PID says, and the names of control groups. */
#include "probe/process/text.h"

#include <errno.h>
#include <limits.h>
#include <math.h>

#include "probe/kernel/cgroup_name.h"
#include "tap.h"

#define REST \
    " S 1 2 3 4 -1 4194560 7 8 9 10 110 120 13 14 20 0 5 0 1234567 18446744073709551615 777 " \
    "18446744073709551615 1 1 0 0 0 0 0 4096 81926 0 0 0 17 1 0 0 42 0 0 1 2 3 4 5 6 7 0\n"

static void is_comm(const char *text, const char *want)
{
    struct process_stat s;

    is_int(process_parse_stat(text, &s), 0, "process_parse_stat reads the name '%s'", want);
    is_str(s.comm, want, "the name is '%s'", want);
    ok(s.state == 'S' && s.start_ticks == 1234567, "what stands behind the name '%s' is read",
       want);
}

static void test_stat(void)
{
    static const char text[] = "7 (python3)" REST;
    struct process_stat s, untouched = { .state = 'x' };
    char cut[sizeof(text)];
    int wrong = 0;

    is_int(process_parse_stat(text, &s), 0, "process_parse_stat reads a process");
    is_str(s.comm, "python3", "a process has its name");
    ok(s.state == 'S' && !s.kernel_thread,
       "a process has its state, and is no thread of the kernel");
    is_int((long long)s.threads, 5, "a process has its five threads");
    is_int((long long)s.user_ticks, 110, "a process has its time in user mode");
    is_int((long long)s.system_ticks, 120, "a process has its time in the kernel");
    is_int((long long)s.major_faults, 9, "a process has its major faults");
    is_int((long long)s.parent, 1, "a process has its parent");
    is_int((long long)s.waited_major_faults, 10, "a process has the major faults of its children");
    is_int((long long)s.waited_ticks, 27, "a process has the time of its children");
    is_int((long long)s.start_ticks, 1234567, "a process has its start");
    is_int((long long)s.resident_pages, 777, "a process has its resident pages");
    is_int((long long)s.block_io_ticks, 42, "a process has its wait for block I/O");
    is_comm("7 () R 1 ()" REST, ") R 1 (");
    is_comm("7 (a\n8 (b) S 1 2\n)" REST, "a\n8 (b) S 1 2\n");
    is_comm("7 ()" REST, "");
    is_comm("7 (\xff\x01)" REST, "\xff\x01");
    is_comm("7 (0123456789012345678901234567890123456789)" REST, "0123456789012345678901234567890");
    ok(process_parse_stat("2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 9 0 0 1 0 0 "
                          "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
                          &s) == 0 &&
           s.kernel_thread,
       "a thread of the kernel is known by its flags");
    for (size_t n = 0; n < strlen(text); n++) {
        snprintf(cut, sizeof(cut), "%.*s", (int)n, text);
        if (process_parse_stat(cut, &untouched) == 0 && (long)n < strstr(text, " 42 ") - text + 2)
            wrong++;
    }
    is_int(wrong, 0, "a text that is cut before the last number is refused");
    is_int(process_parse_stat(")(" REST, &s), -EINVAL,
           "process_parse_stat refuses brackets in the wrong order");
    is_int(process_parse_stat("7 (a) S x", &s), -EINVAL,
           "process_parse_stat refuses a word for a number");
}

static void test_io(void)
{
    struct process_io io;

    process_parse_io("rchar: 11\nwchar: 12\nsyscr: 13\nsyscw: 14\nread_bytes: 15\n"
                     "write_bytes: 16\ncancelled_write_bytes: 17\n",
                     &io);
    ok(io.read_bytes == 11 && io.written_bytes == 12,
       "process_parse_io reads bytes of reads and writes");
    ok(io.read_calls == 13 && io.write_calls == 14,
       "process_parse_io reads the number of reads and writes");
    ok(io.disk_read_bytes == 15 && io.disk_written_bytes == 16,
       "process_parse_io reads bytes of disks");
    process_parse_io("rchar: 18446744073709551616\nread_bytes:\nwrite_bytesx: 1\nwchar: 5", &io);
    ok(isnan(io.read_bytes) && isnan(io.disk_read_bytes) && isnan(io.disk_written_bytes),
       "bytes that are no number are absent");
    ok(io.written_bytes == 5, "bytes beside wrong ones are read");
    process_parse_io("", &io);
    ok(isnan(io.written_bytes), "bytes of an empty text are absent");
}

static void test_pss(void)
{
    is_int((long long)process_parse_pss("5583e000-7ffd000 ---p 00000000 00:00 0  [rollup]\n"
                                        "Rss:     1062268 kB\nPss:     1060049 kB\n"
                                        "Pss_Anon:      7 kB\n"),
           1060049LL * 1024, "process_parse_pss reads the proportional size");
    ok(process_parse_pss("Rss: 5 kB\nPss_Anon: 7 kB\nSwapPss: 3 kB\n") == 0,
       "process_parse_pss finds no size of another name");
    ok(process_parse_pss("") == 0 && process_parse_pss("Pss:\n") == 0,
       "process_parse_pss is 0 for a process that has ended");
}

#define HEX16 "0123456789abcdef"
#define ID HEX16 HEX16 HEX16 HEX16
#define UID "01234567-89ab-cdef-0123-456789abcdef"

static void test_names(void)
{
    static const struct {
        const char *path;
        enum cgroup_kind kind;
        const char *name;
    } cases[] = {
        { "/", CGROUP_OTHER, "/" },
        { "", CGROUP_OTHER, "/" },
        { "/user.slice/user-0.slice/session-3.scope", CGROUP_OTHER, "session-3.scope" },
        { "/system.slice/ssh.service", CGROUP_SERVICE, "ssh.service" },
        { "/system.slice/ssh.service/inner", CGROUP_OTHER, "ssh.service" },
        { "/user.slice/user@0.service/app.slice/x.service", CGROUP_OTHER, "user@0.service" },
        { "/system.slice/slurmstepd.scope/job_123", CGROUP_JOB, "job_123" },
        { "/system.slice/slurmstepd.scope/job_123/step_0", CGROUP_STEP, "job_123/step_0" },
        { "/slurm/uid_1000/job_123/step_batch/task_0", CGROUP_OTHER, "job_123/step_batch" },
        { "/system.slice/slurmstepd.scope/system", CGROUP_OTHER, "system" },
        { "/a/job_x", CGROUP_OTHER, "job_x" },
        { "/a/step_1", CGROUP_OTHER, "step_1" },
        { "/docker/" ID, CGROUP_CONTAINER, "docker/0123456789ab" },
        { "/system.slice/docker-" ID ".scope", CGROUP_CONTAINER, "docker/0123456789ab" },
        { "/machine.slice/libpod-" ID ".scope/container", CGROUP_OTHER, "libpod/0123456789ab" },
        { "/kubepods/burstable/pod" UID "/" ID, CGROUP_CONTAINER, "container/0123456789ab" },
        { "/kubepods/burstable/pod" UID, CGROUP_POD, "pod/" UID },
        { "/kubepods.slice/kubepods-burstable.slice", CGROUP_OTHER, "kubepods-burstable.slice" },
        { "/kubepods.slice/kubepods-pod01234567_89ab_cdef_0123_456789abcdef.slice", CGROUP_POD,
          "pod/01234567_89ab_cdef_0123_456789abcdef" },
        { "/kubepods.slice/kubepods-pod01.slice", CGROUP_OTHER, "kubepods-pod01.slice" },
        { "/x" ID, CGROUP_OTHER, "x" HEX16 HEX16 "0123456789abcd" },
        { "/x/" HEX16 HEX16 HEX16 "0123456789abcde", CGROUP_OTHER, HEX16 HEX16 "0123456789abcde" },
        { "/x/docker-" HEX16 HEX16 HEX16 "0123456789abcde:.scope", CGROUP_OTHER,
          "docker-" HEX16 HEX16 "01234567" },
        { "/x/" HEX16 HEX16 HEX16 "0123456789abcdeg", CGROUP_OTHER, HEX16 HEX16 "0123456789abcde" },
        { "/docker2/" ID, CGROUP_CONTAINER, "container/0123456789ab" },
        { "/podman/" ID, CGROUP_CONTAINER, "container/0123456789ab" },
        { "/docker/x/" ID, CGROUP_CONTAINER, "container/0123456789ab" },
        { "/job_", CGROUP_OTHER, "job_" },
        { "/job_7a", CGROUP_OTHER, "job_7a" },
        { "/a_7", CGROUP_OTHER, "a_7" },
        { "/slurm/job_7/x/step_0", CGROUP_OTHER, "job_7" },
        { "/slurm/job_7/x.service", CGROUP_OTHER, "job_7" },
        { "/slurm/job_7/steps", CGROUP_OTHER, "job_7" },
        { "//a.service//", CGROUP_SERVICE, "a.service" },
        { "/.service", CGROUP_OTHER, ".service" },
        { "/kubepods/pod01234567-89ab-cdef-0123-456789abcde", CGROUP_OTHER,
          "pod01234567-89ab-cdef-0123-456789abcde" },
        { "/kubepods/pod01234567-89ab-cdef-0123-456789abcdef0", CGROUP_OTHER,
          "pod01234567-89ab-cdef-0123-456789abcdef0" },
        { "/kubepods/pod01234567-89ab-cdef-0123-456789abcde.f", CGROUP_OTHER,
          "pod01234567-89ab-cdef-0123-456789abcde.f" },
        { "/kubepods/xpod" UID, CGROUP_OTHER, "xpod" UID },
        { "/a-runtime-with-a-name-that-is-long-" ID, CGROUP_CONTAINER,
          "a-runtime-with-a-name-th/0123456789ab" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char name[SIGNAL_THING];

        is_int(cgroup_name(cases[i].path, name), cases[i].kind, "cgroup_name knows the kind of %s",
               cases[i].path);
        is_str(name, cases[i].name, "cgroup_name knows the name of %s", cases[i].path);
    }
}

static const char *name_of(const char *text, char out[SIGNAL_THING])
{
    cgroup_of_process(text, out);
    return out;
}

static void test_processes(void)
{
    static char text[PATH_MAX + 64];
    char out[SIGNAL_THING];

    is_str(name_of("0::/system.slice/ssh.service\n", out), "ssh.service",
           "a process has its group of version 2");
    is_str(name_of("4:memory:/slurm/uid_0/job_7/step_0/task_0\n1:cpu:/\n0::/a.service\n", out),
           "job_7/step_0", "a process has the group whose name tells most");
    is_str(name_of("4:memory:/x/y\n0::/docker/" ID "\n", out), "docker/0123456789ab",
           "a process has its container's group in the last line");
    is_str(name_of("4:memory:/\n0::/\n", out), "", "a process in root groups has no name");
    is_str(name_of("nothing\n::\n:::\n0::", out), "", "lines without paths have no name");
    is_str(name_of("2:cpu:/docker/" ID "\n1:memory:/slurm/job_7/x\n", out), "job_7",
           "a part of a job tells more than a container");
    is_str(name_of("2:cpu:/a.service\n1:memory:/docker/" ID "/x\n", out), "docker/0123456789ab",
           "a part of a container tells more than a service");
    is_str(name_of("2:cpu:/a.service\n1:memory:/b.service\n", out), "a.service",
           "of two that tell as much the first counts");
    is_str(name_of("2:cpu:/one\n1:memory:/a.service\n0::/two\n", out), "a.service",
           "a service tells more than any other group");
    snprintf(text, sizeof(text), "1:cpu:/%0*d/a.service\n0::/other\n", PATH_MAX - 20, 0);
    is_str(name_of(text, out), "a.service", "a long path is read");
    snprintf(text, sizeof(text), "1:cpu:/%0*d/a.service\n0::/other\n", PATH_MAX, 0);
    is_str(name_of(text, out), "other", "a path that is longer than any is passed over");
    cgroup_path("4:cpu,cpuacct:/a:b\n3:memory:/m\n0::/u\n", "cpuacct", out, sizeof(out));
    is_str(out, "/a:b", "cgroup_path finds the path of the second controller");
    cgroup_path("4:cpu,cpuacct:/a\n3:memory:/m\n0::/u\n", "cpu", out, sizeof(out));
    is_str(out, "/a", "cgroup_path finds the path of the first controller");
    cgroup_path("4:cpu,cpuacct:/a\n3:memory:/m\n0::/u\n", "memory", out, sizeof(out));
    is_str(out, "/m", "cgroup_path finds the path of a later line");
    cgroup_path("4:cpu,cpuacct:/a\n3:memory:/m\n0::/u\n", "cpuacctx", out, sizeof(out));
    is_str(out, "", "cgroup_path finds no longer controller");
    cgroup_path("4:cpu,cpuacct:/a\n3:memory:/m\n0::/u\n", NULL, out, sizeof(out));
    is_str(out, "/u", "cgroup_path finds the path of version 2");
    cgroup_path("4:cpu,cpuacct:/a\n3:memory:/m\n0::/u\n", "cp", out, sizeof(out));
    is_str(out, "", "cgroup_path finds no part of a controller");
}

int main(void)
{
    test_stat();
    test_io();
    test_pss();
    test_names();
    test_processes();
    return done();
}
