/* Which boot of the kernel this is. */
#ifndef BRIM_PROBE_KERNEL_BOOT_ID_H
#define BRIM_PROBE_KERNEL_BOOT_ID_H

enum { BOOT_ID = 64 };

/* "3bf4...": another one after each start of the machine; "" where the kernel does not say. */
void boot_id_read(char ret[BOOT_ID]);

#endif
