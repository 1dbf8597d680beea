/* Slurm's errors as those of slurm_act(). */
#ifndef BRIM_SLURM_CODE_H
#define BRIM_SLURM_CODE_H
#include "model/site/deed.h"

/* The errors that are used by name. */
enum { SLURM_NO_CHANGE = 1900 };

/* A number of Slurm's, when a deed of that kind failed, as a negative errno. */
int slurm_code_of(int number, enum site_deed_kind kind);

/* The same of what a command wrote. */
int slurm_code_of_text(const char *text, enum site_deed_kind kind);

#endif
