#include "control/modes.h"

#include <string.h>

static const char *const mode_names[] = { "observe", "propose", "act" };
static const char *const policy_names[] = { "idle", "faults", "place" };

/* Which of the names a text of that length is; -1: none. */
static int which(const char *const *names, size_t n, const char *text, size_t len)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(names[i]) == len && strncmp(names[i], text, len) == 0)
            return (int)i;
    return -1;
}

static int unknown(const char *text, size_t len, struct err *e)
{
    return err_set(e, ERR_USAGE,
                   "--mode %.*s: this is no mode: observe, propose or act, or one for each, as in "
                   "idle=act,faults=propose,place=act",
                   (int)MIN(len, (size_t)64), text);
}

/* "act", "idle=act" */
static int read_one(const char *text, size_t len, enum control_mode *ret, struct err *e)
{
    const char *sign = memchr(text, '=', len);
    const char *word = sign ? sign + 1 : text;
    int mode = which(mode_names, ARRAY_SIZE(mode_names), word, len - (size_t)(word - text));
    int policy = sign ? which(policy_names, ARRAY_SIZE(policy_names), text, (size_t)(sign - text))
                      : CONTROL_POLICIES;

    if (mode < 0 || policy < 0)
        return unknown(text, len, e);
    for (int i = 0; i < CONTROL_POLICIES; i++)
        if (policy == i || policy == CONTROL_POLICIES)
            ret[i] = (enum control_mode)mode;
    return 0;
}

int control_modes_read(const char *text, enum control_mode ret[CONTROL_POLICIES], struct err *e)
{
    int rc = 0;

    for (int i = 0; i < CONTROL_POLICIES; i++)
        ret[i] = CONTROL_OBSERVE;
    do {
        size_t len = strcspn(text, ",");

        rc = read_one(text, len, ret, e);
        text += len;
    } while (rc == 0 && *text++);
    return rc;
}
