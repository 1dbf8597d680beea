/* Tables of sacct: rows that are shorter or longer than their header. */
#include "trace/sacct.h"

#include <string.h>

#include "tap.h"

static struct sacct table;

static void test_short_rows(void)
{
    static const char text[] = "JobID|User|State\n"
                               "1|ada|COMPLETED\n"
                               "2|bob\n"
                               "\n"
                               "3|cy|FAILED|more\n";

    sacct_init(&table, text, strlen(text));
    is_int(sacct_next(&table), 1, "a first row is read");
    is_str(sacct_field(&table, SACCT_STATE), "COMPLETED", "a last column is read");
    is_str(sacct_field(&table, SACCT_PARTITION), "", "a column that is not there is empty");
    ok(sacct_has(&table, SACCT_STATE) && !sacct_has(&table, SACCT_PARTITION),
       "a table tells which columns it has");
    is_int(sacct_next(&table), 1, "a row without its last column is read");
    is_str(sacct_field(&table, SACCT_USER), "bob", "a short row has what it has");
    is_str(sacct_field(&table, SACCT_STATE), "", "a short row takes nothing of the row before");
    is_int(sacct_next(&table), 1, "a row behind a blank line is read");
    is_str(sacct_field(&table, SACCT_STATE), "FAILED", "a field too many changes none");
    is_int(table.line, 5, "a row has the number of its line");
    is_int(sacct_next(&table), 0, "a table ends");
}

int main(void)
{
    test_short_rows();
    return done();
}
