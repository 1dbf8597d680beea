/* When a row was measured. */
#ifndef BRIM_PLAN_MEASURED_ROWS_DATE_H
#define BRIM_PLAN_MEASURED_ROWS_DATE_H

/* Months from the year 0 on, as 12 x year + month - 1. */
enum { ROW_MONTH_UNKNOWN = 0 };
#define ROW_MONTH(year, month) (12 * (year) + (month)-1)

/* The first month in a text: "2024-07", "2024-07-12", "arXiv 2205.05198", "arXiv:2205.05198"; and
 * that of a version of NeMo: "NVIDIA/NeMo docs (24.03.01)", "NeMo 25.04.rc2", "NeMo @23.07". */
int row_month(const char *text);

#endif
