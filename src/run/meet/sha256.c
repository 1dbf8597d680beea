#include "run/meet/sha256.h"

#include <string.h>

#include "base/compiler.h"

enum { ROUNDS = 64, LENGTH_AT = SHA256_BLOCK - 8 };

/* The first 32 bits of the fractions of the cube roots of the first 64 primes. */
static const uint32_t constants[ROUNDS] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t turned(uint32_t x, unsigned by)
{
    return x >> by | x << (32 - by);
}

static void expand(uint32_t w[ROUNDS], const unsigned char *block)
{
    for (size_t i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
               (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (unsigned i = 16; i < ROUNDS; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];

        w[i] = w[i - 16] + w[i - 7] + (turned(a, 7) ^ turned(a, 18) ^ a >> 3) +
               (turned(b, 17) ^ turned(b, 19) ^ b >> 10);
    }
}

static void take_block(struct sha256 *s, const unsigned char *block)
{
    uint32_t w[ROUNDS], v[8];

    expand(w, block);
    memcpy(v, s->state, sizeof(v));
    for (unsigned i = 0; i < ROUNDS; i++) {
        uint32_t e = v[4], a = v[0];
        uint32_t one = v[7] + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) +
                       ((e & v[5]) ^ (~e & v[6])) + constants[i] + w[i];
        uint32_t two = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) +
                       ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));

        memmove(v + 1, v, 7 * sizeof(*v));
        v[4] += one;
        v[0] = one + two;
    }
    for (unsigned i = 0; i < 8; i++)
        s->state[i] += v[i];
}

void sha256_begin(struct sha256 *s)
{
    static const uint32_t first[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                       0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };

    *s = (struct sha256){ .len = 0 };
    memcpy(s->state, first, sizeof(first));
}

void sha256_add(struct sha256 *s, const void *data, size_t len)
{
    const unsigned char *bytes = data;

    while (len) {
        size_t at = s->len % SHA256_BLOCK;
        size_t n = MIN(len, (size_t)SHA256_BLOCK - at);

        memcpy(s->block + at, bytes, n);
        s->len += n;
        bytes += n;
        len -= n;
        if (s->len % SHA256_BLOCK == 0)
            take_block(s, s->block);
    }
}

void sha256_end(struct sha256 *s, unsigned char ret[SHA256_SIZE])
{
    static const unsigned char end[SHA256_BLOCK] = { 0x80 };
    uint64_t bits = 8 * s->len;
    size_t at = s->len % SHA256_BLOCK;
    unsigned char length[8];

    for (unsigned i = 0; i < 8; i++)
        length[i] = (unsigned char)(bits >> (56 - 8 * i));
    sha256_add(s, end, at < LENGTH_AT ? LENGTH_AT - at : SHA256_BLOCK + LENGTH_AT - at);
    sha256_add(s, length, sizeof(length));
    for (unsigned i = 0; i < SHA256_SIZE; i++)
        ret[i] = (unsigned char)(s->state[i / 4] >> (24 - 8 * (i % 4)));
}

void sha256_mac_begin(struct sha256_mac *m, const void *key, size_t len)
{
    unsigned char block[SHA256_BLOCK] = { 0 };

    if (len > SHA256_BLOCK) {
        sha256_begin(&m->inner);
        sha256_add(&m->inner, key, len);
        sha256_end(&m->inner, block);
    } else if (len) {
        memcpy(block, key, len);
    }
    for (unsigned i = 0; i < SHA256_BLOCK; i++)
        block[i] ^= 0x36;
    sha256_begin(&m->inner);
    sha256_add(&m->inner, block, sizeof(block));
    for (unsigned i = 0; i < SHA256_BLOCK; i++)
        block[i] ^= 0x36 ^ 0x5c;
    sha256_begin(&m->outer);
    sha256_add(&m->outer, block, sizeof(block));
}

void sha256_mac_add(struct sha256_mac *m, const void *data, size_t len)
{
    sha256_add(&m->inner, data, len);
}

void sha256_mac_end(struct sha256_mac *m, unsigned char ret[SHA256_SIZE])
{
    unsigned char inner[SHA256_SIZE];

    sha256_end(&m->inner, inner);
    sha256_add(&m->outer, inner, sizeof(inner));
    sha256_end(&m->outer, ret);
}

bool sha256_same(const void *a, const void *b, size_t len)
{
    const volatile unsigned char *x = a, *y = b;
    unsigned differ = 0;

    for (size_t i = 0; i < len; i++)
        differ |= (unsigned)(x[i] ^ y[i]);
    return differ == 0;
}
