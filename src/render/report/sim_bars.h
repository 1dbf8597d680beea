/* All policies in one picture. Private to src/render. */
#ifndef BRIM_RENDER_REPORT_SIM_BARS_H
#define BRIM_RENDER_REPORT_SIM_BARS_H
#include "render/report/sim_page.h"

/* Nothing where there are no rows. */
void sim_page_bars(const struct sim_page_bars *b, struct str *out);

#endif
