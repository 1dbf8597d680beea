/* NCCL's topology XML (NCCL_TOPO_DUMP_FILE) as a node. It holds less than a recording: no settings,
 * of PCIe switches only the upstream ports, and no host bridges: all that hangs off one CPU meets
 * there. */
#ifndef BRIM_PROBE_SOURCE_NCCL_XML_H
#define BRIM_PROBE_SOURCE_NCCL_XML_H
#include "model/machine/catalogue.h"
#include "model/machine/machine.h"

/* -EINVAL with "name:line: ..." when text is no XML, or none of NCCL's. */
int nccl_xml_read(const char *name, const char *text, size_t len, const struct catalogue *c,
                  struct node **ret, struct err *e) CHECK_RESULT;

#endif
