/* Words of the kernel's tables: where one ends, what has room, what stands for a byte in the name
 * of a mount, and how a long one is called. */
#include "probe/sample/table.h"

#include <errno.h>
#include <string.h>

#include "tap.h"

static void test_decode(void)
{
    static const struct {
        const char *word, *name;
    } words[] = {
        { "/mnt", "/mnt" },
        { "/my\\040data", "/my data" },
        { "\\040", " " },
        { "\\011\\012\\134", "\t\n\\" },
        { "\\001\\377", "\001\377" },
        { "\\0401", " 1" },
        { "/a\\04", "/a\\04" },
        { "\\04x", "\\04x" },
        { "\\0x4", "\\0x4" },
        { "\\048", "\\048" },
        { "\\04/", "\\04/" },
        { "\\080", "\\080" },
        { "\\400", "\\400" },
        { "\\x40", "\\x40" },
        { "\\/40", "\\/40" },
        { "\\000", "\\000" },
        { "\\\\040", "\\ " },
        { "040", "040" },
        { "", "" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
        char out[32] = "";
        size_t len = strlen(words[i].word), need = strlen(words[i].name) + 1;

        is_int(sample_mount_decode(words[i].word, len, out, sizeof(out)), 0,
               "the mount '%s' has a name", words[i].word);
        is_str(out, words[i].name, "the mount '%s' is decoded", words[i].word);
        is_int(sample_mount_decode(words[i].word, len, out, need), 0,
               "the name of '%s' fits where there is just room", words[i].word);
        is_int(sample_mount_decode(words[i].word, len, out, need - 1), -ENAMETOOLONG,
               "the name of '%s' does not fit where a byte is missing", words[i].word);
    }
}

static void test_words(void)
{
    const char *at = " \t ab:cd\te f\n g", *word;

    is_int((int)sample_word(&at, ':', &word), 2, "a word ends at the character that ends it");
    ok(!strncmp(word, "ab", 2) && *at == ':', "what ended a word is not passed");
    at++;
    is_int((int)sample_word(&at, ':', &word), 2, "a word ends at a tab");
    is_int((int)sample_word(&at, 0, &word), 1, "a word ends at a blank");
    is_int((int)sample_word(&at, 0, &word), 1, "a word ends at the end of its line");
    is_int((int)sample_word(&at, 0, &word), 0, "the end of a line is not passed");
    ok(*at == '\n', "the end of a line stays the next character");
}

static void test_names(void)
{
    char text[SIGNAL_THING + 2], name[SIGNAL_THING] = "as it was";
    const char *at = text;

    memset(text, 'x', sizeof(text));
    text[SIGNAL_THING - 1] = ' ';
    text[SIGNAL_THING] = 0;
    ok(sample_name(&at, 0, name) && strlen(name) == SIGNAL_THING - 1,
       "the longest name that has room is a name");
    text[SIGNAL_THING - 1] = 'x';
    at = text;
    ok(!sample_name(&at, 0, name), "a name that is longer by a byte is none");
    at = " \n";
    ok(!sample_name(&at, 0, name), "a line without a word has no name");
}

static void test_mounts(void)
{
    char mount[SIGNAL_THING + 8] = "/", name[SIGNAL_THING];

    memset(mount + 1, 'a', SIGNAL_THING - 2);
    mount[SIGNAL_THING - 1] = 0;
    sample_mount_name(name, mount);
    is_str(name, mount, "the longest mount that has room is called by its path");
    memcpy(mount + SIGNAL_THING - 1, "b", 2);
    sample_mount_name(name, mount);
    is_int((int)strlen(name), SIGNAL_THING - 1, "the name of a longer mount takes all room");
    ok(!strncmp(name, "...a", 4) && !strcmp(name + 3, mount + 4),
       "the name of a longer mount is its end: %s", name);
    memcpy(mount + 3, "\xe2\x82\xac\xc3\xa4", 5);
    sample_mount_name(name, mount);
    is_str(name + 3, mount + 6, "the name of a longer mount begins with a whole character");
    ok(!strncmp(name, "...\303\244a", 6), "a character that is whole is not passed over: %s", name);
}

int main(void)
{
    test_words();
    test_names();
    test_mounts();
    test_decode();
    return done();
}
