/* The answer of an HTTP server, as its bytes come: the status, and the text behind the head. What
 * it says of itself is not trusted: bytes are counted. For requests of HTTP/1.0, so that no answer
 * is in chunks. Pure. */
#ifndef BRIM_ASK_REPLY_H
#define BRIM_ASK_REPLY_H
#include <stdint.h>

#include "base/str.h"

enum { REPLY_HEAD_MAX = 8 << 10 };

struct reply {
    struct str bytes; /* all that came; its ceiling must be set */
    size_t head;      /* bytes of the head, with the empty line; 0: it is not whole */
    unsigned status;
    int64_t length; /* of the text, as the head has it; -1: until the connection ends */
};

/* Forget what was there, but for memory. */
void reply_begin(struct reply *r);

/* Add bytes. 1: the answer is whole; 0: more is to come; -EPROTO: this is no HTTP, -EFBIG: it is
 * larger than the ceiling, -ENOMEM. */
int reply_add(struct reply *r, const char *bytes, size_t n) CHECK_RESULT;

/* The connection ended. 1: the answer is whole; -ECONNRESET: it is not. */
int reply_end(const struct reply *r) CHECK_RESULT;

/* The text of one that is whole, and its length. */
const char *reply_text(const struct reply *r, size_t *len);

#endif
