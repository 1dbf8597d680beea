/* Lines of a client of brim mcp: each answer is one line of JSON, and each call a line whose
 * options stand before "--". */
#include <errno.h>

#include "cmd/mcp/session.h"
#include "fuzz.h"
#include "base/json_read.h"
#include "made_tools.h"

static int begin(void *arg, const struct mcp_call *call)
{
    size_t *n = arg, i = 1;

    check(*call->id && !strcmp(call->argv[0], "brim"));
    while (strcmp(call->argv[i], "--") != 0) {
        check(i < 3 || !strncmp(call->argv[i], "--", 2));
        check(strncmp(call->argv[i], "--svg", 5) != 0 && strncmp(call->argv[i], "--json=", 7) != 0);
        i++;
        check(call->argv[i] != NULL);
    }
    return ++*n % 3 == 0 ? -EAGAIN : 0;
}

static void cancel(void *arg, const char *id)
{
    (void)arg;
    check(*id != '\0');
}

/* Answers: each a line, each an object with an id, and a result or an error. */
static void check_answers(const struct str *out)
{
    const char *at = str_text(out);

    while (*at) {
        CLEANUP(arena_done) struct arena a = ARENA_INIT;
        const struct json_value *root = NULL;
        size_t len = strcspn(at, "\n");

        check(at[len] == '\n');
        check(json_read(&root, &a, "answer", at, len, NULL) == 0);
        check(json_get(root, "id") && json_get(root, "jsonrpc"));
        check((json_get(root, "result") != NULL) != (json_get(root, "error") != NULL));
        at += len + 1;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    CLEANUP(str_done) struct str out = STR_INIT(64 << 20);
    struct mcp_tools tools = { .list = NULL };
    size_t calls = 0;
    const struct mcp_work work = { .arg = &calls, .begin = begin, .cancel = cancel };
    struct mcp_session session = { .tools = &tools, .work = &work };
    const char *at = (const char *)data, *end = at + size;

    check(made_tools(&tools, &a) == 0);
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t len = (size_t)((newline ? newline : end) - at);

        check(mcp_session_take(&session, at, len, &out) == 0);
        at += len + (newline != NULL);
    }
    check_answers(&out);
    return 0;
}
