#include "run/meet/sealed_frame.h"

#include <errno.h>
#include <string.h>

enum { MAGIC = 8, VERSION = 1 };

static const char magic[] = "BRIMMEET";

void sealed_greeting(unsigned char ret[SEALED_GREETING], unsigned char purpose,
                     const unsigned char nonce[SEALED_NONCE])
{
    memset(ret, 0, SEALED_GREETING);
    memcpy(ret, magic, MAGIC);
    ret[MAGIC] = VERSION;
    ret[MAGIC + 1] = purpose;
    memcpy(ret + SEALED_GREETING - SEALED_NONCE, nonce, SEALED_NONCE);
}

int sealed_greeting_check(const unsigned char from[SEALED_GREETING], unsigned char purpose)
{
    if (memcmp(from, magic, MAGIC) != 0)
        return -EPROTO;
    if (from[MAGIC] != VERSION)
        return -EPROTONOSUPPORT;
    if ((from[MAGIC + 1] ^ purpose) == SEALED_BY_MUNGE)
        return -EKEYREJECTED;
    return from[MAGIC + 1] == purpose ? 0 : -ENOTUNIQ;
}

bool sealed_is_refused(int why)
{
    return why == -EACCES || why == -EKEYREJECTED || why == -ENOTUNIQ || why == -EPROTONOSUPPORT;
}

void sealed_bound(unsigned char ret[SHA256_SIZE], const char *job,
                  const unsigned char follower[SEALED_GREETING],
                  const unsigned char leader[SEALED_GREETING])
{
    struct sha256 s;

    sha256_begin(&s);
    sha256_add(&s, follower, SEALED_GREETING);
    sha256_add(&s, leader, SEALED_GREETING);
    sha256_add(&s, job, strlen(job));
    sha256_end(&s, ret);
}

static void derive(const unsigned char key[SHA256_SIZE], const char *what,
                   unsigned char ret[SHA256_SIZE])
{
    struct sha256_mac m;

    sha256_mac_begin(&m, key, SHA256_SIZE);
    sha256_mac_add(&m, what, strlen(what));
    sha256_mac_end(&m, ret);
}

void sealed_keys_make(struct sealed_keys *ret, const struct sealed_secret *s,
                      const unsigned char follower[SEALED_GREETING],
                      const unsigned char leader[SEALED_GREETING])
{
    unsigned char key[SHA256_SIZE];
    struct sha256_mac m;

    sha256_mac_begin(&m, s->bytes, s->len);
    sha256_mac_add(&m, follower, SEALED_GREETING);
    sha256_mac_add(&m, leader, SEALED_GREETING);
    sha256_mac_add(&m, s->job, strlen(s->job));
    sha256_mac_end(&m, key);
    derive(key, "the leader's proof", ret->leader_proof);
    derive(key, "the follower's proof", ret->follower_proof);
    derive(key, "frames to the leader", ret->to_leader.key);
    derive(key, "frames to the follower", ret->to_follower.key);
    ret->to_leader.n = ret->to_follower.n = 0;
}

static void put(unsigned char *to, uint64_t x, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        to[i] = (unsigned char)(x >> (8 * i));
}

/* Of a frame that begins there, with a body of that length. */
static void seal(const struct sealed_way *w, const unsigned char *frame, size_t len,
                 unsigned char mac[SHA256_SIZE])
{
    unsigned char number[8];
    struct sha256_mac m;

    put(number, w->n, sizeof(number));
    sha256_mac_begin(&m, w->key, sizeof(w->key));
    sha256_mac_add(&m, number, sizeof(number));
    sha256_mac_add(&m, frame, SEALED_HEAD + len);
    sha256_mac_end(&m, mac);
}

size_t sealed_frame_make(struct sealed_way *w, const void *body, size_t len,
                         unsigned char ret[SEALED_FRAME])
{
    unsigned char mac[SHA256_SIZE];

    put(ret, len, SEALED_HEAD);
    if (len)
        memcpy(ret + SEALED_HEAD, body, len);
    seal(w, ret, len, mac);
    memcpy(ret + SEALED_HEAD + len, mac, SEALED_SEAL);
    w->n++;
    return SEALED_HEAD + len + SEALED_SEAL;
}

int sealed_frame_take(struct sealed_way *w, const unsigned char *from, size_t n,
                      const unsigned char **body, size_t *len)
{
    unsigned char mac[SHA256_SIZE];
    size_t size = 0;

    if (n < SEALED_HEAD)
        return 0;
    for (unsigned i = 0; i < SEALED_HEAD; i++)
        size |= (size_t)from[i] << (8 * i);
    if (size > SEALED_BODY)
        return -EBADMSG;
    if (n < SEALED_HEAD + size + SEALED_SEAL)
        return 0;
    seal(w, from, size, mac);
    if (!sha256_same(mac, from + SEALED_HEAD + size, SEALED_SEAL))
        return -EBADMSG;
    w->n++;
    *body = from + SEALED_HEAD;
    *len = size;
    return (int)(SEALED_HEAD + size + SEALED_SEAL);
}
