/* What brim sim says of services, spot jobs and power. */
#include <math.h>

#include "cmd/sim/show.h"

enum { NAME_WIDTH = 17, SERVICE_WIDTH = 12 };
static const double hour_ms = 3600e3, second_ms = 1e3, kw_mw = 1e6;

static double hours(double ms)
{
    return ms / hour_ms;
}

static double mean_kw(const struct sim_result *r)
{
    return r->submitted_ms > 0 ? r->tiers.drawn / (double)r->submitted_ms / kw_mw : (double)NAN;
}

/* What spot jobs pay for their hours. */
static double spot_usd(const struct sim_report *r, const struct sim_run *run)
{
    return run->money.usd_spot * (double)r->spot_percent / 100;
}

static void add_name(const char *name, struct str *out)
{
    str_add(out, name);
    str_pad(out, NAME_WIDTH);
}

/* ---- text ---- */

static void add_service(const struct sim_run *run, const struct sim_service *x, struct str *out)
{
    add_name(run->policy.name, out);
    str_addf(out, "%-*s %8zu %6zu", SERVICE_WIDTH, x->name, x->replicas, x->replicas - x->started);
    str_addf(out, " %9s %9s %9s %9s", quantity_span(x->wait).text, quantity_span(x->p50).text,
             quantity_span(x->p99).text, quantity_span(x->max).text);
    str_addf(out, " %8s", quantity_span((double)run->policy.service.within_ms / second_ms).text);
    if (isnan(x->within))
        str_addf(out, " %9s\n", "?");
    else
        str_addf(out, " %9.2f\n", x->within * 100);
}

static void add_services(const struct sim_report *r, struct str *out)
{
    bool any = false;

    for (size_t i = 0; i < r->n_runs; i++) {
        const struct sim_tier_stats *s = &r->runs[i].tiers;

        if (s->n_services && !any) {
            str_add_char(out, '\n');
            add_name("policy", out);
            str_addf(out,
                     "%-*s replicas  never      wait       p50       p99       max   within"
                     "  in time%%\n",
                     SERVICE_WIDTH, "service");
        }
        any |= s->n_services > 0;
        for (size_t k = 0; k < s->n_services; k++)
            add_service(&r->runs[i], &s->services[k], out);
    }
}

static void add_spot(const struct sim_report *r, struct str *out)
{
    bool any = false;

    for (size_t i = 0; i < r->n_runs; i++) {
        const struct sim_run *run = &r->runs[i];
        const struct sim_tiers *t = &run->result.tiers;
        double usd = spot_usd(r, run);

        if (!run->policy.spot.said)
            continue;
        if (!any) {
            str_add_char(out, '\n');
            add_name("policy", out);
            str_add(out, "spot jobs    ended gave way  device-h  done again  spot dollars\n");
        }
        any = true;
        add_name(run->policy.name, out);
        str_addf(out, "%9zu %8zu %8llu %9.0f %11.1f", run->tiers.spot_jobs, run->tiers.spot_ended,
                 (unsigned long long)t->gave_way, hours(t->spot), hours(t->redone));
        if (isnan(usd))
            str_addf(out, " %13s\n", "?");
        else
            str_addf(out, " %13.0f\n", usd);
    }
}

static void add_power(const struct sim_report *r, struct str *out)
{
    bool any = false;

    for (size_t i = 0; i < r->n_runs; i++) {
        const struct sim_run *run = &r->runs[i];
        const struct sim_tiers *t = &run->result.tiers;

        if (!run->policy.power.said)
            continue;
        if (!any) {
            str_add_char(out, '\n');
            add_name("policy", out);
            str_add(out, "  cap kW  peak kW  mean kW  waited for power  at a lower limit"
                         "  work done, device-h\n");
        }
        any = true;
        add_name(run->policy.name, out);
        str_addf(out, "%8.1f %8.1f %8.1f %17llu %17llu %20.0f\n",
                 (double)run->policy.power.cap_mw / kw_mw, (double)t->peak_mw / kw_mw,
                 mean_kw(&run->result), (unsigned long long)t->held, (unsigned long long)t->limited,
                 run->tiers.done_hours);
    }
}

void sim_show_tiers(const struct sim_report *r, struct str *out)
{
    add_services(r, out);
    add_spot(r, out);
    add_power(r, out);
}

/* ---- JSON ---- */

static void json_services(const struct sim_run *run, struct json *j)
{
    json_array(j, "services");
    for (size_t i = 0; i < run->tiers.n_services; i++) {
        const struct sim_service *x = &run->tiers.services[i];

        json_object(j, NULL);
        json_string(j, "name", x->name);
        json_int(j, "replicas", (int64_t)x->replicas);
        json_int(j, "started", (int64_t)x->started);
        json_round(j, "wait_s", x->wait, 3);
        json_round(j, "wait_p50_s", x->p50, 3);
        json_round(j, "wait_p99_s", x->p99, 3);
        json_round(j, "wait_max_s", x->max, 3);
        json_round(j, "within_s", (double)run->policy.service.within_ms / second_ms, 3);
        json_round(j, "started_within", x->within, 6);
        json_end(j);
    }
    json_end(j);
    json_round(j, "service_device_hours", hours(run->result.tiers.service), 3);
    json_int(j, "preempted_for_services", (int64_t)run->result.tiers.for_replicas);
}

void sim_show_tiers_json(const struct sim_report *r, const struct sim_run *run, struct json *j)
{
    const struct sim_tiers *t = &run->result.tiers;

    if (run->policy.service.said)
        json_services(run, j);
    if (run->policy.spot.said) {
        json_object(j, "spot");
        json_int(j, "jobs", (int64_t)run->tiers.spot_jobs);
        json_int(j, "ended", (int64_t)run->tiers.spot_ended);
        json_int(j, "gave_way", (int64_t)t->gave_way);
        json_round(j, "device_hours", hours(t->spot), 3);
        json_round(j, "done_again_device_hours", hours(t->redone), 3);
        json_round(j, "cost_usd", spot_usd(r, run), 2);
        json_end(j);
    }
    if (run->policy.power.said) {
        json_object(j, "power");
        json_round(j, "cap_kw", (double)run->policy.power.cap_mw / kw_mw, 3);
        json_round(j, "peak_kw", (double)t->peak_mw / kw_mw, 6);
        json_round(j, "mean_kw", mean_kw(&run->result), 3);
        json_round(j, "energy_kwh", hours(t->drawn) / kw_mw, 3);
        json_int(j, "waited_for_power", (int64_t)t->held);
        json_int(j, "at_a_lower_limit", (int64_t)t->limited);
        json_round(j, "work_done_device_hours", run->tiers.done_hours, 3);
        json_end(j);
    }
}
