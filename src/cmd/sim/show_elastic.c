/* What elastic jobs did: text and JSON. */
#include "cmd/sim/show.h"

enum { NAME_WIDTH = 17 };

bool sim_show_any_elastic(const struct sim_run *runs, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (runs[i].policy.elastic.on)
            return true;
    return false;
}

static unsigned long long resized(const struct sim_resizes *x)
{
    return (unsigned long long)x->to_more + x->to_fewer;
}

static double device_hours(double ms)
{
    return ms / 3600e3;
}

void sim_show_elastic(const struct sim_run *runs, size_t n, struct str *out)
{
    if (!sim_show_any_elastic(runs, n))
        return;
    str_add(out, "\npolicy");
    str_pad(out, NAME_WIDTH);
    str_add(out, " resized   to more  to fewer  started on fewer  paid device-h\n");
    for (size_t i = 0; i < n; i++) {
        const struct sim_resizes *x = &runs[i].result.resizes;

        if (!runs[i].policy.elastic.on)
            continue;
        str_add(out, runs[i].policy.name);
        str_pad(out, NAME_WIDTH);
        str_addf(out, "%8llu %9llu %9llu %17llu %14.1f\n", resized(x),
                 (unsigned long long)x->to_more, (unsigned long long)x->to_fewer,
                 (unsigned long long)x->started_on_fewer, device_hours(x->paid));
    }
}

void sim_show_elastic_json(const struct sim_run *r, struct json *j)
{
    const struct sim_resizes *x = &r->result.resizes;

    if (!r->policy.elastic.on)
        return;
    json_int(j, "resized", (int64_t)resized(x));
    json_int(j, "resized_to_more", (int64_t)x->to_more);
    json_int(j, "resized_to_fewer", (int64_t)x->to_fewer);
    json_int(j, "started_on_fewer", (int64_t)x->started_on_fewer);
    json_round(j, "resizes_device_hours", device_hours(x->paid), 4);
}
