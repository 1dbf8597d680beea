/* When a job that runs kept its devices busy: its last stretches of work, for policies that look at
 * that. What nobody saw counts as work, so that no job loses its devices for what is not known.
 * Times are milliseconds of one clock. Pure. */
#ifndef BRIM_MODEL_JOB_BURSTS_H
#define BRIM_MODEL_JOB_BURSTS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    BURSTS = 4,            /* that are remembered: as many as a scheduler does */
    BURSTS_GAP_MS = 120000 /* without a look for so long it counts as having worked */
};

/* Stretches of work, the newest last; it has no end while the job is busy. */
struct bursts {
    struct burst {
        int64_t from_ms, to_ms;
    } at[BURSTS];
    int n;
    bool busy;
    int64_t seen_ms; /* the last look */
};

/* A job starts: it is busy until it is seen not to be. */
void bursts_begin(struct bursts *b, int64_t since_ms);

/* It was seen to be that busy, in thousandths; below 0: that could not be told, and changes
 * nothing. Whether it began to work or left off. A clock that went back makes the time before count
 * as work. */
bool bursts_note(struct bursts *b, int64_t now_ms, int milli);

/* Since when its devices are idle, as far as anybody saw; 0: they are not. */
int64_t bursts_idle_ms(const struct bursts *b, int64_t now_ms);

/* As a text, which it outlives its reader in: "100-170 300-" is work from 100 to 170 and from 300
 * on. One that cannot be read is of a job that is busy since it started. seen_ms is not in it. */
void bursts_write(const struct bursts *b, char *text, size_t size);
void bursts_read(struct bursts *b, const char *text, int64_t since_ms);

#endif
