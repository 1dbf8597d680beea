/* The folders of finished runs that the agent serves. Their owners are other users: nothing in them
 * is trusted, no link in them is followed, nothing is waited for, what is too large is refused. */
#ifndef BRIM_DAEMON_RUN_FOLDERS_H
#define BRIM_DAEMON_RUN_FOLDERS_H
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"
#include "model/job/run.h"

struct run_folders {
    const char *const *paths;
    size_t n;
};

/* "0.20261125-031105-6d3e": the run of that name in the first folder. */
enum { RUN_KEY = 80 };

/* The files of one that is served: a report of more wants more memory than an agent may take. */
enum { RUN_SERVED_MIB = 32 };

/* Every key, the youngest run first, each ending with a NUL, into out: of 8 MiB. *unread: how many
 * folders cannot be read. 0 or -ENOMEM. */
int run_folders_list(const struct run_folders *f, struct str *out, size_t *unread) CHECK_RESULT;

/* Negative where the run of key a is listed before that of b. */
int run_folders_compare(const char *a, const char *b);

/* A run and who owns it. whole: with its moments and steps. run_done(ret) in any case. 0, or a
 * negative errno with a sentence: -EINVAL for what is no key or no run, -ENOENT, -ENODATA for one
 * of which nothing was stored, -EFBIG. */
int run_folders_load(const struct run_folders *f, const char *key, bool whole, struct run *ret,
                     uid_t *owner, struct err *e) CHECK_RESULT;

/* The youngest run before r of the same job, in the same folder as key, which is r's; one without
 * an id when there is none, or only behind many others. */
int run_folders_load_earlier(const struct run_folders *f, const char *key, const struct run *r,
                             struct run *ret, struct err *e) CHECK_RESULT;

#endif
