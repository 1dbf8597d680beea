/* Which lines of the job's Python take the time, as 'brim why' shows it. */
#ifndef BRIM_CMD_WHY_WHERE_H
#define BRIM_CMD_WHY_WHERE_H
#include "base/json.h"
#include "base/str.h"
#include "model/verdict/verdict.h"

/* The dearest lines as one text, "; " between two; why none are known, where that is; else "". */
void where_say(const struct verdict *v, struct str *out);

/* The array "where" of all lines; nothing where none is known. */
void where_json(struct json *j, const struct verdict *v);

/* The object "where" of a finding; nothing where no line is known. */
void where_json_item(struct json *j, const struct verdict_item *i);

#endif
