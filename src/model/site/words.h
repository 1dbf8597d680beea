/* What a job of a cluster says of itself in its comment, for who decides about jobs:
 *
 *     brim:elastic=2-4 signal=B:USR1@60 place
 *
 * Words behind "brim:", which begins the comment or stands behind a space; the first that is none
 * of these ends them. Texts are what users wrote: nothing in them is trusted. Pure. */
#ifndef BRIM_MODEL_SITE_WORDS_H
#define BRIM_MODEL_SITE_WORDS_H
#include <stdbool.h>
#include <stdint.h>

enum { SITE_GRACE_S = 60, SITE_GRACE_MOST_S = 3600 };

/* 0 and false: it does not say so. */
struct site_words {
    int signal;           /* that makes it save before it gives way */
    bool to_script;       /* the signal is for the batch script, not for its steps */
    int32_t grace_s;      /* how long that takes; SITE_GRACE_S unless it says */
    int32_t fewest, most; /* nodes that it goes on with */
    bool place;           /* it waits to be given its nodes */
};

/* Of a comment; NULL has none. */
struct site_words site_words_of(const char *comment);

#endif
