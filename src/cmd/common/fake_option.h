/* --fake, as all commands take it. */
#ifndef BRIM_CMD_COMMON_FAKE_OPTION_H
#define BRIM_CMD_COMMON_FAKE_OPTION_H
#include "base/opt.h"

/* Its row; the value is NxNAME or the path of a script (probe/gpu/fake_spec.h). */
#define FAKE_OPTION(at) \
    { \
        OPT_STRING, 0, "fake", at, "NxNAME|FILE", \
            "invented accelerators: 8xH100-SXM5-80GB, or a script of them" \
    }

/* Whether the script of an option can be played: 0, or a negative errno with a sentence. */
int fake_option_script(const char *option, const char *path, struct err *e) CHECK_RESULT;

/* Whether a value (NULL: none was given) names accelerators that there are, or a script that can be
 * played: 0, ERR_USAGE or a negative errno with a sentence. */
int fake_option_check(const char *spec, struct err *e) CHECK_RESULT;

#endif
