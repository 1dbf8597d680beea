/* Libraries of this machine that a job can be led to when it starts. */
#ifndef BRIM_RUN_PROFILE_JOB_LIBRARY_H
#define BRIM_RUN_PROFILE_JOB_LIBRARY_H
#include <stdbool.h>

#include "base/arena.h"

/* Where the system's libraries are; ends with NULL. */
extern const char *const library_folders[];

struct job_library {
    const char *path; /* blas: the folder with its libblas.so.3; malloc: the file; NULL: absent */
    const char *package; /* of Debian that has it; NULL: no such library is known */
    const char *why;     /* more than "not installed", where path is NULL; NULL */
};

/* "openblas", "blis", "mkl", "reference". path is allocated in a. 0 or -ENOMEM. */
int job_library_blas(struct arena *a, const char *const *folders, const char *name,
                     struct job_library *ret) CHECK_RESULT;

/* "jemalloc", "tcmalloc". */
int job_library_malloc(struct arena *a, const char *const *folders, const char *name,
                       struct job_library *ret) CHECK_RESULT;

/* What a libblas.so.3 is, by its path: "openblas", "blis", "mkl", "atlas", "reference"; else the
 * file's name. Links are followed. Allocated in a; NULL when out of memory. */
const char *job_library_blas_name(struct arena *a, const char *path) CHECK_RESULT;

/* Whether two paths lead to the same file. */
bool job_library_same(const char *one, const char *other);

#endif
