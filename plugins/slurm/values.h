/* What the values of the plugin's options may be. */
#ifndef BRIM_SPANK_VALUES_H
#define BRIM_SPANK_VALUES_H
#include <stdbool.h>

/* A profile: a name or a path, of signs that can be shown, which does not begin with "-". */
bool value_is_profile(const char *s);

/* MIN-MAX, two numbers of nodes: 2-4. */
bool value_is_elastic(const char *s);

/* SIG[@SECONDS]: USR1, SIGTERM@60, 10@60. */
bool value_is_signal(const char *s);

#endif
