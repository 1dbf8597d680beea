#include "cmd/plan/model.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "plan/shape/config.h"

enum { CONFIG_MAX = 8 << 20, PATH_LONGEST = 4096 };

static int read_config(const char *path, struct shape *ret, struct err *e)
{
    CLEANUP(str_done) struct str text = STR_INIT(CONFIG_MAX);
    int rc = file_read(path, &text, e);

    return rc < 0 ? rc : shape_from_config(ret, path, str_text(&text), text.len, e);
}

/* "./x", "../x", "/x" and "x.json" can be nothing else; "org/x" may be a name. */
static bool is_path(const char *name)
{
    const char *ending = strrchr(name, '.');

    return *name == '/' || *name == '.' || (ending && !strcmp(ending, ".json"));
}

int plan_model_read(const struct plan_known *known, const char *name, struct shape *ret,
                    struct err *e)
{
    const struct model_row *row = NULL;
    char path[PATH_LONGEST];
    struct stat st;
    int rc;

    if (!name || !*name)
        return err_usage(e, "name a model, such as Llama-3.1-8B or a config.json");
    if (stat(name, &st) == 0 && S_ISDIR(st.st_mode)) {
        if (snprintf(path, sizeof(path), "%s/config.json", name) >= (int)sizeof(path))
            return err_set(e, -ENAMETOOLONG, "%.60s...: the path is too long", name);
        return read_config(path, ret, e);
    }
    if (is_path(name) || stat(name, &st) == 0)
        return read_config(name, ret, e);
    rc = err_usage_of(models_find(&known->models, name, &row, e));
    if (rc == 0)
        *ret = row->shape;
    return rc < 0 ? err_context(e, rc, "%s", strchr(name, '/') ? "no such file, and " : "") : 0;
}
