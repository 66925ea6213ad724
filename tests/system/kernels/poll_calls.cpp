/* SPDX-License-Identifier: Apache-2.0 */
/* As `raw` of poll_kernels.c: block 0 raises two words one after the other, the others wait for
 * them, here through functions that are not inlined. Each tells how often it looked, or 0. */
#include <leo/device.h>

#if LEO_HAS_2201
#define CORE __vector__
#else
#define CORE
#endif
#define NOINLINE __attribute__((noinline))

typedef volatile __gm__ uint32_t word;

__ubuf_array__ uint32_t words[8];

static void raise(word *flag, uint32_t value, int work)
{
    volatile int sink = 0;
    for (int i = 0; i < work; i++) {
        sink += i;
    }
    *flag = value;
    dcci((__gm__ void *)flag, SINGLE_CACHE_LINE);
}

/* True in block 0, which has raised both words. */
static bool is_first(word *flag, __gm__ uint32_t *value, int work)
{
    if (get_block_idx() != 0) {
        return false;
    }
    raise(flag, 7, work);
    *(word *)value = 42;
    dcci(value, SINGLE_CACHE_LINE);
    raise(flag + 16, 8, work);
    return true;
}

static void tell(__gm__ uint32_t *out, __gm__ uint32_t *value, uint32_t turns)
{
    out[get_block_idx() * 16] = *(word *)value;
    out[get_block_idx() * 16 + 1] = turns;
}

/* One function, two loops. */
NOINLINE static uint32_t peek(word *flag)
{
    dcci((__gm__ void *)flag, SINGLE_CACHE_LINE);
    return *flag;
}

extern "C" __global__ CORE void by_function(word *flag, __gm__ uint32_t *value,
                                            __gm__ uint32_t *out, int work)
{
    if (is_first(flag, value, work)) {
        return;
    }
    while (peek(flag) != 7) {
    }
    while (peek(flag + 16) != 8) {
    }
    tell(out, value, peek(flag) != 7);
}

/* Methods that call methods, of an object on the stack. */
struct Gate {
    word *flag;
    uint32_t goal;

    NOINLINE bool is_open() const
    {
        return look() == goal;
    }
    NOINLINE void wait() const
    {
        while (!is_open()) {
        }
    }

  private:
    NOINLINE uint32_t look() const
    {
        return peek(flag);
    }
};

extern "C" __global__ CORE void by_method(word *flag, __gm__ uint32_t *value, __gm__ uint32_t *out,
                                          int work)
{
    if (is_first(flag, value, work)) {
        return;
    }
    const Gate first = {flag, 7}, second = {flag + 16, 8};
    first.wait();
    while (!second.is_open()) {
    }
    tell(out, value, 0);
}

/* The word goes through UB. */
NOINLINE static uint32_t load(__gm__ uint32_t *flag)
{
    copy_gm_to_ubuf(words, flag, 0, 1, 1, 0, 0);
    set_flag(PIPE_MTE2, PIPE_S, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_S, EVENT_ID0);
    return *(volatile __ubuf__ uint32_t *)words;
}

extern "C" __global__ CORE void by_copy(__gm__ uint32_t *flag, __gm__ uint32_t *value,
                                        __gm__ uint32_t *out, int work)
{
    if (is_first(flag, value, work)) {
        return;
    }
    while (load(flag) != 7) {
    }
    while (load(flag + 16) != 8) {
    }
    tell(out, value, 0);
}

/* The result is left in a variable of the caller, and read the next time round. */
NOINLINE static void look_into(word *flag, uint32_t *to)
{
    *to = peek(flag);
}

extern "C" __global__ CORE void by_result(word *flag, __gm__ uint32_t *value, __gm__ uint32_t *out,
                                          int work)
{
    if (is_first(flag, value, work)) {
        return;
    }
    uint32_t seen = 0;
    bool done = false;
    while (seen != 7) {
        look_into(flag, &seen);
    }
    while (!done) {
        look_into(flag + 16, &seen);
        done = seen == 8;
    }
    tell(out, value, 0);
}

/* Counts its turns in a member, and could give up. */
struct Counter {
    word *flag;
    uint32_t turns, most;

    NOINLINE bool wait(uint32_t goal)
    {
        while (peek(flag) != goal) {
            if (++turns == most) {
                return false;
            }
        }
        return true;
    }
};

extern "C" __global__ CORE void by_counter(word *flag, __gm__ uint32_t *value, __gm__ uint32_t *out,
                                           int work)
{
    if (is_first(flag, value, work)) {
        return;
    }
    Counter first = {flag, 0, 1u << 20};
    const auto ready = [&] { return peek(flag + 16) == 8; };
    const bool good = first.wait(7);
    while (!ready()) {
    }
    tell(out, value, good ? first.turns : 0);
}

/* Virtual methods, one that calls another; the objects come through memory, so that the compiler
 * does not know which they are. */
struct Door {
    word *flag;
    uint32_t goal;

    virtual bool is_open() const = 0;
};
struct Slow : Door {
    virtual uint32_t look() const
    {
        dcci((__gm__ void *)flag, SINGLE_CACHE_LINE);
        return *flag;
    }
    bool is_open() const override
    {
        return look() == goal;
    }
};
struct Quick : Slow {
    uint32_t look() const override
    {
        dcci((__gm__ void *)flag, SINGLE_CACHE_LINE);
        return flag[16];
    }
};
struct Never : Door {
    bool is_open() const override
    {
        return goal == 0;
    }
};

extern "C" __global__ CORE void by_virtual(word *flag, __gm__ uint32_t *value, __gm__ uint32_t *out,
                                           int work)
{
    if (is_first(flag, value, work)) {
        return;
    }
    Slow slow;
    Quick quick;
    Never never;
    slow.flag = quick.flag = never.flag = flag;
    slow.goal = 7;
    quick.goal = never.goal = 8;
    Door *volatile doors[] = {&slow, &quick, &never};
    const Door *first = doors[0], *second = doors[1];
    while (!first->is_open()) {
    }
    while (!second->is_open()) {
    }
    tell(out, value, 0);
}

/* Pointers to functions: in a table, and one that is called last by what the loop calls. */
using look = uint32_t (*)(word *);
static uint32_t peek_near(word *flag)
{
    dcci((__gm__ void *)flag, SINGLE_CACHE_LINE);
    return *flag;
}
static uint32_t peek_far(word *flag)
{
    dcci((__gm__ void *)(flag + 16), SINGLE_CACHE_LINE);
    return flag[16];
}
static look const looks[] = {peek_near, peek_far};

NOINLINE static uint32_t pass(look to, word *flag)
{
    return to(flag);
}

extern "C" __global__ CORE void by_pointer(word *flag, __gm__ uint32_t *value, __gm__ uint32_t *out,
                                           int work)
{
    if (is_first(flag, value, work)) {
        return;
    }
    volatile unsigned second = 1;
    look const first = looks[second - 1];
    while (first(flag) != 7) {
    }
    look const last = looks[second];
    while (pass(last, flag) != 8) {
    }
    tell(out, value, 0);
}

/* Nobody raises the word. */
extern "C" __global__ CORE void by_nobody(word *flag)
{
    const Gate gate = {flag, 7};
    gate.wait();
}

extern "C" __global__ CORE void by_no_door(word *flag)
{
    Quick quick;
    quick.flag = flag;
    quick.goal = 7;
    Door *volatile door = &quick;
    const Door *seen = door;
    while (!seen->is_open()) {
    }
}
