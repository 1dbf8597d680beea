#include "control/modes.h"

#include "tap.h"

static const struct {
    const char *text;
    int idle, faults; /* -1: it is refused */
} rows[] = {
    { "observe", CONTROL_OBSERVE, CONTROL_OBSERVE },
    { "act", CONTROL_ACT, CONTROL_ACT },
    { "idle=act", CONTROL_ACT, CONTROL_OBSERVE },
    { "idle=act,faults=propose", CONTROL_ACT, CONTROL_PROPOSE },
    { "place=act", CONTROL_OBSERVE, CONTROL_OBSERVE },
    { "act,faults=observe", CONTROL_ACT, CONTROL_OBSERVE },
    { "", -1, -1 },
    { "act,", -1, -1 },
    { "idle=", -1, -1 },
    { "=act", -1, -1 },
    { "idl=act", -1, -1 },
    { "idle=acts", -1, -1 },
    { "Act", -1, -1 },
};

int main(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        enum control_mode got[CONTROL_POLICIES];
        struct err e = { "" };
        int rc = control_modes_read(rows[i].text, got, &e);

        if (rows[i].idle < 0)
            ok(rc == ERR_USAGE && strstr(e.text, "observe, propose or act"), "'%s' is refused: %s",
               rows[i].text, e.text);
        else
            ok(rc == 0 && (int)got[CONTROL_IDLE] == rows[i].idle &&
                   (int)got[CONTROL_FAULTS] == rows[i].faults,
               "'%s' is read", rows[i].text);
    }
    return done();
}
