/* SHA-256 (FIPS 180-4), and HMAC with it (RFC 2104): what tells that a message is of one who knows
 * the secret. */
#ifndef BRIM_RUN_MEET_SHA256_H
#define BRIM_RUN_MEET_SHA256_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SHA256_SIZE = 32, SHA256_BLOCK = 64 };

struct sha256 {
    uint32_t state[8];
    uint64_t len; /* bytes so far */
    unsigned char block[SHA256_BLOCK];
};

void sha256_begin(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *data, size_t len);
void sha256_end(struct sha256 *s, unsigned char ret[SHA256_SIZE]);

struct sha256_mac {
    struct sha256 inner, outer;
};

/* A key of any length. */
void sha256_mac_begin(struct sha256_mac *m, const void *key, size_t len);
void sha256_mac_add(struct sha256_mac *m, const void *data, size_t len);
void sha256_mac_end(struct sha256_mac *m, unsigned char ret[SHA256_SIZE]);

/* Whether they are the same, in a time that does not tell where they differ. */
bool sha256_same(const void *a, const void *b, size_t len);

#endif
