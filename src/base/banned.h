/* Calls that do not compile in this tree, each with what to use instead. Forced into every C file
 * by the build (-include), after the headers that declare them. */
#ifndef BRIM_BASE_BANNED_H
#define BRIM_BASE_BANNED_H
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#undef strcpy
#undef strcat
#undef strncpy
#undef strncat
#undef sprintf
#undef vsprintf
#undef strtok
/* strings: snprintf with its result checked, or struct str (base/str.h) */
#pragma GCC poison strcpy stpcpy strcat strncpy strncat sprintf vsprintf strtok gets
/* numbers: parse_u64() and its friends (base/parse.h) */
#pragma GCC poison atoi atol atoll atof
/* time: struct clock (base/clock.h), the _r forms */
#pragma GCC poison gmtime localtime asctime ctime
/* randomness is an argument (random() too, but <uv.h> has a word of that name) */
#pragma GCC poison rand srand
/* the locale stays "C": numbers in files and pages have a point, on every machine */
#pragma GCC poison setlocale uselocale

#endif
