/* What --fake is given: a script, or so many devices of a name. */
#include "probe/gpu/fake_spec.h"

#include <errno.h>
#include <string.h>

#include "tap.h"

static void test_scripts(void)
{
    static const struct {
        const char *spec;
        bool script;
    } specs[] = { { "two.ini", true }, { "some/two", true }, { "8xH100", false }, { "", false } };

    for (size_t i = 0; i < ARRAY_SIZE(specs); i++)
        ok(fake_is_script(specs[i].spec) == specs[i].script, "'%s' is %s script", specs[i].spec,
           specs[i].script ? "a" : "no");
}

static void test_counts(void)
{
    static const struct {
        const char *spec;
        int rc, count;
        const char *name;
    } specs[] = {
        { "H100", 0, 1, "H100" },
        { "8xH100", 0, 8, "H100" },
        { "64xH100", 0, 64, "H100" },
        { "1x", 0, 1, "" },
        { "4090", 0, 1, "4090" },
        { "2x4090", 0, 2, "4090" },
        { "4090x", -ERANGE, 0, "" },
        { "xeon", 0, 1, "xeon" },
        { "", 0, 1, "" },
        { "0xH100", -ERANGE, 0, "" },
        { "65xH100", -ERANGE, 0, "" },
        { "00000000001xH100", -ERANGE, 0, "" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(specs); i++) {
        const char *name = "";
        int count = 0;

        is_int(fake_read_count(specs[i].spec, &count, &name), specs[i].rc,
               "fake_read_count of '%s' returns %d", specs[i].spec, specs[i].rc);
        if (specs[i].rc < 0)
            continue;
        is_int(count, specs[i].count, "'%s' are %d devices", specs[i].spec, specs[i].count);
        is_str(name, specs[i].name, "devices of '%s' have a name", specs[i].spec);
    }
}

static void test_load(void)
{
    static const struct {
        const char *spec;
        int rc;
        const char *text;
    } specs[] = {
        { "8xH100", 0, "" },
        { "65xH100", -ERANGE, "--fake 65xH100: between 1 and 64 devices can be invented" },
        { "./no-such-script.ini", -ENOENT,
          "cannot read ./no-such-script.ini: No such file or directory" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(specs); i++) {
        struct fake_script s = { .count = 0 };
        struct err e = { "" };

        is_int(fake_script_load(&s, specs[i].spec, &e), specs[i].rc,
               "fake_script_load of '%s' returns %d", specs[i].spec, specs[i].rc);
        is_str(e.text, specs[i].text, "fake_script_load of '%s' says why", specs[i].spec);
        if (specs[i].rc == 0)
            fake_script_done(&s);
    }
}

int main(void)
{
    test_scripts();
    test_counts();
    test_load();
    return done();
}
