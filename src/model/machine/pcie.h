/* PCI addresses and PCI Express arithmetic. */
#ifndef BRIM_MODEL_MACHINE_PCIE_H
#define BRIM_MODEL_MACHINE_PCIE_H
#include <stdint.h>

#include "base/compiler.h"

/* A number that could not be read; absent is not zero. */
enum { ABSENT = -1 };

struct pci_address {
    uint32_t domain;
    uint8_t bus, dev, fn;
};

int pci_address_cmp(struct pci_address a, struct pci_address b);

/* "0000:1b:00.0", also "1b:00.0" and the eight-digit domain of NVML. -EINVAL otherwise. */
int pci_address_parse(const char *text, struct pci_address *ret) CHECK_RESULT;

/* Write "0000:1b:00.0" into buf and return it. */
enum { PCI_ADDRESS_TEXT = 20 };
const char *pci_address_text(struct pci_address at, char buf[PCI_ADDRESS_TEXT]);

/* The generation (1 to 7) of a transfer rate in GT/s, 0 when it is none; the rate of a
 * generation. */
int pcie_gen(double gts);
double pcie_gts(int gen);

/* GB/s in one direction after line encoding (8b/10b up to Gen2, 128b/130b up to Gen5, 242/256 flits
 * from Gen6), before packet overhead. ABSENT when either argument is. */
double pcie_gbs(double gts, int width);

#endif
