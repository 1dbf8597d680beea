/* Two runs beside each other: one HTML page of two columns. */
#ifndef BRIM_RENDER_REPORT_BESIDE_H
#define BRIM_RENDER_REPORT_BESIDE_H
#include "render/report/report.h"

/* Add the page of two runs and what was judged of them: their answers, splits, and what the node
 * and the jobs did, part by part, and what differs. Of at most 2 * REPORT_MAX; trust and errors as
 * of report_html(). */
void report_beside(const struct run *a, const struct verdict *va, const struct run *b,
                   const struct verdict *vb, struct str *out);

#endif
