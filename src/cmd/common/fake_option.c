#include "cmd/common/fake_option.h"

#include "devices_csv.h"
#include "probe/gpu/fake_spec.h"
#include "probe/source/source.h"

int fake_option_script(const char *option, const char *path, struct err *e)
{
    struct fake_script s = { .count = 0 };
    int rc = fake_script_load(&s, path, e);

    fake_script_done(&s);
    return rc < 0 ? err_context(e, rc, "%s: ", option) : 0;
}

int fake_option_check(const char *spec, struct err *e)
{
    CLEANUP(catalogue_done) struct catalogue c = { .n_products = 0 };
    int rc;

    if (!spec)
        return 0;
    if (fake_is_script(spec))
        return fake_option_script("--fake", spec, e);
    rc = catalogue_load(&c, data_devices_csv, data_devices_csv_len, e);
    return rc < 0 ? rc : probe_fake_check(&c, spec, e);
}
