/* What the agent's memory is made of beyond what it asks for: glibc's arenas. */
#ifndef BRIM_DAEMON_MEMORY_H
#define BRIM_DAEMON_MEMORY_H

/* At the start, before there are other threads: one arena for all, since threads that hardly
 * allocate would get 64 MiB of addresses and some 0.5 MiB of memory each. */
void memory_begin(void);

/* Once the first samples were taken: give back the heap that only the start needed. */
void memory_settle(void);

#endif
