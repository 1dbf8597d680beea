/* What a CPU's cores could do at best: clock times floating-point operations a cycle. Pure. */
#ifndef BRIM_BENCH_NOMINAL_H
#define BRIM_BENCH_NOMINAL_H

struct nominal {
    double ghz;            /* NaN: not known, these three */
    double flop32, flop64; /* of a core in a cycle */
    double flop_bf16;      /* of its matrix unit (AMX), which float32 does not use; NaN: none */
    const char *how;       /* "AVX-512: 2 units x 16 floats x 2 (multiply and add)" */
    const char *clock;     /* where the clock is from */
};

/* cpuinfo: the text of /proc/cpuinfo, of which the first CPU counts; max_khz: cpufreq's
 * cpuinfo_max_freq, 0 where there is none. Sources are beside the table in nominal.c. */
struct nominal nominal_read(const char *cpuinfo, double max_khz);

#endif
