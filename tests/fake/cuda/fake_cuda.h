/* What the fake cuBLAS needs of the fake driver. */
#ifndef BRIM_TESTS_FAKE_CUDA_H
#define BRIM_TESTS_FAKE_CUDA_H

/* Work of so many seconds on the device: its clock goes on. */
void fake_cuda_work(double seconds);

#endif
