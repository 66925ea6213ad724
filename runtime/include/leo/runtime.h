/* SPDX-License-Identifier: Apache-2.0 */
/* The neutral runtime core: what every facade (acl, ...) and every operator launcher stands on. */
#pragma once

#include <leo/caps.h>
#include <leo/faults.h>
#include <leo/isa_enums.h>
#include <leo/layout.h>
#include <leo/link_note.h>
#include <leo/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(default) // libascendcl.so shows the core to the libraries on top

#ifdef __cplusplus
extern "C" {
#endif

struct leo_rt; /**< The runtime of a process: its devices, log and options. */
struct leo_transport;
struct leo_drv_device;
struct leo_rt_device; /**< One opened device. */
struct leo_rt_stream; /**< Tasks in order. */
struct leo_rt_event;  /**< A mark in a stream. */
struct leo_rt_module; /**< A kernel file loaded on a device. */
struct leo_rt_kernel; /**< One kernel of a module; lives as long as it. */

/** Log sink: level 0 debug, 1 info, 2 warning, 3 error (the ASCEND_GLOBAL_LOG_LEVEL numbers). */
typedef void (*leo_rt_log_fn)(void *user, int level, const char *text);

/** Opens the transport of the index-th device; the runtime closes it. */
typedef leo_status (*leo_rt_open_fn)(void *user, int index, struct leo_transport **transport);

/** Set `size` to sizeof(struct leo_rt_opts). Zero / NULL fields mean: the LEO_* environment
 * variable if set, else the default. */
struct leo_rt_opts {
    size_t size;
    /** LEO_SOC: name (ascend910a, ascend910b1) or path of a SoC file; default ascend910a. */
    const char *soc;
    int devices;           /**< LEO_DEVICES: default 1, at most 8. */
    unsigned host_threads; /**< LEO_THREADS: default all. */
    const char *simd;      /**< LEO_SIMD: generic, avx2, avx512; default the best the host has. */
    /** LEO_KERNEL_LIMIT_US: watchdog in simulated microseconds; default the chip's. */
    uint32_t limit_us;
    leo_rt_log_fn log;
    void *log_user;
    leo_rt_open_fn open; /**< How a device is reached; NULL: a simulated chip in this process. */
    void *open_user;
    /** LEO_PRINT_BYTES: what a core may print until the host synchronises (docs/kernel_output.md).
     */
    uint32_t print_bytes;
    bool print_prefix; /**< LEO_PRINT_PREFIX=1: each printed line tells its core and block. */
    /** LEO_CHECK: what kernels are checked for: "none", "all", or some of
     * hazard,init,race,bounds,poison; default none. What is found fails the task. */
    const char *check;
    /** LEO_TAPE: a file that records what the devices do, for leo replay; those after the first
     * append their number. NULL = none. */
    const char *tape;
    /** LEO_TAPE_VALUES=0: units compute nothing; only the tape and times are of use. */
    bool no_values;
};
leo_status leo_rt_create(const struct leo_rt_opts *opts, struct leo_rt **rt);
void leo_rt_destroy(struct leo_rt *rt);
int leo_rt_device_count(const struct leo_rt *rt);
/** Text of the calling thread's last failed call: names the thing and what to do. Never NULL. */
const char *leo_rt_last_error(void);
/** For libraries on top: sets the calling thread's error text and returns `status`. */
leo_status leo_rt_fail(leo_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

leo_status leo_rt_device_open(struct leo_rt *rt, int index,
                              struct leo_rt_device **device); /* counts references */
/** The last close destroys the device with all streams, events, modules and memory that are left on
 * it. */
void leo_rt_device_close(struct leo_rt_device *device);
/** Simulated time in which kernels ran on cores of each kind, and the time it was taken over; tasks
 * of several streams at a time count each. */
struct leo_rt_use {
    uint64_t cube_ns, vector_ns, span_ns;
};
/** Since it was last asked. */
void leo_rt_device_take_use(struct leo_rt_device *device, struct leo_rt_use *use);
/** So many bytes left it over links to other cards (leo smi shows them). */
void leo_rt_device_count_link(struct leo_rt_device *device, uint64_t bytes);
/** The number it was opened by. */
int leo_rt_device_index(const struct leo_rt_device *device);
/** The driver underneath, for what has no call here (simulated time, reset). */
struct leo_drv_device *leo_rt_device_driver(struct leo_rt_device *device);
void leo_rt_device_get_caps(const struct leo_rt_device *device, struct leo_caps *caps);
/** Of the name of a chip, with its zero. */
enum { LEO_RT_NAME_BYTES = 32 };
/** What programs are told that the chip is called: `told_as` of its SoC file, else its name.
 * Programs that know chips by name run on one of another name by it; tools show the name. */
void leo_rt_device_told_as(const struct leo_rt_device *device, char name[LEO_RT_NAME_BYTES]);
/** A number of the chip's SoC file. LEO_ERR_NOT_FOUND if the file does not have it. */
leo_status leo_rt_soc_number(const struct leo_rt_device *device, const char *section,
                             const char *key, double *value);
/** The text of the chip's file. */
const char *leo_rt_soc_text(const struct leo_rt_device *device);
/** What HBM reads in a second, its refresh taken off. */
leo_status leo_rt_hbm_gb_per_s(const struct leo_rt_device *device, double *value);
leo_status leo_rt_device_synchronize(struct leo_rt_device *device);
/** Simulated host clock: entries start no earlier. Grows only when the host waits for the device.
 */
uint64_t leo_rt_device_host_time_ns(const struct leo_rt_device *device);

/**
 * The one object a library on top keeps with a device (the operators: their programs and plans).
 * The first call makes it; `destroy` runs when the device is destroyed, while its modules still
 * exist.
 */
leo_status leo_rt_device_attach(struct leo_rt_device *device,
                                leo_status (*make)(struct leo_rt_device *device, void **object),
                                void (*destroy)(void *object), void **object);

leo_status leo_rt_memory_alloc(struct leo_rt_device *device, uint64_t bytes, uint64_t *addr);
leo_status leo_rt_memory_free(struct leo_rt_device *device, uint64_t addr);
leo_status leo_rt_memory_info(struct leo_rt_device *device, uint64_t *free_bytes,
                              uint64_t *total_bytes);
/** The open device whose addresses hold `addr`; NULL: host memory. */
struct leo_rt_device *leo_rt_memory_owner(struct leo_rt *rt, uint64_t addr);
/** Finds the allocation that holds `addr`; LEO_ERR_BAD_POINTER (without error text) if none does.
 */
leo_status leo_rt_memory_find(struct leo_rt_device *device, uint64_t addr, uint64_t *base,
                              uint64_t *bytes);
/** Host address of [addr, addr + bytes) of an allocation, as through a window of the bus. What
 * streams do with the memory at the same time is the caller's to order. */
leo_status leo_rt_memory_window(struct leo_rt_device *device, uint64_t addr, uint64_t bytes,
                                void **ptr);
/* Graphs: from begin to end, tasks put into a stream, and into streams that wait for its events,
 * are kept instead of done. The graph is the caller's. End: LEO_ERR_STATE: begun elsewhere;
 * LEO_ERR_MISMATCH: made invalid meanwhile; LEO_ERR_NOT_READY: a stream was not joined. */
struct leo_rt_graph;
leo_status leo_rt_capture_begin(struct leo_rt_stream *stream, struct leo_rt_graph **graph);
leo_status leo_rt_capture_end(struct leo_rt_stream *stream);
/** The graph whose capture, or update, the stream takes part in; NULL: none. */
struct leo_rt_graph *leo_rt_stream_graph(struct leo_rt_stream *stream);
bool leo_rt_graph_is_invalid(struct leo_rt_graph *graph);
/** Puts all its tasks into a stream, one after another. */
leo_status leo_rt_graph_execute(struct leo_rt_graph *graph, struct leo_rt_stream *stream);
/** Tasks kept so far. */
size_t leo_rt_graph_size(struct leo_rt_graph *graph);
/** From here to the end, tasks put into the stream replace `count` tasks of the graph, one by one.
 * LEO_ERR_NOT_READY: it is running. */
leo_status leo_rt_graph_update_begin(struct leo_rt_graph *graph, struct leo_rt_stream *stream,
                                     size_t first, size_t count);
leo_status leo_rt_graph_update_end(struct leo_rt_stream *stream);
/** Lists its tasks as JSON; path NULL: on standard output. */
leo_status leo_rt_graph_write(struct leo_rt_graph *graph, const char *path);
/** Waits for its tasks. */
leo_status leo_rt_graph_destroy(struct leo_rt_graph *graph);
/* Addresses apart from memory, in granules of 2 MiB: a range is reserved, memory is taken, and
 * mapped into parts of the range, where neighbouring parts are one. An unmapped part loses its
 * contents. */
leo_status leo_rt_addresses_reserve(struct leo_rt_device *device, uint64_t bytes, uint64_t *addr);
leo_status leo_rt_addresses_release(struct leo_rt_device *device, uint64_t addr);
/** Bytes of the range that begins at `addr`; no error text if none does. */
leo_status leo_rt_addresses_size(struct leo_rt_device *device, uint64_t addr, uint64_t *bytes);
leo_status leo_rt_physical_take(struct leo_rt_device *device, uint64_t bytes);
void leo_rt_physical_give(struct leo_rt_device *device, uint64_t bytes);
leo_status leo_rt_addresses_map(struct leo_rt_device *device, uint64_t addr, uint64_t bytes);
leo_status leo_rt_addresses_unmap(struct leo_rt_device *device, uint64_t addr, uint64_t bytes);
/** Keeps memory of a device, whole pages of the host, in a file, which the caller may close, until
 * the memory is freed or unmapped. `keep`: its contents go there, else it takes those of the file.
 */
leo_status leo_rt_memory_share(struct leo_rt_device *device, uint64_t addr, uint64_t bytes, int fd,
                               uint64_t offset, bool keep);
/** Lets a device at a file as memory at addresses of its own. */
leo_status leo_rt_memory_attach(struct leo_rt_device *device, int fd, uint64_t offset,
                                uint64_t bytes, uint64_t *addr);
leo_status leo_rt_memory_detach(struct leo_rt_device *device, uint64_t addr);
/** Pinned host memory. */
leo_status leo_rt_host_alloc(struct leo_rt_device *device, size_t bytes, void **ptr);
leo_status leo_rt_host_free(struct leo_rt_device *device, void *ptr);
/** The caller's own memory, pinned from here on until it is unregistered. LEO_ERR_EXISTS: part of
 * it is already; LEO_ERR_NOT_FOUND: it is not. */
leo_status leo_rt_host_register(struct leo_rt_device *device, void *ptr, size_t bytes);
leo_status leo_rt_host_unregister(struct leo_rt_device *device, void *ptr);
/** Whether the device reaches it: allocated by leo_rt_host_alloc or registered. */
bool leo_rt_host_is_pinned(struct leo_rt_device *device, const void *ptr);

leo_status leo_rt_stream_create(struct leo_rt_device *device, struct leo_rt_stream **stream);
struct leo_rt_stream_opts {
    /** 0 (first) to LEO_DRV_PRIORITY_LEAST: which streams' kernels get free cores first. What runs
     * is not interrupted, but a kernel with blocks left waits for one that comes before it. */
    uint32_t priority;
    bool is_default; /**< one that programs have without asking */
};
leo_status leo_rt_stream_create_with(struct leo_rt_device *device,
                                     const struct leo_rt_stream_opts *opts,
                                     struct leo_rt_stream **stream);
void leo_rt_stream_destroy(struct leo_rt_stream *stream); /* waits */
/** Waits for all work; LEO_ERR_FAULT if a kernel faulted since the last call (text in last_error);
 * the stream then works on. timeout_ms < 0: for ever. */
leo_status leo_rt_stream_synchronize(struct leo_rt_stream *stream, int timeout_ms);
leo_status
leo_rt_stream_query(struct leo_rt_stream *stream); /* LEO_OK all done, LEO_ERR_NOT_READY */
/** Fault code behind the last LEO_ERR_FAULT of this stream. */
enum leo_fault leo_rt_stream_last_fault(const struct leo_rt_stream *stream);
/** Kind of core it happened on. */
enum leo_core_kind leo_rt_stream_last_fault_kind(const struct leo_rt_stream *stream);
/** The how many-th task of the stream it was, from 1. */
uint64_t leo_rt_stream_last_fault_task(const struct leo_rt_stream *stream);

/** The direction is found from the addresses: an address of an open device is that device's memory,
 * any other host memory. Memory of another device of the runtime is reached by DMA. */
leo_status leo_rt_memcpy(struct leo_rt_device *device, void *dst, const void *src, size_t bytes);
leo_status leo_rt_memcpy_async(struct leo_rt_stream *stream, void *dst, const void *src,
                               size_t bytes);
leo_status leo_rt_memcpy2d_async(struct leo_rt_stream *stream, void *dst, size_t dst_pitch,
                                 const void *src, size_t src_pitch, size_t width, size_t height);
leo_status leo_rt_memset_async(struct leo_rt_stream *stream, uint64_t addr, uint8_t value,
                               size_t bytes);

/** dst = dst with src, element by element, by the copy engine: memory of the stream's device, whole
 * elements, apart from each other. */
leo_status leo_rt_reduce_async(struct leo_rt_stream *stream, uint64_t dst, uint64_t src,
                               uint64_t bytes, enum leo_atomic kind, enum leo_atomic_type type);

/** What float results beyond their type become in kernels launched from now on, unless they choose
 * themselves; of a new stream: as the chip's generation has it. */
void leo_rt_stream_set_float_mode(struct leo_rt_stream *stream, enum leo_float_mode mode);
/**
 * Reads the sticky status of overflows: [addr, addr + bytes) of device memory, at most 64 bytes,
 * become the word `value` if results of a kernel of this device have overflown since it was
 * cleared, else 0, and zeros behind it. addr 0: nothing is written. Then clears it, if asked to. In
 * the order of the stream; kernels of other streams raise it when their blocks end.
 */
leo_status leo_rt_overflow_async(struct leo_rt_stream *stream, uint64_t addr, uint32_t bytes,
                                 uint32_t value, bool clear);

/** From here on: a task does not start if one before it in the stream failed. For good. */
void leo_rt_stream_set_stop_on_failure(struct leo_rt_stream *stream);
/** Destroys it without waiting: tasks under way are given up. */
void leo_rt_stream_abandon(struct leo_rt_stream *stream);

/** How many events more it can have. */
uint32_t leo_rt_device_free_events(struct leo_rt_device *device);
/** A thread of the host that does work standing in streams of one device, in order. */
struct leo_rt_host_worker;
leo_status leo_rt_host_worker_create(struct leo_rt_device *device,
                                     struct leo_rt_host_worker **worker);
/** Finishes what was given to it first. Graphs with work for it cannot be replayed any more. */
void leo_rt_host_worker_destroy(struct leo_rt_host_worker *worker);
/** Waits until it has nothing to do. */
void leo_rt_host_worker_drain(struct leo_rt_host_worker *worker);
/** How the work ended. */
struct leo_rt_host_result {
    uint64_t end_ns;   /**< simulated; as given: it took no time */
    leo_status status; /**< as given: other than LEO_OK if the device failed before */
    char text[512];    /**< if status is not LEO_OK; the stream's synchronize reports both */
    bool has_link;     /**< it was work with other cards: `link`, but for its events */
    struct leo_link_note link;
};
typedef void (*leo_rt_host_fn)(void *user, uint64_t start_ns, struct leo_rt_host_result *result);
/** Puts work of the host into a stream: `run` is called on the worker's thread when the stream
 * reaches it, and the stream's later tasks start at its end. It must not wait for this stream. In a
 * captured stream `run` is called at each replay. `release` (NULL: none) is called once, when `run`
 * is not called again; not if this fails. */
leo_status leo_rt_host_task(struct leo_rt_host_worker *worker, struct leo_rt_stream *stream,
                            leo_rt_host_fn run, void (*release)(void *user), void *user);

/** Writes 8 bytes of device memory, 8-byte aligned, at once, in the stream's order. */
leo_status leo_rt_value_write(struct leo_rt_stream *stream, uint64_t addr, uint64_t value);
/** Later tasks start when the 8 bytes at `addr`, 8-byte aligned, compare so with `value`. */
leo_status leo_rt_value_wait(struct leo_rt_stream *stream, uint64_t addr, uint64_t value,
                             enum leo_value_compare compare);
leo_status leo_rt_event_create(struct leo_rt_device *device, struct leo_rt_event **event);
void leo_rt_event_destroy(struct leo_rt_event *event);
leo_status leo_rt_event_record(struct leo_rt_event *event, struct leo_rt_stream *stream);
/** As if it had not been recorded; later waits are for the next record. */
void leo_rt_event_reset(struct leo_rt_event *event);
bool leo_rt_event_is_recorded(struct leo_rt_event *event);
/** Whether a stream waits for it. */
bool leo_rt_event_is_awaited(struct leo_rt_event *event);
/** A stream of another device than the event's: the call waits until the event is reached.
 * An event never recorded is not waited for. */
leo_status leo_rt_event_wait(struct leo_rt_event *event, struct leo_rt_stream *stream);
leo_status leo_rt_event_query(struct leo_rt_event *event);
leo_status leo_rt_event_synchronize(struct leo_rt_event *event, int timeout_ms);
leo_status leo_rt_event_time_ns(struct leo_rt_event *event, uint64_t *ns);

/** Loads a kernel ELF from memory (copied). LEO_ERR_BAD_ELF / LEO_ERR_WRONG_ARCH with a text that
 * says where. */
leo_status leo_rt_module_load(struct leo_rt_device *device, const void *elf, size_t bytes,
                              const char *name, struct leo_rt_module **module);
leo_status leo_rt_module_load_file(struct leo_rt_device *device, const char *path,
                                   struct leo_rt_module **module);
void leo_rt_module_unload(struct leo_rt_module *module);
leo_status leo_rt_module_find(struct leo_rt_module *module, const char *kernel,
                              struct leo_rt_kernel **out);
unsigned leo_rt_module_kernel_count(const struct leo_rt_module *module);
struct leo_rt_kernel *leo_rt_module_kernel(struct leo_rt_module *module, unsigned index);
/** Device address of the loaded image's descriptor. */
uint64_t leo_rt_module_addr(const struct leo_rt_module *module);
const char *leo_rt_module_name(const struct leo_rt_module *module);
const char *leo_rt_kernel_name(const struct leo_rt_kernel *kernel);
enum leo_core_kind leo_rt_kernel_kind(const struct leo_rt_kernel *kernel);
/** Device address of its first instruction. */
uint64_t leo_rt_kernel_addr(const struct leo_rt_kernel *kernel);
/** Address (as kernels see it) and size of an object or function; false if the file has none of
 * that name. */
bool leo_rt_module_symbol(struct leo_rt_module *module, const char *name, uint64_t *addr,
                          uint64_t *bytes);
/** Source file and line of a link address; false if the ELF has no such line. */
bool leo_rt_module_line(struct leo_rt_module *module, uint64_t pc, char *file, size_t file_bytes,
                        int *line);

/** One argument as the kernel's note describes it. */
struct leo_rt_arg_info {
    const char *name; /**< "" if unknown. */
    char kind;        /**< p s u f b, as in isa/layout/kernel_note.layout. */
    uint32_t bytes, align;
};
unsigned leo_rt_kernel_arg_count(const struct leo_rt_kernel *kernel);
struct leo_rt_arg_info leo_rt_kernel_arg(const struct leo_rt_kernel *kernel, unsigned index);

/**
 * Launches: args[i] points at the i-th argument's value, in the type of the kernel's declaration
 * (device pointers as uint64_t). Values are copied before the call returns. `tag` names the task in
 * profiles (leo_rt_profile).
 */
leo_status leo_rt_launch(struct leo_rt_kernel *kernel, uint32_t block_num,
                         struct leo_rt_stream *stream, const void *const *args, unsigned arg_count,
                         const char *tag);
/** Memory that travels with a launch: args[index], a pointer argument, becomes the address of a
 * copy of `data`. */
struct leo_rt_arg_data {
    unsigned index;
    const void *data;
    size_t bytes;
};
/** Like leo_rt_launch; arguments named in `data` take their value from there. */
leo_status leo_rt_launch_with_data(struct leo_rt_kernel *kernel, uint32_t block_num,
                                   struct leo_rt_stream *stream, const void *const *args,
                                   unsigned arg_count, const struct leo_rt_arg_data *data,
                                   unsigned data_count, const char *tag);
/** What one launch has of its own. */
struct leo_rt_launch_opts {
    const char *tag;                /**< names the task in profiles; may be NULL */
    uint32_t limit_us;              /**< watchdog in simulated microseconds; 0 = the device's */
    enum leo_float_mode float_mode; /**< own (0): the stream's */
    /** Of kernels whose note ends with `task`: how the blocks lie, x first; all 0: in one row. */
    uint32_t task_dim[3];
    uint32_t task_type; /**< cores that the blocks of a group take together; 0 as 1 */
};
leo_status leo_rt_launch_with_options(struct leo_rt_kernel *kernel, uint32_t block_num,
                                      struct leo_rt_stream *stream, const void *const *args,
                                      unsigned arg_count, const struct leo_rt_arg_data *data,
                                      unsigned data_count, const struct leo_rt_launch_opts *opts);
leo_status leo_rt_launch_packed_with_options(struct leo_rt_kernel *kernel, uint32_t block_num,
                                             struct leo_rt_stream *stream, const void *block,
                                             size_t bytes, bool on_device,
                                             const struct leo_rt_launch_opts *opts);
/** Watchdog of later launches on all devices, simulated microseconds; 0 = the chip's default. */
void leo_rt_set_limit_us(struct leo_rt *rt, uint32_t limit_us);
uint32_t leo_rt_get_limit_us(const struct leo_rt *rt);
/** The same with a ready argument block (8-byte slots) in host memory, or in device memory if
 * `on_device`. */
leo_status leo_rt_launch_packed(struct leo_rt_kernel *kernel, uint32_t block_num,
                                struct leo_rt_stream *stream, const void *block, size_t bytes,
                                bool on_device, const char *tag);

/** Profiles: per-task records joined with tags; per-instruction trace if `traces` > 0. */
struct leo_rt_profile_task {
    const char *tag; /**< As given at launch, or "copy", "fill", ... */
    struct leo_task_record record;
};
leo_status leo_rt_profile_start(struct leo_rt_device *device, uint32_t tasks, uint32_t traces);
leo_status leo_rt_profile_stop(struct leo_rt_device *device);
leo_status leo_rt_profile_tasks(struct leo_rt_device *device, struct leo_rt_profile_task *tasks,
                                size_t capacity, size_t *count, uint64_t *lost);
/** Instructions of units, in the order in which they were written; `count` those that are there,
 * `lost` those for which there was no room. */
leo_status leo_rt_profile_traces(struct leo_rt_device *device, struct leo_trace_record *traces,
                                 size_t capacity, size_t *count, uint64_t *lost);
/** What the host did while a profile ran; times are CLOCK_MONOTONIC_RAW. */
enum leo_rt_profile_kind {
    LEO_RT_PROFILE_LAUNCH,   /**< a task was submitted; value = its cmd_id */
    LEO_RT_PROFILE_CALL,     /**< the program called `name` */
    LEO_RT_PROFILE_OPERATOR, /**< a call whose tasks are one operator; `name` is their tag */
    LEO_RT_PROFILE_MEMORY,   /**< value = bytes of device memory in use from now on */
};
struct leo_rt_profile_mark {
    enum leo_rt_profile_kind kind;
    uint32_t thread;
    uint64_t begin_ns, end_ns, value;
    const char *name;
};
uint64_t leo_rt_profile_clock_ns(void);
/** Cheap: for callers that describe their launches only then. */
bool leo_rt_profile_is_on(const struct leo_rt_device *device);
/** Notes a call (CALL or OPERATOR) that began at `begin_ns` and ends now; nothing while profiles
 * are off. */
void leo_rt_profile_call(struct leo_rt_device *device, enum leo_rt_profile_kind kind,
                         const char *name, uint64_t begin_ns);
/** A collective as this device took part in it; all times simulated, the texts copied. */
struct leo_rt_profile_link {
    const char *name, *group;
    uint32_t rank, ranks;
    uint64_t bytes;    /**< of the operation at one rank */
    uint64_t begin_ns; /**< this rank was there */
    uint64_t ready_ns; /**< the last rank was there */
    uint64_t end_ns;
};
/** Notes one; nothing while profiles are off. */
void leo_rt_profile_link(struct leo_rt_device *device, const struct leo_rt_profile_link *link);
/** Those so far, in order; valid until the next call for this device. */
leo_status leo_rt_profile_links(struct leo_rt_device *device,
                                const struct leo_rt_profile_link **links, size_t *count);
/** The marks so far, in the host's order; valid until the next call for this device. */
leo_status leo_rt_profile_marks(struct leo_rt_device *device,
                                const struct leo_rt_profile_mark **marks, size_t *count);
/** Writes a timeline for Perfetto / chrome://tracing (JSON): streams, cores, units. */
leo_status leo_rt_profile_write(struct leo_rt_device *device, const char *path);

#ifdef __cplusplus
}
#endif

#pragma GCC visibility pop
