/* Profiles on disk: a folder with a file NAME-KEY.ini for each. */
#ifndef BRIM_RUN_PROFILE_PROFILES_H
#define BRIM_RUN_PROFILE_PROFILES_H
#include "model/job/profile.h"

/* The names of the files, without ".ini", in order, each ending with a NUL, into out. 0 or a
 * negative errno; no folder is no profile. */
int profiles_list(const char *folder, struct str *out, struct err *e) CHECK_RESULT;

/* The file of a profile: a path (with a '/', or ending in ".ini" and there), a file's name as
 * profiles_list() has it, or the profile's name. Of several with the name that of the job with this
 * key, else the youngest; NULL: no key is known. -ENOENT with a sentence that proposes the
 * nearest. */
int profiles_find(const char *folder, const char *which, const char *key, struct str *path,
                  struct err *e) CHECK_RESULT;

/* The file of the job with this key, whatever its name: the youngest. 0 with an empty path when
 * there is none, or a negative errno. */
int profiles_of(const char *folder, const char *key, struct str *path, struct err *e) CHECK_RESULT;

/* Read a file: as profile_read(). One that any user may write to, and what is no file, is refused:
 * -EPERM or -EINVAL with a sentence. */
int profiles_load(struct profile *ret, const char *path, struct err *e) CHECK_RESULT;

/* Write it to folder/NAME-KEY.ini, whole or not at all, in place of what is there; folders are made
 * for their owner alone. In the name letters, digits, '.', '_' and '-' are kept, others become '_'.
 * path: what was written. 0 or a negative errno; -EINVAL where a pipe or a device has the name. */
int profiles_save(const char *folder, const struct profile *p, struct str *path, struct err *e)
    CHECK_RESULT;

#endif
