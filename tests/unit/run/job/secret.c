/* Command lines as a shell takes them, without what is secret. */
#include "run/job/secret.h"

#include "tap.h"

static void is_command(const char *want, const char *const *argv)
{
    struct str out = STR_INIT(4096);
    char *copy[16] = { NULL };

    for (size_t i = 0; argv[i]; i++) {
        struct str one = STR_INIT(4096);

        str_add(&one, argv[i]);
        str_add(&one, "");
        copy[i] = one.data ? one.data : calloc(1, 1);
    }
    secret_add_command(&out, copy);
    is_str(str_text(&out), want, "secret_add_command writes: %s", want);
    for (size_t i = 0; copy[i]; i++)
        free(copy[i]);
    str_done(&out);
}

#define COMMAND(want, ...) is_command(want, (const char *const[]){ __VA_ARGS__, NULL })

int main(void)
{
    COMMAND("python train.py --lr 0.1", "python", "train.py", "--lr", "0.1");
    COMMAND("sh -c 'echo $x; ls'", "sh", "-c", "echo $x; ls");
    COMMAND("echo 'it'\\''s'", "echo", "it's");
    COMMAND("echo ''", "echo", "");
    COMMAND("echo $'a\\x0ab'", "echo", "a\nb");
    COMMAND("x --api-key *** y", "x", "--api-key", "hunter", "y");
    COMMAND("x --api-key ***", "x", "--api-key", "with blanks in it");
    COMMAND("x --hf_token=***", "x", "--hf_token=hunter");
    COMMAND("x --max-tokens 4 --tokenizer t", "x", "--max-tokens", "4", "--tokenizer", "t");
    COMMAND("env WANDB_API_KEY=*** y", "env", "WANDB_API_KEY=hunter", "y");
    COMMAND("sh -c 'export MY_PASSWORD=***; run'", "sh", "-c", "export MY_PASSWORD=hunter; run");
    COMMAND("sh -c 'run --password *** -v'", "sh", "-c", "run --password hunter -v");
    COMMAND("git https://me:***@host/x", "git", "https://me:hunter@host/x");
    COMMAND("x ***", "x", "hf_abcdefghijklmnop");
    COMMAND("x --id=***", "x", "--id=sk-abcdefghijklmnop");
    COMMAND("x --token --verbose", "x", "--token", "--verbose");
    ok(secret_variable("env.AWS_SECRET_ACCESS"), "by its name");
    ok(secret_variable("nccl_token"), "in any case");
    ok(!secret_variable("OMP_NUM_THREADS"), "others are none");
    return done();
}
