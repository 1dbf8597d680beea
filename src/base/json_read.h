/* A JSON reader: RFC 8259 to the letter, into a tree in an arena.
 *
 *     const struct json_value *root;
 *     rc = json_read(&root, &arena, "config.json", text, len, e);
 *     const struct json_value *v = json_get(root, "hidden_size");
 *     if (v && v->kind == JSON_NUMBER && v->is_whole) ... v->whole ...
 *
 * Text is UTF-8 (a byte-order mark is skipped); what JSON does not have is refused: comments,
 * commas before a closing bracket, NaN, halves of surrogate pairs. Nesting ends at
 * JSON_READ_DEPTH. Memory is a multiple of the text's length: the caller limits that. */
#ifndef BRIM_BASE_JSON_READ_H
#define BRIM_BASE_JSON_READ_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

enum { JSON_READ_DEPTH = 64 };

enum json_kind { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

struct json_value {
    enum json_kind kind;
    int line, column; /* where it starts, from 1; columns are characters */
    const char *key;  /* of a member of an object; NULL of others */
    bool boolean;     /* JSON_BOOL */
    bool is_whole;    /* JSON_NUMBER: written without point and exponent, and fits */
    int64_t whole;
    double number;
    const char *text;               /* JSON_STRING: with a NUL behind it */
    size_t len;                     /* of text, which may hold NULs of its own ("\u0000") */
    const struct json_value *items; /* JSON_ARRAY and JSON_OBJECT */
    size_t n_items;
};

/* Read a text into a tree that lives in a. 0, -ENOMEM, or -EINVAL with a sentence that starts with
 * "file:line:column: ". */
int json_read(const struct json_value **ret, struct arena *a, const char *file, const char *text,
              size_t len, struct err *e) CHECK_RESULT;

/* The same for files that Python's json module wrote: NaN, Infinity and -Infinity are numbers too,
 * of which none is whole. */
int json_read_python(const struct json_value **ret, struct arena *a, const char *file,
                     const char *text, size_t len, struct err *e) CHECK_RESULT;

/* The member of an object; of several with that key the last. NULL when there is none, and when
 * object is NULL or no object. */
const struct json_value *json_get(const struct json_value *object, const char *key);

#endif
