#include "sampled.h"

extern const struct sampler_ops sampler_pcie;

#define BUS "sys/bus/pci/devices/"

/* A device whose link leads to path below sys/devices. */
static void add(const struct sampled *s, const char *path, const char *class, const char *speed,
                const char *width)
{
    char device[256], link[256], target[256];

    snprintf(device, sizeof(device), "sys/devices/%s/class", path);
    folder_text(s->folder, device, class);
    snprintf(device, sizeof(device), "sys/devices/%s/current_link_speed", path);
    folder_text(s->folder, device, speed);
    snprintf(device, sizeof(device), "sys/devices/%s/current_link_width", path);
    folder_text(s->folder, device, width);
    snprintf(link, sizeof(link), BUS "%s", strrchr(path, '/') + 1);
    snprintf(target, sizeof(target), "../../../devices/%s", path);
    folder_link(s->folder, link, target);
}

#define ROOT "pci0000:15/0000:15:01.0"
#define GPU ROOT "/0000:16:00.0/0000:17:00.0/0000:18:00.0"

static void make(const struct sampled *s)
{
    add(s, ROOT, "0x060400\n", "32.0 GT/s PCIe\n", "16\n");
    add(s, ROOT "/0000:16:00.0", "0x060400\n", "32.0 GT/s PCIe\n", "16\n");
    add(s, ROOT "/0000:16:00.0/0000:17:00.0", "0x060400\n", "32.0 GT/s PCIe\n", "16\n");
    add(s, GPU, "0x030200\n", "2.5 GT/s PCIe\n", "8\n");
    folder_text(s->folder, "sys/devices/" GPU "/max_link_speed", "32.0 GT/s PCIe\n");
    folder_text(s->folder, "sys/devices/" GPU "/max_link_width", "16\n");
    folder_text(s->folder, "sys/devices/" GPU "/aer_dev_correctable",
                "RxErr 3\nBadTLP 4\nBadDLLP 5\nRollover 6\nTimeout 7\nNonFatalErr 8\n"
                "CorrIntErr 0\nHeaderOF 0\nTOTAL_ERR_COR 33\n");
    folder_text(s->folder, "sys/devices/" GPU "/aer_dev_nonfatal",
                "Undefined 0\nDLP 0\nUnsupReq 2\nTOTAL_ERR_NONFATAL 2\n");
    folder_text(s->folder, "sys/devices/" GPU "/aer_dev_fatal",
                "Undefined 0\nDLP 0\nSDES 1\nTOTAL_ERR_FATAL 1\n");
    add(s, ROOT "/0000:16:00.0/0000:17:01.0", "0x060400\n", "32.0 GT/s PCIe\n", "16\n");
    add(s, ROOT "/0000:16:00.0/0000:17:01.0/0000:19:00.0", "0x020700\n", "32.0 GT/s PCIe\n",
        "16\n");
    folder_text(s->folder,
                "sys/devices/" ROOT "/0000:16:00.0/0000:17:01.0/0000:19:00.0/aer_dev_correctable",
                "Receiver Error 2\nBad TLP 1\nBad DLLP 0\nRELAY_NUM Rollover 4\n"
                "Replay Timer Timeout 5\nAdvisory Non-Fatal 6\nTOTAL_ERR_COR 2\n");
    add(s, "pci0000:40/0000:40:01.0", "0x060400\n", "Unknown\n", "255\n");
    add(s, "pci0000:40/0000:40:01.0/0000:41:00.0", "0x010802\n", "16.0 GT/s PCIe\n", "4\n");
    add(s, "pci0000:40/0000:40:02.0", "0x120000\n", "Unknown\n", "0\n");
    add(s, "pci0000:40/0000:40:03.0", "0x010601\n", "8.0 GT/s PCIe\n", "4\n");
    add(s, "pci0000:40/0000:40:04.0", "what\n", "8.0 GT/s PCIe\n", "4\n");
    add(s, "pci0000:15/0000:15:01.0/0000:19:00.1", "0x020700\n", "32.0 GT/s PCIe\n", "16\n");
    folder_link(s->folder, "sys/devices/pci0000:15/0000:15:01.0/0000:19:00.1/physfn",
                "../0000:19:00.0");
}

static void test_values(struct sampled *s)
{
    const struct signal_row *row;

    make(s);
    is_int(sampled_open(s), 0, "the sampler opens with a tree of devices");
    is_int(sampled_at(s, 0), 7, "devices that matter and the ports above them have rows");
    is_value(s, "0000:18:00.0", "speed_gts", "2.5");
    is_value(s, "0000:18:00.0", "speed_max_gts", "32");
    is_value(s, "0000:18:00.0", "width_lanes", "8");
    is_value(s, "0000:18:00.0", "width_max_lanes", "16");
    is_labelled(s, "0000:18:00.0", "errors_total", "kind=\"correctable\"", "33");
    is_labelled(s, "0000:18:00.0", "errors_total", "kind=\"nonfatal\"", "2");
    is_labelled(s, "0000:18:00.0", "errors_total", "kind=\"fatal\"", "1");
    is_labelled(s, "0000:18:00.0", "correctable_errors_total", "type=\"receiver\"", "3");
    is_labelled(s, "0000:18:00.0", "correctable_errors_total", "type=\"bad_tlp\"", "4");
    is_labelled(s, "0000:18:00.0", "correctable_errors_total", "type=\"bad_dllp\"", "5");
    is_labelled(s, "0000:18:00.0", "correctable_errors_total", "type=\"rollover\"", "6");
    is_labelled(s, "0000:18:00.0", "correctable_errors_total", "type=\"timeout\"", "7");
    is_labelled(s, "0000:18:00.0", "correctable_errors_total", "type=\"advisory_nonfatal\"", "8");
    is_labelled(s, "0000:19:00.0", "correctable_errors_total", "type=\"receiver\"", "2");
    is_labelled(s, "0000:19:00.0", "correctable_errors_total", "type=\"bad_tlp\"", "1");
    is_labelled(s, "0000:19:00.0", "correctable_errors_total", "type=\"bad_dllp\"", "0");
    is_labelled(s, "0000:19:00.0", "correctable_errors_total", "type=\"advisory_nonfatal\"", "6");
    is_labelled(s, "0000:19:00.0", "correctable_errors_total", "type=\"rollover\"", "4");
    is_labelled(s, "0000:19:00.0", "correctable_errors_total", "type=\"timeout\"", "5");
    is_labelled(s, "0000:19:00.0", "errors_total", "kind=\"fatal\"", "absent");
    is_value(s, "0000:41:00.0", "width_lanes", "4");
    is_value(s, "0000:40:01.0", "width_lanes", "no row");
    is_value(s, "0000:40:03.0", "width_lanes", "no row");
    is_value(s, "0000:19:00.1", "width_lanes", "no row");
    row = tick_find(&s->tick, s->ops->set, "0000:18:00.0");
    is_str(row ? signal_fact(row, "class") : "", "accelerator", "a GPU is an accelerator");
    is_str(row ? signal_fact(row, "parent") : "", "0000:17:00.0", "a GPU has the port above it");
    row = tick_find(&s->tick, s->ops->set, "0000:15:01.0");
    is_str(row ? signal_fact(row, "class") : "", "port", "a root port is a port");
    is_str(row ? signal_fact(row, "parent") : "none", "", "a root port has no parent");
    row = tick_find(&s->tick, s->ops->set, "0000:19:00.0");
    is_str(row ? signal_fact(row, "class") : "", "infiniband",
           "an InfiniBand adapter is told as one");
}

static void test_hostile(struct sampled *s)
{
    folder_text(s->folder, "sys/devices/" GPU "/aer_dev_correctable",
                "RxErr\nRxErr x\nBadTLPs 9\n\n\nBadDLLP 18446744073709551616\nTimeout 12\n 5 6\n");
    folder_text(s->folder, "sys/devices/" GPU "/current_link_speed", "99999 furlongs\n");
    folder_text(s->folder, "sys/devices/" GPU "/current_link_width", "999999\n");
    is_int(sampled_at(s, 20), 7, "seven devices have rows with broken files");
    is_labelled(s, "0000:18:00.0", "correctable_errors_total", "type=\"receiver\"", "absent");
    is_labelled(s, "0000:18:00.0", "correctable_errors_total", "type=\"bad_tlp\"", "absent");
    is_labelled(s, "0000:18:00.0", "correctable_errors_total", "type=\"bad_dllp\"", "absent");
    is_labelled(s, "0000:18:00.0", "correctable_errors_total", "type=\"timeout\"", "12");
    is_labelled(s, "0000:18:00.0", "errors_total", "kind=\"correctable\"", "absent");
    is_value(s, "0000:18:00.0", "speed_gts", "absent");
    is_value(s, "0000:18:00.0", "width_lanes", "absent");
    is_value(s, "0000:18:00.0", "width_max_lanes", "16");
}

/* A port that many devices share is one thing. */
static void test_many(struct sampled *s)
{
    char path[128];

    for (int i = 0; i < 1000; i++) {
        snprintf(path, sizeof(path), "pci0000:15/0000:15:01.0/%04x:00:00.0", i + 16);
        add(s, path, "0x010802\n", "16.0 GT/s PCIe\n", "4\n");
    }
    is_int(sampled_at(s, 60), 1007, "a thousand drives below one port have rows");
}

static void test_classes(struct sampled *s)
{
    static const struct {
        const char *class, *want;
    } classes[] = {
        { "0x030000\n", "accelerator" }, { "0x120000\n", "accelerator" },
        { "0x020700\n", "infiniband" },  { "0x020000\n", "network" },
        { "0x028000\n", "network" },     { "0x010802\n", "nvme" },
        { "0x010700\n", "none" },        { "0x040000\n", "none" },
        { "0x00070000\n", "none" },
    };
    char path[128];

    for (size_t i = 0; i < ARRAY_SIZE(classes); i++) {
        const struct signal_row *row;

        snprintf(path, sizeof(path), "pci0000:60/0000:60:%02zx.0", i);
        add(s, path, classes[i].class, "8.0 GT/s PCIe\n", "1\n");
        (void)sampled_at(s, 100 + 40 * (int)i);
        row = tick_find(&s->tick, s->ops->set, strrchr(path, '/') + 1);
        is_str(row ? signal_fact(row, "class") : "none", classes[i].want,
               "a device of class %.8s is called %s", classes[i].class, classes[i].want);
        is_str(row ? signal_fact(row, "parent") : "", "", "a device below no port has no parent");
    }
}

/* What a link may have: up to 32 lanes; a device whose link leads nowhere is one all the same. */
static void test_widths(struct sampled *s)
{
    char path[PATH_MAX];

    add(s, "pci0000:61/0000:61:00.0", "0x020000\n", "8.0 GT/s PCIe\n", "32\n");
    add(s, "pci0000:61/0000:61:01.0", "0x020000\n", "8.0 GT/s PCIe\n", "33\n");
    add(s, "pci0000:61/0000:61:02.0", "0x020000\n", "0.0 GT/s PCIe\n", "1\n");
    folder_path(s->folder, "sys/bus/pci/devices/0000:61:03.0/class", path);
    folder_text(s->folder, "sys/bus/pci/devices/0000:61:03.0/class", "0x020000\n");
    folder_text(s->folder, "sys/bus/pci/devices/0000:61:03.0/max_link_width", "4\n");
    (void)sampled_at(s, 1000);
    is_value(s, "0000:61:00.0", "width_lanes", "32");
    is_value(s, "0000:61:01.0", "width_lanes", "absent");
    is_value(s, "0000:61:02.0", "speed_gts", "absent");
    is_value(s, "0000:61:03.0", "width_max_lanes", "4");
}

int main(void)
{
    struct sampled s;

    sampled_make(&s, &sampler_pcie);
    is_int(sampled_open(&s), -ENOENT, "the sampler does not open without devices");
    test_values(&s);
    test_hostile(&s);
    sampled_oom(&s);
    test_classes(&s);
    test_widths(&s);
    sampled_remove(&s);
    sampled_make(&s, &sampler_pcie);
    make(&s);
    is_int(sampled_open(&s), 0, "the sampler opens for many devices");
    test_many(&s);
    sampled_remove(&s);
    return done();
}
