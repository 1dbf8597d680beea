#include "base/xml.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "tap.h"

/* Write the tokens as "+tag1 name=value;" and "-tag1;", the number being the depth. */
static int tokens_of(const char *text, size_t len, struct str *out, struct err *e)
{
    struct xml x;
    int rc;

    xml_init(&x, "a.xml", text, len);
    while ((rc = xml_next(&x, e)) > 0) {
        str_addf(out, "%c%s%d", rc == XML_OPEN ? '+' : '-', x.tag, x.depth);
        for (size_t i = 0; i < x.n_attrs; i++)
            str_addf(out, " %s=%s", x.attrs[i].name, x.attrs[i].value);
        str_add_char(out, ';');
    }
    return rc;
}

static void tokens(const char *text, const char *want, const char *what)
{
    CLEANUP(str_done) struct str out = STR_INIT(64 << 10);
    struct err e = { "" };
    int rc = tokens_of(text, strlen(text), &out, &e);

    is_str(str_text(&out), want, "%s", what);
    is_str(e.text, "", "%s: xml_next writes no error", what);
    is_int(rc, XML_END, "%s: xml_next reaches the end", what);
}

static void error_n(const char *text, size_t len, const char *want)
{
    CLEANUP(str_done) struct str out = STR_INIT(64 << 10);
    struct err e = { "" };
    int rc = tokens_of(text, len, &out, &e);

    is_str(e.text, want, "xml_next refuses: %s", want);
    is_int(rc, -EINVAL, "xml_next returns -EINVAL: %s", want);
}

static void error(const char *text, const char *want)
{
    error_n(text, strlen(text), want);
}

static void test_tags(void)
{
    tokens("<a></a>", "+a1;-a1;", "a root is opened and closed");
    tokens("<a/>", "+a1;-a1;", "a root may have no content");
    tokens("<a><b/><c><d/></c></a>", "+a1;+b2;-b2;+c2;+d3;-d3;-c2;-a1;", "each tag has its depth");
    tokens("<a >\n<b\n/>\n</a\n>\n", "+a1;+b2;-b2;-a1;",
           "tags may have blanks and newlines in them");
    tokens("<a>text &amp; <b/> more</a> end", "+a1;+b2;-b2;-a1;", "text between tags is skipped");
    tokens("<a-1.b:_c/>", "+a-1.b:_c1;-a-1.b:_c1;", "names may have '-', '.', ':' and '_' in them");
    tokens("<AaZz09/>", "+AaZz091;-AaZz091;",
           "names may have the first and the last letters and digits in them");
    tokens("<a b='' Z='1' z='2' A='3'/>", "+a1 b= Z=1 z=2 A=3;-a1;",
           "names may begin with the first and the last letters");
    tokens("<\xc3\xa9/>",
           "+\xc3\xa9"
           "1;-\xc3\xa9"
           "1;",
           "names may go beyond ASCII");
    tokens("<?xml version=\"1.0\"?>\n<!DOCTYPE a SYSTEM \"a.dtd\">\n<!-- <b> -- --><a/>",
           "+a1;-a1;", "declarations and comments are skipped");
    tokens("<a><![CDATA[<b>]]><!----><?p <q>?></a>", "+a1;-a1;",
           "CDATA, comments and instructions inside of tags are skipped");
    tokens("\xef\xbb\xbf<a/>", "+a1;-a1;", "a byte-order mark is skipped as text");
}

static void test_attributes(void)
{
    tokens("<a b=\"1\" c='2'/>", "+a1 b=1 c=2;-a1;", "attributes stand in either quotes");
    tokens("<a b=\"it's\" c='\"'/>", "+a1 b=it's c=\";-a1;",
           "each kind of quotes may hold the other");
    tokens("<a\n\tb = \"1\"\r\n c=\n'2' ></a>", "+a1 b=1 c=2;-a1;",
           "blanks may stand around attributes and their =");
    tokens("<a b=\"\"/>", "+a1 b=;-a1;", "a value may be empty");
    tokens("<a b=\"1>2/>\"/>", "+a1 b=1>2/>;-a1;", "> is allowed in values");
    tokens("<a b=\"x\ny\tz\"/>", "+a1 b=x y z;-a1;", "blanks in values are spaces");
    tokens("<a b=\"&lt;&gt;&amp;&quot;&apos;\"/>", "+a1 b=<>&\"';-a1;",
           "named entities are decoded");
    tokens("<a b=\"&#65;&#x42;&#x00000043;&#10;\"/>", "+a1 b=ABC\n;-a1;",
           "numeric entities are decoded");
    tokens("<a b=\"&#x7f;&#xe9;&#x20ac;&#x1F600;&#x10ffff;\"/>",
           "+a1 b=\x7f\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf;-a1;",
           "numeric entities become UTF-8 of 1 to 4 bytes");
    tokens("<a b=\"&#xD7FF;&#xe000;\"/>", "+a1 b=\xed\x9f\xbf\xee\x80\x80;-a1;",
           "numeric entities stand beside surrogates");
    tokens("<a b=\"&amp;amp;\"/>", "+a1 b=&amp;;-a1;", "entities are decoded once");
}

static void test_attr(void)
{
    static const char text[] = "<gpu dev=\"0\" busid=\"1a\">\n\n</gpu>";
    struct xml x;
    struct err e;

    xml_init(&x, "a.xml", text, strlen(text));
    is_int(xml_next(&x, &e), XML_OPEN, "xml_next tells of a tag that opens");
    is_str(xml_attr(&x, "busid"), "1a", "xml_attr finds an attribute by its name");
    is_str(xml_attr(&x, "bus"), NULL, "xml_attr finds none by a part of its name");
    is_int(x.line, 1, "the tag opens in line 1");
    is_int(xml_next(&x, &e), XML_CLOSE, "xml_next tells of a tag that closes");
    is_str(xml_attr(&x, "busid"), NULL, "a tag that closes has no attributes");
    is_int(x.line, 3, "the tag closes in line 3");
    is_int(xml_next(&x, &e), XML_END, "xml_next tells of the end of the text");
    is_int(xml_next(&x, &e), XML_END, "xml_next stays at the end of the text");
    ok(x.depth == 0 && !x.tag, "there is no tag at the end of the text");
}

static void test_structure_errors(void)
{
    error("", "a.xml:1: there is no tag; is this XML?");
    error("\nhello\n", "a.xml:3: there is no tag; is this XML?");
    error("<!-- a -->", "a.xml:1: there is no tag; is this XML?");
    error("<a>\n<b>\n</a>", "a.xml:3: </a> stands where <b> must be closed");
    error("<ab></a>", "a.xml:1: </a> stands where <ab> must be closed");
    error("</a>", "a.xml:1: </a> closes nothing");
    error("<a/></a>", "a.xml:1: </a> closes nothing");
    error("<a/>\n<b/>", "a.xml:2: <b> is a second root tag");
    error("<a><b></b>\n", "a.xml:2: the text ends inside <a>");
    error("<a>< b/></a>", "a.xml:1: '<' starts no tag: write &lt; for the character");
    error("<a><", "a.xml:1: '<' starts no tag: write &lt; for the character");
    error("<1/>", "a.xml:1: '<' starts no tag: write &lt; for the character");
    error("<a@/>", "a.xml:1: <a> lacks a blank, or is not closed by '>'");
    error("<a></>", "a.xml:1: '</' is not followed by a name and '>'");
    error("<a></a", "a.xml:1: '</' is not followed by a name and '>'");
    error("<a></a b=\"1\">", "a.xml:1: '</' is not followed by a name and '>'");
    error("<a>\n<!-- b", "a.xml:2: '<!--' is not closed by '-->'");
    error("<a><![CDATA[ ]>", "a.xml:1: '<![CDATA[' is not closed by ']]>'");
    error("<?xml>", "a.xml:1: '<?' is not closed by '?>'");
    error("<!DOCTYPE", "a.xml:1: '<!' is not closed by '>'");
    error("<!DOCTYPE a [<!ENTITY b \"c\">]><a/>",
          "a.xml:1: a document type with definitions is not read: remove it");
}

static void test_attribute_errors(void)
{
    error("<a", "a.xml:1: <a> lacks a blank, or is not closed by '>'");
    error("<a b=\"1\"c=\"2\"/>", "a.xml:1: <a> lacks a blank, or is not closed by '>'");
    error("<a<b/></a>", "a.xml:1: <a> lacks a blank, or is not closed by '>'");
    error("<a =\"1\"/>", "a.xml:1: <a> is not closed by '>'");
    error("<a /", "a.xml:1: <a> is not closed by '>'");
    error("<a b/>", "a.xml:1: the attribute 'b' has no value");
    error("<a b=1/>", "a.xml:1: the value of 'b' is not in quotes");
    error("<a b=", "a.xml:1: the value of 'b' is not in quotes");
    error("<a b=\"1", "a.xml:1: the value of 'b' is not closed");
    error("<a\nb='1\"/>", "a.xml:2: the value of 'b' is not closed");
    error("<a b=\"1>\n<c d=\"2\"/>",
          "a.xml:2: '<' in the value of 'b': write &lt; or close the quote");
    error("<a b=\"1\" c=\"2\" b=\"3\"/>", "a.xml:1: <a> has two attributes 'b'");
    error("<a b=\"1 & 2\"/>", "a.xml:1: '&' starts no entity: write &amp; for the character");
    error("<a b=\"1&", "a.xml:1: '&' starts no entity: write &amp; for the character");
    error("<a b=\"&what;\"/>", "a.xml:1: unknown entity '&what;'");
    error("<a b=\"&;\"/>", "a.xml:1: unknown entity '&;'");
    error("<a b=\"&#;\"/>", "a.xml:1: unknown entity '&#;'");
    error("<a b=\"&#x;\"/>", "a.xml:1: unknown entity '&#x;'");
    error("<a b=\"&#x0x41;\"/>", "a.xml:1: unknown entity '&#x0x41;'");
    error("<a b=\"&#0;\"/>", "a.xml:1: unknown entity '&#0;'");
    error("<a b=\"&#xd800;\"/>", "a.xml:1: unknown entity '&#xd800;'");
    error("<a b=\"&#xdfff;\"/>", "a.xml:1: unknown entity '&#xdfff;'");
    error("<a b=\"&#x110000;\"/>", "a.xml:1: unknown entity '&#x110000;'");
    error("<a b=\"&#-1;\"/>", "a.xml:1: unknown entity '&#-1;'");
    error_n("<a b=\"\0\"/>", 10, "a.xml:1: the value of 'b' holds a NUL byte");
    error_n("<a\0b/>", 6, "a.xml:1: <a> lacks a blank, or is not closed by '>'");
}

static void test_attribute_limits(void)
{
    CLEANUP(str_done) struct str s = STR_INIT(64 << 10);
    CLEANUP(str_done) struct str out = STR_INIT(64 << 10);
    struct err e;

    str_add(&s, "<a");
    for (int i = 0; i < XML_ATTRS; i++)
        str_addf(&s, " b%d=\"\"", i);
    str_add(&s, "/>");
    is_int(tokens_of(str_text(&s), s.len, &out, &e), XML_END, "xml_next reads %d attributes",
           XML_ATTRS);
    s.len -= 2;
    str_add(&s, " c=\"\"/>");
    error(str_text(&s), "a.xml:1: <a> has over 48 attributes");

    /* 2 names of a letter and a value, each with its NUL */
    str_reset(&s);
    str_add(&s, "<a b=\"");
    str_fill(&s, 'x', XML_ROOM - 5);
    str_add(&s, "\"/>");
    is_int(tokens_of(str_text(&s), s.len, &out, &e), XML_END, "xml_next reads a tag of %d bytes",
           XML_ROOM);
    str_reset(&s);
    str_add(&s, "<a b=\"");
    str_fill(&s, 'x', XML_ROOM - 4);
    str_add(&s, "\"/>");
    error(str_text(&s), "a.xml:1: the tag holds over 8192 bytes of names and values");
    str_reset(&s);
    str_add(&s, "<a ");
    str_fill(&s, 'x', XML_ROOM - 2);
    str_add(&s, "=\"\"/>");
    error(str_text(&s), "a.xml:1: the tag holds over 8192 bytes of names and values");
    str_reset(&s);
    str_add(&s, "<");
    str_fill(&s, 'x', XML_ROOM + 1);
    str_add(&s, "/>");
    error(str_text(&s), "a.xml:1: the tag holds over 8192 bytes of names and values");
}

static void test_depth_limit(void)
{
    CLEANUP(str_done) struct str s = STR_INIT(64 << 10);
    CLEANUP(str_done) struct str out = STR_INIT(64 << 10);
    struct err e;

    for (int i = 0; i < XML_DEPTH; i++)
        str_add(&s, "<a>");
    error(str_text(&s), "a.xml:1: the text ends inside <a>");
    for (int i = 0; i < XML_DEPTH; i++)
        str_add(&s, "</a>");
    is_int(tokens_of(str_text(&s), s.len, &out, &e), XML_END, "xml_next reads %d levels",
           XML_DEPTH);
    str_reset(&s);
    for (int i = 0; i <= XML_DEPTH; i++)
        str_add(&s, "<a>");
    error(str_text(&s), "a.xml:1: tags are nested over 64 deep");
}

int main(void)
{
    test_tags();
    test_attributes();
    test_attr();
    test_structure_errors();
    test_attribute_errors();
    test_attribute_limits();
    test_depth_limit();
    return done();
}
