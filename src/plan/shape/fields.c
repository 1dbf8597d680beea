#include "plan/shape/fields.h"

#include <errno.h>
#include <string.h>

int shape_bad_value(const struct shape_file *c, const struct json_value *v, const char *wanted)
{
    return err_set(c->e, -EINVAL, "%s:%d:%d: %s must be %s", c->file, v->line, v->column, v->key,
                   wanted);
}

int shape_bad(const struct shape_file *c, const char *what)
{
    return err_set(c->e, -EINVAL, "%s: %s", c->file, what);
}

static void mark_seen(const struct shape_file *c, const struct json_value *v)
{
    if (v && c->seen)
        c->seen[v - c->root->items] = true;
}

const struct json_value *shape_get(const struct shape_file *c, const char *name)
{
    const struct json_value *v = json_get(c->root, name);

    mark_seen(c, v);
    return v && v->kind != JSON_NULL ? v : NULL;
}

void shape_pass_over(const struct shape_file *c, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        mark_seen(c, json_get(c->root, names[i]));
}

bool shape_is_kind(const struct json_value *layers, size_t i, const char *kind, const char *other)
{
    const struct json_value *v = &layers->items[i];

    return v->kind == JSON_STRING && (!strcmp(v->text, kind) || !strcmp(v->text, other));
}

int shape_get_kinds(const struct shape_file *c, const char *name, int layers,
                    const struct json_value **ret)
{
    const struct json_value *v = shape_get(c, name);

    if (!v)
        return 0;
    if (v->kind != JSON_ARRAY || v->n_items != (size_t)layers)
        return err_set(c->e, -EINVAL, "%s:%d:%d: %s must be an array of %d kinds of layers",
                       c->file, v->line, v->column, v->key, layers);
    *ret = v;
    return 1;
}

static int to_int(const struct shape_file *c, const struct json_value *v, int *ret)
{
    if (v->kind != JSON_NUMBER || !v->is_whole || v->whole < 0 || v->whole > INT32_MAX)
        return shape_bad_value(c, v, "a whole number from 0 to 2147483647");
    *ret = (int)v->whole;
    return 0;
}

int shape_get_int(const struct shape_file *c, const char *const *any, int *ret)
{
    const struct json_value *first = NULL;

    for (size_t i = 0; i < SHAPE_NAMES && any[i]; i++) {
        const struct json_value *v = json_get(c->root, any[i]);

        if (!v || v->kind == JSON_NULL || (first && first->whole != v->whole))
            continue;
        first = first ? first : v;
        mark_seen(c, v); /* another name with another number is one that nobody read */
    }
    return first && to_int(c, first, ret) < 0 ? -EINVAL : first != NULL;
}

int shape_need_int(const struct shape_file *c, const char *const *any, const char *asked, int *ret)
{
    int rc = shape_get_int(c, any, ret);

    if (rc == 0)
        return err_set(c->e, -EINVAL, "%s: %s is missing", c->file, asked);
    return MIN(rc, 0);
}

int shape_get_one(const struct shape_file *c, const char *name, int *ret)
{
    const char *const one[SHAPE_NAMES] = { name };

    return shape_get_int(c, one, ret);
}

int shape_need_one(const struct shape_file *c, const char *name, int *ret)
{
    const char *const one[SHAPE_NAMES] = { name };

    return shape_need_int(c, one, name, ret);
}

int shape_get_bool(const struct shape_file *c, const char *name, bool *ret)
{
    const struct json_value *v = shape_get(c, name);

    if (!v)
        return 0;
    if (v->kind != JSON_BOOL)
        return shape_bad_value(c, v, "true or false");
    *ret = v->boolean;
    return 0;
}

bool shape_is_text(const struct shape_file *c, const char *name, const char *text)
{
    const struct json_value *v = shape_get(c, name);

    return v && v->kind == JSON_STRING && !strcmp(v->text, text);
}
