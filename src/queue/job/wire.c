#include "queue/job/wire.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/parse.h"

void wire_add(struct str *out, const char *key, const char *value)
{
    str_add(out, key);
    str_add_char(out, '=');
    str_add_n(out, value, strlen(value) + 1);
}

void wire_add_int(struct str *out, const char *key, int64_t value)
{
    str_addf(out, "%s=%lld", key, (long long)value);
    str_add_n(out, "", 1);
}

bool wire_next(const struct str *message, size_t *at, const char **key, size_t *key_len,
               const char **value)
{
    const char *begin = str_text(message) + *at, *equals;
    size_t left = message->len - *at, len = strnlen(begin, left);

    if (len == left) /* nothing is left, or no end of it */
        return false;
    equals = memchr(begin, '=', len);
    if (!equals)
        return false;
    *key = begin;
    *key_len = (size_t)(equals - begin);
    *value = equals + 1;
    *at += len + 1;
    return true;
}

const char *wire_get(const struct str *message, const char *key)
{
    const char *name, *value, *found = NULL;
    size_t at = 0, len;

    while (wire_next(message, &at, &name, &len, &value))
        if (len == strlen(key) && !memcmp(name, key, len))
            found = value;
    return found;
}

int64_t wire_int(const struct str *message, const char *key, int64_t fallback)
{
    const char *text = wire_get(message, key);
    int64_t value;

    return text && parse_i64(text, &value) == 0 ? value : fallback;
}

void wire_head(const struct str *message, char head[WIRE_HEAD])
{
    for (int i = 0; i < WIRE_HEAD; i++)
        head[i] = (char)(message->len >> (8 * i) & 0xff);
}

size_t wire_length(const char head[WIRE_HEAD])
{
    size_t len = 0;

    for (int i = 0; i < WIRE_HEAD; i++)
        len |= (size_t)(unsigned char)head[i] << (8 * i);
    return len;
}

static int send_all(int fd, const char *data, size_t len)
{
    while (len > 0) {
        ssize_t n = send(fd, data, len, MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        data += n;
        len -= (size_t)n;
    }
    return 0;
}

static int receive_all(int fd, char *data, size_t len)
{
    while (len > 0) {
        ssize_t n = recv(fd, data, len, 0);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : -EPIPE;
        data += n;
        len -= (size_t)n;
    }
    return 0;
}

int wire_send(int fd, const struct str *message)
{
    char head[WIRE_HEAD];
    int rc = str_error(message);

    if (rc < 0)
        return rc;
    wire_head(message, head);
    rc = send_all(fd, head, sizeof(head));
    return rc < 0 ? rc : send_all(fd, str_text(message), message->len);
}

int wire_receive(int fd, struct str *message)
{
    char head[WIRE_HEAD], part[4096];
    size_t left;
    int rc = receive_all(fd, head, sizeof(head));

    str_reset(message);
    if (rc < 0)
        return rc;
    left = wire_length(head);
    if (left > WIRE_MAX)
        return -EFBIG;
    while (left > 0) {
        size_t n = MIN(left, sizeof(part));

        rc = receive_all(fd, part, n);
        if (rc < 0)
            return rc;
        str_add_n(message, part, n);
        left -= n;
    }
    return str_error(message);
}
