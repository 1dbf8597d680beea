/* Observers that meet, with every allocation failing once. */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>

#include "folder.h"
#include "oom.h"
#include "run/meet/follower.h"
#include "run/meet/leader.h"
#include "run/meet/meeting.h"
#include "tap.h"

/* A test ends this way when what it waits for does not come. */
enum { TURNS_MOST = 12000, TURN_MS = 5 };

static char said[512];

static void say(void *arg, const char *sentence)
{
    (void)arg;
    snprintf(said, sizeof(said), "%s", sentence);
}

static struct meeting_config config(struct rings *rings)
{
    struct meeting_config c = {
        .clock = &clock_system, .host = "one", .purpose = 'o', .rings = rings, .say = say
    };

    snprintf(c.place.host, sizeof(c.place.host), "127.0.0.1");
    c.place.port = 26000 + (int)getpid() % 3000;
    return c;
}

static struct rings *open_rings(const char *folder)
{
    struct rings *s = NULL;

    folder_need(rings_open(&s, folder, NULL), folder);
    return s;
}

/* A leader and a follower until the leader knows of the follower's rank. */
static int join(const struct meeting_config *one, const struct meeting_config *two)
{
    CLEANUP(leader_closep) struct leader *l = NULL;
    CLEANUP(follower_closep) struct follower *f = NULL;
    CLEANUP(closep) int poll_fd = epoll_create1(EPOLL_CLOEXEC);
    struct sockaddr_in at = { .sin_family = AF_INET,
                              .sin_port = htons((uint16_t)one->place.port),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct addrinfo list = { .ai_addr = (struct sockaddr *)&at, .ai_addrlen = sizeof(at) };
    int rc = leader_open(&l, one, &list, false, poll_fd);

    if (rc == 0)
        rc = follower_open(&f, two, &list, poll_fd);
    for (int i = 0; i < TURNS_MOST && rc == 0 && !rings_count(one->rings); i++) {
        struct pollfd p = { .fd = poll_fd, .events = POLLIN };

        rc = leader_turn(l, clock_monotonic_ns(one->clock));
        if (rc == 0)
            rc = follower_turn(f, clock_monotonic_ns(two->clock));
        (void)poll(&p, 1, TURN_MS);
    }
    return rc;
}

static void test_join(const char *root)
{
    const struct rank_steps about = { .rank = 1 };
    bool failed = true;

    for (oom_restart(); failed;) {
        struct rings *ours = open_rings(root), *theirs = open_rings(root);
        struct meeting_config one = config(ours), two = config(theirs);
        size_t ring;
        int rc;

        folder_need(rings_far_add(theirs, &about, &ring), "ring");
        oom_next();
        rc = join(&one, &two);
        failed = oom_end();
        ok(failed ? rc == -ENOMEM || rings_count(ours) == 1 : rc == 0 && rings_count(ours) == 1,
           "a leader and a follower with allocation %d failing return %d", oom_at, rc);
        rings_close(ours);
        rings_close(theirs);
    }
    ok(oom_at > 8, "both ends of a wire, a rank and its lane need memory: %d", oom_at);
}

static int meet(const struct meeting_config *c, enum meeting_state *state)
{
    CLEANUP(meeting_closep) struct meeting *m = NULL;
    int rc = meeting_open(&m, c, NULL);

    if (rc == 0)
        rc = meeting_turn(m);
    if (rc == 0)
        *state = meeting_state(m);
    return rc;
}

static void test_meeting(const char *root)
{
    static const enum meeting_state want[] = {
        [MEETING_LEADS] = MEETING_LEADING, [MEETING_FOLLOWS] = MEETING_FOLLOWING
    };

    for (enum meeting_role role = MEETING_LEADS; role <= MEETING_FOLLOWS; role++) {
        bool failed = true;

        for (oom_restart(); failed;) {
            struct rings *rings = open_rings(root);
            struct meeting_config c = config(rings);
            enum meeting_state state = MEETING_SEEKS;
            int rc;

            c.place.role = role;
            oom_next();
            rc = meet(&c, &state);
            failed = oom_end();
            ok(failed ? rc == -ENOMEM : rc == 0 && state == want[role],
               "a meeting with allocation %d failing returns %d", oom_at, rc);
            is_str(said, "", "a meeting without memory is told by its result");
            rings_close(rings);
        }
    }
}

/* An event of a ring for which there is no memory. */
static void test_event(const char *root)
{
    const struct rank_steps about = { .rank = 1 };
    struct rings *rings = open_rings(root);
    struct meeting_config c = config(rings);
    struct meeting *m = NULL;
    size_t ring;

    c.place.role = MEETING_FOLLOWS;
    folder_need(rings_far_add(rings, &about, &ring), "ring");
    folder_need(meeting_open(&m, &c, NULL), "meeting");
    folder_need(meeting_turn(m), "meeting_turn");
    meeting_event(m, &(const struct ring_event){ .kind = RING_NOTE, .ring = ring });
    ok(!said[0] && meeting_state(m) == MEETING_FOLLOWING, "an event is taken");
    meeting_close(m);
    m = NULL;
    folder_need(meeting_open(&m, &c, NULL), "meeting");
    folder_need(meeting_turn(m), "meeting_turn");
    oom_restart();
    oom_next();
    meeting_event(m, &(const struct ring_event){ .kind = RING_NOTE, .ring = ring });
    ok(oom_end(), "an event of another ring needs memory");
    ok(strstr(said, "out of memory: ranks of this host are not told any more"),
       "the user is told of an event that is not: %s", said);
    is_int(meeting_state(m), MEETING_OFF, "without memory nobody is met any more");
    meeting_close(m);
    rings_close(rings);
}

int main(void)
{
    char root[PATH_MAX];

    folder_make(root);
    test_join(root);
    said[0] = 0;
    test_meeting(root);
    test_event(root);
    folder_remove(root);
    return done();
}
