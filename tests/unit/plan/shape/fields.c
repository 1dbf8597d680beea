/* Fields of a model's configuration that brim does not read: with which of them parameters are
 * counted all the same, since they change none. Each line of the file is the name of a field, and
 * what is said of a configuration of Llama with it.
 *
 *     t_plan_shape_fields FILE */
#include "base/str.h"
#include "golden.h"
#include "plan/shape/config.h"

enum { ROOM = 1 << 20 };

static const char config[] = "{\"model_type\": \"llama\", \"vocab_size\": 32000, "
                             "\"hidden_size\": 4096, \"intermediate_size\": 11008, "
                             "\"num_hidden_layers\": 32, \"num_attention_heads\": 32";

static void ask(const char *name, const char *value, struct str *out)
{
    char text[1024];
    struct shape s;
    struct err e = { "" };
    int rc;

    snprintf(text, sizeof(text), "%s, \"%s\": %s}", config, name, value);
    rc = shape_from_config(&s, "f", text, strlen(text), &e);
    str_addf(out, "%s: %s\n", name, rc == 0 ? "counted" : e.text);
}

/* A field that says nothing changes nothing, be its name what it may. */
static void test_off(const char *name)
{
    static const char *const off[] = { "0", "false", "null", "\"x\"", "[]", "{}" };

    for (size_t i = 0; i < ARRAY_SIZE(off); i++) {
        CLEANUP(str_done) struct str said = STR_INIT(4096);

        ask(name, off[i], &said);
        ok(strstr(str_text(&said), ": counted") != NULL, "parameters are counted with %s %s", name,
           off[i]);
    }
}

static void test_on(const char *name)
{
    static const char *const on[] = { "1", "true", "[1]", "{\"a\": 1}" };

    for (size_t i = 0; i < ARRAY_SIZE(on); i++) {
        CLEANUP(str_done) struct str said = STR_INIT(4096);

        ask(name, on[i], &said);
        ok(strstr(str_text(&said), "is not known of") != NULL,
           "parameters are not counted with %s %s", name, on[i]);
    }
}

int main(int argc, char **argv)
{
    CLEANUP(str_done) struct str out = STR_INIT(ROOM);
    char *file = argc > 1 ? golden_read(argv[1]) : NULL, *save = NULL;

    if (!file)
        return 2;
    for (char *line = strtok_r(file, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        line[strcspn(line, ":")] = 0;
        ask(line, "1", &out);
    }
    golden(argv[1], str_text(&out));
    test_off("some_layers");
    test_on("some_layers");
    free(file);
    return done();
}
