/* NVIDIA's driver library, played by tests/fake/nvml through the loader and the real symbols. The
 * build runs this with its folder in LD_LIBRARY_PATH ("now"), with that of an old driver's
 * ("old"), and with none ("absent"). */
#include "probe/nvidia/nvml.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>

#include "fixture.h"
#include "oom.h"
#include "probe/kernel/pack.h"
#include "probe/nvidia/nvml_abi.h"
#include "probe/source/source.h"
#include "tap.h"

extern const struct source_ops source_nvml;

enum { MS = 1000000, NVIDIA = 0x10de, RECORD_MAX = 1 << 20 };

#define FAKE "FAKE_NVML"

static struct nvml_reading reading;

/* What two GPUs answer, after a section [fake] with the given lines. */
static int play(const char *lines, struct err *e)
{
    CLEANUP(str_done) struct str script = STR_INIT(NVML_TEXT_MAX);

    str_addf(&script, "[fake]\n%s[nvml]\ndriver = 550\ncuda = 12040\n", lines);
    for (int i = 0; i < 2; i++)
        str_addf(&script,
                 "[gpu %d]\nbdf = %d:00.0\nname = H100\nuuid = U%d\nminor = %d\ncapability = 9.0\n"
                 "memory_b = 1000\npower_limit_mw = 7\nlink0 = up 6 gpu %d:00.0\n"
                 "peers = %s\n",
                 i, i + 1, i, i, 2 - i, i ? "ok x" : "x ok");
    fixture_script(FAKE, str_text(&script));
    return nvml_lib_read(&reading, NULL, e);
}

/* All that a driver said of a machine goes through the library's functions and comes out again. */
static void check_round_trip(const char *machine)
{
    CLEANUP(freep) char *script = fixture_file(machine, "brim/nvml.ini");
    CLEANUP(str_done) struct str out = STR_INIT(NVML_TEXT_MAX);
    struct err e = { "" };

    fixture_script(FAKE, script);
    is_int(nvml_lib_read(&reading, NULL, &e), 0, "%s: %s", machine, e.text);
    nvml_text_write(&reading, &out);
    is_str(str_text(&out), script, "%s: reads what the driver knows", machine);
}

static void check_errors(void)
{
    static const struct {
        const char *lines;
        int rc;
        const char *said;
    } cases[] = {
        { "nvmlInit_v2 = not_loaded\n", -ENODEV,
          "the NVIDIA kernel driver is not loaded: run modprobe nvidia, and look at dmesg if that "
          "fails" },
        { "nvmlInit_v2 = 18\n", -EPROTO,
          "libnvidia-ml.so.1 and the loaded NVIDIA kernel driver differ in version (an upgrade "
          "without a restart): reboot, or stop all that uses GPUs and reload the driver" },
        { "nvmlInit_v2 = no_permission\n", -EACCES,
          "nvmlInit_v2: no permission to use /dev/nvidiactl" },
        { "nvmlInit_v2 = 999\n", -EIO,
          "nvmlInit_v2 answers error 999: look at dmesg for lines with NVRM" },
        { "nvmlDeviceGetCount_v2 = 1\n", -EIO,
          "nvmlDeviceGetCount_v2 answers error 1: look at dmesg for lines with NVRM" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct err e = { "" };

        is_int(play(cases[i].lines, &e), cases[i].rc, "refused");
        is_str(e.text, cases[i].said, "the sentence");
    }
}

static void check_absent_fields(void)
{
    struct err e = { "" };

    is_int(play("nvmlDeviceGetUUID = not_supported\nnvmlDeviceGetMinorNumber.1 = no_permission\n"
                "nvmlDeviceGetMemoryInfo = 25\nnvmlDeviceGetNvLinkVersion = 2\n"
                "nvmlDeviceGetCudaComputeCapability.0 = 999\nnvmlDeviceGetP2PStatus.1 = 3\n",
                &e),
           0, "reads");
    is_str(reading.gpus[0].uuid, "", "not supported: no uuid");
    is_int(reading.gpus[0].minor, 0, "a number");
    is_int(reading.gpus[1].minor, ABSENT, "no permission: no number");
    is_int(reading.gpus[0].memory_b, ABSENT, "no memory");
    is_int(reading.gpus[0].capability, ABSENT, "no capability");
    is_int(reading.gpus[1].capability, 90, "but of the other one");
    is_int(reading.gpus[0].links[0].version, ABSENT, "no version of the link");
    is_str(reading.gpus[0].links[0].bdf, "0000:02:00.0", "but its other end");
    is_int(reading.gpus[0].ecc, ABSENT, "what the script does not say");
    is_int(reading.gpus[0].peers[1], NVML_P2P_OK, "peer access");
    is_int(reading.gpus[1].peers[0], NVML_PEER_ABSENT, "not known the other way round");
    ok(!reading.gpus[0].lost, "none is lost");
}

static void check_lost(void)
{
    struct err e = { "" };

    is_int(play("nvmlDeviceGetHandleByIndex_v2.0 = lost\n", &e), 0, "reads");
    ok(reading.gpus[0].lost, "GPU 0 is lost");
    is_str(reading.gpus[0].bdf, "", "and has no address");
    is_str(reading.gpus[1].name, "H100", "GPU 1 is read");
    is_int(reading.gpus[1].peers[0], NVML_PEER_ABSENT, "not asked about the lost one");

    is_int(play("nvmlDeviceGetMinorNumber.1 = lost\nnvmlDeviceGetMemoryInfo.1 = hang\n"
                "nvmlDeviceGetNvLinkState.1 = hang\nnvmlDeviceGetP2PStatus.1 = hang\n",
                &e),
           0, "reads");
    ok(reading.gpus[1].lost, "GPU 1 is lost on the way");
    is_str(reading.gpus[1].bdf, "0000:02:00.0", "what was read before is kept");
    is_int(reading.gpus[1].memory_b, ABSENT, "and nothing asked after that");
    is_int(reading.gpus[0].memory_b, 1000, "GPU 0 is read");
}

static void check_withheld(void)
{
    struct err e = { "" };

    is_int(play("nvmlDeviceGetHandleByIndex_v2.1 = no_permission\n", &e), 0, "reads");
    is_int(reading.gpus[1].error, NVML_NO_PERMISSION, "GPU 1 is withheld");
    ok(!reading.gpus[1].lost, "not lost");
    is_int(reading.gpus[0].error, ABSENT, "GPU 0 is not");
}

/* More GPUs than there is room for. */
static void check_many(void)
{
    struct err e = { "" };

    fixture_script(FAKE, "[nvml]\ncount = 70\n[gpu 63]\nname = last\n");
    is_int(nvml_lib_read(&reading, NULL, &e), 0, "reads");
    is_int(reading.count, 70, "counted");
    is_int(reading.n_gpus, NVML_GPUS, "those that there is room for");
    is_str(reading.gpus[63].name, "last", "the last of them");
}

static void check_old(void)
{
    struct err e = { "" };

    is_int(play("", &e), 0, "an old driver: %s", e.text);
    is_int(reading.n_gpus, 2, "GPUs");
    is_str(reading.driver, "550", "its version");
    is_int(reading.cuda, 12040, "CUDA");
    is_str(reading.gpus[1].bdf, "0000:02:00.0", "address, from the short structure");
    is_str(reading.gpus[1].name, "H100", "name");
    is_int(reading.gpus[1].power_limit_mw, 7, "power limit");
    is_int(reading.gpus[1].mig, ABSENT, "it knows no MIG");
    is_int(reading.gpus[1].fabric, ABSENT, "no fabric");
    is_int(reading.gpus[1].gpu_gen_max, ABSENT, "not what the GPU alone can do");
    is_int(reading.gpus[1].links[0].kind, ABSENT, "not what a link leads to");
    is_str(reading.gpus[1].links[0].bdf, "0000:01:00.0", "but where");
    is_int(reading.gpus[1].peers[0], NVML_P2P_OK, "peer access");
}

/* ---- as a source ---- */

static struct node *machine_with_gpu(void)
{
    struct node *n = node_new();
    struct pci *f = node_add_pci(n, (struct pci_address){ .bus = 1 });

    f->vendor = NVIDIA;
    node_add_device(n, DEVICE_ACCELERATOR)->pci = 0;
    return n;
}

static int probe_live(struct probe *p, struct node *n, struct str *record, struct err *e)
{
    CLEANUP(tree_closep) struct tree *t = NULL;
    int rc = tree_open_dir(&t, "/", e);

    if (rc < 0)
        return rc;
    p->tree = t;
    if (record)
        tree_record(t, record);
    rc = source_nvml.read(p, n, e);
    if (record && tree_record_end(t) < 0)
        return -EFBIG;
    return rc;
}

static int probe_recorded(const struct str *record, struct node *n, struct err *e)
{
    CLEANUP(tree_closep) struct tree *t = NULL;
    struct probe p = { .patience_ns = 1 };
    int rc = tree_open_pack(&t, "machine.pack", record->data, record->len, e);

    p.tree = t;
    return rc < 0 ? rc : source_nvml.read(&p, n, e);
}

/* A recording is as good as the machine. */
static void check_record(void)
{
    CLEANUP(str_done) struct str record = STR_INIT(RECORD_MAX);
    CLEANUP(node_freep) struct node *n = machine_with_gpu();
    CLEANUP(node_freep) struct node *again = machine_with_gpu();
    struct probe p = { .patience_ns = 10000ll * MS };
    struct err e = { "" };

    play("nvmlDeviceGetName = 100ms\n", &e);
    is_int(probe_live(&p, n, &record, &e), 0, "live: %s", e.text);
    is_int(p.n_troubles, 0, "no trouble");
    is_int(n->n_devices, 2, "devices");
    is_str(n->devices[0].product, "H100", "a call that comes late is waited for");
    is_int(n->devices[0].acc.memory_b, 1000, "memory");
    is_int(n->n_links, 1, "links");
    setenv(FAKE, "/nowhere", 1);
    is_int(probe_recorded(&record, again, &e), 0, "recorded: %s", e.text);
    is_int(again->n_devices, 2, "devices");
    is_str(again->devices[1].acc.uuid, "U1", "uuid");
    is_int(again->n_links, 1, "links");
    is_int(again->peers[1], PEER_OK, "peers");
}

static void check_recordings(void)
{
    static const char broken[] = "[nvml]\ncuda = ?\n";
    CLEANUP(str_done) struct str record = STR_INIT(RECORD_MAX);
    CLEANUP(node_freep) struct node *n = machine_with_gpu();
    struct err e = { "" };

    pack_begin(&record);
    pack_end(&record, 0);
    is_int(probe_recorded(&record, n, &e), 0, "a recording without the driver's answers");
    is_int(n->n_devices, 1, "adds nothing");
    str_reset(&record);
    pack_begin(&record);
    pack_add(&record, 'f', "brim/nvml.ini", broken, strlen(broken));
    pack_end(&record, 1);
    is_int(probe_recorded(&record, n, &e), -EINVAL, "broken answers");
    is_str(e.text, "brim/nvml.ini:2: cuda: '?' is not a number", "the sentence");
}

static void check_troubles(void)
{
    CLEANUP(node_freep) struct node *n = machine_with_gpu();
    struct probe p = { .patience_ns = 10000ll * MS };
    struct err e = { "" };

    play("nvmlDeviceGetHandleByIndex_v2.0 = no_permission\n"
         "nvmlDeviceGetHandleByIndex_v2.1 = 16\n",
         &e);
    is_int(probe_live(&p, n, NULL, &e), 0, "goes on");
    is_int(p.n_troubles, 2, "troubles");
    is_str(p.troubles[0].text,
           "GPU 0: no permission: a container or job that was not given this GPU", "the first");
    is_str(p.troubles[1].text,
           "GPU 1: the driver answers error 16: look at dmesg for lines with NVRM", "the second");
    is_int(n->n_devices, 1, "no device is invented");

    fixture_script(FAKE, "[nvml]\ncount = 70\n");
    is_int(probe_live(&p, n, NULL, &e), 0, "goes on");
    is_str(p.troubles[2].text, "the driver has 70 GPUs, only the first 64 were asked", "the third");
}

/* No driver is no trouble, but where there are GPUs. */
static void check_no_driver(const char *said)
{
    CLEANUP(node_freep) struct node *without = node_new();
    CLEANUP(node_freep) struct node *with = machine_with_gpu();
    struct probe p = { .patience_ns = 10000ll * MS };
    struct err e = { "" };

    is_int(probe_live(&p, without, NULL, &e), 0, "no driver");
    is_int(p.n_troubles, 0, "none is missed");
    is_int(probe_live(&p, with, NULL, &e), 0, "no driver, a GPU");
    is_int(p.n_troubles, 1, "it is missed");
    ok(strstr(p.troubles[0].text, said) != NULL, "the sentence: %s", p.troubles[0].text);
    is_int(with->n_devices, 1, "the GPU is there");
}

static void check_oom(void)
{
    bool failed;

    play("", NULL);
    do {
        CLEANUP(node_freep) struct node *n = machine_with_gpu();
        CLEANUP(tree_closep) struct tree *t = NULL;
        struct probe p = { .patience_ns = 10000ll * MS };
        struct err e = { "" };
        int rc = tree_open_dir(&t, "/", &e);

        p.tree = t;
        oom_next();
        rc = rc < 0 ? rc : source_nvml.read(&p, n, &e);
        failed = oom_end();
        is_int(rc, failed ? -ENOMEM : 0, "live, allocation %d", oom_at);
    } while (failed);
}

static void check_oom_recorded(void)
{
    CLEANUP(str_done) struct str record = STR_INIT(RECORD_MAX);
    struct probe p = { .patience_ns = 10000ll * MS };
    CLEANUP(node_freep) struct node *live = machine_with_gpu();
    struct err e = { "" };
    bool failed;

    play("", NULL);
    is_int(probe_live(&p, live, &record, &e), 0, "recorded");
    oom_restart();
    do {
        CLEANUP(node_freep) struct node *n = machine_with_gpu();
        CLEANUP(tree_closep) struct tree *t = NULL;
        int rc = tree_open_pack(&t, "pack", record.data, record.len, &e);

        p.tree = t;
        oom_next();
        rc = rc < 0 ? rc : source_nvml.read(&p, n, &e);
        failed = oom_end();
        is_int(rc, failed ? -ENOMEM : 0, "recorded, allocation %d", oom_at);
    } while (failed);
}

/* Comes last: the thread that hangs stays behind. */
static void check_hang(const char *call, const char *said)
{
    CLEANUP(node_freep) struct node *n = machine_with_gpu();
    CLEANUP(str_done) struct str script = STR_INIT(4096);
    struct probe p = { .patience_ns = 200 * MS };
    struct err e = { "" };

    str_addf(&script, "[fake]\n%s = hang\n[gpu 3]\nname = H100\nlink0 = up\n", call);
    fixture_script(FAKE, str_text(&script));
    is_int(probe_live(&p, n, NULL, &e), -ETIMEDOUT, "%s hangs", call);
    is_str(e.text, said, "the sentence");
    is_int(n->n_devices, 1, "the node is left as it was");
}

#define WAY_OUT \
    "look at dmesg for lines with NVRM or Xid; a GPU whose driver hangs needs a reset or a reboot"

static void check_now(void)
{
    check_round_trip("cloud-vm");
    check_round_trip("dgx-a100");
    check_round_trip("dgx-h100");
    check_round_trip("grace-hopper");
    check_round_trip("l40s-bad");
    check_round_trip("two-socket");
    check_round_trip("workstation");
    check_errors();
    check_absent_fields();
    check_lost();
    check_withheld();
    check_many();
    check_record();
    check_recordings();
    check_troubles();
    check_oom();
    check_oom_recorded();
    unsetenv(FAKE);
    check_no_driver("the NVIDIA kernel driver is not loaded: run modprobe nvidia");
}

static void check_hangs(void)
{
    check_hang("nvmlDeviceGetPowerManagementLimit.3",
               "nvmlDeviceGetPowerManagementLimit of GPU 3 has not answered for 0.2 s: " WAY_OUT);
    check_hang("nvmlDeviceGetNvLinkVersion.3",
               "nvmlDeviceGetNvLinkVersion of GPU 3 has not answered for 0.2 s: " WAY_OUT);
    check_hang("nvmlInit_v2", "nvmlInit_v2 has not answered for 0.2 s: " WAY_OUT);
    check_hang("nvmlShutdown", "nvmlShutdown has not answered for 0.2 s: " WAY_OUT);
}

static void check_absent(void)
{
    void *library = dlopen("libnvidia-ml.so.1", RTLD_LAZY);
    struct err e = { "" };

    if (library) {
        dlclose(library);
        ok(true, "no library # SKIP this machine has one");
        return;
    }
    is_int(nvml_lib_read(&reading, NULL, &e), -ENODEV, "no library");
    ok(strstr(e.text, "no NVIDIA driver library: libnvidia-ml.so.1: ") == e.text, "%s", e.text);
    check_no_driver("no NVIDIA driver library: libnvidia-ml.so.1: ");
}

int main(int argc, char **argv)
{
    const char *driver = argc > 1 ? argv[1] : "absent";

    if (strcmp(driver, "now") == 0)
        check_now();
    else if (strcmp(driver, "hangs") == 0)
        check_hangs();
    else if (strcmp(driver, "old") == 0)
        check_old();
    else
        check_absent();
    fixture_done(FAKE);
    return done();
}
