#include "cmd/common/fake_option.h"

#include "devices_csv.h"
#include "probe/gpu/fake_spec.h"
#include "probe/source/source.h"

int fake_option_check(const char *spec, struct err *e)
{
    CLEANUP(catalogue_done) struct catalogue c = { .n_products = 0 };
    int rc;

    if (!spec || fake_is_script(spec)) /* a script is read by what plays it */
        return 0;
    rc = catalogue_load(&c, data_devices_csv, data_devices_csv_len, e);
    return rc < 0 ? rc : probe_fake_check(&c, spec, e);
}
