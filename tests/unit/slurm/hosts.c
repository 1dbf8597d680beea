#include "slurm/hosts.h"

#include <errno.h>

#include "base/str.h"
#include "tap.h"

static int add(const char *name, void *arg)
{
    struct str *all = arg;

    if (all->len)
        str_add_char(all, ' ');
    str_add(all, name);
    return 0;
}

static int count(const char *name, void *arg)
{
    (void)name;
    (*(int *)arg)++;
    return 0;
}

static int stop(const char *name, void *arg)
{
    (void)arg;
    return name[0] == 'b' ? 7 : 0;
}

int main(void)
{
    static const struct {
        const char *list, *names;
    } good[] = {
        { "", "" },
        { "n0", "n0" },
        { "n[0-2,7]", "n0 n1 n2 n7" },
        { "n[08-11]", "n08 n09 n10 n11" },
        { "a,b[1-2],c", "a b1 b2 c" },
        { "r[1-2]n[0-1]x", "r1n0x r1n1x r2n0x r2n1x" },
        { "n[3-1]", "" },
    };
    static const char *const bad[] = {
        "n[",
        "n]",
        "n[]",
        "n[a]",
        "n[1",
        "n[1-]",
        "n[1-2",
        "n[1]]",
        "a,,b",
        ",a",
        "n[0-999999999]",
        "[1][1][1][1][1]",
    };
    int n = 0;

    for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
        CLEANUP(str_done) struct str all = STR_INIT(4096);

        is_int(slurm_hosts_each(good[i].list, add, &all), 0, "'%s' is a list", good[i].list);
        is_str(str_text(&all), good[i].names, "'%s' has these names", good[i].list);
    }
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
        is_int(slurm_hosts_each(bad[i], count, &n), -EINVAL, "'%s' is none", bad[i]);
    is_int(slurm_hosts_each("a,b,c", stop, NULL), 7, "a walk ends when it is told to");
    return done();
}
