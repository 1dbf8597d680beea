/* Scripted accelerators. */
#include "base/str.h"
#include "probe/gpu/fake_script.h"
#include "probe/gpu/gpu_sample.h"
#include "sampled.h"

extern const struct sampler_ops sampler_fake;

static char path[PATH_MAX];

static const char script[] = "[fake]\n"
                             "count = 3\n"
                             "[gpu 1]\n"
                             "busy_ratio = 0\n"
                             "uuid = GPU-7\n"
                             "[gpu *]\n"
                             "model = H100\n"
                             "pci = 0000:17:00.0\n"
                             "busy_ratio = 0.9 for 30s, 0.1  for 10s , 0.5 for 500ms\n"
                             "power_watts = 420\n"
                             "pcie_received_bytes_total = 2e9\n"
                             "energy_joules_total = 100 for 2s, 0 for 3s\n"
                             "gpu_throttle.active:thermal = 1\n"
                             "gpu_throttle.seconds_total:thermal = 0.25\n"
                             "gpu_error.ecc_total:corrected = 0.1\n"
                             "[event]\n"
                             "after = 12s\n"
                             "kind = xid\n"
                             "severity = critical\n"
                             "code = 79\n"
                             "thing = fake1\n"
                             "text = \"GPU has fallen off the bus\"\n"
                             "action = reset it\n"
                             "[event]\n"
                             "kind = note\n"
                             "severity = note\n"
                             "text = it begins\n";

static double value(const struct sampled *s, const struct signal_set *set, const char *thing,
                    size_t i)
{
    const struct signal_row *row = tick_find(&s->tick, set, thing);

    return row ? row->values[i] : -1;
}

static void test_rows(struct sampled *s)
{
    folder_text(s->folder, "fake.ini", script);
    is_int(sampled_open(s), 0, "the sampler opens with a script");
    is_int(sampled_at(s, 1000), 9, "three accelerators have nine rows of three sets");
    ok(s->tick.rows[2].set == &gpu_set && s->tick.rows[3].set == &gpu_throttle_set,
       "the rows of a set stand together");
    is_value(s, "fake0", "busy_ratio", "0.9");
    is_value(s, "fake1", "busy_ratio", "0");
    is_value(s, "fake2", "power_watts", "420");
    is_value(s, "fake0", "pcie_received_bytes_total", "0");
    is_value(s, "fake0", "memory_used_bytes", "absent");
    is_value(s, "fake0", "lost", "0");
    is_str(signal_fact(&s->tick.rows[0], "model"), "H100",
           "an accelerator has its model of the script");
    is_str(signal_fact(&s->tick.rows[0], "uuid"), "fake-0",
           "an accelerator without a uuid has a made-up one");
    is_str(signal_fact(&s->tick.rows[1], "uuid"), "GPU-7",
           "an accelerator has its own uuid of the script");
    is_str(signal_fact(&s->tick.rows[1], "pci"), "0000:17:00.0",
           "an accelerator has its address of the script");
    is_str(signal_fact(&s->tick.rows[1], "vendor"), "fake", "an accelerator has the vendor fake");
    ok(value(s, &gpu_throttle_set, "fake2", GPU_THROTTLED_THERMAL) == 1,
       "an accelerator is throttled as the script says");
    ok(isnan(value(s, &gpu_throttle_set, "fake2", GPU_THROTTLED_POWER)),
       "throttling that the script lacks is absent");
}

static void test_time(struct sampled *s)
{
    is_int(sampled_at(s, 1029), 9, "the script has nine rows at 29 s");
    is_value(s, "fake0", "busy_ratio", "0.9");
    is_value(s, "fake0", "pcie_received_bytes_total", "58000000000");
    is_value(s, "fake0", "energy_joules_total", "1200");
    ok(value(s, &gpu_error_set, "fake0", GPU_ECC_CORRECTED) > 2.89,
       "an accelerator has 2.9 errors after 29 s");
    is_int(sampled_at(s, 1030), 9, "the script has nine rows at 30 s");
    is_value(s, "fake0", "busy_ratio", "0.1");
    is_value(s, "fake0", "energy_joules_total", "1200");
    is_int(sampled_at(s, 1031), 9, "the script has nine rows at 31 s");
    is_value(s, "fake0", "energy_joules_total", "1300");
    is_int(sampled_at(s, 1040), 9, "the script has nine rows at 40 s");
    is_value(s, "fake0", "busy_ratio", "0.5");
    is_int(sampled_at(s, 1041), 9, "the script starts over at 41 s");
    is_value(s, "fake0", "busy_ratio", "0.9");
    is_int(sampled_at(s, 900), 9, "a clock that goes back starts the script over");
    is_value(s, "fake0", "pcie_received_bytes_total", "0");
}

static void test_events(struct sampled *s)
{
    sampled_close(s);
    is_int(sampled_open(s), 0, "the sampler opens with a script of events");
    is_int(sampled_at(s, 5), 9, "the first tick of the script has nine rows");
    is_int(s->tick.n_events, 1, "an event without a time comes at once");
    is_str(s->tick.events[0].kind, "note", "the event at once has its kind");
    is_int(s->tick.events[0].code, -1, "an event without a code has -1");
    is_int(sampled_at(s, 16), 9, "the script has nine rows after 11 s");
    is_int(s->tick.n_events, 0, "an event after 12 s does not come after 11 s");
    is_int(sampled_at(s, 17), 9, "the script has nine rows after 12 s");
    is_int(s->tick.n_events, 1, "an event after 12 s comes after 12 s");
    is_str(s->tick.events[0].kind, "xid", "the event of the script has its kind");
    is_str(s->tick.events[0].thing, "fake1", "the event of the script has its thing");
    is_str(s->tick.events[0].text, "GPU has fallen off the bus",
           "the event of the script has its text");
    is_str(s->tick.events[0].action, "reset it", "the event of the script has its action");
    is_int(s->tick.events[0].severity, SEVERITY_CRITICAL,
           "the event of the script has its severity");
    is_int(s->tick.events[0].code, 79, "the event of the script has its code");
    is_int(sampled_at(s, 18), 9, "the script has nine rows after 13 s");
    is_int(s->tick.n_events, 0, "an event of the script comes once");
}

/* The sentence behind "PATH:". */
static void refused(struct sampled *s, const char *text, const char *sentence)
{
    const struct sampler_env env = { .root = s->root, .fake = path };
    struct err e = { "" };
    void *state = NULL;

    folder_text(s->folder, "fake.ini", text);
    is_int(sampler_fake.open(&state, &env, &e), -EINVAL, "the sampler refuses a script: %s",
           sentence);
    if (strncmp(e.text, path, strlen(path)) != 0)
        ok(false, "the error begins with the script's path: %s", e.text);
    else
        is_str(e.text + strlen(path), sentence, "the error says: %s", sentence);
}

#define ZEROS "00000000000000000000000000000000"

static void test_refused(struct sampled *s)
{
    const struct sampler_env none = { .root = s->root, .fake = "/nonexistent/fake.ini" };
    struct err e = { "" };
    void *state = NULL;

    is_int(sampler_fake.open(&state, &none, &e), -EINVAL,
           "the sampler refuses a script that is not there");
    is_str(e.text, "cannot read /nonexistent/fake.ini: No such file or directory",
           "the error names the script that is not there");
    refused(s, "", ":1: there is no section [gpu *] or [gpu 0]");
    refused(s, "[gpu *]\nbusy_ration = 1\n",
            ":2: an accelerator has no signal 'busy_ration' (did you mean 'busy_ratio'?)");
    refused(s, "[gpu *]\ngpu_throttle.active:termal = 1\n",
            ":2: an accelerator has no signal 'gpu_throttle.active:termal' (did you mean "
            "'gpu_throttle.active:thermal'?)");
    refused(s, "[gpu *]\nvendor = x\n", ":2: an accelerator has no signal 'vendor'");
    refused(s, "[gpu *]\nzzzzzzzzzz = 1\n", ":2: an accelerator has no signal 'zzzzzzzzzz'");
    refused(s, "[gpu *]\nbusy_ratio = x\n",
            ":2: busy_ratio: 'x' is no step: write 0.9, or 0.9 for 30s, 0.1 for 10s");
    refused(s, "[gpu *]\nbusy_ratio = -1\n",
            ":2: busy_ratio: '-1' is no step: write 0.9, or 0.9 for 30s, 0.1 for 10s");
    refused(s, "[gpu *]\nbusy_ratio = 1 for 0s\n",
            ":2: busy_ratio: '1 for 0s' is no step: write 0.9, or 0.9 for 30s, 0.1 for 10s");
    refused(s, "[gpu *]\nbusy_ratio = 2e18\n",
            ":2: busy_ratio: '2e18' is no step: write 0.9, or 0.9 for 30s, 0.1 for 10s");
    refused(s, "[gpu *]\nbusy_ratio = 0." ZEROS ZEROS "1\n",
            ":2: busy_ratio: '0." ZEROS
            "000000' is no step: write 0.9, or 0.9 for 30s, 0.1 for 10s");
    refused(s, "[gpu *]\nbusy_ratio = 1 for 3s,\n",
            ":2: busy_ratio: '' is no step: write 0.9, or 0.9 for 30s, 0.1 for 10s");
    refused(s, "[gpu *]\nbusy_ratio = 1, 2 for 3s\n",
            ":2: busy_ratio: each of several steps needs its time, as in 0.9 for 30s");
    refused(s,
            "[gpu *]\nbusy_ratio = 1 for 1,1 for 1,1 for 1,1 for 1,1 for 1,1 for 1,1 for 1,"
            "1 for 1,1 for 1\n",
            ":2: busy_ratio: more than 8 steps");
    refused(s, "[gpu *]\nmodel = 012345678901234567890123456789012345678901234567\n",
            ":2: model: longer than 47 characters");
    refused(s, "[gpu 64]\n", ":1: [gpu 64]: these are numbered from 0 to 63");
    refused(s, "[gpu x]\n", ":1: [gpu x]: these are numbered from 0 to 63");
    refused(s, "[cpu 0]\n", ":1: [cpu 0]: sections are [fake], [gpu *], [gpu 0], [event]");
    refused(s, "a = b\n", ":1: []: sections are [fake], [gpu *], [gpu 0], [event]");
    refused(s, "[fake]\ncount = 65\n", ":2: count: between 1 and 64");
    refused(s, "[fake]\ncounts = 5\n", ":2: [fake] has no 'counts', only count");
    refused(s, "[gpu 0]\n[event]\nafer = 5\n",
            ":3: an event has no 'afer' (did you mean 'after'?)");
    refused(s, "[gpu 0]\n[event]\nseverity = bad\n", ":3: severity: 'bad' does not do");
    refused(s, "[gpu 0]\n[event]\ncode = -2\n", ":3: code: '-2' does not do");
    refused(s, "[gpu 0]\n[event]\nafter = soon\n", ":3: after: 'soon' does not do");
    refused(s, "[gpu 0]\n[event]\nkind = a\n", ":2: [event] has no text");
    refused(s, "[gpu 0]\n[event]\nkind =\ntext = b\n", ":2: [event] has no kind");
}

/* As much as a script may have is taken, and no more. */
static void taken(struct sampled *s, const char *text, const char *what)
{
    const struct sampler_env env = { .root = s->root, .fake = path };
    struct err e = { "" };
    void *state = NULL;

    folder_text(s->folder, "fake.ini", text);
    is_int(sampler_fake.open(&state, &env, &e), 0, "the sampler takes %s: %s", what, e.text);
    if (state)
        sampler_fake.close(state);
}

static void test_most(struct sampled *s)
{
    CLEANUP(str_done) struct str rules = STR_INIT(1 << 20), events = STR_INIT(1 << 20);
    char sentence[64];

    taken(s, "[gpu 63]\nbusy_ratio = 1e18\n", "the last GPU and the largest value");
    taken(s, "[fake]\ncount = 64\n", "64 GPUs");
    taken(s, "[gpu 0]\nmodel = 01234567890123456789012345678901234567890123456\n",
          "a model of 47 characters");
    taken(s,
          "[gpu 0]\nbusy_ratio = 1 for 1,1 for 1,1 for 1,1 for 1,1 for 1,1 for 1,1 for 1,"
          "1 for 1\n",
          "eight steps");
    taken(s, "[gpu 0]\n[event]\nkind = a\ntext = b\ncode = 2147483647\n", "the largest code");
    refused(s, "[gpu 0]\n[event]\ncode = 2147483648\n", ":3: code: '2147483648' does not do");
    taken(s, "[gpu 0]\n[event]\nkind = a\ntext = b\ncode = -1\n", "a code of -1");
    taken(s, "[gpu 0]\n[event]\nkind = a\ntext = b\nafter = 0\n", "an event at once");
    taken(s, "[gpu 0]\n[event]\nkind = 0123456789012345678901234567890\ntext = b\n",
          "a kind of 31 characters");
    refused(s, "[gpu 0]\n[event]\nkind = 01234567890123456789012345678901\n",
            ":3: kind: '01234567890123456789012345678901' does not do");
    refused(s, "[fake]\ncount = 0\n", ":2: count: between 1 and 64");
    str_add(&rules, "[gpu 0]\n");
    for (int i = 0; i < FAKE_RULES; i++)
        str_add(&rules, "busy_ratio = 1\n");
    taken(s, str_text(&rules), "as many values as there may be");
    str_add(&rules, "busy_ratio = 1\n");
    snprintf(sentence, sizeof(sentence), ":%d: more than %d values", FAKE_RULES + 2, FAKE_RULES);
    refused(s, str_text(&rules), sentence);
    str_add(&events, "[gpu 0]\n");
    for (int i = 0; i < FAKE_EVENTS; i++)
        str_add(&events, "[event]\nkind = a\ntext = b\n");
    taken(s, str_text(&events), "as many events as there may be");
    str_add(&events, "[event]\n");
    snprintf(sentence, sizeof(sentence), ":%d: more than %d events", 3 * FAKE_EVENTS + 2,
             FAKE_EVENTS);
    refused(s, str_text(&events), sentence);
}

/* A script that is changed while it plays. */
static void test_changed(struct sampled *s)
{
    sampled_close(s);
    folder_text(s->folder, "fake.ini", "[gpu 0]\nbusy_ratio = 0.25 for 1s, 0.5 for 9s\n");
    is_int(sampled_open(s), 0, "the sampler opens with a short script");
    is_int(sampled_at(s, 1000), 1, "one accelerator has a row");
    (void)sampled_at(s, 1002);
    is_value(s, "fake0", "busy_ratio", "0.5");
    folder_text(s->folder, "fake.ini", "[gpu 0]\nbusy_ratio = 0.75 for 1s, 1 for 99s\n");
    (void)sampled_at(s, 1003);
    is_value(s, "fake0", "busy_ratio", "0.75");
    (void)sampled_at(s, 1005);
    is_value(s, "fake0", "busy_ratio", "1");
    folder_text(s->folder, "fake.ini", "[gpu 0]\nbusy = much\n");
    (void)sampled_at(s, 1006);
    is_value(s, "fake0", "busy_ratio", "1");
    folder_text(s->folder, "fake.ini", "[gpu 0]\nbusy_ratio = 0\n[gpu 1]\nbusy_ratio = 0\n");
    is_int(sampled_at(s, 1007), 1, "a script of more accelerators changes nothing");
    is_value(s, "fake0", "busy_ratio", "1");
    folder_text(s->folder, "fake.ini", "[gpu 0]\nbusy_ratio = 0.125\n");
    (void)sampled_at(s, 1008);
    is_value(s, "fake0", "busy_ratio", "0.125");
}

int main(void)
{
    struct sampled s;

    sampled_make(&s, &sampler_fake);
    folder_path(s.folder, "fake.ini", path);
    is_int(sampled_open(&s), -ENOENT, "the sampler does not open without a script");
    s.fake = path;
    test_rows(&s);
    test_time(&s);
    test_events(&s);
    test_refused(&s);
    test_most(&s);
    test_changed(&s);
    sampled_close(&s);
    folder_text(s.folder, "fake.ini", script);
    sampled_oom(&s);
    sampled_remove(&s);
    return done();
}
