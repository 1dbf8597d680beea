#include "daemon/http/answer.h"

static const char dashboard_policy[] =
    "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; "
    "form-action 'self'";

void http_answer_headers(const struct mhd *m, struct MHD_Response *r, const char *type,
                         const char *policy)
{
    m->add_response_header(r, "Content-Type", type);
    m->add_response_header(r, "Cache-Control", "no-cache");
    m->add_response_header(r, "X-Content-Type-Options", "nosniff");
    m->add_response_header(r, "X-Frame-Options", "DENY");
    m->add_response_header(r, "Referrer-Policy", "no-referrer");
    m->add_response_header(r, "Content-Security-Policy", policy ? policy : dashboard_policy);
}

static struct MHD_Response *make(const struct mhd *m, const char *text, size_t len, bool lasting)
{
    /* the library does not change what it is given, but takes a plain pointer */
    union {
        const char *from;
        void *plain;
    } body = { text };

    return m->create_response_from_buffer(len, body.plain,
                                          lasting ? MHD_RESPMEM_PERSISTENT : MHD_RESPMEM_MUST_COPY);
}

struct MHD_Response *http_answer_new(const struct mhd *m, const char *type, const char *text,
                                     size_t len, bool lasting)
{
    struct MHD_Response *r = make(m, text, len, lasting);

    if (r)
        http_answer_headers(m, r, type, NULL);
    return r;
}

struct MHD_Response *http_answer_under(const struct mhd *m, const char *policy, const char *type,
                                       const char *text, size_t len)
{
    struct MHD_Response *r = make(m, text, len, false);

    if (r)
        http_answer_headers(m, r, type, policy);
    return r;
}

enum MHD_Result http_answer_once(const struct mhd *m, struct MHD_Connection *c, unsigned status,
                                 struct MHD_Response *r)
{
    enum MHD_Result rc = r ? m->queue_response(c, status, r) : MHD_NO;

    if (r)
        m->destroy_response(r);
    return rc;
}
