/* The fields of a config.json, with sentences about those that are missing or wrong. */
#ifndef BRIM_PLAN_SHAPE_FIELDS_H
#define BRIM_PLAN_SHAPE_FIELDS_H
#include <stdbool.h>

#include "base/err.h"
#include "base/json_read.h"

struct shape_file {
    const char *file; /* for messages */
    const struct json_value *root;
    const struct json_value *whole; /* root, or the model of which root is the part for text */
    bool *seen;                     /* of each member of root, whether it was asked for; or NULL */
    struct err *e;
};

/* Names of one thing in the files of different families; NULL behind the last, if they are less. */
enum { SHAPE_NAMES = 7 };

/* "file:line:column: key must be " what is wanted; "file: " and a sentence. -EINVAL. */
int shape_bad_value(const struct shape_file *c, const struct json_value *v, const char *wanted);
int shape_bad(const struct shape_file *c, const char *what);

/* The member of that name; null is as good as none. */
const struct json_value *shape_get(const struct shape_file *c, const char *name);

/* Mark fields as read that are of no use with what the others say. */
void shape_pass_over(const struct shape_file *c, const char *const *names, size_t n);

/* Whether the i-th of an array of layers is one of these two kinds; false for no string. */
bool shape_is_kind(const struct json_value *layers, size_t i, const char *kind, const char *other);

/* An array with one text for each layer: 1, 0 when the file has none, -EINVAL for another thing. */
int shape_get_kinds(const struct shape_file *c, const char *name, int layers,
                    const struct json_value **ret) CHECK_RESULT;

/* 1 and the number under one of its names, 0 when it has none, -EINVAL. */
int shape_get_int(const struct shape_file *c, const char *const *any, int *ret) CHECK_RESULT;
int shape_get_one(const struct shape_file *c, const char *name, int *ret) CHECK_RESULT;

/* 0 and the number, where there must be one: the sentence asks for it under the name 'asked'. */
int shape_need_int(const struct shape_file *c, const char *const *any, const char *asked, int *ret)
    CHECK_RESULT;
int shape_need_one(const struct shape_file *c, const char *name, int *ret) CHECK_RESULT;

/* Left as it is when the file does not say. */
int shape_get_bool(const struct shape_file *c, const char *name, bool *ret) CHECK_RESULT;

/* Whether a field is that text. */
bool shape_is_text(const struct shape_file *c, const char *name, const char *text);

#endif
