#include "run/meet/meeting.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>

#include "run/meet/follower.h"
#include "run/meet/leader.h"
#include "run/meet/meeting_address.h"
#include "run/meet/sealed_frame.h"

/* For what is left when the job has ended. */
#define END_NS (2 * NS_PER_S)
enum { END_TURN_MS = 20 };

struct meeting {
    struct meeting_config c;
    enum meeting_state state;
    int poll;
    struct meeting_address *address; /* NULL once it was there */
    struct leader *leader;           /* NULL: we do not lead */
    struct follower *follower;       /* the same */
};

static void relay(void *arg, const struct control_request *r)
{
    struct meeting *m = arg;

    if (m->leader)
        leader_ask(m->leader, r);
}

int meeting_open(struct meeting **ret, const struct meeting_config *c, struct err *e)
{
    CLEANUP(meeting_closep) struct meeting *m = calloc(1, sizeof(*m));
    int rc;

    if (!m)
        return err_nomem(e);
    m->c = *c;
    if (c->key.by_munge)
        m->c.purpose |= SEALED_BY_MUNGE;
    m->poll = epoll_create1(EPOLL_CLOEXEC);
    if (m->poll < 0)
        return err_set(e, -errno, "epoll: %s", strerror(errno));
    rc = meeting_address_ask(&m->address, c->place.host, c->place.port, e);
    if (rc < 0)
        return rc;
    if (c->control)
        control_relay(c->control, relay, m);
    *ret = steal(&m);
    return 0;
}

void meeting_close(struct meeting *m)
{
    if (m->c.control)
        control_relay(m->c.control, NULL, NULL);
    if (m->leader)
        leader_close(m->leader);
    if (m->follower)
        follower_close(m->follower);
    if (m->address)
        meeting_address_free(m->address);
    closep(&m->poll);
    free(m);
}

int meeting_fd(const struct meeting *m)
{
    return m->poll;
}

static void off(struct meeting *m, const char *why)
{
    char text[512];

    snprintf(text, sizeof(text), "other hosts are not met at %s:%d: %s", m->c.place.host,
             m->c.place.port, why);
    m->c.say(m->c.arg, text);
    m->state = MEETING_OFF;
}

static bool is_loopback(const struct sockaddr *a)
{
    const struct sockaddr_in *four = (const void *)a;
    const struct sockaddr_in6 *six = (const void *)a;

    if (a->sa_family == AF_INET)
        return ntohl(four->sin_addr.s_addr) >> 24 == 127;
    return a->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
}

/* Whether the place is our own name, with or without its domain. */
static bool is_own_name(const struct meeting *m)
{
    size_t ours = strcspn(m->c.host, "."), place = strcspn(m->c.place.host, ".");

    return ours == place && !strncmp(m->c.host, m->c.place.host, ours) && ours > 0;
}

/* A host may know its own name by an address that others can not reach (Debian's 127.0.1.1). */
static int lead(struct meeting *m, const struct addrinfo *list)
{
    bool any = is_own_name(m) && is_loopback(list->ai_addr);
    int rc = leader_open(&m->leader, &m->c, list, any, m->poll);

    if (rc == 0)
        m->state = MEETING_LEADING;
    return rc;
}

static int follow(struct meeting *m, const struct addrinfo *list)
{
    int rc = follower_open(&m->follower, &m->c, list, m->poll);

    if (rc == 0)
        m->state = MEETING_FOLLOWING;
    return rc;
}

static int decide(struct meeting *m)
{
    enum meeting_role role = m->c.place.role;
    const struct addrinfo *list;
    struct err why = { "" };
    int rc = meeting_address_get(m->address, &list, &why);

    if (rc == 0)
        return 0;
    if (rc < 0) {
        off(m, why.text);
        return 0;
    }
    rc = role == MEETING_FOLLOWS ? -EADDRINUSE : lead(m, list);
    if (role != MEETING_LEADS && (rc == -EADDRNOTAVAIL || rc == -EADDRINUSE))
        rc = follow(m, list);
    if (rc == -EADDRNOTAVAIL)
        off(m, "that is not this host, where rank 0 is: --meet names the host of rank 0");
    else if (rc < 0 && rc != -ENOMEM)
        off(m, strerror(-rc));
    return rc == -ENOMEM ? rc : 0;
}

int meeting_turn(struct meeting *m)
{
    int64_t now_ns = clock_monotonic_ns(m->c.clock);
    int rc = 0;

    if (m->state == MEETING_SEEKS)
        rc = decide(m);
    if (rc == 0 && m->leader)
        rc = leader_turn(m->leader, now_ns);
    if (rc == 0 && m->follower)
        rc = follower_turn(m->follower, now_ns);
    return rc;
}

void meeting_event(struct meeting *m, const struct ring_event *e)
{
    if (m->follower && follower_event(m->follower, e) < 0)
        off(m, "out of memory: ranks of this host are not told any more");
}

enum meeting_state meeting_state(const struct meeting *m)
{
    return m->state;
}

double meeting_far_s(const struct meeting *m)
{
    return m->leader ? leader_far_s(m->leader) : 0;
}

bool meeting_heard(const struct meeting *m)
{
    return m->follower && follower_heard(m->follower);
}

bool meeting_deserted(const struct meeting *m)
{
    return m->follower && follower_deserted(m->follower);
}

static bool waits(const struct meeting *m)
{
    return (m->leader && leader_waits(m->leader)) || (m->follower && follower_waits(m->follower));
}

int meeting_end(struct meeting *m)
{
    int64_t begin_ns = clock_monotonic_ns(m->c.clock);
    struct pollfd fd = { .fd = m->poll, .events = POLLIN };

    if (m->follower)
        follower_end(m->follower);
    for (;;) {
        int rc = meeting_turn(m);

        if (rc < 0 || !waits(m) || clock_monotonic_ns(m->c.clock) - begin_ns >= END_NS)
            return rc;
        (void)poll(&fd, 1, END_TURN_MS);
    }
}
