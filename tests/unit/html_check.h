/* What holds of every page: tags are balanced as in XML, attributes quoted, nothing but the five
 * named entities, no control character, no script, and nothing that is fetched from elsewhere. */
#ifndef BRIM_TESTS_HTML_CHECK_H
#define BRIM_TESTS_HTML_CHECK_H
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

enum { HTML_DEPTH = 32, HTML_NAME = 16 };

struct html_check {
    const char *at;
    char open[HTML_DEPTH][HTML_NAME];
    int depth;
};

static inline bool html_entity(const char *at)
{
    static const char *const known[] = { "&amp;", "&lt;", "&gt;", "&quot;", "&apos;" };

    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (!strncmp(at, known[i], strlen(known[i])))
            return true;
    return false;
}

/* Text, or an attribute's value, up to 'end'. */
static inline bool html_text(struct html_check *h, char end)
{
    while (*h->at && *h->at != end) {
        uint32_t code;

        if (*h->at == '<' || (*h->at == '&' && !html_entity(h->at)))
            return false;
        h->at += utf8_decode(h->at, &code);
        if ((code < ' ' && code != '\n') || code == 0x7f)
            return false;
    }
    return true;
}

static inline bool html_attributes(struct html_check *h)
{
    while (*h->at == ' ') {
        h->at += 1 + strspn(h->at + 1, "abcdefghijklmnopqrstuvwxyzABR-12");
        if (strncmp(h->at, "=\"", 2) != 0)
            return false;
        h->at += 2;
        if (!html_text(h, '"') || *h->at++ != '"')
            return false;
    }
    return true;
}

static inline bool html_name(struct html_check *h, char *name)
{
    size_t n = 0;

    while (isalnum((unsigned char)*h->at) && n + 1 < HTML_NAME)
        name[n++] = *h->at++;
    name[n] = 0;
    return n > 0 && strcmp(name, "script") != 0 && strcmp(name, "link") != 0 &&
           strcmp(name, "img") != 0 && strcmp(name, "iframe") != 0;
}

static inline bool html_tag(struct html_check *h)
{
    char name[HTML_NAME];
    bool close = h->at[1] == '/';

    h->at += close ? 2 : 1;
    if (!html_name(h, name))
        return false;
    if (close) {
        h->depth--;
        return h->depth >= 0 && !strcmp(h->open[h->depth], name) && *h->at++ == '>';
    }
    if (!html_attributes(h))
        return false;
    if (!strncmp(h->at, "/>", 2)) {
        h->at += 2;
        return true;
    }
    if (h->depth == HTML_DEPTH || *h->at++ != '>')
        return false;
    memcpy(h->open[h->depth++], name, HTML_NAME);
    return true;
}

/* NULL, or where the page breaks a rule. */
static inline const char *html_check(const char *page)
{
    struct html_check h = { .at = page };
    static const char doctype[] = "<!DOCTYPE html>\n";

    if (strncmp(page, doctype, sizeof(doctype) - 1) != 0)
        return page;
    h.at += sizeof(doctype) - 1;
    while (*h.at) {
        const char *before = h.at;

        if (!(*h.at == '<' ? html_tag(&h) : html_text(&h, '<')))
            return before;
    }
    return h.depth == 0 ? NULL : h.at;
}

#endif
