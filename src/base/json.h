/* A JSON writer on a struct str. Keys are NULL inside arrays and at the top. Commas, newlines (one
 * after the whole too, unless compact) and escapes are its business; ends must match begins
 * (asserted). In text that is not UTF-8 each bad byte is written as U+FFFD.
 *
 *     struct json j = JSON_INIT(&out);
 *     json_object(&j, NULL);
 *     json_string(&j, "name", "n1");
 *     json_array(&j, "gpus"); json_int(&j, NULL, 1); json_end(&j);
 *     json_end(&j);
 */
#ifndef BRIM_BASE_JSON_H
#define BRIM_BASE_JSON_H
#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum { JSON_DEPTH_MAX = 32 };

struct json {
    struct str *out;
    bool compact; /* no newlines and indentation */
    unsigned depth;
    bool used[JSON_DEPTH_MAX];   /* something was written at this depth */
    char closer[JSON_DEPTH_MAX]; /* '}' or ']' */
};

#define JSON_INIT(out_) \
    { \
        .out = (out_) \
    }

void json_object(struct json *j, const char *key);
void json_array(struct json *j, const char *key);
void json_end(struct json *j);

void json_string(struct json *j, const char *key, const char *value); /* NULL writes null */
void json_int(struct json *j, const char *key, int64_t value);
void json_bool(struct json *j, const char *key, bool value);
void json_null(struct json *j, const char *key);

/* Up to 'digits' (1 to 17) significant digits, no trailing zeros; not finite writes null. */
void json_number(struct json *j, const char *key, double value, int digits);

/* Rounded to 'decimals' (0 to 9) places, no trailing zeros; not finite writes null. Takes an eighth
 * of the time of json_number(). */
void json_round(struct json *j, const char *key, double value, int decimals);

#endif
