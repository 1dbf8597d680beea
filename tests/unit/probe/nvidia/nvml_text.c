/* What NVIDIA's driver said, as text and back. */
#include "probe/nvidia/nvml.h"

#include <errno.h>
#include <stdlib.h>

#include "fixture.h"
#include "oom.h"
#include "probe/nvidia/nvml_abi.h"
#include "tap.h"

static struct nvml_reading reading;

static int read_text(const char *text, struct err *e)
{
    return nvml_text_read("n.ini", text, strlen(text), &reading, e);
}

static void check_absent(void)
{
    CLEANUP(str_done) struct str out = STR_INIT(NVML_TEXT_MAX);

    nvml_reading_init(&reading);
    is_int(reading.cuda, ABSENT, "a new reading has no CUDA version");
    is_int(reading.gpus[5].memory_b, ABSENT, "a new reading has no memory");
    is_int(reading.gpus[5].links[35].up, ABSENT, "a new reading has no link");
    is_int(reading.gpus[5].peers[63], NVML_PEER_ABSENT, "a new reading has no peer");
    reading.n_gpus = 1;
    nvml_text_write(&reading, &out);
    is_str(str_text(&out), "[nvml]\n\n[gpu 0]\n", "nvml_text_write writes nothing that is absent");
}

/* A whole machine comes back as it was, byte by byte. */
static void check_round_trip(void)
{
    CLEANUP(freep) char *text = fixture_file("dgx-h100", "brim/nvml.ini");
    CLEANUP(str_done) struct str out = STR_INIT(NVML_TEXT_MAX);
    struct err e = { "" };

    is_int(nvml_text_read("dgx", text, strlen(text), &reading, &e), 0,
           "nvml_text_read reads a DGX H100: %s", e.text);
    is_int(reading.n_gpus, 8, "a DGX H100 has eight GPUs");
    is_int(reading.gpus[7].capability, 90, "an H100 has compute capability 9.0");
    is_str(reading.gpus[7].bdf, "0000:df:00.0", "the last H100 has its address");
    is_int(reading.gpus[7].links[17].kind, NVML_REMOTE_SWITCH,
           "the last link of an H100 leads to a switch");
    ok(reading.gpus[7].links[17].bdf[0] != 0, "the last link of an H100 has an address");
    is_int(reading.gpus[7].links[18].up, ABSENT, "an H100 has 18 links");
    nvml_text_write(&reading, &out);
    is_str(str_text(&out), text, "nvml_text_write writes what it read of a DGX H100");
}

static void check_values(void)
{
    static const char text[] = "[nvml]\n"
                               "driver = \"a # b \\\"c\\\" \\\\\"\n"
                               "\n"
                               "[gpu 0]\n"
                               "name = \" blank\"\n"
                               "capability = 12.1\n"
                               "lost = yes\n"
                               "link0 = down\n"
                               "link1 = up - gpu -\n"
                               "link2 = up 7 - 0000:01:00.0\n"
                               "link3 = up 0 - 0000:02:00.0\n"
                               "link4 = down 0 switch -\n"
                               "link5 = up 0 - -\n"
                               "link6 = down - gpu -\n"
                               "link7 = up - - 0000:03:00.0\n"
                               "link35 = up 1 npu -\n"
                               "peers = x ok cns gns tns dr ns u - ok\n";
    CLEANUP(str_done) struct str out = STR_INIT(NVML_TEXT_MAX);
    struct err e = { "" };

    is_int(read_text(text, &e), 0, "nvml_text_read reads rare values: %s", e.text);
    is_str(reading.driver, "a # b \"c\" \\", "nvml_text_read takes quotes off");
    is_str(reading.gpus[0].name, " blank", "nvml_text_read keeps a blank in quotes");
    is_int(reading.gpus[0].capability, 121, "nvml_text_read reads capability 12.1");
    ok(reading.gpus[0].lost, "nvml_text_read reads that a GPU is lost");
    is_int(reading.gpus[0].links[0].up, 0, "nvml_text_read reads a link that is down");
    is_int(reading.gpus[0].peers[0], NVML_PEER_SELF, "nvml_text_read reads a GPU as its own peer");
    is_int(reading.gpus[0].peers[5], NVML_P2P_DISABLED,
           "nvml_text_read reads peer access that is disabled");
    is_int(reading.gpus[0].peers[8], NVML_PEER_ABSENT,
           "nvml_text_read reads peer access that was not asked");
    nvml_text_write(&reading, &out);
    is_str(str_text(&out), text, "nvml_text_write writes rare values as it read them");
}

/* A driver may say what INI cannot hold. */
static void check_control_characters(void)
{
    CLEANUP(str_done) struct str out = STR_INIT(NVML_TEXT_MAX);

    nvml_reading_init(&reading);
    snprintf(reading.driver, sizeof(reading.driver), "a\nb\x7f\xc3\xa9");
    nvml_text_write(&reading, &out);
    is_str(str_text(&out), "[nvml]\ndriver = a?b?\xc3\xa9\n",
           "nvml_text_write replaces control characters");
}

static void check_skipped(void)
{
    struct err e = { "" };

    is_int(read_text("[fake]\nnvmlInit_v2 = hang\n[later]\nx = y\n[nvml]\nnew = 1\ncuda = 5\n"
                     "[gpu 1]\nlink36 = up\nlinkage = 2\nlink = 3\nbdfs = 4\nname =\n",
                     &e),
           0, "nvml_text_read skips what is not known: %s", e.text);
    is_int(reading.cuda, 5, "nvml_text_read reads what is known beside it");
    is_int(reading.n_gpus, 2, "nvml_text_read has GPU 0 where GPU 1 is");
    is_str(reading.gpus[0].bdf, "", "a GPU that the text lacks has no address");
}

/* What is said twice is as it was said the last time. */
static void check_again(void)
{
    struct err e = { "" };

    is_int(read_text("[gpu 0]\ncapability = 1000\npeers = ok ok ok\npeers = x\n"
                     "link0 = up 6 switch 0000:01:00.0\nlink0 = down\n",
                     &e),
           0, "nvml_text_read reads what is said twice: %s", e.text);
    is_int(reading.gpus[0].capability, 10000, "nvml_text_read reads capability 1000");
    is_int(reading.gpus[0].peers[0], NVML_PEER_SELF, "nvml_text_read has the last peers");
    is_int(reading.gpus[0].peers[1], NVML_PEER_ABSENT, "nvml_text_read forgets the first peers");
    is_int(reading.gpus[0].links[0].up, 0, "nvml_text_read has the last state of a link");
    is_int(reading.gpus[0].links[0].version, ABSENT, "nvml_text_read forgets a link's version");
}

static void check_errors(void)
{
    static const struct {
        const char *text, *said;
    } cases[] = {
        { "[nvml]\ncuda = new\n", "n.ini:2: cuda: 'new' is not a number" },
        { "[nvml]\ncuda = -1\n", "n.ini:2: cuda: '-1' is not a number" },
        { "[nvml]\ncuda = 2147483648\n", "n.ini:2: cuda: '2147483648' is not a number" },
        { "[gpu 64]\n", "n.ini:1: [gpu 64]: these are numbered from 0 to 63" },
        { "[gpu x]\n", "n.ini:1: [gpu x]: these are numbered from 0 to 63" },
        { "[gpu 0]\nbdf = 1:2\n", "n.ini:2: bdf: '1:2' is not a PCI address" },
        { "[gpu 0]\nmemory_b = 1e9\n", "n.ini:2: memory_b: '1e9' is not a number" },
        { "[gpu 0]\nlost = maybe\n", "n.ini:2: lost: 'maybe' is not yes or no" },
        { "[gpu 0]\nvbios = 0123456789012345678901234567890123456789\n",
          "n.ini:2: vbios: '0123456789012345678901234567890123456789' is not a short text" },
        { "[gpu 0]\ncapability = nan\n",
          "n.ini:2: capability: 'nan' is not a version such as 9.0" },
        { "[gpu 0]\nlink0 =\n", "n.ini:2: link0: '' is not 'up' or 'down', NVLink version, 'gpu', "
                                "'npu' or 'switch', PCI address" },
        { "[gpu 0]\ncapability = -0.1\n",
          "n.ini:2: capability: '-0.1' is not a version such as 9.0" },
        { "[gpu 0]\ncapability = 1000.1\n",
          "n.ini:2: capability: '1000.1' is not a version such as 9.0" },
        { "[gpu 0]\nlink3 = upward\n",
          "n.ini:2: link3: 'upward' is not 'up' or 'down', NVLink version, 'gpu', 'npu' or "
          "'switch', PCI address" },
        { "[gpu 0]\nlink3 = up 4 hub\n",
          "n.ini:2: link3: 'up 4 hub' is not 'up' or 'down', NVLink version, 'gpu', 'npu' or "
          "'switch', PCI address" },
        { "[gpu 0]\nlink3 = up x\n",
          "n.ini:2: link3: 'up x' is not 'up' or 'down', NVLink version, 'gpu', 'npu' or "
          "'switch', PCI address" },
        { "[gpu 0]\npeers = ok yes\n", "n.ini:2: peers: 'ok yes' is not a word for each GPU (ok, "
                                       "cns, gns, tns, dr, ns, u, x)" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct err e = { "" };

        is_int(read_text(cases[i].text, &e), -EINVAL, "nvml_text_read refuses: %s", cases[i].said);
        is_str(e.text, cases[i].said, "nvml_text_read says: %s", cases[i].said);
    }
}

static void check_oom(void)
{
    bool failed;

    nvml_reading_init(&reading);
    do {
        CLEANUP(str_done) struct str out = STR_INIT(NVML_TEXT_MAX);

        oom_next();
        nvml_text_write(&reading, &out);
        failed = oom_end();
        is_int(str_error(&out), failed ? -ENOMEM : 0,
               "nvml_text_write returns -ENOMEM where allocation %d fails", oom_at);
    } while (failed);
}

int main(void)
{
    check_absent();
    check_round_trip();
    check_values();
    check_control_characters();
    check_skipped();
    check_again();
    check_errors();
    check_oom();
    return done();
}
