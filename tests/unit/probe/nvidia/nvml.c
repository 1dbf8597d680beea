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
    is_int(nvml_lib_read(&reading, NULL, &e), 0, "nvml_lib_read reads %s: %s", machine, e.text);
    nvml_text_write(&reading, &out);
    is_str(str_text(&out), script, "nvml_lib_read reads what the driver of %s knows", machine);
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

        is_int(play(cases[i].lines, &e), cases[i].rc, "nvml_lib_read returns its code: %s",
               cases[i].said);
        is_str(e.text, cases[i].said, "nvml_lib_read says: %s", cases[i].said);
    }
}

static void check_absent_fields(void)
{
    struct err e = { "" };

    is_int(play("nvmlDeviceGetUUID = not_supported\nnvmlDeviceGetMinorNumber.1 = no_permission\n"
                "nvmlDeviceGetMemoryInfo = 25\nnvmlDeviceGetNvLinkVersion = 2\n"
                "nvmlDeviceGetCudaComputeCapability.0 = 999\nnvmlDeviceGetP2PStatus.1 = 3\n",
                &e),
           0, "nvml_lib_read goes on where calls fail");
    is_str(reading.gpus[0].uuid, "", "a uuid that is not supported is empty");
    is_int(reading.gpus[0].minor, 0, "the number of GPU 0 is read");
    is_int(reading.gpus[1].minor, ABSENT, "a number without permission is absent");
    is_int(reading.gpus[0].memory_b, ABSENT, "memory whose call fails is absent");
    is_int(reading.gpus[0].capability, ABSENT, "a capability whose call fails is absent");
    is_int(reading.gpus[1].capability, 90, "the capability of the other GPU is read");
    is_int(reading.gpus[0].links[0].version, ABSENT, "a link's version whose call fails is absent");
    is_str(reading.gpus[0].links[0].bdf, "0000:02:00.0",
           "a link without a version has its other end");
    is_int(reading.gpus[0].ecc, ABSENT, "ECC, which the script lacks, is absent");
    is_int(reading.gpus[0].peers[1], NVML_P2P_OK, "GPU 0 has peer access to GPU 1");
    is_int(reading.gpus[1].peers[0], NVML_PEER_ABSENT, "peer access whose call fails is absent");
    ok(!reading.gpus[0].lost, "a GPU whose calls fail is not lost");
}

static void check_lost(void)
{
    struct err e = { "" };

    is_int(play("nvmlDeviceGetHandleByIndex_v2.0 = lost\n", &e), 0,
           "nvml_lib_read goes on without GPU 0");
    ok(reading.gpus[0].lost, "GPU 0 without a handle is lost");
    is_str(reading.gpus[0].bdf, "", "a lost GPU has no address");
    is_str(reading.gpus[1].name, "H100", "GPU 1 is read beside a lost one");
    is_int(reading.gpus[1].peers[0], NVML_PEER_ABSENT, "GPU 1 is not asked about the lost one");

    is_int(play("nvmlDeviceGetMinorNumber.1 = lost\nnvmlDeviceGetMemoryInfo.1 = hang\n"
                "nvmlDeviceGetNvLinkState.1 = hang\nnvmlDeviceGetP2PStatus.1 = hang\n",
                &e),
           0, "nvml_lib_read goes on when GPU 1 is lost on the way");
    ok(reading.gpus[1].lost, "GPU 1 is lost on the way");
    is_str(reading.gpus[1].bdf, "0000:02:00.0", "what was read before a GPU was lost is kept");
    is_int(reading.gpus[1].memory_b, ABSENT, "nothing is asked of a GPU that was lost");
    is_int(reading.gpus[0].memory_b, 1000, "GPU 0 is read beside one lost on the way");
}

static void check_withheld(void)
{
    struct err e = { "" };

    is_int(play("nvmlDeviceGetHandleByIndex_v2.1 = no_permission\n", &e), 0,
           "nvml_lib_read goes on without permission for GPU 1");
    is_int(reading.gpus[1].error, NVML_NO_PERMISSION, "GPU 1 has the error of its permission");
    ok(!reading.gpus[1].lost, "a GPU without permission is not lost");
    is_int(reading.gpus[0].error, ABSENT, "GPU 0 has no error beside one without permission");
}

/* More GPUs than there is room for. */
static void check_many(void)
{
    struct err e = { "" };

    fixture_script(FAKE, "[nvml]\ncount = 70\n[gpu 63]\nname = last\n");
    is_int(nvml_lib_read(&reading, NULL, &e), 0, "nvml_lib_read reads 70 GPUs");
    is_int(reading.count, 70, "all 70 GPUs are counted");
    is_int(reading.n_gpus, NVML_GPUS, "64 GPUs, as there is room for, are read");
    is_str(reading.gpus[63].name, "last", "the last GPU that there is room for has its name");
}

static void check_old(void)
{
    struct err e = { "" };

    is_int(play("", &e), 0, "nvml_lib_read reads an old driver: %s", e.text);
    is_int(reading.n_gpus, 2, "an old driver has its two GPUs");
    is_str(reading.driver, "550", "an old driver has its version");
    is_int(reading.cuda, 12040, "an old driver has its CUDA version");
    is_str(reading.gpus[1].bdf, "0000:02:00.0",
           "an old driver has addresses in the short structure");
    is_str(reading.gpus[1].name, "H100", "an old driver has a GPU's name");
    is_int(reading.gpus[1].power_limit_mw, 7, "an old driver has a GPU's power limit");
    is_int(reading.gpus[1].mig, ABSENT, "an old driver knows no MIG");
    is_int(reading.gpus[1].fabric, ABSENT, "an old driver knows no fabric");
    is_int(reading.gpus[1].gpu_gen_max, ABSENT,
           "an old driver does not know what the GPU alone can do");
    is_int(reading.gpus[1].links[0].kind, ABSENT,
           "an old driver does not know what a link leads to");
    is_str(reading.gpus[1].links[0].bdf, "0000:01:00.0",
           "an old driver knows the address that a link leads to");
    is_int(reading.gpus[1].peers[0], NVML_P2P_OK, "an old driver knows peer access");
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
    if (record && tree_record_end(t) != 0)
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
    is_int(probe_live(&p, n, &record, &e), 0, "source_nvml reads the live driver: %s", e.text);
    is_int(p.n_troubles, 0, "a driver that answers makes no trouble");
    is_int(n->n_devices, 2, "the node has both GPUs of the driver");
    is_str(n->devices[0].product, "H100", "a call that comes late is waited for");
    is_int(n->devices[0].acc.memory_b, 1000, "the device has the driver's memory");
    is_int(n->n_links, 1, "two GPUs have one bundle of links");
    setenv(FAKE, "/nowhere", 1);
    is_int(probe_recorded(&record, again, &e), 0, "source_nvml reads the recording: %s", e.text);
    is_int(again->n_devices, 2, "the recorded node has both GPUs");
    is_str(again->devices[1].acc.uuid, "U1", "the recorded device has its uuid");
    is_int(again->n_links, 1, "the recorded GPUs have their bundle of links");
    is_int(again->peers[1], PEER_OK, "the recorded GPUs have their peer access");
}

static void check_recordings(void)
{
    static const char broken[] = "[nvml]\ncuda = ?\n";
    CLEANUP(str_done) struct str record = STR_INIT(RECORD_MAX);
    CLEANUP(node_freep) struct node *n = machine_with_gpu();
    struct err e = { "" };

    pack_begin(&record);
    pack_end(&record, 0);
    is_int(probe_recorded(&record, n, &e), 0, "source_nvml succeeds without the driver's answers");
    is_int(n->n_devices, 1, "a recording without answers adds no device");
    str_reset(&record);
    pack_begin(&record);
    pack_add(&record, 'f', "brim/nvml.ini", broken, strlen(broken));
    pack_end(&record, 1);
    is_int(probe_recorded(&record, n, &e), -EINVAL,
           "source_nvml refuses broken answers of a recording");
    is_str(e.text, "brim/nvml.ini:2: cuda: '?' is not a number",
           "the error names the line of the broken answers");
}

static void check_troubles(void)
{
    CLEANUP(node_freep) struct node *n = machine_with_gpu();
    struct probe p = { .patience_ns = 10000ll * MS };
    struct err e = { "" };

    play("nvmlDeviceGetHandleByIndex_v2.0 = no_permission\n"
         "nvmlDeviceGetHandleByIndex_v2.1 = 16\n",
         &e);
    is_int(probe_live(&p, n, NULL, &e), 0, "source_nvml goes on where GPUs are withheld");
    is_int(p.n_troubles, 2, "each GPU that is withheld is a trouble");
    is_str(p.troubles[0].text,
           "GPU 0: no permission: a container or job that was not given this GPU",
           "the first trouble is the missing permission");
    is_str(p.troubles[1].text,
           "GPU 1: the driver answers error 16: look at dmesg for lines with NVRM",
           "the second trouble is the driver's error");
    is_int(n->n_devices, 1, "no device is made of a GPU that is withheld");

    fixture_script(FAKE, "[nvml]\ncount = 70\n");
    is_int(probe_live(&p, n, NULL, &e), 0, "source_nvml goes on with 70 GPUs");
    is_str(p.troubles[2].text, "the driver has 70 GPUs, only the first 64 were asked",
           "the third trouble is that only 64 GPUs were asked");
}

/* No driver is no trouble, but where there are GPUs. */
static void check_no_driver(const char *said)
{
    CLEANUP(node_freep) struct node *without = node_new();
    CLEANUP(node_freep) struct node *with = machine_with_gpu();
    struct probe p = { .patience_ns = 10000ll * MS };
    struct err e = { "" };

    is_int(probe_live(&p, without, NULL, &e), 0, "source_nvml succeeds without a driver and a GPU");
    is_int(p.n_troubles, 0, "a driver is not missed without a GPU");
    is_int(probe_live(&p, with, NULL, &e), 0, "source_nvml succeeds on a GPU without a driver");
    is_int(p.n_troubles, 1, "a driver that a GPU lacks is a trouble");
    ok(strstr(p.troubles[0].text, said) != NULL, "the trouble names what is missing: %s",
       p.troubles[0].text);
    is_int(with->n_devices, 1, "the GPU without a driver is a device");
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
        is_int(rc, failed ? -ENOMEM : 0,
               "source_nvml on a live driver returns -ENOMEM where allocation %d fails", oom_at);
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
    is_int(probe_live(&p, live, &record, &e), 0, "source_nvml records a live driver");
    oom_restart();
    do {
        CLEANUP(node_freep) struct node *n = machine_with_gpu();
        CLEANUP(tree_closep) struct tree *t = NULL;
        int rc = tree_open_pack(&t, "pack", record.data, record.len, &e);

        p.tree = t;
        oom_next();
        rc = rc < 0 ? rc : source_nvml.read(&p, n, &e);
        failed = oom_end();
        is_int(rc, failed ? -ENOMEM : 0,
               "source_nvml on a recording returns -ENOMEM where allocation %d fails", oom_at);
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
    is_int(probe_live(&p, n, NULL, &e), -ETIMEDOUT, "source_nvml gives up where %s hangs", call);
    is_str(e.text, said, "the error names %s and the way out", call);
    is_int(n->n_devices, 1, "the node is left as it was where %s hangs", call);
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
        ok(true, "the driver library is absent # SKIP this machine has one");
        return;
    }
    is_int(nvml_lib_read(&reading, NULL, &e), -ENODEV, "nvml_lib_read fails without a library");
    ok(strstr(e.text, "no NVIDIA driver library: libnvidia-ml.so.1: ") == e.text,
       "the error names the missing library: %s", e.text);
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
    fixture_done();
    return done();
}
