/* brim with one call that fails: fake/faults links the program's own objects, with --wrap of what
 * takes memory and of system calls. Where FAULTS names a folder, that says what happens:
 *
 *     specs absent    the program runs as always, and FAULTS/record has a line for each new way to
 *                     such a call: its name, a hash, and the return addresses inside the program,
 *                     innermost first, as offsets
 *     specs           a line for each run: an errno, a name, a hash. A child is forked for each, in
 *                     which the first call of that way fails; N.out and N.err have what it prints,
 *                     N.files what it wrote to FAULTS_OUT, 'ends' a line: N, the status of wait(),
 *                     1 when the call was reached */
#ifndef BRIM_TESTS_FAULTS_H
#define BRIM_TESTS_FAULTS_H
#include <stdbool.h>

/* Whether this call is the one that fails, with errno set to what was asked for. name: of the
 * function; caller: where it returns to. */
bool fault_now(const char *name, const void *caller);

/* The return address of the function that this stands in. */
#define FAULT_CALLER __builtin_extract_return_addr(__builtin_return_address(0))

#endif
