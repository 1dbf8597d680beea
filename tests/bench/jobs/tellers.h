/* Who tells brim control how busy devices are, made up: 10,000 agents over HTTP, and one Prometheus
 * that has 80,000 GPUs. What asking them costs. */
#ifndef BRIM_BENCH_TELLERS_H
#define BRIM_BENCH_TELLERS_H

/* Print the lines of a benchmark. 0, or 1 when something is wrong. */
int tellers_measure(void);

#endif
