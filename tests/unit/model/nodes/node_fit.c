/* For which GPUs a job is kept away from a node, and for which not. */
#include "model/nodes/node_fit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tap.h"

static const int64_t now_ms = INT64_C(1795770000000);

/* Three GPUs, of which the agent says so. */
static int read_alerts(struct node_unfit *ret, const char *alerts, uint64_t gpus, int64_t time_ms)
{
    char text[4096];
    struct err e = { "" };
    int len = snprintf(text, sizeof(text),
                       "{\"schema\":\"brim.live.v1\",\"time_ms\":%lld,"
                       "\"gpus\":[{\"gpu\":\"g0\"},{\"gpu\":\"g1\"},{\"gpu\":\"\"}],"
                       "\"alerts\":[%s]}",
                       (long long)time_ms, alerts);

    return node_fit_read(ret, text, (size_t)len, gpus, now_ms, &e);
}

#define ALERT(name, thing) "{\"name\":\"" name "\",\"thing\":\"" thing "\",\"text\":\"why\"}"
#define XID(code, thing) \
    "{\"name\":\"xid\",\"thing\":\"" thing "\",\"text\":\"XID\",\"code\":" code "}"

static void test_alerts(void)
{
    static const struct {
        const char *alerts;
        uint64_t gpus;
        int want; /* the GPU; -1: none */
    } cases[] = {
        { "", 7, -1 },
        { ALERT("gpu-lost", "g1"), 7, 1 },
        { ALERT("gpu-lost", "g1"), 2, 1 },
        { ALERT("gpu-lost", "g1"), 5, -1 },
        { ALERT("gpu-lost", ""), 7, -1 },
        { ALERT("gpu-lost", "g9"), 7, -1 },
        { ALERT("gpu-lost", "g1") "," ALERT("gpu-lost", "g0"), 7, 0 },
        { ALERT("gpu-recovery", "g0"), 7, 0 },
        { ALERT("gpu-remap-failed", "g0"), 7, 0 },
        { ALERT("gpu-remap-pending", "g0"), 7, -1 },
        { ALERT("gpu-ecc-uncorrected", "g0"), 7, -1 },
        { ALERT("gpu-ecc-uncorrected", "g0") "," ALERT("gpu-remap-pending", "g0"), 7, 0 },
        { ALERT("gpu-ecc-uncorrected", "g1") "," ALERT("gpu-remap-pending", "g0"), 7, -1 },
        { ALERT("gpu-ecc-uncorrected", "g0") "," ALERT("gpu-pages-pending", "g0"), 7, 0 },
        { ALERT("gpu-hot", "g0") "," ALERT("gpu-thermal", "g0"), 7, -1 },
        { ALERT("disk-slow", "g0"), 7, -1 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct node_unfit bad = { .gpu = 99 };
        int rc = read_alerts(&bad, cases[i].alerts, cases[i].gpus, now_ms);

        is_int(rc, cases[i].want >= 0, "whether a job would fail, list %zu", i);
        is_int(bad.gpu, cases[i].want >= 0 ? cases[i].want : 99, "on which GPU, list %zu", i);
    }
}

static void test_xids(void)
{
    static const int fatal[] = { 46, 62, 79, 95, 119, 120, 140, 143, 158, 167 };
    int found = 0, wrong = 0;
    struct node_unfit bad;

    for (int code = 0; code < 200; code++) {
        char text[128];
        bool want = false;
        int rc;

        snprintf(text, sizeof(text),
                 "{\"name\":\"xid\",\"thing\":\"g0\",\"text\":\"x\",\"code\":%d}", code);
        for (size_t i = 0; i < ARRAY_SIZE(fatal); i++)
            want = want || fatal[i] == code;
        rc = read_alerts(&bad, text, 1, now_ms);
        found += rc == 1;
        wrong += (rc == 1) != want;
    }
    is_int(found, ARRAY_SIZE(fatal), "ten XIDs keep jobs away");
    is_int(wrong, 0, "no other XID keeps jobs away");
    is_int(read_alerts(&bad, XID("79", "g1"), 1, now_ms), 0, "the XID of another GPU is nothing");
    is_int(read_alerts(&bad, XID("79.5", "g0") "," XID("\"79\"", "g0") "," XID("null", "g0"), 1,
                       now_ms),
           0, "what is no code is nothing");
    is_int(read_alerts(&bad, "{\"name\":\"kernel\",\"thing\":\"g0\",\"text\":\"x\",\"code\":79}", 1,
                       now_ms),
           0, "the code of another kind is nothing");
}

static void test_time(void)
{
    const char *lost = ALERT("gpu-lost", "g0");
    struct node_unfit bad;

    is_int(read_alerts(&bad, lost, 1, now_ms - 30000), 1, "a sample of before 30 s counts");
    is_int(read_alerts(&bad, lost, 1, now_ms - 30001), -ESTALE, "an older sample does not count");
    is_int(read_alerts(&bad, lost, 1, now_ms + 30000), 1, "a clock may be ahead by 30 s");
    is_int(read_alerts(&bad, lost, 1, now_ms + 30001), -ESTALE, "a clock may not be ahead by more");
}

static int read_text(const char *text)
{
    struct node_unfit bad;
    struct err e = { "" };
    int rc = node_fit_read(&bad, text, strlen(text), 1, now_ms, &e);

    ok(rc >= 0 || e.text[0], "there is a sentence: %s", e.text);
    return rc;
}

#define HEAD "{\"schema\":\"brim.live.v1\",\"time_ms\":1795770000000"

static void test_hostile(void)
{
    struct node_unfit bad = { .gpu = 0 };
    struct err e = { "" };

    is_int(read_text(""), -EINVAL, "an empty text is no answer");
    is_int(read_text("[]"), -EPROTO, "an array is no answer");
    is_int(read_text("{\"schema\":\"brim.live.v2\"}"), -EPROTO,
           "an answer of another version is none");
    is_int(read_text("{\"schema\":\"brim.live.v1\",\"time_ms\":\"x\"}"), -ESTALE,
           "an answer without a time is none");
    is_int(read_text(HEAD "}"), -EPROTO, "an answer without GPUs is none");
    is_int(read_text(HEAD ",\"gpus\":{},\"alerts\":[]}"), -EPROTO,
           "an answer with GPUs that are no list is none");
    is_int(read_text(HEAD ",\"gpus\":[],\"alerts\":3}"), -EPROTO,
           "an answer with alerts that are no list is none");
    is_int(read_text(HEAD ",\"gpus\":[3,null],\"alerts\":[null,[],\"x\"]}"), 0,
           "what is no GPU and no alert is passed over");
    is_int(node_fit_read(&bad, "", NODE_FIT_TEXT_MAX + 1, 1, now_ms, &e), -EFBIG,
           "a text that is too long is not read");
    is_int(read_alerts(&bad, "{\"name\":\"gpu-lost\",\"thing\":\"g0\",\"text\":\"a\\u001bb\\nc\"}",
                       1, now_ms),
           1, "a text may have anything in it");
    is_str(bad.why, "a?b?c", "a text with control characters is shown harmless");
}

int main(void)
{
    test_alerts();
    test_xids();
    test_time();
    test_hostile();
    return done();
}
