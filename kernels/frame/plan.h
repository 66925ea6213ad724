/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plan: the device work of one operator for given shapes, types, strides and attributes. It knows
 * no addresses: its tensors have symbolic ones (which argument, or the workspace, plus an offset),
 * and running it puts the real ones in. So a plan made once serves every later call that differs in
 * addresses only, from any thread.
 */
#pragma once

#include "layout.h"
#include "run.h"

/** What a family gets: the operator, its arguments in the order of the row, and the plan to append
 * to. */
struct op_call {
    const struct op_row *row;
    const struct op_value *args;
    struct op_plan *plan;
};

/* Arguments by parameter name. A name the row does not have is a mistake in the family: the process
 * aborts. */
const struct op_value *op_call_value(const struct op_call *call, const char *name);
const struct op_tensor *op_call_tensor(const struct op_call *call,
                                       const char *name); /**< NULL if not given */
/** Whether a tensor or number of the call is complex. */
bool op_call_has_complex(const struct op_call *call);
const struct op_scalar *op_call_scalar(const struct op_call *call,
                                       const char *name); /**< NULL if not given */
const struct op_ints *op_call_ints(const struct op_call *call,
                                   const char *name); /**< NULL if not given */
int64_t op_call_int(const struct op_call *call, const char *name);
double op_call_real(const struct op_call *call, const char *name);
/** Whether the row has a parameter of that name: rows of a family may differ. */
bool op_call_has(const struct op_call *call, const char *name);
/** A tensor that not every row of a family has; NULL if this one has no such parameter or none is
 * given. */
const struct op_tensor *op_call_optional(const struct op_call *call, const char *name);
/** The same; a tensor without elements counts as not given. */
const struct op_tensor *op_call_given(const struct op_call *call, const char *name);

/** Sets the error text "<op>: ..." and returns `status`: LEO_ERR_SHAPE, LEO_ERR_DTYPE,
 * LEO_ERR_INVALID_ARG (161002), LEO_ERR_BAD_POINTER (161001). */
leo_status op_call_fail(const struct op_call *call, leo_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/** Fails unless tensor `name` has this shape. */
LEO_MUST_CHECK leo_status op_call_check_shape(const struct op_call *call, const char *name,
                                              unsigned rank, const int64_t *dim);
/** Fails unless tensor `name` has one element, in any number of dimensions. */
LEO_MUST_CHECK leo_status op_call_check_number(const struct op_call *call, const char *name);
/** Such a tensor, without dimensions. */
struct op_tensor op_call_number(const struct op_call *call, const char *name);
/** Fails unless tensor `name` has this type. */
LEO_MUST_CHECK leo_status op_call_check_type(const struct op_call *call, const char *name,
                                             enum op_type type);

/** Fails if a tensor says that its channels come last (NHWC, NDHWC, HWCN): for operators whose
 * channels are the second dimension. */
LEO_MUST_CHECK leo_status op_call_check_channels(const struct op_call *call);

/** The leo_status of a way that is not for the call: nothing is wrong, what it appended does not
 * count, and the next way is tried (variant.h). */
enum { OP_DECLINED = 1 };

/* Steps. */
/**
 * A launch of device/<program>.c's kernel over `blocks` blocks with one argument, a structure by
 * value, whose first `addresses` 8-byte words are addresses (symbolic, or 0).
 */
LEO_MUST_CHECK leo_status op_plan_launch(struct op_plan *plan, const char *program,
                                         const char *kernel, uint32_t blocks, const void *args,
                                         size_t bytes, unsigned addresses);
/** Another operator (name without aclnn) with `count` arguments in the order of its row. */
LEO_MUST_CHECK leo_status op_plan_call(struct op_plan *plan, const char *op,
                                       const struct op_value *args, unsigned count);
/** Plans the call once more with rows instead of native tensors: for families of rows with "native
 * own" (layout.h) that cannot take what is there. */
LEO_MUST_CHECK leo_status op_call_run_as_rows(const struct op_call *call);
/** Steps so far. */
uint32_t op_plan_steps(const struct op_plan *plan);
/** The arguments of a step if it launches this kernel on the call's own tensors; NULL if it does
 * something else, or on temporary memory. They stay where they are until the next step is added. */
const void *op_plan_launch_args(const struct op_plan *plan, uint32_t step, const char *program,
                                const char *kernel, size_t *bytes);
/** Takes a step out: another one does its work. */
void op_plan_drop_step(struct op_plan *plan, uint32_t step);
/** dst = src with any strides and types (InplaceCopy). */
LEO_MUST_CHECK leo_status op_plan_copy(struct op_plan *plan, const struct op_tensor *dst,
                                       const struct op_tensor *src);
/** dst = src, of one type and in other formats (TransData). */
LEO_MUST_CHECK leo_status op_plan_change_format(struct op_plan *plan, const struct op_tensor *src,
                                                const struct op_tensor *dst);
/** The tensor itself if it is rows already, else a temporary for its rows; `read`: with what it
 * holds. */
LEO_MUST_CHECK leo_status op_plan_rows(struct op_plan *plan, const struct op_tensor *tensor,
                                       bool read, struct op_tensor *rows);
/** The tensor itself if it is dense and of this type, else a dense temporary copy of it. */
LEO_MUST_CHECK leo_status op_plan_dense(struct op_plan *plan, const struct op_tensor *tensor,
                                        enum op_type type, struct op_tensor *out);
/** Fills [addr, addr + bytes) with a byte. */
LEO_MUST_CHECK leo_status op_plan_fill(struct op_plan *plan, uint64_t addr, uint8_t value,
                                       uint64_t bytes);

/** What a host step gets when the plan runs. */
struct op_host_run {
    struct leo_rt_stream *stream;
    struct leo_rt_device *device;
    const struct op_run *run;
};
/** Host work between device steps, in the order of the plan; it synchronises the stream itself if
 * it reads memory. */
typedef leo_status (*op_host_fn)(const struct op_host_run *run, const void *args);
LEO_MUST_CHECK leo_status op_plan_host(struct op_plan *plan, op_host_fn fn, const void *args,
                                       size_t bytes, unsigned addresses);
/** For host steps of operators whose result size depends on data: sets the shape of a tensor
 * argument. `index` is op_call_tensor_index of it. */
void op_host_set_shape(const struct op_host_run *run, unsigned index, unsigned rank,
                       const int64_t *dim);
unsigned op_call_tensor_index(const struct op_call *call, const char *name);

/* Temporary memory in the workspace. It lasts until the operator's plan function returns; a
 * caller's temporaries stay. */
LEO_MUST_CHECK leo_status op_plan_temp(struct op_plan *plan, enum op_type type, unsigned rank,
                                       const int64_t *dim, struct op_tensor *out);
LEO_MUST_CHECK leo_status op_plan_temp_bytes(struct op_plan *plan, uint64_t bytes, uint64_t *addr);
/** Temporaries made since the mark end here: steps before and after may share their memory. */
uint64_t op_plan_temp_mark(const struct op_plan *plan);
void op_plan_temp_release(struct op_plan *plan, uint64_t mark);

/* The device and its chip. */
struct leo_rt_device *op_plan_device(const struct op_plan *plan);
const struct op_chip *op_plan_numbers(const struct op_plan *plan);
const struct leo_caps *op_plan_caps(const struct op_plan *plan);
unsigned op_plan_chip(const struct op_plan *plan); /**< OP_ON_910A, OP_ON_910B */
uint32_t op_plan_vector_cores(const struct op_plan *plan);
uint32_t op_plan_cube_cores(const struct op_plan *plan);
/** Cycles from the start of a block of a launch to that of the next one. */
uint32_t op_plan_block_spread(const struct op_plan *plan);
/** Cores that are soonest done with so many bytes and, beside them, cycles of one core: one begins
 * after the other, so little work is done sooner by few. */
uint32_t op_plan_cores_for(const struct op_plan *plan, uint64_t bytes, uint64_t cycles);
/**
 * Whether so many bytes end within a block that the chip does not copy. The coupled core copies
 * blocks of 32 bytes; its scalar unit writes the rest, through a cache whose lines go to memory
 * whole: what other cores store in such a line meanwhile is lost. So no other core may write beside
 * such an end in the same launch.
 */
bool op_plan_has_tail(const struct op_plan *plan, uint64_t bytes);
/** Rows without gaps that a block takes a multiple of, so that no two write the same line where
 * such ends are written that way; the first begins at a line. */
uint64_t op_plan_row_granule(const struct op_plan *plan, uint64_t length, unsigned unit);

/** How `count` things are shared out: every block but the last has `per_block`, a multiple of
 * `granule`. */
struct op_share {
    uint32_t blocks;
    uint64_t per_block;
};
struct op_share op_share_make(uint64_t count, uint64_t granule, uint64_t least, uint32_t cores);
