/* A file system in user space that shows a folder, read-only, and takes its time: a stand-in for
 * storage that is far away. slowfs FOLDER OPEN-US READ-US MOUNT-POINT [FUSE-OPTIONS] */
#define FUSE_USE_VERSION 31
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct slow {
    int folder;
    useconds_t open_us, read_us;
};

static struct slow *self(void)
{
    return fuse_get_context()->private_data;
}

/* Relative to the folder. */
static const char *below(const char *path)
{
    return path[1] ? path + 1 : ".";
}

static void *slow_init(struct fuse_conn_info *conn, struct fuse_config *config)
{
    (void)conn;
    config->attr_timeout = config->entry_timeout = config->negative_timeout = 0;
    return self();
}

static int slow_getattr(const char *path, struct stat *ret, struct fuse_file_info *file)
{
    (void)file;
    return fstatat(self()->folder, below(path), ret, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
}

static int slow_readdir(const char *path, void *to, fuse_fill_dir_t fill, off_t offset,
                        struct fuse_file_info *file, enum fuse_readdir_flags flags)
{
    int fd = openat(self()->folder, below(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *entry;

    (void)offset;
    (void)file;
    (void)flags;
    if (!dir)
        return -errno;
    while ((entry = readdir(dir)))
        if (fill(to, entry->d_name, NULL, 0, 0))
            break;
    closedir(dir);
    return 0;
}

static int slow_open(const char *path, struct fuse_file_info *file)
{
    int fd = openat(self()->folder, below(path), O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return -errno;
    usleep(self()->open_us);
    file->fh = (uint64_t)fd;
    return 0;
}

static int slow_read(const char *path, char *to, size_t size, off_t offset,
                     struct fuse_file_info *file)
{
    ssize_t got = pread((int)file->fh, to, size, offset);

    (void)path;
    usleep(self()->read_us);
    return got < 0 ? -errno : (int)got;
}

static int slow_release(const char *path, struct fuse_file_info *file)
{
    (void)path;
    return close((int)file->fh) < 0 ? -errno : 0;
}

static const struct fuse_operations operations = {
    .init = slow_init,
    .getattr = slow_getattr,
    .readdir = slow_readdir,
    .open = slow_open,
    .read = slow_read,
    .release = slow_release,
};

int main(int argc, char **argv)
{
    struct slow slow;
    char *end;

    if (argc < 5) {
        fprintf(stderr, "usage: slowfs FOLDER OPEN-US READ-US MOUNT-POINT [FUSE-OPTIONS]\n");
        return 2;
    }
    slow.folder = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (slow.folder < 0) {
        perror(argv[1]);
        return 1;
    }
    slow.open_us = (useconds_t)strtoul(argv[2], &end, 10);
    slow.read_us = (useconds_t)strtoul(argv[3], &end, 10);
    argv[3] = argv[0];
    return fuse_main(argc - 3, argv + 3, &operations, &slow);
}
