/* Who of a job's observers leads, who may ask it for something, and what pilots hear of that. */
#include <poll.h>

#include "folder.h"
#include "run/watch/observe_private.h"
#include "tap.h"

/* A test ends this way when what it waits for does not come. */
enum { TURNS_MOST = 12000, TURN_MS = 5 };

#define STEERED "the ranks of this host are steered by the brim beside rank 0"
#define APART \
    "ranks of this job are under other observers, which can not be asked from here: start all of " \
    "them below one brim optimize, or set BRIM_TOKEN to the same secret for all of them"

struct bench {
    char root[PATH_MAX], said[512];
    struct observe_config c;
    struct observe_pilot pilot;
    struct observed out;
    struct observer o;
    struct meeting_place place;
    struct meeting_key key;
    unsigned starts, events;
    const char *elsewhere;
};

static void say(void *arg, const char *sentence)
{
    struct bench *b = arg;

    snprintf(b->said, sizeof(b->said), "%s", sentence);
}

static void start(void *arg, struct control *control, const char *elsewhere)
{
    struct bench *b = arg;

    b->starts++;
    b->elsewhere = elsewhere;
    if (control != b->o.control)
        ok(false, "a pilot gets the control of its observer");
}

static void event(void *arg, const struct ring_event *e)
{
    ((struct bench *)arg)->events += e->kind == RING_NOTE;
}

static void set_up(struct bench *b, enum meeting_role role, int rank)
{
    *b = (struct bench){ .pilot = { .arg = b, .start = start, .event = event } };
    folder_make(b->root);
    b->place = (struct meeting_place){
        .several = true, .host = "127.0.0.1", .port = 20000 + (int)getpid() % 3000, .role = role
    };
    b->c = (struct observe_config){ .clock = &clock_system,
                                    .place = &b->place,
                                    .key = &b->key,
                                    .pilot = &b->pilot,
                                    .say = say,
                                    .arg = b };
    b->out.run.host = rank ? "two" : "one";
    b->o = (struct observer){ .c = &b->c, .out = &b->out };
    b->o.identity = (struct identity){ .rank = rank, .world = 2, .key = "a" };
    folder_need(rings_open(&b->o.rings, b->root, NULL), b->root);
    rings_follow(b->o.rings, observer_take_event, &b->o);
}

static void tear_down(struct bench *b)
{
    if (b->o.meeting)
        meeting_close(b->o.meeting);
    rings_close(b->o.rings);
    folder_remove(b->root);
}

static void look(struct bench *b)
{
    folder_need(observer_look_at_meeting(&b->o), "observer_look_at_meeting");
}

static void test_alone(void)
{
    static const struct {
        const char *key;
        int rank, world;
        bool leads;
        const char *why; /* it may not ask the job */
    } cases[] = {
        { "", -1, -1, true, NULL },  { "", 3, 4, true, NULL },    { "a", 0, 4, true, APART },
        { "a", 3, 4, false, APART }, { "a", -1, 4, true, APART }, { "a", 1, 2, false, APART },
        { "a", 0, 1, true, NULL },
    };
    struct bench b;

    set_up(&b, MEETING_LEADS, 0);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        b.o.identity = (struct identity){ .rank = cases[i].rank, .world = cases[i].world };
        snprintf(b.o.identity.key, sizeof(b.o.identity.key), "%s", cases[i].key);
        is_int(observer_leads(&b.o), cases[i].leads, "observer %zu %s", i,
               cases[i].leads ? "leads" : "does not lead");
        is_str(observer_why_elsewhere(&b.o, MEETING_OFF), cases[i].why,
               "observer %zu knows whether it may ask the job", i);
        is_str(observer_why_elsewhere(&b.o, MEETING_SEEKS), cases[i].why,
               "observer %zu that meets nobody seeks nobody", i);
        is_str(observer_why_elsewhere(&b.o, MEETING_LEADING), NULL, "a leader (%zu) may ask", i);
        is_str(observer_why_elsewhere(&b.o, MEETING_FOLLOWING), STEERED,
               "one that follows (%zu) may not ask", i);
    }
    b.o.met = MEETING_OFF;
    look(&b);
    is_int(b.starts, 0, "one that meets nobody starts its pilot once");
    ok(b.o.met == MEETING_OFF, "one that meets nobody does not begin to");
    observer_take_event(&b.o, &(const struct ring_event){ .kind = RING_NOTE });
    is_int(b.events, 1, "a pilot hears of an event");
    b.c.pilot = NULL;
    observer_take_event(&b.o, &(const struct ring_event){ .kind = RING_NOTE });
    is_int(b.events, 1, "an event without a pilot is heard by nobody");
    b.c.place = NULL;
    observer_meet(&b.o);
    ok(!b.o.meeting, "without a place nobody is met");
    b.c.place = &b.place;
    b.c.key = NULL;
    observer_meet(&b.o);
    ok(!b.o.meeting, "without a key nobody is met");
    tear_down(&b);
}

static void test_off(void)
{
    struct bench b;

    set_up(&b, MEETING_LEADS, 3);
    snprintf(b.place.host, sizeof(b.place.host), "192.0.2.1");
    b.o.met = MEETING_SEEKS;
    observer_meet(&b.o);
    ok(strstr(b.said, "other hosts are not met at 192.0.2.1:"), "a place of another is told: %s",
       b.said);
    look(&b);
    ok(b.starts == 1 && b.o.met == MEETING_OFF, "a pilot hears that nobody is met");
    is_str(b.elsewhere, APART, "a pilot hears why it may not ask");
    look(&b);
    is_int(b.starts, 1, "a pilot hears once that nobody is met");
    ok(!observer_leads(&b.o), "where nobody is met rank 3 does not lead");
    tear_down(&b);
}

/* Turns of both until the leader has a rank of the other one. */
static void meet(struct bench *one, struct bench *two)
{
    for (int i = 0; i < TURNS_MOST && !rings_count(one->o.rings) && !two->said[0]; i++) {
        look(one);
        look(two);
        (void)poll(NULL, 0, TURN_MS);
    }
}

static void test_both(void)
{
    const struct rank_steps about = { .rank = 1 };
    struct bench one, two;
    size_t ring;

    set_up(&one, MEETING_LEADS, 0);
    set_up(&two, MEETING_ASKS, 1);
    one.o.met = two.o.met = MEETING_SEEKS;
    one.o.identity.rank = 2;
    folder_need(rings_far_add(two.o.rings, &about, &ring), "ring");
    observer_meet(&one.o);
    observer_meet(&two.o);
    meet(&one, &two);
    is_int((long long)rings_count(one.o.rings), 1, "a leader has the rank of another host");
    is_str(one.said, "the brim on two has joined: the ranks of all hosts are one run",
           "a leader's user is told of the other host");
    ok(observer_leads(&one.o), "one that leads tells the user, whatever its rank");
    ok(!observer_leads(&two.o), "one that follows does not tell the user");
    two.o.identity.rank = 0;
    ok(observer_leads(&two.o), "the observer of rank 0 tells the user as long as nobody heard it");
    ok(one.starts == 1 && !one.elsewhere, "the pilot of a leader hears that it may ask");
    ok(two.starts == 1 && two.elsewhere && !strcmp(two.elsewhere, STEERED),
       "the pilot of one that follows hears that it may not");
    rings_far_closed(two.o.rings, ring);
    folder_need(meeting_end(two.o.meeting), "meeting_end");
    ok(!observer_leads(&two.o), "one that was heard does not tell the user, whatever its rank");
    tear_down(&two);
    tear_down(&one);
}

/* A pilot on one host alone is another command. */
static void test_purpose(void)
{
    struct bench one, two;

    set_up(&one, MEETING_LEADS, 0);
    set_up(&two, MEETING_FOLLOWS, 1);
    two.c.pilot = NULL;
    observer_meet(&one.o);
    observer_meet(&two.o);
    meet(&one, &two);
    is_str(two.said,
           "the brim at 127.0.0.1 was started by another command: this host is observed alone",
           "a pilot and none are of two commands");
    tear_down(&two);
    tear_down(&one);
}

static void test_key(void)
{
    const struct rank_steps about = { .rank = 1 };
    struct bench one, two;
    size_t ring;

    set_up(&one, MEETING_LEADS, 0);
    set_up(&two, MEETING_FOLLOWS, 1);
    folder_need(rings_far_add(two.o.rings, &about, &ring), "ring");
    two.key.bytes[0] = 1;
    observer_meet(&one.o);
    observer_meet(&two.o);
    meet(&one, &two);
    is_str(two.said,
           "the brim at 127.0.0.1 has another token, or is of another job: this host is observed "
           "alone",
           "observers with two secrets do not meet");
    tear_down(&two);
    tear_down(&one);
}

int main(void)
{
    test_alone();
    test_off();
    test_both();
    test_purpose();
    test_key();
    return done();
}
