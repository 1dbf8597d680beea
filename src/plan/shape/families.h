/* Families of models, as model_type names them: what their files leave out, and what they have
 * beside the rest. */
#ifndef BRIM_PLAN_SHAPE_FAMILIES_H
#define BRIM_PLAN_SHAPE_FAMILIES_H
#include "plan/shape/fields.h"
#include "plan/shape/shape.h"

/* Names of a thing: the usual one first, then GPT-2's and MPT's. */
enum { SHAPE_NAMES_USUAL, SHAPE_NAMES_GPT2, SHAPE_NAMES_MPT };

/* Which name the width of an MLP has; or four times hidden, unless the file says it; or none, where
 * all layers have experts. */
enum { SHAPE_FFN_USUAL = 0, SHAPE_FFN_OPT = 1, SHAPE_FFN_FOURFOLD = -1, SHAPE_FFN_MAYBE = -2 };

struct shape_family {
    const char *name; /* model_type */
    int ffn;
    int names; /* what the sentence about a missing field calls it */
    int (*more)(const struct shape_file *c, struct shape *s); /* NULL: nothing */
    struct shape
        start; /* what the file leaves out; a size that is not 0 here may be missing there */
};

/* The family of that model_type, or NULL; for no model_type the plain GPT. */
const struct shape_family *shape_family_named(const char *name);

#endif
