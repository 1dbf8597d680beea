/* Settings of this machine that need an operator: the limit of power of GPUs ("power.limit", in
 * watts), the highest clock that they may run at ("clock.limit", in MHz), the read-ahead of a
 * disk ("disk.readahead", in KiB), the governor of CPUs ("cpu.governor"). Each stands for some
 * things: GPUs, a disk, sets of CPUs. */
#ifndef BRIM_RUN_SETTING_MACHINE_SETTING_H
#define BRIM_RUN_SETTING_MACHINE_SETTING_H
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

enum { LEVER_WORD = 64, LEVER_DISKS = 64, LEVER_GPUS = 64, LEVER_TEXT_MAX = 256 << 10 };

struct machine_setting_about {
    const char *root; /* "" for this machine; else a folder with copies of its files */
    const char *gpus; /* of the job, as environ_gpus() has them; NULL: all */
};

struct machine_settings {
    struct machine_setting_about about;
    struct nvml_power *power;        /* opened when it is first wanted */
    unsigned locked_mhz[LEVER_GPUS]; /* by us, since no driver tells it; 0: it is not */
    struct {
        char name[LEVER_WORD];
        uint64_t sectors; /* read when these were opened */
    } disks[LEVER_DISKS];
    size_t n_disks;
    char disk[LEVER_WORD]; /* the one that is set; "": not chosen yet */
};

/* about is copied, its texts are borrowed. */
void machine_settings_init(struct machine_settings *l, const struct machine_setting_about *about);
void machine_settings_done(struct machine_settings *l);

/* One thing of a target, as a line of a text. */
struct machine_setting_line {
    char target[LEVER_WORD], thing[LEVER_WORD], value[LEVER_WORD];
};

/* The next line "TARGET THING VALUE" of a text; false at its end. Others are left out. */
bool machine_setting_next(const char **text, struct machine_setting_line *ret);

/* Add a line for each thing of a target, as it is now. Of disks it is the one that was read from
 * most since machine_settings_init(), and stays that. 0; -ENOMEM; -ENOENT when there is nothing of
 * the kind, -EIO ...: with a sentence. */
int machine_setting_read(struct machine_settings *l, const char *target, struct str *out,
                         struct err *e) CHECK_RESULT;

/* Whether all things of a target can be put back later as they are now, before any of them is set:
 * 0; -EBUSY and others with a sentence. */
int machine_setting_check(struct machine_settings *l, const char *target, struct err *e)
    CHECK_RESULT;

/* Set one thing: 0, or a negative errno with a sentence. */
int machine_setting_put(struct machine_settings *l, const struct machine_setting_line *line,
                        struct err *e) CHECK_RESULT;

/* The value that all lines of a text have; NULL when there is none. */
const char *machine_setting_same(const char *text, char buf[LEVER_WORD]);

#endif
