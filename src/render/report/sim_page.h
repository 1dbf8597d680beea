/* The page about simulated policies: one HTML file that needs nothing else. */
#ifndef BRIM_RENDER_REPORT_SIM_PAGE_H
#define BRIM_RENDER_REPORT_SIM_PAGE_H
#include <stdbool.h>

#include "base/str.h"

/* All texts are plain, from anywhere; they are escaped. */

/* A table: the first cell of each row is its name. */
struct sim_page_table {
    const char *caption;
    const char *const *head;  /* n_columns of them */
    const char *const *cells; /* n_rows x n_columns */
    size_t n_columns, n_rows;
};

struct sim_page_policy {
    const char *name;
    const double *used, *waiting; /* columns of them: devices in use, jobs that wait */
    const double *const *groups;  /* of the groups: columns of devices in use */
    struct sim_page_table by;     /* its figures by team, user or class; no rows: none */
};

/* All policies in one picture: a bar in each column of each row. */
struct sim_page_bar_row {
    const char *name;
    bool oracle, then;    /* is told true lengths; runs with other nodes */
    const double *shares; /* how long the bars are: 0 to 1; NaN: none */
    const char *const *values;
};

struct sim_page_bars {
    const char *const *head;
    size_t n_columns;
    const struct sim_page_bar_row *rows;
    size_t n_rows;    /* 0: no picture */
    const char *then; /* which nodes those of 'then' are; NULL: there is none */
};

struct sim_page {
    const char *title;    /* the trace */
    const char *sentence; /* what comes of it, in one */
    const char *const *notes;
    size_t n_notes;
    struct sim_page_bars bars;
    struct sim_page_table all; /* policies by figures */
    const char *about;         /* what its columns are */
    const struct sim_page_policy *policies;
    size_t n;
    const char *groups_by; /* "team"; NULL: there are no groups */
    const char *const *group_names;
    size_t n_groups; /* SIM_PAGE_GROUPS at most */
    size_t columns;
    double seconds; /* that the columns span */
    double devices; /* that there are */
};

enum { SIM_PAGE_GROUPS = 8, SIM_PAGE_MAX = 16 << 20 };

/* Errors are out's. */
void sim_page_html(const struct sim_page *s, struct str *out);

#endif
