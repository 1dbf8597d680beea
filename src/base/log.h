/* Talk for the operator, on stderr, one line each: lower case, values after words, no trailing dot.
 * Library code below src/daemon does not call this: it returns errors (base/err.h). */
#ifndef BRIM_BASE_LOG_H
#define BRIM_BASE_LOG_H
#include <stdbool.h>

#include "base/compiler.h"

/* Values are those of syslog(3), so that the journal's "<N>" prefix needs no table. */
enum log_level {
    LOG_LEVEL_ERROR = 3,
    LOG_LEVEL_WARNING = 4,
    LOG_LEVEL_INFO = 6,
    LOG_LEVEL_DEBUG = 7
};

/* Their names for an option, NULL behind the last: "error" to "debug". */
extern const char *const log_level_names[];

/* The most talkative level that is written, by its name; "info" at start. */
void log_set_level(const char *name);

/* With journal true lines start with "<N>" for journald instead of "brim: warning: ". */
void log_set_journal(bool journal);

/* Write one line. Control characters in it (a hostile file name, say) are written as '?'. */
void log_write(enum log_level level, const char *fmt, ...) PRINTF(2, 3);

#define log_error(...) log_write(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warning(...) log_write(LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_info(...) log_write(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...) log_write(LOG_LEVEL_DEBUG, __VA_ARGS__)

#endif
