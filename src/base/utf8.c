#include "base/utf8.h"

size_t utf8_decode(const char *text, uint32_t *ret)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    const unsigned char *c = (const unsigned char *)text;
    size_t n = c[0] < 0x80 ? 1 : c[0] < 0xc2 ? 0 : c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 : 4;
    uint32_t code = n < 2 ? c[0] : c[0] & (0x7fu >> n);

    *ret = 0;
    for (size_t i = 1; i < n; i++) {
        if ((c[i] & 0xc0) != 0x80)
            return 1;
        code = code << 6 | (c[i] & 0x3fu);
    }
    if (!n || code < least[n] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        return 1;
    *ret = code;
    return n;
}

size_t utf8_encode(uint32_t code, char *to)
{
    static const unsigned char first[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
    size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

    for (size_t i = n; i > 1; i--) {
        to[i - 1] = (char)(0x80 | (code & 0x3f));
        code >>= 6;
    }
    to[0] = (char)(first[n] | code);
    return n;
}

bool utf8_is_control(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0);
}
