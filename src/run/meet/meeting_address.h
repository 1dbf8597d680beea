/* The addresses of a host, asked for beside the loop: a name server may take its time. */
#ifndef BRIM_RUN_MEET_MEETING_ADDRESS_H
#define BRIM_RUN_MEET_MEETING_ADDRESS_H
#include <netdb.h>
#include <stdbool.h>

#include "base/err.h"

struct meeting_address;

/* Begin; an address in figures is there at once. 0 or a negative errno. */
int meeting_address_ask(struct meeting_address **ret, const char *host, int port, struct err *e)
    CHECK_RESULT;

/* 1 with the list, which lives as long as *a; 0: not yet; -ENOENT: there is none, with a sentence.
 */
int meeting_address_get(const struct meeting_address *a, const struct addrinfo **ret, struct err *e)
    CHECK_RESULT;

/* The question may still be asked then. */
void meeting_address_free(struct meeting_address *a);
DEFINE_CLEANUP(struct meeting_address, meeting_address_free)

#endif
