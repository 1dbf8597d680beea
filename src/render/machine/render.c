#include "render/machine/render.h"

#include <string.h>

extern const struct machine_renderer machine_tree, machine_matrix, machine_json, machine_svg,
    machine_nccl_xml;

static const struct machine_renderer *const renderers[] = {
    &machine_tree, &machine_matrix, &machine_json, &machine_svg, &machine_nccl_xml,
};

const struct machine_renderer *machine_renderer_find(const char *name)
{
    for (size_t i = 0; i < ARRAY_SIZE(renderers); i++)
        if (!strcmp(renderers[i]->name, name))
            return renderers[i];
    return NULL;
}
