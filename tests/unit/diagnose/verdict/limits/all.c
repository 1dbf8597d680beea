#include "all.h"

#include "rows.h"

const struct limit_rows *const limits_all[] = {
    &limits_sure,   &limits_loader, &limits_storage, &limits_cpus, &limits_devices,
    &limits_memory, &limits_ranks,  &limits_time,    NULL,
};
