/* Messages as they are written and read again, and what is none. */
#include "run/meet/meeting_message.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "tap.h"

static unsigned char bytes[MEETING_LONGEST];

/* Write it and read it again: false when that is not one message. */
static bool carry(const struct meeting_message *m, struct meeting_message *ret)
{
    size_t used = 0, at = 0;

    return meeting_message_put(m, bytes, sizeof(bytes), &used) &&
           meeting_message_get(ret, bytes, used, &at) == 1 && at == used &&
           meeting_message_get(ret, bytes, used, &at) == 0;
}

static struct step a_step(void)
{
    struct step s = { .number = 41, .begin_ns = 1000, .end_ns = 5000, .collectives = 3 };

    for (unsigned i = 0; i < BRIM_STAGES; i++)
        s.device_s[i] = (double)NAN;
    s.host_s[BRIM_STAGE_WAIT] = 0.25;
    s.device_s[BRIM_STAGE_FORWARD] = 0.125;
    s.samples = 8;
    s.loss = (double)NAN;
    s.backwards = 2;
    s.collective_s = 0.5;
    s.collective_b = 4096;
    return s;
}

static void test_step(void)
{
    struct meeting_message m = { .kind = MEETING_STEP, .lane = 255, .step = a_step() }, got;
    const struct step *s = &got.step;
    size_t used = 0, at = 0;

    ok(carry(&m, &got) && got.kind == MEETING_STEP && got.lane == 255, "a step comes to its lane");
    ok(s->number == 41 && s->begin_ns == 1000 && s->end_ns == 5000 && s->collectives == 3,
       "a step has its number, its times and its collectives");
    ok(s->host_s[BRIM_STAGE_WAIT] == 0.25 && s->host_s[BRIM_STAGE_FORWARD] == 0 &&
           s->device_s[BRIM_STAGE_FORWARD] == 0.125 && isnan(s->device_s[BRIM_STAGE_WAIT]),
       "a step has its stages, and those that were not told are not");
    ok(s->samples == 8 && isnan(s->loss) && s->backwards == 2 && s->collective_s == 0.5 &&
           s->collective_b == 4096,
       "a step has its numbers, and no loss where none was told");
    m.step.end_ns = 999;
    ok(!carry(&m, &got), "a step that ends before it begins is refused");
    m.step = a_step();
    m.step.host_s[BRIM_STAGE_COPY] = -1;
    ok(!carry(&m, &got), "a stage of less than no time is refused");
    m.step = a_step();
    m.step.samples = (double)INFINITY;
    ok(!carry(&m, &got), "samples without end are refused");
    m.step = a_step();
    m.step.loss = (double)INFINITY;
    ok(carry(&m, &got) && isinf(got.step.loss), "a loss without end is the job's, and comes");
    m.step = a_step();
    (void)meeting_message_put(&m, bytes, sizeof(bytes), &used);
    is_int((long long)used, 1 + 2 + 24 + 4 + 6 * 8 + 4, "only what is told takes room");
    is_int(meeting_message_get(&got, bytes, used - 1, &at), -EBADMSG,
           "a step that was cut off is refused");
    is_int((long long)at, 0, "what is refused is not passed over");
}

static void test_texts(void)
{
    struct meeting_message m = { .kind = MEETING_NOTE,
                                 .lane = 1,
                                 .name = "loader.workers",
                                 .text = "13" },
                           got;
    size_t used = 0;

    ok(carry(&m, &got) && !strcmp(got.name, "loader.workers") && !strcmp(got.text, "13"),
       "a note has its name and its text");
    memset(m.name, 'n', sizeof(m.name) - 1);
    memset(m.text, 't', sizeof(m.text) - 1);
    ok(carry(&m, &got) && !strcmp(got.name, m.name) && !strcmp(got.text, m.text),
       "a name and a text come that are as long as may be");
    m.text[0] = ' ';
    m.text[1] = '~';
    ok(carry(&m, &got), "a blank and a tilde are letters");
    m.text[1] = 0x7f;
    ok(!carry(&m, &got), "a deleted letter is refused");
    m.text[0] = '\033';
    ok(!carry(&m, &got), "a text for the terminal's eyes is refused");
    m.text[0] = '\0';
    m.lane = MEETING_LANES;
    ok(!carry(&m, &got), "a lane beyond all is refused");
    m = (struct meeting_message){ .kind = MEETING_ASK,
                                  .number = 7,
                                  .at_step = 99,
                                  .text = "loader.workers=5",
                                  .back = "loader.workers=0" };
    ok(carry(&m, &got) && got.number == 7 && got.at_step == 99 &&
           !strcmp(got.text, "loader.workers=5") && !strcmp(got.back, "loader.workers=0"),
       "a request has its number, its step, its text and the way back");
    ok(!meeting_message_put(&m, bytes, 20, &used) && used == 0,
       "a message that finds no room leaves none of it");
}

static void test_rest(void)
{
    struct meeting_message m = { .kind = MEETING_LANE,
                                 .lane = 3,
                                 .rank = -1,
                                 .local_rank = 2,
                                 .world = 8,
                                 .pid = 4711,
                                 .name = "node7",
                                 .text = "torch 2.9" },
                           got;
    size_t at = 0;

    ok(carry(&m, &got) && got.rank == -1 && got.local_rank == 2 && got.world == 8 &&
           got.pid == 4711 && !strcmp(got.name, "node7") && !strcmp(got.text, "torch 2.9"),
       "a lane has its ranks, process, host and framework");
    m.rank = -2;
    ok(!carry(&m, &got), "a rank below the unknown one is refused");
    m = (struct meeting_message){ .kind = MEETING_SWITCH, .number = 4, .outcome = 1 };
    ok(carry(&m, &got) && got.number == 4 && got.outcome == 1, "an answer has its outcome");
    m.outcome = BRIM_SWITCH_FAILED;
    ok(carry(&m, &got) && got.outcome == BRIM_SWITCH_FAILED, "the last outcome is one");
    m.outcome = 3;
    ok(!carry(&m, &got), "an outcome that there is not is refused");
    m = (struct meeting_message){ .kind = MEETING_PONG, .t_ns = 5, .at_ns = INT64_MAX };
    ok(carry(&m, &got) && got.t_ns == 5 && got.at_ns == INT64_MAX, "an answer has both clocks");
    bytes[0] = MEETING_KINDS;
    is_int(meeting_message_get(&got, bytes, 9, &at), -EBADMSG, "an unknown kind is refused");
    bytes[0] = 0;
    is_int(meeting_message_get(&got, bytes, 9, &at), -EBADMSG, "no kind at all is refused");
}

static void test_requests(void)
{
    ok(meeting_message_is_request("loader.workers=5"), "a setting is a request");
    ok(meeting_message_is_request("loader.persist=yes;loader.workers=5"),
       "two settings are a request");
    ok(!meeting_message_is_request(""), "nothing is no request");
    ok(!meeting_message_is_request("loader.workers"), "a name without a value is no request");
    ok(!meeting_message_is_request("=5"), "a value without a name is no request");
    ok(!meeting_message_is_request("a=1;"), "nothing behind a semicolon is no request");
    ok(!meeting_message_is_request("a b=1"), "a name with a blank is no request");
    ok(!meeting_message_is_request("a=\n"), "a value with a newline is no request");
    ok(!meeting_message_is_request("a=1\x1f"), "a value with a control character is no request");
    ok(meeting_message_is_request("a= ~"), "a blank and a tilde are a value");
    ok(!meeting_message_is_request("a=\x7f"), "a value with a deleted letter is no request");
    ok(meeting_message_is_request("a="), "an empty value is a value");
    ok(!meeting_message_is_request("a;b=1"), "a name without a value in front is no request");
    ok(!meeting_message_is_request("a=1;b\n=1"), "the second name counts as the first one does");
    ok(meeting_message_is_request("a0._-9z=1"), "all letters of a name may be in it");
}

int main(void)
{
    test_step();
    test_texts();
    test_rest();
    test_requests();
    return done();
}
