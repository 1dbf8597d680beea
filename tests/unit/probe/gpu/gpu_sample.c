/* Every signal of GPUs as it is published, against a file: an exchange of two rows is seen. */
#include "probe/gpu/gpu_sample.h"

#include "base/str.h"
#include "golden.h"

static void add_set(struct str *out, const struct signal_set *set)
{
    str_addf(out, "%s, each of a %s\n", set->name, set->thing);
    for (size_t i = 0; i < set->n_defs; i++) {
        const struct signal_def *def = &set->defs[i];

        if (!ok(def->name && def->help, "signal %zu of %s has a row", i, set->name))
            continue;
        str_addf(out, "  %zu %s%s%s%s: %s (%s)\n", i, def->name, def->label ? "{" : "",
                 def->label ? def->label : "", def->label ? "}" : "", def->help,
                 def->kind == SIGNAL_COUNTER ? "counter" : "gauge");
    }
    for (size_t i = 0; set->facts && set->facts[i]; i++)
        str_addf(out, "  fact %zu %s\n", i, set->facts[i]);
}

int main(int argc, char **argv)
{
    CLEANUP(str_done) struct str out = STR_INIT(64 << 10);

    if (argc != 2)
        return 2;
    add_set(&out, &gpu_set);
    add_set(&out, &gpu_throttle_set);
    add_set(&out, &gpu_error_set);
    add_set(&out, &gpu_process_set);
    golden(argv[1], str_text(&out));
    return done();
}
