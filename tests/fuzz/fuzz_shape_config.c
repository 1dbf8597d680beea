#include <errno.h>

#include "fuzz.h"
#include "plan/shape/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct shape s = { .name = "" };
    struct err e = { "" };
    int rc = shape_from_config(&s, "f", (const char *)data, size, &e);

    check(rc == 0 || rc == -EINVAL);
    check((rc == 0) == (e.text[0] == '\0'));
    if (rc == 0) {
        struct shape_params p = shape_count(&s);

        check(shape_check(&s, NULL) == 0 && s.name[0]);
        check(p.total >= 1 && p.total <= 1e15 && p.active >= 1 && p.active <= p.total);
    } else {
        check(strncmp(e.text, "f:", 2) == 0);
    }
    return 0;
}
