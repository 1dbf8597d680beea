/* Messages between brim's processes: what another user may send in place of one. */
#include "queue/job/wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tap.h"

static struct str message_of(const char *bytes, size_t len)
{
    struct str message = STR_INIT(4096);

    str_add_n(&message, bytes, len);
    return message;
}

static void test_pairs(void)
{
    static const char text[] = "name=first\0na=short\0name=x=y\0n=\0number=-12\0big=1e3";
    CLEANUP(str_done) struct str m = message_of(text, sizeof(text));
    const char *key, *value;
    size_t at = 0, len, n = 0;

    while (wire_next(&m, &at, &key, &len, &value))
        n++;
    is_int((long long)n, 6, "each pair is found once");
    is_int((long long)at, sizeof(text), "the walk ends behind the last pair");
    is_str(wire_get(&m, "name"), "x=y", "the last of two values counts, with all its signs");
    is_str(wire_get(&m, "na"), "short", "a key that begins another one is told from it");
    is_str(wire_get(&m, "n"), "", "an empty value is one");
    is_str(wire_get(&m, "nam"), NULL, "the beginning of a key is no key");
    is_int(wire_int(&m, "number", 7), -12, "a number is read with its sign");
    is_int(wire_int(&m, "big", 7), 7, "what is no whole number counts as absent");
    is_int(wire_int(&m, "none", 7), 7, "an absent number has the value that was asked for");
}

/* The walk stops at what is no pair, and reads nothing behind the message. */
static void test_what_is_no_message(void)
{
    static const struct {
        const char *bytes;
        size_t len, pairs;
        const char *what;
    } cases[] = {
        { "", 0, 0, "an empty message" },
        { "a=b", 3, 0, "a value without an end" },
        { "a=b\0c=d", 7, 1, "a second value without an end" },
        { "a=b\0cd\0e=f", 11, 1, "a part without an equals sign" },
        { "\0a=b", 5, 0, "an empty part" },
        { "=b", 3, 1, "an empty key" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(str_done) struct str m = message_of(cases[i].bytes, cases[i].len);
        const char *key, *value;
        size_t at = 0, len, n = 0;

        while (wire_next(&m, &at, &key, &len, &value))
            n++;
        is_int((long long)n, (long long)cases[i].pairs, "%s has %zu pairs", cases[i].what,
               cases[i].pairs);
    }
}

static void test_added(void)
{
    CLEANUP(str_done) struct str m = STR_INIT(4096);

    wire_add(&m, "user", "a b");
    wire_add_int(&m, "id", INT64_MIN);
    is_int((long long)m.len, 9 + 24, "a message has its keys, values and the ends of these");
    is_str(wire_get(&m, "user"), "a b", "a text is read as it was added");
    ok(wire_int(&m, "id", 0) == INT64_MIN, "the least number is read as it was added");
}

static void test_head(void)
{
    CLEANUP(str_done) struct str m = STR_INIT(1 << 20);
    char head[WIRE_HEAD];

    for (int i = 0; i < 0x10203; i++)
        str_add_char(&m, 'x');
    wire_head(&m, head);
    ok(head[0] == 3 && head[1] == 2 && head[2] == 1, "a length begins with its lowest byte");
    is_int((long long)wire_length(head), 0x10203, "a length is read as it was written");
    memset(head, 0xff, sizeof(head));
    ok(wire_length(head) > WIRE_MAX, "the largest length is more than a message may have");
}

/* Send bytes as they are, close, and receive a message from them. */
static int received(const char *head, size_t head_len, size_t body, struct str *ret)
{
    CLEANUP(freep) char *bytes = calloc(1, body + 1);
    int pair[2], room = 4 << 20, rc;

    if (!bytes || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        abort();
    setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
    memset(bytes, 'y', body);
    if (send(pair[0], head, head_len, MSG_DONTWAIT) != (ssize_t)head_len ||
        (body && send(pair[0], bytes, body, MSG_DONTWAIT) != (ssize_t)body))
        abort();
    shutdown(pair[0], SHUT_WR);
    rc = wire_receive(pair[1], ret);
    close(pair[0]);
    close(pair[1]);
    return rc;
}

static void head_of(size_t len, char head[WIRE_HEAD])
{
    for (int i = 0; i < WIRE_HEAD; i++)
        head[i] = (char)(len >> (8 * i) & 0xff);
}

static void test_received(void)
{
    CLEANUP(str_done) struct str m = STR_INIT(2 * WIRE_MAX);
    char head[WIRE_HEAD];

    head_of(10000, head);
    is_int(received(head, sizeof(head), 10000, &m), 0, "a message of several parts arrives");
    ok(m.len == 10000 && str_text(&m)[9999] == 'y', "a message of several parts is whole");
    is_int(received(head, sizeof(head), 9999, &m), -EPIPE, "a message that is cut off is none");
    is_int(received(head, sizeof(head) - 1, 0, &m), -EPIPE, "a head that is cut off is none");
    is_int((long long)m.len, 0, "nothing is left of the message before");
    head_of((size_t)WIRE_MAX + 1, head);
    is_int(received(head, sizeof(head), 16, &m), -EFBIG, "a message that is too long is refused");
    head_of(WIRE_MAX, head);
    is_int(received(head, sizeof(head), 16, &m), -EPIPE, "the longest message is waited for");
    head_of(0, head);
    is_int(received(head, sizeof(head), 0, &m), 0, "an empty message is one");
}

static void test_sent(void)
{
    CLEANUP(str_done) struct str m = STR_INIT(64), got = STR_INIT(64), full = STR_INIT(4);
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        abort();
    wire_add(&m, "a", "b");
    is_int(wire_send(pair[0], &m), 0, "a message is sent");
    is_int(wire_receive(pair[1], &got), 0, "wire_receive receives the message that was sent");
    is_str(wire_get(&got, "a"), "b", "the message has the text that was sent");
    wire_add(&full, "much", "more than there is room for");
    ok(wire_send(pair[0], &full) < 0, "a message that did not fit its text is not sent");
    close(pair[1]);
    is_int(wire_send(pair[0], &m), -EPIPE, "a peer that is gone is an error, not a signal");
    close(pair[0]);
}

int main(void)
{
    test_pairs();
    test_what_is_no_message();
    test_added();
    test_head();
    test_received();
    test_sent();
    return done();
}
