/* Starts away from a job's data: text and JSON. */
#include "cmd/sim/show.h"

enum { NAME_WIDTH = 17 };
static const double hour_ms = 3600e3;

bool sim_show_any_data(const struct sim_run *runs, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (runs[i].result.data.starts > 0)
            return true;
    return false;
}

void sim_show_data(const struct sim_run *runs, size_t n, struct str *out)
{
    if (!sim_show_any_data(runs, n))
        return;
    str_add(out, "\npolicy");
    str_pad(out, NAME_WIDTH);
    str_add(out, "starts of jobs with data  away from them     away%  bringing device-h\n");
    for (size_t i = 0; i < n; i++) {
        const struct sim_data *d = &runs[i].result.data;

        str_add(out, runs[i].policy.name);
        str_pad(out, NAME_WIDTH);
        str_addf(out, "%24llu %15llu %9.1f %18.1f\n", (unsigned long long)d->starts,
                 (unsigned long long)d->away,
                 d->starts ? 100.0 * (double)d->away / (double)d->starts : 0, d->brought / hour_ms);
    }
}

void sim_show_data_json(const struct sim_run *r, struct json *j)
{
    const struct sim_data *d = &r->result.data;

    if (d->starts == 0)
        return;
    json_object(j, "data");
    json_int(j, "starts", (int64_t)d->starts);
    json_int(j, "away", (int64_t)d->away);
    json_round(j, "bringing_device_hours", d->brought / hour_ms, 4);
    json_end(j);
}
