#include "base/utf8.h"

#include "tap.h"

static void is_char(const char *text, size_t length, uint32_t code, const char *what)
{
    uint32_t got = 1;

    is_int((long long)utf8_decode(text, &got), (long long)length, "%s: its length", what);
    is_int(got, code, "%s: its code", what);
    if (code) {
        char bytes[UTF8_MAX] = "";

        is_int((long long)utf8_encode(code, bytes), (long long)length, "%s: back again", what);
        ok(memcmp(bytes, text, length) == 0, "to the same bytes");
    }
}

int main(void)
{
    is_char("A", 1, 'A', "a letter");
    is_char("\x7f", 1, 0x7f, "the last of one byte");
    is_char("\xc2\x80", 2, 0x80, "the first of two");
    is_char("\xdf\xbf", 2, 0x7ff, "the last of two");
    is_char("\xe0\xa0\x80", 3, 0x800, "the first of three");
    is_char("\xe2\x94\x9c rest", 3, 0x251c, "a box character");
    is_char("\xf0\x90\x80\x80", 4, 0x10000, "the first of four");
    is_char("\xf4\x8f\xbf\xbf", 4, 0x10ffff, "the last of all");
    is_char("\xf4\x90\x80\x80", 1, 0, "above the last");
    is_char("\xc0\x80", 1, 0, "an overlong form of two");
    is_char("\xe0\x80\x80", 1, 0, "an overlong form of three");
    is_char("\xf0\x80\x80\x80", 1, 0, "an overlong form of four");
    is_char("\xed\xa0\x80", 1, 0, "a surrogate");
    is_char("\x80", 1, 0, "a continuation alone");
    is_char("\xe2\x94", 1, 0, "a character cut by the end");
    is_char("\xff", 1, 0, "no byte of UTF-8");
    ok(utf8_is_control(0) && utf8_is_control(0x1f) && !utf8_is_control(' '), "controls of ASCII");
    ok(utf8_is_control(0x7f) && utf8_is_control(0x9f) && !utf8_is_control('~') &&
           !utf8_is_control(0xa0),
       "and those behind it");
    return done();
}
