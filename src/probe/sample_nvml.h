/* For the tests of sampler_nvml. */
#ifndef BRIM_PROBE_SAMPLE_NVML_H
#define BRIM_PROBE_SAMPLE_NVML_H
#include "probe/nvml_session.h"
#include "probe/sampler.h"

/* Its open() with paces of a test's own. */
int sample_nvml_open(void **state, const struct sampler_env *env, const struct nvml_paces *paces,
                     struct err *e) CHECK_RESULT;

#endif
