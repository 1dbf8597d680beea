/* Machines out of recordings, in whatever form: one, many, a copy of a kernel's files, NCCL's XML.
 * */
#ifndef BRIM_PROBE_RECORDING_LOAD_H
#define BRIM_PROBE_RECORDING_LOAD_H
#include "probe/source/source.h"

/* Load what path holds into an empty machine:
 *   a recording's directory, or the machine.pack itself    one node
 *   a directory with sys/ in it, a copy of a machine's     one node
 *   a directory of recordings                              a node each, in the order of their names
 *   NCCL's topology XML, a file that ends in .xml          one node
 * p brings the catalogue; its tree is set here. In a directory of recordings one that is damaged is
 * noted in p->troubles and the others are loaded. */
int recording_load(struct probe *p, const char *path, struct machine *ret, struct err *e)
    CHECK_RESULT;

#endif
