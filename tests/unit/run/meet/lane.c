/* What a leader is told of one ring, and what a wire makes of it: in which order, what is not told
 * twice, and what waits for room. */
#include "run/meet/follower_lane.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "folder.h"
#include "tap.h"

/* Two ends of a wire, which have the same keys, and a lane. */
struct bench {
    struct meeting_wire here, there;
    struct rank_steps steps;
    struct follower_lane *lane;
};

static void set_up(struct bench *b)
{
    int ends[2];

    folder_need(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), "wire");
    folder_need(meeting_wire_init(&b->here, ends[0]), "wire");
    folder_need(meeting_wire_init(&b->there, ends[1]), "wire");
    rank_steps_init(&b->steps);
    b->steps.rank = 3;
    b->steps.local_rank = 1;
    b->steps.world = 8;
    b->steps.pid = 4711;
    snprintf(b->steps.host, sizeof(b->steps.host), "node2");
    snprintf(b->steps.framework, sizeof(b->steps.framework), "torch");
    b->lane = follower_lane_new(7);
    folder_need(b->lane ? 0 : -ENOMEM, "lane");
}

static void tear_down(struct bench *b)
{
    meeting_wire_done(&b->here);
    meeting_wire_done(&b->there);
    rank_steps_done(&b->steps);
    free(b->lane);
}

static void make_steps(struct bench *b, uint64_t n)
{
    int rc = 0;

    for (uint64_t i = 0; i < n && rc == 0; i++) {
        const struct step s = { .number = b->steps.count, .begin_ns = 1, .end_ns = 2 };

        rc = rank_steps_step(&b->steps, &s);
    }
    folder_need(rc, "steps");
}

static void tell_event(struct bench *b, enum ring_event_kind kind, uint64_t request)
{
    follower_lane_event(b->lane, &b->steps,
                        &(const struct ring_event){
                            .kind = kind, .request = request, .outcome = BRIM_SWITCH_REFUSED });
}

static bool tell(struct bench *b, double *budget)
{
    return follower_lane_tell(b->lane, &b->steps, &b->here, budget);
}

/* What comes at the other end, in letters: A lane with its rank, N a note, L what was lost, S a
 * step and W an answer with their numbers, C its end. */
static const char *heard(struct bench *b)
{
    static char text[4096];
    struct meeting_message m;
    size_t len = 0;
    int rc;

    meeting_wire_flush(&b->here);
    is_int(meeting_wire_send(&b->here), 0, "what is told is sent");
    text[0] = 0;
    do {
        folder_need(meeting_wire_read(&b->there), "read");
        while ((rc = meeting_wire_next(&b->there, &m)) > 0 && len < sizeof(text) - 64) {
            if (m.lane != 7)
                ok(false, "a message is of another lane: %u", m.lane);
            if (m.kind == MEETING_LANE)
                len += (size_t)snprintf(text + len, 64, "A%d/%d/%d/%d %.9s %.9s ", m.rank,
                                        m.local_rank, m.world, m.pid, m.name, m.text);
            else if (m.kind == MEETING_NOTE)
                len += (size_t)snprintf(text + len, 64, "N%.20s=%.20s ", m.name, m.text);
            else if (m.kind == MEETING_STEP)
                len += (size_t)snprintf(text + len, 64, "S%d ", (int)m.step.number);
            else
                len += (size_t)snprintf(text + len, 64, "%c%d ",
                                        m.kind == MEETING_LOST     ? 'L'
                                        : m.kind == MEETING_SWITCH ? 'W'
                                        : m.kind == MEETING_CLOSED ? 'C'
                                                                   : '?',
                                        (int)m.number);
        }
    } while (b->there.n_in > b->there.taken && rc > 0);
    is_int(rc, 0, "what is heard are messages");
    if (len)
        text[len - 1] = 0;
    return text;
}

static void test_order(void)
{
    struct bench b;

    set_up(&b);
    ok(tell(&b, NULL), "a ring without steps is told");
    is_str(heard(&b), "A3/1/8/4711 node2 torch",
           "the first that is told are its numbers and names");
    ok(tell(&b, NULL), "a ring without news is told");
    is_str(heard(&b), "", "of a ring without news nothing is told");
    folder_need(rank_steps_note(&b.steps, "a", "1"), "note");
    folder_need(rank_steps_note(&b.steps, "b", "2"), "note");
    tell_event(&b, RING_NOTE, 0);
    ok(tell(&b, NULL), "a ring with notes is told");
    is_str(heard(&b), "Na=1 Nb=2", "both notes are told");
    folder_need(rank_steps_note(&b.steps, "b", "3"), "note");
    ok(tell(&b, NULL), "a ring is told whose note has changed, of which nobody told");
    is_str(heard(&b), "", "a note is looked at when there is an event of it");
    tell_event(&b, RING_NOTE, 0);
    ok(tell(&b, NULL), "a ring with a new note is told");
    is_str(heard(&b), "Nb=3", "the note that has changed is told");
    make_steps(&b, 2);
    tell_event(&b, RING_SWITCH, 5);
    make_steps(&b, 1);
    tell_event(&b, RING_LOST, 0);
    tell_event(&b, RING_LOST, 0);
    tell_event(&b, RING_CLOSED, 0);
    b.steps.rank = 4;
    ok(tell(&b, NULL), "a ring with all kinds of news is told");
    is_str(heard(&b), "A4/1/8/4711 node2 torch L2 S0 S1 W5 S2 C0",
           "an answer stands between the steps around it, and the end behind all");
    ok(tell(&b, NULL), "a ring that has ended is told");
    is_str(heard(&b), "", "an end is told once");
    b.steps.local_rank = 0;
    ok(tell(&b, NULL), "a ring with another local rank is told");
    is_str(heard(&b), "A4/0/8/4711 node2 torch", "another local rank is told");
    b.steps.world = 9;
    ok(tell(&b, NULL), "a ring of a larger job is told");
    is_str(heard(&b), "A4/0/9/4711 node2 torch", "another number of ranks is told");
    tear_down(&b);
}

/* Of more answers than have room the last ones are told. */
static void test_answers(void)
{
    struct bench b;

    set_up(&b);
    for (unsigned i = 1; i <= FOLLOWER_ANSWERS + 2; i++)
        tell_event(&b, RING_SWITCH, i);
    ok(tell(&b, NULL), "a ring with many answers is told");
    is_str(heard(&b),
           "A3/1/8/4711 node2 torch W3 W4 W5 W6 W7 W8 W9 W10 W11 W12 W13 W14 W15 W16 W17 W18",
           "the last answers are told");
    tear_down(&b);
}

/* Steps that are not kept any more are passed over. */
static void test_gone(void)
{
    struct bench b;

    set_up(&b);
    make_steps(&b, LANE_FIRST + LANE_LAST);
    b.lane->sent = LANE_FIRST + LANE_LAST - 1;
    ok(tell(&b, NULL), "a ring with one new step is told");
    is_str(heard(&b), "A3/1/8/4711 node2 torch S21999", "the last step is told");
    make_steps(&b, LANE_LAST);
    b.lane->sent = LANE_FIRST;
    ok(!tell(&b, &(double){ 1 }), "a ring with many new steps is not told whole");
    is_str(heard(&b), "S22000", "what was told goes on with the first step that is kept");
    b.lane->sent = LANE_FIRST - 1;
    ok(!tell(&b, &(double){ 1 }), "a ring is not told whole whose first steps were not told");
    is_str(heard(&b), "S1999", "the first steps are always kept");
    is_int((long long)b.lane->sent, 22000, "behind the first steps those are next that are kept");
    tear_down(&b);
}

/* A budget is of bytes of steps, and one that is used up leaves the rest for the next turn. */
static void test_budget(void)
{
    struct bench b;
    double budget = 0, before;

    set_up(&b);
    make_steps(&b, 3);
    tell_event(&b, RING_CLOSED, 0);
    ok(!tell(&b, &budget), "without a budget no step is told");
    is_str(heard(&b), "A3/1/8/4711 node2 torch", "without a budget it is told who there is");
    budget = 1;
    ok(!tell(&b, &budget), "a small budget is used up");
    is_str(heard(&b), "S0", "a small budget is for one step");
    ok(budget < -20 && budget > -2000, "a step takes its bytes off: %g", budget);
    before = budget = 1e6;
    ok(tell(&b, &budget), "a large budget is for all steps");
    is_str(heard(&b), "S1 S2 C0", "a large budget tells all that is left");
    ok(before - budget > 40 && before - budget < 4000, "two steps take their bytes off");
    tear_down(&b);
}

/* A wire without room: each kind of news waits, and is told later, once. */
static void test_room(void)
{
    struct bench b;

    set_up(&b);
    folder_need(rank_steps_note(&b.steps, "a", "1"), "note");
    make_steps(&b, 1);
    tell_event(&b, RING_LOST, 0);
    tell_event(&b, RING_SWITCH, 5);
    tell_event(&b, RING_CLOSED, 0);
    b.here.n_out = MEETING_WIRE_ROOM - 2 * SEALED_FRAME + 1;
    ok(!tell(&b, NULL) && !b.lane->told, "nothing is told without room");
    b.here.n_out--;
    ok(meeting_wire_say(&b.here, &(const struct meeting_message){ .kind = MEETING_OVER }),
       "a message is taken where two frames have room");
    b.here.n_out = b.here.n_body = 0;
    b.lane->told = true;
    b.lane->about.rank = 3;
    b.lane->about.local_rank = 1;
    b.lane->about.world = 8;
    b.here.n_out = MEETING_WIRE_ROOM;
    ok(!tell(&b, NULL), "no note is told without room");
    b.lane->notes_changed = false;
    ok(!tell(&b, NULL) && b.lane->lost == 1, "nothing lost is told without room");
    b.lane->lost = 0;
    ok(!tell(&b, NULL) && b.lane->sent == 0, "no step is told without room");
    b.lane->sent = 1;
    ok(!tell(&b, NULL) && b.lane->n_answers == 1, "no answer is told without room");
    b.lane->n_answers = 0;
    ok(!tell(&b, NULL) && !b.lane->closed_told, "no end is told without room");
    b.here.n_out = 0;
    b.lane->sent = 0;
    b.lane->n_answers = 1;
    b.lane->lost = 1;
    b.lane->notes_changed = true;
    ok(tell(&b, NULL), "all is told when there is room again");
    is_str(heard(&b), "Na=1 L1 S0 W5 C0", "what waited is told once, in its order");
    tear_down(&b);
}

/* ---- the wire ---- */

static void test_wire(void)
{
    const struct meeting_message ask = { .kind = MEETING_ASK, .number = 1, .text = "a=1" };
    struct meeting_message got;
    static char noise[2 * SEALED_FRAME];
    char word[4] = "";
    struct bench b;

    set_up(&b);
    is_int(meeting_wire_read(&b.there), 0, "nothing that has come is no end");
    meeting_wire_put(&b.here, "abcdef", 6);
    is_int(meeting_wire_send(&b.here), 0, "a greeting is sent");
    is_int((long long)b.here.n_out, 0, "what was sent is not sent again");
    is_int(meeting_wire_read(&b.there), 0, "a greeting is read");
    ok(!meeting_wire_take(&b.there, noise, 7), "a greeting is not taken that is not all there");
    ok(meeting_wire_take(&b.there, word, 3) && !memcmp(word, "abc", 3), "a greeting is taken");
    is_int(meeting_wire_read(&b.there), 0, "what is left is read again");
    ok(meeting_wire_take(&b.there, word, 3) && !memcmp(word, "def", 3), "what is left is taken");
    for (int i = 0; i < 100; i++)
        ok(meeting_wire_say(&b.here, &ask), "message %d has room", i);
    meeting_wire_flush(&b.here);
    meeting_wire_flush(&b.here);
    is_int(meeting_wire_send(&b.here), 0, "messages are sent");
    is_int(meeting_wire_read(&b.there), 0, "messages are read");
    for (int i = 0; i < 100; i++)
        if (meeting_wire_next(&b.there, &got) != 1 || got.kind != MEETING_ASK)
            ok(false, "message %d is missing", i);
    is_int(meeting_wire_next(&b.there, &got), 0, "no more messages come than were sent");
    memset(noise, 0xff, sizeof(noise));
    meeting_wire_put(&b.here, noise, sizeof(noise));
    is_int(meeting_wire_send(&b.here), 0, "noise is sent");
    is_int(meeting_wire_read(&b.there), 0, "noise is read");
    is_int(meeting_wire_next(&b.there, &got), -EBADMSG, "noise is no message");
    is_int(meeting_wire_read(&b.there), -ENOBUFS, "what nobody takes has no room for more");
    b.there.taken = b.there.n_in;
    meeting_wire_done(&b.here);
    is_int(meeting_wire_read(&b.there), -EPIPE, "the other end is gone");
    meeting_wire_put(&b.there, "x", 1);
    is_int(meeting_wire_send(&b.there), -EPIPE, "nothing is sent to an end that is gone");
    tear_down(&b);
}

int main(void)
{
    test_order();
    test_answers();
    test_gone();
    test_budget();
    test_room();
    test_wire();
    return done();
}
