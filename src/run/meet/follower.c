#include "run/meet/follower.h"

#include <errno.h>
#include <netdb.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>

#include "run/meet/follower_lane.h"
#include "run/meet/meeting_wire.h"
#include "run/meet/munge.h"

/* Between two tries to reach the leader; a user is told after some of them. */
#define TRY_NS (NS_PER_S / 4)
#define TRY_LATER_NS (2 * NS_PER_S)
#define PATIENCE_NS (30 * NS_PER_S)
#define SILENCE_NS (10 * NS_PER_S)
#define CONNECT_NS (5 * NS_PER_S)

/* Pings after which the leader knows our clock. What is told in a second, at most: 8 Mbit. */
enum { PINGS = 4 };
static const double bytes_per_s = 1e6, bytes_at_once = 250e3;

_Static_assert((int)MEETING_LANES >= (int)RINGS_MAX, "each ring is a lane");

enum follower_state {
    FOLLOWER_TRIES,    /* between connections */
    FOLLOWER_CONNECTS, /* one is under way */
    FOLLOWER_GREETS,   /* the leader's greeting has not come */
    FOLLOWER_CHECKS,   /* nor its proof */
    FOLLOWER_ON,
    FOLLOWER_OVER, /* the leader has ended in order */
    FOLLOWER_LOST, /* it is gone, or refused us: no more is tried */
};

struct follower {
    const struct meeting_config *c;
    const struct addrinfo *list, *next;
    int poll, connecting;
    enum follower_state state;
    struct meeting_wire peer;
    unsigned char greeting[SEALED_GREETING], answer[SEALED_GREETING]; /* ours, the leader's */
    char host[MEETING_NAME];                                          /* of the leader */
    int64_t begin_ns, try_ns, heard_ns, budget_ns;
    double budget_b;
    unsigned pings;
    bool told, ending, end_told;
    struct follower_lane *lanes[MEETING_LANES];
    uint64_t number;         /* of the last request */
    char back[MEETING_TEXT]; /* what it is to be undone with; "" */
};

int follower_open(struct follower **ret, const struct meeting_config *c,
                  const struct addrinfo *list, int poll)
{
    struct follower *f = calloc(1, sizeof(*f));

    if (!f)
        return -ENOMEM;
    f->c = c;
    f->list = f->next = list;
    f->poll = poll;
    f->connecting = f->peer.fd = -1;
    *ret = f;
    return 0;
}

void follower_close(struct follower *f)
{
    for (size_t i = 0; i < MEETING_LANES; i++)
        free(f->lanes[i]);
    closep(&f->connecting);
    meeting_wire_done(&f->peer);
    free(f);
}

PRINTF(2, 3)
static void say(const struct follower *f, const char *fmt, ...)
{
    char text[512];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    f->c->say(f->c->arg, text);
}

/* ---- to the leader ---- */

static void try_later(struct follower *f, int64_t now_ns)
{
    bool patient = now_ns - f->begin_ns < PATIENCE_NS;

    closep(&f->connecting);
    f->connecting = -1;
    f->state = FOLLOWER_TRIES;
    f->try_ns = now_ns + (patient ? TRY_NS : TRY_LATER_NS);
    if (patient || f->told)
        return;
    f->told = true;
    say(f,
        "no brim answers at %s:%d: this host is observed alone; is the same command running there?",
        f->c->place.host, f->c->place.port);
}

static void try_next(struct follower *f, int64_t now_ns)
{
    const struct addrinfo *to = f->next;

    if (now_ns < f->try_ns)
        return;
    f->next = to->ai_next ? to->ai_next : f->list;
    f->connecting = meeting_wire_connect(to->ai_addr, to->ai_addrlen);
    f->state = FOLLOWER_CONNECTS;
    f->heard_ns = now_ns;
    if (f->connecting < 0)
        try_later(f, now_ns);
}

static int look_at_connection(struct follower *f, int64_t now_ns)
{
    struct epoll_event e = { .events = EPOLLIN };
    unsigned char nonce[SEALED_NONCE];
    int rc = meeting_wire_connected(f->connecting);

    if (rc == 0 && now_ns - f->heard_ns < CONNECT_NS)
        return 0;
    if (rc <= 0 || getrandom(nonce, sizeof(nonce), GRND_NONBLOCK) != sizeof(nonce) ||
        epoll_ctl(f->poll, EPOLL_CTL_ADD, f->connecting, &e) < 0) {
        try_later(f, now_ns);
        return 0;
    }
    rc = meeting_wire_init(&f->peer, steal_fd(&f->connecting));
    if (rc < 0)
        return rc;
    sealed_greeting(f->greeting, f->c->purpose, nonce);
    meeting_wire_put(&f->peer, f->greeting, sizeof(f->greeting));
    f->heard_ns = now_ns;
    f->state = FOLLOWER_GREETS;
    return 0;
}

static int check_greeting(struct follower *f)
{
    int rc;

    if (!meeting_wire_take(&f->peer, f->answer, sizeof(f->answer)))
        return 0;
    rc = sealed_greeting_check(f->answer, f->c->purpose);
    if (rc == 0)
        f->state = FOLLOWER_CHECKS;
    return rc;
}

/* The secret that the leader made for us, and for these two greetings. */
static int take_secret(const struct follower *f, const char text[MUNGE_TEXT],
                       unsigned char secret[SHA256_SIZE])
{
    unsigned char bytes[2 * SHA256_SIZE], bound[SHA256_SIZE];
    int rc = munge_unseal(text, bytes, sizeof(bytes));

    if (rc < 0)
        return -EACCES;
    sealed_bound(bound, f->c->place.job, f->greeting, f->answer);
    if (!sha256_same(bytes + SHA256_SIZE, bound, sizeof(bound)))
        return -EACCES;
    memcpy(secret, bytes, SHA256_SIZE);
    return 0;
}

/* Whoever answers there shows first that it has the secret. */
static int check_leader(struct follower *f)
{
    struct {
        char sealed[MUNGE_TEXT];
        unsigned char proof[SEALED_PROOF];
    } answer;
    struct meeting_key key = f->c->key;
    const struct sealed_secret secret = { key.bytes, sizeof(key.bytes), f->c->place.job };
    struct meeting_message host = { .kind = MEETING_HOST };
    struct sealed_keys keys;
    bool all = key.by_munge ? meeting_wire_take(&f->peer, &answer, sizeof(answer))
                            : meeting_wire_take(&f->peer, answer.proof, sizeof(answer.proof));
    int rc = all && key.by_munge ? take_secret(f, answer.sealed, key.bytes) : 0;

    if (!all || rc < 0)
        return rc;
    sealed_keys_make(&keys, &secret, f->greeting, f->answer);
    if (!sha256_same(answer.proof, keys.leader_proof, SEALED_PROOF))
        return -EACCES;
    meeting_wire_put(&f->peer, keys.follower_proof, SEALED_PROOF);
    f->peer.to = keys.to_leader;
    f->peer.from = keys.to_follower;
    f->state = FOLLOWER_ON;
    snprintf(host.text, sizeof(host.text), "%s", f->c->host);
    return meeting_wire_say(&f->peer, &host) ? 0 : -ENOBUFS;
}

/* ---- what it asks for ---- */

static void carry_out(struct follower *f, const struct meeting_message *m)
{
    const struct control_request r = { .number = m->number,
                                       .at_step = m->at_step,
                                       .text = m->text };
    const struct meeting_config *c = f->c;
    bool good = c->control && c->may && meeting_message_is_request(m->text) &&
                c->may(c->may_arg, m->text);

    if (!good || control_hand_on(c->control, &r) < 0)
        return; /* no rank of ours answers, which the leader takes for a refusal in the end */
    f->number = m->number;
    f->back[0] = '\0';
    if (m->back[0] && meeting_message_is_request(m->back) && c->may(c->may_arg, m->back))
        snprintf(f->back, sizeof(f->back), "%s", m->back);
}

static int pong(struct follower *f, const struct meeting_message *m)
{
    const struct meeting_message back = { .kind = MEETING_PONG,
                                          .t_ns = m->t_ns,
                                          .at_ns = clock_monotonic_ns(f->c->clock) };

    f->pings++;
    if (!meeting_wire_say(&f->peer, &back))
        return 0; /* more is on its way, which tells that we are there */
    meeting_wire_flush(&f->peer);
    return meeting_wire_send(&f->peer);
}

static int take(struct follower *f, const struct meeting_message *m)
{
    switch (m->kind) {
    case MEETING_HOST:
        snprintf(f->host, sizeof(f->host), "%.63s", m->text);
        if (f->told)
            say(f, "the brim on %s has come", f->host);
        return 0;
    case MEETING_ASK:
        carry_out(f, m);
        return 0;
    case MEETING_KEEP:
        f->back[0] = '\0';
        return 0;
    case MEETING_PING:
        return pong(f, m);
    case MEETING_OVER:
        return -ESHUTDOWN;
    default:
        return -EBADMSG;
    }
}

static int take_all(struct follower *f, int64_t now_ns)
{
    struct meeting_message m;
    int rc = 0, more = 1;

    if (f->state == FOLLOWER_GREETS)
        rc = check_greeting(f);
    if (rc == 0 && f->state == FOLLOWER_CHECKS)
        rc = check_leader(f);
    while (rc == 0 && f->state == FOLLOWER_ON && (more = meeting_wire_next(&f->peer, &m)) > 0) {
        f->heard_ns = now_ns;
        rc = take(f, &m);
    }
    return rc < 0 ? rc : MIN(more, 0);
}

/* Settings of each rank's own, which were on trial, go: nobody tells any more whether they pay.
 * What all ranks share stays: they would not go back at the same step. */
static void go_back(struct follower *f)
{
    const struct control_request r = { .number = f->number + 1, .text = f->back };

    if (f->back[0] && f->c->control && control_hand_on(f->c->control, &r) == 0)
        say(f, "what was on trial here is taken back: %s", f->back);
    f->back[0] = '\0';
}

static void part(struct follower *f, int why, int64_t now_ns)
{
    bool was_on = f->state == FOLLOWER_ON;

    meeting_wire_done(&f->peer);
    if (!was_on && !sealed_is_refused(why)) {
        try_later(f, now_ns); /* it was somebody else, or has no room yet */
        return;
    }
    f->state = why == -ESHUTDOWN ? FOLLOWER_OVER : FOLLOWER_LOST;
    if (!was_on)
        say(f, "the brim at %s%s: this host is observed alone", f->c->place.host,
            why == -EACCES         ? " has another token, or is of another job"
            : why == -EKEYREJECTED ? " has BRIM_TOKEN where this one has none, or not where it has"
            : why == -ENOTUNIQ     ? " was started by another command"
                                   : " is of another version");
    else if (f->state == FOLLOWER_LOST && !f->ending)
        say(f, "the brim on %s, which leads, is gone: this host is observed alone from here",
            f->host);
    if (was_on && !f->ending)
        go_back(f);
}

/* ---- what is told ---- */

static struct follower_lane *lane_of(struct follower *f, size_t ring)
{
    if (!f->lanes[ring])
        f->lanes[ring] = follower_lane_new((unsigned)ring);
    return f->lanes[ring];
}

int follower_event(struct follower *f, const struct ring_event *e)
{
    struct follower_lane *l;

    if (f->state == FOLLOWER_LOST || f->state == FOLLOWER_OVER)
        return 0;
    l = lane_of(f, e->ring);
    if (!l)
        return -ENOMEM;
    follower_lane_event(l, rings_lane(f->c->rings, e->ring), e);
    return 0;
}

static bool tell_all(struct follower *f)
{
    for (size_t i = 0; i < rings_count(f->c->rings); i++) {
        struct follower_lane *l = lane_of(f, i); /* it may have been read before we followed */
        double *budget = f->ending ? NULL : &f->budget_b;

        if (!l || !follower_lane_tell(l, rings_lane(f->c->rings, i), &f->peer, budget))
            return false;
    }
    return true;
}

static void tell(struct follower *f, int64_t now_ns)
{
    const struct meeting_message end = { .kind = MEETING_END };

    f->budget_b += bytes_per_s * clock_seconds(now_ns - f->budget_ns);
    f->budget_b = MIN(f->budget_b, bytes_at_once);
    f->budget_ns = now_ns;
    if (f->pings < PINGS || !tell_all(f) || !f->ending || f->end_told)
        return;
    f->end_told = meeting_wire_say(&f->peer, &end);
}

static int go_on(struct follower *f, int64_t now_ns)
{
    size_t before;
    int end, rc = 0;

    do {
        before = f->peer.n_in - f->peer.taken;
        end = meeting_wire_read(&f->peer);
        if (f->peer.n_in > before)
            rc = take_all(f, now_ns);
        else
            break;
    } while (rc == 0 && end == 0);
    rc = rc < 0 ? rc : end;
    if (rc == 0 && now_ns - f->heard_ns > SILENCE_NS)
        rc = -ETIMEDOUT;
    if (rc == 0 && f->state == FOLLOWER_ON)
        tell(f, now_ns);
    if (rc == 0) {
        meeting_wire_flush(&f->peer);
        rc = meeting_wire_send(&f->peer);
    }
    return rc;
}

int follower_turn(struct follower *f, int64_t now_ns)
{
    int rc = 0;

    if (!f->begin_ns)
        f->begin_ns = f->budget_ns = now_ns;
    if (f->state == FOLLOWER_TRIES)
        try_next(f, now_ns);
    if (f->state == FOLLOWER_CONNECTS)
        rc = look_at_connection(f, now_ns);
    if (rc < 0 || f->state < FOLLOWER_GREETS || f->state > FOLLOWER_ON)
        return rc;
    rc = go_on(f, now_ns);
    if (rc < 0)
        part(f, rc, now_ns);
    return 0;
}

void follower_end(struct follower *f)
{
    f->ending = true;
}

bool follower_waits(const struct follower *f)
{
    return f->state == FOLLOWER_ON;
}

bool follower_heard(const struct follower *f)
{
    return f->state == FOLLOWER_OVER || f->end_told;
}

bool follower_deserted(const struct follower *f)
{
    return f->state == FOLLOWER_LOST && f->host[0] && !f->end_told;
}
