/* Command lines as a shell takes them, without what is secret. */
#include "run/job/secret.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"

enum { WORDS_MAX = 8 };

/* What is secret in a command has "hunter" or "HUNTER" in it. */
static const struct {
    const char *form, *want;
    const char *argv[WORDS_MAX];
} commands[] = {
    { "a plain command", "python train.py --lr 0.1", { "python", "train.py", "--lr", "0.1" } },
    { "a script", "sh -c 'echo $x; ls'", { "sh", "-c", "echo $x; ls" } },
    { "a quote", "echo 'it'\\''s'", { "echo", "it's" } },
    { "an empty word", "echo ''", { "echo", "" } },
    { "a new line", "echo $'a\\x0ab'", { "echo", "a\nb" } },
    { "an option", "x --api-key *** y", { "x", "--api-key", "hunter", "y" } },
    { "an option with blanks", "x --api-key ***", { "x", "--api-key", "hunter in it" } },
    { "an option with =", "x --api-key=***", { "x", "--api-key=hunter,2&3 4" } },
    { "an option of one word", "x --apikey ***", { "x", "--apikey", "hunter" } },
    { "a web token", "x --jwt *** --jwt=***", { "x", "--jwt", "hunter", "--jwt=hunter" } },
    { "a word in a name", "x --hf_token=***", { "x", "--hf_token=hunter" } },
    { "a cookie", "x --cookie *** -b", { "x", "--cookie", "hunter=2; b=3", "-b" } },
    { "auth", "x --auth *** --x-auth=***", { "x", "--auth", "hunter", "--x-auth=hunter" } },
    { "capitals in a name", "x --accessToken ***", { "x", "--accessToken", "hunter" } },
    { "names that join words",
      "PGPASSWORD=*** authtoken=***",
      { "PGPASSWORD=hunter", "authtoken=hunter" } },
    { "names of counts",
      "x --max-tokens 4 --tokenizer t",
      { "x", "--max-tokens", "4", "--tokenizer", "t" } },
    { "names with such letters",
      "x --monkey 4 --author=me --path p",
      { "x", "--monkey", "4", "--author=me", "--path", "p" } },
    { "a variable", "env WANDB_API_KEY=*** y", { "env", "WANDB_API_KEY=hunter", "y" } },
    { "the variable COOKIE", "env COOKIE=***", { "env", "COOKIE=hunter; x=2" } },
    { "the variable AUTH",
      "env AUTH=*** SLURM_JWT=***",
      { "env", "AUTH=hunter", "SLURM_JWT=hunter" } },
    { "an export",
      "sh -c 'export MY_PASSWORD=***; run'",
      { "sh", "-c", "export MY_PASSWORD=hunter; run" } },
    { "a quoted value",
      "sh -c 'export PASSWORD=***; run'",
      { "sh", "-c", "export PASSWORD=\"hunter 2\"'hunter'; run" } },
    { "a variable before a command",
      "sh -c 'TOKEN=*** run && y'",
      { "sh", "-c", "TOKEN=hunter run && y" } },
    { "a script behind four letters",
      "bash -lxec 'TOKEN=*** run'",
      { "bash", "-lxec", "TOKEN=hunter run" } },
    { "no script: more letters than shells have",
      "bash -lxvec TOKEN=***",
      { "bash", "-lxvec", "TOKEN=hunter run" } },
    { "no script: a capital letter", "x -Cc TOKEN=***", { "x", "-Cc", "TOKEN=hunter run" } },
    { "no script: a word without a dash", "x lc TOKEN=***", { "x", "lc", "TOKEN=hunter run" } },
    { "no script: another last letter", "x -cl TOKEN=***", { "x", "-cl", "TOKEN=hunter run" } },
    { "an option in a script",
      "sh -c 'run --password *** -v'",
      { "sh", "-c", "run --password hunter -v" } },
    { "a quoted option in a script",
      "sh -c 'run --password *** -v'",
      { "sh", "-c", "run --password \"hunter 2\" -v" } },
    { "a call in Python",
      "python -c 'login(token=***, n=3)'",
      { "python", "-c", "login(token=\"hunter\", n=3)" } },
    { "an assignment in Python",
      "python -c 'api_key = ***'",
      { "python", "-c", "api_key = \"hunter\"" } },
    { "a header with Bearer",
      "curl -H 'Authorization: ***'",
      { "curl", "-H", "Authorization: Bearer hunter" } },
    { "a header with Basic",
      "curl -H 'Authorization: ***'",
      { "curl", "-H", "Authorization: Basic HUNTERxxaHVudGVyOg==" } },
    { "a header of a key", "curl -H X-Api-Key:***", { "curl", "-H", "X-Api-Key:hunter" } },
    { "cookies in a header", "curl -H 'Cookie: ***'", { "curl", "-H", "Cookie: a=1; b=hunter" } },
    { "a header in a script",
      "sh -c 'curl -H \"Authorization: ***\" u'",
      { "sh", "-c", "curl -H \"Authorization: Bearer hunter\" u" } },
    { "Bearer alone", "x Bearer *** y", { "x", "Bearer", "hunter", "y" } },
    { "Basic alone", "x 'Basic ***'", { "x", "Basic HUNTERxxaHVudGVyOg==" } },
    { "Basic as a word", "x 'Basic training'", { "x", "Basic training" } },
    { "JSON",
      "x '{\"token\": ***, \"lr\": 0.1}'",
      { "x", "{\"token\": \"hunter\", \"lr\": 0.1}" } },
    { "JSON in a script",
      "sh -c 'x \"{\\\"password\\\":***}\"'",
      { "sh", "-c", "x \"{\\\"password\\\":\\\"hunter\\\"}\"" } },
    { "nested JSON",
      "x '{\"auth\": ***, \"lr\": 1}'",
      { "x", "{\"auth\": {\"u\": \"me\", \"p\": [\"hunter}\"]}, \"lr\": 1}" } },
    { "YAML", "x 'password: ***'", { "x", "password: hunter 2" } },
    { "a scheme that is called as a secret", "x token://host/y", { "x", "token://host/y" } },
    { "a secret that begins with slashes",
      "sh -c 'x password :***'",
      { "sh", "-c", "x password ://hunter" } },
    { "a URL", "git https://me:***@host/x", { "git", "https://me:hunter@host/x" } },
    { "a URL with @ in it", "x s3://me:***@host/x@2", { "x", "s3://me:hunter@2@host/x@2" } },
    { "a URL with / in it", "x redis://:***@host/0", { "x", "redis://:hunter/2@host/0" } },
    { "a URL that is a value",
      "x --db=postgres://me:***@db/x",
      { "x", "--db=postgres://me:hunter@db/x" } },
    { "a URL with a token alone",
      "git https://***@host/x",
      { "git", "https://0123456789hunter0123456789@host/x" } },
    { "a URL of a user",
      "git ssh://git@host:22/x http://host:8080/a@2",
      { "git", "ssh://git@host:22/x", "http://host:8080/a@2" } },
    { "a query",
      "curl 'https://h/x?token=***&n=2&X-Amz-Signature=***'",
      { "curl", "https://h/x?token=hunter&n=2&X-Amz-Signature=hunter" } },
    { "curl's user",
      "curl -u me:*** --user me:*** --user=me:***",
      { "curl", "-u", "me:hunter", "--user", "me:hunter 2", "--user=me:hunter" } },
    { "numbers of a user",
      "docker run -u 1000:1000 -u x:/y",
      { "docker", "run", "-u", "1000:1000", "-u", "x:/y" } },
    { "a key of a service",
      "x *** 'login(***)'",
      { "x", "hf_abcdefghunter", "login(sk-abcdefghunter)" } },
    { "a key as a value", "x --id=***", { "x", "--id=ghp_abcdefghunter" } },
    { "a web token alone", "x ***", { "x", "eyJhbGciOi.hunterhunter.hunter_-" } },
    { "a private key",
      "x ***",
      { "x", "-----BEGIN RSA PRIVATE KEY-----\nhunter\n-----END RSA PRIVATE KEY-----" } },
    { "options behind each other", "x --token --verbose", { "x", "--token", "--verbose" } },
    { "a comparison", "pip install auth==1.2", { "pip", "install", "auth==1.2" } },
    { "a path", "x data/sk-learn-datasets/a", { "x", "data/sk-learn-datasets/a" } },
};

static const char *const secret_names[] = {
    "env.AWS_SECRET_ACCESS",
    "nccl_token",
    "SLURM_JWT",
    "AUTH",
    "HTTP_COOKIE",
    "PGPASSWORD",
    "MY_PASSWD",
    "WANDB_API_KEY",
    "GH_PAT",
    "NCCL_CREDENTIALS",
    "XKEYX",
    "XSECRETX",
    "XPASSX",
    "XCREDENTIALX",
    "XAUTHX",
    "XCOOKIEX",
    "XJWTX",
    "xkeyx",
    "HFTOKENX",
    "TOKENIZER_TOKEN",
};

static const char *const other_names[] = {
    "OMP_NUM_THREADS", "TOKENIZERS_PARALLELISM", "tokenizer", "KE_Y", "NCCL_DEBUG", "PATH",
    "SLURM_JOB_ID",
};

static void test_command(size_t i)
{
    struct str out = STR_INIT(4096);
    char *copy[WORDS_MAX] = { NULL };

    for (size_t n = 0; n + 1 < WORDS_MAX && commands[i].argv[n]; n++)
        copy[n] = strdup(commands[i].argv[n]);
    secret_add_command(&out, copy);
    is_str(str_text(&out), commands[i].want, "a command is kept without secrets: %s",
           commands[i].form);
    ok(!strcasestr(str_text(&out), "hunter"), "a command keeps no secret: %s", commands[i].form);
    for (size_t n = 0; copy[n]; n++)
        free(copy[n]);
    str_done(&out);
}

static void test_text(const char *text, const char *want)
{
    struct str out = STR_INIT(4096);

    secret_add_text(&out, text);
    is_str(str_text(&out), want, "a text is kept without secrets: %s", want);
    str_done(&out);
}

int main(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
        test_command(i);
    for (size_t i = 0; i < ARRAY_SIZE(secret_names); i++)
        ok(secret_variable(secret_names[i]), "a variable is secret: %s", secret_names[i]);
    for (size_t i = 0; i < ARRAY_SIZE(other_names); i++)
        ok(!secret_variable(other_names[i]), "a variable is no secret: %s", other_names[i]);
    test_text("http://me:hunter@proxy:3128", "http://me:***@proxy:3128");
    test_text("http://me:8h/hunter@proxy", "http://me:***@proxy");
    test_text("http://proxy:3128/a@b", "http://proxy:3128/a@b");
    test_text("-----BEGIN CERTIFICATE-----", "-----BEGIN CERTIFICATE-----");
    test_text("-----BEGIN RSA PRIVATE KEY-----\nhunter\n-----END RSA PRIVATE KEY----- x", "*** x");
    test_text("-----BEGIN PRIVATE KEY-----\nhunter", "***");
    test_text("/opt/lib:/usr/lib", "/opt/lib:/usr/lib");
    test_text("", "");
    return done();
}
