#include "cmd/common/terminal_text.h"

#include <errno.h>
#include <string.h>

#include "base/utf8.h"

/* How many bytes at 'at' may be shown together: those of a character, one of 'also', or those that
 * set a colour. 0: none. */
static size_t shown(const char *at, const char *also, bool colour)
{
    unsigned char c = (unsigned char)*at;
    uint32_t code;
    size_t n;

    if ((c >= ' ' && c < 0x7f) || (c && strchr(also, c)))
        return 1;
    if (c == '\033' && colour && at[1] == '[') {
        n = 2 + strspn(at + 2, "0123456789;");
        return at[n] == 'm' ? n + 1 : 0;
    }
    n = utf8_decode(at, &code);
    return utf8_is_control(code) ? 0 : n;
}

/* text is NUL-terminated. 0, or -errno. */
static int put(FILE *to, const char *text, size_t len, const char *also, bool colour)
{
    const char *end = text + len, *at = text;
    uint32_t code;

    errno = 0;
    while (at < end) {
        size_t n = shown(at, also, colour);

        if (n) {
            at += n;
            continue;
        }
        fwrite(text, 1, (size_t)(at - text), to);
        fputc('?', to);
        at += utf8_decode(at, &code);
        text = at;
        if (ferror(to))
            return errno ? -errno : -EIO;
    }
    fwrite(text, 1, (size_t)(end - text), to);
    return ferror(to) || fflush(to) ? (errno ? -errno : -EIO) : 0;
}

void say(const char *who, const char *sentence)
{
    fprintf(stderr, "%s: ", who);
    (void)put(stderr, sentence, strlen(sentence), "", false); /* nobody is there to be told */
    fputc('\n', stderr);
}

int say_lines(FILE *to, const char *text, size_t len, bool colour)
{
    return put(to, text, len, "\n\t", colour);
}
