/* For a program that is linked without any shared library (meson: link=static): in place of what
 * would load some at run time. Those that are there belong to the glibc that is there, which is not
 * the one in the program: they would not fit it, or crash it. */
#include <dlfcn.h>
#include <nss.h>
#include <stddef.h>
#include <string.h>

static const char why[] = "a static brim loads no libraries: use the one for glibc";

void *dlopen(const char *file, int mode)
{
    (void)file;
    (void)mode;
    return NULL;
}

void *dlsym(void *restrict handle, const char *restrict name)
{
    (void)handle;
    (void)name;
    return NULL;
}

int dlclose(void *handle)
{
    (void)handle;
    return 0;
}

char *dlerror(void)
{
    return strchr(why, why[0]); /* not const, as its prototype has it */
}

/* Accounts are those of /etc/passwd and /etc/group. Before main(), as nothing may ask earlier. */
__attribute__((constructor)) static void take_files_only(void)
{
    (void)__nss_configure_lookup("passwd", "files");
    (void)__nss_configure_lookup("group", "files");
    (void)__nss_configure_lookup("initgroups", "files");
}
