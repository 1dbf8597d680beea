/* An environment as data: "NAME=value" texts, ending with NULL. */
#ifndef BRIM_RUN_JOB_ENVIRON_H
#define BRIM_RUN_JOB_ENVIRON_H
#include <stdbool.h>

#include "base/arena.h"

/* The value of a variable; NULL when it is not set. */
const char *environ_get(char *const *env, const char *name);

/* The value as a whole number from 0; -1. */
int environ_number(char *const *env, const char *name);

/* A copy of the array with room for 'more' further texts, which are borrowed; NULL when out of
 * memory. */
char **environ_copy(struct arena *a, char *const *env, size_t more) CHECK_RESULT;

/* Set a variable in such a copy. 0 or -ENOMEM. */
int environ_set(struct arena *a, char **env, const char *name, const char *value) CHECK_RESULT;

/* The GPUs that CUDA_VISIBLE_DEVICES leaves a job, when it lists them by number; NULL: all. And
 * whether one is in such a list. That processes of others are on them as well is not told apart. */
const char *environ_gpus(char *const *env);
bool environ_has_gpu(const void *list, const char *gpu);

#endif
