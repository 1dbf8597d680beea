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
    is_str(opt_nearest(word, ARRAY_SIZE(words), word_at, words), want, "%s: %s", word, what);
}

static void test_near(void)
{
    nearest("json", "json", "itself");
    nearest("jsn", "json", "a letter dropped");
    nearest("jsoon", "json", "a letter added");
    nearest("jxon", "json", "a letter changed");
    nearest("josn", "json", "two letters swapped");
    nearest("JSON", "json", "case is no difference");
    nearest("tiemot", "timeout", "two slips in six letters");
    nearest("h100sxm", "H100-SXM", "a device without its dash");
    nearest("H00-SXM", "H100-SXM", "the first of two equals");
    nearest("H20-SXM", "H200-SXM", "the nearer, though later");
    nearest("form", "form", "itself, though another is near");
}

static void test_far(void)
{
    char long_word[100];

    nearest("jn", NULL, "two letters allow no slip");
    nearest("jsxx", NULL, "two slips in four letters");
    nearest("xyz", NULL, "nothing like it");
    nearest("", NULL, "nothing is near to nothing");
    is_str(opt_nearest("json", 0, word_at, words), NULL, "no words, no nearest");

    memset(long_word, 'a', sizeof(long_word));
    long_word[64] = '\0';
    nearest(long_word, NULL, "64 letters are too many");
    long_word[63] = '\0';
    nearest(long_word, NULL, "63 are compared");
}

static void test_long_candidates(void)
{
    char long_word[100];
    const char *const list[] = { long_word, "bbb" };

    memset(long_word, 'a', sizeof(long_word));
    long_word[64] = '\0';
    is_str(opt_nearest("bb", 2, word_at, list), NULL, "a candidate too long is passed over");
    is_str(opt_nearest("bbbb", 2, word_at, list), "bbb", "and the next one found");
    long_word[63] = '\0';
    is_str(opt_nearest(long_word, 2, word_at, list), long_word, "63 letters find themselves");
}

static void unknown(const char *word, const char *want)
{
    static const char *const list[] = { "train", "memory", "eval", NULL };
    struct err e = { "" };

    is_int(opt_unknown("subcommand", word, list, &e), ERR_USAGE, "'%s' is wrong usage", word);
    is_str(e.text, want, "the sentence about '%s'", word);
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
    test_far();
    test_long_candidates();
    test_unknown();
    return done();
}
