/* The report of a run: one HTML file that needs nothing else, for people who were not there. */
#ifndef BRIM_RENDER_REPORT_REPORT_H
#define BRIM_RENDER_REPORT_REPORT_H
#include "base/str.h"
#include "model/job/run.h"
#include "model/verdict/verdict.h"

/* No report is longer, however long the run and its texts are: pictures are made of means; lists
 * and texts are cut, and say so. */
enum { REPORT_MAX = 600 << 10 };

/* Add the page of a run and what was judged of it. last: an earlier run to compare with; NULL:
 * there is none. Trusts no text and no number of them. Errors are out's (str_error()): -ENOMEM, or
 * -EFBIG where its ceiling is below REPORT_MAX. */
void report_html(const struct run *r, const struct verdict *v, const struct run *last,
                 struct str *out);

#endif
