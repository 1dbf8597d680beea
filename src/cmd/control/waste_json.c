#include "cmd/control/waste_json.h"

#include <math.h>

/* What hours of a kind cost; NaN where nobody knows. */
static int price_of(struct device_prices *prices, const struct waste_sum *s, double *ret,
                    struct err *e)
{
    int row = device_prices_row(prices, s->kind, e);

    if (row >= 0)
        *ret = prices->rows[row].usd_per_hour;
    return row < 0 ? row : 0;
}

/* One use: hours, and dollars, which are not known where those of a part are not. */
static int add_sum(const struct waste_sums *s, enum board_use use, struct device_prices *prices,
                   double *hours, double *usd, struct err *e)
{
    *hours = *usd = 0;
    for (size_t i = 0; i < s->n; i++) {
        double price = (double)NAN;
        int rc = price_of(prices, &s->kinds[i], &price, e);

        if (rc < 0)
            return rc;
        if (s->kinds[i].hours[use] <= 0)
            continue;
        *hours += s->kinds[i].hours[use];
        *usd += s->kinds[i].hours[use] * price;
    }
    return 0;
}

static int add_use(const struct waste_sums *all, const struct waste_sums *day, enum board_use use,
                   struct device_prices *prices, struct json *j, struct err *e)
{
    double hours = 0, usd = 0, day_hours = 0, day_usd = 0;
    int rc = add_sum(all, use, prices, &hours, &usd, e);

    if (rc == 0)
        rc = add_sum(day, use, prices, &day_hours, &day_usd, e);
    if (rc < 0 || hours <= 0)
        return rc;
    json_object(j, NULL);
    json_string(j, "use", board_use_name(use));
    json_round(j, "gpu_hours", hours, 3);
    json_round(j, "usd", usd, 2);
    json_round(j, "gpu_hours_day", day_hours, 3);
    json_round(j, "usd_day", day_usd, 2);
    json_end(j);
    return 0;
}

int waste_add_json(const struct waste_sums *all, const struct waste_sums *day,
                   struct device_prices *prices, struct json *j, struct err *e)
{
    int rc = 0;

    json_object(j, "waste");
    if (all->since_ms)
        json_int(j, "since_ms", all->since_ms);
    else
        json_null(j, "since_ms");
    json_array(j, "uses");
    for (enum board_use u = 0; u < BOARD_USES && rc == 0; u++)
        rc = add_use(all, day, u, prices, j, e);
    json_end(j);
    json_array(j, "prices");
    for (size_t i = 0; i < prices->n; i++) {
        const struct rate *row = &prices->rows[i];

        json_object(j, NULL);
        json_string(j, "kind", row->kind);
        json_string(j, "gpu", row->gpu);
        json_number(j, "usd_per_hour", row->usd_per_hour, 6);
        json_string(j, "source", row->price_source);
        json_end(j);
    }
    json_end(j);
    json_end(j);
    return rc;
}
