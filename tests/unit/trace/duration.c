/* How long something took, as Slurm's accounting says it. */
#include "trace/sacct.h"

#include <errno.h>
#include <stddef.h>

#include "base/compiler.h"
#include "tap.h"

static void test_durations(void)
{
    static const struct {
        const char *text;
        int64_t s;
    } good[] = {
        { "0", 0 },
        { "59", 59 },
        { "01:02", 62 },
        { "01:02:03", 3723 },
        { "1-02:03:04", 93784 },
        { "0-00:00:01", 1 },
        { "999999-00:00:00", INT64_C(86399913600) },
        { "9999:00", 599940 },
        { "00:10.250", 10 },
        { "1-1", 86401 },
    };
    static const char *const bad[] = {
        "",    "-",  "x",  "1-", "-1",  "a-00:00:00", "1a-00:00:00", "1000000-00:00:00",
        "1-x", "1:", ":1", "1x", "1:a", "a",          "10000:00",    "1:2:x",
        " 1",
    };

    for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
        int64_t ms = -1;

        is_int(sacct_duration(good[i].text, &ms), 0, "sacct_duration reads '%s'", good[i].text);
        is_int(ms, good[i].s * 1000, "the text '%s' is a time in seconds", good[i].text);
    }
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        int64_t ms = -1;

        is_int(sacct_duration(bad[i], &ms), -EINVAL, "sacct_duration refuses '%s'", bad[i]);
        is_int(ms, -1, "the text '%s' sets nothing", bad[i]);
    }
}

int main(void)
{
    test_durations();
    return done();
}
