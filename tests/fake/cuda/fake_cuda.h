/* What the fake cuBLAS needs of the fake driver. */
#ifndef BRIM_TESTS_FAKE_CUDA_H
#define BRIM_TESTS_FAKE_CUDA_H

/* Work of so many seconds on the device: its clock goes on. */
void fake_cuda_work(double seconds);

/* Call it when what it makes is read; what is written to the device before is a reason not to. */
void fake_cuda_later(void (*make)(void));

/* The device whose context is the current one. */
int fake_cuda_device(void);

#endif
