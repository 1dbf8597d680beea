#include "values.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

enum { TEXT_MAX = 1024, NODES_MAX = 1000000, SECONDS_MAX = 604800, SIGNAL_MAX = 64 };

/* A number from 1 to most at *s, which is moved behind it; 0: there is none. */
static long number(const char **s, long most)
{
    long n = 0;

    while (isdigit((unsigned char)**s)) {
        n = n * 10 + (**s - '0');
        if (n > most)
            return 0;
        (*s)++;
    }
    return n;
}

bool value_is_profile(const char *s)
{
    size_t len = strnlen(s, TEXT_MAX);

    for (size_t i = 0; i < len; i++)
        if (iscntrl((unsigned char)s[i]))
            return false;
    return len > 0 && len < TEXT_MAX && *s != '-';
}

bool value_is_elastic(const char *s)
{
    long least = number(&s, NODES_MAX), most;

    if (least == 0 || *s++ != '-')
        return false;
    most = number(&s, NODES_MAX);
    return most >= least && *s == '\0';
}

/* The length of the signal's name at s, without "SIG"; 0: it is none. */
static size_t name_length(const char *s)
{
    static const char *const names[] = { "HUP",  "INT",  "QUIT", "USR1", "USR2", "TERM",
                                         "CONT", "TSTP", "URG",  "XCPU", "ALRM", "WINCH" };

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        size_t len = strlen(names[i]);

        if (strncmp(s, names[i], len) == 0 && !isalnum((unsigned char)s[len]))
            return len;
    }
    return 0;
}

bool value_is_signal(const char *s)
{
    if (isdigit((unsigned char)*s)) {
        if (number(&s, SIGNAL_MAX) == 0)
            return false;
    } else {
        size_t len;

        s += strncmp(s, "SIG", 3) == 0 ? 3 : 0;
        len = name_length(s);
        if (len == 0)
            return false;
        s += len;
    }
    if (*s == '\0')
        return true;
    if (*s++ != '@')
        return false;
    return number(&s, SECONDS_MAX) > 0 && *s == '\0';
}
