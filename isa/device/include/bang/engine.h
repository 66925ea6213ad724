/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Included by <bang.h>: how a call on `count` elements runs. Where the chip has an instruction for
 * the operation and the type, the vector unit does it: operands that do not begin at a block of 32
 * bytes are moved through a place that does, so that results never depend on addresses. Other types
 * are worked on by the scalar unit, one element after the other.
 */
#pragma once

/** One of these types. */
template <typename T, typename... Any> constexpr bool leo_is_any = (std::is_same_v<T, Any> || ...);

/** A mask of `count` elements, and all of them again. */
LEO_BANG void leo_bang_mask(uint64_t count)
{
    leo_bang_begin_vector();
    set_mask_count();
    set_vector_mask(0, count);
}

LEO_BANG void leo_bang_unmask()
{
    set_mask_norm();
    set_vector_mask(~UINT64_C(0), ~UINT64_C(0));
    leo_bang_end_vector();
}

LEO_BANG bool leo_bang_bad_count(int64_t count)
{
    if (count < 0) {
        leo_bang_refuse("a number of elements is negative");
    }
    return count <= 0;
}

/* Operands somewhere: parts of them at places that suit the unit. */
template <typename Op, typename D, typename A, typename B, typename V>
LEO_BANG_SMALL void leo_vector_staged(D *dst, const A *a, const B *b, V value, uint64_t count)
{
    constexpr uint64_t most =
        LEO_STAGE_BYTES / 4 / (sizeof(D) > sizeof(A) ? sizeof(D) : sizeof(A)) * 4;
    D *to = (D *)leo_stage[0];
    A *left = (A *)leo_stage[1];
    B *right = (B *)leo_stage[2];
    for (uint64_t at = 0; at < count; at += most) {
        const uint64_t part = count - at < most ? count - at : most;
        if (a) {
            leo_copy_scalar(left, a + at, part * sizeof(A));
        }
        if (b) {
            leo_copy_scalar(right, b + at, part * sizeof(B));
        }
        leo_bang_mask(part);
        Op::insn(to, left, right, value);
        leo_bang_unmask();
        leo_copy_scalar(dst + at, to, part * sizeof(D));
    }
}

/** dst[i] = Op of a[i], b[i] and the value: by the instruction. What an operation does not take is
 * given as another operand, NULL or 0. */
template <typename Op, typename D, typename A, typename B, typename V>
LEO_BANG void leo_vector(D *dst, const A *a, const B *b, V value, int64_t count)
{
    if (leo_bang_bad_count(count)) {
        return;
    }
    if (__builtin_expect(leo_is_whole((uint64_t)dst | (uint64_t)a | (uint64_t)b), 1)) {
        leo_bang_mask((uint64_t)count);
        Op::insn(dst, (A *)a, (B *)b, value);
        leo_bang_unmask();
    } else {
        leo_vector_staged<Op>(dst, a, b, value, (uint64_t)count);
    }
}

/** The same by the scalar unit. */
template <typename Op, typename D, typename A, typename B, typename V>
LEO_BANG_SMALL void leo_scalar(D *dst, const A *a, const B *b, V value, int64_t count)
{
    __sync();
    for (int64_t i = 0; i < count; i++) {
        dst[i] = Op::template one<D>(a[i], b[i], value);
    }
}

template <typename Op, typename D, typename A, typename B, typename V>
LEO_BANG void leo_each(D *dst, const A *a, const B *b, V value, int64_t count)
{
    if constexpr (Op::template has<A>) {
        leo_vector<Op>(dst, a, b, value, count);
    } else if (!leo_bang_bad_count(count)) {
        leo_scalar<Op>(dst, a, b, value, count);
    }
}

/** b, which is shorter, again and again: the length of one is a multiple of the other's. */
template <typename Op, typename T>
LEO_BANG_SMALL void leo_cycle(T *dst, const T *a, const T *b, int64_t count, int64_t cycle)
{
    if (cycle <= 0 || count % cycle != 0) {
        leo_bang_refuse("the length of a __bang_cycle call is no multiple of the shorter one");
        return;
    }
    for (int64_t at = 0; at < count; at += cycle) {
        leo_each<Op>(dst + at, a + at, b, 0, cycle);
    }
}
