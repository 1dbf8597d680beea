#include "base/utf8.h"

#include "tap.h"

static void is_char(const char *text, size_t length, uint32_t code, const char *what)
{
    uint32_t got = 1;

    is_int((long long)utf8_decode(text, &got), (long long)length, "the length of %s", what);
    is_int(got, code, "the code of %s", what);
    if (code) {
        char bytes[UTF8_MAX] = "";

        is_int((long long)utf8_encode(code, bytes), (long long)length,
               "the length of %s when encoded", what);
        ok(memcmp(bytes, text, length) == 0, "the bytes of %s when encoded", what);
    }
}

int main(void)
{
    is_char("A", 1, 'A', "a letter");
    is_char("\x7f", 1, 0x7f, "the last character of one byte");
    is_char("\xc2\x80", 2, 0x80, "the first character of two bytes");
    is_char("\xdf\xbf", 2, 0x7ff, "the last character of two bytes");
    is_char("\xe0\xa0\x80", 3, 0x800, "the first character of three bytes");
    is_char("\xe2\x94\x9c rest", 3, 0x251c, "a box character");
    is_char("\xf0\x90\x80\x80", 4, 0x10000, "the first character of four bytes");
    is_char("\xf4\x8f\xbf\xbf", 4, 0x10ffff, "the last character of all");
    is_char("\xf4\x90\x80\x80", 1, 0, "a code above the last character");
    is_char("\xc0\x80", 1, 0, "an overlong form of two");
    is_char("\xe0\x80\x80", 1, 0, "an overlong form of three");
    is_char("\xf0\x80\x80\x80", 1, 0, "an overlong form of four");
    is_char("\xed\xa0\x80", 1, 0, "a surrogate");
    is_char("\x80", 1, 0, "a continuation byte alone");
    is_char("\xe2\x94", 1, 0, "a character cut by the end");
    is_char("\xff", 1, 0, "a byte that is not UTF-8");
    ok(utf8_is_control(0) && utf8_is_control(0x1f) && !utf8_is_control(' '),
       "utf8_is_control knows the controls of ASCII");
    ok(utf8_is_control(0x7f) && utf8_is_control(0x9f) && !utf8_is_control('~') &&
           !utf8_is_control(0xa0),
       "utf8_is_control knows the controls behind ASCII");
    return done();
}
