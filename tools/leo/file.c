/* SPDX-License-Identifier: Apache-2.0 */
#include "file.h"

#include <errno.h>
#include <leo/alloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static bool complain(const char *command, const char *verb, const char *path, const char *why)
{
    fprintf(stderr, "leo %s: cannot %s %s: %s\n", command, verb, path, why);
    return false;
}

bool file_read(const char *command, const char *path, struct file_bytes *file)
{
    struct stat info;
    *file = (struct file_bytes){0};
    FILE *stream = fopen(path, "rb");
    if (!stream) {
        return complain(command, "read", path, strerror(errno));
    }
    if (fstat(fileno(stream), &info) != 0 || !S_ISREG(info.st_mode)) {
        fclose(stream);
        return complain(command, "read", path, "not a regular file");
    }
    file->bytes = (size_t)info.st_size;
    file->data = leo_alloc(file->bytes + 1);
    if (!file->data || fread(file->data, 1, file->bytes, stream) != file->bytes) {
        complain(command, "read", path, file->data ? "read error" : "out of memory");
        fclose(stream);
        file_finish(file);
        return false;
    }
    file->data[file->bytes] = 0;
    fclose(stream);
    return true;
}

bool file_write(const char *command, const char *path, const void *data, size_t bytes)
{
    FILE *stream = fopen(path, "wb");
    if (!stream) {
        return complain(command, "write", path, strerror(errno));
    }
    bool failed = fwrite(data, 1, bytes, stream) != bytes;
    failed |= fclose(stream) != 0;
    return failed ? complain(command, "write", path, strerror(errno)) : true;
}

void file_finish(struct file_bytes *file)
{
    leo_free(file->data);
    *file = (struct file_bytes){0};
}
