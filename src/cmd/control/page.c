#include "cmd/control/page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "cmd/common/nodes_option.h"
#include "cmd/control/serve.h"
#include "cmd/control/waste_json.h"
#include "store/open.h"
#include "control/board/board.h"
#include "daemon/http/address.h"

#define DAY_MS (24 * INT64_C(3600000))

enum { BOARD_MAX = 64 << 20, TOKEN_MAX = 4096 };

struct page {
    const struct page_config *config;
    struct serve_config serve_config;
    struct serve *serve;
    struct waste_book *waste;
    struct device_prices prices;
    struct str token, operators;
    const struct node_answer **of; /* by number of the node */
    size_t n;
};

static int read_token(const char *file, struct str *text, const char **ret, struct err *e)
{
    int rc = file ? nodes_option_token(file, text, e) : 0;

    *ret = file && rc == 0 ? str_text(text) : NULL;
    return rc;
}

int page_check(const struct page_opts *o, struct err *e)
{
    struct device_prices prices;
    union http_address address;
    int rc = device_prices_open(&prices, &o->rates, e);

    device_prices_done(&prices);
    if (rc < 0)
        return rc;
    if (!o->listen)
        return o->token_file || o->operators_file || o->rates.price || o->rates.gpu
                   ? err_usage(e, "--token-file, --operators, --price and --gpu are for "
                                  "--listen ADDRESS:PORT")
                   : 0;
    rc = err_usage_of(http_address_parse(o->listen, &address, e));
    return rc < 0 ? err_context(e, rc, "--listen: ") : 0;
}

static int check(const struct serve_config *c, struct err *e)
{
    if (c->token && c->operators && !strcmp(c->token, c->operators))
        return err_set(e, -EINVAL,
                       "--token-file and --operators have the same token: who may read could act");
    return 0;
}

/* With a book elsewhere nobody has made it. */
static int make_folder(const char *folder, struct err *e)
{
    int rc = open_folder(folder, e);

    if (rc == 0 && mkdir(folder, 0700) < 0 && errno != EEXIST)
        rc = err_set(e, -errno, "cannot make %s: %m", folder);
    return rc;
}

int page_open(struct page **ret, const struct page_config *config, struct err *e)
{
    const struct page_opts *o = config->o;
    struct page *p;
    int rc;

    *ret = NULL;
    if (!o->listen)
        return 0;
    p = calloc(1, sizeof(*p));
    if (!p)
        return err_nomem(e);
    p->config = config;
    p->token = p->operators = (struct str)STR_INIT(TOKEN_MAX);
    p->serve_config = (struct serve_config){
        .listen = o->listen, .where = config->where, .mode = config->mode, .own = o->own
    };
    rc = read_token(o->token_file, &p->token, &p->serve_config.token, e);
    if (rc == 0)
        rc = read_token(o->operators_file, &p->operators, &p->serve_config.operators, e);
    if (rc == 0)
        rc = check(&p->serve_config, e);
    if (rc == 0)
        rc = device_prices_open(&p->prices, &o->rates, e);
    if (rc == 0)
        rc = make_folder(config->folder, e);
    if (rc == 0)
        rc = waste_book_open(&p->waste, config->folder, e);
    if (rc == 0)
        rc = serve_open(&p->serve, &p->serve_config, e);
    if (rc < 0) {
        page_close(p);
        return rc;
    }
    log_info("serves the page of the cluster on http://%s/", serve_where(p->serve));
    *ret = p;
    return 0;
}

void page_close(struct page *p)
{
    if (!p)
        return;
    serve_close(p->serve);
    waste_book_close(p->waste);
    device_prices_done(&p->prices);
    str_done(&p->token);
    str_done(&p->operators);
    free(p->of);
    free(p);
}

int page_asked(struct page *p, const struct node_answer *const *of, size_t n, struct err *e)
{
    const struct node_answer **copy;

    if (!p)
        return 0;
    copy = realloc(p->of, MAX(n, 1) * sizeof(const void *));
    if (!copy)
        return err_nomem(e);
    for (size_t i = 0; i < n; i++)
        copy[i] = of[i];
    p->of = copy;
    p->n = n;
    return 0;
}

static int write_board(struct page *p, struct board *b, struct board_text *to, struct err *e)
{
    struct json j = { .out = &to->text, .compact = true };
    struct waste_sums day = { .n = 0 };
    int rc = waste_book_add(p->waste, b, e);

    if (rc == 0)
        rc = waste_book_since(p->waste, b->now_ms - DAY_MS, &day, e);
    if (rc < 0)
        return rc;
    json_object(&j, NULL);
    json_string(&j, "schema", "brim.cluster.v1");
    board_add_json(b, &j);
    rc = waste_add_json(waste_book_all(p->waste), &day, &p->prices, &j, e);
    json_end(&j);
    if (rc == 0 && str_error(&to->text) == 0)
        rc = board_text_take(to, b);
    if (rc == 0 && str_error(&to->text))
        rc = str_error(&to->text);
    return rc < 0 ? err_set(e, rc, "the page cannot be made: %s", strerror(-rc)) : 0;
}

void page_show(struct page *p, const struct cycle *c)
{
    struct board_text text = { .text = STR_INIT(BOARD_MAX) };
    struct board_scene scene = { .seen = cycle_seen(c), .site = cycle_site(c) };
    struct err why = { "" };
    struct board b;
    int rc;

    if (!p)
        return;
    scene.answers.now_ms = clock_wall_ns(p->config->clock) / NS_PER_MS;
    scene.answers.of = p->n == scene.site->n_nodes ? p->of : NULL;
    rc = board_make(&b, &scene, &why);
    if (rc == 0) {
        rc = write_board(p, &b, &text, &why);
        board_done(&b);
    }
    if (rc == 0)
        serve_board(p->serve, &text);
    else
        page_trouble(p, why.text);
    board_text_done(&text);
}

void page_trouble(struct page *p, const char *why)
{
    if (p)
        serve_trouble(p->serve, why);
}
