/* The parts of a report. Private to src/render. */
#ifndef BRIM_RENDER_REPORT_REPORT_PRIVATE_H
#define BRIM_RENDER_REPORT_REPORT_PRIVATE_H
#include "render/report/report.h"

struct report {
    const struct run *run, *last; /* last may be NULL */
    const struct verdict *verdict;
    struct str *out;
    size_t text_left;         /* bytes of the run's own texts that there is still room for */
    unsigned n_plots;         /* so far, for ids */
    double begin_s, length_s; /* of the axis that all pictures share; 0: there is nothing on it */
};

/* In their order on the page. */
void report_gained(struct report *p);      /* what optimize did; nothing where it did not try */
void report_answer(struct report *p);      /* the verdict, and the numbers that matter */
void report_line(struct report *p);        /* the step as an assembly line */
void report_where(struct report *p);       /* lines that take the time; nothing for none */
void report_split(struct report *p);       /* stages of steps over time */
void report_heat(struct report *p);        /* ranks over time; nothing for one rank */
void report_rank_table(struct report *p);  /* nothing for one rank */
void report_signals(struct report *p);     /* of the node and the job over time */
void report_findings(struct report *p);    /* those behind the first one */
void report_environment(struct report *p); /* the run's machine and settings */
void report_changes(struct report *p);     /* against the last run */

/* Of two runs, the earlier one as 'last'. */
void report_differences(struct report *p);

/* What stands before and behind <main> and its parts. title: of a page that is not about one run;
 * NULL: the run's name. */
void report_head(struct report *p, const char *title);
void report_foot(struct report *p);

/* ---- what the parts share (elements.c, stages.c) ---- */

extern const char report_style[]; /* style.c */

/* The heading of a part, which lasts until report_section_end(). */
void report_section(struct report *p, const char *title);
void report_section_end(struct report *p);

/* A sentence that says what there is not. */
void report_absent(struct report *p, const char *sentence);

/* Add a text that came with the run, escaped and in at most so many columns; NULL adds nothing. */
void report_text(struct report *p, const char *text, size_t columns);

/* The same of several lines. */
void report_lines(struct report *p, const char *text, size_t columns);

/* A row of a table or list of facts: a name and a value of the run's own. */
void report_row(struct report *p, const char *name, const char *value);

/* "84 ms", "12.3 s", "4 min 05 s", "2 h 10 min", "3 d 4 h"; "?" for NaN. */
struct quantity report_duration(double seconds);

/* "storage wait": what people call a stage; in the order of the assembly line there are BRIM_STAGES
 * of them. */
const char *report_stage_title(unsigned stage);
unsigned report_stage_at(unsigned place);

/* The stage that the verdict is about: enum brim_stage, or -1 when nothing limits or none is
 * known. */
int report_worst_stage(const struct report *p);

#endif
