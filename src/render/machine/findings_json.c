#include "base/json.h"
#include "render/machine/render.h"

static void put_text(struct json *j, const char *key, const char *value)
{
    if (value)
        json_string(j, key, value);
}

static void put_counts(struct json *j, const struct findings *f)
{
    static const char *const keys[] = {
        [SEVERITY_UNKNOWN] = "not_checked",
        [SEVERITY_NOTE] = "note",
        [SEVERITY_WARNING] = "warning",
        [SEVERITY_CRITICAL] = "critical",
    };

    json_object(j, "counts");
    for (int s = SEVERITY_CRITICAL; s >= SEVERITY_UNKNOWN; s--) {
        int64_t count = 0;

        for (size_t i = 0; i < f->count; i++)
            count += (int)f->list[i].severity == s;
        json_int(j, keys[s], count);
    }
    json_int(j, "passed", (int64_t)f->passed);
    json_end(j);
}

static void put_finding(struct json *j, const struct finding *one)
{
    json_object(j, NULL);
    put_text(j, "check", one->check);
    json_string(j, "severity", severity_text(one->severity));
    put_text(j, "node", one->node);
    put_text(j, "sentence", one->sentence);
    put_text(j, "evidence", one->evidence);
    put_text(j, "effect", one->effect);
    put_text(j, "action", one->action);
    json_end(j);
}

int findings_render_json(const struct findings *f, const struct machine_view *v, struct str *out)
{
    struct json j = JSON_INIT(out);

    json_object(&j, NULL);
    json_string(&j, "schema", "brim.audit.v1");
    json_array(&j, "nodes");
    for (size_t i = 0; i < v->machine->n_nodes; i++)
        json_string(&j, NULL, v->machine->nodes[i]->name);
    json_end(&j);
    put_counts(&j, f);
    json_array(&j, "findings");
    for (int s = SEVERITY_CRITICAL; s >= SEVERITY_UNKNOWN; s--)
        for (size_t i = 0; i < f->count; i++)
            if ((int)f->list[i].severity == s)
                put_finding(&j, &f->list[i]);
    json_end(&j);
    json_end(&j);
    return str_error(out);
}
