/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE // memfd_create
#include "shared.h"

#include "../process/code.h"

#include <errno.h>
#include <fcntl.h>
#include <leo/alloc.h>
#include <leo/runtime.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// Bits of an id: Linux has no more processes than 2^22.
enum { PID_BITS = 22, FD_BITS = 16, NONCE_BITS = 64 - PID_BITS - FD_BITS };

// How long a wait lasts at most before it looks whether the others still live.
#define TURN_NS 50000000L

static api_shared_id make_id(int32_t pid, int fd, uint32_t nonce)
{
    return (uint64_t)pid << (FD_BITS + NONCE_BITS) | (uint64_t)fd << NONCE_BITS | nonce;
}

static int32_t pid_of(api_shared_id id)
{
    return (int32_t)(id >> (FD_BITS + NONCE_BITS));
}

static int fd_of(api_shared_id id)
{
    return (int)(id >> NONCE_BITS & ((1u << FD_BITS) - 1));
}

static uint32_t nonce_of(api_shared_id id)
{
    return (uint32_t)(id & ((UINT64_C(1) << NONCE_BITS) - 1));
}

static void write_name(char *name, size_t bytes, uint32_t nonce)
{
    snprintf(name, bytes, "leo-%07x", nonce);
}

static bool is_alive(int32_t pid)
{
    return kill(pid, 0) == 0 || errno == EPERM;
}

static leo_status wrap(int fd, api_shared_id id, bool mine, struct api_shared **out)
{
    struct api_shared *shared = leo_calloc(1, sizeof(*shared));
    void *head = shared ? mmap(NULL, API_SHARED_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                        : MAP_FAILED;
    if (head == MAP_FAILED) {
        leo_free(shared);
        close(fd);
        return leo_rt_fail(LEO_ERR_NO_MEMORY, "out of host memory");
    }
    *shared = (struct api_shared){.fd = fd, .id = id, .head = head, .mine = mine};
    atomic_init(&shared->uses, 1);
    *out = shared;
    return LEO_OK;
}

static void enter_user(struct api_shared_head *head)
{
    uint32_t at = atomic_fetch_add(&head->user_count, 1);
    if (at < API_SHARED_USERS) {
        atomic_store(&head->user[at], (int32_t)getpid());
    }
}

leo_status api_shared_create(enum api_shared_kind kind, uint64_t bytes, bool any_process,
                             struct api_shared **out)
{
    uint32_t nonce;
    char name[32];
    if (getrandom(&nonce, sizeof(nonce), 0) != sizeof(nonce)) {
        return leo_rt_fail(LEO_ERR_IO, "the system has no random numbers: %s", strerror(errno));
    }
    nonce &= (1u << NONCE_BITS) - 1;
    write_name(name, sizeof(name), nonce);
    int fd = memfd_create(name, MFD_CLOEXEC);
    if (fd < 0 || fd >= 1 << FD_BITS || ftruncate(fd, (off_t)(API_SHARED_PAGE + bytes)) != 0) {
        int reason = fd >= 1 << FD_BITS ? EMFILE : errno;
        if (fd >= 0) {
            close(fd);
        }
        return leo_rt_fail(LEO_ERR_NO_MEMORY, "no memory that processes share: %s",
                           strerror(reason));
    }
    leo_status status = wrap(fd, make_id((int32_t)getpid(), fd, nonce), true, out);
    if (status == LEO_OK) {
        struct api_shared_head *head = (*out)->head;
        head->kind = (uint32_t)kind;
        head->nonce = nonce;
        head->bytes = bytes;
        atomic_store(&head->any_process, any_process);
        enter_user(head);
    }
    return status;
}

// The name of a descriptor of another process tells whether it is still the object's; opening it
// unseen could block.
static int open_descriptor(api_shared_id id)
{
    char path[64], name[32], want[64], link[128];
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid_of(id), fd_of(id));
    write_name(name, sizeof(name), nonce_of(id));
    snprintf(want, sizeof(want), "/memfd:%s (deleted)", name);
    ssize_t length = readlink(path, link, sizeof(link) - 1);
    if (length < 0) {
        return -1;
    }
    link[length] = '\0';
    if (strcmp(link, want) != 0) {
        errno = ENOENT;
        return -1;
    }
    return open(path, O_RDWR | O_CLOEXEC);
}

static bool is_allowed(const struct api_shared_head *head)
{
    bool allowed = atomic_load(&head->any_process);
    uint32_t count = atomic_load(&head->pid_count);
    for (uint32_t i = 0; i < count && i < API_SHARED_PIDS && !allowed; i++) {
        allowed = atomic_load(&head->pid[i]) == (int32_t)getpid();
    }
    return allowed;
}

leo_status api_shared_open(api_shared_id id, enum api_shared_kind kind, struct api_shared **out)
{
    if (pid_of(id) == (int32_t)getpid()) {
        return leo_rt_fail(LEO_ERR_INVALID_ARG,
                           "the key is this process's own: it is for other processes");
    }
    int fd = open_descriptor(id);
    if (fd < 0) {
        return leo_rt_fail(LEO_ERR_INVALID_ARG, "what process %d shared under this key is gone: %s",
                           (int)pid_of(id),
                           is_alive(pid_of(id)) ? strerror(errno) : "the process has ended");
    }
    leo_status status = wrap(fd, id, false, out);
    if (status != LEO_OK) {
        return status;
    }
    struct api_shared_head *head = (*out)->head;
    if (head->kind != (uint32_t)kind || head->nonce != nonce_of(id)) {
        status = leo_rt_fail(LEO_ERR_INVALID_ARG, "the key names another kind of object");
    } else if (atomic_load(&head->closed)) {
        status = leo_rt_fail(LEO_ERR_INVALID_ARG, "process %d has closed the key", (int)pid_of(id));
    } else if (!is_allowed(head)) {
        status = leo_rt_fail(LEO_ERR_INVALID_ARG,
                             "process %d has not allowed this process (%d) to import its key",
                             (int)pid_of(id), (int)getpid());
    }
    if (status != LEO_OK) {
        api_shared_drop(*out);
        *out = NULL;
        return status;
    }
    enter_user(head);
    return LEO_OK;
}

void api_shared_use(struct api_shared *shared)
{
    atomic_fetch_add(&shared->uses, 1);
}

void api_shared_drop(struct api_shared *shared)
{
    if (!shared || atomic_fetch_sub(&shared->uses, 1) != 1) {
        return;
    }
    if (shared->mine) {
        api_shared_close(shared);
    }
    munmap(shared->head, API_SHARED_PAGE);
    close(shared->fd);
    leo_free(shared);
}

void api_shared_close(struct api_shared *shared)
{
    atomic_store(&shared->head->closed, 1);
}

leo_status api_shared_allow(struct api_shared *shared, const int32_t *pids, size_t count)
{
    struct api_shared_head *head = shared->head;
    for (size_t i = 0; i < count; i++) {
        // Entered before it is counted: who reads sees whole entries only.
        uint32_t at = atomic_load(&head->pid_count);
        if (at >= API_SHARED_PIDS) {
            return leo_rt_fail(LEO_ERR_FULL, "a key is for %d processes at most", API_SHARED_PIDS);
        }
        atomic_store(&head->pid[at], pids[i]);
        atomic_store(&head->pid_count, at + 1);
    }
    return LEO_OK;
}

bool api_shared_has_others(const struct api_shared *shared)
{
    const struct api_shared_head *head = shared->head;
    uint32_t count = atomic_load(&head->user_count);
    for (uint32_t i = 0; i < count && i < API_SHARED_USERS; i++) {
        int32_t pid = atomic_load(&head->user[i]);
        if (pid && pid != (int32_t)getpid() && is_alive(pid)) {
            return true;
        }
    }
    return count > API_SHARED_USERS;
}

void api_shared_key(api_shared_id id, char key[API_KEY_BYTES])
{
    memset(key, 0, API_KEY_BYTES);
    snprintf(key, API_KEY_BYTES, "leo-ipc-%016llx", (unsigned long long)id);
}

leo_status api_shared_id_of(const char *key, api_shared_id *id)
{
    unsigned long long value;
    int length = 0;
    char text[API_KEY_BYTES];
    memcpy(text, key, strnlen(key, API_KEY_BYTES - 1) + 1);
    text[API_KEY_BYTES - 1] = '\0';
    if (sscanf(text, "leo-ipc-%16llx%n", &value, &length) != 1 || text[length]) {
        return leo_rt_fail(LEO_ERR_INVALID_ARG, "'%s' is no key that a process exported", text);
    }
    *id = value;
    return LEO_OK;
}

void api_shared_changed(struct api_shared_head *head)
{
    atomic_fetch_add(&head->turn, 1);
    syscall(SYS_futex, &head->turn, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void api_shared_wait(struct api_shared_head *head, uint32_t turn)
{
    const struct timespec limit = {.tv_nsec = TURN_NS};
    syscall(SYS_futex, &head->turn, FUTEX_WAIT, turn, &limit, NULL, 0);
}
