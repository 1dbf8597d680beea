#include "cmd/common/device_prices.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/parse.h"
#include "gpus_csv.h"
#include "plan/cluster/gpus.h"
#include "plan/cluster/prices.h"
#include "prices_csv.h"
#include "model/signal/quantity.h"

static const double most_usd = 1e6, most_w = 1e6;

/* A number up to most; text need not end behind it. */
static int number(const char *text, size_t len, double most, double *ret)
{
    char copy[32];
    double n;

    if (len == 0 || len >= sizeof(copy))
        return -EINVAL;
    memcpy(copy, text, len);
    copy[len] = '\0';
    if (parse_double(copy, &n) < 0 || !(n >= 0) || n > most)
        return -EINVAL;
    *ret = n;
    return 0;
}

/* What "H100=2.5,A100=1.2" or "2.5" says of a kind (NULL: of any): its text, of len letters. */
static const char *given(const char *text, const char *kind, size_t *len)
{
    const char *found = NULL;
    size_t all;

    for (; text && *text; text += all + (text[all] == ',')) {
        const char *equal;

        all = strcspn(text, ",");
        equal = memchr(text, '=', all);
        if (equal && kind &&
            (strlen(kind) != (size_t)(equal - text) ||
             strncasecmp(kind, text, (size_t)(equal - text)) != 0))
            continue;
        found = equal ? equal + 1 : text;
        *len = all - (size_t)(found - text);
    }
    return found;
}

/* The price that "H100=2.5,A100=1.2" or "2.5" has for a kind: 1, 0 when it has none, -EINVAL. */
static int given_price(const char *text, const char *kind, double *ret)
{
    size_t len;
    const char *price = given(text, kind, &len);

    if (!price)
        return 0;
    return number(price, len, most_usd, ret) < 0 ? -EINVAL : 1;
}

/* The same of "700", "700:75" or "H100=700:75,A100=400:53". */
static int given_power(const char *text, const char *kind, double *busy, double *idle)
{
    size_t len;
    const char *power = given(text, kind, &len), *colon;

    if (!power)
        return 0;
    colon = memchr(power, ':', len);
    if (number(power, colon ? (size_t)(colon - power) : len, most_w, busy) < 0 ||
        (colon && number(colon + 1, len - (size_t)(colon + 1 - power), most_w, idle) < 0))
        return -EINVAL;
    return 1;
}

/* Whether a part of a text, of len letters, contradicts an earlier one: of the same kind, or one of
 * the two is of all kinds. "1,000" is such a text and no thousand, "H100=2,5" is not 2.5. */
static bool is_said_again(const char *text, const char *part, size_t len)
{
    const char *equal = memchr(part, '=', len);

    while (text < part) {
        size_t all = strcspn(text, ",");
        const char *other = memchr(text, '=', all);

        if (!other || !equal ||
            (other - text == equal - part && !strncasecmp(text, part, (size_t)(equal - part))))
            return true;
        text += all + 1;
    }
    return false;
}

/* Whether each part of a text is as it should be. */
static bool all_given(const char *text, bool power)
{
    const char *part = text;
    double n, m;

    if (!*text)
        return false;
    for (;;) {
        char one[256];
        size_t len = strcspn(part, ",");

        if (len >= sizeof(one) || is_said_again(text, part, len))
            return false;
        memcpy(one, part, len);
        one[len] = '\0';
        if ((power ? given_power(one, NULL, &n, &m) : given_price(one, NULL, &n)) <= 0)
            return false;
        if (!part[len])
            return true;
        part += len + 1;
    }
}

static int check_gpu(const char *name, struct err *e)
{
    const struct gpu_row *row;
    struct gpus gpus;
    int rc = gpus_load(&gpus, (const char *)data_gpus_csv, data_gpus_csv_len, e);

    if (rc < 0)
        return rc;
    rc = err_usage_of(gpus_find(&gpus, name, &row, e));
    gpus_done(&gpus);
    return rc < 0 ? err_context(e, rc, "--gpu: ") : 0;
}

int device_prices_open(struct device_prices *r, const struct device_price_opts *o, struct err *e)
{
    *r = (struct device_prices){ .o = *o };
    if (o->price && !all_given(o->price, false))
        return err_usage(e,
                         "--price must be dollars an hour, 2.5 or H100=2.5,A100=1.2, each up to "
                         "%.0f, not '%.100s'",
                         most_usd, o->price);
    if (o->power && !all_given(o->power, true))
        return err_usage(e,
                         "--power must be watts of a device, 700, 700:75 (busy:idle) or "
                         "H100=700:75,A100=400:53, each up to %.0f, not '%.100s'",
                         most_w, o->power);
    return o->gpu ? check_gpu(o->gpu, e) : 0;
}

void device_prices_done(struct device_prices *r)
{
    arena_done(&r->arena);
    *r = (struct device_prices){ .n = 0 };
}

/* What the tables say. */
static int look_up(struct device_prices *r, struct rate *row, const char *name, struct err *e)
{
    struct gpus gpus;
    struct prices prices = { .n_rows = 0 };
    const struct gpu_row *gpu;
    const struct price_row *price;
    int rc = gpus_load(&gpus, (const char *)data_gpus_csv, data_gpus_csv_len, e);

    if (rc < 0)
        return rc;
    rc = prices_load(&prices, (const char *)data_prices_csv, data_prices_csv_len, e);
    if (rc == 0 && gpus_find(&gpus, name, &gpu, NULL) == 0) {
        row->gpu = arena_strdup(&r->arena, gpu->gpu.name);
        row->busy_w = gpu->gpu.tdp_w;
        price = prices_find(&prices, gpu->gpu.name);
        row->power_source = isnan(row->busy_w) ? NULL : "its TDP";
        if (price) {
            row->usd_per_hour = price->usd_per_hour;
            row->idle_w = price->idle_w;
            row->price_source = arena_printf(&r->arena, "%s, %s", price->source, price->date);
        }
        if (!row->gpu || (price && !row->price_source))
            rc = err_nomem(e);
    }
    prices_done(&prices);
    gpus_done(&gpus);
    return rc;
}

int device_prices_row(struct device_prices *r, const char *kind, struct err *e)
{
    const char *name = *kind || !r->o.gpu ? kind : r->o.gpu;
    struct rate *row;
    int rc;

    for (size_t i = 0; i < r->n; i++)
        if (!strcmp(r->rows[i].kind, kind))
            return (int)i;
    row = ARENA_PUSH(&r->arena, &r->rows, &r->n);
    if (!row)
        return err_nomem(e);
    row->usd_per_hour = row->busy_w = row->idle_w = (double)NAN;
    row->kind = arena_strdup(&r->arena, kind);
    if (!row->kind)
        return err_nomem(e);
    rc = *name ? look_up(r, row, name, e) : 0;
    if (rc < 0)
        return rc;
    rc = given_price(r->o.price, name, &row->usd_per_hour);
    if (rc == 0 && row->gpu)
        rc = given_price(r->o.price, row->gpu, &row->usd_per_hour);
    if (rc > 0)
        row->price_source = "given";
    rc = given_power(r->o.power, name, &row->busy_w, &row->idle_w);
    if (rc == 0 && row->gpu)
        rc = given_power(r->o.power, row->gpu, &row->busy_w, &row->idle_w);
    if (rc > 0)
        row->power_source = "given";
    return (int)r->n - 1;
}

static bool same(double a, double b)
{
    return isnan(a) ? isnan(b) : a == b;
}

/* Whether an earlier row has the same figures of the same GPU: kinds have more than one name. */
static bool was_told(const struct device_prices *r, size_t i)
{
    const struct rate *row = &r->rows[i];

    for (size_t k = 0; row->gpu && k < i; k++) {
        const struct rate *x = &r->rows[k];

        if (x->gpu && !strcmp(x->gpu, row->gpu) && same(x->usd_per_hour, row->usd_per_hour) &&
            same(x->busy_w, row->busy_w) && same(x->idle_w, row->idle_w))
            return true;
    }
    return false;
}

void device_prices_about(const struct device_prices *r, struct str *out)
{
    for (size_t i = 0; i < r->n; i++) {
        const struct rate *row = &r->rows[i];

        if (was_told(r, i))
            continue;
        str_addf(out, "%s: ", row->gpu ? row->gpu : *row->kind ? row->kind : "devices");
        if (row->price_source)
            str_addf(out, "%s dollars an hour (%s)", quantity_number(row->usd_per_hour, 4).text,
                     row->price_source);
        else
            str_add(out, "no price known (--price)");
        if (row->power_source)
            str_addf(out, "; %s W busy (%s)", quantity_number(row->busy_w, 4).text,
                     row->power_source);
        else
            str_add(out, "; no power known (--power)");
        if (row->power_source && isnan(row->idle_w))
            str_add(out, ", idle not known and not counted");
        else if (row->power_source)
            str_addf(out, ", %s W idle", quantity_number(row->idle_w, 4).text);
        str_add_char(out, '\n');
    }
}
