/* What brim bench measured, for people and as JSON. */
#ifndef BRIM_CMD_BENCH_SHOW_H
#define BRIM_CMD_BENCH_SHOW_H
#include "base/str.h"
#include "bench/compute.h"

void bench_show(const struct compute *c, struct str *out);
void bench_show_json(const struct compute *c, struct str *out);

#endif
