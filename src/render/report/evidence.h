/* Which signals a cause is seen in. Private to src/render. */
#ifndef BRIM_RENDER_REPORT_EVIDENCE_H
#define BRIM_RENDER_REPORT_EVIDENCE_H
#include "model/job/run.h"
#include "model/verdict/verdict.h"

bool evidence_shows(enum cause c, enum run_signal s);

#endif
