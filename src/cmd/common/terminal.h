/* The terminal as a page: the alternate screen, keys one by one, signals as events. */
#ifndef BRIM_CMD_COMMON_TERMINAL_H
#define BRIM_CMD_COMMON_TERMINAL_H
#include <stdbool.h>
#include <stdint.h>
#include <termios.h>

#include "base/err.h"
#include "base/str.h"

struct terminal {
    int signals; /* a descriptor that SIGINT and the like are read from */
    struct termios was;
    unsigned columns, rows;
};

enum terminal_event {
    TERMINAL_TIMEOUT,
    TERMINAL_KEY,
    TERMINAL_RESIZED, /* columns and rows are the new ones */
    TERMINAL_ENDED    /* SIGINT, SIGTERM, SIGHUP, SIGQUIT, or nobody is there any more */
};

/* Whether standard input and output are both a terminal. */
bool terminal_is_one(void);

/* Take over the terminal. The signals above are blocked from here on, in threads that are made
 * later, too: open it before them. */
int terminal_open(struct terminal *t, struct err *e) CHECK_RESULT;

/* Give it back as it was. For one whose signals are -1: nothing. */
void terminal_close(struct terminal *t);

/* Wait for an event, timeout_ns at most (0 or less: only see). *key is a TERMINAL_KEY's. */
enum terminal_event terminal_wait(struct terminal *t, int64_t timeout_ns, char *key);

/* Show a page in one write, so that it does not flicker. Lines must fit the terminal. */
int terminal_show(const struct terminal *t, const char *page) CHECK_RESULT;

#endif
