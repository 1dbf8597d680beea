/* What samplers of longer texts share: a kernel file that stays open with a buffer that grows with
 * it, and its words. */
#ifndef BRIM_PROBE_SAMPLE_TABLE_H
#define BRIM_PROBE_SAMPLE_TABLE_H
#include "probe/sample/sampler.h"

struct sample_table;

/* Open root/path. -ENOENT when it cannot be opened, -ENOMEM. */
int sample_table_open(struct sample_table **ret, int root, const char *path, struct err *e)
    CHECK_RESULT;
void sample_table_close(struct sample_table *s);
DEFINE_CLEANUP(struct sample_table, sample_table_close)

/* The same for sampler_ops, whose state is a plain pointer. */
int sample_table_start(void **state, int root, const char *path, struct err *e) CHECK_RESULT;
void sample_table_stop(void *state);

/* Read it anew: whole lines only, since half a number is a wrong number; a last line without its
 * end is left out. *ret ("" when it cannot be read) is the caller's to write to until the next
 * call. 0 or -ENOMEM. */
int sample_table_read(struct sample_table *s, char **ret) CHECK_RESULT;

/* Pass blanks, then a word up to the next blank, the character 'end' or the end of the line: its
 * length, 0 when there is none; *ret is its start, and not terminated. */
size_t sample_word(const char **at, char end, const char **ret);

/* The next word, as above, as the name of a thing; false when there is none or it has no room. */
bool sample_name(const char **at, char end, char name[SIGNAL_THING]) CHECK_RESULT;

/* A word of a mount table as text: \040 and its like decoded, into out of size bytes. 0 or
 * -ENAMETOOLONG. */
int sample_mount_decode(const char *word, size_t len, char *out, size_t size) CHECK_RESULT;

/* What a mount point is called in rows: itself, or "..." and its end when that has no room, since
 * long ones differ at their ends. */
void sample_mount_name(char out[SIGNAL_THING], const char *mount);

/* A line "KEY NUMBER" and where its number, times scale, goes. Numbers of several lines that go to
 * the same place are added. */
struct sample_key {
    const char *key;
    unsigned value;
    double scale;
};

/* The values of n keys of a text into a row. */
void sample_table_values(const char *text, struct signal_row *row, const struct sample_key *keys,
                         size_t n);

/* Read the text and add one row of the set, without a thing, with the values of n keys. 0, or
 * -ENOMEM; a file that cannot be read adds no row. */
int sample_table_row(struct sample_table *s, struct tick *t, const struct signal_set *set,
                     const struct sample_key *keys, size_t n) CHECK_RESULT;

#endif
