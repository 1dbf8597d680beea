#include "probe/kernel/taskstats.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/taskstats.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

/* Answers wait in the socket's buffer, which has 208 KiB by default, and each takes up to 2.5 KiB
 * of it. The kernel's struct has 560 bytes in version 16 (Linux 6.18). */
enum { BATCH = 32, ANSWER_MAX = 2048 };

/* Where the fields of struct taskstats are, from include/uapi/linux/taskstats.h: it only grows at
 * its end, and a header of the build may be older than the kernel. Of another layout is version 15
 * (Linux 6.14), which had new fields in the middle; 16 has them at the end. */
enum {
    AT_VERSION = 0,
    AT_RUN_WAIT = 24,
    AT_BLOCK_IO_WAIT = 40,
    AT_SWAP_IN_WAIT = 56,
    AT_RUN = 64,
    AT_VOLUNTARY = 272,
    AT_INVOLUNTARY = 280,
    AT_RECLAIM_WAIT = 320,
    AT_THRASHING_WAIT = 336,
    AT_COMPACT_WAIT = 360,
    SIZE_MIN = 328, /* version 3, up to the wait for reclaim */
    VERSION_BROKEN = 15,
};

struct request {
    struct nlmsghdr header;
    struct genlmsghdr command;
    struct nlattr attribute;
    uint32_t tgid;
};

_Static_assert(sizeof(struct request) == NLMSG_ALIGN(sizeof(struct request)), "they are in a row");

struct taskstats_client {
    int socket;
    uint16_t family;
    uint32_t sequence; /* of the first request of the batch */
    struct request requests[BATCH];
    char answers[BATCH][ANSWER_MAX] __attribute__((aligned(NLMSG_ALIGNTO)));
    struct iovec parts[BATCH];
    struct mmsghdr messages[BATCH];
};

/* The attribute of that type in a row of them: its content, and how long that is in *ret; NULL. */
static const char *find_attribute(const char *at, size_t len, unsigned type, size_t *ret)
{
    while (len >= sizeof(struct nlattr)) {
        struct nlattr a;
        size_t step;

        memcpy(&a, at, sizeof(a));
        if (a.nla_len < sizeof(a) || a.nla_len > len)
            return NULL;
        if ((a.nla_type & NLA_TYPE_MASK) == type) {
            *ret = a.nla_len - sizeof(a);
            return at + sizeof(a);
        }
        step = MIN((size_t)NLA_ALIGN(a.nla_len), len);
        at += step;
        len -= step;
    }
    return NULL;
}

/* The attributes behind both headers: a length, or what was wrong. */
static int open_answer(const char *message, size_t len, const char **ret)
{
    const size_t headers = NLMSG_HDRLEN + GENL_HDRLEN;
    struct nlmsghdr h;

    if (len < sizeof(h))
        return -EBADMSG;
    memcpy(&h, message, sizeof(h));
    if (h.nlmsg_type == NLMSG_ERROR) {
        int error;

        if (len < NLMSG_HDRLEN + sizeof(error))
            return -EBADMSG;
        memcpy(&error, message + NLMSG_HDRLEN, sizeof(error));
        return error < 0 && error >= -4095 ? error : -EBADMSG;
    }
    if (h.nlmsg_len > len || h.nlmsg_len < headers)
        return -EBADMSG;
    *ret = message + headers;
    return (int)(h.nlmsg_len - headers);
}

/* A field; 0 when the kernel's struct ends before it. */
static uint64_t field(const char *stats, size_t len, size_t at)
{
    uint64_t value = 0;

    if (at + sizeof(value) <= len)
        memcpy(&value, stats + at, sizeof(value));
    return value;
}

int taskstats_parse(const void *message, size_t len, struct taskstats_usage *ret)
{
    const char *attributes = NULL, *stats;
    uint16_t version;
    size_t n;
    int left = open_answer(message, len, &attributes);

    if (left < 0)
        return left;
    attributes = find_attribute(attributes, (size_t)left, TASKSTATS_TYPE_AGGR_TGID, &n);
    if (!attributes)
        return -EBADMSG;
    stats = find_attribute(attributes, n, TASKSTATS_TYPE_STATS, &n);
    if (!stats || n < SIZE_MIN)
        return -EBADMSG;
    memcpy(&version, stats + AT_VERSION, sizeof(version));
    if (version == VERSION_BROKEN)
        return -EPROTONOSUPPORT;
    ret->run_ns = field(stats, n, AT_RUN);
    ret->run_wait_ns = field(stats, n, AT_RUN_WAIT);
    ret->block_io_wait_ns = field(stats, n, AT_BLOCK_IO_WAIT);
    ret->swap_in_wait_ns = field(stats, n, AT_SWAP_IN_WAIT);
    ret->reclaim_wait_ns = field(stats, n, AT_RECLAIM_WAIT);
    ret->thrashing_wait_ns = field(stats, n, AT_THRASHING_WAIT);
    ret->compact_wait_ns = field(stats, n, AT_COMPACT_WAIT);
    ret->voluntary_switches = field(stats, n, AT_VOLUNTARY);
    ret->involuntary_switches = field(stats, n, AT_INVOLUNTARY);
    return 0;
}

/* The number of the family: netlink's controller knows it by its name. */
static int find_family(struct taskstats_client *c)
{
    struct {
        struct nlmsghdr header;
        struct genlmsghdr command;
        struct nlattr attribute;
        char name[NLMSG_ALIGN(sizeof(TASKSTATS_GENL_NAME))];
    } ask = {
        .header = { sizeof(ask), GENL_ID_CTRL, NLM_F_REQUEST, 0, 0 },
        .command = { .cmd = CTRL_CMD_GETFAMILY, .version = 1 },
        .attribute = { sizeof(struct nlattr) + sizeof(TASKSTATS_GENL_NAME), CTRL_ATTR_FAMILY_NAME },
        .name = TASKSTATS_GENL_NAME,
    };
    const char *attributes = NULL, *id;
    ssize_t got;
    size_t n;
    int left;

    if (send(c->socket, &ask, sizeof(ask), 0) < 0)
        return -errno;
    got = recv(c->socket, c->answers[0], ANSWER_MAX, MSG_DONTWAIT);
    if (got < 0)
        return -errno;
    left = open_answer(c->answers[0], (size_t)got, &attributes);
    if (left < 0)
        return left;
    id = find_attribute(attributes, (size_t)left, CTRL_ATTR_FAMILY_ID, &n);
    if (!id || n < sizeof(c->family))
        return -EBADMSG;
    memcpy(&c->family, id, sizeof(c->family));
    return 0;
}

static void prepare(struct taskstats_client *c)
{
    for (size_t i = 0; i < BATCH; i++) {
        c->requests[i] = (struct request){
            .header = { sizeof(struct request), c->family, NLM_F_REQUEST, 0, 0 },
            .command = { .cmd = TASKSTATS_CMD_GET, .version = TASKSTATS_GENL_VERSION },
            .attribute = { sizeof(struct nlattr) + sizeof(uint32_t), TASKSTATS_CMD_ATTR_TGID },
        };
        c->parts[i] = (struct iovec){ c->answers[i], ANSWER_MAX };
        c->messages[i].msg_hdr = (struct msghdr){ .msg_iov = &c->parts[i], .msg_iovlen = 1 };
    }
}

int taskstats_open(struct taskstats_client **ret, struct err *e)
{
    CLEANUP(taskstats_closep) struct taskstats_client *c = calloc(1, sizeof(*c));
    struct taskstats_usage self = { .pid = getpid() };
    int rc;

    if (!c)
        return err_nomem(e);
    c->socket = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
    if (c->socket < 0)
        return err_set(e, -errno, "taskstats: %m");
    rc = find_family(c);
    if (rc < 0)
        return err_set(e, rc, "taskstats: the kernel does not know this family");
    prepare(c);
    taskstats_ask(c, &self, 1);
    if (self.rc < 0)
        return err_set(e, self.rc, "taskstats: the kernel does not answer");
    *ret = steal(&c);
    return 0;
}

void taskstats_close(struct taskstats_client *c)
{
    if (!c)
        return;
    closep(&c->socket);
    free(c);
}

/* Give one answer to the process that was asked about. */
static void take_answer(const struct taskstats_client *c, size_t i, struct taskstats_usage *usages,
                        size_t n)
{
    const struct mmsghdr *m = &c->messages[i];
    struct nlmsghdr h;
    uint32_t place;

    if (m->msg_len < sizeof(h))
        return;
    memcpy(&h, c->answers[i], sizeof(h));
    place = h.nlmsg_seq - c->sequence;
    if (place >= n) /* of an earlier batch */
        return;
    usages[place].rc = -EMSGSIZE;
    if (!(m->msg_hdr.msg_flags & MSG_TRUNC))
        usages[place].rc = taskstats_parse(c->answers[i], m->msg_len, &usages[place]);
}

static void ask_batch(struct taskstats_client *c, struct taskstats_usage *usages, size_t n)
{
    size_t taken = 0;

    c->sequence += BATCH;
    for (size_t i = 0; i < n; i++) {
        c->requests[i].header.nlmsg_seq = c->sequence + (uint32_t)i;
        c->requests[i].tgid = (uint32_t)usages[i].pid;
        usages[i].rc = -EAGAIN;
    }
    if (send(c->socket, c->requests, n * sizeof(*c->requests), MSG_DONTWAIT) < 0)
        return;
    while (taken < n) {
        int got = recvmmsg(c->socket, c->messages, (unsigned)(n - taken), MSG_DONTWAIT, NULL);

        if (got <= 0) /* the buffer was too small for the rest: they are asked again next time */
            return;
        for (size_t i = 0; i < (size_t)got; i++)
            take_answer(c, i, usages, n);
        taken += (size_t)got;
    }
}

void taskstats_ask(struct taskstats_client *c, struct taskstats_usage *usages, size_t n)
{
    for (size_t i = 0; i < n; i += BATCH)
        ask_batch(c, usages + i, MIN(n - i, BATCH));
}
