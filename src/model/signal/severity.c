#include "model/signal/severity.h"

const char *severity_text(enum severity s)
{
    static const char *const texts[] = {
        [SEVERITY_UNKNOWN] = "not checked",
        [SEVERITY_NOTE] = "note",
        [SEVERITY_WARNING] = "warning",
        [SEVERITY_CRITICAL] = "critical",
    };

    return texts[s];
}
