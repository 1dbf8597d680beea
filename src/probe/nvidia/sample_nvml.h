/* For the tests of sampler_nvml. */
#ifndef BRIM_PROBE_NVIDIA_SAMPLE_NVML_H
#define BRIM_PROBE_NVIDIA_SAMPLE_NVML_H
#include "probe/nvidia/nvml_session.h"
#include "probe/sample/sampler.h"

/* Its open() with paces of a test's own. */
int sample_nvml_open(void **state, const struct sampler_env *env, const struct nvml_paces *paces,
                     struct err *e) CHECK_RESULT;

#endif
