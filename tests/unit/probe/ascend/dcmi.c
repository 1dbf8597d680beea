/* Huawei's driver library, played by tests/fake/dcmi. The build runs this with its folder in
 * LD_LIBRARY_PATH ("now", and "hangs"), with one that lacks much ("bare") or what none lacks
 * ("damaged"), and with none ("absent"). */
#include "probe/ascend/dcmi.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>

#include "../../../fake/dcmi/fake_dcmi.h"
#include "fixture.h"
#include "folder.h"
#include "oom.h"
#include "probe/kernel/pack.h"
#include "probe/source/source.h"
#include "tap.h"

extern const struct source_ops source_dcmi;

enum { MS = 1000000, HUAWEI = 0x19e5, RECORD_MAX = 1 << 20 };

#define FAKE "FAKE_DCMI"

static const char chips[] = "[npu 0]\n"
                            "card = 0\n"
                            "device = 0\n"
                            "bdf = 0000:c1:00.0\n"
                            "type = Ascend\n"
                            "name = 910B1\n"
                            "version = V1\n"
                            "cores = 24\n"
                            "memory_b = 68719476736\n"
                            "health = 0\n"
                            "\n"
                            "[npu 1]\n"
                            "card = 4\n"
                            "device = 0\n"
                            "bdf = 0000:01:00.0\n"
                            "name = 910A\n"
                            "memory_b = 34359738368\n"
                            "health = 2\n"
                            "\n"
                            "[npu 2]\n"
                            "card = 4\n"
                            "device = 1\n"
                            "name = 910A\n"
                            "lost = yes\n";

static struct dcmi_reading reading;

static int play(const char *lines, struct err *e)
{
    CLEANUP(str_done) struct str script = STR_INIT(DCMI_TEXT_MAX);

    str_addf(&script, "[fake]\n%s%s", lines, chips);
    fixture_script(FAKE, str_text(&script));
    return dcmi_lib_read(&reading, NULL, e);
}

static void check_text(void)
{
    CLEANUP(str_done) struct str out = STR_INIT(DCMI_TEXT_MAX);
    struct err e = { "" };

    is_int(dcmi_text_read("d.ini", chips, strlen(chips), &reading, &e), 0,
           "dcmi_text_read reads three NPUs: %s", e.text);
    dcmi_text_write(&reading, &out);
    is_str(str_text(&out), chips, "dcmi_text_write writes what was read");
    is_int(dcmi_text_read("d.ini", "[npu 0]\ncard = x\n", 17, &reading, &e), -EINVAL,
           "dcmi_text_read refuses a card that is no number");
    is_str(e.text, "d.ini:2: card: 'x' is not a number", "the error names the line and the card");
    is_int(dcmi_text_read("d.ini", "[npu 64]\n", 9, &reading, &e), -EINVAL,
           "dcmi_text_read refuses NPU 64");
    is_str(e.text, "d.ini:1: [npu 64]: these are numbered from 0 to 63",
           "the error names the numbers that NPUs may have");
}

static void check_round_trip(void)
{
    CLEANUP(freep) char *script = fixture_file("ascend-910b", "brim/dcmi.ini");
    CLEANUP(str_done) struct str out = STR_INIT(DCMI_TEXT_MAX);
    struct err e = { "" };

    fixture_script(FAKE, script);
    is_int(dcmi_lib_read(&reading, NULL, &e), 0, "dcmi_lib_read reads eight 910B: %s", e.text);
    dcmi_text_write(&reading, &out);
    is_str(str_text(&out), script, "dcmi_lib_read reads what the driver knows of eight 910B");
}

static void check_library(void)
{
    CLEANUP(str_done) struct str out = STR_INIT(DCMI_TEXT_MAX);
    struct err e = { "" };

    is_int(play("", &e), 0, "dcmi_lib_read reads three NPUs: %s", e.text);
    dcmi_text_write(&reading, &out);
    is_str(str_text(&out), chips, "dcmi_lib_read reads memory from MiB and from KiB");

    is_int(play("dcmi_get_device_pcie_info_v2.0 = lost\ndcmi_get_device_hbm_info.1 = -8255\n"
                "dcmi_get_device_chip_info.1 = no_permission\n",
                &e),
           0, "dcmi_lib_read goes on where calls fail");
    ok(reading.chips[0].lost, "a chip that does not exist is lost");
    is_int(reading.chips[0].memory_b, ABSENT, "a lost chip has no memory");
    is_int(reading.chips[1].memory_b, ABSENT, "memory that is not supported is absent");
    is_str(reading.chips[1].name, "", "a name that is not permitted is empty");
    is_str(reading.chips[1].bdf, "0000:01:00.0", "a chip without a name has its address");

    is_int(play("dcmi_init = -8005\n", &e), -ENODEV,
           "dcmi_lib_read fails where the driver does not start");
    is_str(e.text, "dcmi_init answers error -8005: is the Ascend driver loaded? see npu-smi info",
           "the error has the driver's code and the way out");
    is_int(play("dcmi_get_card_list = -8006\n", &e), -EIO,
           "dcmi_lib_read fails without a list of cards");
    is_str(e.text, "dcmi_get_card_list answers error -8006: see npu-smi info",
           "the error names the call that has no list");
}

/* Numbers at the limits of what they can be. */
static void check_limits(void)
{
    static const struct {
        const char *lines, *bdf;
    } addresses[] = {
        { "value.bus = 255\nvalue.dev = 31\nvalue.fn = 7\n", "0000:ff:1f.7" },
        { "value.bus = 256\n", "" },
        { "value.dev = 32\n", "" },
        { "value.fn = 8\n", "" },
        { "value.domain = 65535\n", "ffff:c1:00.0" },
        { "value.domain = -1\n", "" },
    };
    static const struct {
        unsigned long long size, of;
        int64_t bytes;
    } memory[] = {
        { 0, 0, ABSENT },
        { 1, 1, 1 << 20 },
        { 2, 1, ABSENT },
        { 3, 4 << 20, 3 << 20 },
        { 3, (4 << 20) + 1, 3 << 10 },
        { 3, 1ull << 32, 3 << 10 },
        { 3, (1ull << 32) + 1, ABSENT },
    };
    struct err e = { "" };

    for (size_t i = 0; i < ARRAY_SIZE(addresses); i++) {
        is_int(play(addresses[i].lines, &e), 0, "dcmi_lib_read goes on with any address");
        is_str(reading.chips[0].bdf, addresses[i].bdf, "an address of a chip is '%s'",
               addresses[i].bdf);
    }
    for (size_t i = 0; i < ARRAY_SIZE(memory); i++)
        is_int(dcmi_hbm_bytes(memory[i].size, memory[i].of), memory[i].bytes,
               "%llu of %llu that a driver tells are bytes or nothing", memory[i].size,
               memory[i].of);
    is_int(play("value.health = 2147483647\nvalue.cores = 2147483647\n", &e), 0,
           "dcmi_lib_read reads the largest numbers");
    is_int(reading.chips[0].health, 2147483647, "the largest health is kept");
    is_int(reading.chips[0].cores, 2147483647, "the largest number of cores is kept");
    is_int(play("value.health = -2\nvalue.cores = -2\n", &e), 0,
           "dcmi_lib_read reads numbers that are too large");
    is_int(reading.chips[0].health, ABSENT, "a health that is too large is absent");
    is_int(reading.chips[0].cores, ABSENT, "a number of cores that is too large is absent");
    ok(!reading.chips[0].lost, "a chip of any health is not lost");
}

/* Nothing more is asked of a chip that is lost; the number of calls until then. */
static void check_lost_calls(void)
{
    static const struct {
        const char *call;
        unsigned calls;
    } cases[] = {
        { "dcmi_get_device_pcie_info_v2", 1 },
        { "dcmi_get_device_chip_info", 2 },
        { "dcmi_get_device_hbm_info", 3 },
        { "dcmi_get_device_health", 4 },
    };
    void *library = dlopen("libdcmi.so", RTLD_LAZY);
    fake_dcmi_calls_fn *calls = NULL;

    if (library)
        *(void **)(void *)&calls = dlsym(library, "fake_calls");
    if (!ok(calls != NULL, "the driver counts calls"))
        return;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char lines[80];

        snprintf(lines, sizeof(lines), "%s.0 = lost\n", cases[i].call);
        is_int(play(lines, NULL), 0, "dcmi_lib_read goes on after %s", cases[i].call);
        ok(reading.chips[0].lost, "%s tells that a chip is lost", cases[i].call);
        is_int(calls(0), cases[i].calls, "a chip is not asked after %s of a lost one",
               cases[i].call);
        is_int(calls(1), 4, "the chip beside a lost one is asked four times");
    }
    dlclose(library);
}

/* A driver with the functions that all have, and the older one for addresses. */
static void check_bare(void)
{
    struct err e = { "" };

    is_int(play("", &e), 0, "dcmi_lib_read reads a driver that lacks much: %s", e.text);
    is_int(reading.n_chips, 3, "a driver that lacks much has its chips");
    is_int(reading.chips[1].card, 4, "a chip of a driver that lacks much has its card");
    is_int(reading.chips[2].device, 1, "a chip of a driver that lacks much has its number");
    is_str(reading.chips[0].bdf, "0000:07:03.1", "the older function tells addresses");
    is_str(reading.chips[0].name, "", "a driver that lacks much knows no name");
    is_int(reading.chips[0].memory_b, ABSENT, "a driver that lacks much knows no memory");
    is_int(reading.chips[0].health, ABSENT, "a driver that lacks much knows no health");
    is_int(play("value.bus = 256\n", &e), 0, "dcmi_lib_read goes on with any older address");
    is_str(reading.chips[0].bdf, "", "an older address that cannot be is none");
    is_int(play("dcmi_get_device_pcie_info.0 = lost\n", &e), 0,
           "dcmi_lib_read goes on when the older function tells that a chip is lost");
    ok(reading.chips[0].lost, "the older function tells that a chip is lost");
    is_str(reading.chips[0].bdf, "", "a chip that is lost has no older address");
    is_int(play("dcmi_get_device_num_in_card.4 = -8002\n", &e), 0,
           "dcmi_lib_read goes on where a card does not tell its chips");
    is_int(reading.n_chips, 1, "a card that does not tell its chips has none");
}

static void check_damaged(void)
{
    struct err e = { "" };

    is_int(play("", &e), -ENOSYS, "dcmi_lib_read refuses a damaged library");
    is_str(e.text, "libdcmi.so has no dcmi_get_card_list: it is not Huawei's, or damaged",
           "the error names the function that is missing");
}

static struct node *machine_with_npu(void)
{
    struct node *n = node_new();
    struct pci *f = node_add_pci(n, (struct pci_address){ .bus = 0xc1 });

    f->vendor = HUAWEI;
    node_add_device(n, DEVICE_ACCELERATOR)->pci = 0;
    return n;
}

static void is_applied(const struct node *n)
{
    is_int(n->n_devices, 3, "the node has the three devices of the driver");
    is_str(n->devices[0].product, "Ascend 910B1", "a device has type and name as its product");
    is_str(n->devices[0].acc.arch, "Ascend910B1", "a device has type and name as its architecture");
    is_int(n->devices[0].acc.memory_b, 64ll << 30, "a device has its memory in bytes");
    is_int(n->devices[0].pci, 0, "the device that was there keeps its function");
    ok(!n->devices[0].acc.lost, "the device that was there is not lost");
    is_str(n->devices[1].product, "910A", "a device without a type has its name as product");
    is_int(n->devices[2].acc.memory_b, ABSENT, "a device whose memory was not read has none");
    ok(n->devices[2].acc.lost, "a device that the driver lost is lost");
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
    rc = source_dcmi.read(p, n, e);
    if (record && tree_record_end(t) != 0)
        return -EFBIG;
    return rc;
}

static void check_source(void)
{
    CLEANUP(str_done) struct str record = STR_INIT(RECORD_MAX);
    CLEANUP(node_freep) struct node *n = machine_with_npu();
    CLEANUP(node_freep) struct node *again = machine_with_npu();
    CLEANUP(tree_closep) struct tree *t = NULL;
    struct probe p = { .patience_ns = 10000ll * MS };
    struct err e = { "" };

    play("", &e);
    is_int(probe_live(&p, n, &record, &e), 0, "source_dcmi reads the live driver: %s", e.text);
    is_applied(n);
    is_int(tree_open_pack(&t, "pack", record.data, record.len, &e), 0,
           "a recording of the driver's answers opens");
    p.tree = t;
    is_int(source_dcmi.read(&p, again, &e), 0, "source_dcmi reads the recording: %s", e.text);
    is_applied(again);
}

static void check_oom(void)
{
    bool failed;

    play("", NULL);
    do {
        CLEANUP(node_freep) struct node *n = machine_with_npu();
        CLEANUP(tree_closep) struct tree *t = NULL;
        struct probe p = { .patience_ns = 10000ll * MS };
        struct err e = { "" };
        int rc = tree_open_dir(&t, "/", &e);

        p.tree = t;
        oom_next();
        rc = rc < 0 ? rc : source_dcmi.read(&p, n, &e);
        failed = oom_end();
        is_int(rc, failed ? -ENOMEM : 0, "source_dcmi returns -ENOMEM where allocation %d fails",
               oom_at);
    } while (failed);
}

/* Comes last: the thread that hangs stays behind. */
static void check_hang(void)
{
    CLEANUP(node_freep) struct node *n = machine_with_npu();
    CLEANUP(str_done) struct str script = STR_INIT(4096);
    struct probe p = { .patience_ns = 200 * MS };
    struct err e = { "" };

    str_addf(&script, "[fake]\ndcmi_get_device_health.1 = hang\n%s", chips);
    fixture_script(FAKE, str_text(&script));
    is_int(probe_live(&p, n, NULL, &e), -ETIMEDOUT, "source_dcmi gives up on a driver that hangs");
    is_str(e.text,
           "dcmi_get_device_health of NPU 1 has not answered for 0.2 s: look at npu-smi info and "
           "dmesg; an NPU whose driver hangs needs a reset or a reboot",
           "the error names the call, the NPU and the way out");
}

static void check_absent(void)
{
    void *library = dlopen("libdcmi.so", RTLD_LAZY);
    CLEANUP(node_freep) struct node *n = machine_with_npu();
    struct probe p = { .patience_ns = 10000ll * MS };
    struct err e = { "" };

    if (library) {
        dlclose(library);
        ok(true, "the driver library is absent # SKIP this machine has one");
        return;
    }
    is_int(dcmi_lib_read(&reading, NULL, &e), -ENODEV, "dcmi_lib_read fails without a library");
    ok(strstr(e.text, "no Ascend driver library: libdcmi.so: ") == e.text,
       "the error names the missing library: %s", e.text);
    is_int(probe_live(&p, n, NULL, &e), 0, "source_dcmi succeeds on an NPU without a library");
    is_int(p.n_troubles, 1, "a library that is missing for an NPU is a trouble");
}

/* What a copied machine has in place of the driver's answers. */
static void check_copies(void)
{
    static const struct {
        const char *file, *text;
        int rc;
        const char *said;
    } copies[] = {
        { "proc/none", "", 0, "" },
        { "brim", "", 0, "" },
        { "brim/dcmi.ini/a", "", -EISDIR, "brim/dcmi.ini: Is a directory" },
        { "brim/dcmi.ini", "[npu 64]\n", -EINVAL,
          "brim/dcmi.ini:1: [npu 64]: these are numbered from 0 to 63" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(copies); i++) {
        CLEANUP(node_freep) struct node *n = machine_with_npu();
        CLEANUP(tree_closep) struct tree *t = NULL;
        struct probe p = { .patience_ns = MS };
        struct err e = { "" };
        char root[PATH_MAX];

        folder_make(root);
        folder_text(root, copies[i].file, copies[i].text);
        folder_need(tree_open_dir(&t, root, &e), root);
        p.tree = t;
        is_int(source_dcmi.read(&p, n, &e), copies[i].rc, "source_dcmi reads a copy with %s",
               copies[i].file);
        is_str(e.text, copies[i].said, "source_dcmi says what is wrong with a copy with %s",
               copies[i].file);
        folder_remove(root);
    }
}

int main(int argc, char **argv)
{
    const char *driver = argc > 1 ? argv[1] : "absent";

    if (strcmp(driver, "now") == 0) {
        check_text();
        check_round_trip();
        check_library();
        check_limits();
        check_lost_calls();
        check_source();
        check_oom();
        if (folder_can_copy())
            check_copies();
    } else if (strcmp(driver, "hangs") == 0) {
        check_hang();
    } else if (strcmp(driver, "bare") == 0) {
        check_bare();
    } else if (strcmp(driver, "damaged") == 0) {
        check_damaged();
    } else {
        check_absent();
    }
    fixture_done();
    return done();
}
