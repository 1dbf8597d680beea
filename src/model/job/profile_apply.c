/* A profile and the knobs that there are. */
#include <errno.h>
#include <string.h>

#include "model/job/profile.h"

int profile_check(const struct profile *p, const struct knobs *knobs, const char *file,
                  struct err *e)
{
    for (size_t i = 0; i < p->count + p->n_memos; i++) {
        const struct profile_setting *s = i < p->count ? &p->settings[i] : &p->memos[i - p->count];
        const struct knob *k = knobs_find(knobs, s->knob);
        const char *near = k ? NULL : knobs_near(knobs, s->knob);
        int rc;

        if (!k)
            return err_set(e, -EINVAL, "%s:%d: unknown knob '%s'%s%s%s", file, s->line, s->knob,
                           near ? " (did you mean " : " (one of your own? --knobs FILE",
                           near ? near : "", near ? "?)" : ")");
        rc = knob_check(k, s->value, e);
        if (rc < 0)
            return err_context(e, rc, "%s:%d: ", file, s->line);
    }
    return 0;
}

/* In single quotes, for a shell. */
static void add_quoted(struct str *out, const char *text)
{
    str_add_char(out, '\'');
    for (; *text; text++) {
        if (*text == '\'')
            str_add(out, "'\\''");
        else
            str_add_char(out, *text);
    }
    str_add_char(out, '\'');
}

static void add_shim(const struct profile *p, const struct knobs *knobs, struct str *out)
{
    CLEANUP(str_done) struct str all = STR_INIT(16 << 10);

    for (size_t i = 0; i < p->count; i++) {
        const struct profile_setting *s = &p->settings[i];
        const struct knob *k = knobs_find(knobs, s->knob);

        if (k && k->apply == KNOB_SHIM)
            str_addf(&all, "%s%s=%s", all.len ? ";" : "", k->target, s->value);
    }
    str_fail(out, str_error(&all));
    if (!all.len)
        return;
    str_add(out, "export BRIM_KNOBS=");
    add_quoted(out, str_text(&all));
    str_add_char(out, '\n');
}

void profile_env(const struct profile *p, const struct knobs *knobs, struct str *out)
{
    for (size_t i = 0; i < p->count; i++) {
        const struct profile_setting *s = &p->settings[i];
        const struct knob *k = knobs_find(knobs, s->knob);

        if (!k || k->apply == KNOB_SHIM)
            continue;
        if (k->apply == KNOB_ENV) {
            str_addf(out, "export %s=", k->target);
            add_quoted(out, s->value);
            str_add_char(out, '\n');
        } else {
            str_addf(out, "# %s %s %s\n", knob_apply_name(k->apply), k->target, s->value);
        }
    }
    add_shim(p, knobs, out);
}
