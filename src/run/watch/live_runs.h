/* The runs that go on at this machine, as far as we may read what their observers tell of them
 * (ring/live_file.h): our own ones, and with CAP_DAC_READ_SEARCH those of all users. */
#ifndef BRIM_RUN_WATCH_LIVE_RUNS_H
#define BRIM_RUN_WATCH_LIVE_RUNS_H
#include "model/verdict/live_run.h"

struct live_runs {
    struct live_run runs[LIVE_RUNS_MAX]; /* the oldest first */
    size_t n;
    size_t unread;   /* folders that could not be read to their end: more may go on */
    size_t left_out; /* more go on than are kept; those of who has most are left out first */
};

/* Look into folders, a list that ends with NULL; NULL: where observers put their rings, /dev/shm,
 * each user's /run/user and /tmp. No file is waited for, and no name service is asked: the user is
 * the account that /etc/passwd has, else what the run says with its number beside it. */
void live_runs_look(struct live_runs *ret, const char *const *folders);

/* The run of one observer, by its process and user. folders: as for live_runs_look(). 0, or a
 * negative errno: it tells of none yet. */
int live_runs_of(struct live_run *ret, int pid, int64_t uid, const char *const *folders)
    CHECK_RESULT;

#endif
