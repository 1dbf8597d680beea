/* What a GPU's clock does while it is measured, by the driver's library (NVML): a figure without it
 * cannot be compared with another. */
#ifndef BRIM_BENCH_CLOCKS_H
#define BRIM_BENCH_CLOCKS_H
#include "probe/nvidia/nvml_api.h"

/* Of the samples of one figure. */
struct clock_seen {
    double mhz;   /* mean of the multiprocessors' clock; NaN: the driver does not tell */
    double held;  /* share of samples in which it was held down; NaN: not told */
    char why[16]; /* the most frequent reason: "power", "thermal" ...; "": it never was */
};

enum { CLOCKS_WHY = 5 };

struct clocks {
    struct nvml_api api;
    nvml_clock_fn *clock;
    nvml_device device;
    void *library; /* NULL: no driver that tells, and no figures */
    double mhz;    /* summed */
    int n_mhz, n_held, n_asked, why[CLOCKS_WHY];
};

/* Look for the GPU at that PCI address ("0000:17:00.0"); without one nothing will be told. */
void clocks_open(struct clocks *c, const char *bus);
void clocks_close(struct clocks *c);

/* Begin a figure; take a sample; what was seen since it began. */
void clocks_begin(struct clocks *c);
void clocks_sample(struct clocks *c);
void clocks_seen(const struct clocks *c, struct clock_seen *to);

#endif
