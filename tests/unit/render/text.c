#include "render/text.h"

#include "base/utf8.h"
#include "tap.h"

static struct str out = STR_INIT(4096);

static const char *clean(const char *text)
{
    str_reset(&out);
    text_add(&out, text);
    return str_text(&out);
}

static const char *xml(const char *text)
{
    str_reset(&out);
    text_add_xml(&out, text);
    return str_text(&out);
}

static const char *clipped(const char *text, size_t columns)
{
    str_reset(&out);
    text_add_clipped(&out, text, columns);
    return str_text(&out);
}

static void test_clean(void)
{
    is_str(clean("plain text"), "plain text", "plain text stays");
    is_str(clean(NULL), "", "NULL adds nothing");
    is_str(clean("a\033[2Jb\r\n\tc\x7f"), "a?[2Jb???c?", "controls are replaced");
    is_str(clean("caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"), "café € 😀",
           "UTF-8 characters stay as they are");
    is_str(clean("\xc3"), "?", "a cut character is replaced");
    is_str(clean("\xc0\xaf \xed\xa0\x80 \xf5\x80\x80\x80"), "?? ??? ????", "what is no UTF-8");
    is_str(clean("\xf4\x90\x80\x80 \xe0\x80\x80"), "???? ???",
           "characters that are too large or too long are replaced");
    is_str(clean("a\xe2\x80\xae"
                 "b\xc2\x9b"
                 "c\xef\xbb\xbf"),
           "a?b?c?", "marks of direction, C1 controls and byte-order marks are replaced");
}

/* The first and last of each range of marks that are not shown, and what stands beside them. */
static void test_invisible(void)
{
    static const struct {
        uint32_t code;
        bool shown;
    } cases[] = {
        { 0x200a, true },   { 0x200b, false },  { 0x200f, false },   { 0x2010, true },
        { 0x2027, true },   { 0x2028, false },  { 0x202e, false },   { 0x202f, true },
        { 0x205f, true },   { 0x2060, false },  { 0x206f, false },   { 0x2070, true },
        { 0xfefe, true },   { 0xfeff, false },  { 0xff00, true },    { 0xfffd, true },
        { 0xfffe, false },  { 0xffff, false },  { 0x10000, true },   { 0x1fffd, true },
        { 0x1fffe, false }, { 0x1ffff, false }, { 0x10ffff, false }, { 0xa0, true },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char text[UTF8_MAX + 1];

        text[utf8_encode(cases[i].code, text)] = 0;
        is_str(clean(text), cases[i].shown ? text : "?", "the character U+%04X is shown, or not",
               (unsigned)cases[i].code);
    }
}

static void test_xml(void)
{
    is_str(xml("<a href=\"x\" b='y'>&\x01"), "&lt;a href=&quot;x&quot; b=&apos;y&apos;&gt;&amp;?",
           "XML's characters are written as entities");
}

static void test_clipped(void)
{
    is_str(clipped("abcdef", 6), "abcdef", "a text that fits stays whole");
    is_str(clipped("abcdef", 5), "abcd…", "a text too long is cut and gets an ellipsis");
    is_str(clipped("éééé", 3), "éé…", "a text is cut between characters");
    is_str(clipped("abc", 1), "…", "one column holds the ellipsis alone");
    is_str(clipped("abc", 0), "", "no columns hold no text");
    is_int((long long)text_columns("é\033€"), 3, "columns are characters");
}

static void test_wrapped(void)
{
    str_reset(&out);
    str_add(&out, "  ");
    text_add_wrapped(&out, "one two three four", 2, 10);
    is_str(str_text(&out), "  one two\n  three\n  four", "a text is broken at blanks");
    str_reset(&out);
    text_add_wrapped(&out, "a incomprehensible\nb", 0, 6);
    is_str(str_text(&out), "a\nincomprehensible\nb", "a long word stays whole");
    str_reset(&out);
    text_add_wrapped(&out, "  ", 0, 6);
    is_str(str_text(&out), "", "blanks alone make no line");
    str_reset(&out);
    text_add_wrapped(&out, "ab cd e", 0, 5);
    is_str(str_text(&out), "ab cd\ne", "a line is as wide as it may be");
    str_reset(&out);
    text_add_wrapped(&out, "é€ é€ é", 0, 5);
    is_str(str_text(&out), "é€ é€\né", "a line is measured in characters");
}

static void test_small(void)
{
    str_reset(&out);
    text_ink(&out, false, INK_RED, "x");
    text_ink(&out, true, INK_RED, "y");
    is_str(str_text(&out), "x\033[1;31my\033[0m", "text_ink adds colour on request");
    str_reset(&out);
    text_ink(&out, true, INK_BOLD, "b");
    text_ink(&out, true, INK_DIM, "d");
    text_ink(&out, true, INK_YELLOW, "y");
    text_ink(&out, true, INK_CYAN, "c");
    is_str(str_text(&out), "\033[1mb\033[0m\033[2md\033[0m\033[33my\033[0m\033[36mc\033[0m",
           "each ink has its code");
    str_reset(&out);
    text_count(&out, 1, "note");
    text_count(&out, 0, "note");
    is_str(str_text(&out), "1 note0 notes", "a noun has its plural unless the count is one");
}

int main(void)
{
    test_clean();
    test_invisible();
    test_xml();
    test_clipped();
    test_wrapped();
    test_small();
    str_done(&out);
    return done();
}
