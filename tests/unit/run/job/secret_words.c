/* Names before which a value is secret, and how keys of services begin. */
#include "run/job/secret_words.h"

#include <string.h>

#include "base/compiler.h"
#include "tap.h"

static void test_names(void)
{
    static const char *const words[] = {
        "token",      "key",         "apikey", "secret", "secrets", "password",  "passwd",
        "pass",       "passwords",   "pwd",    "pw",     "pat",     "auth",      "authorization",
        "credential", "credentials", "jwt",    "bearer", "cookie",  "cookies",   "sig",
        "signature",  "passphrase",  "creds",  "sas",    "sshpass", "sessionid",
    };
    static const char *const ends[] = { "password", "passwd", "passphrase", "secret",
                                        "token",    "apikey", "accesskey",  "secretkey",
                                        "authkey",  "jwt",    "cookie" };
    static const char *const plain[] = { "",          "tokens",       "tokenizer", "monkey",
                                         "keys",      "author",       "passenger", "path",
                                         "sigma",     "secretary",    "sasha",     "pwm",
                                         "patience",  "cookiecutter", "bearers",   "jwts",
                                         "max-tokens" };
    char name[64];

    for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
        ok(secret_name(words[i], strlen(words[i])), "a value is secret behind %s", words[i]);
        snprintf(name, sizeof(name), "--my-%s_2", words[i]);
        ok(secret_name(name, strlen(name)), "a value is secret behind %s", name);
    }
    for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
        snprintf(name, sizeof(name), "PG%s", ends[i]);
        ok(secret_name(name, strlen(name)), "a value is secret behind %s", name);
        snprintf(name, sizeof(name), "pg%sx", ends[i]);
        ok(!secret_name(name, strlen(name)), "a value is not secret behind %s", name);
    }
    for (size_t i = 0; i < ARRAY_SIZE(plain); i++)
        ok(!secret_name(plain[i], strlen(plain[i])), "a value is not secret behind '%s'", plain[i]);
}

static void test_keys(void)
{
    static const char *const starts[] = {
        "hf_",         "sk-",      "ghp_",   "gho_", "ghs_",   "ghu_",      "ghr_",
        "github_pat_", "AKIA",     "ASIA",   "AIza", "ya29.",  "eyJ",       "xoxb-",
        "xoxp-",       "xoxa-",    "xapp-",  "npm_", "pypi-",  "gsk_",      "sk_live_",
        "rk_live_",    "dckr_pat", "glpat-", "SG.",  "nvapi-", "wandb_v1_",
    };

    for (size_t i = 0; i < ARRAY_SIZE(starts); i++) {
        char key[64];
        size_t len = strlen(starts[i]) + 12;

        snprintf(key, sizeof(key), "%s0123456789ab", starts[i]);
        ok(secret_key(key, len), "a word that begins with %s is a key", starts[i]);
        ok(!secret_key(key, len - 1), "a word of 11 letters behind %s is no key", starts[i]);
        key[0] = '+';
        ok(!secret_key(key, len), "the word %s is no key", key);
    }
}

static void test_users(void)
{
    static const char *const options[] = { "-u", "-U", "--user", "--proxy-user" };
    static const char *const others[] = { "-v", "--users", "--use", "-", "" };

    for (size_t i = 0; i < ARRAY_SIZE(options); i++)
        ok(secret_user_option(options[i], strlen(options[i])), "a user stands behind %s",
           options[i]);
    for (size_t i = 0; i < ARRAY_SIZE(others); i++)
        ok(!secret_user_option(others[i], strlen(others[i])), "no user stands behind '%s'",
           others[i]);
}

int main(void)
{
    test_names();
    test_keys();
    test_users();
    return done();
}
