/* A source: where facts about a machine come from. Each is one file and one ops table;
 * probe/sources.c lists them. */
#ifndef BRIM_PROBE_SOURCE_SOURCE_H
#define BRIM_PROBE_SOURCE_SOURCE_H
#include "model/machine/catalogue.h"
#include "model/machine/machine.h"
#include "probe/kernel/tree.h"

/* Something that a source could not find out, in a sentence, for stderr. */
struct trouble {
    char source[16];
    char text[256];
};

enum { TROUBLES_MAX = 16 };

struct probe {
    struct tree *tree;
    const struct catalogue *catalogue;
    const char *fake;    /* invent accelerators, as probe/gpu/fake_spec.h has it; NULL */
    int64_t patience_ns; /* how long a driver call may take before it counts as hung */
    struct trouble troubles[TROUBLES_MAX];
    size_t n_troubles; /* may be more than there is room for */
    bool hung;         /* a driver did not answer: a thread is still inside it */
};

/* A source adds what it knows to the node. One that finds nothing of its kind adds nothing and
 * returns 0. */
struct source_ops {
    const char *name;
    const char *what; /* for documentation: "sockets, NUMA domains and CPUs, from sysfs" */
    int (*read)(struct probe *p, struct node *n, struct err *e);
};

/* Whether spec names accelerators of the catalogue or is a script, for p->fake: 0; with a sentence
 * ERR_USAGE, which proposes the nearest name, or the errno of a script that cannot be read. */
int probe_fake_check(const struct catalogue *c, const char *spec, struct err *e) CHECK_RESULT;

/* Note something that could not be found out. */
void probe_trouble(struct probe *p, const char *source, const char *fmt, ...) PRINTF(3, 4);

#endif
