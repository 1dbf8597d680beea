/* How an NVIDIA device is divided into instances (MIG): seven slices of compute, eight of memory.
 * An instance of so many slices of compute takes memory that lies together, from certain slices on:
 * where there is none, what is free is of no use to it. By the MIG User Guide, "Supported MIG
 * Profiles" and its figures of placements; A30 has other numbers and is not known here. */
#ifndef BRIM_MODEL_MACHINE_MIG_H
#define BRIM_MODEL_MACHINE_MIG_H
#include <stdbool.h>
#include <stdint.h>

enum { MIG_SLICES = 7 };

/* Whether devices of a kind are divided so, by its name; "" is a kind that nobody named. */
bool mig_divides(const char *kind);

/* "1g" to "7g" as slices of compute; 0: there is no such instance. */
int mig_slices(const char *text);

/* The thousandths of a device that an instance of so many slices is. */
int mig_milli(int slices);

/* Whether such an instance has room beside the slices of memory, as bits, that are taken. */
bool mig_fits(uint8_t taken, int slices);

/* The slices of memory, as bits, that an instance takes beside those taken: those that leave most
 * room for others. 0: there is no room. */
uint8_t mig_place(uint8_t taken, int slices);

#endif
