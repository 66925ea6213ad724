/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory that lies in a file which other processes map too. */
#include "../rt.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

typedef unsigned long long ull; // for printf

static leo_status map_file(struct leo_rt_device *device, int fd, uint64_t offset, uint64_t bytes,
                           void **host)
{
    // Another process reads and writes it when it likes.
    pthread_mutex_lock(&device->lock);
    rt_run_ahead_stop(device);
    pthread_mutex_unlock(&device->lock);
    *host = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);
    return *host == MAP_FAILED ? rt_fail(LEO_ERR_NO_MEMORY, "device %d: cannot map %llu bytes: %s",
                                         device->index, (ull)bytes, strerror(errno))
                               : LEO_OK;
}

static leo_status tell(struct leo_rt_device *device, leo_status status, void *host, uint64_t bytes)
{
    if (status == LEO_OK) {
        return LEO_OK;
    }
    munmap(host, bytes);
    return rt_fail(status, "device %d: %llu bytes cannot be shared: %s", device->index, (ull)bytes,
                   leo_status_text(status));
}

leo_status leo_rt_memory_share(struct leo_rt_device *device, uint64_t addr, uint64_t bytes, int fd,
                               uint64_t offset, bool keep)
{
    void *host;
    leo_status status = map_file(device, fd, offset, bytes, &host);
    return status != LEO_OK
               ? status
               : tell(device, leo_drv_memory_adopt(device->drv, addr, bytes, host, keep), host,
                      bytes);
}

leo_status leo_rt_memory_attach(struct leo_rt_device *device, int fd, uint64_t offset,
                                uint64_t bytes, uint64_t *addr)
{
    void *host;
    leo_status status = map_file(device, fd, offset, bytes, &host);
    return status != LEO_OK
               ? status
               : tell(device, leo_drv_memory_attach(device->drv, bytes, host, addr), host, bytes);
}

leo_status leo_rt_memory_detach(struct leo_rt_device *device, uint64_t addr)
{
    leo_status status = leo_drv_memory_detach(device->drv, addr);
    return status == LEO_OK ? LEO_OK
                            : rt_fail(status, "device %d: no attached memory begins at 0x%llx",
                                      device->index, (ull)addr);
}
