#include "run/job/secret_words.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/compiler.h"

/* Behind the start of a key: what is shorter is a word of somebody's. */
enum { KEY_LEAST = 12 };

static bool is_word(const char *word, size_t len)
{
    static const char *const words[] = {
        "token",      "key",         "apikey", "secret", "secrets", "password",  "passwd",
        "pass",       "passwords",   "pwd",    "pw",     "pat",     "auth",      "authorization",
        "credential", "credentials", "jwt",    "bearer", "cookie",  "cookies",   "sig",
        "signature",  "passphrase",  "creds",  "sas",    "sshpass", "sessionid",
    };

    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        if (strlen(words[i]) == len && !strncasecmp(words[i], word, len))
            return true;
    return false;
}

/* PGPASSWORD, authtoken: written without a mark between their words. */
static bool has_end(const char *word, size_t len)
{
    static const char *const ends[] = { "password", "passwd", "passphrase", "secret",
                                        "token",    "apikey", "accesskey",  "secretkey",
                                        "authkey",  "jwt",    "cookie" };

    for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
        size_t n = strlen(ends[i]);

        if (len > n && !strncasecmp(word + len - n, ends[i], n))
            return true;
    }
    return false;
}

/* Where a word of a name ends: at a mark, or before a capital behind a small letter. */
static size_t word_end(const char *name, size_t begin, size_t len)
{
    size_t i = begin;

    for (; i < len && isalnum((unsigned char)name[i]); i++)
        if (i > begin && isupper((unsigned char)name[i]) && islower((unsigned char)name[i - 1]))
            break;
    return i;
}

bool secret_name(const char *name, size_t len)
{
    for (size_t begin = 0; begin < len;) {
        size_t end = word_end(name, begin, len);

        if (is_word(name + begin, end - begin) || has_end(name + begin, end - begin))
            return true;
        begin = end < len && isalnum((unsigned char)name[end]) ? end : end + 1;
    }
    return false;
}

bool secret_key(const char *word, size_t len)
{
    static const char *const starts[] = {
        "hf_",         "sk-",      "ghp_",   "gho_", "ghs_",   "ghu_",      "ghr_",
        "github_pat_", "AKIA",     "ASIA",   "AIza", "ya29.",  "eyJ",       "xoxb-",
        "xoxp-",       "xoxa-",    "xapp-",  "npm_", "pypi-",  "gsk_",      "sk_live_",
        "rk_live_",    "dckr_pat", "glpat-", "SG.",  "nvapi-", "wandb_v1_",
    };

    for (size_t i = 0; i < ARRAY_SIZE(starts); i++)
        if (len >= strlen(starts[i]) + KEY_LEAST && !strncmp(word, starts[i], strlen(starts[i])))
            return true;
    return false;
}

bool secret_user_option(const char *name, size_t len)
{
    static const char *const options[] = { "-u", "-U", "--user", "--proxy-user" };

    for (size_t i = 0; i < ARRAY_SIZE(options); i++)
        if (strlen(options[i]) == len && !strncmp(name, options[i], len))
            return true;
    return false;
}
