/* What the kernel is asked about processes, and what is made of its answers: by a kernel of the
 * test's own. Link with --wrap=socket,--wrap=send,--wrap=recv,--wrap=recvmmsg. */
#include <errno.h>
#include <fcntl.h>
#include <linux/genetlink.h>
#include <linux/taskstats.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "probe/kernel/taskstats.h"
#include "tap.h"

enum { FAMILY = 0x1234, ANSWERS = 256, STATS = 560, AT_RUN = 64 };

/* What is sent, as it lies in memory. */
struct request {
    struct nlmsghdr header;
    struct genlmsghdr command;
    struct nlattr attribute;
    char content[];
};

struct answer {
    char bytes[1024];
    size_t len;
    bool cut;
};

/* The kernel. */
static struct {
    int socket_error, send_error, recv_error;
    int family_error; /* in its answer about the family */
    bool no_id;
    bool keeps;            /* answers that were not read */
    int room;              /* for answers; those that find none are lost */
    int at_once;           /* how many answers one call gives */
    int refuses;           /* every process, with that error */
    pid_t dead, cut, half; /* does not live; has an answer that is too long; too short */
    struct answer queue[ANSWERS];
    size_t n, next;
    char name[32]; /* of the family that was asked for */
    int families, batches, wrong;
} kernel;

int __wrap_socket(int domain, int type, int protocol);
ssize_t __wrap_send(int fd, const void *buf, size_t len, int flags);
ssize_t __wrap_recv(int fd, void *buf, size_t len, int flags);
int __wrap_recvmmsg(int fd, struct mmsghdr *messages, unsigned n, int flags, struct timespec *t);

int __wrap_socket(int domain, int type, int protocol)
{
    kernel.wrong += domain != AF_NETLINK || !(type & SOCK_CLOEXEC) || protocol != NETLINK_GENERIC;
    errno = kernel.socket_error;
    return errno ? -1 : open("/dev/null", O_RDWR | O_CLOEXEC);
}

static void add_attribute(struct answer *a, unsigned type, const void *content, size_t n)
{
    struct nlattr head = { (uint16_t)(sizeof(head) + n), (uint16_t)type };

    memcpy(a->bytes + a->len, &head, sizeof(head));
    memcpy(a->bytes + a->len + sizeof(head), content, n);
    a->len += NLA_ALIGN(sizeof(head) + n);
}

static void begin(struct answer *a)
{
    *a = (struct answer){ .len = NLMSG_HDRLEN + GENL_HDRLEN };
}

static void end(struct answer *a, int type, uint32_t sequence, int error)
{
    struct nlmsghdr h = { .nlmsg_type = (uint16_t)type, .nlmsg_seq = sequence };

    if (error) {
        h.nlmsg_type = NLMSG_ERROR;
        a->len = NLMSG_HDRLEN + sizeof(struct nlmsgerr);
        memcpy(a->bytes + NLMSG_HDRLEN, &error, sizeof(error));
    }
    h.nlmsg_len = (uint32_t)a->len;
    memcpy(a->bytes, &h, sizeof(h));
}

/* The time that process used is its number in microseconds. */
static void answer(const struct request *r)
{
    struct answer *a = &kernel.queue[kernel.n], inside = { .len = 0 };
    char stats[STATS] = { 16 };
    uint64_t run_ns;
    uint32_t pid;

    memcpy(&pid, r->content, sizeof(pid));
    kernel.wrong += r->command.cmd != TASKSTATS_CMD_GET ||
                    r->command.version != TASKSTATS_GENL_VERSION ||
                    r->header.nlmsg_flags != NLM_F_REQUEST ||
                    r->attribute.nla_type != TASKSTATS_CMD_ATTR_TGID ||
                    r->attribute.nla_len != sizeof(r->attribute) + sizeof(pid);
    if (kernel.room-- <= 0 || kernel.n == ANSWERS)
        return;
    run_ns = pid * 1000ULL;
    memcpy(stats + AT_RUN, &run_ns, sizeof(run_ns));
    add_attribute(&inside, TASKSTATS_TYPE_TGID, &pid, sizeof(pid));
    add_attribute(&inside, TASKSTATS_TYPE_STATS, stats, sizeof(stats));
    begin(a);
    add_attribute(a, TASKSTATS_TYPE_AGGR_TGID, inside.bytes, inside.len);
    end(a, FAMILY, r->header.nlmsg_seq,
        kernel.refuses              ? kernel.refuses
        : (pid_t)pid == kernel.dead ? -ESRCH
                                    : 0);
    a->cut = (pid_t)pid == kernel.cut;
    if ((pid_t)pid == kernel.half)
        a->len = sizeof(struct nlmsghdr) - 1;
    kernel.n++;
}

ssize_t __wrap_send(int fd, const void *buf, size_t len, int flags)
{
    const char *at = buf;

    (void)fd;
    if (kernel.send_error) {
        errno = kernel.send_error;
        return -1;
    }
    if (!kernel.keeps)
        kernel.n = kernel.next = 0;
    for (size_t left = len; left > 0;) {
        const struct request *r = (const void *)at;

        if (r->header.nlmsg_type == GENL_ID_CTRL) {
            kernel.families++;
            kernel.wrong += r->command.cmd != CTRL_CMD_GETFAMILY ||
                            r->attribute.nla_type != CTRL_ATTR_FAMILY_NAME;
            snprintf(kernel.name, sizeof(kernel.name), "%s", r->content);
        } else {
            kernel.wrong += r->header.nlmsg_type != FAMILY || !(flags & MSG_DONTWAIT);
            answer(r);
        }
        at += r->header.nlmsg_len;
        left -= r->header.nlmsg_len;
    }
    kernel.batches++;
    return (ssize_t)len;
}

ssize_t __wrap_recv(int fd, void *buf, size_t len, int flags)
{
    const uint16_t id = FAMILY;
    struct answer a;

    (void)fd;
    kernel.wrong += !(flags & MSG_DONTWAIT);
    if (kernel.recv_error) {
        errno = kernel.recv_error;
        return -1;
    }
    begin(&a);
    add_attribute(&a, CTRL_ATTR_FAMILY_NAME, "TASKSTATS", 10);
    if (!kernel.no_id)
        add_attribute(&a, CTRL_ATTR_FAMILY_ID, &id, sizeof(id));
    end(&a, GENL_ID_CTRL, 0, kernel.family_error);
    memcpy(buf, a.bytes, MIN(len, a.len));
    return (ssize_t)a.len;
}

int __wrap_recvmmsg(int fd, struct mmsghdr *messages, unsigned n, int flags, struct timespec *t)
{
    unsigned got = 0;

    (void)fd;
    kernel.wrong += !(flags & MSG_DONTWAIT) || t != NULL;
    for (; got < n && got < (unsigned)kernel.at_once && kernel.next < kernel.n; got++) {
        const struct answer *a = &kernel.queue[kernel.next++];
        struct iovec *part = messages[got].msg_hdr.msg_iov;

        memcpy(part->iov_base, a->bytes, MIN(a->len, part->iov_len));
        messages[got].msg_len = (unsigned)a->len;
        messages[got].msg_hdr.msg_flags = a->cut ? MSG_TRUNC : 0;
    }
    errno = EAGAIN;
    return got > 0 ? (int)got : -1;
}

static void kernel_init(void)
{
    memset(&kernel, 0, sizeof(kernel));
    kernel.room = kernel.at_once = 1000;
}

static struct taskstats_client *client(void)
{
    struct taskstats_client *c = NULL;
    struct err e = { "" };

    kernel_init();
    is_int(taskstats_open(&c, &e), 0, "taskstats_open finds the kernel's family: %s", e.text);
    if (!c) {
        puts("Bail out! no client");
        exit(1);
    }
    return c;
}

static void test_open(void)
{
    struct taskstats_client *c = client();

    is_str(kernel.name, "TASKSTATS", "the kernel is asked for the family by its name");
    is_int(kernel.families, 1, "the kernel is asked for the family once");
    is_int(kernel.batches, 2, "the kernel is asked about this process, too");
    is_int(kernel.wrong, 0, "all that the kernel is asked is as it wants it");
    taskstats_close(c);
    taskstats_close(NULL);
}

static void test_refused(void)
{
    static const struct {
        int socket, send, recv, family;
        bool no_id;
        int refuses, rc;
        const char *text;
    } cases[] = {
        { .socket = EMFILE, .rc = -EMFILE, .text = "taskstats: Too many open files" },
        { .send = EPERM, .rc = -EPERM, .text = "taskstats: the kernel does not know this family" },
        { .recv = EAGAIN,
          .rc = -EAGAIN,
          .text = "taskstats: the kernel does not know this family" },
        { .family = -ENOENT,
          .rc = -ENOENT,
          .text = "taskstats: the kernel does not know this family" },
        { .no_id = true,
          .rc = -EBADMSG,
          .text = "taskstats: the kernel does not know this family" },
        { .refuses = -EPERM, .rc = -EPERM, .text = "taskstats: the kernel does not answer" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct taskstats_client *c = NULL;
        struct err e = { "" };

        kernel_init();
        kernel.socket_error = cases[i].socket;
        kernel.send_error = cases[i].send;
        kernel.recv_error = cases[i].recv;
        kernel.family_error = cases[i].family;
        kernel.no_id = cases[i].no_id;
        kernel.refuses = cases[i].refuses;
        is_int(taskstats_open(&c, &e), cases[i].rc, "taskstats_open fails in case %zu", i);
        is_str(e.text, cases[i].text, "the sentence of case %zu says why", i);
        ok(!c, "case %zu hands no client out", i);
    }
}

/* How many of these are known with their own time; others count with that rc. */
static int known(const struct taskstats_usage *all, size_t n)
{
    int count = 0;

    for (size_t i = 0; i < n; i++)
        count += all[i].rc == 0 && all[i].run_ns == (uint64_t)all[i].pid * 1000;
    return count;
}

static int with_rc(const struct taskstats_usage *all, size_t n, int rc)
{
    int count = 0;

    for (size_t i = 0; i < n; i++)
        count += all[i].rc == rc;
    return count;
}

static void fill(struct taskstats_usage *all, size_t n)
{
    for (size_t i = 0; i < n; i++)
        all[i] = (struct taskstats_usage){ .pid = (pid_t)(100 + i), .rc = 7 };
}

static void test_ask(void)
{
    struct taskstats_client *c = client();
    struct taskstats_usage all[70];

    fill(all, 70);
    kernel.dead = 113;
    kernel.cut = 140;
    kernel.half = 169;
    kernel.batches = 0;
    taskstats_ask(c, all, 70);
    is_int(kernel.batches, 3, "70 processes are asked about in three batches");
    is_int(known(all, 70), 67, "67 processes of 70 are known by their own numbers");
    is_int(all[13].rc, -ESRCH, "a process that does not live has that error");
    is_int(all[40].rc, -EMSGSIZE, "an answer that was cut is none");
    is_int(all[69].rc, -EAGAIN, "an answer without a head is none");
    is_int(kernel.wrong, 0, "all that the kernel is asked is as it wants it");
    fill(all, 70);
    kernel.dead = kernel.cut = kernel.half = 0;
    kernel.at_once = 5;
    taskstats_ask(c, all, 33);
    is_int(known(all, 33), 33, "answers that come in parts are all taken");
    is_int(with_rc(all + 33, 37, 7), 37, "processes that nobody asked about stay as they are");
    taskstats_ask(c, all, 0);
    is_int(known(all, 33), 33, "nothing changes when nobody is asked about");
    taskstats_close(c);
}

/* The buffer of the socket is too small: what is lost is asked again next time. */
static void test_lost(void)
{
    struct taskstats_client *c = client();
    struct taskstats_usage all[32];

    fill(all, 32);
    kernel.room = 10;
    taskstats_ask(c, all, 32);
    is_int(known(all, 32), 10, "ten answers that had room are taken");
    is_int(with_rc(all, 32, -EAGAIN), 22, "processes without an answer are to be asked again");
    kernel.send_error = ENOBUFS;
    fill(all, 32);
    taskstats_ask(c, all, 32);
    is_int(with_rc(all, 32, -EAGAIN), 32, "processes that could not be asked about are, too");
    taskstats_close(c);
}

/* Answers of the batch before, which was not read to its end, are nobody's. */
static void test_late(void)
{
    struct taskstats_client *c = client();
    struct taskstats_usage all[4];

    fill(all, 4);
    kernel.at_once = 0;
    taskstats_ask(c, all, 4);
    is_int(with_rc(all, 4, -EAGAIN), 4, "processes whose answers do not come have none");
    kernel.at_once = 1000;
    kernel.keeps = true;
    taskstats_ask(c, all, 4);
    is_int(with_rc(all, 4, -EAGAIN), 4, "answers of an earlier batch are nobody's");
    taskstats_ask(c, all, 4);
    is_int(with_rc(all, 4, -EAGAIN), 4, "answers of another earlier batch are nobody's");
    kernel.keeps = false;
    taskstats_ask(c, all, 4);
    is_int(known(all, 4), 4, "processes are known once their own answers come");
    taskstats_close(c);
}

int main(void)
{
    test_open();
    test_refused();
    test_ask();
    test_lost();
    test_late();
    return done();
}
