#include "daemon/http/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>

#include "base/compiler.h"

/* As the headers that this is compiled with; Debian's package bears the same number. */
#define LIBRARY "libmicrohttpd.so.12"
#define PACKAGE "libmicrohttpd12"

static const struct {
    const char *name;
    size_t offset;
} functions[] = {
    { "MHD_add_response_header", offsetof(struct mhd, add_response_header) },
    { "MHD_create_response_from_buffer", offsetof(struct mhd, create_response_from_buffer) },
    { "MHD_create_response_from_callback", offsetof(struct mhd, create_response_from_callback) },
    { "MHD_destroy_response", offsetof(struct mhd, destroy_response) },
    { "MHD_get_connection_info", offsetof(struct mhd, get_connection_info) },
    { "MHD_get_daemon_info", offsetof(struct mhd, get_daemon_info) },
    { "MHD_get_timeout", offsetof(struct mhd, get_timeout) },
    { "MHD_lookup_connection_value", offsetof(struct mhd, lookup_connection_value) },
    { "MHD_queue_response", offsetof(struct mhd, queue_response) },
    { "MHD_resume_connection", offsetof(struct mhd, resume_connection) },
    { "MHD_run", offsetof(struct mhd, run) },
    { "MHD_start_daemon", offsetof(struct mhd, start_daemon) },
    { "MHD_stop_daemon", offsetof(struct mhd, stop_daemon) },
    { "MHD_suspend_connection", offsetof(struct mhd, suspend_connection) },
};

int mhd_load(struct mhd *ret, struct err *e)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL); /* stays: threads of it may run */

    if (!library)
        return err_set(e, -ENOENT, "%s: install it (Debian: " PACKAGE ")", dlerror());
    for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
        void *found = dlsym(library, functions[i].name);

        if (!found)
            return err_set(e, -ENOENT, LIBRARY " lacks %s: install a newer one", functions[i].name);
        *(void **)(void *)((char *)ret + functions[i].offset) = found;
    }
    return 0;
}
