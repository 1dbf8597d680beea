#include "cmd/common/job_identity.h"

#include <errno.h>

#include "base/file.h"
#include "devices_csv.h"
#include "knobs_ini.h"
#include "run/job/binding.h"

enum { FILE_MAX = 1 << 20 };

int load_knobs(struct knobs *ret, const char *file, struct err *e)
{
    CLEANUP(str_done) struct str text = STR_INIT(FILE_MAX);
    int rc = knobs_load(ret, "knobs.ini", data_knobs_ini, data_knobs_ini_len, e);

    if (rc == 0 && file)
        rc = file_read(file, &text, e);
    if (rc == 0 && file)
        rc = knobs_declare(ret, file, str_text(&text), text.len, e);
    return rc;
}

int job_key_here(struct arena *a, char *const *argv, char *const *env, struct job_key *ret,
                 struct err *e)
{
    CLEANUP(tree_closep) struct tree *tree = NULL;
    struct catalogue devices;
    struct job_key_about about = { .argv = argv, .env = env, .devices = &devices };
    int rc = tree_open_dir(&tree, "/", e);

    if (rc == 0)
        rc = catalogue_load(&devices, data_devices_csv, data_devices_csv_len, e);
    if (rc < 0)
        return rc;
    about.tree = tree;
    about.cpus = binding_allowed(a);
    rc = about.cpus ? job_key_make(a, &about, ret) : -ENOMEM;
    catalogue_done(&devices);
    return rc < 0 ? err_nomem(e) : 0;
}
