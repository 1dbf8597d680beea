/* The parts of the fake NVML, and what it tells tests beside what a driver would. */
#ifndef BRIM_TESTS_FAKE_NVML_H
#define BRIM_TESTS_FAKE_NVML_H
#include "probe/nvidia/nvml_abi.h"

/* What every call about a GPU answers before its own business, after doing what the rules say. */
int fake_about(const char *call, nvml_device device);

int fake_index(nvml_device device);

/* The limit of power of a GPU, in milliwatts; ABSENT. */
int fake_limit(int device);

/* What a locked clock leaves of the highest one: 1 without a lock. */
double fake_clock_share(int device);

/* For tests, to be found with dlsym(). The first reads the rules of [fake] and what [live] says
 * anew; the second counts calls about a GPU since the library was loaded (call NULL: all of
 * them), and nvmlInit_v2 as if it were about GPU 0;
 * the third how often a field was asked of any GPU. */
typedef void fake_reload_fn(void);
typedef unsigned fake_calls_fn(const char *call, int device);
typedef unsigned fake_asked_fn(unsigned field);

#endif
