/* The catalogue of faults that NVIDIA's driver numbers: XIDs of GPUs, SXIDs of NVSwitches, and what
 * the words behind the XIDs of NVLink 5 mean (data/xid.csv, sxid.csv, nvlink5.csv). */
#ifndef BRIM_MODEL_MACHINE_FAULT_H
#define BRIM_MODEL_MACHINE_FAULT_H
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "model/signal/severity.h"

/* What follows from a fault: see the comments of the tables. */
enum fault_class {
    FAULT_APP,
    FAULT_WATCH,
    FAULT_RESET,
    FAULT_DRAIN,
    FAULT_LINK,
    FAULT_MECH,
    FAULT_INFO,
    FAULT_COUNT, /* those of switches */
    FAULT_FATAL,
    FAULT_MAYBE_FATAL,
};

/* One row of xid.csv or sxid.csv; no text is NULL. */
struct fault {
    int code;
    const char *name; /* "GPU_HAS_FALLEN_OFF_THE_BUS" */
    const char *meaning;
    enum fault_class class;
    enum severity severity;
    const char *scope;  /* what is hit: "gpu" */
    const char *action; /* what to do; "-i GPU" in it stands for the GPU's PCI address */
};

/* One row of nvlink5.csv. */
struct fault_link {
    int xid; /* 144 to 150 */
    const char *unit;
    uint32_t info1, info2; /* the unit in the first word, by its two layouts */
    unsigned sub;
    uint32_t status; /* the second word */
    bool fatal;      /* to the link or the GPU */
    enum severity severity;
    const char *meaning, *action;
};

struct faults {
    struct arena arena;
    struct fault *xids, *sxids; /* in the order of their codes */
    size_t n_xids, n_sxids;
    struct fault_link *links;
    size_t n_links;
};

struct fault_text {
    const char *text;
    size_t len;
};

/* Read the three tables, whose columns are found by the names in their first rows. -EINVAL with
 * "xid.csv:LINE: ..." for a row that is no fault, and for codes that do not grow. */
int faults_load(struct faults *ret, const struct fault_text *xid, const struct fault_text *nvlink5,
                const struct fault_text *sxid, struct err *e) CHECK_RESULT;
void faults_done(struct faults *f);

/* The row of a code; NULL when the table lacks it. */
const struct fault *fault_xid(const struct faults *f, int code);
const struct fault *fault_sxid(const struct faults *f, int code);

/* "app", "maybe-fatal" ... */
const char *fault_class_text(enum fault_class c);

/* Bits 20 to 25 of the first word behind an XID of NVLink 5. */
unsigned fault_link_sub(uint32_t info);

/* Whether a rule is of that XID, unit and sub-code; its status is not looked at. */
bool fault_link_fits(const struct fault_link *rule, int xid, uint32_t info);

/* The rule of both words behind an XID of NVLink 5. Of several bits of status the gravest one
 * counts. NULL when none fits. */
const struct fault_link *fault_link(const struct faults *f, int xid, uint32_t info,
                                    uint32_t status);

#endif
