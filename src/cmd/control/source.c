#include "cmd/control/source.h"

#include <string.h>

#include "cmd/common/nodes_option.h"
#include "cmd/common/token_file.h"

enum { LOGIN_MAX = 2 * TOKEN_FILE_MAX };

static int open_agents(struct source *s, const struct source_opts *o, struct err *e)
{
    struct gather_config agents = { NULL, o->port, o->patience_ns };
    int rc = 0;

    if (o->query || o->login)
        return err_usage(e, "--prometheus-%s %s needs --prometheus URL",
                         o->query ? "query" : "token", o->query ? o->query : o->login);
    if (o->token) {
        rc = nodes_option_token(o->token, &s->token, e);
        agents.token = str_text(&s->token);
    }
    return rc < 0 ? rc : gather_open(&s->gather, &agents, e);
}

static int open_prometheus(struct source *s, const struct source_opts *o, const struct clock *clock,
                           struct err *e)
{
    int rc = prometheus_place_read(&s->place, &s->arena, o->prometheus, e);

    s->prometheus = (struct prometheus_config){ .place = &s->place,
                                                .query = o->query ? o->query : prometheus_query,
                                                .patience_ns = o->patience_ns,
                                                .clock = clock };
    if (rc < 0)
        return rc;
    if (o->token)
        return err_usage(e, "--token is for agents, and with --prometheus none is asked: "
                            "--prometheus-token FILE has what Prometheus asks for");
    if (strlen(s->prometheus.query) > PROMETHEUS_QUERY_MAX)
        return err_usage(e,
                         "--prometheus-query is longer than %d bytes: let a recording rule of "
                         "Prometheus have it",
                         PROMETHEUS_QUERY_MAX);
    if (!o->login)
        return 0;
    rc = token_file_read(o->login, &s->token, e);
    if (rc == 0)
        rc = prometheus_login(str_text(&s->token), &s->login, e);
    s->prometheus.login = str_text(&s->login);
    return rc;
}

int source_open(struct source *s, const struct source_opts *o, const struct clock *clock,
                struct err *e)
{
    s->token = (struct str)STR_INIT(TOKEN_FILE_MAX);
    s->login = (struct str)STR_INIT(LOGIN_MAX);
    return o->prometheus ? open_prometheus(s, o, clock, e) : open_agents(s, o, e);
}

int source_ask(struct source *s, const struct site *site, const bool *which,
               const struct node_answer **of, struct err *e)
{
    if (s->prometheus.place)
        return prometheus_ask(&s->answers, &s->prometheus, site, which, of, e);
    return gather_ask(s->gather, site, which, of, e);
}

void source_done(struct source *s)
{
    gather_close(s->gather);
    prometheus_answers_done(&s->answers);
    str_done(&s->token);
    str_done(&s->login);
    arena_done(&s->arena);
}
