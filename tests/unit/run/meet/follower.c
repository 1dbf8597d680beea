/* One that follows, against a leader that the test plays message by message over a loopback
 * address: what it waits for, what it says to whom, and what it makes of each way to end. */
#include "run/meet/follower.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>

#include "folder.h"
#include "run/meet/meeting_wire.h"
#include "tap.h"

#define BEGIN_NS (1000 * NS_PER_S)

/* A test ends this way when what it waits for does not come. */
enum { TURNS_MOST = 12000, TURN_MS = 5, A_FEW = 5 };

struct bench {
    char root[PATH_MAX], said[512];
    struct rings *rings;
    struct control *control;
    struct clock clock;
    int64_t now_ns;
    int poll, listens, fd; /* where the test listens; the follower's connection to it */
    bool allows;
    struct meeting_config c;
    struct sockaddr_in at;
    struct addrinfo list;
    struct follower *f;
    struct meeting_wire w; /* the leader's end */
    int answers;           /* that came to the pings so far */
};

static int64_t read_clock(void *arg)
{
    return ((const struct bench *)arg)->now_ns;
}

static void say(void *arg, const char *sentence)
{
    struct bench *b = arg;

    snprintf(b->said, sizeof(b->said), "%s", sentence);
}

static bool may(void *arg, const char *text)
{
    return ((const struct bench *)arg)->allows && strcmp(text, "forbidden=1") != 0;
}

static void turn(struct bench *b)
{
    struct pollfd p = { .fd = b->poll, .events = POLLIN };

    folder_need(follower_turn(b->f, b->now_ns), "follower_turn");
    (void)poll(&p, 1, TURN_MS);
}

static void turns(struct bench *b)
{
    for (int i = 0; i < A_FEW; i++)
        turn(b);
}

static void set_up(struct bench *b)
{
    socklen_t len = sizeof(b->at);

    *b = (struct bench){ .now_ns = BEGIN_NS, .clock = { read_clock, read_clock, b }, .allows = 1 };
    folder_make(b->root);
    folder_need(rings_open(&b->rings, b->root, NULL), b->root);
    folder_need(control_make(&b->control, b->root, NULL), b->root);
    b->poll = epoll_create1(EPOLL_CLOEXEC);
    b->at = (struct sockaddr_in){ .sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    b->listens = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    folder_need(bind(b->listens, (struct sockaddr *)&b->at, sizeof(b->at)), "bind");
    folder_need(listen(b->listens, 4), "listen");
    folder_need(getsockname(b->listens, (struct sockaddr *)&b->at, &len), "getsockname");
    b->list = (struct addrinfo){ .ai_addr = (struct sockaddr *)&b->at,
                                 .ai_addrlen = sizeof(b->at) };
    b->c = (struct meeting_config){ .clock = &b->clock,
                                    .host = "two",
                                    .purpose = 'o',
                                    .rings = b->rings,
                                    .control = b->control,
                                    .may = may,
                                    .may_arg = b,
                                    .say = say,
                                    .arg = b };
    snprintf(b->c.place.host, sizeof(b->c.place.host), "127.0.0.1");
    folder_need(follower_open(&b->f, &b->c, &b->list, b->poll), "follower");
    b->fd = b->w.fd = -1;
}

static void tear_down(struct bench *b)
{
    follower_close(b->f);
    meeting_wire_done(&b->w);
    closep(&b->fd);
    close(b->listens);
    close(b->poll);
    rings_close(b->rings);
    control_close(b->control);
    folder_remove(b->root);
}

/* Whether the follower comes without time passing. */
static bool comes(struct bench *b)
{
    closep(&b->fd);
    b->fd = -1;
    for (int i = 0; i < A_FEW && b->fd < 0; i++) {
        struct pollfd p = { .fd = b->listens, .events = POLLIN };

        turn(b);
        if (poll(&p, 1, 0) > 0)
            b->fd = accept4(b->listens, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    }
    return b->fd >= 0;
}

/* Bytes of the follower as they come: whether so many do. */
static bool hear_bytes(struct bench *b, void *bytes, size_t len)
{
    size_t got = 0;

    for (int i = 0; i < TURNS_MOST && got < len; i++) {
        ssize_t n = recv(b->fd, (char *)bytes + got, len - got, 0);

        if (n == 0)
            return false;
        got += (size_t)MAX(n, 0);
        turn(b);
    }
    return got == len;
}

static bool leaves(struct bench *b)
{
    char byte;

    for (int i = 0; i < TURNS_MOST; i++) {
        ssize_t n = recv(b->fd, &byte, 1, 0);

        if (n == 0 || (n < 0 && errno == ECONNRESET))
            return true;
        turn(b);
    }
    return false;
}

static void send_bytes(const struct bench *b, const void *bytes, size_t len)
{
    folder_need(send(b->fd, bytes, len, MSG_NOSIGNAL) == (ssize_t)len ? 0 : -1, "send");
}

/* What a leader answers to a greeting. */
static void answer(struct bench *b, unsigned char bytes[SEALED_GREETING + SEALED_PROOF],
                   struct sealed_keys *keys)
{
    const struct sealed_secret secret = { b->c.key.bytes, sizeof(b->c.key.bytes), b->c.place.job };
    static const unsigned char nonce[SEALED_NONCE] = { 2 };
    unsigned char theirs[SEALED_GREETING];

    ok(comes(b) && hear_bytes(b, theirs, sizeof(theirs)), "a follower comes and greets");
    sealed_greeting(bytes, 'o', nonce);
    sealed_keys_make(keys, &secret, theirs, bytes);
    memcpy(bytes + SEALED_GREETING, keys->leader_proof, SEALED_PROOF);
}

/* Lead it: it has shown its proof then. */
static void lead(struct bench *b)
{
    unsigned char ours[SEALED_GREETING + SEALED_PROOF], proof[SEALED_PROOF];
    struct sealed_keys keys;

    answer(b, ours, &keys);
    send_bytes(b, ours, sizeof(ours));
    ok(hear_bytes(b, proof, sizeof(proof)) && !memcmp(proof, keys.follower_proof, sizeof(proof)),
       "a follower shows its proof");
    folder_need(meeting_wire_init(&b->w, b->fd), "wire");
    b->fd = -1;
    b->w.to = keys.to_follower;
    b->w.from = keys.to_leader;
}

static void tell(struct bench *b, const struct meeting_message *m)
{
    folder_need(meeting_wire_say(&b->w, m) ? 0 : -1, "say");
    meeting_wire_flush(&b->w);
    folder_need(meeting_wire_send(&b->w), "send");
}

/* Until a message of that kind comes, or only a few turns: how many of them have come by then. */
static int hear(struct bench *b, enum meeting_kind kind, bool wait, struct meeting_message *ret)
{
    int n = 0;

    for (int i = 0; i < (wait ? TURNS_MOST : A_FEW) && !(wait && n); i++) {
        struct meeting_message m;

        turn(b);
        folder_need(meeting_wire_read(&b->w), "read");
        while (meeting_wire_next(&b->w, &m) > 0)
            if (m.kind == kind) {
                *ret = m;
                n++;
            } else if (m.kind == MEETING_PONG) {
                b->answers++;
            }
    }
    return n;
}

/* ---- who leads ---- */

static void test_piecewise(void)
{
    unsigned char ours[SEALED_GREETING + SEALED_PROOF], proof[SEALED_PROOF];
    struct sealed_keys keys;
    struct bench b;

    set_up(&b);
    ok(!follower_waits(b.f) && !follower_heard(b.f) && !follower_deserted(b.f),
       "a follower without a leader waits for nobody");
    answer(&b, ours, &keys);
    send_bytes(&b, ours, sizeof(ours) - 1);
    turns(&b);
    ok(!follower_waits(b.f), "half an answer is no leader");
    is_int(recv(b.fd, proof, 1, 0), -1, "half an answer is waited on");
    send_bytes(&b, ours + sizeof(ours) - 1, 1);
    ok(hear_bytes(&b, proof, sizeof(proof)), "a whole answer is answered");
    ok(follower_waits(b.f), "one that has shown its proof is waited for");
    is_str(b.said, "", "a leader that comes at once is not told of");
    tear_down(&b);
}

/* One that is not the leader: what the user is told, and whether it is tried again. */
static void test_others(void)
{
    static const struct {
        size_t at; /* the byte of the answer that is another one */
        unsigned char value;
        const char *said; /* "": it is tried again */
    } cases[] = {
        { 0, 'G', "" },
        { 8, 99, "the brim at 127.0.0.1 is of another version: this host is observed alone" },
        { 9, 'r',
          "the brim at 127.0.0.1 was started by another command: this host is observed alone" },
        { SEALED_GREETING - 1, 7,
          "the brim at 127.0.0.1 has another token, or is of another job: this host is observed "
          "alone" },
        { SEALED_GREETING + SEALED_PROOF - 1, 0,
          "the brim at 127.0.0.1 has another token, or is of another job: this host is observed "
          "alone" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        unsigned char ours[SEALED_GREETING + SEALED_PROOF];
        struct sealed_keys keys;
        struct bench b;

        set_up(&b);
        answer(&b, ours, &keys);
        ours[cases[i].at] = ours[cases[i].at] == cases[i].value ? 1 : cases[i].value;
        send_bytes(&b, ours, sizeof(ours));
        ok(leaves(&b), "one that answers otherwise (%zu) is left", i);
        is_str(b.said, cases[i].said, "the user is told of one that answers otherwise (%zu)", i);
        ok(!follower_waits(b.f) && !follower_deserted(b.f) && !follower_heard(b.f),
           "one that answers otherwise (%zu) was no leader", i);
        ok(!comes(&b), "one that answers otherwise (%zu) is not tried at once", i);
        b.now_ns += NS_PER_S / 4;
        ok(comes(&b) == !cases[i].said[0], "one that answers otherwise (%zu) is tried again or not",
           i);
        tear_down(&b);
    }
}

static void test_greeting(void)
{
    unsigned char theirs[SEALED_GREETING], again[SEALED_GREETING];
    struct bench b;

    set_up(&b);
    ok(comes(&b) && hear_bytes(&b, theirs, sizeof(theirs)), "a follower greets");
    is_int(sealed_greeting_check(theirs, 'o'), 0, "a greeting has the purpose");
    close(b.fd);
    b.fd = -1;
    turns(&b);
    b.now_ns += NS_PER_S / 4;
    ok(comes(&b) && hear_bytes(&b, again, sizeof(again)), "one that closes is tried again");
    ok(memcmp(theirs, again, sizeof(theirs)) != 0, "each greeting has bytes of its own");
    b.now_ns += 10 * NS_PER_S;
    turns(&b);
    is_int(recv(b.fd, again, 1, 0), -1, "an answer is waited for, 10 s long");
    b.now_ns++;
    ok(leaves(&b), "one that does not answer within 10 s is left");
    is_str(b.said, "", "one that does not answer is told to nobody");
    tear_down(&b);
}

/* ---- what is told ---- */

static void test_told(void)
{
    const struct meeting_message ping = { .kind = MEETING_PING, .t_ns = 17 };
    const struct rank_steps about = { .rank = 3, .world = 4 };
    struct meeting_message m;
    struct bench b;
    size_t ring;

    set_up(&b);
    folder_need(rings_far_add(b.rings, &about, &ring), "ring");
    lead(&b);
    is_int(hear(&b, MEETING_HOST, true, &m), 1, "a follower says who it is");
    is_str(m.text, "two", "a follower says the name of its host");
    for (int i = 1; i < 4; i++) {
        tell(&b, &ping);
        is_int(hear(&b, MEETING_PONG, true, &m), 1, "ping %d is answered", i);
        ok(m.t_ns == 17 && m.at_ns == BEGIN_NS, "answer %d has both times", i);
        is_int(hear(&b, MEETING_LANE, false, &m), 0, "after ping %d no rank is told of yet", i);
    }
    tell(&b, &ping);
    is_int(hear(&b, MEETING_LANE, true, &m), 1, "when the clock is known ranks are told of");
    ok(m.rank == 3 && m.world == 4 && m.lane == 0, "a rank is told as it is");
    is_int(hear(&b, MEETING_END, false, &m), 0, "a job that goes on has no end");
    ok(!follower_heard(b.f), "a job that goes on is not heard to its end");
    follower_end(b.f);
    is_int(hear(&b, MEETING_END, true, &m), 1, "the end of a job is told");
    is_int(hear(&b, MEETING_END, false, &m), 0, "the end of a job is told once");
    ok(follower_heard(b.f) && follower_waits(b.f), "one that has told all waits for an answer");
    tell(&b, &(const struct meeting_message){ .kind = MEETING_OVER });
    turns(&b);
    ok(follower_heard(b.f) && !follower_waits(b.f), "one that was answered waits no more");
    is_str(b.said, "", "an end in order is told to nobody");
    tear_down(&b);
}

/* Of many steps so many are told at once as have room in a quarter of a megabyte, and four times
 * as many in each second. */
static void test_budget(void)
{
    const struct rank_steps about = { .rank = 1 };
    struct meeting_message m;
    struct bench b;
    size_t ring;
    int first, second, third;

    set_up(&b);
    folder_need(rings_far_add(b.rings, &about, &ring), "ring");
    for (int i = 0; i < 20000; i++) {
        const struct step s = { .number = (uint64_t)i,
                                .begin_ns = BEGIN_NS,
                                .end_ns = BEGIN_NS + 1 };

        folder_need(rings_far_step(b.rings, ring, &s), "step");
    }
    lead(&b);
    for (int i = 0; i < 4; i++)
        tell(&b, &(const struct meeting_message){ .kind = MEETING_PING });
    first = hear(&b, MEETING_STEP, false, &m);
    is_int(first, 0, "at first nothing may be told");
    b.now_ns += NS_PER_S / 8;
    first = 0;
    for (int i = 0; i < 20; i++)
        first += hear(&b, MEETING_STEP, false, &m);
    b.now_ns += NS_PER_S / 4;
    second = 0;
    for (int i = 0; i < 20; i++)
        second += hear(&b, MEETING_STEP, false, &m);
    b.now_ns += 5 * NS_PER_S;
    third = 0;
    for (int i = 0; i < 20; i++)
        third += hear(&b, MEETING_STEP, false, &m);
    ok(first > 100, "in an eighth of a second some steps are told: %d", first);
    ok(second >= 2 * first - 2 && second <= 2 * first + 2,
       "in twice the time twice as many are told: %d", second);
    ok(third >= second - 2 && third <= second + 2,
       "after a long time as many as have room at once are told: %d", third);
    follower_end(b.f);
    for (int i = 0; i < TURNS_MOST && m.step.number < 19999; i++)
        (void)hear(&b, MEETING_STEP, true, &m);
    is_int((long long)m.step.number, 19999, "at the end all steps are told without time passing");
    tear_down(&b);
}

/* ---- what is asked ---- */

static void test_asked(void)
{
    static const struct {
        const char *text, *back;
        bool allows, asked; /* whether the ranks are */
        const char *said;   /* when the leader is gone */
    } cases[] = {
#define GONE "the brim on one, which leads, is gone: this host is observed alone from here"
        { "a=1", "a=0", true, true, "what was on trial here is taken back: a=0" },
        { "a=1", "", true, true, GONE },
        { "a=1", "forbidden=1", true, true, GONE },
        { "a=1", "no request", true, true, GONE },
        { "a=1", "a=0", false, false, GONE },
        { "forbidden=1", "a=0", true, false, GONE },
        { "no request", "a=0", true, false, GONE },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct meeting_message ask = { .kind = MEETING_ASK, .number = 5 }, m;
        struct bench b;
        uint64_t number = 0;

        set_up(&b);
        b.allows = cases[i].allows;
        lead(&b);
        tell(&b, &(const struct meeting_message){ .kind = MEETING_HOST, .text = "one" });
        snprintf(ask.text, sizeof(ask.text), "%s", cases[i].text);
        snprintf(ask.back, sizeof(ask.back), "%s", cases[i].back);
        tell(&b, &ask);
        tell(&b, &(const struct meeting_message){ .kind = MEETING_PING });
        is_int(hear(&b, MEETING_PONG, true, &m), 1, "request %zu has come", i);
        meeting_wire_done(&b.w);
        for (int k = 0; k < TURNS_MOST && !b.said[0]; k++)
            turn(&b);
        is_str(b.said, cases[i].said, "the user is told of the end behind request %zu", i);
        ok(follower_deserted(b.f) && !follower_heard(b.f), "a follower is deserted (%zu)", i);
        folder_need(control_ask(b.control, "b=1", 0, &number), "control_ask");
        is_int((long long)number, cases[i].asked ? cases[i].said[0] == 'w' ? 7 : 6 : 1,
               "the ranks were asked by request %zu, and once more to go back, or not", i);
        tear_down(&b);
    }
}

static void test_kept(void)
{
    struct meeting_message ask = { .kind = MEETING_ASK, .number = 5, .text = "a=1", .back = "a=0" };
    struct bench b;

    set_up(&b);
    lead(&b);
    tell(&b, &(const struct meeting_message){ .kind = MEETING_HOST, .text = "one" });
    tell(&b, &ask);
    tell(&b, &(const struct meeting_message){ .kind = MEETING_KEEP });
    tell(&b, &(const struct meeting_message){ .kind = MEETING_END });
    for (int k = 0; k < TURNS_MOST && !b.said[0]; k++)
        turn(&b);
    is_str(b.said, GONE, "a leader that says what leaders do not say is left");
    is_int(follower_event(b.f, &(const struct ring_event){ .kind = RING_CLOSED }), 0,
           "without a leader nothing is told");
    ok(!comes(&b), "a leader that is gone is not looked for at once");
    b.now_ns += 60 * NS_PER_S;
    ok(!comes(&b), "a leader that is gone is not looked for later");
    tear_down(&b);
}

int main(void)
{
    test_piecewise();
    test_others();
    test_greeting();
    test_told();
    test_budget();
    test_asked();
    test_kept();
    return done();
}
