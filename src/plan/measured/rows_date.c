#include "plan/measured/rows_date.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "plan/measured/rows_phrases.h"

/* The number of n digits at 'at'; -1: there are fewer, or more. */
static int digits(const char *at, int n)
{
    int x = 0;

    for (int i = 0; i < n; i++) {
        if (!isdigit((unsigned char)at[i]))
            return -1;
        x = 10 * x + at[i] - '0';
    }
    return isdigit((unsigned char)at[n]) ? -1 : x;
}

static int month_of(int year, int month)
{
    return year >= 2012 && year < 2100 && month >= 1 && month <= 12 ? ROW_MONTH(year, month)
                                                                    : ROW_MONTH_UNKNOWN;
}

/* "2205.05198": year and month, then a number of four or five digits. */
static int month_of_arxiv(const char *at)
{
    int x = digits(at, 4);

    if (x < 0 || at[4] != '.' || (digits(at + 5, 5) < 0 && digits(at + 5, 4) < 0))
        return ROW_MONTH_UNKNOWN;
    return month_of(2000 + x / 100, x % 100);
}

/* "24.03": NeMo's versions are the year and month of their containers. */
static int month_of_version(const char *at)
{
    int year = digits(at, 2);

    return year >= 22 && at[2] == '.' ? month_of(2000 + year, digits(at + 3, 2))
                                      : ROW_MONTH_UNKNOWN;
}

int row_month(const char *text)
{
    bool nemo = row_phrase(text, "NeMo");

    for (const char *at = text; *at; at++) {
        int month = ROW_MONTH_UNKNOWN;

        if (at > text && isalnum((unsigned char)at[-1]))
            continue;
        if (strncasecmp(at, "arXiv", 5) == 0)
            month = month_of_arxiv(at + 5 + strspn(at + 5, " :"));
        else if (digits(at, 4) > 0 && at[4] == '-' && digits(at + 5, 2) > 0)
            month = month_of(digits(at, 4), digits(at + 5, 2));
        else if (nemo)
            month = month_of_version(at);
        if (month != ROW_MONTH_UNKNOWN)
            return month;
    }
    return ROW_MONTH_UNKNOWN;
}
