/* SPDX-License-Identifier: Apache-2.0 */
/* Meeting places that this process opened. */
#include "communicator_internal.h"

#include <leo/alloc.h>
#include <stdlib.h>
#include <string.h>

/* A bootstrap place whose rank 0 has not come yet. */
struct place {
    struct place *next;
    struct coll_root root;
    struct coll_bootstrap *bootstrap;
};

// The APIs have no handle to keep them in (decision 8).
static struct {
    pthread_mutex_t lock; // protects the list
    struct place *first;
} the_places = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const char *setting(const char *variable)
{
    return variable ? getenv(variable) : NULL;
}

leo_status comm_place_open(struct coll_root *root)
{
    const char *address = setting(comm_face.address_variable);
    const char *interface = setting(comm_face.interface_variable);
    struct place *place = leo_calloc(1, sizeof(*place));
    if (!place) {
        return leo_rt_fail(LEO_ERR_NO_MEMORY, "out of host memory");
    }
    leo_status status = coll_bootstrap_create(interface, address, &place->root, &place->bootstrap);
    if (status != LEO_OK) {
        leo_free(place);
        return leo_rt_fail(COMM_BAD_NETWORK, "cannot listen on %s %s: %s",
                           address ? "address" : "interface",
                           address     ? address
                           : interface ? interface
                                       : "of this host",
                           leo_status_text(status));
    }
    *root = place->root;
    pthread_mutex_lock(&the_places.lock);
    place->next = the_places.first;
    the_places.first = place;
    pthread_mutex_unlock(&the_places.lock);
    return LEO_OK;
}

struct coll_bootstrap *comm_place_take(const struct coll_root *root)
{
    struct coll_bootstrap *bootstrap = NULL;
    pthread_mutex_lock(&the_places.lock);
    for (struct place **at = &the_places.first; *at; at = &(*at)->next) {
        struct place *place = *at;
        if (memcmp(&place->root, root, sizeof(*root)) == 0) {
            *at = place->next;
            bootstrap = place->bootstrap;
            leo_free(place);
            break;
        }
    }
    pthread_mutex_unlock(&the_places.lock);
    return bootstrap;
}

leo_status comm_root_create(uint8_t *bytes)
{
    struct coll_root root;
    _Static_assert(sizeof(root) <= COMM_ROOT_BYTES, "a root fits");
    memset(bytes, 0, COMM_ROOT_BYTES);
    leo_status status = comm_place_open(&root);
    if (status == LEO_OK) {
        memcpy(bytes, &root, sizeof(root));
    }
    return status;
}
