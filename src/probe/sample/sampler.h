/* Samplers: what is measured again and again. Each is one file, keeps its files open and reads them
 * anew with pread() (reading /proc costs a third of opening it), and adds rows to a tick. */
#ifndef BRIM_PROBE_SAMPLE_SAMPLER_H
#define BRIM_PROBE_SAMPLE_SAMPLER_H
#include <stdbool.h>

#include "base/err.h"
#include "model/signal/signal.h"

/* A kernel file that stays open. fd is -1 when it is not there, and reading it then is -ENOENT. */
struct kept {
    int fd;
};

/* Open root/path ("proc/stat") below a directory descriptor; a file that is not there is no
 * error. */
void kept_open(struct kept *k, int root, const char *path);
void kept_close(struct kept *k);

/* Read it from its start: a length, NUL-terminated in buf; or a negative errno. Of a text that is
 * longer than size - 1 only whole lines are kept, so that no number is cut in two. */
int kept_read(const struct kept *k, char *buf, size_t size) CHECK_RESULT;

/* What samplers work on. */
struct sampler_env {
    int root;                /* of the file system, or of a copy of one (tests) */
    bool live;               /* it is this machine's: drivers, netlink and /dev may be asked, too */
    const char *fake;        /* a file that scripts accelerators that are not there; NULL */
    int64_t patience_ns;     /* how long a driver call may take before it counts as hung */
    const char *const *only; /* the names of those that are opened, ends with NULL; NULL: all */
};

#define SAMPLER_PATIENCE_NS 5000000000

/* One sampler. open() returns 0 and a state, or a negative errno; -ENOENT: the machine has nothing
 * of the kind. sample() adds rows and events; what cannot be read is left absent; it never waits
 * for a driver or a network; -ENOMEM is the only failure that ends a tick. */
struct sampler_ops {
    const char *name;
    const struct signal_set *set; /* the one of them that names it */
    int (*open)(void **state, const struct sampler_env *env, struct err *e);
    int (*sample)(void *state, struct tick *t);
    void (*close)(void *state);
    const struct signal_set *const *more; /* other sets that it adds rows of, ends with NULL; NULL:
                                           * none */
};

/* All samplers that this machine has something for. */
struct samplers;

int samplers_open(struct samplers **ret, const struct sampler_env *env, struct err *e) CHECK_RESULT;
int samplers_sample(struct samplers *s, struct tick *t) CHECK_RESULT;
void samplers_close(struct samplers *s);
DEFINE_CLEANUP(struct samplers, samplers_close)

/* The i-th of all sets that there are samplers for, whether or not this machine has something for
 * them; NULL behind the last. */
const struct signal_set *samplers_set(size_t i);

/* Readers for the texts of /proc: they move *at behind what they read. scan_number() passes blanks
 * and reads decimal digits (with a fraction, if there is one), NaN when there are none; scan_line()
 * goes to the start of the next line and returns 0 at the end of the text. */
void scan_blanks(const char **at);
double scan_number(const char **at);
int scan_line(const char **at);

/* True when the word at *at is exactly word; *at then stands behind it. */
int scan_word(const char **at, const char *word);

#endif
