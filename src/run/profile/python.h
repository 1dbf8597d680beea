/* The Python that a command starts and what is installed for it, from files alone: nothing is
 * started. */
#ifndef BRIM_RUN_PROFILE_PYTHON_H
#define BRIM_RUN_PROFILE_PYTHON_H
#include "base/str.h"

/* Add "python 3.11, torch 2.4.0, cuda 12.4" for a command that starts a Python (python3 train.py,
 * env ... python3, torchrun, a script whose first line names one), as far as it can be found out.
 * 0 or -ENOMEM. */
int python_versions(char *const *argv, char *const *env, struct str *out) CHECK_RESULT;

#endif
