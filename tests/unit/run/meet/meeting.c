/* Observers that meet over a loopback address, all in this process: what one tells of its ranks,
 * what it is asked for, and what each makes of the other's end. */
#include "run/meet/meeting.h"

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>

#include "brim/control.h"
#include "brim/step.h"
#include "folder.h"
#include "run/meet/sealed_frame.h"
#include "tap.h"

/* A test ends this way when what it waits for does not come. */
enum { TURNS_MOST = 12000, TURN_MS = 5 };

struct end {
    char root[PATH_MAX];
    struct rings *rings;
    struct control *control;
    struct meeting *meeting;
    struct brim_step *rank;
    char said[512];
    unsigned steps, gone, closed, answers, outcome;
    uint64_t request, newest;
    size_t ring;
    bool allows;
};

static void say(void *arg, const char *sentence)
{
    struct end *x = arg;

    snprintf(x->said, sizeof(x->said), "%s", sentence);
}

static bool may(void *arg, const char *text)
{
    const struct end *x = arg;

    (void)text;
    return x->allows;
}

static void hear(void *arg, const struct ring_event *e)
{
    struct end *x = arg;

    x->steps += e->kind == RING_STEP;
    x->gone += e->kind == RING_GONE;
    x->closed += e->kind == RING_CLOSED;
    if (e->kind == RING_STEP) {
        x->newest = e->step->number;
        x->ring = e->ring;
    }
    if (e->kind == RING_SWITCH) {
        x->answers++;
        x->outcome = e->outcome;
        x->request = e->request;
    }
    if (x->meeting)
        meeting_event(x->meeting, e);
}

static int port(void)
{
    return 20000 + (int)getpid() % 3000;
}

static struct meeting_config config(struct end *x, enum meeting_role role, const char *token,
                                    const char *host)
{
    struct meeting_config c = { .clock = &clock_system,
                                .host = role == MEETING_LEADS ? "one" : "two",
                                .purpose = 'o',
                                .rings = x->rings,
                                .control = x->control,
                                .may = may,
                                .may_arg = x,
                                .say = say,
                                .arg = x };

    c.place = (struct meeting_place){ .several = true, .host = "127.0.0.1", .role = role };
    c.place.port = port();
    if (host)
        snprintf(c.place.host, sizeof(c.place.host), "%s", host);
    if (host && role == MEETING_LEADS)
        c.host = host; /* its own name */
    folder_need(meeting_key_read(&c.key, token, NULL, NULL), token);
    return c;
}

static void begin_at(struct end *x, enum meeting_role role, const char *token, int rank,
                     const char *host)
{
    struct meeting_config c;

    *x = (struct end){ .allows = true };
    folder_make(x->root);
    folder_need(rings_open(&x->rings, x->root, NULL), x->root);
    folder_need(control_make(&x->control, x->root, NULL), x->root);
    c = config(x, role, token, host);
    folder_need(meeting_open(&x->meeting, &c, NULL), x->root);
    rings_follow(x->rings, hear, x);
    x->rank = brim_step_open_at(x->root, "test 1", rank, rank, 2);
}

static void begin(struct end *x, enum meeting_role role, const char *token, int rank)
{
    begin_at(x, role, token, rank, NULL);
}

static void leave(struct end *x)
{
    if (x->meeting)
        meeting_close(x->meeting);
    x->meeting = NULL;
}

static void finish(struct end *x)
{
    leave(x);
    brim_step_close(x->rank);
    rings_close(x->rings);
    control_close(x->control);
    folder_remove(x->root);
}

static void turn(struct end *x)
{
    folder_need(rings_read(x->rings, NULL), "rings_read");
    if (x->meeting)
        folder_need(meeting_turn(x->meeting), "meeting_turn");
}

/* Turn both until that has come about. */
#define until(cond, a, b) \
    ({ \
        int turns_ = 0; \
        while (!(cond) && turns_++ < TURNS_MOST) { \
            turn(a); \
            turn(b); \
            (void)poll(NULL, 0, TURN_MS); \
        } \
        !!(cond); \
    })

static void make_steps(struct end *x, int n)
{
    for (int i = 0; i < n; i++) {
        brim_step_begin(x->rank);
        brim_stage_begin(x->rank, BRIM_STAGE_FORWARD);
        brim_stage_end(x->rank, BRIM_STAGE_FORWARD);
        brim_step_samples(x->rank, 4);
        brim_step_end(x->rank);
    }
}

static uint64_t number_in(const struct end *x, char text[BRIM_CONTROL_TEXT], uint64_t *at_step)
{
    char path[PATH_MAX + 16];
    struct brim_control c;
    FILE *f;

    snprintf(path, sizeof(path), "%s/" BRIM_CONTROL_NAME, x->root);
    f = fopen(path, "r");
    folder_need(f && fread(&c, sizeof(c), 1, f) == 1 ? 0 : -1, path);
    fclose(f);
    snprintf(text, BRIM_CONTROL_TEXT, "%.1023s", c.text);
    *at_step = c.at_step;
    return c.number;
}

static const char token[] = "the same for both of them";

static void test_steps(struct end *one, struct end *two)
{
    const struct rank_steps *l;
    int64_t now_ns;

    brim_step_note(two->rank, "loader.workers=3");
    make_steps(two, 100);
    ok(until(one->steps == 100, one, two), "steps of the follower come to the leader");
    l = rings_lane(one->rings, one->ring);
    ok(l->rank == 1 && l->world == 2 && l->pid == getpid() && !strcmp(l->framework, "test 1"),
       "the leader has the follower's rank as a lane");
    is_int((long long)l->count, 100, "the lane has as many steps as were made");
    ok(l->n_notes == 1 && !strcmp(l->notes[0].name, "loader.workers") &&
           !strcmp(l->notes[0].value, "3"),
       "the lane has what the rank noted");
    is_int((long long)l->total.samples, 400, "the lane has the samples of all steps");
    now_ns = clock_monotonic_ns(&clock_system);
    ok(l->total.begin_ns > now_ns - 600 * NS_PER_S && l->total.end_ns <= now_ns + NS_PER_S,
       "steps have times of the leader's clock");
    is_str(one->said, "the brim on two has joined: the ranks of all hosts are one run",
           "the user is told that a host has joined");
    ok(meeting_far_s(one->meeting) > 0, "the leader knows how far that is");
    ok(meeting_far_s(two->meeting) == 0, "a follower does not know how far that is");
}

static void test_requests(struct end *one, struct end *two)
{
    const struct control_request r = { .at_step = 120,
                                       .text = "loader.workers=5",
                                       .back = "loader.workers=3" };
    char text[BRIM_CONTROL_TEXT];
    uint64_t number = 0, at_step;

    folder_need(control_ask(one->control, "a=1", 0, &number), "control_ask");
    folder_need(control_try(one->control, &r, &number), "control_try");
    ok(until(number_in(two, text, &at_step) == 2, one, two), "a request comes to the follower");
    ok(!strcmp(text, "loader.workers=5") && at_step == 120,
       "the request has its text and its step there");
    ok(number_in(one, text, &at_step) == 2 && at_step == 120,
       "the leader's own ranks have the same request");
    make_steps(two, 1);
    brim_step_mark(two->rank, BRIM_RING_SWITCH | BRIM_SWITCH_DONE << 16, 2);
    make_steps(two, 1);
    ok(until(one->steps == 102, one, two) && one->answers == 1 && one->request == 2 &&
           one->outcome == BRIM_SWITCH_DONE,
       "the follower's rank answers");
    two->allows = false;
    folder_need(control_ask(one->control, "amp=bf16", 0, &number), "control_ask");
    make_steps(two, 1);
    ok(until(one->steps == 103, one, two), "steps go on");
    is_int((long long)number_in(two, text, &at_step), 2,
           "what the follower's user does not allow is not asked for");
    two->allows = true;
}

static void test_cut_off(struct end *one, struct end *two)
{
    const struct control_request r = { .text = "loader.workers=9", .back = "loader.workers=5" };
    char text[BRIM_CONTROL_TEXT];
    uint64_t number = 0, at_step;

    folder_need(control_try(one->control, &r, &number), "control_try");
    ok(until(number_in(two, text, &at_step) == number, one, two), "a setting is on trial");
    leave(one);
    ok(until(number_in(two, text, &at_step) == number + 1, one, two) &&
           !strcmp(text, "loader.workers=5"),
       "a follower that is cut off takes back what is on trial");
    ok(meeting_heard(two->meeting), "a leader that ends in order has heard the follower");
}

static void test_kept(void)
{
    const struct control_request r = { .text = "loader.workers=9", .back = "loader.workers=5" };
    char text[BRIM_CONTROL_TEXT];
    uint64_t number = 0, at_step;
    struct end one, two;

    begin(&one, MEETING_LEADS, token, 0);
    begin(&two, MEETING_ASKS, token, 1);
    make_steps(&two, 1);
    ok(until(one.steps == 1, &one, &two), "one that does not know who leads finds the leader");
    folder_need(control_try(one.control, &r, &number), "control_try");
    control_keep(one.control);
    ok(until(number_in(&two, text, &at_step) == number, &one, &two), "a setting is on trial again");
    make_steps(&two, 1);
    (void)until(one.steps == 2, &one, &two);
    leave(&one);
    ok(until(meeting_heard(two.meeting), &one, &two), "the leader ends");
    is_int((long long)number_in(&two, text, &at_step), (long long)number,
           "a setting that was kept stays where a follower is cut off");
    finish(&one);
    finish(&two);
}

static void test_follower_gone(void)
{
    struct end one, two;

    begin(&one, MEETING_LEADS, token, 0);
    begin(&two, MEETING_FOLLOWS, token, 1);
    make_steps(&two, 3);
    ok(until(one.steps == 3, &one, &two), "a follower is heard");
    leave(&two);
    ok(until(one.gone == 1, &one, &two), "a rank whose host is gone is told of");
    is_str(one.said, "the brim on two is gone: its ranks are not seen any more",
           "the user is told of the host that is gone");
    finish(&one);
    finish(&two);
}

static void *end_meeting(void *arg)
{
    const struct end *x = arg;

    folder_need(meeting_end(x->meeting), "meeting_end");
    return NULL;
}

static void test_end(void)
{
    struct end one, two;
    pthread_t thread;

    begin(&one, MEETING_LEADS, token, 0);
    begin(&two, MEETING_FOLLOWS, token, 1);
    make_steps(&two, 3);
    ok(until(one.steps == 3, &one, &two), "the follower is heard before the end");
    make_steps(&two, 12000); /* more than is told in one turn */
    brim_step_close(two.rank);
    two.rank = NULL;
    folder_need(rings_read(two.rings, NULL), two.root);
    folder_need(-pthread_create(&thread, NULL, end_meeting, &two), "pthread_create");
    for (int i = 0; i < TURNS_MOST && one.newest < 12002; i++) {
        turn(&one);
        (void)poll(NULL, 0, 1);
    }
    for (int i = 0; i < TURNS_MOST && !one.closed; i++)
        turn(&one);
    pthread_join(thread, NULL);
    ok(meeting_heard(two.meeting) && !meeting_deserted(two.meeting),
       "one that has told its end is heard");
    ok(!meeting_heard(one.meeting) && !meeting_deserted(one.meeting),
       "one that leads is heard by nobody");
    is_int((long long)one.newest, 12002, "the last step is told before the end");
    is_int(one.closed, 1, "a rank that ended in order is told of");
    is_int(one.gone, 0, "a host that ended in order is not gone");
    ok(strstr(one.said, "has joined"), "an end in order is not told to the user: %s", one.said);
    finish(&one);
    finish(&two);
}

static void test_token(void)
{
    struct end one, two;

    begin(&one, MEETING_LEADS, token, 0);
    begin(&two, MEETING_FOLLOWS, "another of the same length", 1);
    make_steps(&two, 3);
    ok(until(two.said[0], &one, &two), "a follower with another token is told");
    is_str(two.said,
           "the brim at 127.0.0.1 has another token, or is of another job: this host is observed "
           "alone",
           "the sentence says what differs");
    is_int(one.steps, 0, "nothing of it comes to the leader");
    finish(&one);
    finish(&two);
}

static void test_purpose(void)
{
    struct meeting_config c;
    struct end one, two;

    begin(&one, MEETING_LEADS, token, 0);
    begin(&two, MEETING_FOLLOWS, token, 1);
    leave(&two);
    c = config(&two, MEETING_FOLLOWS, token, NULL);
    c.purpose = 'r';
    folder_need(meeting_open(&two.meeting, &c, NULL), two.root);
    ok(until(two.said[0] && one.said[0], &one, &two), "both users are told of another command");
    ok(strstr(two.said, "was started by another command"), "the follower's user learns why: %s",
       two.said);
    ok(strstr(one.said, "a brim of another command"), "the leader's user learns why: %s", one.said);
    finish(&one);
    finish(&two);
}

/* One that greets as brim does and does not know the secret, or says something else. */
static int call(const void *first, size_t len)
{
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct pollfd p = { .fd = fd, .events = POLLOUT };

    to.sin_port = htons((uint16_t)port());
    (void)connect(fd, (struct sockaddr *)&to, sizeof(to));
    (void)poll(&p, 1, -1);
    folder_need(send(fd, first, len, MSG_NOSIGNAL) == (ssize_t)len ? 0 : -1, "send");
    return fd;
}

static bool is_closed(int fd)
{
    char byte[256];
    ssize_t n;

    do
        n = recv(fd, byte, sizeof(byte), 0);
    while (n > 0);
    return n == 0 || errno == ECONNRESET;
}

static void test_strangers(void)
{
    static const char http[] = "GET / HTTP/1.1\r\nHost: somebody's\r\nAccept: all of it\r\n";
    static const unsigned char nonce[SEALED_NONCE], proof[SEALED_PROOF];
    unsigned char greeting[SEALED_GREETING];
    struct end one, two;
    int fd;

    begin(&one, MEETING_LEADS, token, 0);
    turn(&one);
    fd = call(http, sizeof(http) - 1);
    ok(until(is_closed(fd), &one, &one), "a client of another protocol is sent away");
    is_str(one.said, "", "a client of another protocol is not told to the user");
    close(fd);
    sealed_greeting(greeting, 'o', nonce);
    fd = call(greeting, sizeof(greeting));
    folder_need(send(fd, proof, sizeof(proof), MSG_NOSIGNAL) > 0 ? 0 : -1, "send");
    ok(until(is_closed(fd), &one, &one), "one that has no proof is sent away");
    ok(strstr(one.said, "was refused"), "one that has no proof is told to the user: %s", one.said);
    close(fd);
    begin(&two, MEETING_FOLLOWS, token, 1);
    make_steps(&two, 3);
    ok(until(one.steps == 3, &one, &two), "a follower is heard after strangers were sent away");
    finish(&one);
    finish(&two);
}

/* Debian gives a host's own name a loopback address, which others cannot reach. */
static void test_own_name(void)
{
    struct end one, two;

    begin_at(&one, MEETING_LEADS, token, 0, "localhost");
    begin_at(&two, MEETING_FOLLOWS, token, 1, "127.0.0.2");
    make_steps(&two, 3);
    ok(until(one.steps == 3, &one, &two),
       "a host that knows its own name by a loopback address is reached by others");
    finish(&one);
    finish(&two);
}

/* Until it is known who leads, or that nobody is met. */
static enum meeting_state decided(struct meeting *m)
{
    for (int i = 0; i < TURNS_MOST && meeting_state(m) == MEETING_SEEKS; i++) {
        folder_need(meeting_turn(m), "meeting_turn");
        (void)poll(NULL, 0, TURN_MS);
    }
    return meeting_state(m);
}

/* Places where nobody can be met; the last one has a name that no host may have. */
static void test_off(void)
{
    static const struct {
        const char *host;
        bool taken; /* by another one that leads */
        const char *said;
    } cases[] = {
        { "192.0.2.1", false,
          "that is not this host, where rank 0 is: --meet names the host of rank 0" },
        { "127.0.0.1", true, "Address already in use" },
        { "a1234567890123456789012345678901234567890123456789012345678901234567890", false,
          "a12345678901234567890" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct end one, two;
        char want[256];

        begin(&one, MEETING_LEADS, token, 0);
        if (cases[i].taken)
            is_int(decided(one.meeting), MEETING_LEADING, "the first one leads");
        begin_at(&two, MEETING_LEADS, token, 1, cases[i].host);
        is_int(decided(two.meeting), MEETING_OFF, "nobody is met at place %zu", i);
        snprintf(want, sizeof(want), "other hosts are not met at %s:%d: %s", cases[i].host, port(),
                 cases[i].said);
        ok(!strncmp(two.said, want, strlen(want)), "the user is told of place %zu: %s", i,
           two.said);
        ok(!meeting_heard(two.meeting) && !meeting_deserted(two.meeting) &&
               meeting_far_s(two.meeting) == 0,
           "where nobody is met nobody hears (%zu)", i);
        folder_need(meeting_end(two.meeting), "meeting_end");
        finish(&two);
        finish(&one);
    }
}

int main(void)
{
    struct end one, two;

    test_strangers();
    test_purpose();
    test_own_name();
    test_off();

    begin(&one, MEETING_LEADS, token, 0);
    begin(&two, MEETING_FOLLOWS, token, 1);
    test_steps(&one, &two);
    test_requests(&one, &two);
    test_cut_off(&one, &two);
    finish(&one);
    finish(&two);
    test_kept();
    test_follower_gone();
    test_end();
    test_token();
    return done();
}
