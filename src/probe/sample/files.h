/* What samplers of many small files share: things that the kernel shows as folders (ports, slots,
 * sensors), each with the same few files of one number or a few lines. A sampler is a table of its
 * files and a function that finds its things.
 *
 * A file that is read each tick stays open. A slow one is read every 10 seconds, and its values
 * repeat in between; it is opened for each reading, since the 30 error counters of each of 16
 * adapters would take half of the 1,024 descriptors that a process may have by default. Things are
 * looked for again every 30 seconds, and in the next tick when that failed: until then all is as
 * the last look found it. A file that is refused (EINVAL, EOPNOTSUPP) or not there is not asked
 * again. */
#ifndef BRIM_PROBE_SAMPLE_FILES_H
#define BRIM_PROBE_SAMPLE_FILES_H
#include "base/clock.h"
#include "base/str.h"
#include "probe/sample/sampler.h"

enum { SAMPLE_PATH = 256, SAMPLE_LIST = 256 << 10 };

#define SAMPLE_SLOW_NS (10 * NS_PER_S)
#define SAMPLE_FIND_NS (30 * NS_PER_S)

/* One file of a thing. Without read() it holds one number, which goes times scale to value.
 * read() writes all values that come from the text, which is "" when the file cannot be read. */
struct sample_file {
    const char *path; /* follows the thing's prefix: "counters/port_rcv_data" */
    unsigned value;
    bool slow;
    double scale;
    void (*read)(const struct sample_file *f, const char *text, double *values);
    const void *arg; /* read()'s: a table */
    size_t n_args;
};

struct sample_files;

/* All things of one sampler. */
struct sample_class {
    const struct signal_set *set;
    unsigned n_values;          /* of each thing: those of the set, then what read() remembers */
    const char *const *folders; /* ends with NULL; when none of them is there, open is -ENOENT */
    /* Add every thing that is there; 0 or -errno: what is there could not be told. */
    int (*find)(struct sample_files *s);
    /* Take a further thing's values into the row that the first of its name made; NULL: only the
     * first of a name counts. */
    void (*combine)(const struct signal_set *set, double *row, const double *values);
};

/* For sampler_ops. A thing of which nothing can be read has no row. */
int sample_files_open(void **state, const struct sampler_env *env, const struct sample_class *class,
                      struct err *e) CHECK_RESULT;
int sample_files_sample(void *state, struct tick *t) CHECK_RESULT;
void sample_files_close(void *state);

/* For find(): add a thing whose files are prefix + path. One that was added already is passed over,
 * and so are more than 1,024. */
int sample_files_add(struct sample_files *s, const char *name, const char *prefix,
                     const struct sample_file *files, size_t n) CHECK_RESULT;

/* For find(): set a fact of the thing that was just added, if it was. */
void sample_files_fact(struct sample_files *s, size_t i, const char *text);

/* For find(): the names in a folder, each ending with a NUL, and "" behind the last; none when it
 * is not there or not for us. 0; or -errno, when it could not be read to its end. */
int sample_files_list(struct sample_files *s, const char *folder, struct str *out) CHECK_RESULT;

#define SAMPLE_EACH(name, list) \
    for (const char *name = str_text(list); *(name); (name) += strlen(name) + 1)

/* For find(): the first line of prefix + path, without blanks at its end; "" when there is none. */
void sample_files_line(const struct sample_files *s, const char *prefix, const char *path,
                       char *buf, size_t size);

/* For find(): the target of a symbolic link; "" when it is none. */
void sample_files_link(const struct sample_files *s, const char *path, char *buf, size_t size);

/* A read() for lines "KEY NUMBER": arg is a table of struct sample_key (table.h). Numbers
 * that go to the same value are added. */
void sample_read_keys(const struct sample_file *f, const char *text, double *values);

/* For the functions above: the directory descriptor that paths are below of, and a file below one,
 * -1 when it cannot be opened. */
int sample_files_root(const struct sample_files *s);
int sample_open_below(int root, const char *prefix, const char *path);

/* A combine() that adds. */
void sample_files_sum(const struct signal_set *set, double *row, const double *values);

/* Add to a value that may be absent; an absent addend changes nothing. */
static inline void sample_add(double *sum, double addend)
{
    if (!isnan(addend))
        *sum = isnan(*sum) ? addend : *sum + addend;
}

#endif
