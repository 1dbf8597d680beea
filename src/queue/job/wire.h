/* What commands and the queue's engine say to each other over its socket: a length, then fields
 * "key=value" that end with NUL bytes. Values may hold any byte but NUL: environments are not
 * always UTF-8. */
#ifndef BRIM_QUEUE_JOB_WIRE_H
#define BRIM_QUEUE_JOB_WIRE_H
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

/* Answers may be long; requests hold an environment. */
enum { WIRE_MAX = 64 << 20, WIRE_ORDER = 8 << 20, WIRE_HEAD = 4 };

void wire_add(struct str *out, const char *key, const char *value);
void wire_add_int(struct str *out, const char *key, int64_t value);

/* The next field: false at the end. *at starts as 0. Texts are within the message; what is broken
 * off ends it. */
bool wire_next(const struct str *message, size_t *at, const char **key, size_t *key_len,
               const char **value);

/* The last value of a key; NULL. And as a number; fallback when there is none. */
const char *wire_get(const struct str *message, const char *key);
int64_t wire_int(const struct str *message, const char *key, int64_t fallback);

/* Send and receive a whole message, with the descriptor's own patience. -EPIPE when the other side
 * went, -EAGAIN when it took too long, -EFBIG, -ENOMEM. */
int wire_send(int fd, const struct str *message) CHECK_RESULT;
int wire_receive(int fd, struct str *message) CHECK_RESULT;

/* The length in front of a message. */
void wire_head(const struct str *message, char head[WIRE_HEAD]);
size_t wire_length(const char head[WIRE_HEAD]);

#endif
