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

const struct json_value *shape_get(const struct shape_file *c, const char *name)
{
    const struct json_value *v = json_get(c->root, name);

    return v && v->kind != JSON_NULL ? v : NULL;
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
    for (size_t i = 0; i < SHAPE_NAMES && any[i]; i++) {
        const struct json_value *v = shape_get(c, any[i]);
        int rc = v ? to_int(c, v, ret) : 0;

        if (v)
            return rc < 0 ? rc : 1;
    }
    return 0;
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
