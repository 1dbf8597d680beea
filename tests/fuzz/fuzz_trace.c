#include <errno.h>

#include "diagnose/straggler/straggler.h"
#include "fuzz.h"

/* Any bytes are a trace or none; one that is taken can be judged, or waits in a circle. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct op_trace t = { .n_dp = 0 };
    struct straggler s;
    struct err e = { "" };
    int rc = op_trace_load(&t, "f", (const char *)data, size, &e);

    check(rc == 0 || rc == -EINVAL || rc == -ENOTSUP);
    check((rc == 0) == (e.text[0] == '\0'));
    if (rc < 0) {
        check(line_told(e.text, "f:") >= 1);
        return 0;
    }
    rc = straggler_judge(&t, &s, &e);
    check(rc == 0 || rc == -EINVAL);
    check((rc == 0) == (e.text[0] == '\0'));
    if (rc == 0)
        check(s.slowdown > 0 && s.worst_dp < t.n_dp && s.worst_stage < t.n_stages);
    op_trace_done(&t);
    return 0;
}
