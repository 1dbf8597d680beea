/* Runs on disk: written while they go on, so that what an observer saw is there up to its last
 * second when it is killed, and read back. */
#ifndef BRIM_RUN_ARCHIVE_ARCHIVE_H
#define BRIM_RUN_ARCHIVE_ARCHIVE_H
#include <stdbool.h>

#include "base/str.h"
#include "run/ring/rank_steps.h"

/* ---- writing: one part, of one observer ---- */

/* Make a folder and those above it, for their owner alone; what killed processes left of files that
 * they wrote there (base/file.h) goes. 0 or a negative errno. */
int runs_make(const char *path, struct err *e) CHECK_RESULT;

struct archive;

/* Make RUNS/ID (r->id) and the files of this part. r: what is known when the run begins; begin_ns,
 * id and the texts must be set. 0 or a negative errno with a sentence. */
int archive_create(struct archive **ret, const char *runs, const struct run *r,
                   int64_t monotonic_ns, struct err *e) CHECK_RESULT;
void archive_close(struct archive *a);
DEFINE_CLEANUP(struct archive, archive_close)

/* Each of these: 0, or a negative errno with a sentence; nothing is written in part. */

/* What is known of the run now: its end, its environment, what was inferred. */
int archive_about(struct archive *a, const struct run *r, struct err *e) CHECK_RESULT;

/* A moment. Of long runs they get coarser: after each ARCHIVE_FINE of them twice as many are taken
 * into one. */
enum { ARCHIVE_FINE = 16384 };
int archive_moment(struct archive *a, const struct run_moment *m, struct err *e) CHECK_RESULT;

/* What rank number i (from 0, in any order of the caller's that stays) has done since the last
 * call. */
int archive_lane(struct archive *a, size_t i, const struct rank_steps *l, struct err *e)
    CHECK_RESULT;

/* The folder of the run. */
const char *archive_folder(const struct archive *a);

/* ---- reading ---- */

/* Read the run in that folder, all its parts. run_done(out) in any case. -EINVAL for what is no
 * run, -ENODATA for a folder of which nothing was stored; what is broken in it is left out. */
int run_load(const char *folder, struct run *out, struct err *e) CHECK_RESULT;

/* Only what the .ini files say: no moments and no steps. */
int run_load_about(const char *folder, struct run *out, struct err *e) CHECK_RESULT;

/* The names of the runs, the youngest last, each ending with a NUL, into out. 0 or a negative
 * errno; no folder is no run. */
int runs_list(const char *runs, struct str *out, struct err *e) CHECK_RESULT;

/* What the name of a job of Slurm begins with: "job:17". */
#define RUNS_JOB "job:"

/* The folder of a run: by its id, the start of one, its name or job (the youngest of these), a
 * path, or "" or "last" for the youngest. -ENOENT with a sentence. */
int runs_find(const char *runs, const char *which, struct str *folder, struct err *e) CHECK_RESULT;

/* Whether o is a run of the same job as r, and began before it. */
bool run_is_earlier(const struct run *r, const struct run *o);

/* Remove a run's folder and what is in it. */
int run_remove(const char *folder, struct err *e) CHECK_RESULT;

/* ---- its pieces, for tests: any bytes ---- */

struct archive_part {
    char host[64];
    int pid;
    uint64_t start_ticks; /* of that process; 0: not known */
    uint64_t pid_space;   /* whose number it is: that of the namespace; 0: not known */
    int64_t offset_ns;    /* wall time minus monotonic time there */
    int64_t interval_ns;
};

int archive_parse_about(const char *text, size_t len, struct run *r, struct archive_part *part,
                        struct err *e) CHECK_RESULT;
int archive_parse_moments(const void *data, size_t len, struct run *r, struct err *e) CHECK_RESULT;
int archive_parse_steps(const void *data, size_t len, struct run *r, struct err *e) CHECK_RESULT;

#endif
