/* Pure readers of the texts that the kernel writes. None trusts its input. */
#ifndef BRIM_PROBE_KERNEL_KPARSE_H
#define BRIM_PROBE_KERNEL_KPARSE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "32.0 GT/s PCIe" is 32; -1 for "Unknown" and other text. */
double kparse_gts(const char *text);

/* "400 Gb/sec (4X NDR)" is 400; -1 for other text. */
double kparse_gbps(const char *text);

/* The value in bytes of a line "KEY:   123 kB" of a meminfo file; "Node 0 " before KEY is skipped.
 * -1 when it is not there. */
int64_t kparse_meminfo(const char *text, const char *key);

/* The soft limit of a line of /proc/self/limits that starts with name; INT64_MAX for unlimited, -1
 * when it is not there. */
int64_t kparse_limit(const char *text, const char *name);

/* The size in bytes of the tmpfs mounted at 'at', from a mounts file: its size= option, which the
 * kernel leaves out when it is the default, half of the memory. -1 when nothing is mounted
 * there. */
int64_t kparse_tmpfs(const char *mounts, const char *at, int64_t memory_b);

/* Sum of the sizes in /proc/swaps, in bytes. */
int64_t kparse_swaps(const char *text);

/* The word in brackets of "always [madvise] never" into buf; the whole text when there are none. */
void kparse_choice(const char *text, char *buf, size_t size);

/* The value of a line "KEY\t: VALUE" into buf: 1, or 0 when it is not there. */
int kparse_field(const char *text, const char *key, char *buf, size_t size);

/* True when the space-separated list of the line "KEY\t: WORD WORD ..." has the word. */
bool kparse_has_flag(const char *text, const char *key, const char *word);

/* The number of a line "KEY VALUE" (KFD property files), -1 when it is not there. */
int64_t kparse_property(const char *text, const char *key);

#endif
