/* Secrets that processes of our own user can read, and nobody else, on all hosts of a MUNGE realm:
 * by that the hosts of a Slurm cluster know each other's users. */
#ifndef BRIM_RUN_MEET_MUNGE_H
#define BRIM_RUN_MEET_MUNGE_H
#include <stdbool.h>
#include <stddef.h>

#include "base/compiler.h"

enum { MUNGE_TEXT = 1024 };

/* Whether the library is there, and the host's munged answers soon: within half a second. */
bool munge_answers(void);

/* Seal some bytes for our own user, as a text with zeros behind it. 0; -ENOENT: there is no
 * library; -EIO: munged did not do it, or they are too many. */
int munge_seal(const void *bytes, size_t len, char ret[MUNGE_TEXT]) CHECK_RESULT;

/* What was sealed: exactly so many bytes, by our own user. Else -EACCES, or as above. */
int munge_unseal(const char text[MUNGE_TEXT], void *ret, size_t len) CHECK_RESULT;

#endif
