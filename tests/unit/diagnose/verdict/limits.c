/* Each threshold of a verdict, just below and just above: the verdict changes between the two. A
 * threshold without a row fails, so that one which is added is tested as well. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose/verdict/limits.h"
#include "limits/rows.h"
#include "tap.h"

/* Both sides of a threshold are that near, but where a count or a text allows no less. */
static const double near_enough = 1.1;

static size_t count_rows(const char *name)
{
    size_t found = 0;

    for (size_t i = 0; limits_all[i]; i++)
        for (size_t k = 0; k < limits_all[i]->n; k++)
            found += limits_all[i]->rows[k].name && strcmp(limits_all[i]->rows[k].name, name) == 0;
    return found;
}

static bool is_known(const char *name)
{
    for (size_t i = 0; judge_limits_name(i); i++)
        if (strcmp(judge_limits_name(i), name) == 0)
            return true;
    return false;
}

static void test_row(const struct limit_row *row)
{
    const char *name = row->name ? row->name : "a constant";
    double step = fmax(row->no, row->yes) / fmin(row->no, row->yes);

    ok(!row->name || is_known(row->name), "%s is a threshold of the program", name);
    ok(!row->holds(row->no), "%s: at %g it is not true that %s", name, row->no, row->what);
    ok(row->holds(row->yes), "%s: at %g it is true that %s", name, row->yes, row->what);
    ok(step <= near_enough || row->yes - row->no == 1 || row->no - row->yes == 1,
       "%s: %g and %g are near the threshold", name, row->no, row->yes);
}

/* The value in the middle: the threshold itself, of as few digits as it was written with. */
static double middle(const struct limit_row *row)
{
    char text[32];

    snprintf(text, sizeof(text), "%.2g", (row->no + row->yes) / 2);
    return strtod(text, NULL);
}

/* At the threshold itself, where nothing rounds: at its last bit to either side, and at it. */
static void test_at(const struct limit_row *row)
{
    const char *name = row->name ? row->name : "a constant";
    double at = middle(row);

    if (row->at == AT_ROUNDED)
        return;
    limits_exact = true;
    ok(!row->holds(nextafter(at, row->no)) && row->holds(nextafter(at, row->yes)),
       "%s: the last bit of %g decides whether %s", name, at, row->what);
    ok(row->holds(at) == (row->at == AT_HOLDS), "%s: at %g itself it is %strue that %s", name, at,
       row->at == AT_HOLDS ? "" : "not ", row->what);
    limits_exact = false;
}

int main(void)
{
    for (size_t i = 0; judge_limits_name(i); i++)
        ok(count_rows(judge_limits_name(i)) > 0, "the threshold %s has a row",
           judge_limits_name(i));
    for (size_t i = 0; limits_all[i]; i++)
        for (size_t k = 0; k < limits_all[i]->n; k++) {
            test_row(&limits_all[i]->rows[k]);
            test_at(&limits_all[i]->rows[k]);
        }
    return done();
}
