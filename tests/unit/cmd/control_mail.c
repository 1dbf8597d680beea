#include "cmd/control/mail.h"

#include <string.h>

#include "tap.h"

int main(void)
{
    static const char *const good[] = { "ana", "a", "_ssh", "user.name-2", "0day" };
    static const char *const bad[] = { "",    "-rroot", ".x",    "a b",   "a\nb",
                                       "a;b", "a/b",    "a@b.c", "$HOME", "\303\244" };
    char longest[66];

    for (size_t i = 0; i < ARRAY_SIZE(good); i++)
        ok(mail_is_name(good[i]), "'%s' gets letters", good[i]);
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
        ok(!mail_is_name(bad[i]) && !mail_send("/bin/true", bad[i], 1, "text"),
           "name %zu is no word of a command", i);
    memset(longest, 'a', sizeof(longest));
    longest[64] = 0;
    ok(mail_is_name(longest), "a name of 64 bytes gets letters");
    longest[64] = 'a';
    longest[65] = 0;
    ok(!mail_is_name(longest), "a longer name gets none");
    return done();
}
