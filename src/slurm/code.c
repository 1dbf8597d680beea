#include "slurm/code.h"

#include <errno.h>
#include <string.h>
#include <stdbool.h>

#include "base/compiler.h"

enum { SLURM_FIRST = 1000, REFUSED_FIRST = 2000, REFUSED_LAST = 4999 };
enum { DONE = 2021, PENDING = 2024, SUSPENDED = 2077, FINISHED = 2084 };

static const struct {
    int number;
    int code;
    const char *text; /* as commands write it; NULL: they do not */
} rows[] = {
    { 2017, -ESRCH, "Invalid job id" },
    { 2018, -ESRCH, "Invalid node name" },
    { 2002, -EACCES, "denied" },
    { 2010, -EACCES, "Invalid user id" },
    { 2020, -EAGAIN, "in transition" },
    { DONE, -ESRCH, "already compl" },
    { FINISHED, -ESRCH, "Job has already finished" },
    { PENDING, -EAGAIN, "Job is pending" },
    { 2027, -EAGAIN, "standby" },
    { 2103, -EAGAIN, "DB index" },
    { 2028, -EAGAIN, "Invalid node state" },
    { 2073, -EAGAIN, "no longer pending" },
    { SUSPENDED, -EAGAIN, "suspended" },
    { 2085, -EAGAIN, "is not running" },
    { 2086, -EAGAIN, "not pending nor running" },
    { 2088, -EAGAIN, "not finished" },
    { 2036, -ENOTSUP, "not supported" },
    { 2037, -ENOTSUP, "disabled" },
    { 2039, -ENOTSUP, "batch jobs" },
    { 1003, -ETIMEDOUT, NULL },
    { 1802, -ETIMEDOUT, NULL },
    { 5004, -ETIMEDOUT, "timed out" },
};

/* It is so already. */
static bool is_so(int number, enum site_deed_kind kind)
{
    switch (kind) {
    case SITE_DO_CANCEL:
        return number == DONE || number == FINISHED;
    case SITE_DO_REQUEUE:
        return number == PENDING;
    case SITE_DO_SUSPEND:
        return number == SUSPENDED;
    default:
        return false;
    }
}

int slurm_code_of(int number, enum site_deed_kind kind)
{
    if (is_so(number, kind))
        return -EALREADY;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        if (rows[i].number == number)
            return rows[i].code;
    if (number > 0 && number < SLURM_FIRST)
        return -number;
    return number >= REFUSED_FIRST && number <= REFUSED_LAST ? -EINVAL : -EIO;
}

int slurm_code_of_text(const char *text, enum site_deed_kind kind)
{
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        if (rows[i].text && strcasestr(text, rows[i].text))
            return slurm_code_of(rows[i].number, kind);
    return -EIO;
}
