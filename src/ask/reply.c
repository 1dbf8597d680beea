#include "ask/reply.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/parse.h"

static const char begin[] = "HTTP/1.",
                  length[] = "content-length:", chunks[] = "transfer-encoding:";

/* "HTTP/1.1 200 OK" */
enum { STATUS_AT = 9, STATUS_END = 12 };

void reply_begin(struct reply *r)
{
    str_reset(&r->bytes);
    r->head = 0;
    r->status = 0;
    r->length = -1;
}

static int read_status(struct reply *r)
{
    const char *text = str_text(&r->bytes);
    uint64_t status;

    if (r->bytes.len < STATUS_END || text[STATUS_AT - 1] != ' ' ||
        parse_digits(text + STATUS_AT, 10, 4, &status) != 3 || status < 100)
        return -EPROTO;
    r->status = (unsigned)status;
    return 0;
}

/* One line of the head, without its end. */
static int read_line(struct reply *r, const char *line, size_t len)
{
    uint64_t n;
    size_t at = sizeof(length) - 1;
    int digits;

    if (len >= sizeof(chunks) - 1 && !strncasecmp(line, chunks, sizeof(chunks) - 1))
        return -EPROTO;
    if (len < at || strncasecmp(line, length, at) != 0)
        return 0;
    while (at < len && (line[at] == ' ' || line[at] == '\t'))
        at++;
    while (len > at && (line[len - 1] == ' ' || line[len - 1] == '\r'))
        len--;
    digits = parse_digits(line + at, 10, 15, &n);
    if (digits <= 0 || (size_t)digits != len - at || (r->length >= 0 && r->length != (int64_t)n))
        return -EPROTO;
    r->length = (int64_t)n;
    return 0;
}

/* Read the head if all of it is there: 1; 0: it is not. */
static int read_head(struct reply *r)
{
    const char *text = str_text(&r->bytes), *line = text;
    size_t known = MIN(r->bytes.len, sizeof(begin) - 1);
    const char *end = memmem(text, r->bytes.len, "\r\n\r\n", 4);
    int rc;

    if (memcmp(text, begin, known) != 0)
        return -EPROTO;
    if (!end)
        return r->bytes.len > REPLY_HEAD_MAX ? -EPROTO : 0;
    r->head = (size_t)(end - text) + 4;
    rc = r->head > REPLY_HEAD_MAX ? -EPROTO : read_status(r);
    while (rc == 0 && line < end) {
        const char *next = memmem(line, (size_t)(end + 2 - line), "\r\n", 2);

        rc = read_line(r, line, (size_t)(next - line));
        line = next + 2;
    }
    return rc < 0 ? rc : 1;
}

int reply_add(struct reply *r, const char *bytes, size_t n)
{
    int rc;

    str_add_n(&r->bytes, bytes, n);
    if (str_error(&r->bytes))
        return str_error(&r->bytes);
    rc = r->head ? 1 : read_head(r);
    if (rc <= 0)
        return rc;
    if (r->length > (int64_t)(r->bytes.max - r->head))
        return -EFBIG;
    return r->length >= 0 && (int64_t)(r->bytes.len - r->head) >= r->length;
}

int reply_end(const struct reply *r)
{
    return r->head && r->length < 0 ? 1 : -ECONNRESET;
}

const char *reply_text(const struct reply *r, size_t *len)
{
    *len = r->length < 0 ? r->bytes.len - r->head : (size_t)r->length;
    return str_text(&r->bytes) + r->head;
}
