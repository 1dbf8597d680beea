/* What two observers send each other, so that each knows the other has the job's secret, and that
 * nothing was changed, repeated or left out on the way. Nothing is hidden. Pure.
 *
 *     follower -> leader   greeting: 8 bytes of magic, version, purpose, two zeros, a nonce
 *     leader -> follower   the same with its own nonce; where MUNGE seals the secret, that (the
 *                          secret, then the hash of both greetings and the job); its proof
 *     follower -> leader   its proof
 *     then both ways       frames: length (4 bytes, little-endian), body, seal
 *
 * Proofs and keys are HMAC-SHA256 of a key that the secret, the job and both nonces make; a seal is
 * the first half of the HMAC over the frame's number, length and body. */
#ifndef BRIM_RUN_MEET_SEALED_FRAME_H
#define BRIM_RUN_MEET_SEALED_FRAME_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "run/meet/sha256.h"

enum {
    SEALED_NONCE = 32,
    SEALED_GREETING = 12 + SEALED_NONCE,
    SEALED_PROOF = SHA256_SIZE,
    SEALED_HEAD = 4,
    SEALED_SEAL = 16,
    SEALED_BY_MUNGE = 0x80, /* in the purpose: where the secret comes from */
    SEALED_BODY = 32 << 10, /* bytes of a body, at most */
    SEALED_FRAME = SEALED_HEAD + SEALED_BODY + SEALED_SEAL
};

/* One way of a wire. */
struct sealed_way {
    unsigned char key[SHA256_SIZE];
    uint64_t n; /* frames so far */
};

struct sealed_keys {
    unsigned char leader_proof[SEALED_PROOF], follower_proof[SEALED_PROOF];
    struct sealed_way to_leader, to_follower;
};

/* purpose: what the observers are for ("run", "optimize"), which has to be the same. */
void sealed_greeting(unsigned char ret[SEALED_GREETING], unsigned char purpose,
                     const unsigned char nonce[SEALED_NONCE]);

/* 0; -EPROTO: it is none; -EPROTONOSUPPORT: another version; -EKEYREJECTED: another kind of secret;
 * -ENOTUNIQ: another purpose. */
int sealed_greeting_check(const unsigned char from[SEALED_GREETING], unsigned char purpose);

/* Whether that is why two observers of a user's do not meet: one of these, or -EACCES for a proof
 * that is wrong. Others are strangers, or come and go. */
bool sealed_is_refused(int why);

/* secret: of any length; job: what tells the job from others, a text. */
struct sealed_secret {
    const void *bytes;
    size_t len;
    const char *job;
};

/* What ties a secret to two greetings. */
void sealed_bound(unsigned char ret[SHA256_SIZE], const char *job,
                  const unsigned char follower[SEALED_GREETING],
                  const unsigned char leader[SEALED_GREETING]);

void sealed_keys_make(struct sealed_keys *ret, const struct sealed_secret *s,
                      const unsigned char follower[SEALED_GREETING],
                      const unsigned char leader[SEALED_GREETING]);

/* Make the next frame of a body of SEALED_BODY bytes at most; how many bytes it has. */
size_t sealed_frame_make(struct sealed_way *w, const void *body, size_t len,
                         unsigned char ret[SEALED_FRAME]);

/* Look at what came: the bytes of the first frame, whose body is in *body then, 0 when some of it
 * has not come, -EBADMSG when it is none or its seal is wrong. */
int sealed_frame_take(struct sealed_way *w, const unsigned char *from, size_t n,
                      const unsigned char **body, size_t *len) CHECK_RESULT;

#endif
