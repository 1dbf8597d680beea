#include "base/err.h"

#include <errno.h>
#include <string.h>
#include <wchar.h>

#include "tap.h"

static const size_t TEXT_MAX = sizeof(((struct err *)0)->text) - 1;

/* Fill a text of n bytes. */
static const char *repeat(char *text, char c, size_t n)
{
    memset(text, c, n);
    text[n] = '\0';
    return text;
}

static void test_set(void)
{
    struct err e = { "old" };

    is_int(err_set(&e, -EINVAL, "%s:%d: unknown key '%s'", "a.ini", 3, "x"), -EINVAL,
           "err_set returns its code");
    is_str(e.text, "a.ini:3: unknown key 'x'", "err_set formats its sentence");
    is_int(err_set(NULL, -ENOENT, "nobody reads %s", "this"), -ENOENT,
           "err_set needs no struct err");

    err_set(&e, -EINVAL, "again: %s", e.text);
    is_str(e.text, "again: a.ini:3: unknown key 'x'", "the old text may be an argument of err_set");

    errno = EACCES;
    err_set(&e, -errno, "cannot read: %m");
    is_str(e.text, "cannot read: Permission denied", "%%m in err_set is the caller's errno");
    is_int(errno, EACCES, "err_set keeps errno");

    err_set(&e, -1, "%ls", L"\x20ac");
    is_str(e.text, "", "a text that the locale cannot write is empty");
    is_int(errno, EACCES, "err_set keeps errno where formatting fails");

    is_int(err_nomem(&e), -ENOMEM, "err_nomem returns -ENOMEM");
    is_str(e.text, "out of memory", "err_nomem writes 'out of memory'");
    is_int(err_nomem(NULL), -ENOMEM, "err_nomem needs no struct err");
}

static void test_usage(void)
{
    struct err e = { "" };

    is_int(err_usage(&e, "--%s: '%s'", "count", "x"), ERR_USAGE, "wrong usage has a code");
    is_str(e.text, "--count: 'x'", "wrong usage has its sentence");
    is_int(err_usage(NULL, "nobody"), ERR_USAGE, "wrong usage needs no listener");
    ok(ERR_USAGE < -4095, "the code of wrong usage is below all errnos");
    is_int(err_usage_of(-EINVAL), ERR_USAGE, "a word that is invalid is wrong usage");
    is_int(err_usage_of(-ENOMEM), -ENOMEM, "out of memory is no wrong usage");
    is_int(err_usage_of(-ENOENT), -ENOENT, "a file that is missing is no wrong usage");
    is_int(err_usage_of(3), 3, "err_usage_of leaves a count as it is");
}

static void test_context(void)
{
    struct err e = { "line 3: bad number" };

    is_int(err_context(&e, -EINVAL, "%s: ", "cluster.ini"), -EINVAL,
           "err_context returns its code");
    is_str(e.text, "cluster.ini: line 3: bad number", "err_context puts its text in front");
    errno = EACCES;
    err_context(&e, -EINVAL, "job %d: ", 7);
    is_str(e.text, "job 7: cluster.ini: line 3: bad number", "err_context may be called twice");
    is_int(errno, EACCES, "err_context keeps errno");
    is_int(err_context(NULL, -ENOENT, "nobody: "), -ENOENT, "err_context needs no struct err");
}

/* A sentence that can not be made is none. */
static void test_broken(void)
{
    struct err e = { "old" };

    is_int(err_set(&e, -EINVAL, "word %ls", L"\x4e2d"), -EINVAL,
           "err_set returns its code without a sentence");
    is_str(e.text, "", "a letter that the locale has not leaves no sentence");
}

static void test_too_long(void)
{
    char long_text[1000], want[600];
    struct err e;

    err_set(&e, -1, "%s", repeat(long_text, 'a', TEXT_MAX));
    is_str(e.text, long_text, "err_set keeps a text that just fits");
    err_set(&e, -1, "%s", repeat(long_text, 'a', TEXT_MAX + 1));
    repeat(want, 'a', TEXT_MAX);
    memset(want + TEXT_MAX - 3, '.', 3);
    is_str(e.text, want, "a text too long by a byte ends in dots");

    err_set(&e, -1, "%s", repeat(long_text, 'a', TEXT_MAX - 2));
    err_context(&e, -1, "12");
    repeat(want, 'a', TEXT_MAX);
    want[0] = '1';
    want[1] = '2';
    is_str(e.text, want, "context that just fits leaves the whole text");
    err_context(&e, -1, "3");
    repeat(want, 'a', TEXT_MAX);
    want[0] = '3';
    want[1] = '1';
    want[2] = '2';
    memset(want + TEXT_MAX - 3, '.', 3);
    is_str(e.text, want, "context too long by a byte cuts the end");
    err_context(&e, -1, "%s", repeat(long_text, 'b', 999));
    repeat(want, 'b', TEXT_MAX);
    memset(want + TEXT_MAX - 3, '.', 3);
    is_str(e.text, want, "context alone may be too long");

    for (size_t i = 0; i < 900; i += 2)
        memcpy(long_text + i, "\xc3\xa9", 3);
    err_set(&e, -1, "%s", long_text);
    is_int((long long)strlen(e.text), (long long)TEXT_MAX, "a text of two-byte characters is cut");
    ok(strcmp(e.text + TEXT_MAX - 5, "\xc3\xa9...") == 0,
       "a text is cut between two characters of two bytes");
    err_set(&e, -1, "x%s", long_text);
    is_int((long long)strlen(e.text), (long long)TEXT_MAX - 1,
           "a text that starts at an odd byte loses one byte more");
    ok(strcmp(e.text + TEXT_MAX - 6, "\xc3\xa9...") == 0, "err_set cuts no character in half");
}

int main(void)
{
    test_set();
    test_usage();
    test_context();
    test_broken();
    test_too_long();
    return done();
}
