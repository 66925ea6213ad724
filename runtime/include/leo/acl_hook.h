/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For libraries that stand on libascendcl (operators, collectives, profiling): from its handles to
 * the runtime's objects, its descriptions as plain data, and its error channel. Not for programs.
 */
#pragma once

#include <acl/acl.h>
#include <leo/aipp.h>
#include <leo/runtime.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { LEO_ACL_MAX_DIMS = 25 };
#define LEO_ACL_NO_DIMS SIZE_MAX

/** A tensor as aclCreateTensorDesc and the setters described it. */
struct aclTensorDesc {
    aclDataType type;
    aclFormat format, storage_format, origin_format; /**< ACL_FORMAT_UNDEFINED = not set */
    aclMemType placement; /**< other than device: a constant, its value in the buffer (host) */
    size_t dim_count, storage_dim_count, origin_dim_count; /**< LEO_ACL_NO_DIMS = not set */
    int64_t dims[LEO_ACL_MAX_DIMS], storage_dims[LEO_ACL_MAX_DIMS], origin_dims[LEO_ACL_MAX_DIMS];
    char name[128];
    void *constant; /**< owned */
    size_t constant_bytes;
};

enum leo_acl_attr_kind {
    LEO_ACL_ATTR_BOOL,
    LEO_ACL_ATTR_INT,
    LEO_ACL_ATTR_FLOAT,
    LEO_ACL_ATTR_STRING,
    LEO_ACL_ATTR_DATA_TYPE,
    LEO_ACL_ATTR_BOOLS,
    LEO_ACL_ATTR_INTS,
    LEO_ACL_ATTR_FLOATS,
    LEO_ACL_ATTR_DATA_TYPES,
    LEO_ACL_ATTR_STRINGS,
    LEO_ACL_ATTR_INT_LISTS,
};

/** One attribute of an operator call by name. Scalars are lists of one. */
struct leo_acl_attr {
    struct leo_acl_attr *next;
    char *name;
    enum leo_acl_attr_kind kind;
    size_t count; /**< values; of INT_LISTS: of all lists together */
    union {
        uint8_t *bools;
        int64_t *ints;
        float *floats;
        aclDataType *types;
        char *text; /**< STRING; STRINGS: one after the other, each with its NUL */
    } value;
    size_t list_count; /**< INT_LISTS */
    int *list_sizes;
};

struct aclopAttr {
    struct leo_acl_attr *first;
};

/** One operator call by name, as aclopCompileAndExecute and its relatives were given it. */
struct leo_acl_op {
    const char *type;
    int input_count, output_count;
    const aclTensorDesc *const *input_descs;
    const aclDataBuffer *const *inputs;
    const aclTensorDesc *const *output_descs;
    aclDataBuffer *const *outputs;
    /** The output descriptions of a caller that reads a result's size there if it depends on data;
     * NULL: it is not reported. */
    aclTensorDesc *const *shaped;
    const aclopAttr *attr; /**< may be NULL */
    aclrtStream stream;
};

/** Runs operators called by name; the library that has them registers it when it is loaded. */
typedef aclError (*leo_acl_op_fn)(const struct leo_acl_op *op);
typedef bool (*leo_acl_op_known_fn)(const char *type);
ACL_FUNC_VISIBILITY void leo_acl_set_op_executor(leo_acl_op_fn run, leo_acl_op_known_fn is_known);
/** Whether there are operators of this type; loads the library if it is not there. */
ACL_FUNC_VISIBILITY bool leo_acl_op_is_known(const char *type);

enum { LEO_ACL_MODEL_DIMS = 8 };

/** An input or output of a model. */
struct leo_acl_model_io {
    const char *name;
    aclDataType type;
    aclFormat format;
    size_t dim_count, bytes;
    int64_t dims[LEO_ACL_MODEL_DIMS];
};

/** What the gears of a model are the sizes of. */
enum leo_acl_gears {
    LEO_ACL_NO_GEARS,
    LEO_ACL_BATCHES, /**< one number: the batch */
    LEO_ACL_IMAGES,  /**< height and width */
    LEO_ACL_DIMS,    /**< those that were left open */
    LEO_ACL_GEAR_KINDS
};

/** An input whose pictures are converted by settings that are compiled in. */
struct leo_acl_model_aipp {
    size_t input;   /**< from 0 on */
    int64_t dim[4]; /**< [n, c, h, w] that they become */
    const struct leo_aipp *settings;
};

/** A model that was read. */
struct leo_acl_model {
    size_t work_bytes, weight_bytes; /**< device memory it needs */
    size_t input_count, output_count;
    const struct leo_acl_model_io *inputs, *outputs; /**< with gears as large as any gear's */
    /** With gears the last input takes the gear's numbers (s64). */
    enum leo_acl_gears gear_kind;
    size_t gear_count, gear_width;
    const int64_t *gears; /**< rows of gear_width numbers */
    /** By gear: the inputs but the last one, then the outputs. */
    const struct leo_acl_model_io *gear_ios;
    /** Input whose pictures are converted by settings of each run, from 1 on; 0: none. The last
     * input goes with them. */
    size_t aipp_input;
    const struct leo_acl_model_aipp *aipps; /**< settings that are compiled in */
    size_t aipp_count;
};

/** One run of a model. */
struct leo_acl_model_run {
    aclrtStream stream;
    uint32_t id; /**< the model's */
    size_t gear; /**< its row; 0 without gears */
    void *work;
    const void *weights;
    void *const *buffers;        /**< the inputs, then the outputs */
    const struct leo_aipp *aipp; /**< by picture; NULL: not set */
    size_t aipp_count;
};

/** The library that runs models registers these when it is loaded. Functions return 0 or the code
 * to return, error text set; `func` is the caller's for that text. */
struct leo_acl_model_calls {
    /** Reads a model's bytes for the calling thread's device; *model is close's to free. */
    aclError (*read)(const char *func, const void *data, size_t bytes,
                     struct leo_acl_model **model);
    /** Writes the weights to `weights`. Waits. */
    aclError (*place)(const char *func, struct leo_acl_model *model, void *weights);
    /** Launches all of it on the stream; does not wait. One call at a time for a model. */
    aclError (*run)(const char *func, struct leo_acl_model *model,
                    const struct leo_acl_model_run *run);
    void (*close)(struct leo_acl_model *model);
};
ACL_FUNC_VISIBILITY void leo_acl_set_model_calls(const struct leo_acl_model_calls *calls);

/** The runtime's stream and device behind a handle (NULL: the current context's default stream).
 * They live as long as the handle: it must not be destroyed meanwhile. 0 or the code to return,
 * error text set. */
ACL_FUNC_VISIBILITY aclError leo_acl_stream_get(aclrtStream stream, struct leo_rt_stream **rt,
                                                struct leo_rt_device **device);
/** The device of the calling thread's context. */
ACL_FUNC_VISIBILITY aclError leo_acl_device_get(struct leo_rt_device **device);
/** Cores of matrix or vector kind that operators launched by this thread may use. */
ACL_FUNC_VISIBILITY aclError leo_acl_core_limit(bool vector, uint32_t *cores);
/** Sets the calling thread's error code and text as a failing call of the library does; returns
 * `code`. */
ACL_FUNC_VISIBILITY aclError leo_acl_fail(aclError code, const char *func, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/** The calling thread's error text, which stays aclGetRecentErrMsg's to give; "" if there
 * is none. It lasts until the thread's next error. */
ACL_FUNC_VISIBILITY const char *leo_acl_error_text(void);
/** Work was refused. If the calling thread is not the main one it may not look: from now on waits
 * and synchronous copies fail with this text, and a process that does neither ends with 70. */
ACL_FUNC_VISIBILITY void leo_acl_lost(const char *text);
/** The same with the code and text of a failed call of the runtime (0 stays 0). */
ACL_FUNC_VISIBILITY aclError leo_acl_status(const char *func, leo_status status);

/** A tensor of an operator's call, for a dump. */
struct leo_acl_dumped {
    uint64_t addr; /**< of the first element */
    bool is_output;
    aclDataType type;
    int format; /**< aclFormat */
    unsigned rank;
    const int64_t *dim, *stride; /**< in elements */
};
/** Whether operators' tensors are to be written (aclmdlSetDump). */
ACL_FUNC_VISIBILITY bool leo_acl_dump_is_on(void);
/** What a call's file is called. */
struct leo_acl_dump_name {
    const char *type;
    const char *node;   /**< of a model; NULL: an operator by itself */
    const char *folder; /**< of its model, below the device's; NULL: none */
};
/** Whether nodes of a model are to be written: of those, this one (NULL: any). */
ACL_FUNC_VISIBILITY bool leo_acl_dump_model_is_on(const char *model, const char *node);
/** Before the operator and after it, or `failed`. 0 or the code to return, error text set. */
ACL_FUNC_VISIBILITY aclError leo_acl_dump_begin(const struct leo_acl_dump_name *name,
                                                aclrtStream stream,
                                                const struct leo_acl_dumped *tensors, size_t count,
                                                void **dump);
ACL_FUNC_VISIBILITY aclError leo_acl_dump_end(const char *type, void *dump, bool failed);

/** Refuses a library of another build than libascendcl's, in which the same call may mean something
 * else: `build` is the caller's LEO_BUILD, `inside` any address in it. 0 or the code to return,
 * error text set. */
ACL_FUNC_VISIBILITY aclError leo_acl_check_build(const char *build, const void *inside);

#ifdef __cplusplus
}
#endif
