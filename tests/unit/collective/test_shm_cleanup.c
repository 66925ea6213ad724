/* SPDX-License-Identifier: Apache-2.0 */
#include <collective/shm_cleanup.h>

#include "harness.h"
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

/* Named as the library names them; the process's number keeps tests that run side by side apart. */
static int make_file(char *path, size_t bytes, int number)
{
    snprintf(path, bytes, "/dev/shm/ucx_shm_posix_%x%d", (unsigned)getpid(), number);
    int fd = open(path, O_CREAT | O_RDWR | O_EXCL, 0600);
    CU_ASSERT_FATAL(fd >= 0 && ftruncate(fd, 4096) == 0);
    return fd;
}

static void only_what_nobody_has_is_removed(void)
{
    char orphan[64], opened[64], mapped[64];
    close(make_file(orphan, sizeof(orphan), 1));
    int fd = make_file(opened, sizeof(opened), 2);
    int other = make_file(mapped, sizeof(mapped), 3);
    void *memory = mmap(NULL, 4096, PROT_READ, MAP_SHARED, other, 0);
    CU_ASSERT_FATAL(memory != MAP_FAILED);
    close(other);
    coll_shm_cleanup();
    CU_ASSERT_EQUAL(access(orphan, F_OK), -1);
    CU_ASSERT_EQUAL(access(opened, F_OK), 0);
    CU_ASSERT_EQUAL(access(mapped, F_OK), 0);
    close(fd);
    munmap(memory, 4096);
    coll_shm_cleanup();
    CU_ASSERT_EQUAL(access(opened, F_OK), -1);
    CU_ASSERT_EQUAL(access(mapped, F_OK), -1);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"only_what_nobody_has_is_removed", only_what_nobody_has_is_removed},
    };
    return leo_test_main("shm_cleanup", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
