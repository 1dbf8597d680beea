/* How much something matters. */
#ifndef BRIM_MODEL_SIGNAL_SEVERITY_H
#define BRIM_MODEL_SIGNAL_SEVERITY_H

enum severity {
    SEVERITY_UNKNOWN, /* could not be checked here: the sentence says why */
    SEVERITY_NOTE,    /* worth knowing */
    SEVERITY_WARNING, /* costs performance */
    SEVERITY_CRITICAL /* does not work, or costs most of it */
};

/* "critical", "warning", "note", "not checked" */
const char *severity_text(enum severity s);

#endif
