#include <errno.h>
#include <math.h>

#include "base/utf8.h"
#include "fuzz.h"
#include "model/verdict/live_run.h"

/* A text that a terminal shows and does not act upon, and that ends. */
static void check_text(const char *text, size_t size)
{
    size_t n = 0;

    check(memchr(text, '\0', size) != NULL);
    while (text[n]) {
        uint32_t code;

        n += utf8_decode(text + n, &code);
        check(code && !utf8_is_control(code));
    }
}

/* What is read is harmless, and is the same when it is written and read again. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(str_done) struct str text = STR_INIT(2 * LIVE_RUN_FILE);
    struct live_run r, back;
    int rc = live_run_read(&r, (const char *)data, size);

    check(rc == 0 || rc == -EINVAL);
    if (rc < 0)
        return 0;
    check_text(r.id, sizeof(r.id));
    check_text(r.name, sizeof(r.name));
    check_text(r.user, sizeof(r.user));
    check_text(r.cause, sizeof(r.cause));
    check_text(r.sentence, sizeof(r.sentence));
    check_text(r.action, sizeof(r.action));
    check_text(r.trying, sizeof(r.trying));
    check(!(r.share < 0) && !(r.share > 1) && r.since_ms >= 0);
    check(r.severity >= SEVERITY_UNKNOWN && r.severity <= SEVERITY_CRITICAL);
    live_run_write(&r, &text);
    check(str_error(&text) == 0 && text.len <= LIVE_RUN_FILE);
    check(live_run_read(&back, str_text(&text), text.len) == 0);
    check(!strcmp(back.id, r.id) && !strcmp(back.sentence, r.sentence) &&
          back.limited == r.limited && back.since_ms == r.since_ms);
    return 0;
}
