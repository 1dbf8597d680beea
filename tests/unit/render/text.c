#include "render/text.h"

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
}

static void test_small(void)
{
    str_reset(&out);
    text_ink(&out, false, INK_RED, "x");
    text_ink(&out, true, INK_RED, "y");
    is_str(str_text(&out), "x\033[1;31my\033[0m", "text_ink adds colour on request");
    str_reset(&out);
    text_count(&out, 1, "note");
    text_count(&out, 0, "note");
    is_str(str_text(&out), "1 note0 notes", "a noun has its plural unless the count is one");
}

int main(void)
{
    test_clean();
    test_xml();
    test_clipped();
    test_wrapped();
    test_small();
    str_done(&out);
    return done();
}
