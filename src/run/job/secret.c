#include "run/job/secret.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "run/job/secret_words.h"

static const char mask[] = "***", blanks[] = " \t\r\n";
/* What ends a value: of a shell's word; of a header, whose value has blanks; of JSON. */
static const char ends_word[] = " \t\r\n;&|)`", ends_header[] = "\r\n'\"",
                  ends_json[] = " \t\r\n,}]";

bool secret_variable(const char *name)
{
    static const char *const parts[] = { "KEY",  "SECRET", "PASS", "CREDENTIAL",
                                         "AUTH", "COOKIE", "JWT" };
    const char *at = name;

    for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
        if (strcasestr(name, parts[i]))
            return true;
    while ((at = strcasestr(at, "TOKEN")) != NULL) {
        at += strlen("TOKEN");
        if (strncasecmp(at, "IZER", strlen("IZER")) != 0)
            return true;
    }
    return secret_name(name, strlen(name));
}

/* ---- where a value ends ---- */

static bool is_quote(char c)
{
    return c == '\'' || c == '"';
}

/* Behind the quote that ends what begins with one, with a backslash before it where the text is
 * quoted once more; the end of the text where there is none. */
static const char *skip_quoted(const char *at)
{
    bool escaped = *at == '\\';
    char quote = at[escaped];

    for (at += 1 + escaped; *at; at++) {
        if (escaped && at[0] == '\\' && at[1] == quote)
            return at + 2;
        if (!escaped && *at == quote)
            return at + 1;
        if (!escaped && *at == '\\' && at[1])
            at++;
    }
    return at;
}

/* Behind what closes the list or the object that begins here. */
static const char *skip_nested(const char *at)
{
    int depth = 0;

    while (*at) {
        if (is_quote(*at) || (*at == '\\' && is_quote(at[1]))) {
            at = skip_quoted(at);
            continue;
        }
        depth += (*at == '{' || *at == '[') - (*at == '}' || *at == ']');
        at++;
        if (depth == 0)
            break;
    }
    return at;
}

/* Quoted pieces and bare ones that touch are one value. */
static const char *skip_value(const char *at, const char *ends)
{
    const char *begin = at;

    if (*at == '{' || *at == '[')
        return skip_nested(at);
    while (*at) {
        if ((is_quote(*at) && (at == begin || !strchr(ends, *at))) ||
            (*at == '\\' && is_quote(at[1]))) {
            at = skip_quoted(at);
            if (*at && strchr(",}])", *at) && *ends)
                break;
        } else if (strchr(ends, *at)) {
            break;
        } else {
            at++;
        }
    }
    return at;
}

/* ---- what is looked at ---- */

static bool is_name_char(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.';
}

static size_t name_length(const char *at)
{
    size_t len = 0;

    while (is_name_char(at[len]))
        len++;
    return len;
}

/* A text that is being written without its secrets. */
struct redaction {
    struct str *out;
    const char *begin, *at;
    bool hide;   /* the value of an option is behind the end of the text */
    bool user;   /* and it is USER:PASSWORD */
    bool script; /* the text is one of a shell's, not one word */
};

/* The text goes on at 'to', and what lies before it is secret. */
static void leave_out(struct redaction *r, const char *to)
{
    if (to > r->at)
        str_add(r->out, mask);
    r->at = to;
}

static void keep(struct redaction *r, const char *to)
{
    str_add_n(r->out, r->at, (size_t)(to - r->at));
    r->at = to;
}

static bool is_number(const char *at, size_t len)
{
    return len && strspn(at, "0123456789") >= len;
}

/* USER:PASSWORD; user and group as numbers, and HOST:/PATH, are none. */
static void take_user(struct redaction *r, const char *end)
{
    const char *colon = memchr(r->at, ':', (size_t)(end - r->at));

    if (!colon || colon[1] == '/' || colon[1] == '\\' ||
        is_number(colon + 1, (size_t)(end - colon - 1)))
        return;
    keep(r, colon + 1);
    leave_out(r, end);
}

/* Behind "://": who asks there, and the password. */
static void take_authority(struct redaction *r)
{
    const char *end = r->at + strcspn(r->at, " \t\r\n'\"`<>");
    const char *path = r->at + strcspn(r->at, " \t\r\n'\"`<>/?#");
    const char *colon = memchr(r->at, ':', (size_t)(end - r->at));
    const char *at = memrchr(r->at, '@', (size_t)(path - r->at));

    /* a password may have a slash in it that nobody has written as %2F; a port is a number */
    if (!at && colon && colon < path && !is_number(colon + 1, (size_t)(path - colon - 1)))
        at = memrchr(colon, '@', (size_t)(end - colon));
    if (!at)
        return;
    if (colon && colon < at) {
        keep(r, colon + 1);
        leave_out(r, at);
    } else if (at - r->at >= 20 || secret_key(r->at, (size_t)(at - r->at))) {
        leave_out(r, at);
    }
}

/* The value from p on, which ends before one of 'ends'; of a user's name and password the name is
 * kept. */
static void take_value(struct redaction *r, const char *p, const char *ends, bool user)
{
    keep(r, p);
    p = skip_value(p, ends);
    if (user)
        take_user(r, p);
    else
        leave_out(r, p);
}

/* NAME = VALUE, "NAME": VALUE and the like; r->at is behind the name. Whether it was one. */
static bool take_assigned(struct redaction *r, const char *name, size_t len)
{
    const char *p = r->at, *ends = ends_word;
    bool quoted, apart, user = secret_user_option(name, len);

    p += *p == '\\' && is_quote(p[1]);
    quoted = is_quote(*p) && name > r->begin && is_quote(name[-1]);
    p += quoted;
    apart = strchr(blanks, *p) && *p;
    p += strspn(p, " \t");
    if ((*p != '=' && *p != ':') || p[1] == '=')
        return false;
    if (!user && !secret_name(name, len))
        return false;
    if (*p == ':')
        ends = quoted ? ends_json : ends_header;
    else if (quoted)
        ends = ends_json;
    else if (name == r->begin && (*name == '-' || !r->script))
        ends = ""; /* a word of its own */
    p += 1 + (*p == ':' || quoted || apart ? strspn(p + 1, " \t") : 0);
    take_value(r, p, ends, user);
    return true;
}

/* --NAME VALUE and Bearer VALUE; r->at is behind the name. */
static void take_option(struct redaction *r, const char *name, size_t len)
{
    bool user = secret_user_option(name, len), bearer = len == 6 && !strncasecmp(name, "bearer", 6);
    const char *p = r->at + strspn(r->at, blanks);

    if (!user && !bearer && (*name != '-' || !secret_name(name, len)))
        return;
    if (!*p) {
        r->hide = true;
        r->user = user;
        return;
    }
    if (p == r->at || *p == '-')
        return;
    take_value(r, p, ends_word, user);
}

/* "Basic" before what can be no word: letters of Base64, in fours, with one that words lack. */
static void take_basic(struct redaction *r, const char *name, size_t len)
{
    static const char base64[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                 "+/=";
    const char *p = r->at + strspn(r->at, blanks);
    size_t n = strspn(p, base64);

    if (len != 5 || strncasecmp(name, "basic", 5) != 0 || p == r->at || n < 8 || n % 4)
        return;
    if (strspn(p + 1, "abcdefghijklmnopqrstuvwxyz") >= n - 1)
        return;
    keep(r, p);
    leave_out(r, p + n);
}

static bool take_private_key(struct redaction *r)
{
    static const char begin[] = "-----BEGIN ", end[] = "-----END ";
    const char *p;

    if (strncmp(r->at, begin, sizeof(begin) - 1) != 0)
        return false;
    p = strstr(r->at + sizeof(begin) - 1, "PRIVATE KEY-----");
    if (!p || p - r->at > 64)
        return false;
    p = strstr(p, end);
    p = p ? strstr(p + sizeof(end) - 1, "-----") : NULL;
    leave_out(r, p ? p + 5 : r->at + strlen(r->at));
    return true;
}

/* A name, or what looks like one, and what it says of what follows. */
static void take_name(struct redaction *r)
{
    const char *name = r->at;
    size_t len = name_length(name);

    if (take_private_key(r))
        return;
    if (secret_key(name, len) && (name == r->begin || name[-1] != '/')) {
        leave_out(r, name + len + strspn(name + len, "+/=~"));
        return;
    }
    keep(r, name + len);
    if (!strncmp(r->at, "://", 3)) {
        keep(r, r->at + 3);
        take_authority(r);
        return;
    }
    if (take_assigned(r, name, len))
        return;
    take_option(r, name, len);
    take_basic(r, name, len);
}

static void redact(struct redaction *r, const char *text)
{
    bool hide = r->hide, user = r->user;

    r->begin = r->at = text;
    r->hide = r->user = false;
    if (hide && user)
        take_user(r, text + strlen(text));
    else if (hide && *text != '-') /* it is secret whatever it looks like */
        leave_out(r, text + strlen(text));
    while (*r->at)
        if (is_name_char(*r->at))
            take_name(r);
        else
            keep(r, r->at + 1);
}

void secret_add_text(struct str *out, const char *text)
{
    struct redaction r = { .out = out };

    redact(&r, text);
}

static bool is_plain(const char *text)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                               "_-./:=,+@%^*";

    return *text && strspn(text, safe) == strlen(text);
}

static bool has_control(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            return true;
    return false;
}

static void add_quoted(struct str *out, const char *text)
{
    if (is_plain(text)) {
        str_add(out, text);
        return;
    }
    if (!has_control(text)) {
        str_add_char(out, '\'');
        for (; *text; text++)
            if (*text == '\'')
                str_add(out, "'\\''");
            else
                str_add_char(out, *text);
        str_add_char(out, '\'');
        return;
    }
    str_add(out, "$'");
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\')
            str_addf(out, "\\%c", *text);
        else if ((unsigned char)*text < ' ' || *text == 0x7f)
            str_addf(out, "\\x%02x", (unsigned char)*text);
        else
            str_add_char(out, *text);
    }
    str_add_char(out, '\'');
}

/* sh -c, bash -lc: what follows is a script. */
static bool is_script_option(const char *word)
{
    size_t len = strlen(word);

    return len >= 2 && len <= 5 && word[0] == '-' && word[len - 1] == 'c' &&
           strspn(word + 1, "abcdefghijklmnopqrstuvwxyz") == len - 1;
}

void secret_add_command(struct str *out, char *const *argv)
{
    struct redaction r = { .hide = false };

    for (size_t i = 0; argv[i]; i++) {
        CLEANUP(str_done) struct str text = STR_INIT(out->max);

        r.out = &text;
        r.script = i > 0 && is_script_option(argv[i - 1]);
        redact(&r, argv[i]);
        if (i)
            str_add_char(out, ' ');
        add_quoted(out, str_text(&text));
        str_fail(out, str_error(&text));
    }
}
