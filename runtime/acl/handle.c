/* SPDX-License-Identifier: Apache-2.0 */
/* The face's handles: the table of front/handle.h in the process's state. */
#include "acl_internal.h"

#include <string.h>

static struct front_table *table(void)
{
    return &acl_process()->handles;
}

void acl_handle_add(struct front_handle *handle, enum acl_kind kind, struct front_family *family)
{
    front_handle_add(table(), handle, (int)kind, family);
}

void *acl_handle_find(const void *ptr, enum acl_kind kind)
{
    return front_handle_find(table(), ptr, (int)kind);
}

void acl_handle_unpin(struct front_handle *handle)
{
    front_handle_unpin(table(), handle);
}

void acl_handle_unpin_variable(void *variable)
{
    struct front_handle *handle;
    memcpy(&handle, variable, sizeof(handle));
    if (handle) {
        acl_handle_unpin(handle);
    }
}

bool acl_handle_claim(struct front_handle *handle)
{
    return front_handle_claim(table(), handle);
}

void *acl_handle_take(struct front_family *family)
{
    return front_family_take(table(), family);
}

void acl_handle_remove(struct front_handle *handle)
{
    front_handle_remove(table(), handle);
}
