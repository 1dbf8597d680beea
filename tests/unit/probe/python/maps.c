/* What of /proc/PID/maps may have Python. */
#include "probe/python/maps.h"

#include "tap.h"

static const char text[] =
    "00400000-0041f000 r--p 00000000 fe:01 100   /opt/app/train\n"
    "0041f000-006a0000 r-xp 0001f000 fe:01 100   /opt/app/train\n"
    "01ff0000-02090000 rw-p 00000000 00:00 0     [heap]\n"
    "7f0000000000-7f0000001000 r--p 00000000 fe:01 101 /usr/lib/libpython3.so\n"
    "7f0000002000-7f0000003000 r--p 00000000 fe:01 102 /opt/a b/libpython3.12.so.1.0 (deleted)\n"
    "7f0000004000-7f0000005000 r--p 00001000 fe:01 103 /opt/libpython3.13.so.1.0\n"
    "7f0000006000-7f0000007000 r--p 00000000 00:00 0 \n"
    "7ffd00000000-7ffd00021000 rw-p 00000000 00:00 0   [stack]\n";

static void is_map(const struct python_map *map, uint64_t from, const char *path)
{
    is_int((long long)map->from, (long long)from, "%s begins where the kernel has it", path);
    ok(map->path_len == strlen(path) && !strncmp(map->path, path, map->path_len),
       "%s has its whole path", path);
}

static void test_order(void)
{
    struct python_map maps[8];

    is_int((long long)python_maps_find(text, "/opt/app/train", maps, 8), 3,
           "two libraries and a program may have Python");
    is_map(&maps[0], 0x7f0000000000, "/usr/lib/libpython3.so");
    is_map(&maps[1], 0x7f0000002000, "/opt/a b/libpython3.12.so.1.0 (deleted)");
    is_map(&maps[2], 0x400000, "/opt/app/train");
    is_int((long long)maps[2].to, 0x41f000, "a map ends where the kernel has it");
    is_int((long long)python_maps_find(text, "/usr/bin/other", maps, 8), 2,
           "a program that is not in memory is not found");
    is_int((long long)python_maps_find(text, "/opt/app/train", maps, 1), 1,
           "no more files are found than there is room for");
}

static void test_broken(void)
{
    static const char *const lines[] = {
        "",
        "\n",
        "-",
        "0-",
        "0-1",
        "0-1 ",
        "0-1 r",
        "0-1 r 0",
        "0-1 r 0 x",
        "0-1 r 0 x 1",
        "0-1 r 0 x 1 ",
        "zz-1 r 0 x 1 /libpython3",
        "0-zz r 0 x 1 /libpython3",
        "0-1 r zz x 1 /libpython3",
        "0 1 r 0 x 1 /libpython3",
        "0,1 r 0 x 1 /libpython3",
        "0-1 r 0 x 1 libpython3",
        "0-1 r 0 x 1 /libpytho",
        "0-1 r 0 x 1 /python2",
        "0-1 r 0 x 1 /lib",
        "0-1 r 0 x 1 /",
    };
    struct python_map maps[8];

    for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
        is_int((long long)python_maps_find(lines[i], "/program", maps, 8), 0,
               "the line '%s' has no Python", lines[i]);
    is_int((long long)python_maps_find("0-1 r 0 x 1 /libpython3", "/program", maps, 8), 1,
           "a last line without an end has Python");
}

int main(void)
{
    test_order();
    test_broken();
    return done();
}
