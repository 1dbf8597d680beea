/* Values of a policy's file. Each: -EINVAL with a sentence. */
#ifndef BRIM_SCHED_POLICY_POLICY_VALUE_H
#define BRIM_SCHED_POLICY_POLICY_VALUE_H
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/ini.h"

/* What is wrong with a value: always -EINVAL. */
int policy_bad(const struct ini_entry *at, struct err *e, const char *what);

/* The number of a value among some words, NULL behind the last. */
int policy_choose(unsigned *ret, const char *const *words, const struct ini_entry *at,
                  struct err *e) CHECK_RESULT;

/* A time, in ms. */
int policy_duration(int64_t *ret, const struct ini_entry *at, struct err *e) CHECK_RESULT;

/* Yes or no. */
int policy_flag(bool *ret, const struct ini_entry *at, struct err *e) CHECK_RESULT;

#endif
