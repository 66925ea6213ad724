/* SPDX-License-Identifier: Apache-2.0 */
#include "fusions.h"

#include "outputs.h"

#include <leo/alloc.h>
#include <math.h>
#include <string.h>

enum { STEPS = 10, LETTERS = 4 };

/** A node of a pattern. Operands by letter: x, a, b, c are inputs of the pattern, a digit the
 * result of that step, # the step's number, e any number, which is kept. Add and Mul take theirs in
 * either order; ReduceMean and Softmax are over the last dimension, which stays. */
struct step {
    const char *type, *operands;
    double number;
};

struct match;

/** Nodes that follow each other, and what they are together. */
struct pattern {
    const char *name, *type;
    const char *inputs;  /**< of the node made, by letter */
    const char *number;  /**< attribute that takes what e was; NULL: none */
    const char *text[2]; /**< an attribute and its word */
    /** Whether the inputs, of which x has dimensions, can be taken; NULL: any. */
    bool (*takes)(struct onnx_import *import, const struct match *match);
    struct step steps[STEPS];
};

static bool takes_rows(struct onnx_import *import, const struct match *match);
static bool takes_attention(struct onnx_import *import, const struct match *match);
static bool takes_matrix(struct onnx_import *import, const struct match *match);

#define ROOT  1.4142135623730951
#define SLOPE 0.7978845608028654 /* root of 2 / pi */
#define CUBE  0.044715

/* What the forms of one operator share. */
#define LAYER_NORM                                                                                 \
    .name = "LayerNorm", .type = "LayerNormalization", .inputs = "xab", .number = "epsilon",       \
    .takes = takes_rows
#define GELU      .name = "Gelu", .type = "Gelu", .inputs = "x"
#define GELU_TANH GELU, .text = {"approximate", "tanh"}
#define ATTENTION(letters, scale)                                                                  \
    .name = "Attention", .type = "LeoAttention", .inputs = (letters), .number = (scale),           \
    .takes = takes_attention

/* As exporters of PyTorch, Keras and TensorFlow write them. */
static const struct pattern patterns[] = {
    {LAYER_NORM, .steps = {{"ReduceMean", "x"},
                           {"Sub", "x0"},
                           {"Pow", "1#", 2},
                           {"ReduceMean", "2"},
                           {"Add", "3e"},
                           {"Sqrt", "4"},
                           {"Div", "15"},
                           {"Mul", "6a"},
                           {"Add", "7b"}}},
    {LAYER_NORM, .steps = {{"ReduceMean", "x"},
                           {"Sub", "x0"},
                           {"Mul", "11"},
                           {"ReduceMean", "2"},
                           {"Add", "3e"},
                           {"Sqrt", "4"},
                           {"Div", "15"},
                           {"Mul", "6a"},
                           {"Add", "7b"}}},
    {GELU,
     .steps =
         {{"Div", "x#", ROOT}, {"Erf", "0"}, {"Add", "1#", 1}, {"Mul", "x2"}, {"Mul", "3#", 0.5}}},
    {GELU,
     .steps =
         {{"Div", "x#", ROOT}, {"Erf", "0"}, {"Add", "1#", 1}, {"Mul", "2#", 0.5}, {"Mul", "x3"}}},
    {GELU,
     .steps =
         {{"Div", "x#", ROOT}, {"Erf", "0"}, {"Add", "1#", 1}, {"Mul", "x#", 0.5}, {"Mul", "32"}}},
    {GELU, .steps = {{"Mul", "x#", 1 / ROOT},
                     {"Erf", "0"},
                     {"Add", "1#", 1},
                     {"Mul", "x2"},
                     {"Mul", "3#", 0.5}}},
    {GELU, .steps = {{"Mul", "x#", 1 / ROOT},
                     {"Erf", "0"},
                     {"Add", "1#", 1},
                     {"Mul", "2#", 0.5},
                     {"Mul", "x3"}}},
    {GELU_TANH, .steps = {{"Mul", "xx"},
                          {"Mul", "x0"},
                          {"Mul", "1#", CUBE},
                          {"Add", "x2"},
                          {"Mul", "3#", SLOPE},
                          {"Tanh", "4"},
                          {"Add", "5#", 1},
                          {"Mul", "x6"},
                          {"Mul", "7#", 0.5}}},
    {GELU_TANH, .steps = {{"Pow", "x#", 3},
                          {"Mul", "0#", CUBE},
                          {"Add", "x1"},
                          {"Mul", "2#", SLOPE},
                          {"Tanh", "3"},
                          {"Add", "4#", 1},
                          {"Mul", "x#", 0.5},
                          {"Mul", "65"}}},
    {.name = "Swish", .type = "Swish", .inputs = "x", .steps = {{"Sigmoid", "x"}, {"Mul", "x0"}}},
    {.name = "Mish",
     .type = "Mish",
     .inputs = "x",
     .steps = {{"Softplus", "x"}, {"Tanh", "0"}, {"Mul", "x1"}}},
    {ATTENTION("xabc", "root"), .steps = {{"Mul", "xe"},
                                          {"Mul", "ae"},
                                          {"MatMul", "01"},
                                          {"Add", "2c"},
                                          {"Softmax", "3"},
                                          {"MatMul", "4b"}}},
    {ATTENTION("xab", "root"),
     .steps = {{"Mul", "xe"}, {"Mul", "ae"}, {"MatMul", "01"}, {"Softmax", "2"}, {"MatMul", "3b"}}},
    {ATTENTION("xabc", "divisor"),
     .steps = {{"MatMul", "xa"}, {"Div", "0e"}, {"Add", "1c"}, {"Softmax", "2"}, {"MatMul", "3b"}}},
    {ATTENTION("xab", "divisor"),
     .steps = {{"MatMul", "xa"}, {"Div", "0e"}, {"Softmax", "1"}, {"MatMul", "2b"}}},
    {ATTENTION("xabc", "scale"),
     .steps = {{"MatMul", "xa"}, {"Mul", "0e"}, {"Add", "1c"}, {"Softmax", "2"}, {"MatMul", "3b"}}},
    {ATTENTION("xab", "scale"),
     .steps = {{"MatMul", "xa"}, {"Mul", "0e"}, {"Softmax", "1"}, {"MatMul", "2b"}}},
    {ATTENTION("xab", "scale"),
     .steps = {{"Mul", "xe"}, {"MatMul", "0a"}, {"Softmax", "1"}, {"MatMul", "2b"}}},
    {.name = "MatMulBias",
     .type = "LeoMatMulBias",
     .inputs = "xab",
     .takes = takes_matrix,
     .steps = {{"MatMul", "xa"}, {"Add", "0b"}}},
};

/** A pattern being laid over the graph. */
struct match {
    const struct pattern *pattern;
    size_t nodes[STEPS];
    uint32_t count;
    const char *letters[LETTERS]; /**< names behind x, a, b, c; NULL: not met yet */
    double number;                /**< what e is */
    bool has_number;
};

/** One found. */
struct onnx_fused {
    struct onnx_fused *next;
    size_t last;
    OnnxFile__Node node;
    OnnxFile__Attribute attributes[2], *attribute[2];
    char *inputs[LETTERS];
};

static const OnnxFile__Node *node_of(const struct onnx_import *import, const struct match *match,
                                     uint32_t step)
{
    return import->graph->node[match->nodes[step]];
}

// A single number that is known; false: it is none.
static bool known_number(struct onnx_import *import, const char *name, double *number)
{
    const struct onnx_tensor *tensor = onnx_find(import, name);
    if (!tensor || !tensor->known || tensor->dtype != LEO_DTYPE_F32 || onnx_count(tensor) != 1) {
        return false;
    }
    *number = (double)*(const float *)tensor->known;
    return true;
}

static const char **letter_at(struct match *match, char letter)
{
    return &match->letters[letter == 'x' ? 0 : letter - 'a' + 1];
}

static bool bind(struct onnx_import *import, struct match *match, const struct step *step,
                 char operand, const char *name)
{
    double number;
    if (operand >= '0' && operand <= '9') {
        return strcmp(node_of(import, match, (uint32_t)(operand - '0'))->output[0], name) == 0;
    }
    if (operand == '#') {
        // Halves of an exporter's own rounding.
        return known_number(import, name, &number) &&
               fabs(number - step->number) <= 1e-3 * fabs(step->number);
    }
    if (operand == 'e') {
        if (!known_number(import, name, &number) ||
            (match->has_number && number != match->number)) {
            return false;
        }
        match->number = number;
        match->has_number = true;
        return true;
    }
    const char **bound = letter_at(match, operand);
    if (!*bound) {
        *bound = name;
    }
    return strcmp(*bound, name) == 0;
}

// Over the last dimension of the pattern's x alone, which is kept.
static bool is_mean_of_last(struct onnx_import *import, const struct match *match,
                            const OnnxFile__Node *node)
{
    const struct onnx_tensor *x = onnx_find(import, match->letters[0]);
    int64_t axis = 0, count = 0, keeps = 1;
    for (size_t i = 0; i < node->n_attribute; i++) {
        const OnnxFile__Attribute *attribute = node->attribute[i];
        if (attribute->name && strcmp(attribute->name, "axes") == 0 && attribute->n_ints) {
            axis = attribute->ints[0];
            count = (int64_t)attribute->n_ints;
        } else if (attribute->name && strcmp(attribute->name, "keepdims") == 0) {
            keeps = attribute->i;
        }
    }
    const struct onnx_tensor *axes = node->n_input > 1 ? onnx_find(import, node->input[1]) : NULL;
    if (axes && axes->known && axes->dtype != LEO_DTYPE_F32 && onnx_count(axes) >= 1) {
        axis = *(const int64_t *)axes->known;
        count = onnx_count(axes);
    }
    return x && keeps && count == 1 && (axis == -1 || axis == (int64_t)x->rank - 1);
}

// Its axis is the last of the pattern's x, whose rank the scores have.
static bool is_softmax_of_last(struct onnx_import *import, const struct match *match,
                               const OnnxFile__Node *node)
{
    const struct onnx_tensor *x = onnx_find(import, match->letters[0]);
    int64_t axis = import->opset < 13 ? 1 : -1;
    for (size_t i = 0; i < node->n_attribute; i++) {
        if (node->attribute[i]->name && strcmp(node->attribute[i]->name, "axis") == 0) {
            axis = node->attribute[i]->i;
        }
    }
    return x && (axis == -1 || axis == (int64_t)x->rank - 1);
}

// Whether a node is the step, with its operands in this order or (turned) the other one.
static bool is_step(struct onnx_import *import, struct match *match, const struct step *step,
                    const OnnxFile__Node *node, bool turned)
{
    const size_t count = strlen(step->operands);
    const bool is_mean = strcmp(step->type, "ReduceMean") == 0,
               is_softmax = strcmp(step->type, "Softmax") == 0;
    const bool fits = is_mean ? node->n_input >= count : node->n_input == count; // its axes
    if (!node->op_type || strcmp(node->op_type, step->type) != 0 || !fits || node->n_output != 1 ||
        (node->domain && *node->domain && strcmp(node->domain, "ai.onnx") != 0)) {
        return false;
    }
    struct match tried = *match;
    for (size_t i = 0; i < count; i++) {
        if (!bind(import, &tried, step, step->operands[turned ? count - 1 - i : i],
                  node->input[i])) {
            return false;
        }
    }
    if ((is_mean && !is_mean_of_last(import, &tried, node)) ||
        (is_softmax && !is_softmax_of_last(import, &tried, node))) {
        return false;
    }
    *match = tried;
    return true;
}

static bool take_step(struct onnx_import *import, struct match *match, const struct step *step,
                      size_t index)
{
    const OnnxFile__Node *node = import->graph->node[index];
    const bool commutes = strcmp(step->type, "Add") == 0 || strcmp(step->type, "Mul") == 0;
    for (uint32_t i = 0; i < match->count; i++) {
        if (match->nodes[i] == index) {
            return false;
        }
    }
    if (import->skipped[index] || !(is_step(import, match, step, node, false) ||
                                    (commutes && is_step(import, match, step, node, true)))) {
        return false;
    }
    match->nodes[match->count++] = index;
    return true;
}

// What stands between the nodes of a match is read by them alone.
static bool is_closed(const struct onnx_import *import, const struct match *match, size_t last)
{
    const OnnxFile__Graph *graph = import->graph;
    bool inside, closed = true;
    for (uint32_t k = 0; closed && k < match->count; k++) {
        const char *name = node_of(import, match, k)->output[0];
        for (uint32_t i = 0; match->nodes[k] != last && i < import->output_count; i++) {
            closed = closed && strcmp(import->outputs[i], name) != 0;
        }
        for (size_t i = 0; closed && match->nodes[k] != last && i < graph->n_node; i++) {
            inside = false;
            for (uint32_t m = 0; m < match->count; m++) {
                inside = inside || match->nodes[m] == i;
            }
            for (size_t n = 0; !inside && n < graph->node[i]->n_input; n++) {
                closed = closed && strcmp(graph->node[i]->input[n], name) != 0;
            }
        }
    }
    return closed;
}

/* Each input is looked at as it is known by now; those behind the first node's are only if they are
 * weights. */

// A number for each of x's last dimension.
static bool takes_rows(struct onnx_import *import, const struct match *match)
{
    const struct onnx_tensor *x = onnx_find(import, match->letters[0]);
    for (int i = 1; i < 3; i++) {
        const struct onnx_tensor *row = onnx_find(import, match->letters[i]);
        if (!row || row->rank != 1 || row->dim[0] != x->dim[x->rank - 1]) {
            return false;
        }
    }
    return true;
}

// Any x times a matrix, and a row.
static bool takes_matrix(struct onnx_import *import, const struct match *match)
{
    const struct onnx_tensor *x = onnx_find(import, match->letters[0]),
                             *a = onnx_find(import, match->letters[1]),
                             *b = onnx_find(import, match->letters[2]);
    return a && b && x->rank >= 2 && a->rank == 2 && b->rank == 1 && b->dim[0] == a->dim[1];
}

// Queries, turned keys, values [batch, heads, ...], and what is added to the scores; all made by
// now.
static bool takes_attention(struct onnx_import *import, const struct match *match)
{
    const struct onnx_tensor *q = onnx_find(import, match->letters[0]),
                             *k = onnx_find(import, match->letters[1]),
                             *v = onnx_find(import, match->letters[2]);
    if (!k || !v || q->rank != 4 || k->rank != 4 || v->rank != 4 || q->dtype != LEO_DTYPE_F32 ||
        q->dim[3] != k->dim[2] || k->dim[3] != v->dim[2]) {
        return false;
    }
    for (int d = 0; d < 2; d++) {
        if (q->dim[d] != k->dim[d] || q->dim[d] != v->dim[d]) {
            return false;
        }
    }
    const int64_t scores[] = {q->dim[0], q->dim[1], q->dim[2], k->dim[3]};
    const struct onnx_tensor *mask =
        match->letters[3] ? onnx_find(import, match->letters[3]) : NULL;
    bool good = !match->letters[3] ||
                (mask && mask->rank >= 1 && mask->rank <= 4 && mask->dtype == LEO_DTYPE_F32 &&
                 mask->dim[mask->rank - 1] == scores[3]);
    for (uint32_t d = 0; good && mask && d < mask->rank; d++) {
        const int64_t size = mask->dim[d];
        good = size == 1 || size == scores[4 - mask->rank + d];
    }
    return good;
}

static bool lay(struct onnx_import *import, struct match *match, size_t first)
{
    const struct step *steps = match->pattern->steps;
    if (!take_step(import, match, &steps[0], first)) {
        return false;
    }
    for (uint32_t k = 1; k < STEPS && steps[k].type; k++) {
        bool found = false;
        for (size_t i = first + 1; !found && i < import->graph->n_node; i++) {
            found = take_step(import, match, &steps[k], i);
        }
        if (!found) {
            return false;
        }
    }
    const struct onnx_tensor *x = onnx_find(import, match->letters[0]);
    return x && x->rank > 0 && (!match->pattern->takes || match->pattern->takes(import, match));
}

static void put_attribute(struct onnx_fused *fused, const char *name, double number,
                          const char *text)
{
    OnnxFile__Attribute *attribute = &fused->attributes[fused->node.n_attribute];
    onnx_file__attribute__init(attribute);
    attribute->name = (char *)(uintptr_t)name;
    attribute->has_f = true;
    attribute->f = (float)number;
    if (text) {
        attribute->has_s = true;
        attribute->s.data = (uint8_t *)(uintptr_t)text;
        attribute->s.len = strlen(text);
    }
    fused->attribute[fused->node.n_attribute++] = attribute;
}

// One node in the place of the last; the others are folded into it.
static void replace(struct onnx_import *import, struct match *match, size_t last)
{
    const struct pattern *pattern = match->pattern;
    struct onnx_fused *fused = leo_calloc(1, sizeof(*fused));
    if (!fused) {
        onnx_fail(import, "out of host memory");
        return;
    }
    const OnnxFile__Node *end = import->graph->node[last];
    onnx_file__node__init(&fused->node);
    fused->last = last;
    fused->node.op_type = (char *)(uintptr_t)pattern->type;
    fused->node.name = end->name;
    fused->node.output = end->output;
    fused->node.n_output = 1;
    fused->node.input = fused->inputs;
    fused->node.attribute = fused->attribute;
    for (const char *at = pattern->inputs; *at; at++) {
        fused->inputs[fused->node.n_input++] = (char *)(uintptr_t)*letter_at(match, *at);
    }
    if (pattern->number) {
        put_attribute(fused, pattern->number, match->number, NULL);
    }
    if (pattern->text[0]) {
        put_attribute(fused, pattern->text[0], 0, pattern->text[1]);
    }
    for (uint32_t k = 0; k < match->count; k++) {
        import->skipped[match->nodes[k]] = match->nodes[k] != last;
        import->build.model.nodes[match->nodes[k]].into = (uint32_t)last + 1;
    }
    fused->next = import->fused;
    import->fused = fused;
}

void onnx_fuse_from(struct onnx_import *import, size_t index)
{
    const char *off = import->options->without_fusions;
    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
        struct match match = {.pattern = &patterns[i]};
        if (onnx_is_listed(off, "ALL") || onnx_is_listed(off, patterns[i].name) ||
            onnx_fused_at(import, index) || !lay(import, &match, index)) {
            continue;
        }
        const size_t last = match.nodes[match.count - 1];
        if (is_closed(import, &match, last)) {
            replace(import, &match, last);
            return;
        }
    }
}

OnnxFile__Node *onnx_fused_at(const struct onnx_import *import, size_t index)
{
    for (struct onnx_fused *fused = import->fused; fused; fused = fused->next) {
        if (fused->last == index) {
            return &fused->node;
        }
    }
    return NULL;
}

void onnx_fused_free(struct onnx_fused *fused)
{
    while (fused) {
        struct onnx_fused *next = fused->next;
        leo_free(fused);
        fused = next;
    }
}
