/* The rows of limits/, one list for each file. */
#ifndef BRIM_TESTS_LIMITS_ALL_H
#define BRIM_TESTS_LIMITS_ALL_H

extern const struct limit_rows limits_sure, limits_loader, limits_storage, limits_cpus,
    limits_devices, limits_memory, limits_ranks, limits_time;

#endif
