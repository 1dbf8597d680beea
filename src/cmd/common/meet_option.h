/* Whether a command that starts a job meets those of the job's other hosts, by its options, the
 * environment, and what the launcher tells. */
#ifndef BRIM_CMD_COMMON_MEET_OPTION_H
#define BRIM_CMD_COMMON_MEET_OPTION_H
#include "base/opt.h"
#include "run/watch/observe.h"

struct meet_option {
    const char *place, *token_file;
};

#define MEET_OPTIONS(at) \
    { OPT_STRING,    0, \
      "meet",        (at) + offsetof(struct meet_option, place), \
      "HOST[:PORT]", "where the brims of a job on several hosts meet (docs/optimize/nodes.md)" }, \
    { \
        OPT_STRING, 0, "token-file", (at) + offsetof(struct meet_option, token_file), "FILE", \
            "the secret that they share, where BRIM_TOKEN has none" \
    }

struct meet {
    struct meeting_place place;
    struct meeting_key key;
    bool on;
};

/* What is wrong with the secret is told by say, and there is no meeting then: the job starts. asks:
 * the command steers ranks, so that a user wants to know why it can not. 0, or ERR_USAGE with a
 * sentence. */
struct meet_option_about {
    const struct meet_option *option;
    char *const *env, *const *argv;
    bool asks;
    void (*say)(void *arg, const char *sentence);
    void *arg;
};

int meet_option(const struct meet_option_about *about, struct meet *ret, struct err *e)
    CHECK_RESULT;

/* Into the configuration of an observer; m is borrowed. */
void meet_add(const struct meet *m, struct observe_config *c);

#endif
