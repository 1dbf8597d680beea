/* Words of the kernel's tables: what stands for a byte in the name of a mount. */
#include "probe/sample/table.h"

#include <errno.h>
#include <string.h>

#include "tap.h"

static void test_decode(void)
{
    static const struct {
        const char *word, *name;
    } words[] = {
        { "/mnt", "/mnt" },
        { "/my\\040data", "/my data" },
        { "\\040", " " },
        { "\\011\\012\\134", "\t\n\\" },
        { "\\001\\377", "\001\377" },
        { "\\0401", " 1" },
        { "/a\\04", "/a\\04" },
        { "\\04x", "\\04x" },
        { "\\0x4", "\\0x4" },
        { "\\048", "\\048" },
        { "\\04/", "\\04/" },
        { "\\080", "\\080" },
        { "\\400", "\\400" },
        { "\\x40", "\\x40" },
        { "\\/40", "\\/40" },
        { "\\000", "\\000" },
        { "\\\\040", "\\ " },
        { "040", "040" },
        { "", "" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
        char out[32] = "";
        size_t len = strlen(words[i].word), need = strlen(words[i].name) + 1;

        is_int(sample_mount_decode(words[i].word, len, out, sizeof(out)), 0,
               "the mount '%s' has a name", words[i].word);
        is_str(out, words[i].name, "the mount '%s' is decoded", words[i].word);
        is_int(sample_mount_decode(words[i].word, len, out, need), 0,
               "the name of '%s' fits where there is just room", words[i].word);
        is_int(sample_mount_decode(words[i].word, len, out, need - 1), -ENAMETOOLONG,
               "the name of '%s' does not fit where a byte is missing", words[i].word);
    }
}

int main(void)
{
    test_decode();
    return done();
}
