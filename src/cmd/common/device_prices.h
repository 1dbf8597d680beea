/* What devices cost by their kinds: money and power, from the program's tables or the user. */
#ifndef BRIM_CMD_COMMON_DEVICE_PRICES_H
#define BRIM_CMD_COMMON_DEVICE_PRICES_H
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/opt.h"
#include "base/str.h"

/* Of one device. What nobody said is NaN. */
struct rate {
    const char *kind; /* as it was asked for; "" where nobody names it */
    const char *gpu;  /* its name in gpus.csv; NULL: it has none there */
    double usd_per_hour, busy_w, idle_w;
    const char *price_source; /* "lambda, 2026-09-20", "given"; NULL */
    const char *power_source; /* "TDP", "given"; NULL */
};

/* Options that set them. gpu: what devices without a kind are. price: "2.5" for all, or
 * "H100=2.5,A100=1.2". power: watts, "700" or "700:75" (busy:idle) for all, or by kind as prices.
 * NULL: as the tables say. */
struct device_price_opts {
    const char *gpu, *price, *power;
};

/* Their rows in a table of options whose values have them as 'rates'. */
#define RATE_OPTION(values, member, arg, help) \
    { \
        OPT_STRING, 0, #member, offsetof(values, rates.member), arg, help \
    }
#define RATE_GPU(values, help) RATE_OPTION(values, gpu, "NAME", help)
#define RATE_PRICE(values) \
    RATE_OPTION(values, price, "USD|KIND=USD,...", \
                "dollars for an hour of a device (else of data/prices.csv)")
#define RATE_POWER(values, help) RATE_OPTION(values, power, "BUSY[:IDLE]|KIND=...,...", help)

struct device_prices {
    struct arena arena;
    struct device_price_opts o;
    struct rate *rows; /* of the kinds that were asked for */
    size_t n;
};

/* ERR_USAGE with a sentence for options that are none. */
int device_prices_open(struct device_prices *r, const struct device_price_opts *o, struct err *e)
    CHECK_RESULT;
void device_prices_done(struct device_prices *r);

/* The number of the row of a kind, made when it is new; a kind that no table has is a row without
 * figures, unless the options have some. -ENOMEM. */
int device_prices_row(struct device_prices *r, const char *kind, struct err *e) CHECK_RESULT;

/* Add the sentences that say where the figures come from, one to a line. */
void device_prices_about(const struct device_prices *r, struct str *out);

#endif
