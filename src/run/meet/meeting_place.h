/* Where the observers of one job meet, and which of them leads: out of what the user says, the
 * launcher's variables, and the command line of a launcher that is observed. Pure. */
#ifndef BRIM_RUN_MEET_MEETING_PLACE_H
#define BRIM_RUN_MEET_MEETING_PLACE_H
#include <stdbool.h>

#include "base/err.h"

enum { MEETING_PLACE_HOST = 256, MEETING_PLACE_JOB = 256 };

enum meeting_role {
    MEETING_LEADS,   /* it has rank 0, or the first node */
    MEETING_FOLLOWS, /* it has not */
    MEETING_ASKS,    /* not known: the one on the host of that name or address leads */
};

struct meeting_place {
    bool
        several; /* the job has other observers, or the user says so; else the rest means nothing */
    bool told;   /* the user named the place */
    bool multi;  /* the launcher tells of several nodes, and not only of several processes */
    char host[MEETING_PLACE_HOST]; /* a name or an address; "": nobody tells it */
    int port;
    char job[MEETING_PLACE_JOB]; /* what the launcher calls the job, on all nodes; "" */
    enum meeting_role role;
};

/* option: "HOST[:PORT]" as the user gives it, or NULL. 0; ERR_USAGE with a sentence for an option
 * that is no place. */
int meeting_place_find(struct meeting_place *ret, const char *option, char *const *env,
                       char *const *argv, struct err *e) CHECK_RESULT;

/* The first host of a list as Slurm writes it: "node[03-07,9],x1" has node03. */
void meeting_place_first_host(const char *list, char ret[MEETING_PLACE_HOST]);

#endif
