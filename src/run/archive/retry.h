/* Keeping what is seen of a run: what cannot be stored is said once and tried again later. */
#ifndef BRIM_RUN_ARCHIVE_RETRY_H
#define BRIM_RUN_ARCHIVE_RETRY_H
#include "run/archive/archive.h"
#include "run/ring/rings.h"

struct archive_retry {
    void (*say)(void *arg, const char *sentence);
    void *arg;
    struct archive *archive; /* NULL: nothing can be stored */
    int64_t failed_ns;       /* when storing failed last; 0: it did not */
    bool told;
};

void archive_retry_begin(struct archive_retry *k, const char *runs, const struct run *r,
                         int64_t now_ns);
void archive_retry_done(struct archive_retry *k);

/* A moment (NULL: none), and what is new in lanes: those of the rings, else the inferred one. */
void archive_retry_now(struct archive_retry *k, const struct run_moment *m,
                       const struct rings *rings, const struct rank_steps *inferred,
                       int64_t now_ns);

/* What is known of a run that goes on. Whether it is stored. */
bool archive_retry_about(struct archive_retry *k, const struct run *r, int64_t now_ns);

/* How the run ended. Whether all of it is stored. */
bool archive_retry_end(struct archive_retry *k, const struct run *r);

/* Keep a moment for the report where nothing can be stored; of a long run pairs become one. 0 or
 * -ENOMEM. */
int archive_retry_in_memory(struct run *r, const struct run_moment *m) CHECK_RESULT;

#endif
