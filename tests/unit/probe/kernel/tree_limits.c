/* Where a tree ends: numbers, errors, paths of links and lists that just fit, and such that do
 * not. */
#include <errno.h>
#include <stdint.h>

#include "folder.h"
#include "probe/kernel/tree.h"
#include "tap.h"

/* A tree of a pack; the test ends when it is none. */
static struct tree *tree_of(const struct str *pack)
{
    struct tree *t = NULL;
    struct err e = { "" };

    if (tree_open_pack(&t, "p", str_text(pack), pack->len, &e) < 0) {
        printf("Bail out! %s\n", e.text);
        exit(1);
    }
    return t;
}

static void test_numbers(void)
{
    static const struct {
        const char *text;
        long long number;
    } cases[] = {
        { "0", 0 },
        { "-7", -7 },
        { "0x0", 0 },
        { "0x7fffffffffffffff", INT64_MAX },
        { "0x8000000000000000", -1 },
        { "0xffffffffffffffff", -1 },
        { "0x", -1 },
        { "0xg", -1 },
        { "9223372036854775807", INT64_MAX },
        { "9223372036854775808", -1 },
        { "5 6", -1 },
        { "5 \t", 5 },
        { "1x5", -1 },
        { "", -1 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(str_done) struct str pack = STR_INIT(4096);
        CLEANUP(tree_closep) struct tree *t = NULL;

        str_addf(&pack, "brim-pack 1\nf %zu n\n%s\nend 1\n", strlen(cases[i].text), cases[i].text);
        t = tree_of(&pack);
        ok(tree_number(t, "n") == cases[i].number, "the number of '%s' is %lld", cases[i].text,
           cases[i].number);
    }
}

static void test_errors(void)
{
    static const struct {
        const char *text;
        int error;
    } cases[] = {
        { "1", EPERM },  { "4095", 4095 },
        { "4096", EIO }, { "0", EIO },
        { "13x", EIO },  { "00000000000000013", EIO }, /* more digits than there is room for */
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(str_done) struct str pack = STR_INIT(4096);
        CLEANUP(tree_closep) struct tree *t = NULL;
        char text[16];

        str_addf(&pack, "brim-pack 1\ne %zu n\n%s\nend 1\n", strlen(cases[i].text), cases[i].text);
        t = tree_of(&pack);
        is_int(tree_read(t, "n", text, sizeof(text)), -cases[i].error, "an error of '%s' is %d",
               cases[i].text, cases[i].error);
    }
}

static void test_empty(void)
{
    CLEANUP(str_done) struct str pack = STR_INIT(4096);
    CLEANUP(tree_closep) struct tree *t = NULL;
    char text[16] = "as it was";

    str_add(&pack, "brim-pack 1\nx 0 hex\n\nf 0 text\n\nend 2\n");
    t = tree_of(&pack);
    is_int(tree_read(t, "hex", text, sizeof(text)), 0, "a file of no bytes is read");
    is_str(text, "", "a file of no bytes is an empty text");
    is_int(tree_read(t, "text", text, sizeof(text)), 0, "an empty file is read");
}

/* The target of a link, below the folder that the link is in. */
static void test_targets(void)
{
    static const struct {
        const char *path, *target, *want;
    } cases[] = {
        { "a/b/link", "../c", "a/c" },
        { "a/b/link", "../../c", "c" },
        { "a/b/link", "../../../c", "c" },
        { "a/b/link", "/c/d", "c/d" },
        { "a/b/link", "./c//d/", "a/b/c/d" },
        { "link", "c", "c" },
        { "link", "../c", "c" },
        { "a/link", "..", "" },
        { "a/link", ".", "a" },
        { "a/link", "...", "a/..." },
        { "a/link", ".c/..d", "a/.c/..d" },
        { "ab/link", "../c", "c" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(str_done) struct str pack = STR_INIT(4096);
        CLEANUP(tree_closep) struct tree *t = NULL;
        char target[TREE_PATH] = "as it was";

        str_addf(&pack, "brim-pack 1\nl %zu %s\n%s\nend 1\n", strlen(cases[i].target),
                 cases[i].path, cases[i].target);
        t = tree_of(&pack);
        is_int(tree_link(t, cases[i].path, target, sizeof(target)), 0, "the link %s to %s is read",
               cases[i].path, cases[i].target);
        is_str(target, cases[i].want, "the link %s to %s leads to '%s'", cases[i].path,
               cases[i].target, cases[i].want);
    }
}

/* Each size of the buffer: what fits is right, what does not is refused. */
static void test_room(void)
{
    static const char text[] = "brim-pack 1\nl 7 dir/abc/link\n../d/ef\nend 1\n";
    CLEANUP(str_done) struct str pack = STR_INIT(4096);
    CLEANUP(tree_closep) struct tree *t = NULL;
    const char *want = "dir/d/ef";
    int wrong = 0;

    str_add(&pack, text);
    t = tree_of(&pack);
    for (size_t size = 1; size < 20; size++) {
        char *target = malloc(size); /* of exactly that size: a sanitizer sees more */
        int rc = tree_link(t, "dir/abc/link", target, size);

        wrong += size > strlen(want) && (rc != 0 || strcmp(target, want) != 0);
        wrong += size <= strlen(want) && rc != -ENAMETOOLONG;
        free(target);
    }
    is_int(wrong, 0, "a target is whole or refused, whatever room there is");
}

/* What was in the list before is not in it afterwards. */
static void test_lists(void)
{
    CLEANUP(str_done) struct str pack = STR_INIT(4096);
    CLEANUP(str_done) struct str names = STR_INIT(64);
    CLEANUP(tree_closep) struct tree *t = NULL;

    str_add(&pack, "brim-pack 1\nd 3 one\na\nb\nd 0 none\n\nd 4 two\nc\nd\n\nend 3\n");
    t = tree_of(&pack);
    is_int(tree_list(t, "one", &names), 2, "a list has two names");
    is_str(str_text(&names), "a\nb\n", "a list has its names");
    is_int(tree_list(t, "two", &names), 2, "another list has two names");
    is_str(str_text(&names), "c\nd\n", "another list has its own names alone");
    is_int(tree_list(t, "none", &names), 0, "an empty list has no names");
    is_str(str_text(&names), "", "an empty list is empty");
    is_int(tree_list(t, "one", &names), 2, "the first list has two names once more");
    is_int(tree_list(t, "missing", &names), -ENOENT, "a list that is not there is none");
    is_str(str_text(&names), "", "a list that is not there leaves no names");
}

/* A tree that is recorded again begins a recording anew. */
static void test_again(void)
{
    CLEANUP(str_done) struct str pack = STR_INIT(4096);
    CLEANUP(tree_closep) struct tree *t = NULL;
    char text[16];

    str_add(&pack, "brim-pack 1\nf 1 a\n5\nf 1 b\n6\nend 2\n");
    t = tree_of(&pack);
    for (int i = 0; i < 2; i++) {
        CLEANUP(str_done) struct str record = STR_INIT(4096);

        tree_record(t, &record);
        is_int(tree_read(t, "a", text, sizeof(text)), 1, "a file is read in recording %d", i);
        is_int(tree_record_end(t), 0, "recording %d ends well", i);
        is_str(str_text(&record), "brim-pack 1\nf 1 a\n5\nend 1\n",
               "recording %d has what was read in it", i);
    }
}

static void test_folder(void)
{
    CLEANUP(str_done) struct str names = STR_INIT(64);
    CLEANUP(str_done) struct str small = STR_INIT(8);
    CLEANUP(tree_closep) struct tree *t = NULL;
    char root[PATH_MAX], text[64];
    struct err e = { "" };

    folder_make(root);
    folder_text(root, "dir/b", "x");
    folder_text(root, "dir/a", "y \t\n");
    folder_text(root, "dir/c", "\t \n");
    is_int(tree_open_dir(&t, root, &e), 0, "a folder is opened");
    is_int(tree_list(t, "dir", &names), 3, "a folder has three names");
    is_str(str_text(&names), "a\nb\nc\n", "the names of a folder are sorted");
    is_int(tree_list(t, "dir/b", &names), -ENOTDIR, "a file is no folder");
    is_int(tree_read(t, "dir", text, sizeof(text)), -EISDIR, "a folder is no file");
    is_str(text, "", "a folder that is read leaves an empty text");
    is_int(tree_link(t, "dir/b", text, sizeof(text)), -ENOENT, "a file is no link");
    is_int(tree_line(t, "dir/a", text, sizeof(text)), 1, "a line has no blanks at its end");
    is_int(tree_line(t, "dir/c", text, sizeof(text)), 0, "a line of blanks is empty");
    folder_text(root, "dir/a-long-name", "");
    is_int(tree_list(t, "dir", &small), -EFBIG, "names that have no room are refused");
    folder_remove(root);
}

int main(void)
{
    test_numbers();
    test_errors();
    test_empty();
    test_targets();
    test_room();
    test_lists();
    test_again();
    if (folder_can_copy())
        test_folder();
    return done();
}
