/* SPDX-License-Identifier: Apache-2.0 */
/* Damaged frozen graphs of TensorFlow: refused, or an ONNX file that the importer of ONNX takes or
 * refuses. */
#include "fuzz.h"
#include "messages.h"

#include <leo/alloc.h>
#include <leo/model_import.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct leo_import_options options = {.soc = "Ascend910A"};
    char error[LEO_MODEL_ERROR] = "";
    uint8_t *onnx = NULL;
    size_t onnx_bytes = 0;
    struct leo_model model = {0};
    leo_status status = leo_tensorflow_to_onnx(data, bytes, &options, &onnx, &onnx_bytes, error);
    fuzz_check((status == LEO_OK) == (error[0] == '\0'), "status and reason differ");
    if (status == LEO_OK) {
        status = leo_import_onnx(onnx, onnx_bytes, &options, &model, error);
        fuzz_check((status == LEO_OK) == (error[0] == '\0'), "status and reason differ");
    }
    leo_model_free(&model);
    leo_free(onnx);
    return 0;
}

static void put_attribute(struct text *node, const char *name, const struct text *value)
{
    struct text entry = {0};
    put_name(&entry, 1, name);
    put_text(&entry, 2, value);
    put_text(node, 5, &entry);
}

static void put_shape(struct text *shape, const int64_t *dim, size_t rank)
{
    for (size_t i = 0; i < rank; i++) {
        struct text size = {0};
        put_int(&size, 1, (uint64_t)dim[i]);
        put_text(shape, 2, &size);
    }
}

static void put_placeholder(struct text *graph, const char *name, const int64_t *dim, size_t rank)
{
    struct text node = {0}, shape = {0}, dims = {0}, type = {0};
    put_name(&node, 1, name);
    put_name(&node, 2, "Placeholder");
    put_int(&type, 6, 1);
    put_attribute(&node, "dtype", &type);
    put_shape(&dims, dim, rank);
    put_text(&shape, 7, &dims);
    put_attribute(&node, "shape", &shape);
    put_text(graph, 1, &node);
}

static void put_const(struct text *graph, const char *name, unsigned type, const int64_t *dim,
                      size_t rank, const void *raw, size_t bytes)
{
    struct text node = {0}, tensor = {0}, shape = {0}, value = {0};
    put_name(&node, 1, name);
    put_name(&node, 2, "Const");
    put_shape(&shape, dim, rank);
    put_int(&tensor, 1, type);
    put_text(&tensor, 2, &shape);
    put_bytes(&tensor, 4, raw, bytes);
    put_text(&value, 8, &tensor);
    put_attribute(&node, "value", &value);
    put_text(graph, 1, &node);
}

// Words: name, operator, inputs; integers of one attribute, or its text.
static void put_node(struct text *graph, const char *const *words, const char *attribute,
                     const int64_t *ints, size_t count, const char *mode)
{
    struct text node = {0};
    put_name(&node, 1, words[0]);
    put_name(&node, 2, words[1]);
    for (size_t i = 2; words[i]; i++) {
        put_name(&node, 3, words[i]);
    }
    if (attribute) {
        struct text list = {0}, value = {0};
        for (size_t i = 0; i < count; i++) {
            put_int(&list, 3, (uint64_t)ints[i]);
        }
        put_text(&value, 1, &list);
        put_attribute(&node, attribute, &value);
    }
    if (mode) {
        struct text value = {0};
        put_name(&value, 2, mode);
        put_attribute(&node, "padding", &value);
    }
    put_text(graph, 1, &node);
}

#define WORDS(...)                                                                                 \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }

static void picture_graph(struct text *graph)
{
    static const int64_t in[] = {1, 6, 5, 2}, kernel[] = {3, 3, 2, 2}, steps[] = {1, 2, 2, 1},
                         two = 2, pads[] = {4, 2};
    static const float weights[36] = {1, 2, 3};
    static const int32_t axes[] = {1, 2}, zeros[8] = {0, 0, 1, 1};
    put_placeholder(graph, "x", in, 4);
    put_const(graph, "k", 1, kernel, 4, weights, sizeof(weights));
    put_const(graph, "b", 1, &two, 1, weights, 8);
    put_const(graph, "a", 3, &two, 1, axes, sizeof(axes));
    put_const(graph, "p", 3, pads, 2, zeros, sizeof(zeros));
    put_node(graph, WORDS("c", "Conv2D", "x", "k"), "strides", steps, 4, "SAME");
    put_node(graph, WORDS("d", "BiasAdd", "c", "b"), NULL, NULL, 0, NULL);
    put_node(graph, WORDS("e", "Pad", "d", "p"), NULL, NULL, 0, NULL);
    put_node(graph, WORDS("m", "MaxPool", "e"), "ksize", steps, 4, "VALID");
    put_node(graph, WORDS("y", "Mean", "m", "a"), NULL, NULL, 0, NULL);
}

static void matrix_graph(struct text *graph)
{
    static const int64_t in[] = {2, 6}, three = 3, one = 1;
    static const int32_t begin[] = {0, 1, -1}, end[] = {2, 4, 3}, steps[] = {1, 1, 1}, axis = 1;
    static const float numbers[] = {1, 2, 3};
    put_placeholder(graph, "x", in, 2);
    put_const(graph, "i", 3, &three, 1, begin, sizeof(begin));
    put_const(graph, "j", 3, &three, 1, end, sizeof(end));
    put_const(graph, "s", 3, &three, 1, steps, sizeof(steps));
    put_const(graph, "n", 1, &three, 1, numbers, sizeof(numbers));
    put_const(graph, "a", 3, &one, 1, &axis, sizeof(axis));
    put_const(graph, "shape", 3, &three, 1, steps, sizeof(steps));
    put_node(graph, WORDS("r", "Reshape", "n", "shape"), NULL, NULL, 0, NULL);
    put_node(graph, WORDS("q", "Sub", "n", "r"), NULL, NULL, 0, NULL);
    put_node(graph, WORDS("e", "ExpandDims", "x", "a"), NULL, NULL, 0, NULL);
    put_node(graph, WORDS("t", "StridedSlice", "e", "i", "j", "s"), NULL, NULL, 0, NULL);
    put_node(graph, WORDS("y", "ConcatV2", "t", "t", "a"), NULL, NULL, 0, NULL);
    put_node(graph, WORDS("z", "Mul", "q", "x"), NULL, NULL, 0, NULL);
}

size_t fuzz_seed(unsigned index, uint8_t *data)
{
    static void (*const graphs[])(struct text *) = {picture_graph, matrix_graph};
    struct text graph = {0};
    if (index >= sizeof(graphs) / sizeof(graphs[0])) {
        return 0;
    }
    graphs[index](&graph);
    memcpy(data, graph.bytes, graph.count);
    return graph.count;
}
