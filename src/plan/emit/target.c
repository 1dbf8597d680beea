/* What programs that train have in common. */
#include <errno.h>
#include <string.h>

#include "plan/emit/emit_private.h"

int emit_check(const struct emit_ops *ops, const struct emit_limit *limits, size_t n, struct err *e)
{
    for (size_t i = 0; i < n; i++)
        if (limits[i].broken)
            return err_set(e, -EINVAL, "%s cannot express %s: %s", ops->version, limits[i].field,
                           limits[i].why);
    return 0;
}

const struct emit_model *emit_find_model(const struct emit_model *list, const char *name)
{
    for (; list->name; list++)
        if (!strcmp(list->name, name))
            return list;
    return NULL;
}

const char *emit_lower(bool b)
{
    return b ? "true" : "false";
}

const char *emit_upper(bool b)
{
    return b ? "True" : "False";
}

bool emit_stages_equal(const struct emit *x)
{
    return layout_slots(x->l, x->job->shape.layers) % (x->l->pp * x->l->vpp) == 0;
}
