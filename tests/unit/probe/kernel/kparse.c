#include "probe/kernel/kparse.h"

#include "tap.h"

/* A rate in hundredths, so that it can be compared. */
static long long hundredths(double value)
{
    return (long long)(value * 100 + (value < 0 ? 0 : 0.5));
}

static void test_rates(void)
{
    static const struct {
        const char *text;
        int gts, gbps;
    } texts[] = {
        { "32.0 GT/s PCIe\n", 3200, -100 },
        { "2.5 GT/s PCIe", 250, -100 },
        { "8 GT/s", 800, -100 }, /* Linux 4 */
        { "Unknown\n", -100, -100 },
        { "Unknown speed\n", -100, -100 },
        { "", -100, -100 },
        { "GT/s", -100, -100 },
        { "-8 GT/s", -100, -100 },
        { "1.2.3 GT/s", -100, -100 },
        { ". GT/s", -100, -100 },
        { "32.0", -100, -100 },
        { "400 Gb/sec (4X NDR)\n", -100, 40000 },
        { "2.5 Gb/sec (1X SDR)\n", -100, 250 },
        { "400 Mb/sec", -100, -100 },
        { "Gb/sec", -100, -100 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        is_int(hundredths(kparse_gts(texts[i].text)), texts[i].gts, "kparse_gts of '%s' is right",
               texts[i].text);
        is_int(hundredths(kparse_gbps(texts[i].text)), texts[i].gbps,
               "kparse_gbps of '%s' is right", texts[i].text);
    }
}

static void test_meminfo(void)
{
    static const char host[] = "MemTotal:       536870912 kB\n"
                               "MemFree:        483183820 kB\n"
                               "HugePages_Total:       0\n";
    static const char domain[] = "Node 0 MemTotal:       268435456 kB\n"
                                 "Node 0 MemFree:        241591910 kB\n";

    is_int(kparse_meminfo(host, "MemTotal"), 512LL << 30,
           "kparse_meminfo reads MemTotal of the host");
    is_int(kparse_meminfo(host, "MemFree"), 483183820LL << 10,
           "kparse_meminfo reads the second line of the host");
    is_int(kparse_meminfo(domain, "MemTotal"), 256LL << 30,
           "kparse_meminfo reads MemTotal of a domain");
    is_int(kparse_meminfo(domain, "MemFree"), 241591910LL << 10,
           "kparse_meminfo reads the second line of a domain");
    is_int(kparse_meminfo("Node 12 MemTotal: 1 kB", "MemTotal"), 1024,
           "kparse_meminfo reads MemTotal of domain 12");
    is_int(kparse_meminfo(host, "Mem"), -1, "kparse_meminfo finds no part of a key");
    is_int(kparse_meminfo(host, "Swap"), -1, "kparse_meminfo is -1 where there is no such line");
    is_int(kparse_meminfo("MemTotal: many kB\n", "MemTotal"), -1,
           "kparse_meminfo is -1 for a word");
    is_int(kparse_meminfo("MemTotal: -1 kB\n", "MemTotal"), -1,
           "kparse_meminfo is -1 for a number with a sign");
    is_int(kparse_meminfo("MemTotal: 9007199254740992 kB\n", "MemTotal"), -1,
           "kparse_meminfo is -1 for too many bytes");
    is_int(kparse_meminfo("MemTotal: 99999999999999999999999999999999999999 kB", "MemTotal"), -1,
           "kparse_meminfo is -1 for too many digits");
    is_int(kparse_meminfo("MemTotal: 9007199254740991 kB", "MemTotal"), INT64_MAX - 1023,
           "kparse_meminfo reads the most bytes that there can be");
    is_int(kparse_meminfo("Node 1 Mem: 5 kB\nNode x MemTotal: 7 kB\nMemTotal 8 kB\n", "MemTotal"),
           -1, "kparse_meminfo finds nothing in lines of other forms");
    is_int(kparse_meminfo("", "MemTotal"), -1, "kparse_meminfo is -1 for an empty text");
    is_int(kparse_meminfo("\n\n\n", "MemTotal"), -1, "kparse_meminfo is -1 for empty lines");
    is_int(kparse_meminfo("Node ", "MemTotal"), -1, "kparse_meminfo is -1 for half a line");
}

static void test_limit(void)
{
    static const char limits[] =
        "Limit                     Soft Limit           Hard Limit           Units     \n"
        "Max cpu time              unlimited            unlimited            seconds   \n"
        "Max open files            1024                 1048576              files     \n"
        "Max locked memory         8388608              unlimited            bytes     \n";

    is_int(kparse_limit(limits, "Max open files"), 1024, "kparse_limit reads the soft limit");
    is_int(kparse_limit(limits, "Max locked memory"), 8388608, "kparse_limit reads the last line");
    ok(kparse_limit(limits, "Max cpu time") == INT64_MAX,
       "kparse_limit is INT64_MAX for unlimited");
    is_int(kparse_limit(limits, "Max nothing"), -1,
           "kparse_limit is -1 where there is no such limit");
    is_int(kparse_limit("Max open files\n", "Max open files"), -1,
           "kparse_limit is -1 for a limit without a value");
    is_int(kparse_limit("Max open files  -5\n", "Max open files"), -1,
           "kparse_limit is -1 for a number with a sign");
    is_int(kparse_limit("", "Max open files"), -1, "kparse_limit is -1 for an empty text");
}

static void test_tmpfs(void)
{
    static const struct {
        const char *mounts;
        int64_t want;
        const char *what;
    } texts[] = {
        { "tmpfs /dev/shm tmpfs rw,nosuid,nodev,size=65536k,inode64 0 0\n", 65536 << 10, "in kB" },
        { "tmpfs /dev/shm tmpfs size=8m 0 0\n", 8 << 20, "in MB" },
        { "tmpfs /dev/shm tmpfs size=2G 0 0\n", 2LL << 30, "in GB" },
        { "tmpfs /dev/shm tmpfs size=3K 0 0\n", 3 << 10, "in kB, in capitals" },
        { "tmpfs /dev/shm tmpfs size=3M 0 0\n", 3 << 20, "in MB, in capitals" },
        { "tmpfs /dev/shm tmpfs size=3t 0 0\n", 3, "in a unit that is none" },
        { "tmpfs /dev/shm tmpfs size=g 0 0\n", -1, "in a unit without a number" },
        { "tmpfs /dev/shm tmpfs size=8589934591g 0 0\n", 8589934591LL << 30, "the most" },
        { "tmpfs /dev/shm tmpfs size=8589934592g 0 0\n", INT64_MAX, "more than the most" },
        { "tmpfs /dev/shm tmpfs size=1000% 0 0\n", 10LL << 40, "ten times the memory" },
        { "tmpfs /dev/shm tmpfs size=1001% 0 0\n", -1, "more than ten times the memory" },
        { "tmpfs /dev/shm tmpfs size=8k 0 0\nnone /dev/shm overlay rw 0 0\n", -1,
          "another file system hides it" },
        { "tmpfs /dev/shm tmpfs size=67108864 0 0\n", 64 << 20, "in bytes" },
        { "tmpfs /dev/shm tmpfs size=25%,rw 0 0\n", 256LL << 30, "as a part of the memory" },
        { "tmpfs /dev/shm tmpfs rw,nosuid,nodev,inode64 0 0\n", 512LL << 30, "the default" },
        { "shm /dev/shm tmpfs rw,size=64k 0 0\nshm /dev/shm tmpfs rw,size=8k 0 0\n", 8 << 10,
          "the last mount hides the others" },
        { "sysfs /sys sysfs rw 0 0\ntmpfs /dev/shm tmpfs size=8k 0 0\n", 8 << 10,
          "not the first line" },
        { "tmpfs /dev/shm tmpfs mysize=1k 0 0\n", 512LL << 30, "another option" },
        { "tmpfs /dev/shm2 tmpfs size=8k 0 0\n", -1, "another place" },
        { "none /dev/shm overlay rw 0 0\n", -1, "another file system has no default" },
        { "tmpfs /dev/shm tmpfs size=half 0 0\n", -1, "no number" },
        { "tmpfs /dev/shm tmpfs size=99999% 0 0\n", -1, "no part of the memory" },
        { "tmpfs /dev/shm\n", -1, "half a line" },
        { "", -1, "nothing" },
        { "\n\n", -1, "empty lines" },
    };

    static const char quarter[] = "tmpfs /dev/shm tmpfs size=25%,rw 0 0\n";
    static const char half[] = "tmpfs /dev/shm tmpfs rw,nosuid,nodev,inode64 0 0\n";

    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        is_int(kparse_tmpfs(texts[i].mounts, "/dev/shm", 1024LL << 30), texts[i].want,
               "kparse_tmpfs knows the size: %s", texts[i].what);
    is_int(kparse_tmpfs(half, "/dev/shm", -1), -1, "kparse_tmpfs is -1 for half of unknown memory");
    is_int(kparse_tmpfs(quarter, "/dev/shm", -1), -1,
           "kparse_tmpfs is -1 for a part of unknown memory");
    is_int(kparse_tmpfs(quarter, "/dev/shm", 0), 0, "kparse_tmpfs is 0 for a part of no memory");
    is_int(kparse_tmpfs(half, "/dev/shm", 0), 0, "kparse_tmpfs is 0 for half of no memory");
    ok(kparse_tmpfs("t /dev/shm tmpfs size=9000000000000000000g 0 0", "/dev/shm", 1) == INT64_MAX,
       "kparse_tmpfs is INT64_MAX for too many bytes");
    ok(kparse_tmpfs("t /dev/shm tmpfs size=1000% 0 0", "/dev/shm", INT64_MAX) > 0,
       "kparse_tmpfs does not overflow with a multiple of memory");
}

static void test_swaps(void)
{
    is_int(kparse_swaps("Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
                        "/swap.img                               file\t\t8388604\t\t0\t\t-2\n"
                        "/dev/sda2                               partition\t4\t\t0\t\t-3\n"),
           8388608LL << 10, "kparse_swaps adds two swaps up");
    is_int(kparse_swaps("Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"), 0,
           "kparse_swaps is 0 without swaps");
    is_int(kparse_swaps(""), 0, "kparse_swaps is 0 for an empty text");
    is_int(kparse_swaps("h\n/swap file many 0 -2\n/swap\n"), 0,
           "kparse_swaps is 0 for a swap without a number");
    ok(kparse_swaps("h\n/a f 9007199254740991 0 0\n/b f 9007199254740991 0 0\n") > 0,
       "kparse_swaps does not overflow");
}

static void test_choice(void)
{
    static const struct {
        const char *text, *want;
    } texts[] = {
        { "always [madvise] never\n", "madvise" },
        { "[always] madvise never", "always" },
        { "schedutil\n", "schedut" },
        { "", "" },
        { "a [b", "b" },
        { "[]", "" },
        { "[much too long]", "much to" },
    };
    char buf[8];

    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        kparse_choice(texts[i].text, buf, sizeof(buf));
        is_str(buf, texts[i].want, "kparse_choice reads '%s'", texts[i].text);
    }
}

static const char cpuinfo[] = "processor\t: 0\n"
                              "vendor_id\t: AuthenticAMD\n"
                              "cpu family\t: 25\n"
                              "model\t\t: 97\n"
                              "model name\t: AMD EPYC 9654 96-Core Processor  \n"
                              "flags\t\t: fpu vme hypervisor lm\n"
                              "empty\t:\n"
                              "\n"
                              "processor\t: 1\n"
                              "model\t\t: 98\n";

static void test_field(void)
{
    char buf[64] = "as it was";

    is_int(kparse_field(cpuinfo, "model name", buf, sizeof(buf)), 1, "kparse_field finds a field");
    is_str(buf, "AMD EPYC 9654 96-Core Processor", "a field has no blanks at its end");
    is_int(kparse_field(cpuinfo, "model", buf, sizeof(buf)), 1,
           "kparse_field finds a key that begins another");
    is_str(buf, "97", "a field is that of the first processor");
    is_int(kparse_field(cpuinfo, "empty", buf, sizeof(buf)), 1,
           "kparse_field finds an empty field");
    is_str(buf, "", "an empty field is read as empty");
    is_int(kparse_field(cpuinfo, "mode", buf, sizeof(buf)), 0,
           "kparse_field finds no part of a key");
    is_int(kparse_field("", "model", buf, sizeof(buf)), 0,
           "kparse_field finds nothing in an empty text");
    is_int(kparse_field("model", "model", buf, sizeof(buf)), 0,
           "kparse_field finds nothing in half a line");
    is_int(kparse_field("model\n: 5\n", "model", buf, sizeof(buf)), 0,
           "kparse_field wants key and colon on one line");
    is_int(kparse_field(cpuinfo, "vendor_id", buf, 5), 1,
           "kparse_field succeeds with a small buffer");
    is_str(buf, "Auth", "a small buffer gets the start of a field");
}

static void test_flags(void)
{
    ok(kparse_has_flag(cpuinfo, "flags", "hypervisor"),
       "kparse_has_flag finds a flag in the middle");
    ok(kparse_has_flag(cpuinfo, "flags", "fpu"), "kparse_has_flag finds the first flag");
    ok(kparse_has_flag(cpuinfo, "flags", "lm"), "kparse_has_flag finds the last flag");
    ok(!kparse_has_flag(cpuinfo, "flags", "hyper"), "kparse_has_flag finds no part of a flag");
    ok(!kparse_has_flag(cpuinfo, "flags", "processor"),
       "kparse_has_flag finds no word of another line");
    ok(!kparse_has_flag(cpuinfo, "empty", "processor"),
       "kparse_has_flag finds no flag in an empty line");
    ok(!kparse_has_flag(cpuinfo, "none", "fpu"), "kparse_has_flag finds no flag without its line");
    ok(!kparse_has_flag("", "flags", "fpu"), "kparse_has_flag finds no flag in an empty text");
}

static void test_property(void)
{
    static const char text[] = "cpu_cores_count 0\n"
                               "simd_count 1216\n"
                               "simd_count_more 5\n"
                               "location_id 12800\n"
                               "gfx_target_version 90402\n"
                               "unique_id 18446744073709551615\n";

    is_int(kparse_property(text, "simd_count"), 1216, "kparse_property reads a property");
    is_int(kparse_property(text, "gfx_target_version"), 90402,
           "kparse_property reads a property behind others");
    is_int(kparse_property(text, "cpu_cores_count"), 0, "kparse_property reads a property of 0");
    is_int(kparse_property(text, "unique_id"), -1, "kparse_property is -1 for a number too large");
    is_int(kparse_property(text, "simd"), -1, "kparse_property finds no part of a name");
    is_int(kparse_property(text, "domain"), -1,
           "kparse_property is -1 where there is no such property");
    is_int(kparse_property("", "domain"), -1, "kparse_property is -1 for an empty text");
    is_int(kparse_property("domain", "domain"), -1, "kparse_property is -1 for half a line");
    is_int(kparse_property("domain x", "domain"), -1, "kparse_property is -1 for a word");
}

int main(void)
{
    test_rates();
    test_meminfo();
    test_limit();
    test_tmpfs();
    test_swaps();
    test_choice();
    test_field();
    test_flags();
    test_property();
    return done();
}
