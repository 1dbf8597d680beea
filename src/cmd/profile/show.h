/* A profile for people, and as JSON. */
#ifndef BRIM_CMD_PROFILE_SHOW_H
#define BRIM_CMD_PROFILE_SHOW_H
#include "base/json.h"
#include "model/job/profile.h"

/* A line of the list, or with j an object of its array. file: the file's name without ".ini". */
void profile_list_head(struct str *out);
void profile_list_one(const char *file, const struct profile *p, struct json *j, struct str *out);

/* All of it, with what its knobs are; path: where it is. */
void profile_show(const struct profile *p, const struct knobs *knobs, const char *path,
                  struct str *out);
void profile_show_json(const struct profile *p, const struct knobs *knobs, const char *path,
                       struct str *out);

#endif
