/* The one that leads and one that follows, over a loopback address and by a clock of the test:
 * how long each waits for the other, what a leader makes of what it is told, and of strangers. */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>

#include "folder.h"
#include "run/meet/follower.h"
#include "run/meet/leader.h"
#include "run/meet/meeting_wire.h"
#include "tap.h"

#define BEGIN_NS (1000 * NS_PER_S)

/* A test ends this way when what it waits for does not come. */
enum { TURNS_MOST = 12000, TURN_MS = 5, STRANGERS = 32 };

struct bench {
    char root[PATH_MAX], said[512], follower_said[512];
    struct rings *rings, *empty;
    struct clock clock;
    int64_t now_ns;
    int poll, closed, gone;
    struct meeting_config of_leader, of_follower;
    struct sockaddr_in at;
    struct addrinfo list;
    struct leader *leader;
};

static int64_t read_clock(void *arg)
{
    return ((const struct bench *)arg)->now_ns;
}

static void say(void *arg, const char *sentence)
{
    snprintf(arg, 512, "%s", sentence);
}

static void hear(void *arg, const struct ring_event *e)
{
    struct bench *b = arg;

    b->closed += e->kind == RING_CLOSED;
    b->gone += e->kind == RING_GONE;
}

static void set_up(struct bench *b, bool leads)
{
    int port = 23000 + (int)getpid() % 3000;

    *b = (struct bench){ .now_ns = BEGIN_NS, .clock = { read_clock, read_clock, b } };
    folder_make(b->root);
    folder_need(rings_open(&b->rings, b->root, NULL), b->root);
    folder_need(rings_open(&b->empty, b->root, NULL), b->root);
    rings_follow(b->rings, hear, b);
    b->poll = epoll_create1(EPOLL_CLOEXEC);
    b->of_leader = (struct meeting_config){ .clock = &b->clock,
                                            .host = "one",
                                            .purpose = 'o',
                                            .rings = b->rings,
                                            .say = say,
                                            .arg = b->said };
    snprintf(b->of_leader.place.host, sizeof(b->of_leader.place.host), "127.0.0.1");
    b->of_leader.place.port = port;
    b->of_follower = b->of_leader;
    b->of_follower.host = "two";
    b->of_follower.rings = b->empty;
    b->of_follower.arg = b->follower_said;
    b->at = (struct sockaddr_in){ .sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    b->list = (struct addrinfo){ .ai_addr = (struct sockaddr *)&b->at,
                                 .ai_addrlen = sizeof(b->at) };
    if (leads)
        folder_need(leader_open(&b->leader, &b->of_leader, NULL, true, b->poll), "leader");
}

static void tear_down(struct bench *b)
{
    if (b->leader)
        leader_close(b->leader);
    rings_close(b->rings);
    rings_close(b->empty);
    close(b->poll);
    folder_remove(b->root);
}

static void lead(struct bench *b)
{
    folder_need(leader_turn(b->leader, b->now_ns), "leader_turn");
}

/* Let some time of the machine's pass. */
static void rest(const struct bench *b)
{
    struct pollfd p = { .fd = b->poll, .events = POLLIN };

    (void)poll(&p, 1, TURN_MS);
}

/* ---- strangers ---- */

static int stranger(const struct bench *b)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    folder_need(connect(fd, (const struct sockaddr *)&b->at, sizeof(b->at)), "connect");
    return fd;
}

static bool is_open(int fd)
{
    char c;

    return recv(fd, &c, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

static bool closes(const struct bench *b, int fd)
{
    for (int i = 0; i < TURNS_MOST && is_open(fd); i++)
        rest(b);
    return !is_open(fd);
}

static void test_strangers(void)
{
    struct bench b;
    int fds[STRANGERS + 1], last;

    set_up(&b, true);
    for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
        fds[i] = stranger(&b);
    lead(&b);
    ok(closes(&b, fds[STRANGERS]), "one stranger too many is sent away");
    b.now_ns += 5 * NS_PER_S;
    lead(&b);
    for (size_t i = 0; i < STRANGERS; i++)
        if (!is_open(fds[i]))
            ok(false, "stranger %zu is sent away too early", i);
    last = stranger(&b);
    lead(&b);
    ok(closes(&b, last), "as long as strangers are there no other one has room");
    b.now_ns++;
    lead(&b);
    for (size_t i = 0; i < STRANGERS; i++)
        if (!closes(&b, fds[i]))
            ok(false, "stranger %zu is not sent away after 5 s", i);
    close(last);
    last = stranger(&b);
    lead(&b);
    lead(&b);
    ok(is_open(last), "when strangers have gone another one has room");
    is_str(b.said, "", "strangers that say nothing are told to nobody");
    for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
        close(fds[i]);
    close(last);
    tear_down(&b);
}

/* A greeting that comes in two pieces, and what one hears that has not shown its proof. */
static void test_half(void)
{
    static const unsigned char nonce[SEALED_NONCE] = { 1 };
    unsigned char ours[SEALED_GREETING], theirs[SEALED_GREETING + SEALED_PROOF];
    size_t got = 0;
    struct bench b;
    int fd, silent;
    char c;

    set_up(&b, true);
    fd = stranger(&b);
    silent = stranger(&b);
    sealed_greeting(ours, 'o', nonce);
    folder_need(send(fd, ours, 10, 0) == 10 ? 0 : -1, "send");
    for (int i = 0; i < 3; i++) {
        lead(&b);
        rest(&b);
    }
    ok(is_open(fd), "half a greeting is not answered, and sends nobody away");
    folder_need(send(fd, ours + 10, sizeof(ours) - 10, 0) > 0 ? 0 : -1, "send");
    for (int i = 0; i < TURNS_MOST && got < sizeof(theirs); i++) {
        ssize_t n = recv(fd, theirs + got, sizeof(theirs) - got, MSG_DONTWAIT);

        got += (size_t)MAX(n, 0);
        lead(&b);
        rest(&b);
    }
    is_int((long long)got, sizeof(theirs), "a whole greeting is answered");
    is_int(sealed_greeting_check(theirs, 'o'), 0, "the answer is a greeting and a proof");
    ok(!leader_waits(b.leader), "nobody is waited for who has not shown a proof");
    leader_ask(b.leader, NULL);
    leader_close(b.leader);
    b.leader = NULL;
    ok(closes(&b, silent) && recv(silent, &c, 1, MSG_DONTWAIT) == 0,
       "one that has said nothing hears nothing when the leader leaves");
    ok(closes(&b, fd) && recv(fd, &c, 1, MSG_DONTWAIT) == 0,
       "one that has not shown its proof hears nothing when the leader leaves");
    close(fd);
    close(silent);
    tear_down(&b);
}

/* ---- one that follows, message by message ---- */

static bool comes(struct bench *b, struct meeting_wire *w, void *bytes, size_t len)
{
    bool came = false;

    for (int i = 0; i < TURNS_MOST && !came; i++) {
        lead(b);
        if (meeting_wire_read(w) < 0)
            break;
        came = meeting_wire_take(w, bytes, len);
        if (!came)
            rest(b);
    }
    return came;
}

/* Begin to follow: greet, and show the proof. version: of the greeting, 0 for the right one. */
static bool join(struct bench *b, struct meeting_wire *w, unsigned char version)
{
    const struct sealed_secret secret = { b->of_leader.key.bytes, sizeof(b->of_leader.key.bytes),
                                          b->of_leader.place.job };
    static const unsigned char nonce[SEALED_NONCE] = { 1 };
    unsigned char ours[SEALED_GREETING], theirs[SEALED_GREETING + SEALED_PROOF];
    struct sealed_keys keys;
    int fd = stranger(b);

    folder_need(fcntl(fd, F_SETFL, O_NONBLOCK), "fcntl");
    folder_need(meeting_wire_init(w, fd), "wire");
    sealed_greeting(ours, b->of_leader.purpose, nonce);
    ours[8] = version ? version : ours[8];
    meeting_wire_put(w, ours, sizeof(ours));
    folder_need(meeting_wire_send(w), "send");
    if (!comes(b, w, theirs, sizeof(theirs)))
        return false;
    sealed_keys_make(&keys, &secret, ours, theirs);
    meeting_wire_put(w, keys.follower_proof, SEALED_PROOF);
    w->to = keys.to_leader;
    w->from = keys.to_follower;
    return !memcmp(theirs + SEALED_GREETING, keys.leader_proof, SEALED_PROOF);
}

static void tell(struct meeting_wire *w, const struct meeting_message *m)
{
    if (!meeting_wire_say(w, m))
        ok(false, "a message has no room");
}

static void send_all(struct bench *b, struct meeting_wire *w)
{
    meeting_wire_flush(w);
    folder_need(meeting_wire_send(w), "send");
    lead(b);
}

/* How many messages of a kind come of one turn; the last one. */
static int hear_kind(struct bench *b, struct meeting_wire *w, enum meeting_kind kind,
                     struct meeting_message *ret)
{
    struct meeting_message m;
    int n = 0;

    lead(b);
    folder_need(meeting_wire_read(w), "read");
    while (meeting_wire_next(w, &m) > 0)
        if (m.kind == kind) {
            *ret = m;
            n++;
        }
    return n;
}

static void test_told(void)
{
    const struct meeting_message host = { .kind = MEETING_HOST, .text = "two" };
    struct meeting_message lane = { .kind = MEETING_LANE, .rank = 1, .world = 2, .name = "two" };
    const struct meeting_message step = { .kind = MEETING_STEP,
                                          .step = { .begin_ns = 5, .end_ns = 7 } };
    const struct meeting_message lost = { .kind = MEETING_LOST, .number = 3 };
    const struct meeting_message closed = { .kind = MEETING_CLOSED };
    struct meeting_message far = step, m;
    struct meeting_wire w;
    struct bench b;

    set_up(&b, true);
    ok(join(&b, &w, 0), "a follower with the secret is taken, and hears that the leader has it");
    tell(&w, &host);
    tell(&w, &lane);
    tell(&w, &step);
    send_all(&b, &w);
    is_str(b.said, "the brim on two has joined: the ranks of all hosts are one run",
           "the first host that joins is told to the user");
    ok(rings_count(b.rings) == 1 && rings_lane(b.rings, 0)->rank == 1 &&
           rings_lane(b.rings, 0)->count == 1,
       "a rank of the host has a lane with a step");
    lane.rank = 5;
    tell(&w, &lane);
    tell(&w, &lost);
    tell(&w, &closed);
    send_all(&b, &w);
    ok(rings_count(b.rings) == 1 && rings_lane(b.rings, 0)->rank == 5,
       "a rank that is told again is the same lane");
    is_int((long long)rings_lost(b.rings), 3, "marks that were lost there are lost here");
    is_int(b.closed, 1, "a rank that ended is told of");
    leader_ask(b.leader, &(const struct control_request){
                             .number = 9, .at_step = 40, .text = "a=1", .back = "a=0" });
    is_int(hear_kind(&b, &w, MEETING_ASK, &m), 1, "a request is handed on");
    ok(m.number == 9 && m.at_step == 40 && !strcmp(m.text, "a=1") && !strcmp(m.back, "a=0"),
       "a request has its number, its step, its text and its way back");
    leader_ask(b.leader, NULL);
    is_int(hear_kind(&b, &w, MEETING_KEEP, &m), 1, "the leader hands on that a setting is kept");
    ok(leader_waits(b.leader), "the leader waits for the end of a host");
    far.lane = 1;
    tell(&w, &far);
    send_all(&b, &w);
    is_str(b.said, "the brim on two is gone: its ranks are not seen any more",
           "a host that tells of a lane which it did not begin is sent away");
    is_int(b.gone, 0, "a rank that has ended is not gone");
    ok(!leader_waits(b.leader), "the leader waits for nobody any more");
    meeting_wire_done(&w);
    tear_down(&b);
}

/* Where as many rings are known as have room, one more is heard and not kept. */
static void test_no_room(void)
{
    const struct rank_steps about = { .rank = 0 };
    struct meeting_message lane = { .kind = MEETING_LANE }, step = { .kind = MEETING_STEP };
    struct meeting_message ask = { .kind = MEETING_ASK, .text = "a=1" };
    struct meeting_wire w;
    struct bench b;
    size_t ring;
    int rc = 0;

    set_up(&b, true);
    for (int i = 0; i < RINGS_MAX && rc == 0; i++)
        rc = rings_far_add(b.rings, &about, &ring);
    is_int(rc, 0, "as many rings as have room are known");
    ok(join(&b, &w, 0), "a follower is taken though there is no room for its ranks");
    tell(&w, &lane);
    tell(&w, &step);
    send_all(&b, &w);
    ok(leader_waits(b.leader), "a rank that has no room sends nobody away");
    is_int((long long)rings_count(b.rings), RINGS_MAX, "a rank that has no room is not kept");
    tell(&w, &ask);
    send_all(&b, &w);
    ok(!leader_waits(b.leader), "one that asks the leader is sent away");
    is_int(b.gone, 0, "a rank that had no room is not told to be gone");
    meeting_wire_done(&w);
    tear_down(&b);
}

/* The other host's clock is 500 s ahead; what it tells is in our time. */
static void test_clock(void)
{
    struct meeting_message lane = { .kind = MEETING_LANE };
    struct meeting_message step = { .kind = MEETING_STEP }, end = { .kind = MEETING_END }, m;
    struct meeting_wire w;
    struct bench b;
    int pings = 0;

    set_up(&b, true);
    ok(join(&b, &w, 0), "a follower whose clock is ahead is taken");
    send_all(&b, &w);
    for (int i = 0; i < 20; i++) {
        int n = hear_kind(&b, &w, MEETING_PING, &m);
        struct meeting_message pong = { .kind = MEETING_PONG, .t_ns = m.t_ns };

        pings += n;
        pong.at_ns = b.now_ns + 500 * NS_PER_S;
        for (; n > 0; n--)
            tell(&w, &pong);
        send_all(&b, &w);
    }
    ok(pings >= 8 && pings <= 10, "at first each turn asks for the time: %d", pings);
    is_int(hear_kind(&b, &w, MEETING_PING, &m), 0, "the time is not asked for again soon");
    b.now_ns += NS_PER_S / 2 - 1;
    is_int(hear_kind(&b, &w, MEETING_PING, &m), 0,
           "the time is not asked for within half a second");
    b.now_ns++;
    is_int(hear_kind(&b, &w, MEETING_PING, &m), 1, "the time is asked for each half a second");
    step.step.begin_ns = b.now_ns + 400 * NS_PER_S;
    step.step.end_ns = b.now_ns + 499 * NS_PER_S;
    tell(&w, &lane);
    tell(&w, &step);
    send_all(&b, &w);
    is_int((b.now_ns - rings_lane(b.rings, 0)->total.begin_ns) / NS_PER_S, 100,
           "a step begins by our clock");
    is_int((b.now_ns - rings_lane(b.rings, 0)->total.end_ns) / NS_PER_S, 1,
           "a step ends by our clock");
    tell(&w, &end);
    send_all(&b, &w);
    is_int(hear_kind(&b, &w, MEETING_OVER, &m), 1, "one that has told all hears that it is over");
    ok(!leader_waits(b.leader) && leader_far_s(b.leader) == 0, "the leader waits for it no more");
    meeting_wire_done(&w);
    lead(&b);
    is_str(b.said, "", "nobody hears of the going of one that has told all");
    is_int(b.gone, 0, "ranks of a host that has told all are not gone");
    tear_down(&b);
}

/* How long a leader hears nothing before a host is gone; what one hears when the leader leaves. */
static void test_silence(void)
{
    const struct meeting_message host = { .kind = MEETING_HOST, .text = "two" };
    const struct meeting_message lane = { .kind = MEETING_LANE };
    struct meeting_message m;
    struct meeting_wire w, v;
    struct bench b;

    set_up(&b, true);
    ok(join(&b, &w, 0) && join(&b, &v, 0), "two followers are taken");
    tell(&w, &host);
    tell(&w, &lane);
    send_all(&b, &w);
    send_all(&b, &v);
    b.now_ns += 10 * NS_PER_S;
    lead(&b);
    ok(strstr(b.said, "has joined") && !b.gone, "10 s of silence are no end: %s", b.said);
    tell(&v, &host);
    send_all(&b, &v);
    b.now_ns++;
    lead(&b);
    is_str(b.said, "the brim on two is gone: its ranks are not seen any more",
           "more than 10 s of silence are an end");
    is_int(b.gone, 1, "the rank of a host that is gone is gone");
    ok(leader_waits(b.leader), "one that has said something stays");
    leader_close(b.leader);
    b.leader = NULL;
    folder_need(meeting_wire_read(&v) == -EPIPE ? 0 : -1, "read");
    while (meeting_wire_next(&v, &m) > 0 && m.kind != MEETING_OVER)
        ;
    is_int((int)m.kind, MEETING_OVER, "a leader that leaves says that it is over");
    meeting_wire_done(&w);
    meeting_wire_done(&v);
    tear_down(&b);
}

static void test_version(void)
{
    struct meeting_wire w;
    struct bench b;

    set_up(&b, true);
    ok(!join(&b, &w, 99), "one of another version is not taken");
    is_str(b.said, "a brim of another version wants to join this job: use the same on all hosts",
           "another version is told to the user");
    meeting_wire_done(&w);
    b.said[0] = 0;
    ok(!join(&b, &w, 99), "one of another version is not taken again");
    is_str(b.said, "", "another version is told once");
    meeting_wire_done(&w);
    tear_down(&b);
}

/* ---- one that follows, by its clock ---- */

/* Turns of both until the leader's or the follower's user is told something. */
static bool is_said(struct bench *b, struct follower *f, const char *text)
{
    for (int i = 0; i < TURNS_MOST; i++) {
        folder_need(follower_turn(f, b->now_ns), "follower_turn");
        if (b->leader)
            lead(b);
        if (strstr(b->said, text) || strstr(b->follower_said, text))
            return true;
        rest(b);
    }
    return false;
}

/* Turns until a connection that nobody takes is given up: time alone tries again. */
static void turns(struct bench *b, struct follower *f)
{
    for (int i = 0; i < 5; i++) {
        folder_need(follower_turn(f, b->now_ns), "follower_turn");
        if (b->leader)
            lead(b);
        rest(b);
    }
}

static void test_patience(void)
{
    CLEANUP(follower_closep) struct follower *f = NULL;
    struct bench b;

    set_up(&b, false);
    folder_need(follower_open(&f, &b.of_follower, &b.list, b.poll), "follower");
    turns(&b, f);
    b.now_ns += 30 * NS_PER_S - 1;
    turns(&b, f);
    is_str(b.follower_said, "", "nothing is said as long as a leader may still come");
    b.now_ns += NS_PER_S;
    ok(is_said(&b, f, "no brim answers at 127.0.0.1:"), "after 30 s it is said that none answers");
    ok(strstr(b.follower_said, ": this host is observed alone; is the same command running there?"),
       "what may be wrong is said as well");
    b.follower_said[0] = 0;
    b.now_ns += 60 * NS_PER_S;
    turns(&b, f);
    is_str(b.follower_said, "", "the user hears once that none answers");
    folder_need(leader_open(&b.leader, &b.of_leader, NULL, true, b.poll), "leader");
    b.now_ns += 2 * NS_PER_S - 1;
    turns(&b, f);
    is_str(b.said, "", "behind the first 30 s it is tried each 2 s");
    b.now_ns++;
    ok(is_said(&b, f, "the brim on one has come"), "a leader that comes late is told");
    ok(is_said(&b, f, "the brim on two has joined"), "a leader that comes late is joined");
    tear_down(&b);
}

static void test_tries(void)
{
    CLEANUP(follower_closep) struct follower *f = NULL;
    struct bench b;

    set_up(&b, false);
    folder_need(follower_open(&f, &b.of_follower, &b.list, b.poll), "follower");
    turns(&b, f);
    folder_need(leader_open(&b.leader, &b.of_leader, NULL, true, b.poll), "leader");
    b.now_ns += NS_PER_S / 4 - 1;
    turns(&b, f);
    is_str(b.said, "", "within a quarter of a second it is not tried again");
    b.now_ns++;
    ok(is_said(&b, f, "the brim on two has joined"), "a follower tries each quarter of a second");
    is_str(b.follower_said, "", "a leader that comes soon is not told");
    turns(&b, f);
    ok(follower_waits(f) && !follower_heard(f), "one that follows waits");
    for (int i = 0; i < 5; i++) { /* until all is read that the leader has sent */
        rest(&b);
        folder_need(follower_turn(f, b.now_ns), "follower_turn");
    }
    b.now_ns += 10 * NS_PER_S;
    folder_need(follower_turn(f, b.now_ns), "follower_turn");
    is_str(b.follower_said, "", "10 s without the leader are no end");
    b.now_ns++;
    folder_need(follower_turn(f, b.now_ns), "follower_turn");
    is_str(b.follower_said,
           "the brim on one, which leads, is gone: this host is observed alone from here",
           "more than 10 s without the leader are an end");
    ok(follower_deserted(f) && !follower_waits(f), "one whose leader is gone is deserted");
    tear_down(&b);
}

int main(void)
{
    test_strangers();
    test_half();
    test_told();
    test_no_room();
    test_clock();
    test_silence();
    test_version();
    test_patience();
    test_tries();
    return done();
}
