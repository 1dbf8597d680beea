#include "probe/gpu/fake_spec.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/parse.h"

enum { SCRIPT_MAX = 1 << 20 };

bool fake_is_script(const char *spec)
{
    return strpbrk(spec, "./") != NULL;
}

int fake_read_count(const char *spec, int *count, const char **name)
{
    size_t len = strspn(spec, "0123456789");
    uint64_t number = 1;
    char digits[8];

    *name = spec;
    if (len > 0 && spec[len] == 'x') {
        snprintf(digits, sizeof(digits), "%.*s", (int)len, spec);
        if (parse_u64(digits, &number) < 0 || number < 1 || number > FAKE_GPUS)
            return -ERANGE;
        *name = spec + len + 1;
    }
    *count = (int)number;
    return 0;
}

int fake_script_load(struct fake_script *s, const char *spec, struct err *e)
{
    CLEANUP(str_done) struct str text = STR_INIT(SCRIPT_MAX);
    const char *name;
    int count = 0, rc;

    if (fake_is_script(spec)) {
        rc = file_read(spec, &text, e);
    } else {
        rc = fake_read_count(spec, &count, &name);
        if (rc < 0)
            return err_set(e, rc, "--fake %s: between 1 and %d devices can be invented", spec,
                           FAKE_GPUS);
        str_addf(&text, "[fake]\ncount = %d\n[gpu *]\nmodel = %s\nbusy_ratio = 0\n", count, name);
        if (str_error(&text))
            return err_nomem(e);
    }
    return rc < 0 ? rc : fake_script_read(s, spec, str_text(&text), text.len, e);
}
