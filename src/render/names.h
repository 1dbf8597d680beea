/* Many names in few characters, as Slurm and pdsh write them: "n[001-012,014],login". */
#ifndef BRIM_RENDER_NAMES_H
#define BRIM_RENDER_NAMES_H
#include <stddef.h>

#include "base/str.h"

/* Add the names, sorted, each once. Numbers that run on become ranges; leading zeros are kept (n9
 * and n10 make n[9-10], n09 and n10 n[09-10]); where names hold several numbers the last is folded
 * first: "r[1-2]n[01-16]". Returns 0 or -ENOMEM (then also when out has failed). */
int names_compress(struct str *out, const char *const *names, size_t count) CHECK_RESULT;

#endif
