#include "model/nodes/node_list.h"

#include <errno.h>

#include "base/str.h"
#include "tap.h"

/* The nodes of a line, with blanks between; or the sentence that says what is wrong. */
static const char *list_of(const char *line, struct str *out)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    struct node_list l = { .n = 0 };
    struct err e = { "" };
    int rc = node_list_add(&l, &a, line, &e);

    str_reset(out);
    if (rc < 0)
        str_addf(out, "%d: %s", rc, e.text);
    for (size_t i = 0; rc == 0 && i < l.n; i++)
        str_addf(out, "%s%s", i ? " " : "", l.nodes[i].text);
    return str_text(out);
}

static void test_lists(void)
{
    static const struct {
        const char *line, *nodes, *what;
    } cases[] = {
        { "", "", "an empty line has no nodes" },
        { "  # n1,n2", "", "a comment has no nodes" },
        { "n1", "n1", "one name is a list" },
        { " n2, n1,n2 # and so on", "n2 n1", "nodes are named once, in their first order" },
        { "n1 n2\tn3", "n1 n2 n3", "blanks part nodes, too" },
        { "n1:9500,n1:9410,n1", "n1:9500 n1", "the port of agents is left out" },
        { "a-b_c.example.org:1", "a-b_c.example.org:1", "names have dashes and dots" },
        { "[fd00::7],[::1]:9500", "[fd00::7] [::1]:9500", "addresses of IPv6 stand in brackets" },
        { "[fe80::1%eth0]", "[fe80::1%eth0]", "an address of IPv6 may name an interface" },
        { "127.0.0.[1-3]", "127.0.0.1 127.0.0.2 127.0.0.3", "addresses have ranges" },
        { "n[1-3,7]", "n1 n2 n3 n7", "a bracket has ranges and numbers" },
        { "n[008-011]", "n008 n009 n010 n011", "a range keeps the zeros of its beginning" },
        { "n[8-11]", "n8 n9 n10 n11", "a range without zeros grows a digit" },
        { "r[1-2]n[1-2].x:80", "r1n1.x:80 r1n2.x:80 r2n1.x:80 r2n2.x:80",
          "a name may have two ranges, and more behind them" },
    };
    CLEANUP(str_done) struct str out = STR_INIT(4096);

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        is_str(list_of(cases[i].line, &out), cases[i].nodes, "this list is read: %s",
               cases[i].what);
}

static void test_refused(void)
{
    static const struct {
        const char *line, *sentence;
    } cases[] = {
        { "n1,,n2", "a list of nodes has nothing before a comma" },
        { ",n1", "a list of nodes has nothing before a comma" },
        { "n1;n2", "'n1;n2' is no name of a node: letters, digits and -_. only" },
        { "-n1", "'-n1' is no name of a node: names begin with a letter or digit" },
        { ":9500", "':9500' is no name of a node: names begin with a letter or digit" },
        { "n1:", "'n1:': a port is a number from 1 to 65535" },
        { "n1:0", "'n1:0': a port is a number from 1 to 65535" },
        { "n1:65536", "'n1:65536': a port is a number from 1 to 65535" },
        { "n1:9x", "'n1:9x': a port is a number from 1 to 65535" },
        { "::1", "'::1' has two colons: an address of IPv6 stands in brackets" },
        { "[n1]", "'[n1]' is no address of IPv6" },
        { "[]", "'[]' is no address of IPv6" },
        { "[::1", "'[::1' is no address of IPv6" },
        { "[::1%a b]", "'[::1%a' is no address of IPv6" },
        { "n[1-3", "'n[1-3' lacks the bracket that ends it" },
        { "n1]", "'n1]' is no name of a node: letters, digits and -_. only" },
        { "n[]", "'n[]': in brackets stand numbers: n[001-128,140]" },
        { "n[3-1]", "'n[3-1]': in brackets stand numbers: n[001-128,140]" },
        { "n[1-3,]", "'n[1-3,]': in brackets stand numbers: n[001-128,140]" },
        { "n[a-c]", "'n[a-c]': in brackets stand numbers: n[001-128,140]" },
        { "n[1][1][1][1][1]", "'n[1][1][1][1][1]' has too many brackets" },
        { "n[1-20000]", "more than 10000 nodes: ask fewer at a time" },
        { "n[1-999999999][1-999999999]", "more than 10000 nodes: ask fewer at a time" },
    };
    CLEANUP(str_done) struct str out = STR_INIT(4096), want = STR_INIT(4096);

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        str_reset(&want);
        str_addf(&want, "%d: %s", -EINVAL, cases[i].sentence);
        is_str(list_of(cases[i].line, &out), str_text(&want), "this list is refused: %s",
               cases[i].line);
    }
}

static void test_long_names(void)
{
    CLEANUP(str_done) struct str line = STR_INIT(4096), out = STR_INIT(4096);

    str_fill(&line, 'n', NODE_LIST_NAME - 1);
    is_str(list_of(str_text(&line), &out), str_text(&line), "a name of 253 characters is taken");
    str_add_char(&line, 'n');
    ok(strstr(list_of(str_text(&line), &out), "too long") != NULL,
       "a name of 254 characters is refused");
    str_reset(&line);
    str_fill(&line, 'n', NODE_LIST_NAME - 2);
    str_add(&line, "[9-10]");
    ok(strstr(list_of(str_text(&line), &out), "too long") != NULL,
       "a range whose last name is too long is refused");
    str_reset(&line);
    str_add_char(&line, '[');
    str_fill(&line, '1', 100);
    str_add_char(&line, ']');
    ok(strstr(list_of(str_text(&line), &out), "is no address of IPv6") != NULL,
       "an address of IPv6 that is longer than any is refused");
}

static void test_files(void)
{
    static const char text[] = "# the training nodes\n\nn[1-2]\r\n  n3:9500 # spare\nn1\nlast";
    static const char bad[] = "n1\nn2\nn[3\n";
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    struct node_list l = { .n = 0 };
    struct err e = { "" };

    is_int(node_list_read(&l, &a, "nodes.txt", text, sizeof(text) - 1, &e), 0,
           "a file with comments and empty lines is read");
    is_int(l.n, 4, "the file has four nodes, each once");
    is_str(l.nodes[2].text, "n3:9500", "the third node of the file has its port");
    is_int(l.nodes[2].port, 9500, "the port of the third node is a number");
    is_str(l.nodes[3].name, "last", "the last line needs no newline");
    is_int(node_list_read(&l, &a, "nodes.txt", bad, sizeof(bad) - 1, &e), -EINVAL,
           "a file with a broken line is refused");
    is_str(e.text, "nodes.txt:3: 'n[3' lacks the bracket that ends it",
           "the sentence about a file names its line");
}

static void test_most(void)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    struct node_list l = { .n = 0 };

    is_int(node_list_add(&l, &a, "n[00001-10000]", NULL), 0, "ten thousand nodes are taken");
    is_int(node_list_add(&l, &a, "n[00001-10000]", NULL), 0, "the same ones again are no more");
    is_int(l.n, NODE_LIST_MAX, "ten thousand nodes are in the list");
    is_int(node_list_add(&l, &a, "one-more", NULL), -EINVAL, "one more than that is refused");
    is_int(l.n, NODE_LIST_MAX, "the one that was refused is not in the list");
}

static void test_order(void)
{
    static const char *const names[] = { "a", "n1", "n01", "n2", "n2.x", "n10", "n10-1", "nn" };

    for (size_t i = 0; i + 1 < ARRAY_SIZE(names); i++) {
        const struct node_list_node x = { names[i], names[i], 1 },
                                    y = { names[i + 1], names[i + 1], 1 };
        int order = node_list_compare(&x, &y);

        /* of those with the same number, either may be first, but not both */
        ok(order < 0 || (i == 1 && order > 0), "%s comes before %s", names[i], names[i + 1]);
        is_int(node_list_compare(&y, &x), -order, "%s and %s have one order", names[i],
               names[i + 1]);
    }
}

int main(void)
{
    test_lists();
    test_refused();
    test_long_names();
    test_files();
    test_most();
    test_order();
    return done();
}
