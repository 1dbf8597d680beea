/* Renderers: a machine, or findings about it, as text for people and files for programs. One ops
 * table; machine_renderer_find() knows them by name. They read the model and nothing else, trust no
 * string in it, and write the same text for the same machine. */
#ifndef BRIM_RENDER_MACHINE_RENDER_H
#define BRIM_RENDER_MACHINE_RENDER_H
#include <stdbool.h>

#include "base/str.h"
#include "model/machine/catalogue.h"
#include "model/machine/machine.h"
#include "model/verdict/finding.h"

struct machine_view {
    const struct machine *machine;
    const struct catalogue *catalogue;
    bool colour;      /* for a terminal: escape codes in text */
    unsigned columns; /* width of the terminal; 0 when there is none */
};

struct machine_renderer {
    const char *name;
    const char *summary; /* for the help text: "the PCIe tree, for people" */

    /* Add the machine to out. 0, -ENOMEM, or -EFBIG when it does not fit: out has then failed with
     * the same (str_error()), and what is in it is of no use. */
    int (*render)(const struct machine_view *v, struct str *out);
};

/* tree, matrix, json, svg or nccl-xml; NULL for any other name. */
const struct machine_renderer *machine_renderer_find(const char *name) CHECK_RESULT;

/* Add findings for people: a line that sums up, then the worst first; what holds for several nodes
 * stands once. With 'all' each check that could not be made is listed with its reason, else by
 * reason. 0, or -ENOMEM or -EFBIG, which out has failed with too. */
int findings_render_text(const struct findings *f, const struct machine_view *v, bool all,
                         struct str *out);

/* Add findings for programs: schema "brim.audit.v1", one entry per finding and node. */
int findings_render_json(const struct findings *f, const struct machine_view *v, struct str *out);

#endif
