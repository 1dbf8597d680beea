/* What of a text a terminal is shown, and the names of machines. */
#include "cmd/common/terminal_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/common/host_name.h"
#include "folder.h"
#include "tap.h"

static void lines(const char *text, bool colour, const char *want)
{
    char *said = NULL;
    size_t len = 0;
    FILE *to = open_memstream(&said, &len);

    folder_need(to ? 0 : -1, "open_memstream");
    is_int(say_lines(to, text, strlen(text), colour), 0, "a text is written %s colours",
           colour ? "with" : "without");
    fclose(to);
    is_str(said, want, "a terminal is shown what does not move it");
    free(said);
}

static void test_lines(void)
{
    lines("", false, "");
    lines(" ~\n\t!", false, " ~\n\t!");
    lines("a\x1f\x7f\r\b", false, "a????");
    lines("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", false, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
    lines("\xc2\x80\xc2\x9f\xc2\xa0", false, "??\xc2\xa0"); /* controls of two bytes, and none */
    lines("\033[1;31mred\033[0m\033[m", true, "\033[1;31mred\033[0m\033[m");
    lines("\033[1;31mred\033[0m", false, "?[1;31mred?[0m");
    lines("\033[2Jx", true, "?[2Jx");
    lines("\033]0;title\a", true, "?]0;title?");
    lines("\033", true, "?");
    lines("\033[1", true, "?[1");
}

/* A part of a text, and one that cannot be written. */
static void test_ends(void)
{
    char *said = NULL;
    size_t len = 0;
    FILE *to = open_memstream(&said, &len);

    folder_need(to ? 0 : -1, "open_memstream");
    is_int(say_lines(to, "abc\001def", 5, false), 0, "a part of a text is written");
    fclose(to);
    is_str(said, "abc?d", "no more of a text is shown than was asked for");
    free(said);
    to = fopen("/dev/full", "we");
    folder_need(to ? 0 : -1, "/dev/full");
    is_int(say_lines(to, "abc", 3, false), -ENOSPC, "a text that has no room is told of");
    fclose(to);
    to = fopen("/dev/full", "we");
    folder_need(to ? 0 : -1, "/dev/full");
    setbuf(to, NULL);
    is_int(say_lines(to, "a\001b", 3, false), -ENOSPC,
           "a text whose first part has no room is told of");
    fclose(to);
}

static void test_host(void)
{
    char root[PATH_MAX], name[64] = "old", own[64] = "";

    folder_make(root);
    host_name(root, name, sizeof(name));
    is_str(name, "", "a recording without a name has none");
    folder_text(root, "proc/sys/kernel/hostname", "n17\nmore\n");
    host_name(root, name, sizeof(name));
    is_str(name, "n17", "a recording is called as its kernel said");
    host_name(root, name, 3);
    is_str(name, "n1", "a name is cut where its room ends");
    folder_text(root, "proc/sys/kernel/hostname", "n18");
    host_name(root, name, sizeof(name));
    is_str(name, "n18", "a name needs no end of a line");
    memset(name, 'x', sizeof(name));
    host_name(NULL, name, sizeof(name));
    folder_need(gethostname(own, sizeof(own) - 1), "gethostname");
    is_str(name, own, "this machine is called as its kernel says");
    folder_remove(root);
}

int main(void)
{
    test_lines();
    test_ends();
    test_host();
    return done();
}
