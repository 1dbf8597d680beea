/* Shapes out of the config.json that comes with a model, as Hugging Face's transformers writes it.
 *
 * model_type names the family: it says what the file leaves out (whether an MLP is gated, where
 * biases are). A file without one is read as a plain GPT under the names that trainers use:
 * num_layers or n_layer, hidden_size or d_model, num_attention_heads or n_head, ...; but not one
 * that has architectures or other parts than such a model. */
#ifndef BRIM_PLAN_SHAPE_CONFIG_H
#define BRIM_PLAN_SHAPE_CONFIG_H
#include <stddef.h>

#include "plan/shape/shape.h"

/* Read a config.json. file is for messages: -EINVAL with "config.json: num_attention_heads is
 * missing", with line and column where a value is at fault, with the known families for an unknown
 * model_type, and for a field that is not known of the family but may count. *ret is a shape that
 * shape_check() takes. Of a model of several parts (text_config) it is the one for text. Its name
 * is the last part of _name_or_path, else of file, or of the folder of a "config.json". */
int shape_from_config(struct shape *ret, const char *file, const char *text, size_t len,
                      struct err *e) CHECK_RESULT;

/* The name of the i-th known model_type; NULL behind the last. */
const char *shape_family(size_t i);

#endif
