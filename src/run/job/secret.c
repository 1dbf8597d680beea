#include "run/job/secret.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

bool secret_variable(const char *name)
{
    static const char *const parts[] = { "KEY", "TOKEN", "SECRET", "PASS", "CREDENTIAL" };

    for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
        if (strcasestr(name, parts[i]))
            return true;
    return false;
}

/* Names are split into words, so that --max-tokens and --tokenizer are none. */
static bool is_secret_word(const char *word, size_t len)
{
    static const char *const words[] = { "token",      "key",         "apikey", "secret",
                                         "password",   "passwd",      "pass",   "passphrase",
                                         "credential", "credentials", "auth",   "pwd" };

    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        if (strlen(words[i]) == len && !strncasecmp(words[i], word, len))
            return true;
    return false;
}

static bool is_secret_name(const char *name, size_t len)
{
    size_t begin = 0;

    for (size_t i = 0; i <= len; i++) {
        if (i < len && isalnum((unsigned char)name[i]))
            continue;
        if (is_secret_word(name + begin, i - begin))
            return true;
        begin = i + 1;
    }
    return false;
}

static bool is_known_key(const char *word, size_t len)
{
    static const char *const starts[] = { "hf_",   "sk-",         "ghp_",      "gho_",
                                          "ghs_",  "github_pat_", "AKIA",      "xoxb-",
                                          "xoxp-", "glpat-",      "wandb_v1_", "nvapi-" };

    for (size_t i = 0; i < ARRAY_SIZE(starts); i++)
        if (len >= strlen(starts[i]) + 12 && !strncmp(word, starts[i], strlen(starts[i])))
            return true;
    return false;
}

/* A word without the password of a URL in it. */
static void add_url(struct str *out, const char *word, size_t len)
{
    const char *scheme = memmem(word, len, "://", 3), *end = word + len;
    const char *at = scheme ? memchr(scheme, '@', (size_t)(end - scheme)) : NULL;
    const char *colon = at ? memchr(scheme + 3, ':', (size_t)(at - scheme - 3)) : NULL;

    if (!colon) {
        str_add_n(out, word, len);
        return;
    }
    str_add_n(out, word, (size_t)(colon + 1 - word));
    str_add(out, "***");
    str_add_n(out, at, (size_t)(end - at));
}

static bool is_end(char c)
{
    return c == 0 || strchr(" \t\n;&|\"'", c) != NULL;
}

/* One word of an argument; *hide: the one before it was an option whose value is secret. */
static void add_word(struct str *out, const char *word, size_t len, bool *hide)
{
    const char *equals = memchr(word, '=', len);
    bool hidden = *hide && word[0] != '-';

    *hide = false;
    if (hidden || is_known_key(word, len)) {
        str_add(out, "***");
        return;
    }
    if (equals && is_secret_name(word, (size_t)(equals - word))) {
        str_add_n(out, word, (size_t)(equals + 1 - word));
        str_add(out, "***");
        return;
    }
    *hide = !equals && word[0] == '-' && is_secret_name(word, len);
    if (equals && is_known_key(equals + 1, len - (size_t)(equals + 1 - word))) {
        str_add_n(out, word, (size_t)(equals + 1 - word));
        str_add(out, "***");
        return;
    }
    add_url(out, word, len);
}

static void add_redacted(struct str *out, const char *text, bool *hide)
{
    if (*hide && *text != '-') { /* the value of an option is secret whatever it looks like */
        *hide = false;
        str_add(out, "***");
        return;
    }
    while (*text) {
        size_t len = 0;

        while (!is_end(text[len]))
            len++;
        if (len)
            add_word(out, text, len, hide);
        text += len;
        if (*text)
            str_add_char(out, *text++);
    }
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

void secret_add_command(struct str *out, char *const *argv)
{
    bool hide = false;

    for (size_t i = 0; argv[i]; i++) {
        CLEANUP(str_done) struct str text = STR_INIT(out->max);

        add_redacted(&text, argv[i], &hide);
        if (i)
            str_add_char(out, ' ');
        add_quoted(out, str_text(&text));
        if (str_error(&text) && !out->error)
            out->error = str_error(&text);
    }
}
