/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the runtime core share. */
#pragma once

#include "profiling/tags.h"
#include <leo/driver.h>
#include <leo/runtime.h>
#include <leo/status_page.h>
#include <pthread.h>
#include <stdatomic.h>

enum {
    RT_DEVICES_MAX = 8,
    RT_STREAM_DEPTH = 1024,
    RT_ARGS_BYTES = 1 << 20, /**< argument ring of a stream: a pass of ResNet-50 fits */
    RT_ARGS_ALIGN = 64,
    RT_FAULT_TEXT = 8192,      /**< bytes of the text of a fault; the checker may find much */
    RT_HOST_WAIT_NS = 1000000, /**< most that a thread waits for the host before it looks again */
    RT_QUERY_NS = 0, /**< a query lets the device take one step, whatever the host's speed */
};

struct rt_profile;
struct rt_image;
struct rt_print;
struct gdb_server;
struct rt_code;

/** The addresses of an open device. */
struct rt_range {
    uint64_t base, bytes;
    struct leo_rt_device *device;
};

/** What launching costs the simulated host (host_model.c). */
struct rt_host_model {
    bool is_on;
    uint32_t depth; /**< tasks that wait for the launching thread at most; 0: there is none */
    uint64_t script_ns, launch_ns;
    char text[160]; /**< what it is, for profiles and reports */
};

/** Costs of a framework's host, if the environment gives none (host_framework.c). */
struct rt_framework {
    const char *name;
    uint64_t script_ns, prepare_ns, launch_ns;
    const char *origin; /**< of these numbers */
};

struct leo_rt {
    struct leo_rt_opts opts;         /**< resolved: env and defaults filled in */
    char *soc_text;                  /**< if read from a file */
    char *soc_name, *simd, *tape;    /**< copies of the options' text */
    char told_as[LEO_RT_NAME_BYTES]; /**< leo_rt_device_told_as; "": the file does not say */
    unsigned check;                  /**< enum leo_drv_check bits */
    struct rt_host_model host_model;
    struct gdb_server *gdb; /**< NULL: no debugger */
    struct rt_code *code;   /**< instructions are counted there; NULL: they are not */
    bool has_failed;        /**< a task ended in a fault */
    bool may_run_ahead;     /**< LEO_AHEAD */
    pthread_mutex_t lock;   /**< Protects the table of devices and their references. */
    struct leo_rt_device *devices[RT_DEVICES_MAX];
    /** Protects `range`; taken last. */
    pthread_mutex_t range_lock;
    struct rt_range range[RT_DEVICES_MAX];
    struct leo_status_page *status; /**< what other processes see; NULL: nothing */
    int status_fd;                  /**< of the page; -1 = none */
};

/** Host memory the device reaches, lent to copies and large argument blocks. */
struct rt_staging {
    void *ptr;
    uint64_t dma_addr;
    size_t bytes;
    struct rt_staging *next;
};

enum { RT_STAGING_CLASSES = 9 }; // 4 KiB .. 1 MiB

/** Host memory the device reaches: given to the user, or the user's own (registered). */
struct rt_pinned {
    uintptr_t base;
    size_t bytes;
    uint64_t dma_addr;
    bool registered;
};

/** The device's side of an event. Slots are used again; their sequence only grows. */
struct rt_event_slot {
    uint64_t sequence; /**< of the last record submitted */
    uint64_t done;     /**< of the last record completed */
    uint64_t time_ns;  /**< when that was */
    uint64_t recorded; /**< of the last record that a stream took */
    uint64_t awaited;  /**< of the latest record that a stream waits or waited for */
    uint32_t waits;    /**< of streams, not yet over */
    uint32_t next_free;
    bool retired; /**< no event has it; free when its records and waits are over */
};

/** How far a device's tasks are, as the host sees it, and what makes it go on. Under the device's
 * lock but for host_ns. */
struct rt_progress {
    _Atomic uint64_t host_ns;
    uint64_t launches, last_launch_ns; /**< by the launching thread of the host model */
    uint64_t *launched_ns;             /**< ring: when the last `depth` tasks left its queue */
    uint64_t newest_end_ns;            /**< of any task */
    uint64_t seen;                     /**< interrupts taken when all streams were last polled */
    uint64_t calls;         /**< that the program made and that concern the device's tasks */
    uint64_t asks;          /**< whether something is done: each moves the device a little */
    uint64_t stalled_calls; /**< `calls` when it last could not go on */
    unsigned waiters;       /**< threads in a call that waits for its tasks */
    /* Tasks of the host. */
    unsigned host_jobs;              /**< that are in streams and have not ended */
    uint64_t host_ends;              /**< how many have ended */
    pthread_cond_t host_changed;     /**< one of them ended */
    struct leo_rt_promise *promises; /**< what kernels poll memory for (promise.c) */
    /* Copies to host memory that no call waits for. */
    unsigned host_copies;      /**< under way */
    uint64_t host_copies_done; /**< and done so far */
    uint64_t host_copy_ns;     /**< end of the last of them */
    /* Values before their time (run_ahead.c, run_ahead_thread.c). */
    bool may_run_ahead;
    bool is_running_ahead; /**< the run-ahead thread moves the device */
    bool has_run_ahead_thread, run_ahead_stop, run_ahead_asleep;
    pthread_t run_ahead_thread;
    pthread_cond_t run_ahead_changed;
    uint64_t run_ahead_calls;          /**< `calls` when no more could be done */
    struct leo_rt_stream *solo_stream; /**< has all tasks that the program has not waited for */
    uint64_t solo_seen;                /**< tasks of it that the program has waited for */
    unsigned streams_made;             /**< by the program, default streams apart */
    bool is_shared;                    /**< it moves only in waits */
    bool is_watched;                   /**< tasks look for what others store */
    bool peer_copies;                  /**< it has copied to or from memory of another device */
};

struct leo_rt_device {
    struct leo_rt *rt;
    int index, refs;
    struct leo_drv_device *drv;
    struct leo_caps caps;
    /** Protects everything below and all streams, events and modules of the device. Not held while
     * waiting. */
    pthread_mutex_t lock;
    struct rt_progress progress;
    struct leo_rt_stream *streams;
    struct leo_rt_stream *copy_stream; /**< carries synchronous copies */
    struct leo_rt_event *events;
    uint32_t event_count;
    struct rt_event_slot *slots;
    uint32_t slot_count, slot_capacity, slot_free; /**< slot_free: index + 1, 0 = none */
    struct leo_rt_graph *graphs;
    struct leo_rt_module *modules;
    struct leo_rt_use use; /**< since it was last asked */
    uint64_t use_from_ns;  /**< simulated time then */
    struct rt_staging *staging[RT_STAGING_CLASSES];
    size_t staging_bytes; /**< cached in the lists above */
    void *pinned;         /**< tree (tsearch) of rt_pinned */
    struct rt_profile *profile;
    struct rt_tags tags;         /**< names of tasks; protected by `lock` */
    pthread_mutex_t print_lock;  /**< one thread reads what kernels print; taken before `lock` */
    _Atomic bool prints_pending; /**< a kernel that may print was launched since */
    void *attached;              /**< of a library on top (leo_rt_device_attach) */
    void (*destroy_attached)(void *object);
};

/** How a task ended whose caller waits for it. */
struct rt_outcome {
    struct leo_drv_completion done;
    char text[RT_FAULT_TEXT]; /**< if it failed */
};

/** One entry under way, and what to give back when it is done. */
struct rt_task {
    const struct leo_rt_kernel *kernel; /**< NULL: not a kernel */
    const char *what;                   /**< "copy", "fill", ... */
    struct rt_staging *staging;         /**< given back at the end */
    uint64_t mapped;                    /**< DMA address to unmap, 0 = none */
    uint64_t event_sequence;
    uint32_t event_slot;        /**< slot + 1, 0 = no record */
    uint32_t wait_slot;         /**< slot + 1 of an event waited for, 0 = none */
    uint32_t args_at, args_end; /**< its place in the argument ring; end 0 = none */
    uint64_t end_ns;
    uint64_t not_before_ns;     /**< simulated time before which it may not start */
    struct rt_outcome *outcome; /**< its failure goes here; NULL: it is the stream's */
    bool to_host;               /**< a copy to host memory, and no call waits for it */
    uint64_t *graph_tasks;      /**< counts the tasks of its graph that are under way; NULL: none */
    bool by_worker;             /**< a host worker submits it, which is not the script */
};

/** Work of the host. */
struct rt_host_work {
    struct leo_rt_host_worker *worker; /**< NULL: none */
    /** Puts it into a stream; `graph_tasks` goes down when it has ended. Caller holds no lock. */
    leo_status (*replay)(const struct rt_host_work *work, struct leo_rt_stream *stream,
                         uint64_t *graph_tasks);
    leo_rt_host_fn run;
    void (*release)(void *user); /**< NULL: nothing to release */
    void *user;
};

struct rt_sink;

struct leo_rt_stream {
    struct leo_rt_device *device;
    struct leo_rt_stream *next;
    struct leo_drv_queue *queue;
    struct rt_task *tasks; /**< ring of `depth` */
    uint32_t depth;
    uint64_t submitted, completed, settled; /**< counts since creation */
    uint64_t end_ns;                        /**< end of the last settled task */
    char *args;                             /**< argument ring */
    uint64_t args_addr;
    uint32_t args_head, args_tail,
        args_tasks;                 /**< next place; oldest in use; tasks that hold a place */
    unsigned operators;             /**< begun and not ended (leo_rt_operator_begin) */
    bool operator_paid;             /**< the host model has charged it */
    unsigned asks;                  /**< queries since it was last given a task */
    const struct rt_sink *sink;     /**< where what it is given goes */
    struct leo_rt_graph *graph;     /**< of a sink that captures */
    bool updates_graph;             /**< in place of tasks that are there */
    uint64_t graph_nodes;           /**< tasks it gave to the capture */
    uint64_t graph_joined_at;       /**< graph_nodes + 1 when another stream waited for its end */
    enum leo_float_mode float_mode; /**< of its kernels */
    bool stop_on_failure;           /**< tasks behind one that failed do not start */
    bool is_stopped;  /**< one failed and was reported: what came after it was not done */
    bool has_failure; /**< a task failed and its text is not made yet */
    struct rt_task failed_task;
    uint64_t failed_number; /**< it was the how many-th task, from 1 */
    struct leo_drv_completion failure;
    enum leo_fault fault, last_fault; /**< waiting for synchronize; reported by it */
    enum leo_core_kind fault_kind, last_fault_kind;
    char fault_text[RT_FAULT_TEXT];
    leo_status host_status; /**< of the first host task that failed since synchronize, or LEO_OK */
    char host_text[512];
    uint64_t shared_addr, shared_bytes; /**< memory of clusters (cluster.c); 0: none yet */
};

struct leo_rt_event {
    struct leo_rt_device *device;
    struct leo_rt_event *previous, *next;
    uint32_t slot;
    uint32_t old_slot;          /**< + 1, of the record before, if that was under way; else 0 */
    uint64_t old_record;        /**< which was the last one there */
    uint64_t sequence;          /**< of its last record, 0 = never recorded, or reset since */
    struct leo_rt_graph *graph; /**< it is a mark in this capture */
    const struct rt_sink *sink; /**< that capture's */
    struct leo_rt_stream *graph_stream; /**< in this stream, after so many of its tasks */
    uint64_t graph_nodes;
    const struct leo_rt_stream *recorded; /**< where it was last; only compared */
    uint64_t recorded_after;              /**< tasks of that stream, its own included */
    unsigned asks;                        /**< queries since its last record */
    bool is_reset;                        /**< not recorded since: a wait is for the next record */
};

/** Where an argument block goes. */
struct rt_place {
    char *ptr;
    uint64_t addr;
    uint32_t args_at, args_end; /**< its place in the stream's ring; end 0 = not there */
};

/** Where what a stream is given goes: to the device, or into a capture (graph.c). Chosen when a
 * capture begins and ends; called with the device's lock held. */
struct rt_sink {
    leo_status (*submit)(struct leo_rt_stream *stream, struct leo_sqe *entry,
                         const struct rt_task *task, uint64_t host_ns);
    /** Room for an argument block. */
    leo_status (*place)(struct leo_rt_stream *stream, uint32_t bytes, struct rt_place *place);
    leo_status (*record)(struct leo_rt_event *event, struct leo_rt_stream *stream);
    leo_status (*wait)(struct leo_rt_event *event, struct leo_rt_stream *stream);
    /** The stream goes away. */
    void (*lose)(struct leo_rt_stream *stream);
    bool is_capture; /**< tasks run later, and more than once: none may use memory of the stream */
};

extern const struct rt_sink rt_device_sink;

struct rt_arg {
    struct leo_rt_arg_info info;
    uint32_t slot;   /**< first slot */
    uint32_t offset; /**< of the copy in the block, if larger than two slots; else 0 */
};

struct leo_rt_kernel {
    struct leo_rt_module *module;
    char *text; /**< the note; name and argument names point into it */
    const char *name;
    uint32_t arch, entry;
    enum leo_core_kind kind;
    struct rt_arg *args;
    unsigned arg_count;
    uint32_t slots, block_bytes;
    uint64_t reloc;
    bool takes_task;       /**< the block ends with struct rt_task_words */
    uint32_t shared_bytes; /**< memory of a cluster that it uses */
};

/** As isa/layout/kernel_note.layout tells. */
struct rt_task_words {
    uint32_t dim[3], type;
    uint64_t shared_addr;
    uint32_t shared_bytes, clusters;
};

struct leo_rt_module {
    struct leo_rt_device *device;
    struct leo_rt_module *next;
    char *name;
    struct rt_image *image;
    struct rt_print *print; /**< NULL: its kernels print nothing */
    uint64_t image_addr;
    uint64_t tasks;    /**< of its kernels, under way */
    uint64_t captured; /**< tasks of graphs that launch its kernels */
};

/* execution/cluster.c: of kernels that ask how their blocks lie */
leo_status rt_cluster_check(const struct leo_rt_kernel *kernel, uint32_t block_num,
                            const struct leo_rt_launch_opts *opts);
/* Under the device's lock; may wait for the stream's tasks, once for each larger size. */
leo_status rt_cluster_prepare(const struct leo_rt_kernel *kernel, uint32_t block_num,
                              struct leo_rt_stream *stream, const struct leo_rt_launch_opts *opts,
                              struct rt_task_words *words);

/* error.c, log.c */
/** Sets the calling thread's error text and returns `status`. */
leo_status rt_fail(leo_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void rt_log(const struct leo_rt *rt, int level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* soc.c */
/** A number with a point, whatever the locale. */
double rt_number(const char *text);
/** What the runtime keeps of the SoC file: told_as. */
void rt_soc_read_name(struct leo_rt *rt);

/* env.c */
/** Fills options that are not set from the environment or by default. */
LEO_MUST_CHECK leo_status rt_env_resolve(struct leo_rt_opts *opts);
/** What LEO_CHECK, or the option if not NULL, asks for: enum leo_drv_check bits. */
LEO_MUST_CHECK leo_status rt_env_check(const char *option, unsigned *bits);
/** A variable that is 0 or 1; not set: *value stays. */
LEO_MUST_CHECK leo_status rt_env_flag(const char *name, bool *value);
/* host_framework.c */
/** The framework whose libraries the process has loaded; NULL: none that is known. */
const struct rt_framework *rt_framework_loaded(void);
/** One by its name, or NULL. */
const struct rt_framework *rt_framework_named(const char *name);

/* host_model.c */
LEO_MUST_CHECK leo_status rt_host_model_read(struct rt_host_model *model);
LEO_MUST_CHECK leo_status rt_host_model_start(struct leo_rt_device *device);
/** The simulated time at which the device sees what is launched now; `is_operator`: it costs the
 * script an operator's time, else it costs the launching thread alone. Caller holds the device's
 * lock. */
uint64_t rt_host_model_launch(struct leo_rt_device *device, bool is_operator);
/** Whether the script, which asks, may learn that something has ended at `end_ns`: its own clock
 * must have got there, however far the chip is, or it does nothing but ask (`asks` times). */
bool rt_host_model_sees(const struct leo_rt_device *device, uint64_t end_ns, unsigned asks);

/* device.c, progress/pump.c */
LEO_MUST_CHECK leo_status rt_device_create(struct leo_rt *rt, int index,
                                           struct leo_rt_device **out);
void rt_device_destroy(struct leo_rt_device *device);
/** Waits for an interrupt without the lock, then takes completions of all streams. Caller holds
 * lock. */
LEO_MUST_CHECK leo_status rt_device_pump(struct leo_rt_device *device, uint64_t timeout_ns);
/** The same; LEO_ERR_NOT_READY too when a kernel has run for `kernel_ns` of simulated time. */
LEO_MUST_CHECK leo_status rt_device_pump_within(struct leo_rt_device *device, uint64_t timeout_ns,
                                                uint64_t kernel_ns);
/** Takes completions of all streams. Caller holds lock. */
LEO_MUST_CHECK leo_status rt_device_poll(struct leo_rt_device *device);
/** Pumps until `is_done`; timeout_ms < 0: for ever. `what` names it in the error. Caller holds
 * lock. */
LEO_MUST_CHECK leo_status rt_device_wait(struct leo_rt_device *device,
                                         bool (*is_done)(const void *arg), const void *arg,
                                         int timeout_ms, const char *what);
/** Whether a stream has work under way. Caller holds lock. */
bool rt_device_is_busy(const struct leo_rt_device *device);
/** Waits until no stream has work under way. Caller holds lock. */
LEO_MUST_CHECK leo_status rt_device_wait_tasks(struct leo_rt_device *device);
/** The same; the program has seen the ends of all. */
LEO_MUST_CHECK leo_status rt_device_wait_idle(struct leo_rt_device *device);
/** The host has seen a time: its clock is no earlier. */
void rt_device_see_time(struct leo_rt_device *device, uint64_t ns);

/* run_ahead.c: with the device's lock held */
/** Tasks go into a stream now; waits for other streams if they must not be passed. */
void rt_run_ahead_claim(struct leo_rt_stream *stream);
/** The program has waited for the stream's first `count` tasks. */
void rt_run_ahead_seen(const struct leo_rt_stream *stream, uint64_t count);
/** The stream ends. */
void rt_run_ahead_lose(const struct leo_rt_stream *stream);
/** From now on the device moves only in waits. */
void rt_run_ahead_stop(struct leo_rt_device *device);
/** Tasks may look for what tasks of other streams store, in loops of kernels or waits for values:
 * nothing is stored early any more, and each store is seen at its time. */
void rt_run_ahead_watch(struct leo_rt_device *device);
bool rt_run_ahead_has_work(const struct leo_rt_device *device);
/** Moves the device until a thread of the program waits, or there is nothing to do. */
void rt_run_ahead_work(struct leo_rt_device *device);

enum { RT_TURN_NS = 1000000 /**< after which the run-ahead thread looks up */ };

/* run_ahead_thread.c: the first two with the device's lock held */
/** A task went into a stream. */
void rt_run_ahead_thread_submitted(struct leo_rt_device *device);
/** A copy to host memory that no call waits for is under way. */
void rt_run_ahead_thread_copy(struct leo_rt_device *device);
/** Ends the thread, if there is one. */
void rt_run_ahead_thread_finish(struct leo_rt_device *device);

/* stream.c, submit.c, completion.c: callers hold the device's lock */
LEO_MUST_CHECK leo_status rt_stream_create(struct leo_rt_device *device,
                                           const struct leo_rt_stream_opts *opts,
                                           struct leo_rt_stream **out);
/** Waits until the queue takes another entry. If it need not wait, no other thread gets in between.
 */
LEO_MUST_CHECK leo_status rt_stream_wait_room(struct leo_rt_stream *stream);
/** Submits an entry (waits for room). On failure the task's resources stay the caller's. */
LEO_MUST_CHECK leo_status rt_stream_submit(struct leo_rt_stream *stream, struct leo_sqe *entry,
                                           const struct rt_task *task);
/** Waits until `count` tasks since creation are done; timeout_ms < 0: for ever. Sees the time. */
LEO_MUST_CHECK leo_status rt_stream_wait(struct leo_rt_stream *stream, uint64_t count,
                                         int timeout_ms);
/** Waits for the task submitted last, with this outcome; nothing points at it afterwards. */
LEO_MUST_CHECK leo_status rt_stream_wait_outcome(struct leo_rt_stream *stream,
                                                 const struct rt_outcome *outcome);
/** Takes completions that are there and gives back what their tasks held. */
LEO_MUST_CHECK leo_status rt_stream_poll(struct leo_rt_stream *stream);
/** Reports the failure of a task since the last call, if any, as LEO_ERR_FAULT. */
LEO_MUST_CHECK leo_status rt_stream_take_fault(struct leo_rt_stream *stream);
void rt_stream_destroy(struct leo_rt_stream *stream);
/** Of the driver's poll, under both locks: a task has ended. */
void rt_stream_complete(void *stream, uint32_t cmd_id, const struct leo_drv_completion *done);
/** The device did not finish the stream's tasks and never will: no call may wait for them. */
void rt_stream_give_up(struct leo_rt_stream *stream);
/** Of the device's sink: into the queue, and room in the stream's ring. */
LEO_MUST_CHECK leo_status rt_device_submit(struct leo_rt_stream *stream, struct leo_sqe *entry,
                                           const struct rt_task *task, uint64_t host_ns);
LEO_MUST_CHECK leo_status rt_args_place(struct leo_rt_stream *stream, uint32_t bytes,
                                        struct rt_place *place);
/** Submits an entry that starts no earlier than `host_ns`. */
LEO_MUST_CHECK leo_status rt_stream_submit_at(struct leo_rt_stream *stream, struct leo_sqe *entry,
                                              const struct rt_task *task, uint64_t host_ns);
/** A task of the host failed: synchronize reports it. */
void rt_stream_fail_host(struct leo_rt_stream *stream, leo_status status, const char *text);

/* event_slot.c, event.c: callers hold the device's lock */
LEO_MUST_CHECK leo_status rt_event_slot_take(struct leo_rt_device *device, uint32_t *slot);
/** No event has it any more; records and waits under way may still need it. */
void rt_event_slot_retire(struct leo_rt_device *device, uint32_t number);
/** A record or wait of the slot is over. */
void rt_event_settle(struct leo_rt_device *device, uint32_t number);
/** A worker of the host records, no earlier than `host_ns` of simulated time. */
LEO_MUST_CHECK leo_status rt_event_record_at(struct leo_rt_event *event,
                                             struct leo_rt_stream *stream, uint64_t host_ns);
/** Until the event is reached: when that was. The script's clock stays where it is. */
LEO_MUST_CHECK leo_status rt_event_await(struct leo_rt_event *event, uint64_t *ns);
static inline bool rt_event_is_done(const struct leo_rt_event *event)
{
    return event->device->slots[event->slot].done >= event->sequence;
}
/** The stream waits for the event's next record, which is still to be submitted. */
LEO_MUST_CHECK leo_status rt_event_wait_next(struct leo_rt_event *event,
                                             struct leo_rt_stream *stream);

/* print.c */
/** Gives a module that prints its rings; its image is not on the device yet. */
LEO_MUST_CHECK leo_status rt_print_prepare(struct leo_rt_module *module);
void rt_print_release(struct leo_rt_module *module);
/** A kernel of the module is submitted. Caller holds lock. */
void rt_print_launched(struct leo_rt_module *module);
/** Writes what kernels have printed to standard output. Caller holds no lock. */
void rt_print_drain(struct leo_rt_device *device);

/* graph.c: callers hold the device's lock */
/** Work of the host in a captured stream; owned by the graph then. */
LEO_MUST_CHECK leo_status rt_graph_keep_host(struct leo_rt_stream *stream,
                                             const struct rt_host_work *work);
/** A worker goes away: graphs with work for it have lost a task. */
void rt_graph_lose_worker(struct leo_rt_device *device, const struct leo_rt_host_worker *worker);
void rt_graph_destroy(struct leo_rt_graph *graph);

/* status_page.c */
void rt_status_open(struct leo_rt *rt);
void rt_status_close(struct leo_rt *rt);
void rt_status_device_opened(const struct leo_rt_device *device);
void rt_status_device_closed(const struct leo_rt_device *device);
/** Memory was taken or given back. */
void rt_status_memory(const struct leo_rt_device *device);
/** A task ended. Caller holds the device's lock. */
void rt_status_task(const struct leo_rt_device *device, const struct rt_task *task,
                    const struct leo_drv_completion *done);

/* staging.c: callers hold the device's lock */
LEO_MUST_CHECK leo_status rt_staging_get(struct leo_rt_device *device, size_t bytes,
                                         struct rt_staging **out);
void rt_staging_put(struct leo_rt_device *device, struct rt_staging *staging);
void rt_staging_finish(struct leo_rt_device *device);

/* memory.c: caller holds the device's lock */
void rt_pinned_finish(struct leo_rt_device *device);
/** DMA address of pinned host memory; 0 if [ptr, ptr + bytes) is not pinned. */
uint64_t rt_memory_pinned(const struct leo_rt_device *device, const void *ptr, size_t bytes);
/** Whose memory `addr` is: a device's, NULL = the host's. An error if it is a device's and [addr,
 * addr + bytes) is not inside one allocation. */
LEO_MUST_CHECK leo_status rt_memory_side(struct leo_rt_device *device, uint64_t addr,
                                         uint64_t bytes, const char *what,
                                         struct leo_rt_device **owner);

/* module.c */
void rt_module_destroy(struct leo_rt_module *module);

/* fault.c */
/** Kind of the core of the chip that runs a part of the kernel. */
enum leo_core_kind rt_core_kind(const struct leo_rt_kernel *kernel, const struct leo_caps *caps,
                                unsigned core);
/** What a failed completion means, in words. Caller holds the device's lock. */
void rt_fault_text(struct leo_rt_device *device, const struct leo_rt_stream *stream,
                   const struct rt_task *task, const struct leo_drv_completion *done, char *text,
                   size_t bytes);

/* profile.c: callers hold the device's lock */
const char *rt_profile_tag_text(const struct leo_rt_device *device,
                                const struct leo_task_record *record);
void rt_profile_destroy(struct leo_rt_device *device);
/* profile_host.c */
/** The caller holds the device's lock. */
void rt_profile_submitted(struct leo_rt_device *device, uint32_t cmd_id,
                          const struct leo_rt_kernel *kernel);
/** A module is unloaded: a profile that counts code keeps it for the lines (true), and frees it by
 * `free_module` at its end. */
LEO_MUST_CHECK bool rt_profile_keep(struct leo_rt_module *module,
                                    void (*free_module)(struct leo_rt_module *));
/** A module goes, and its kernels with it. */
void rt_profile_forget(struct leo_rt_device *device, const struct leo_rt_module *module);
/** Notes how much memory is in use now; takes the lock. */
void rt_profile_memory(struct leo_rt_device *device);
