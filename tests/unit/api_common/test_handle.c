/* SPDX-License-Identifier: Apache-2.0 */
/* The table of handles by itself: pins, claims, slots that are used again. */
#include "harness.h"

#include <process/handle.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { KIND = 3, OTHER_KIND = 4, OBJECT_BYTES = 128 };

struct object {
    struct api_handle handle;
    char rest[OBJECT_BYTES - sizeof(struct api_handle)];
};

static struct object *make(struct api_table *table)
{
    struct object *object = api_handle_alloc(table, sizeof(*object));
    CU_ASSERT_PTR_NOT_NULL_FATAL(object);
    api_handle_add(table, &object->handle, KIND, NULL);
    return object;
}

struct claimer {
    struct api_table *table;
    struct object *object; /**< pinned by the claimer */
    atomic_bool is_claimed;
};

static void *claim(void *user)
{
    struct claimer *claimer = user;
    CU_ASSERT(api_handle_claim(claimer->table, &claimer->object->handle));
    atomic_store(&claimer->is_claimed, true);
    return NULL;
}

static void a_claim_waits_for_pins(void)
{
    struct api_table table = API_TABLE_INITIALIZER;
    struct object *object = make(&table);
    struct claimer claimer = {.table = &table, .object = object};
    pthread_t thread;
    CU_ASSERT_PTR_EQUAL(api_handle_find(&table, object, KIND), object); // a call that uses it
    CU_ASSERT_PTR_EQUAL(api_handle_find(&table, object, KIND), object); // the claimer's
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, claim, &claimer), 0);
    // Nobody finds it once it is to end; it may not end before the pin is gone.
    struct object *found;
    while ((found = api_handle_find(&table, object, KIND)) != NULL) {
        api_handle_unpin(&table, &found->handle);
        usleep(100);
    }
    usleep(20000);
    CU_ASSERT(!atomic_load(&claimer.is_claimed));
    api_handle_unpin(&table, &object->handle);
    pthread_join(thread, NULL);
    CU_ASSERT(atomic_load(&claimer.is_claimed));
    api_handle_free(&table, &object->handle);
    CU_ASSERT_PTR_NULL(api_handle_find(&table, object, KIND));
}

static void only_live_handles_of_the_kind_are_found(void)
{
    struct api_table table = API_TABLE_INITIALIZER;
    struct object *object = make(&table), *later = make(&table);
    CU_ASSERT_PTR_NULL(api_handle_find(&table, object, OTHER_KIND));
    CU_ASSERT_PTR_NULL(api_handle_find(&table, (char *)object + 8, KIND));
    CU_ASSERT_PTR_NULL(api_handle_find(&table, &table, KIND));
    CU_ASSERT_PTR_NULL(api_handle_find(&table, NULL, KIND));
    CU_ASSERT(later->handle.serial != object->handle.serial);
    CU_ASSERT_PTR_EQUAL(api_handle_find(&table, object, KIND), object);
    CU_ASSERT(api_handle_claim(&table, &object->handle));
    api_handle_free(&table, &object->handle);
    CU_ASSERT_PTR_NULL(api_handle_find(&table, object, KIND));
    CU_ASSERT_PTR_EQUAL(api_handle_find(&table, later, KIND), later);
    CU_ASSERT(api_handle_claim(&table, &later->handle));
    api_handle_free(&table, &later->handle);
}

static const struct leo_test tests[] = {
    {"a_claim_waits_for_pins", a_claim_waits_for_pins},
    {"only_live_handles_of_the_kind_are_found", only_live_handles_of_the_kind_are_found},
};

int main(int argc, char **argv)
{
    return leo_test_main("api_handle", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
