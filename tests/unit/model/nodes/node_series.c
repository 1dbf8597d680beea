/* How busy a GPU was, by the texts of its agent. */
#include "model/nodes/node_series.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "tap.h"

static const char live[] =
    "{\"gpus\":[{\"gpu\":\"0000:05:00.0\"},{\"gpu\":\"a b\"},{\"gpu\":\"a&b=c\"},{\"gpu\":\"\"},"
    "{\"gpu\":7},null,"
    "{\"gpu\":\"nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn\"},"
    "{\"gpu\":\"a\\u0000b\"}]}";

static int name_of(const char *text, unsigned gpu)
{
    char name[NODE_SERIES_NAME] = "";
    int rc = node_gpu_name(name, text, strlen(text), gpu);

    ok(rc == 0 || !*name, "a name is set only when there is one");
    return rc;
}

static double mean(const char *text)
{
    return node_series_mean(text, strlen(text));
}

int main(void)
{
    char name[NODE_SERIES_NAME] = "";

    is_int(node_gpu_name(name, live, strlen(live), 0), 0, "a GPU has a name");
    is_str(name, "0000:05:00.0", "a name is as the agent has it");
    for (unsigned i = 1; i < 9; i++)
        is_int(name_of(live, i), -ENOENT, "GPU %u has no name that goes into a path", i);
    is_int(name_of("{}", 0), -ENOENT, "an agent without GPUs names none");
    is_int(name_of("{\"gpus\":{\"a\":{\"gpu\":\"x\"}}}", 0), -ENOENT,
           "GPUs that are no list have no names");
    is_int(name_of("<html>", 0), -EINVAL, "a page has no names");
    ok(fabs(mean("{\"values\":[0.5,1,0]}") - 0.5) < 1e-9, "the mean is that of all values");
    ok(fabs(mean("{\"values\":[null,1,2,-1,\"x\",[]]}") - 1) < 1e-9,
       "what is no share is passed over");
    ok(isnan(mean("{\"values\":[null]}")), "nothing that was measured has no mean");
    ok(isnan(mean("{\"values\":{\"a\":1}}")) && isnan(mean("{}")) && isnan(mean("no")),
       "what is no series has no mean");
    return done();
}
