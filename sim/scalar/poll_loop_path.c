/* SPDX-License-Identifier: Apache-2.0 */
/* The instructions of one turn of a loop, with those of the functions it calls, and which follow
 * which. */
#include "poll_loop_parts.h"

#include <string.h>

enum { STEP = sizeof(struct sim_scalar_op), JALR = 0x67, BRANCH = 0x63 };

struct walk {
    const struct sim_decoded *decoded;
    const struct poll_loop_targets *targets;
    struct poll_loop_path *path;
    unsigned current; /**< call that is walked */
    unsigned base;    /**< its first node */
    bool failed;
};

/* The node of an instruction of the current call. */
static int16_t node_at(struct walk *walk, int64_t at)
{
    struct poll_loop_path *path = walk->path;
    if (walk->current == 0 && (at < (int64_t)path->first || at > (int64_t)path->last)) {
        return POLL_LOOP_OUT;
    }
    for (unsigned i = walk->base; i < path->nodes; i++) {
        if (path->node[i].at == (uint64_t)at) {
            return (int16_t)i;
        }
    }
    if (path->nodes == POLL_LOOP_NODES || at < 0 || (uint64_t)at * 4 >= walk->decoded->bytes) {
        walk->failed = true;
        return POLL_LOOP_OUT;
    }
    path->node[path->nodes] = (struct poll_loop_node){
        (uint32_t)at, (uint8_t)walk->current, {POLL_LOOP_NOWHERE, POLL_LOOP_NOWHERE}};
    return (int16_t)path->nodes++;
}

/* Where auipc and the jump behind it lead; false: the register comes from elsewhere. */
static bool find_target(const struct sim_decoded *decoded, size_t at, int64_t *target)
{
    const struct sim_scalar_op *op = &decoded->ops[at];
    if (at == 0 || op[-1].plain != SIM_CODE_AUIPC || op[-1].rd != op->rs1) {
        return false;
    }
    *target = (op[-1].imm + op->imm - (int64_t)decoded->base) / 4;
    return true;
}

/* Where a jump through a pointer is taken to lead. In the loop itself it is the table of a switch,
 * which is not followed: the loops of most operators would be looked at again and again. */
static bool choose_target(struct walk *walk, bool calls, int64_t *target)
{
    struct poll_loop_path *path = walk->path;
    if (path->choices == POLL_LOOP_CHOICES || !walk->targets->count || (!calls && !walk->current)) {
        return false;
    }
    *target = walk->targets->at[path->pick[path->choices++]];
    return true;
}

static void add_call(struct walk *walk, unsigned node, int64_t target)
{
    struct poll_loop_path *path = walk->path;
    const uint8_t depth = path->call[walk->current].depth;
    if (path->calls == POLL_LOOP_CALLS || depth == SIM_SPIN_DEPTH || target < 0 ||
        (uint64_t)target * 4 >= walk->decoded->bytes) {
        walk->failed = true;
        return;
    }
    const int16_t back = node_at(walk, (int64_t)path->node[node].at + 1);
    path->call[path->calls++] =
        (struct poll_loop_call){(size_t)target, (int16_t)node, back, (uint8_t)(depth + 1)};
}

/* jalr: a call, a return, or a jump. */
static void follow_register(struct walk *walk, unsigned node)
{
    const size_t at = walk->path->node[node].at;
    const struct sim_scalar_op *op = &walk->decoded->ops[at];
    const bool calls = op->rd == POLL_LOOP_RA;
    int64_t target;
    if (!calls && op->rs1 == POLL_LOOP_RA) {
        walk->path->node[node].next[0] =
            walk->current ? walk->path->call[walk->current].back : (int16_t)POLL_LOOP_OUT;
    } else if (!find_target(walk->decoded, at, &target) && !choose_target(walk, calls, &target)) {
        walk->failed = true;
    } else if (calls) {
        add_call(walk, node, target);
    } else {
        walk->path->node[node].next[0] = node_at(walk, target);
    }
}

static void follow(struct walk *walk, unsigned node)
{
    struct poll_loop_path *path = walk->path;
    const int64_t at = path->node[node].at;
    const struct sim_scalar_op *op = &walk->decoded->ops[at];
    const enum sim_scalar_code code = sim_scalar_meaning(op);
    path->effect[node] = sim_poll_loop_effect(walk->decoded, (size_t)at);
    if (path->effect[node].forbidden || code == SIM_CODE_BRANCH_OUT || code == SIM_CODE_JAL_OUT) {
        walk->failed = true;
    } else if (code == SIM_CODE_J) {
        path->node[node].next[0] = node_at(walk, at + op->imm / STEP);
    } else if (code == SIM_CODE_JAL) {
        add_call(walk, node, at + op->imm / STEP);
        walk->failed = walk->failed || op->rd != POLL_LOOP_RA;
    } else if ((walk->decoded->words[at] & 0x7f) == JALR) {
        follow_register(walk, node);
    } else {
        path->node[node].next[0] = node_at(walk, at + 1);
        if ((walk->decoded->words[at] & 0x7f) == BRANCH) {
            path->node[node].next[1] = node_at(walk, at + op->imm / STEP);
        }
    }
}

static bool has_turn(const struct poll_loop_path *path)
{
    for (unsigned i = 0; i < path->nodes; i++) {
        const struct poll_loop_node *node = &path->node[i];
        if (node->call == 0 && node->at == path->last &&
            (node->next[0] == 0 || node->next[1] == 0)) {
            return true;
        }
    }
    return false; // a jump back that is no loop
}

bool sim_poll_loop_walk(const struct sim_decoded *decoded, const struct poll_loop_targets *targets,
                        size_t first, size_t last, struct poll_loop_path *path)
{
    struct walk walk = {.decoded = decoded, .targets = targets, .path = path};
    bool looks = false;
    path->first = first;
    path->last = last;
    path->nodes = path->choices = 0;
    path->calls = 1;
    path->call[0] = (struct poll_loop_call){.entry = first};
    for (; walk.current < path->calls && !walk.failed; walk.current++) {
        const struct poll_loop_call *call = &path->call[walk.current];
        walk.base = path->nodes;
        const int16_t entry = node_at(&walk, (int64_t)call->entry);
        if (walk.current) {
            path->node[call->node].next[0] = entry;
        }
        for (unsigned i = walk.base; i < path->nodes && !walk.failed; i++) {
            follow(&walk, i);
            looks = looks || path->effect[i].looks;
        }
    }
    return !walk.failed && looks && has_turn(path);
}
