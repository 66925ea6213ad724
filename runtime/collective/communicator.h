/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Communicators on the streams of devices: what every vendor face of collectives (hccl, cncl) needs
 * once. A face defines `comm_face` and translates names, types, defaults and error codes.
 *
 * Calls return the core's status codes and those of enum comm_code; the text is
 * leo_rt_last_error().
 */
#pragma once

#include "collective.h"

#include <leo/runtime.h>

enum comm_code {
    COMM_LAST = -1300, /**< no code is lower */
    COMM_BAD_POINTER,  /**< NULL, or no live communicator */
    COMM_BAD_NETWORK,  /**< no place to meet, or the others were not reached */
    COMM_NO_THREAD,    /**< the system gives no thread */
    COMM_NO_FILE,      /**< a file cannot be opened */
    COMM_RUNTIME,      /**< a call of the runtime failed */
    COMM_CODES_END,
};

enum {
    COMM_NAME_BYTES = 128,
    COMM_ROOT_BYTES = 64,   /**< of what says where a group meets */
    COMM_NO_REDUCTION = -1, /**< in comm_call.reduction */
    COMM_NO_DEVICE = -1
};

/** A face's type of elements. */
struct comm_type {
    int number;     /**< the face's, for error texts */
    unsigned bytes; /**< 0: not known */
    bool computes;  /**< false: it is only carried */
    enum coll_type type;
};

/** A number from the environment, in seconds. */
struct comm_seconds {
    const char *variable; /**< NULL: only the default */
    unsigned otherwise;   /**< 0 = for ever */
};

/** What a face is; each library defines its own. */
struct comm_face {
    const char *set_device; /**< its call that puts a thread on a device, for error texts */
    /** Environment variables: where rank 0 listens. NULL: not to be chosen. */
    const char *interface_variable, *address_variable;
    struct comm_seconds connect, execute;
    leo_status (*device_get)(struct leo_rt_device **device); /**< the calling thread's */
    leo_status (*device_set)(int32_t id);
    leo_status (*stream_get)(const void *handle, struct leo_rt_stream **stream);
    /** Its type of a number, as kernels give it; NULL: kernels are not served. */
    struct comm_type (*type_get)(uint32_t number);
    /** An operation failed, on a thread of its own; may be NULL. */
    void (*failed)(leo_status status, const char *func, const char *text);
};
extern const struct comm_face comm_face;

/** One rank of a group; the face's handle is its address. */
struct comm;

/* place.c */
/** Opens a bootstrap place; `bytes` (COMM_ROOT_BYTES) says where, to the other ranks too. */
leo_status comm_root_create(uint8_t *bytes);

/* comm.c */
struct comm_opts {
    uint32_t ranks, rank;
    const char *name;    /**< NULL: where the group meets */
    int32_t execute_s;   /**< longest an operation may take; -1: the face's */
    const uint8_t *root; /**< of comm_root_create */
};
/** Blocks until all came. Rank 0 must be the process that made the root, once a group. */
leo_status comm_create(const struct comm_opts *opts, void **out);
/** LEO_OK: `handle` is a live communicator. */
leo_status comm_check(const void *handle);
/** Finishes what was begun first. */
leo_status comm_destroy(void *handle);
/** Gives up what was begun. */
leo_status comm_abort(void *handle);

struct comm_info {
    uint32_t ranks, rank;
    const char *name;       /**< the communicator's */
    leo_status first_error; /**< of an operation that failed after it was queued */
    bool is_busy;           /**< operations are under way */
    int32_t device;         /**< of comm_member; COMM_NO_DEVICE: the rank was made alone */
};
leo_status comm_info(const void *handle, struct comm_info *info);

/* join.c: several ranks at once, and parts of groups */
struct comm_member {
    int32_t device;
    uint32_t rank;
};
/** Some ranks of a group, in this process; the calling thread's device stays. `root` NULL: all are
 * here. All or none. */
leo_status comm_create_all(const uint8_t *root, uint32_t ranks, const struct comm_member *members,
                           uint32_t count, void **out);
/** A group of some ranks of another, of which this is the `index`-th. */
leo_status comm_split(const void *parent, const uint32_t *ranks, uint32_t count, uint32_t index,
                      uint64_t id, const struct comm_opts *opts, void **out);

/* rank_table.c */
/** The ranks of a file; `port_variable` names the environment's base port. opts: name, execute_s.
 */
leo_status comm_create_listed(const char *path, const char *port_variable, uint32_t rank,
                              const struct comm_opts *opts, void **out);

/** A collective; counts as coll_op has them. */
struct comm_call {
    const char *func;
    enum coll_kind kind;
    const void *send;
    void *recv;
    uint64_t count;
    struct comm_type type;
    int reduction; /**< enum coll_reduction, COMM_NO_REDUCTION */
    uint32_t root;
    /** Parts of several sizes, arrays of one element a rank: all_to_all all four, all_gather those
     * received, reduce_scatter those sent (`count` is then this rank's part). Or, of all_to_all,
     * what every rank sends to every: parts one after the other. */
    bool has_parts;
    const uint64_t *send_count, *send_offset, *recv_count, *recv_offset;
    const uint64_t *matrix;
};

/* call.c */
/** Puts it into the stream. A group of one rank copies. */
leo_status comm_call(const struct comm_call *call, const void *handle, const void *stream);

/* exchange.c */
/** Operators find this process's communicators by name from now on (leo/exchange.h). */
void comm_offer_exchanges(void);

/** A send or receive. */
struct comm_message {
    bool is_send;
    uint32_t peer;
    void *buf;
    uint64_t count;
    struct comm_type type;
    bool may_be_own; /**< peer may be the rank itself: sends are copied to receives, in order */
};

/* message.c */
/** Into the stream, or gathered if the calling thread has begun to. */
leo_status comm_message(const char *func, const struct comm_message *message, const void *handle,
                        const void *stream);
/** Messages of the calling thread are gathered between the two, which may be nested, and are then
 * under way together. If one of them failed, none goes. */
void comm_gather_begin(void);
leo_status comm_gather_end(const char *func);
