#include "run/meet/leader.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>

#include "run/meet/clock_offset.h"
#include "run/meet/meeting_wire.h"
#include "run/meet/munge.h"

#define PING_NS (NS_PER_S / 2)
/* Without a word for so long a host is gone; one that has not shown its proof by then is sent away.
 */
#define SILENCE_NS (10 * NS_PER_S)
#define GREET_NS (5 * NS_PER_S)

/* Asked for the time in each turn so often at first. */
enum { SEATS = 255, STRANGERS = 32, PINGS_FIRST = 8, BACKLOG = 64 };

/* In place of a ring: nothing was told of the lane yet; there is no room for one more. */
#define NOT_TOLD SIZE_MAX
#define NO_ROOM (SIZE_MAX - 1)

enum seat_state { SEAT_GREETS, SEAT_PROVES, SEAT_ON };

struct seat {
    struct meeting_wire peer;
    enum seat_state state;
    struct sealed_keys keys;
    char host[MEETING_NAME];
    size_t rings[MEETING_LANES]; /* of its lanes, or one of those above */
    struct clock_offset offset;
    int64_t since_ns, heard_ns, pinged_ns;
    bool ended; /* its job has, and all was told */
};

struct leader {
    const struct meeting_config *c;
    int listens, poll;
    struct seat *seats[SEATS];
    size_t n, hosts;
    bool told; /* of one that was refused */
};

/* ---- begin and end ---- */

static int listen_at(const struct sockaddr *at, socklen_t len, int *ret)
{
    CLEANUP(closep) int fd = socket(at->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    const int on = 1;

    if (fd < 0)
        return -errno;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(fd, at, len) < 0 || listen(fd, BACKLOG) < 0)
        return -errno;
    *ret = steal_fd(&fd);
    return 0;
}

static int listen_any(int port, int *ret)
{
    struct sockaddr_in6 at = { .sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port) };
    struct sockaddr_in old = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
    int rc = listen_at((struct sockaddr *)&at, sizeof(at), ret); /* takes IPv4 as well */

    return rc == -EAFNOSUPPORT ? listen_at((struct sockaddr *)&old, sizeof(old), ret) : rc;
}

static int watch(const struct leader *l, int fd)
{
    struct epoll_event e = { .events = EPOLLIN };

    return epoll_ctl(l->poll, EPOLL_CTL_ADD, fd, &e) < 0 ? -errno : 0;
}

int leader_open(struct leader **ret, const struct meeting_config *c, const struct addrinfo *list,
                bool any, int poll)
{
    CLEANUP(leader_closep) struct leader *l = calloc(1, sizeof(*l));
    int rc = -EADDRNOTAVAIL;

    if (!l)
        return -ENOMEM;
    *l = (struct leader){ .c = c, .listens = -1, .poll = poll };
    if (any)
        rc = listen_any(c->place.port, &l->listens);
    for (; !any && list && rc == -EADDRNOTAVAIL; list = list->ai_next)
        rc = listen_at(list->ai_addr, list->ai_addrlen, &l->listens);
    if (rc == 0)
        rc = watch(l, l->listens);
    if (rc < 0)
        return rc;
    *ret = steal(&l);
    return 0;
}

static void seat_free(struct seat *n)
{
    meeting_wire_done(&n->peer);
    free(n);
}

static void send_over(struct seat *n)
{
    if (n->state != SEAT_ON ||
        !meeting_wire_say(&n->peer, &(const struct meeting_message){ .kind = MEETING_OVER }))
        return;
    meeting_wire_flush(&n->peer);
    (void)meeting_wire_send(&n->peer);
}

void leader_close(struct leader *l)
{
    for (size_t i = 0; i < l->n; i++) {
        send_over(l->seats[i]);
        seat_free(l->seats[i]);
    }
    closep(&l->listens);
    free(l);
}

/* ---- strangers ---- */

PRINTF(2, 3)
static void say(const struct leader *l, const char *fmt, ...)
{
    char text[256];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    l->c->say(l->c->arg, text);
}

/* One that was refused may be a scanner, or a brim of the user's that was started otherwise. */
static void refuse(struct leader *l, int why)
{
    if (l->told || why == -EPROTO)
        return;
    l->told = true;
    if (why == -ENOTUNIQ)
        say(l, "a brim of another command wants to join this job: start brim run on all its "
               "hosts, or brim optimize on all");
    else if (why == -EPROTONOSUPPORT)
        say(l, "a brim of another version wants to join this job: use the same on all hosts");
    else if (why == -EKEYREJECTED)
        say(l, "a brim wants to join this job that has BRIM_TOKEN where this one has none, or the "
               "other way round: set it on all hosts, or on none");
    else
        say(l, "one that wants to join this job was refused: it has another token, or is of "
               "another job");
}

/* Our greeting says what differs; there is no proof with it. */
static void answer_no(const struct leader *l, struct seat *n)
{
    static const unsigned char none[MAX(SEALED_NONCE, SEALED_PROOF)];
    unsigned char ours[SEALED_GREETING];

    sealed_greeting(ours, l->c->purpose, none);
    meeting_wire_put(&n->peer, ours, sizeof(ours));
    meeting_wire_put(&n->peer, none, SEALED_PROOF);
    (void)meeting_wire_send(&n->peer);
}

/* A secret for one follower, and the same as its user alone can read it. */
static int make_secret(const struct leader *l, const unsigned char theirs[SEALED_GREETING],
                       const unsigned char ours[SEALED_GREETING], unsigned char secret[SHA256_SIZE],
                       char text[MUNGE_TEXT])
{
    unsigned char bytes[2 * SHA256_SIZE];

    if (getrandom(secret, SHA256_SIZE, GRND_NONBLOCK) != SHA256_SIZE)
        return -EIO;
    memcpy(bytes, secret, SHA256_SIZE);
    sealed_bound(bytes + SHA256_SIZE, l->c->place.job, theirs, ours);
    return munge_seal(bytes, sizeof(bytes), text);
}

static int greet(struct leader *l, struct seat *n)
{
    unsigned char theirs[SEALED_GREETING], ours[SEALED_GREETING], nonce[SEALED_NONCE];
    struct meeting_key key = l->c->key;
    const struct sealed_secret secret = { key.bytes, sizeof(key.bytes), l->c->place.job };
    char sealed[MUNGE_TEXT];
    int rc;

    if (!meeting_wire_take(&n->peer, theirs, sizeof(theirs)))
        return 0;
    rc = sealed_greeting_check(theirs, l->c->purpose);
    if (rc == -ENOTUNIQ || rc == -EPROTONOSUPPORT || rc == -EKEYREJECTED)
        answer_no(l, n);
    if (rc < 0)
        return rc;
    if (getrandom(nonce, sizeof(nonce), GRND_NONBLOCK) != sizeof(nonce))
        return -EIO;
    sealed_greeting(ours, l->c->purpose, nonce);
    if (key.by_munge)
        rc = make_secret(l, theirs, ours, key.bytes, sealed);
    if (rc < 0)
        return rc;
    sealed_keys_make(&n->keys, &secret, theirs, ours);
    meeting_wire_put(&n->peer, ours, sizeof(ours));
    if (key.by_munge)
        meeting_wire_put(&n->peer, sealed, sizeof(sealed));
    meeting_wire_put(&n->peer, n->keys.leader_proof, sizeof(n->keys.leader_proof));
    n->state = SEAT_PROVES;
    return 0;
}

static int check_proof(const struct leader *l, struct seat *n)
{
    unsigned char proof[SEALED_PROOF];
    struct meeting_message host = { .kind = MEETING_HOST };

    if (!meeting_wire_take(&n->peer, proof, sizeof(proof)))
        return 0;
    if (!sha256_same(proof, n->keys.follower_proof, sizeof(proof)))
        return -EACCES;
    n->peer.to = n->keys.to_follower;
    n->peer.from = n->keys.to_leader;
    n->state = SEAT_ON;
    snprintf(host.text, sizeof(host.text), "%s", l->c->host);
    return meeting_wire_say(&n->peer, &host) ? 0 : -ENOBUFS;
}

/* ---- what is told ---- */

static int take_lane(struct leader *l, struct seat *n, const struct meeting_message *m)
{
    struct rank_steps about = {
        .rank = m->rank, .local_rank = m->local_rank, .world = m->world, .pid = m->pid
    };
    size_t *ring = &n->rings[m->lane];
    int rc;

    snprintf(about.host, sizeof(about.host), "%.63s", m->name);
    snprintf(about.framework, sizeof(about.framework), "%.63s", m->text);
    if (*ring < NO_ROOM) {
        rings_far_rank(l->c->rings, *ring, &about);
        return 0;
    }
    rc = rings_far_add(l->c->rings, &about, ring);
    if (rc != -ENOSPC)
        return rc;
    *ring = NO_ROOM; /* who steers sees that ranks are missing */
    return 0;
}

static int take_step(struct leader *l, const struct seat *n, const struct meeting_message *m)
{
    struct step s = m->step;

    s.begin_ns = MAX(0, clock_offset_ours(&n->offset, s.begin_ns));
    s.end_ns = MAX(s.begin_ns, clock_offset_ours(&n->offset, s.end_ns));
    return rings_far_step(l->c->rings, n->rings[m->lane], &s);
}

static int take_of_lane(struct leader *l, const struct seat *n, const struct meeting_message *m)
{
    struct rings *rings = l->c->rings;
    size_t ring = n->rings[m->lane];

    if (ring == NOT_TOLD)
        return -EBADMSG;
    if (ring == NO_ROOM)
        return 0;
    if (m->kind == MEETING_STEP)
        return take_step(l, n, m);
    if (m->kind == MEETING_NOTE)
        return rings_far_note(rings, ring, m->name, m->text);
    if (m->kind == MEETING_SWITCH)
        rings_far_switch(rings, ring, m->number, (enum brim_switch)m->outcome);
    else if (m->kind == MEETING_LOST)
        rings_far_lost(rings, ring, m->number);
    else
        rings_far_closed(rings, ring);
    return 0;
}

/* The first is told of, so that a user sees that it works; of a hundred not each is. */
static void take_host(struct leader *l, struct seat *n, const char *host)
{
    bool is_new = !n->host[0];

    snprintf(n->host, sizeof(n->host), "%.63s", host);
    if (is_new && l->hosts++ == 0)
        say(l, "the brim on %s has joined: the ranks of all hosts are one run", n->host);
}

static int take(struct leader *l, struct seat *n, const struct meeting_message *m)
{
    switch (m->kind) {
    case MEETING_HOST:
        take_host(l, n, m->text[0] ? m->text : "?");
        return 0;
    case MEETING_LANE:
        return take_lane(l, n, m);
    case MEETING_STEP:
    case MEETING_NOTE:
    case MEETING_SWITCH:
    case MEETING_LOST:
    case MEETING_CLOSED:
        return take_of_lane(l, n, m);
    case MEETING_PONG:
        (void)clock_offset_add(&n->offset, m->t_ns, m->at_ns, clock_monotonic_ns(l->c->clock));
        return 0;
    case MEETING_END:
        n->ended = true;
        send_over(n);
        return 0;
    default:
        return -EBADMSG;
    }
}

/* ---- a turn ---- */

static int ping(struct seat *n, int64_t now_ns)
{
    const struct meeting_message m = { .kind = MEETING_PING, .t_ns = now_ns };

    if (n->offset.n >= PINGS_FIRST && now_ns - n->pinged_ns < PING_NS)
        return 0;
    n->pinged_ns = now_ns;
    return meeting_wire_say(&n->peer, &m) ? 0 : -ENOBUFS; /* it has read nothing for long */
}

static int take_all(struct leader *l, struct seat *n, int64_t now_ns)
{
    struct meeting_message m;
    int rc = 0, more = 1;

    if (n->state == SEAT_GREETS)
        rc = greet(l, n);
    if (rc == 0 && n->state == SEAT_PROVES)
        rc = check_proof(l, n);
    while (rc == 0 && n->state == SEAT_ON && (more = meeting_wire_next(&n->peer, &m)) > 0) {
        n->heard_ns = now_ns;
        rc = take(l, n, &m);
    }
    return rc < 0 ? rc : MIN(more, 0);
}

static int turn_of(struct leader *l, struct seat *n, int64_t now_ns)
{
    size_t before;
    int end = 0, rc = 0;

    do { /* as much as there is room for at a time */
        before = n->peer.n_in - n->peer.taken;
        end = meeting_wire_read(&n->peer);
        if (n->peer.n_in > before)
            rc = take_all(l, n, now_ns);
        else
            break;
    } while (rc == 0 && end == 0);
    rc = rc < 0 ? rc : end;
    if (rc == 0 && n->state != SEAT_ON)
        rc = now_ns - n->since_ns > GREET_NS ? -ETIMEDOUT : 0;
    else if (rc == 0)
        rc = now_ns - n->heard_ns > SILENCE_NS ? -ETIMEDOUT
                                               : ping(n, clock_monotonic_ns(l->c->clock));
    if (rc < 0)
        return rc;
    meeting_wire_flush(&n->peer);
    return meeting_wire_send(&n->peer);
}

/* A follower leaves: in order, or not. */
static void drop(struct leader *l, size_t at, int why)
{
    struct seat *n = l->seats[at];

    if (n->state != SEAT_ON && sealed_is_refused(why))
        refuse(l, why);
    if (n->state == SEAT_ON && !n->ended)
        say(l, "the brim on %s is gone: its ranks are not seen any more", n->host);
    for (size_t i = 0; i < MEETING_LANES && !n->ended; i++)
        if (n->rings[i] < NO_ROOM)
            rings_far_gone(l->c->rings, n->rings[i]);
    seat_free(n);
    l->seats[at] = l->seats[--l->n];
}

static int add_seat(struct leader *l, int fd, int64_t now_ns)
{
    struct seat *n = calloc(1, sizeof(*n));
    int rc;

    if (!n) {
        close(fd);
        return -ENOMEM;
    }
    rc = meeting_wire_init(&n->peer, fd);
    n->since_ns = n->heard_ns = now_ns;
    for (size_t i = 0; i < MEETING_LANES; i++)
        n->rings[i] = NOT_TOLD;
    if (rc == 0)
        rc = watch(l, fd);
    if (rc < 0) {
        seat_free(n);
        return rc == -ENOMEM ? rc : 0;
    }
    l->seats[l->n++] = n;
    return 0;
}

static size_t strangers(const struct leader *l)
{
    size_t n = 0;

    for (size_t i = 0; i < l->n; i++)
        n += l->seats[i]->state != SEAT_ON;
    return n;
}

static int take_new(struct leader *l, int64_t now_ns)
{
    int rc = 0;

    while (rc == 0) {
        int fd = accept4(l->listens, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

        if (fd < 0)
            break;
        if (l->n < SEATS && strangers(l) < STRANGERS)
            rc = add_seat(l, fd, now_ns);
        else
            close(fd);
    }
    return rc;
}

int leader_turn(struct leader *l, int64_t now_ns)
{
    int rc = take_new(l, now_ns);

    for (size_t i = 0; i < l->n;) {
        int end = turn_of(l, l->seats[i], now_ns);

        if (end == -ENOMEM)
            rc = end;
        if (end < 0)
            drop(l, i, end);
        else
            i++;
    }
    return rc;
}

void leader_ask(struct leader *l, const struct control_request *r)
{
    struct meeting_message m = { .kind = r ? MEETING_ASK : MEETING_KEEP };

    if (r) {
        m.number = r->number;
        m.at_step = r->at_step;
        snprintf(m.text, sizeof(m.text), "%s", r->text);
        snprintf(m.back, sizeof(m.back), "%s", r->back ? r->back : "");
    }
    for (size_t i = 0; i < l->n; i++) {
        struct seat *n = l->seats[i];

        if (n->state != SEAT_ON || !meeting_wire_say(&n->peer, &m))
            continue; /* one that is stuck is dropped in its turn */
        meeting_wire_flush(&n->peer);
        (void)meeting_wire_send(&n->peer);
    }
}

double leader_far_s(const struct leader *l)
{
    int64_t most_ns = 0;

    for (size_t i = 0; i < l->n; i++)
        if (!l->seats[i]->ended)
            most_ns = MAX(most_ns, clock_offset_trip_ns(&l->seats[i]->offset));
    return clock_seconds(most_ns);
}

bool leader_waits(const struct leader *l)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->seats[i]->state == SEAT_ON && !l->seats[i]->ended)
            return true;
    return false;
}
