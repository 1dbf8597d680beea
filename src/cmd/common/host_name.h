/* What the machine is called that is shown. */
#ifndef BRIM_CMD_COMMON_HOST_NAME_H
#define BRIM_CMD_COMMON_HOST_NAME_H
#include <stddef.h>

/* This machine's, or that of the kernel's files below root where that is not NULL; "" when it is
 * not known. */
void host_name(const char *root, char *to, size_t size);

#endif
