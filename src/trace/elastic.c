/* Elastic jobs of a trace: the fewest and the most devices that they can use. */
#include "base/parse.h"
#include "trace/reader.h"

static bool number(const char *text, int32_t *ret)
{
    int64_t n;

    if (!*text)
        return true;
    if (parse_i64(text, &n) < 0 || n < 1 || n > WORK_DEVICES)
        return false;
    *ret = (int32_t)n;
    return true;
}

const char *reader_elastic(struct work *w, const struct reader_range *range)
{
    int32_t least = w->devices, most = w->devices;
    double scaling = (double)w->scaling;

    if (*range->scaling &&
        (parse_double(range->scaling, &scaling) < 0 || !(scaling >= 0 && scaling <= 1)))
        return "scaling is 0 (more devices do not help) to 1 (twice the devices, half the time)";
    w->scaling = (float)scaling;
    if (!*range->least && !*range->most)
        return NULL;
    if (!number(range->least, &least) || !number(range->most, &most))
        return "gpus_min and gpus_max are numbers of devices";
    if (w->devices < 1 || w->milli < WORK_WHOLE)
        return "gpus_min and gpus_max are for jobs with whole devices";
    if (least > w->devices || most < w->devices)
        return "gpus is not between gpus_min and gpus_max";
    if (w->per_node > 0 && (least % w->per_node != 0 || most % w->per_node != 0))
        return "gpus_min and gpus_max are not whole nodes of per_node";
    if (least == most)
        return NULL;
    w->least = least;
    w->most = most;
    return NULL;
}
