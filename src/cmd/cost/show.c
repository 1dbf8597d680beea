/* What brim cost prints. */
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "cmd/cost/cost.h"
#include "render/text.h"

enum { NAME_WIDTH = 25, NAME_SHOWN = 24 };

/* Where no job says whether its devices were busy, nobody knows how long they were idle; nor what
 * was wasted, when none ended in vain. */
static struct ledger_sum as_known(const struct ledger_sum *s)
{
    struct ledger_sum known = *s;

    if (s->measured > 0)
        return known;
    known.idle = (double)NAN;
    if (s->wasted <= 0)
        known.wasted = known.usd_wasted = (double)NAN;
    return known;
}

/* ---- text ---- */

static void add_number(double n, int width, int decimals, struct str *out)
{
    if (isnan(n))
        str_addf(out, " %*s", width, "?");
    else
        str_addf(out, " %*.*f", width, decimals, n);
}

static double share(double part, double whole)
{
    return whole > 0 ? part / whole * 100 : (double)NAN;
}

static void add_name(const char *name, struct str *out)
{
    text_add_clipped(out, name, NAME_SHOWN);
    str_pad(out, NAME_WIDTH);
}

static void add_sum(const struct ledger_sum *sum, struct str *out)
{
    const struct ledger_sum known = as_known(sum), *s = &known;

    add_name(s->name, out);
    str_addf(out, "%7zu", s->jobs);
    add_number(s->hours, 12, 1, out);
    add_number(share(s->measured - s->idle, s->measured), 6, 1, out);
    add_number(share(s->wasted, s->hours), 8, 1, out);
    add_number(s->kwh, 11, 1, out);
    add_number(s->usd, 12, 2, out);
    add_number(s->usd_wasted, 12, 2, out);
    str_add_char(out, '\n');
}

static void add_causes(const struct ledger_sums *s, const struct ledger_sum *all, struct str *out)
{
    if (!s->n)
        return;
    str_add(out, "\nwasted by");
    str_pad(out, NAME_WIDTH);
    str_add(out, "   jobs     device-h  % of all      dollars\n");
    for (size_t i = 0; i < s->n; i++) {
        const struct ledger_sum *x = &s->list[i];

        add_name(x->name, out);
        str_addf(out, "%7zu", x->jobs);
        add_number(x->hours, 12, 1, out);
        add_number(share(x->hours, all->hours), 9, 1, out);
        add_number(x->usd, 12, 2, out);
        str_add_char(out, '\n');
    }
}

static void add_notes(const struct cost_report *r, const struct ledger_sum *all, struct str *out)
{
    const struct ledger *l = r->ledger;

    if (all->measured < all->hours)
        str_addf(out, "whether devices were busy is known of %.1f %% of the device-hours\n",
                 share(all->measured, all->hours));
    if (!isnan(all->kwh) && all->kwh > 0 && all->kwh_measured < all->kwh)
        str_addf(out,
                 "energy was measured for %.1f %% of it, the rest is by the power of such "
                 "devices\n",
                 share(all->kwh_measured, all->kwh));
    device_prices_about(r->rates, out);
    if (l->skipped)
        str_addf(out, "%zu row%s without devices %s skipped\n", l->skipped, str_plural(l->skipped),
                 l->skipped == 1 ? "was" : "were");
    if (l->bad)
        str_addf(out, "%zu row%s left out%s: %s\n", l->bad, l->bad == 1 ? " was" : "s were",
                 l->bad == 1 ? "" : ", the first", l->note);
}

int cost_show_text(const struct cost_report *r, struct str *out, struct err *e)
{
    struct ledger_sum all = ledger_total(r->ledger);
    struct ledger_sums sums, causes;
    int rc;

    if (r->ledger->n == 0) {
        str_add(out, "no job had devices\n");
        add_notes(r, &all, out);
        return 0;
    }
    rc = ledger_sum_by(&sums, r->ledger, r->by, e);
    if (rc < 0)
        return rc;
    rc = ledger_sum_by(&causes, r->ledger, LEDGER_CAUSE, e);
    if (rc == 0) {
        str_add(out, r->by_name);
        str_pad(out, NAME_WIDTH);
        str_add(out,
                "   jobs     device-h  busy%  wasted%         kWh      dollars   of it waste\n");
        for (size_t i = 0; i < sums.n; i++)
            add_sum(&sums.list[i], out);
        add_sum(&all, out);
        add_causes(&causes, &all, out);
        str_add_char(out, '\n');
        add_notes(r, &all, out);
        ledger_sums_done(&causes);
    }
    ledger_sums_done(&sums);
    return rc;
}

/* ---- a table of commas ---- */

static void csv_text(const char *text, struct str *out)
{
    bool plain = text[strcspn(text, ",\"\r\n#")] == '\0';

    if (!plain)
        str_add_char(out, '"');
    for (; *text; text++) {
        char c = *text;

        if (c == '"')
            str_add_char(out, '"');
        if (c == '\n' || c == '\r')
            c = ' ';
        str_add_char(out, c);
    }
    if (!plain)
        str_add_char(out, '"');
}

static void csv_number(double n, int decimals, struct str *out)
{
    str_add_char(out, ',');
    if (!isnan(n))
        str_addf(out, "%.*f", decimals, n);
}

int cost_show_csv(const struct cost_report *r, struct str *out, struct err *e)
{
    struct ledger_sums sums;
    int rc = ledger_sum_by(&sums, r->ledger, r->by, e);

    if (rc < 0)
        return rc;
    str_addf(out,
             "%s,jobs,device_hours,measured_hours,idle_hours,wasted_hours,energy_kwh,"
             "energy_measured_kwh,cost_usd,wasted_usd\n",
             r->by_name);
    for (size_t i = 0; i < sums.n; i++) {
        const struct ledger_sum known = as_known(&sums.list[i]), *s = &known;

        csv_text(s->name, out);
        str_addf(out, ",%zu", s->jobs);
        csv_number(s->hours, 4, out);
        csv_number(s->measured, 4, out);
        csv_number(s->idle, 4, out);
        csv_number(s->wasted, 4, out);
        csv_number(s->kwh, 4, out);
        csv_number(s->kwh_measured, 4, out);
        csv_number(s->usd, 4, out);
        csv_number(s->usd_wasted, 4, out);
        str_add_char(out, '\n');
    }
    ledger_sums_done(&sums);
    return 0;
}

/* ---- JSON ---- */

static void json_sum(const char *key, const struct ledger_sum *sum, struct json *j)
{
    const struct ledger_sum known = as_known(sum), *s = &known;

    json_object(j, key);
    json_string(j, "name", s->name);
    json_int(j, "jobs", (int64_t)s->jobs);
    json_round(j, "device_hours", s->hours, 4);
    json_round(j, "measured_hours", s->measured, 4);
    json_round(j, "idle_hours", s->idle, 4);
    json_round(j, "wasted_hours", s->wasted, 4);
    json_round(j, "energy_kwh", s->kwh, 4);
    json_round(j, "energy_measured_kwh", s->kwh_measured, 4);
    json_round(j, "cost_usd", s->usd, 4);
    json_round(j, "wasted_usd", s->usd_wasted, 4);
    json_end(j);
}

static int json_sums(const char *key, const struct ledger *l, enum ledger_by by, struct json *j,
                     struct err *e)
{
    struct ledger_sums sums;
    int rc = ledger_sum_by(&sums, l, by, e);

    if (rc < 0)
        return rc;
    json_array(j, key);
    for (size_t i = 0; i < sums.n; i++)
        json_sum(NULL, &sums.list[i], j);
    json_end(j);
    ledger_sums_done(&sums);
    return 0;
}

static void json_rates(const struct device_prices *r, struct json *j)
{
    json_array(j, "rates");
    for (size_t i = 0; i < r->n; i++) {
        const struct rate *x = &r->rows[i];

        json_object(j, NULL);
        json_string(j, "kind", x->kind);
        json_string(j, "gpu", x->gpu);
        json_number(j, "usd_per_hour", x->usd_per_hour, 9);
        json_string(j, "price_source", x->price_source);
        json_number(j, "busy_w", x->busy_w, 9);
        json_number(j, "idle_w", x->idle_w, 9);
        json_end(j);
    }
    json_end(j);
}

int cost_show_json(const struct cost_report *r, struct str *out, struct err *e)
{
    static const char *const keys[LEDGER_BYS] = { "users", "teams", "projects", "jobs",
                                                  "wasted_by" };
    struct ledger_sum all = ledger_total(r->ledger);
    struct json j = JSON_INIT(out);
    int rc = 0;

    json_object(&j, NULL);
    json_string(&j, "schema", "brim.cost.v1");
    json_sum("all", &all, &j);
    for (int by = 0; by < LEDGER_BYS && rc == 0; by++)
        if (by != LEDGER_JOB || r->by == LEDGER_JOB)
            rc = json_sums(keys[by], r->ledger, (enum ledger_by)by, &j, e);
    if (rc < 0)
        return rc;
    json_rates(r->rates, &j);
    json_int(&j, "rows", (int64_t)r->ledger->rows);
    json_int(&j, "skipped", (int64_t)r->ledger->skipped);
    json_int(&j, "bad", (int64_t)r->ledger->bad);
    json_string(&j, "note", r->ledger->bad ? r->ledger->note : NULL);
    json_end(&j);
    return 0;
}
