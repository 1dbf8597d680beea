#include "model/machine/fault.h"

#include <errno.h>
#include <string.h>

#include "nvlink5_csv.h"
#include "oom.h"
#include "sxid_csv.h"
#include "tap.h"
#include "xid_csv.h"

#define HEAD "code,name,meaning,class,severity,scope,action\n"
#define ROW "1,A,b,app,note,gpu,c\n"
#define LINK_HEAD "xid,unit,info1,info2,sub,status,fatal,severity,meaning,action\n"

static int load(struct faults *f, const char *xid, const char *links, const char *sxid,
                struct err *e)
{
    const struct fault_text x = { xid, strlen(xid) }, l = { links, strlen(links) },
                            s = { sxid, strlen(sxid) };

    return faults_load(f, &x, &l, &s, e);
}

static int load_real(struct faults *f, struct err *e)
{
    const struct fault_text x = { data_xid_csv, data_xid_csv_len };
    const struct fault_text l = { data_nvlink5_csv, data_nvlink5_csv_len };
    const struct fault_text s = { data_sxid_csv, data_sxid_csv_len };

    return faults_load(f, &x, &l, &s, e);
}

static void test_real(void)
{
    CLEANUP(faults_done) struct faults f = { .n_xids = 0 };
    struct err e = { "" };
    const struct fault *x;

    is_int(load_real(&f, &e), 0, "faults_load reads brim's tables: %s", e.text);
    ok(f.n_xids == 176 && f.n_sxids == 93 && f.n_links == 94,
       "faults_load reads all rows of brim's tables");
    x = fault_xid(&f, 79);
    ok(x && x->class == FAULT_DRAIN && x->severity == SEVERITY_CRITICAL,
       "XID 79 is critical and asks for a drain");
    is_str(x->name, "GPU_HAS_FALLEN_OFF_THE_BUS", "XID 79 has its name");
    is_str(x->scope, "gpu", "XID 79 is about a GPU");
    ok(strstr(x->action, "reboot") && strstr(x->meaning, "PCIe"),
       "XID 79 has its meaning and what to do");
    ok(fault_xid(&f, 1) && fault_xid(&f, 176), "the first and the last XID are found");
    ok(!fault_xid(&f, 0) && !fault_xid(&f, 177) && !fault_xid(&f, -1),
       "no XID beyond the first and the last is found");
    x = fault_sxid(&f, 23017);
    ok(x && x->class == FAULT_FATAL, "SXID 23017 is fatal");
    is_str(fault_class_text(fault_sxid(&f, 20034)->class), "maybe-fatal",
           "the class of SXID 20034 is 'maybe-fatal'");
    ok(!fault_sxid(&f, 79), "a number of an XID is not found as SXID");
}

static void test_links(void)
{
    CLEANUP(faults_done) struct faults f = { .n_xids = 0 };
    const struct fault_link *l;
    struct err e = { "" };

    is_int(load_real(&f, &e), 0, "faults_load reads the tables of links");
    l = fault_link(&f, 149, 0x004505c6, 0);
    ok(l && l->fatal && l->sub == 4 && l->severity == SEVERITY_CRITICAL,
       "a code of XID 149 in the first layout is found");
    is_str(l->unit, "NETIR_LINK_DOWN", "a code of XID 149 has its unit");
    ok(fault_link(&f, 149, 0x00400011, 0) == l,
       "a code of XID 149 in the second layout is the same");
    l = fault_link(&f, 149, 0x00000013, 2);
    ok(l && !l->fatal && strstr(l->action, "cables"), "bit errors of XID 149 point to the cables");
    ok(fault_link(&f, 149, 0x14, 1)->fatal && !fault_link(&f, 149, 0x14, 3)->fatal,
       "the status of XID 149 is a value");
    ok(!fault_link(&f, 149, 0x14, 9), "an unknown status of XID 149 has no rule");
    ok(fault_link(&f, 145, 0x4, 0x40)->fatal && !fault_link(&f, 145, 0x4, 1)->fatal,
       "the status of XID 145 is a bit");
    l = fault_link(&f, 145, 0x4, 0x41);
    ok(l && l->fatal && l->status == 0x40, "the graver of two bits of XID 145 counts");
    ok(!fault_link(&f, 145, 0x4, 0x40000), "an unknown bit of XID 145 has no rule");
    ok(!fault_link(&f, 146, 0x4, 0x40), "a unit of XID 145 has no rule with XID 146");
    ok(!fault_link(&f, 145, 0x00100004, 0x40), "an unknown sub-code has no rule");
    ok(fault_link(&f, 150, 0, 0)->fatal, "XID 150 without details is fatal");
    is_int(fault_link_sub(0x004505c6), 4, "fault_link_sub reads bits 20 to 25");
    is_int(fault_link_sub(0xfc0fffff), 0, "fault_link_sub reads no other bits");
}

static void refuses(const char *xid, const char *links, const char *what)
{
    struct faults f = { .n_xids = 7 };
    struct err e = { "" };

    is_int(load(&f, xid, links, HEAD, &e), -EINVAL, "faults_load refuses: %s", what);
    ok(strstr(e.text, what) && f.n_xids == 7, "the error has '%s' and the table stays: %s", what,
       e.text);
}

static void test_bad(void)
{
    refuses("", LINK_HEAD, "xid.csv: the table is empty");
    refuses("code,name\n", LINK_HEAD, "xid.csv:1: there is no column 'meaning'");
    refuses(HEAD ROW ROW, LINK_HEAD, "xid.csv:3: 1 stands behind 1");
    refuses(HEAD "x,A,b,app,note,gpu,c\n", LINK_HEAD, "xid.csv:2: 'x' is no code");
    refuses(HEAD "1,A,b,apps,note,gpu,c\n", LINK_HEAD, "'apps' is no class");
    refuses(HEAD "1,A,b,app,bad,gpu,c\n", LINK_HEAD, "'bad' is no severity");
    refuses(HEAD "1,A,b,app,note,gpu\n", LINK_HEAD, "'' is no action");
    refuses(HEAD "99999999999,A,b,app,note,gpu,c\n", LINK_HEAD, "is no code");
    refuses(HEAD "1,\"A\n", LINK_HEAD, "xid.csv:2: the row cannot be read");
    refuses(HEAD ROW, LINK_HEAD "145,U,0x1,0x2,0,0x1,maybe,note,m,a\n", "'maybe' is no fatal");
    refuses(HEAD ROW, LINK_HEAD "145,U,zz,0x2,0,0x1,no,note,m,a\n", "'zz' is no info1");
    refuses(HEAD ROW, LINK_HEAD "145,U,0x1,0x2,0,0x100000000,no,note,m,a\n", "is no status");
}

static void test_oom(void)
{
    bool failed;

    oom_restart();
    do {
        struct faults f = { .n_xids = 0 };
        struct err e;
        int rc;

        oom_next();
        rc = load_real(&f, &e);
        failed = oom_end();
        ok(failed ? rc == -ENOMEM && !f.xids : rc == 0,
           "faults_load with allocation %d failing returns %d", oom_at, rc);
        faults_done(&f);
    } while (failed);
}

int main(void)
{
    test_real();
    test_links();
    test_bad();
    test_oom();
    return done();
}
