/* Why a job of Slurm waits, in the words in which brim's queue says it. Pure. */
#ifndef BRIM_SLURM_USER_WORDS_H
#define BRIM_SLURM_USER_WORDS_H
#include "base/str.h"
#include "model/site/site.h"

/* The state in a word: "waiting", "held", "done" ... */
const char *slurm_words_state(const struct site_job *j);

/* "12", "12_3", "12_[4-9%2]". */
void slurm_words_label(const struct site_job *j, struct str *out);

/* Slurm counts a job without a limit as one of a year. */
#define SLURM_WORDS_NEVER_MS (INT64_C(300) * 86400 * 1000)

/* What is the same for many jobs of a site: found out once. */
struct slurm_words {
    const struct site *site;
    int64_t now_ms;
    int64_t devices, available;   /* of the cluster: there are, and free */
    const char *partition;        /* that was looked at last */
    const struct site_job *first; /* which Slurm looks at first there; NULL */
};

void slurm_words_begin(struct slurm_words *w, const struct site *s, int64_t now_ms);

/* Why it waits, with its expected start where Slurm tells one, or how it ended; nothing of one that
 * runs. */
void slurm_words_why(struct slurm_words *w, const struct site_job *j, struct str *out);

/* "n0: GPU0,GPU1; n1: GPU0", or only the nodes: where one that runs is. */
void slurm_words_place(const struct site *s, const struct site_job *j, struct str *out);

#endif
