#include "ask/reply.h"

#include <errno.h>
#include <string.h>

#include "tap.h"

enum { MOST = REPLY_HEAD_MAX + 100 };

/* Add a text in pieces of so many bytes: what the last one returned. */
static int add(struct reply *r, const char *text, size_t piece)
{
    int rc = 0;

    reply_begin(r);
    for (size_t at = 0, len = strlen(text); at < len && rc == 0; at += piece)
        rc = reply_add(r, text + at, MIN(piece, len - at));
    return rc;
}

static void test_whole(void)
{
    static const char text[] =
        "HTTP/1.1 200 OK\r\nContent-Type: x\r\nCONTENT-LENGTH: 5 \r\n\r\nhello";
    struct reply r = { .bytes = STR_INIT(MOST) };
    size_t len = 0;

    for (size_t piece = 1; piece < sizeof(text); piece += 6) {
        is_int(add(&r, text, piece), 1, "an answer in pieces of %zu bytes is whole", piece);
        is_int(r.status, 200, "the status of an answer is read from pieces of %zu bytes", piece);
        ok(!strncmp(reply_text(&r, &len), "hello", 5) && len == 5,
           "the text of an answer is found in pieces of %zu bytes", piece);
    }
    is_int(add(&r, "HTTP/1.0 401 No\r\n\r\nbye", 4), 0, "without a length its end is awaited");
    is_int(reply_end(&r), 1, "without a length it is whole at the end");
    ok(!strcmp(reply_text(&r, &len), "bye") && len == 3, "without a length all of it is the text");
    is_int(add(&r, "HTTP/1.1 204 X\r\nContent-Length: 0\r\n\r\n", 99), 1,
           "an answer may have no text");
    is_int(add(&r, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhello", 99), 1,
           "an answer with too many bytes is whole");
    (void)reply_text(&r, &len);
    is_int(len, 2, "bytes beyond the length are no text");
    str_done(&r.bytes);
}

static void test_broken(void)
{
    static const char *const none[] = {
        "SSH-2.0-OpenSSH_9.2\r\n",
        "HTTP/2 200\r\n\r\n",
        "HTTP/1.1\r\n\r\n",
        "HTTP/1.1 20 OK\r\n\r\n",
        "HTTP/1.1 2000 OK\r\n\r\n",
        "HTTP/1.1 099 OK\r\n\r\n",
        "HTTP/1.1-200 OK\r\n\r\n",
        "HTTP/1.1 20\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 0000000000000001\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5x\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "\r\n\r\n",
    };
    struct reply r = { .bytes = STR_INIT(MOST) };
    CLEANUP(str_done) struct str head = STR_INIT(2 * MOST);

    for (size_t i = 0; i < ARRAY_SIZE(none); i++)
        is_int(add(&r, none[i], 3), -EPROTO, "broken answer %zu is refused", i);
    is_int(add(&r, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello", 99), 0,
           "an answer that is cut is not whole");
    is_int(reply_end(&r), -ECONNRESET, "an answer that is cut does not become whole");
    is_int(add(&r, "HTTP/1.1 200 OK\r\n", 99), 0, "a head that is cut is not whole");
    is_int(reply_end(&r), -ECONNRESET, "a head that is cut does not become whole");
    is_int(add(&r, "HTTP/1.1 200 OK\r\nContent-Length: 999999999999\r\n\r\n", 99), -EFBIG,
           "a length above the ceiling is refused at once");
    str_add(&head, "HTTP/1.1 200 OK\r\n\r\n");
    str_fill(&head, 'x', MOST);
    is_int(add(&r, str_text(&head), 4096), -EFBIG, "a text above the ceiling is refused");
    str_reset(&head);
    str_add(&head, "HTTP/1.1 200 OK\r\nX: ");
    str_fill(&head, 'x', REPLY_HEAD_MAX);
    is_int(add(&r, str_text(&head), 4096), -EPROTO, "a head without an end is refused");
    str_done(&r.bytes);
}

/* A head of n bytes with its end. */
static void fill_head(struct str *head, size_t n)
{
    str_reset(head);
    str_add(head, "HTTP/1.1 200 OK\r\nX: ");
    str_fill(head, 'x', n - head->len - 4);
    str_add(head, "\r\n\r\n");
}

/* Just within and just beyond what an answer may have. */
static void test_limits(void)
{
    struct reply r = { .bytes = STR_INIT(MOST) };
    CLEANUP(str_done) struct str head = STR_INIT(2 * MOST);
    char text[100];

    fill_head(&head, REPLY_HEAD_MAX);
    is_int(add(&r, str_text(&head), MOST), 0, "the longest head is read");
    is_int(reply_end(&r), 1, "an answer of the longest head is whole at its end");
    fill_head(&head, REPLY_HEAD_MAX + 1);
    is_int(add(&r, str_text(&head), MOST), -EPROTO, "a head of one byte more is refused");
    str_reset(&head);
    str_add(&head, "HTTP/1.1 200 OK\r\nX: ");
    str_fill(&head, 'x', REPLY_HEAD_MAX - head.len);
    is_int(add(&r, str_text(&head), MOST), 0, "the end of the longest head is awaited");
    str_add(&head, "x");
    is_int(add(&r, str_text(&head), MOST), -EPROTO, "the end of a longer head is not awaited");
    for (int more = 0; more < 2; more++) {
        int len = snprintf(text, sizeof(text), "HTTP/1.1 200 OK\r\nContent-Length: %05d\r\n\r\n",
                           0);

        snprintf(text, sizeof(text), "HTTP/1.1 200 OK\r\nContent-Length: %05d\r\n\r\n",
                 MOST - len + more);
        is_int(add(&r, text, MOST), more ? -EFBIG : 0,
               "a text that leaves %d bytes too few is judged by its length", more);
    }
    is_int(add(&r, "HTTP/1.1 100 X\r\nContent-Length:\t 000000000000002 \r\n\r\nhi", MOST), 1,
           "a length may have blanks around it, and 15 digits");
    is_int(r.status, 100, "the least status is read");
    is_int(add(&r, "HTTP/1.1 200 X\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nhi", MOST), 1,
           "a length may be said twice");
    is_int(add(&r, "HTTP/1.1 200 X\r\nContent-Lengt: 9\r\nX-Content-Length: 9\r\n\r\nhi", MOST), 0,
           "lines of other names have no length");
    is_int(r.length, -1, "an answer without a length has none");
    str_done(&r.bytes);
}

int main(void)
{
    test_whole();
    test_broken();
    test_limits();
    return done();
}
