/* What a profile belongs to: the job, the machine and the versions. */
#ifndef BRIM_RUN_PROFILE_JOB_KEY_H
#define BRIM_RUN_PROFILE_JOB_KEY_H
#include "model/job/profile.h"
#include "model/machine/catalogue.h"
#include "probe/kernel/tree.h"

struct job_key_about {
    char *const *argv, *const *env;  /* of the job, without what a profile adds */
    struct tree *tree;               /* the machine's files */
    const struct catalogue *devices; /* for names of accelerators; NULL: their PCI ids */
    const char *cpus;                /* that the job may use, as the kernel lists them */
};

/* Texts for profile_init(), "" where nothing is known. */
struct job_key {
    const char *key;      /* "5f1c0a...": 16 digits, of the command and of the scripts it names */
    const char *machine;  /* "Intel(R) Xeon(R) ..., 2 CPUs, 23 GiB, 8 x H100-SXM5-80GB" */
    const char *versions; /* "python 3.11, torch 2.4.0, nvidia driver 550.54.15" */
};

/* The key is a hash of the command's words (of the first one the name alone), and of the contents
 * of those files up to 1 MiB that the words name ("train.py", "--config=a.yaml"); data and imported
 * modules are not in it. Versions are found without starting anything: see run/profile/python.h.
 * All texts in the arena. 0 or -ENOMEM. */
int job_key_make(struct arena *a, const struct job_key_about *about, struct job_key *ret)
    CHECK_RESULT;

/* What of a profile's differs from now; a text that one of them lacks does not. */
enum job_differs { JOB_COMMAND = 1, JOB_MACHINE = 2, JOB_VERSIONS = 4 };
unsigned job_key_differs(const struct profile *p, const struct job_key *now);

/* That in words, to go on behind "it was found": "on another machine (A; here B) and with other
 * versions (C; now D)". Nothing when nothing differs. */
void job_key_tell(const struct profile *p, const struct job_key *now, struct str *out);

#endif
