/* The secret that observers of one job share. */
#ifndef BRIM_RUN_MEET_MEETING_KEY_H
#define BRIM_RUN_MEET_MEETING_KEY_H
#include <stdbool.h>

#include "base/err.h"
#include "run/meet/sha256.h"

struct meeting_key {
    unsigned char bytes[SHA256_SIZE]; /* of the secret's hash */
    bool by_munge; /* nobody gave one: the leader makes one for each follower, sealed by munge.h */
};

/* token: the text of BRIM_TOKEN, or NULL; file: the path of one that holds it, which only its user
 * may read, or NULL: the variable counts before it. 1; 0: neither is given; or a negative errno
 * with a sentence. */
int meeting_key_read(struct meeting_key *ret, const char *token, const char *file, struct err *e)
    CHECK_RESULT;

#endif
