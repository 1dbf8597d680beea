/* What to say about a PCIe link: what it runs at, what it could, and why it does not. */
#ifndef BRIM_RENDER_MACHINE_PCIE_LINK_TEXT_H
#define BRIM_RENDER_MACHINE_PCIE_LINK_TEXT_H
#include "base/str.h"
#include "model/machine/machine.h"

enum link_state {
    LINK_UNKNOWN, /* the link's rate or width could not be read */
    LINK_FINE,
    LINK_IDLE,     /* an accelerator that lowers its speed while nothing uses it */
    LINK_DEGRADED, /* slower or narrower than both ends can */
};

struct pcie_link_text {
    enum link_state state;
    double gts, able_gts; /* now, and the most that both ends can; ABSENT */
    int width, able_width;
    double gbs; /* now, one direction; ABSENT */
};

/* The link above the function of an index. Its best is the lesser of the function's own and of the
 * port above it, so that a slow slot is not called degraded. */
struct pcie_link_text pcie_link_text_at(const struct node *n, int pci);

/* The same for a device, ABSENT values when it is no PCI function. */
struct pcie_link_text pcie_link_text_of(const struct node *n, const struct device *d);

/* The function whose link joins a device to the machine: its own, or that of the topmost switch on
 * its own board (AMD's accelerators sit below one). An index, or ABSENT. */
int pcie_link_board_port(const struct node *n, const struct device *d);

/* Add "Gen5 x16"; nothing when the state is unknown. */
void pcie_link_add_rate(struct str *out, double gts, int width);

/* Add "Gen5 x16", "Gen3 x8, could be Gen4 x16" or "Gen1 x16 (idle; Gen5 able)". */
void pcie_link_add_text(struct str *out, const struct pcie_link_text *l);

#endif
