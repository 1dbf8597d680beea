#include "nodes.h"
#include "tap.h"

/* GPU0, GPU1 and a third one. */
static void three(struct scene *s)
{
    scene_init(s);
    s->nic[0]->kind = DEVICE_ACCELERATOR;
    s->nic[0]->product = "CARD";
    s->nic[0]->name = "GPU2";
    s->nic[0]->acc.vbios = "96.00";
}

static void test_vbios(void)
{
    CLEANUP(scene_done) struct scene s;

    three(&s);
    is_str(scene_check(&s, "vbios"), "passed", "accelerators with the same VBIOS pass");
    s.gpu[0]->acc.vbios = "95.00";
    is_str(scene_check(&s, "vbios"), "note: GPU0 (0000:12:00.0) has another VBIOS than its like",
           "one of three accelerators with another VBIOS is found");
    is_str(scene_told(&s, 0),
           "95.00; 2 others have 96.00\n"
           "limits, clocks and fixes differ: it may be the slow or the failing one\n"
           "ask the vendor for the matching VBIOS, or swap the board",
           "the finding has the versions of the VBIOS");
    s.gpu[0]->product = "OTHER";
    is_str(scene_check(&s, "vbios"), "passed", "another product has another one");
    s.gpu[0]->product = "CARD";
    s.nic[0]->acc.vbios = NULL;
    is_str(scene_check(&s, "vbios"), "passed", "of one against one nobody can tell");
    s.gpu[1]->acc.vbios = NULL;
    is_str(scene_check(&s, "vbios"), "silent", "one alone has no like");
    s.gpu[0]->acc.vbios = NULL;
    is_str(scene_check(&s, "vbios"), "silent",
           "accelerators whose VBIOS is absent make no finding");
}

/* Three have one VBIOS, two another: it is the two that differ. */
static void test_minority(void)
{
    CLEANUP(scene_done) struct scene s;

    three(&s);
    s.gpu[0]->acc.vbios = s.gpu[1]->acc.vbios = "95.00";
    for (int i = 0; i < 2; i++) {
        struct device *d = node_add_device(s.n, DEVICE_ACCELERATOR);

        if (d) {
            d->product = "CARD";
            d->acc.vbios = "96.00";
        }
        scene_look(&s);
    }
    (void)scene_check(&s, "vbios");
    is_int((long long)s.found.count, 2, "two of five accelerators have another VBIOS");
    is_str(scene_told(&s, 0),
           "95.00; 3 others have 96.00\n"
           "limits, clocks and fixes differ: it may be the slow or the failing one\n"
           "ask the vendor for the matching VBIOS, or swap the board",
           "the finding has the VBIOS that most have");
}

static void test_nic_firmware(void)
{
    CLEANUP(scene_done) struct scene s;

    scene_init(&s);
    s.gpu[0]->kind = DEVICE_NIC;
    s.gpu[0]->product = "HCA";
    s.gpu[0]->nic.firmware = "28.30";
    is_str(scene_check(&s, "nic-firmware"),
           "note: GPU0 (0000:12:00.0) has another firmware than its like",
           "one of three NICs with another firmware is found");
    is_str(scene_told(&s, 0),
           "28.30; 2 others have 28.39\n"
           "limits, clocks and fixes differ: it may be the slow or the failing one\n"
           "mlxfwmanager --online -u -d DEVICE, then reboot",
           "the finding has the versions of the firmware");
    s.gpu[0]->product = NULL;
    is_str(scene_check(&s, "nic-firmware"), "passed", "an unknown product is not its like");
    s.n->n_devices = 2;
    is_str(scene_check(&s, "nic-firmware"), "silent", "one alone has no like");
}

int main(void)
{
    test_vbios();
    test_minority();
    test_nic_firmware();
    return done();
}
