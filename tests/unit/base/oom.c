/* Every allocation of the base library fails once: -ENOMEM comes back, nothing leaks, and nothing
 * is half done. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/conf.h"
#include "base/json.h"
#include "base/opt.h"
#include "oom.h"
#include "tap.h"

struct values {
    const char *from, *to;
    const char *format;
};

static const char *const formats[] = { "text", "json", NULL };

static const struct opt table[] = {
    { OPT_STRING, 0, "from", offsetof(struct values, from), "DIR", "read a recording" },
    { OPT_STRING, 0, "to", offsetof(struct values, to), "DIR", "write one" },
    { OPT_CHOICE, 0, "format", offsetof(struct values, format), "FORMAT", "print as", formats },
    { .kind = OPT_END },
};

static void test_str(void)
{
    bool failed;

    oom_restart();
    do {
        CLEANUP(str_done) struct str s = STR_INIT(64 << 10);
        int added = 0;

        oom_next();
        for (; added < 100 && !str_error(&s); added++)
            str_addf(&s, "%s", "0123456789");
        failed = oom_end();
        ok(str_error(&s) == (failed ? -ENOMEM : 0),
           "str tells of a lack of memory in allocation %d", oom_at);
        is_int((long long)strlen(str_text(&s)), 10LL * (added - failed), "str: whole texts only");
        str_add_char(&s, 'x');
        is_int((long long)s.len, 10LL * (added - failed) + !failed, "str: the error sticks");
    } while (failed);
    ok(oom_at > 2, "str was tried in %d rounds", oom_at);
}

/* One of each; 0 or -ENOMEM. */
static int fill_arena(struct arena *a)
{
    uint64_t *numbers = NULL, *number;
    size_t count = 0;

    if (!arena_alloc(a, 100) || !arena_alloc(a, 1 << 20) || !arena_strdup(a, "text"))
        return -ENOMEM;
    if (!arena_strndup(a, "text", 2) || !arena_printf(a, "%*d", 9000, 1))
        return -ENOMEM;
    for (size_t i = 0; i < 10000; i++) {
        uint64_t *before = numbers;

        number = ARENA_PUSH(a, &numbers, &count);
        if (!number && numbers == before && count == i)
            return -ENOMEM;
        if (!number || count != i + 1)
            return -EINVAL;
        *number = i;
    }
    return numbers && numbers[9999] == 9999 ? 0 : -EINVAL;
}

static void test_arena(void)
{
    bool failed;

    oom_restart();
    do {
        struct arena a = ARENA_INIT;
        int rc;

        oom_next();
        rc = fill_arena(&a);
        failed = oom_end();
        is_int(rc, failed ? -ENOMEM : 0, "fill_arena returns -ENOMEM where allocation %d fails",
               oom_at);
        arena_done(&a);
    } while (failed);
    ok(oom_at > 4, "the arena was tried in %d rounds", oom_at);
}

static void test_json(void)
{
    bool failed;

    oom_restart();
    do {
        CLEANUP(str_done) struct str out = STR_INIT(64 << 10);
        struct json j = JSON_INIT(&out);

        oom_next();
        json_object(&j, NULL);
        json_array(&j, "list");
        for (int i = 0; i < 100; i++)
            json_number(&j, NULL, i / 3.0, 6);
        json_end(&j);
        json_string(&j, "name\n", "\xff");
        json_end(&j);
        clock_add_iso(&out, 0);
        opt_help(table, &out);
        opt_man(table, &out);
        opt_words(table, &out);
        failed = oom_end();
        is_int(str_error(&out), failed ? -ENOMEM : 0,
               "renderers tell of a lack of memory in allocation %d", oom_at);
    } while (failed);
    ok(oom_at > 4, "renderers were tried in %d rounds", oom_at);
}

static void write_conf(const char *path)
{
    FILE *f = fopen(path, "we");

    if (!f)
        return;
    fprintf(f, "[gpus]\nfrom = /a\n");
    for (int i = 0; i < 10; i++)
        fprintf(f, "to = %04000d\n", i);
    fclose(f);
}

static void test_conf(void)
{
    char folder[] = "/tmp/brim-oom-XXXXXX";
    bool failed;

    if (!mkdtemp(folder) || setenv("HOME", folder, 1) < 0 || chdir(folder) < 0) {
        ok(false, "a folder can be made");
        return;
    }
    unsetenv("XDG_CONFIG_HOME");
    unsetenv("BRIM_CONF");
    write_conf("brim.conf");
    oom_restart();
    do {
        struct arena a = ARENA_INIT;
        struct values v = { 0 };
        struct err e = { "" };
        int rc = -ENOMEM;

        oom_next();
        if (conf_path(&a))
            rc = conf_load(&a, "brim.conf", "gpus", table, &v, &e);
        failed = oom_end();
        ok(rc == (failed ? -ENOMEM : 0), "conf_load with allocation %d failing returns %d: %s",
           oom_at, rc, e.text);
        if (failed && rc == -ENOMEM && e.text[0])
            is_str(e.text, "out of memory", "conf_load says that memory is out");
        arena_done(&a);
    } while (failed);
    ok(oom_at > 2, "conf_load was tried in %d rounds", oom_at);
    unlink("brim.conf");
    rmdir(folder);
}

/* The list of choices in a sentence is a courtesy: without memory the sentence does without. */
static void test_choice(void)
{
    struct values v = { 0 };
    struct err e = { "" };

    oom_restart();
    oom_next();
    is_int(opt_set(table, &v, "format", "xml", &e), ERR_USAGE, "opt: the code is the same");
    ok(oom_end(), "opt: an allocation failed");
    is_str(e.text, "format: 'xml' is not one of its choices (see --help)",
           "opt: the sentence is vaguer");
}

int main(void)
{
    test_str();
    test_arena();
    test_json();
    test_conf();
    test_choice();
    return done();
}
