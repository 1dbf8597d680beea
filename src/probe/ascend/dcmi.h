/* What Huawei's driver says about Ascend NPUs, through its library DCMI: the same three steps as
 * probe/nvidia/nvml.h, smaller. */
#ifndef BRIM_PROBE_ASCEND_DCMI_H
#define BRIM_PROBE_ASCEND_DCMI_H
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "model/machine/machine.h"
#include "probe/thread/watch.h"

enum { DCMI_CHIPS = 64, DCMI_TEXT_MAX = 64 << 10 };

/* One chip. Numbers not read are ABSENT, texts "". */
struct dcmi_chip {
    int card, device; /* the driver's way to name it */
    char bdf[PCI_ADDRESS_TEXT];
    char type[33], name[33], version[33]; /* "Ascend", "910B1", "V1" */
    int cores;                            /* AI cores */
    int64_t memory_b;                     /* high-bandwidth memory */
    int health;                           /* 0 good, 1 minor, 2 major, 3 critical alarm */
    bool lost;                            /* the driver lists it but does not reach it */
};

struct dcmi_reading {
    unsigned n_chips;
    struct dcmi_chip chips[DCMI_CHIPS];
};

void dcmi_reading_init(struct dcmi_reading *r);

/* As nvml_lib_read(). -ENODEV without library, driver or cards; -ENOSYS for a library that is not
 * DCMI; -EIO for what else it answers. */
int dcmi_lib_read(struct dcmi_reading *r, struct watch_where *where, struct err *e) CHECK_RESULT;

/* Bytes of what dcmi_get_device_hbm_info() calls MiB; ABSENT when it is no memory of a chip. */
int64_t dcmi_hbm_bytes(unsigned long long size, unsigned long long of);

/* As nvml_text_write() and nvml_text_read(). */
void dcmi_text_write(const struct dcmi_reading *r, struct str *out);
int dcmi_text_read(const char *name, const char *text, size_t len, struct dcmi_reading *r,
                   struct err *e) CHECK_RESULT;

/* As nvml_apply(). */
int dcmi_apply(const struct dcmi_reading *r, struct node *n) CHECK_RESULT;

#endif
