/* The kernel's answers about processes: made by hand, and of the kernel that this runs on. */
#include "probe/kernel/taskstats.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/genetlink.h>
#include <linux/taskstats.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "oom.h"
#include "tap.h"

/* An answer with a struct of n bytes whose field at byte i has the value i. */
struct answer {
    char bytes[2048];
    size_t len;
};

static void add_attribute(struct answer *a, unsigned type, const void *content, size_t n)
{
    struct nlattr head = { (uint16_t)(sizeof(head) + n), (uint16_t)type };

    memcpy(a->bytes + a->len, &head, sizeof(head));
    memcpy(a->bytes + a->len + sizeof(head), content, n);
    a->len += NLA_ALIGN(sizeof(head) + n);
}

static struct answer make_answer(uint16_t version, size_t n)
{
    struct answer stats = { { 0 }, 0 }, inside = { { 0 }, 0 }, all = { { 0 }, 0 };
    uint32_t pid = 1;
    struct nlmsghdr h = { 0 };

    for (uint64_t i = 0; i + 8 <= n; i += 8)
        memcpy(stats.bytes + i, &i, sizeof(i));
    memcpy(stats.bytes, &version, sizeof(version));
    add_attribute(&inside, TASKSTATS_TYPE_TGID, &pid, sizeof(pid));
    add_attribute(&inside, TASKSTATS_TYPE_NULL, "", 0);
    add_attribute(&inside, TASKSTATS_TYPE_STATS, stats.bytes, n);
    all.len = NLMSG_HDRLEN + GENL_HDRLEN;
    add_attribute(&all, TASKSTATS_TYPE_AGGR_TGID, inside.bytes, inside.len);
    h.nlmsg_len = (uint32_t)all.len;
    h.nlmsg_type = 31;
    memcpy(all.bytes, &h, sizeof(h));
    return all;
}

static void test_fields(void)
{
    struct taskstats_usage u = { .pid = 7, .rc = 3 };
    struct answer a = make_answer(16, 560);

    is_int(taskstats_parse(a.bytes, a.len, &u), 0, "taskstats_parse reads an answer of Linux 6.18");
    is_int((long long)u.run_ns, 64, "run_ns is cpu_run_real_total");
    is_int((long long)u.run_wait_ns, 24, "run_wait_ns is cpu_delay_total");
    is_int((long long)u.block_io_wait_ns, 40, "block_io_wait_ns is blkio_delay_total");
    is_int((long long)u.swap_in_wait_ns, 56, "swap_in_wait_ns is swapin_delay_total");
    is_int((long long)u.reclaim_wait_ns, 320, "reclaim_wait_ns is freepages_delay_total");
    is_int((long long)u.thrashing_wait_ns, 336, "thrashing_wait_ns is thrashing_delay_total");
    is_int((long long)u.compact_wait_ns, 360, "compact_wait_ns is compact_delay_total");
    is_int((long long)u.voluntary_switches, 272, "voluntary_switches is nvcsw of the answer");
    is_int((long long)u.involuntary_switches, 280, "involuntary_switches is nivcsw of the answer");
    ok(u.pid == 7 && u.rc == 3, "the pid and rc of the question stay as they were");
    is_int(offsetof(struct taskstats, blkio_delay_total), 40,
           "blkio_delay_total stands where the kernel's header has it");
    is_int(offsetof(struct taskstats, nvcsw), 272, "nvcsw stands where the kernel's header has it");
    is_int(offsetof(struct taskstats, freepages_delay_total), 320,
           "freepages_delay_total stands where the kernel's header has it");
}

static void test_layouts(void)
{
    struct taskstats_usage u = { .pid = 7 };
    struct answer a = make_answer(8, 328);

    is_int(taskstats_parse(a.bytes, a.len, &u), 0, "taskstats_parse reads an answer of version 8");
    is_int((long long)u.reclaim_wait_ns, 320, "the last field of version 8 is read");
    is_int((long long)u.thrashing_wait_ns, 0, "a field that version 8 lacks is 0");
    a = make_answer(2, 320);
    is_int(taskstats_parse(a.bytes, a.len, &u), -EBADMSG,
           "taskstats_parse refuses an answer of version 2");
    a = make_answer(40, 1600);
    is_int(taskstats_parse(a.bytes, a.len, &u), 0, "taskstats_parse reads an answer of version 40");
    is_int((long long)u.compact_wait_ns, 360, "the fields of version 40 are where they were");
    a = make_answer(15, 560);
    is_int(taskstats_parse(a.bytes, a.len, &u), -EPROTONOSUPPORT,
           "taskstats_parse refuses version 15, which moved fields");
}

static void test_hostile(void)
{
    const struct answer good = make_answer(16, 560);
    struct taskstats_usage u = { .pid = 7 };
    struct nlmsghdr h = { .nlmsg_len = 36, .nlmsg_type = NLMSG_ERROR };
    int error = -ESRCH, wrong = 0;
    char bytes[64];

    for (size_t n = 0; n < good.len; n++)
        wrong += taskstats_parse(good.bytes, n, &u) != -EBADMSG;
    is_int(wrong, 0, "an answer that is cut anywhere is none");
    for (size_t i = 0; i < good.len; i++) {
        struct answer a = good;

        a.bytes[i] = (char)0xff;
        wrong += taskstats_parse(a.bytes, a.len, &u) > 0;
    }
    is_int(wrong, 0, "an answer with any byte wrong is never a count");
    memcpy(bytes, &h, sizeof(h));
    memcpy(bytes + NLMSG_HDRLEN, &error, sizeof(error));
    is_int(taskstats_parse(bytes, 36, &u), -ESRCH, "taskstats_parse returns the kernel's error");
    is_int(taskstats_parse(bytes, NLMSG_HDRLEN, &u), -EBADMSG,
           "taskstats_parse refuses an error without a number");
    error = 1;
    memcpy(bytes + NLMSG_HDRLEN, &error, sizeof(error));
    is_int(taskstats_parse(bytes, 36, &u), -EBADMSG, "taskstats_parse refuses an error above 0");
}

/* Some ticks; what a smaller unit would tell; CPU time in which a larger one would tell nothing. */
static const uint64_t TICKS_NS = 20000000, MOST_NS = 2000000000, PATIENCE_NS = 15000000000;

static uint64_t cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

/* What a child without the right is told: its exit status. */
static int open_without_right(void)
{
    struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
    struct __user_cap_data_struct none[2] = { { 0 } };
    struct taskstats_client *c = NULL;
    struct err e = { "" };
    pid_t child = fork();
    int status = 0;

    if (child == 0) {
        if (syscall(SYS_capset, &head, none) < 0)
            _exit(1);
        _exit(taskstats_open(&c, &e) == -EPERM && *e.text ? 0 : 2);
    }
    return child > 0 && waitpid(child, &status, 0) == child ? status : -1;
}

static void test_many(struct taskstats_client *c)
{
    struct taskstats_usage many[300] = { { 0 } };
    int right = 0, gone = 0;

    for (size_t i = 0; i < ARRAY_SIZE(many); i++)
        many[i].pid = i % 3 ? getpid() : INT32_MAX;
    taskstats_ask(c, many, ARRAY_SIZE(many));
    for (size_t i = 0; i < ARRAY_SIZE(many); i++) {
        right += i % 3 && many[i].rc == 0 && many[i].run_ns > 0;
        gone += i % 3 == 0 && many[i].rc == -ESRCH;
    }
    is_int(right, 200, "200 processes of 300 asked at once are known");
    is_int(gone, 100, "100 processes of 300 asked at once do not live");
}

static void test_live(void)
{
    CLEANUP(taskstats_closep) struct taskstats_client *c = NULL;
    struct taskstats_usage u = { .pid = getpid() };
    struct rusage usage;
    struct err e = { "" };
    int rc = taskstats_open(&c, &e);

    if (rc < 0) {
        ok(!c && *e.text,
           "this process can be asked about # SKIP the kernel does not answer here: %s", e.text);
        return;
    }
    /* The kernel counts it by its clock's ticks, of which a busy machine gives few. */
    do
        taskstats_ask(c, &u, 1);
    while (u.rc == 0 && u.run_ns < TICKS_NS && cpu_ns() < PATIENCE_NS);
    getrusage(RUSAGE_SELF, &usage);
    is_int(u.rc, 0, "taskstats_ask answers about this process");
    ok(u.run_ns >= TICKS_NS && u.run_ns <= MOST_NS,
       "the CPU time of this process is that of some ticks");
    ok((long)u.voluntary_switches <= usage.ru_nvcsw && (long)u.voluntary_switches >= 0,
       "the voluntary switches of this process are at most getrusage's");
    test_many(c);
    is_int(open_without_right(), 0, "without CAP_NET_ADMIN taskstats_open says -EPERM");
    taskstats_close(steal(&c));
    oom_next();
    rc = taskstats_open(&c, &e);
    ok(oom_end() && rc == -ENOMEM && !c,
       "taskstats_open returns -ENOMEM where its allocation fails");
    oom_next();
    oom_next();
    rc = taskstats_open(&c, NULL);
    ok(!oom_end() && rc == 0, "taskstats_open makes no second allocation");
}

int main(void)
{
    test_fields();
    test_layouts();
    test_hostile();
    test_live();
    return done();
}
