/* A process that changes settings of this machine (run/setting/machine_setting.h) for brim, and
 * puts them back as soon as brim ends, however that was. What it changes is written down before, in
 * a folder: when the restorer is killed as well, setting_restorer_undo() puts back what the note
 * tells. */
#ifndef BRIM_RUN_SETTING_SETTING_RESTORER_H
#define BRIM_RUN_SETTING_SETTING_RESTORER_H
#include "run/setting/machine_setting.h"

struct setting_restorer;

/* Start one; the caller has no other thread, and is no subreaper yet. What an earlier one left is
 * put back first. folder is made where it is not there. 0; -EBUSY when another brim has a restorer
 * with this folder; else a negative errno: with a sentence. */
int setting_restorer_start(struct setting_restorer **ret, const char *folder,
                           const struct machine_setting_about *about, struct err *e) CHECK_RESULT;

/* The value of a target that all its things have: false when there is none, or they differ. */
bool setting_restorer_now(struct setting_restorer *w, const char *target, char value[LEVER_WORD]);

/* Set all things of a target, or none: 0, or a negative errno with a sentence. It takes some
 * milliseconds; one that does not answer for seconds is never asked again. */
int setting_restorer_set(struct setting_restorer *w, const char *target, const char *value,
                         struct err *e) CHECK_RESULT;

/* Put all back, and end it: 0, or a negative errno with a sentence. Frees w, which may be NULL. */
int setting_restorer_end(struct setting_restorer *w, struct err *e);

/* Put back what a killed restorer left: how many things; 0 when there is no note; -EBUSY while
 * another brim has a restorer; else a negative errno: with a sentence. Adds a line for each to told
 * (may be NULL). */
int setting_restorer_undo(const char *folder, const struct machine_setting_about *about,
                          struct str *told, struct err *e) CHECK_RESULT;

#endif
