#include <string.h>

#include "base/opt.h"
#include "tap.h"

static const char *const words[] = {
    "json", "from", "timeout", "H100-SXM", "H200-SXM", "form", "v"
};

static const char *word_at(const void *ctx, size_t i)
{
    const char *const *list = ctx;

    return list[i];
}

static void nearest(const char *word, const char *want, const char *what)
{
    is_str(opt_nearest(word, ARRAY_SIZE(words), word_at, words), want,
           "the nearest word to '%s': %s", word, what);
}

static void test_family(void)
{
    is_str(opt_nearest_family("H1000", ARRAY_SIZE(words), word_at, words), "H100-SXM",
           "the part before a dash is near to a word that has none");
    is_str(opt_nearest_family("H100", ARRAY_SIZE(words), word_at, words), "H100-SXM",
           "the part before a dash names the whole word");
    is_str(opt_nearest_family("jsn", ARRAY_SIZE(words), word_at, words), "json",
           "a word without a dash is a family of its own");
    is_str(opt_nearest_family("XYZ", ARRAY_SIZE(words), word_at, words), NULL,
           "a word unlike all families has none");
}

static void test_near(void)
{
    nearest("json", "json", "a word of the list is its own nearest");
    nearest("jsn", "json", "a letter may be dropped");
    nearest("jsoon", "json", "a letter may be added");
    nearest("jxon", "json", "a letter may be changed");
    nearest("josn", "json", "two letters may be swapped");
    nearest("sjon", "json", "the first two letters may be swapped");
    nearest("jsno", "json", "the last two letters may be swapped");
    nearest("JSON", "json", "case makes no difference");
    nearest("tiemot", "timeout", "six letters allow two slips");
    nearest("h100sxm", "H100-SXM", "a device is found without its dash");
    nearest("H00-SXM", "H100-SXM", "the first of two equally near words is taken");
    nearest("H20-SXM", "H200-SXM", "the nearer word is taken, though it stands later");
    nearest("form", "form", "an exact word is taken, though another is near");
}

static void test_far(void)
{
    char long_word[100];

    nearest("jn", NULL, "two letters allow no slip");
    nearest("jsxx", NULL, "four letters do not allow two slips");
    nearest("xyz", NULL, "a word unlike all others has none");
    nearest("", NULL, "nothing is near to nothing");
    is_str(opt_nearest("json", 0, word_at, words), NULL, "opt_nearest is NULL for an empty list");

    memset(long_word, 'a', sizeof(long_word));
    long_word[64] = '\0';
    nearest(long_word, NULL, "64 letters are too many");
    long_word[63] = '\0';
    nearest(long_word, NULL, "63 letters are compared with each word");
}

static void test_case(void)
{
    static const char *const list[] = { "aaa", "zzz", "```", "{{{" };

    is_str(opt_nearest("AAA", ARRAY_SIZE(list), word_at, list), "aaa", "A has a small letter");
    is_str(opt_nearest("ZZZ", ARRAY_SIZE(list), word_at, list), "zzz", "Z has a small letter");
    is_str(opt_nearest("@@@", ARRAY_SIZE(list), word_at, list), NULL,
           "what stands before A in ASCII has no small letter");
    is_str(opt_nearest("[[[", ARRAY_SIZE(list), word_at, list), NULL,
           "what stands behind Z in ASCII has no small letter");
}

static void test_equally_near(void)
{
    static const char *const equal[] = { "A10", "h100", "H101" };

    is_str(opt_nearest("H10", ARRAY_SIZE(equal), word_at, equal), "h100",
           "of equally near candidates the first is chosen that begins with the word");
    is_str(opt_nearest("B10", ARRAY_SIZE(equal), word_at, equal), "A10",
           "of equally near candidates the first is chosen where none begins with the word");
}

static void test_long_candidates(void)
{
    char long_word[100];
    char longer[100] = "";
    const char *const list[] = { long_word, "bbb" }, *const beyond[] = { longer };

    memset(long_word, 'a', sizeof(long_word));
    long_word[64] = '\0';
    is_str(opt_nearest("bb", 2, word_at, list), NULL, "a candidate too long is passed over");
    is_str(opt_nearest("bbbb", 2, word_at, list), "bbb",
           "a candidate behind one too long is found");
    long_word[63] = '\0';
    is_str(opt_nearest(long_word, 2, word_at, list), long_word, "63 letters find themselves");
    memset(longer, 'a', sizeof(longer) - 1);
    is_str(opt_nearest(long_word, 1, word_at, beyond), longer,
           "a candidate of 99 letters is found by its first 63");
}

static void unknown(const char *word, const char *want)
{
    static const char *const list[] = { "train", "memory", "eval", NULL };
    struct err e = { "" };

    is_int(opt_unknown("subcommand", word, list, &e), ERR_USAGE, "'%s' is wrong usage", word);
    is_str(e.text, want, "opt_unknown says what could be meant by '%s'", word);
}

static void test_unknown(void)
{
    unknown("trian", "unknown subcommand 'trian' (did you mean 'train'?)");
    unknown("xyz", "unknown subcommand 'xyz' (there are train, memory, eval)");
    unknown("", "unknown subcommand '' (there are train, memory, eval)");
    is_int(opt_unknown("word", "x", (const char *const[]){ NULL }, NULL), ERR_USAGE,
           "a list may be empty, and nobody listen");
}

int main(void)
{
    test_near();
    test_family();
    test_far();
    test_case();
    test_equally_near();
    test_long_candidates();
    test_unknown();
    return done();
}
