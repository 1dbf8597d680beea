/* A site and a deed as bytes between brim and the process that Slurm's library runs in: both on one
 * machine, from one program. The site is read as if a stranger had sent it. */
#ifndef BRIM_SLURM_WIRE_H
#define BRIM_SLURM_WIRE_H
#include "base/str.h"
#include "model/site/deed.h"
#include "model/site/site.h"

enum { SLURM_WIRE_MOST = 512 << 20, SLURM_WIRE_TIME = 8 };

/* The first SLURM_WIRE_TIME bytes are the time: all behind is the same for the same site. Errors
 * stick to out. */
void slurm_wire_add_site(struct str *out, const struct site *s);

/* 0 with a site of the caller's, -EPROTO for bytes that are none, -ENOMEM. */
int slurm_wire_site(struct site *ret, const void *bytes, size_t n) CHECK_RESULT;

void slurm_wire_add_deed(struct str *out, const struct site_deed *d);

/* Its texts are in the arena. As above. */
int slurm_wire_deed(struct site_deed *ret, struct arena *a, const void *bytes, size_t n)
    CHECK_RESULT;

#endif
