#include "model/machine/mig.h"

#include <ctype.h>
#include <string.h>

#include "base/compiler.h"

/* Instances that are less than a device: by slices of compute, how many of memory they take, and
 * from which on they may. */
static const struct profile {
    int slices, memory;
    uint8_t starts;
} profiles[] = {
    { 1, 1, 0x7f },
    { 2, 2, 0x15 },
    { 3, 4, 0x11 },
    { 4, 4, 0x01 },
};

bool mig_divides(const char *kind)
{
    static const char *const names[] = { "A100", "A800", "H100", "H800",
                                         "H200", "H20",  "B200", "B300" };

    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        const char *at = strstr(kind, names[i]);

        /* RTX A1000 is another one */
        if (at && !isdigit((unsigned char)at[strlen(names[i])]))
            return true;
    }
    return !*kind;
}

int mig_slices(const char *text)
{
    if (text[0] < '1' || text[0] > '7' || strcmp(text + 1, "g") != 0)
        return 0;
    return text[0] == '5' || text[0] == '6' ? 0 : text[0] - '0';
}

int mig_milli(int slices)
{
    return slices * 1000 / MIG_SLICES;
}

static uint8_t memory_at(const struct profile *p, int start)
{
    return (uint8_t)(((1U << p->memory) - 1) << start);
}

static bool is_free(uint8_t taken, const struct profile *p, int start)
{
    return (p->starts >> start & 1) && !(taken & memory_at(p, start));
}

bool mig_fits(uint8_t taken, int slices)
{
    for (size_t i = 0; i < ARRAY_SIZE(profiles); i++)
        for (int start = 0; profiles[i].slices == slices && profiles[i].starts >> start; start++)
            if (is_free(taken, &profiles[i], start))
                return true;
    return false;
}

/* What could still be placed, the larger the more it counts. */
static int room_left(uint8_t taken)
{
    int room = 0;

    for (size_t i = 0; i < ARRAY_SIZE(profiles); i++)
        for (int start = 0; profiles[i].starts >> start; start++)
            room += is_free(taken, &profiles[i], start) ? profiles[i].memory : 0;
    return room;
}

uint8_t mig_place(uint8_t taken, int slices)
{
    uint8_t best = 0;
    int most = -1;

    for (size_t i = 0; i < ARRAY_SIZE(profiles); i++)
        for (int start = MIG_SLICES - 1; profiles[i].slices == slices && start >= 0; start--) {
            uint8_t memory = memory_at(&profiles[i], start);
            int room;

            if (!is_free(taken, &profiles[i], start))
                continue;
            room = room_left(taken | memory);
            if (room > most) {
                most = room;
                best = memory;
            }
        }
    return best;
}
