/* What the fake DCMI tells tests beside what a driver would. */
#ifndef BRIM_TESTS_FAKE_DCMI_H
#define BRIM_TESTS_FAKE_DCMI_H

typedef void fake_dcmi_reload_fn(void);
typedef unsigned fake_dcmi_calls_fn(int device);

#endif
