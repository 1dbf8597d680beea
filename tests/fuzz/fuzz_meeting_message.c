#include <errno.h>
#include <math.h>

#include "fuzz.h"
#include "run/meet/meeting_message.h"

static void check_text(const char *text, size_t size)
{
    check(memchr(text, '\0', size) != NULL);
    for (; *text; text++)
        check(*text >= 0x20 && *text < 0x7f);
}

static void check_step(const struct step *s)
{
    check(s->begin_ns >= 0 && s->end_ns >= s->begin_ns && !(s->samples < 0));
    for (unsigned i = 0; i < BRIM_STAGES; i++)
        check(isfinite(s->host_s[i]) && s->host_s[i] >= 0 && !(s->device_s[i] < 0));
}

/* What was read is written as the same bytes, but for what of a step is written shorter. */
static void check_again(const struct meeting_message *m, size_t took)
{
    unsigned char bytes[MEETING_LONGEST];
    struct meeting_message back;
    size_t used = 0, at = 0;

    check(meeting_message_put(m, bytes, sizeof(bytes), &used) && used <= took);
    check(meeting_message_get(&back, bytes, used, &at) == 1 && at == used);
    check(back.kind == m->kind && back.lane == m->lane && back.number == m->number);
    check(!strcmp(back.text, m->text) && !strcmp(back.back, m->back));
}

/* Any bytes are messages, or are refused. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct meeting_message m;
    size_t at = 0, before;
    int rc;

    for (before = 0; (rc = meeting_message_get(&m, data, size, &at)) > 0; before = at) {
        check(at > before && at <= size && m.lane < MEETING_LANES);
        check_text(m.name, sizeof(m.name));
        check_text(m.text, sizeof(m.text));
        check_text(m.back, sizeof(m.back));
        check_step(&m.step);
        (void)meeting_message_is_request(m.text);
        check_again(&m, at - before);
    }
    check(rc == 0 ? at == size : rc == -EBADMSG && at == before);
    return 0;
}
