#include <errno.h>
#include <math.h>

#include "ask/reply.h"
#include "base/utf8.h"
#include "fuzz.h"
#include "model/nodes/node_answer.h"

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

/* What is read of a report is harmless, and is the same when it is written and read again. */
static void try_report(const char *text, size_t len)
{
    CLEANUP(str_done) struct str again = STR_INIT(2 * NODE_REPORT_MAX);
    struct node_report r, back;
    int rc = node_report_read(&r, text, len);

    check(rc == 0 || rc == -EINVAL || rc == -EPROTONOSUPPORT);
    if (rc < 0)
        return;
    check_text(r.host, sizeof(r.host));
    check_text(r.version, sizeof(r.version));
    check_text(r.alert, sizeof(r.alert));
    check_text(r.verdict.sentence, sizeof(r.verdict.sentence));
    check_text(r.verdict.action, sizeof(r.verdict.action));
    check(!(r.gpus < 0) && !(r.idle < 0) && !(r.gpu_hours < 0) && r.time_ms >= 0);
    check(r.verdict.bottleneck <= LIVE_NONE && r.verdict.state <= LIVE_LIMIT);
    node_report_write(&r, &again);
    check(str_error(&again) == 0 && again.len <= NODE_REPORT_MAX);
    check(node_report_read(&back, str_text(&again), again.len) == 0);
    check(!strcmp(back.host, r.host) && !strcmp(back.alert, r.alert) &&
          !strcmp(back.verdict.sentence, r.verdict.sentence) && back.time_ms == r.time_ms);
}

/* An answer is the same in one piece and byte by byte. */
static void try_reply(const char *bytes, size_t n)
{
    struct reply whole = { .bytes = STR_INIT(4096) }, pieces = { .bytes = STR_INIT(4096) };
    int rc, one = 0;
    size_t len = 0, other = 0, at = 0;

    reply_begin(&whole);
    reply_begin(&pieces);
    rc = n ? reply_add(&whole, bytes, n) : 0;
    while (at < n && one == 0)
        one = reply_add(&pieces, bytes + at++, 1);
    if (rc == 1) {
        const char *text = reply_text(&whole, &len), *same;

        check(one == 1 && pieces.status == whole.status);
        same = reply_text(&pieces, &other);
        check(len == other && !memcmp(text, same, len));
        try_report(text, len);
    } else if (rc == 0) {
        check(one == 0 && reply_end(&whole) == reply_end(&pieces));
    }
    str_done(&whole.bytes);
    str_done(&pieces.bytes);
}

/* Names of a list are such that they can be looked up, and put into a request. */
static void try_list(const char *text, size_t len)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    struct node_list l = { .n = 0 };
    int rc = node_list_read(&l, &a, "nodes", text, len, NULL);

    check(rc == 0 || rc == -EINVAL);
    check(l.n <= NODE_LIST_MAX);
    for (size_t i = 0; i < l.n; i++) {
        const char *name = l.nodes[i].name;

        check(*name && strlen(name) < NODE_LIST_NAME && l.nodes[i].port >= 1 &&
              l.nodes[i].port <= UINT16_MAX);
        check(!strpbrk(name, " \t\r\n/\"\\<>&@") && *name != '-');
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;

    try_report(text, size);
    try_reply(text, size);
    if (size < 64) /* ranges of ten thousand take their time */
        try_list(text, size);
    return 0;
}
