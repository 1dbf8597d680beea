/* What an observer needs to meet others: for those that lead and those that follow. */
#ifndef BRIM_RUN_MEET_MEETING_CONFIG_H
#define BRIM_RUN_MEET_MEETING_CONFIG_H
#include "base/clock.h"
#include "run/meet/meeting_key.h"
#include "run/meet/meeting_place.h"
#include "run/ring/control.h"
#include "run/ring/rings.h"

/* Borrowed, as long as the meeting is. */
struct meeting_config {
    const struct clock *clock;
    struct meeting_place place;
    struct meeting_key key;
    const char *host;      /* ours */
    unsigned char purpose; /* the same of all: see sealed_greeting() */
    struct rings *rings;
    struct control *control; /* NULL: nothing is asked */
    /* Whether this host's user allows a request; NULL: none is carried out. */
    bool (*may)(void *arg, const char *text);
    void *may_arg;
    /* Tell the user a sentence. */
    void (*say)(void *arg, const char *sentence);
    void *arg;
};

#endif
