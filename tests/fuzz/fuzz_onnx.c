/* SPDX-License-Identifier: Apache-2.0 */
/* Damaged ONNX files: what the importer lets through must be a model that can be written and read.
 */
#include "fuzz.h"
#include "messages.h"

#include <leo/alloc.h>
#include <leo/model_import.h>
#include <stdlib.h>
#include <string.h>

static void check_model(const struct leo_model *model)
{
    struct leo_model again;
    char error[LEO_MODEL_ERROR] = "";
    uint8_t *file;
    size_t bytes;
    fuzz_check(leo_model_write(model, &file, &bytes) == LEO_OK, "it cannot be written");
    const leo_status status = leo_model_read(file, bytes, &again, error);
    fuzz_check(status == LEO_OK, error);
    leo_model_free(&again);
    leo_free(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct leo_import_options options = {.soc = "Ascend910A", .keep_f32 = bytes % 2 != 0};
    struct leo_model model;
    char error[LEO_MODEL_ERROR] = "";
    const leo_status status = leo_import_onnx(data, bytes, &options, &model, error);
    fuzz_check(memchr(error, 0, sizeof(error)) != NULL, "message does not end");
    fuzz_check((status == LEO_OK) == (error[0] == '\0'), "status and reason differ");
    if (status == LEO_OK) {
        check_model(&model);
    }
    leo_model_free(&model);
    return 0;
}

static void put_io(struct text *graph, unsigned field, const char *name, const int64_t *dim,
                   size_t rank)
{
    struct text shape = {0}, tensor = {0}, type = {0}, info = {0};
    for (size_t i = 0; i < rank; i++) {
        struct text size = {0};
        put_int(&size, 1, (uint64_t)dim[i]);
        put_text(&shape, 1, &size);
    }
    put_int(&tensor, 1, 1);
    put_text(&tensor, 2, &shape);
    put_text(&type, 1, &tensor);
    put_name(&info, 1, name);
    put_text(&info, 2, &type);
    put_text(graph, field, &info);
}

// Words of a node: its type, inputs up to "-", outputs; integers of one attribute.
static void put_node(struct text *graph, const char *const *words, const char *attribute,
                     const int64_t *ints, size_t count)
{
    struct text node = {0};
    unsigned field = 1;
    put_name(&node, 4, words[0]);
    for (size_t i = 1; words[i]; i++) {
        if (strcmp(words[i], "-") == 0) {
            field = 2;
        } else {
            put_name(&node, field, words[i]);
        }
    }
    if (attribute) {
        struct text list = {0};
        put_name(&list, 1, attribute);
        for (size_t i = 0; i < count; i++) {
            put_int(&list, 8, (uint64_t)ints[i]);
        }
        put_text(&node, 5, &list);
    }
    put_text(graph, 1, &node);
}

static void put_weight(struct text *graph, const char *name, unsigned type, const int64_t *dim,
                       size_t rank, const void *raw, size_t bytes)
{
    struct text tensor = {0};
    for (size_t i = 0; i < rank; i++) {
        put_int(&tensor, 1, (uint64_t)dim[i]);
    }
    put_int(&tensor, 2, type);
    put_name(&tensor, 8, name);
    put_bytes(&tensor, 9, raw, bytes);
    put_text(graph, 5, &tensor);
}

static void picture_graph(struct text *graph)
{
    static const float weights[2 * 3 * 3 * 3] = {1, 2, 3};
    static const int64_t in[] = {1, 3, 8, 8}, kernel[] = {2, 3, 3, 3}, pads[] = {1, 1, 1, 1},
                         size[] = {2, 2}, out[] = {1, 2, 7, 7}, steps[] = {1, 1, 1, 1};
    static const float scales[] = {1, 1, 2, 2};
    static const int64_t four = 4, two = 2, begin[] = {0, 0}, end[] = {1, 2};
    put_weight(graph, "w", 1, kernel, 4, weights, sizeof(weights));
    put_weight(graph, "s", 1, &four, 1, scales, sizeof(scales));
    put_weight(graph, "b", 7, &two, 1, begin, sizeof(begin));
    put_weight(graph, "e", 7, &two, 1, end, sizeof(end));
    put_io(graph, 11, "x", in, 4);
    put_node(graph, (const char *const[]){"Conv", "x", "w", "-", "c", NULL}, "pads", pads, 4);
    put_node(graph, (const char *const[]){"MaxPool", "c", "-", "p", NULL}, "kernel_shape", size, 2);
    put_node(graph, (const char *const[]){"Resize", "p", "", "s", "-", "r", NULL}, NULL, NULL, 0);
    put_node(graph, (const char *const[]){"Slice", "r", "b", "e", "-", "q", NULL}, NULL, NULL, 0);
    put_node(graph, (const char *const[]){"Relu", "p", "-", "y", NULL}, "none", steps, 4);
    put_io(graph, 12, "y", out, 4);
}

static void matrix_graph(struct text *graph)
{
    static const int64_t in[] = {2, 6}, three = 3, order[] = {1, 0}, shape[] = {2, -1, 2}, one = 1,
                         axis = 1, out[] = {3, 3};
    static const float numbers[] = {1, 2, 3};
    put_weight(graph, "shape", 7, &three, 1, shape, sizeof(shape));
    put_weight(graph, "n", 1, &three, 1, numbers, sizeof(numbers));
    put_weight(graph, "k", 7, &one, 1, &axis, sizeof(axis));
    put_io(graph, 11, "x", in, 2);
    put_node(graph, (const char *const[]){"Reshape", "x", "shape", "-", "r", NULL}, NULL, NULL, 0);
    put_node(graph, (const char *const[]){"ReduceSum", "r", "k", "-", "t", NULL}, NULL, NULL, 0);
    put_node(graph, (const char *const[]){"Gather", "r", "k", "-", "g", NULL}, NULL, NULL, 0);
    put_node(graph, (const char *const[]){"Transpose", "x", "-", "u", NULL}, "perm", order, 2);
    put_node(graph, (const char *const[]){"MatMul", "u", "x", "-", "m", NULL}, NULL, NULL, 0);
    put_node(graph, (const char *const[]){"TopK", "m", "k", "-", "y", "i", NULL}, NULL, NULL, 0);
    put_node(graph, (const char *const[]){"Concat", "t", "g", "-", "z", NULL}, "axis", &axis, 1);
    put_io(graph, 12, "y", out, 2);
}

size_t fuzz_seed(unsigned index, uint8_t *data)
{
    static void (*const graphs[])(struct text *) = {picture_graph, matrix_graph};
    struct text graph = {0}, set = {0}, model = {0};
    if (index >= sizeof(graphs) / sizeof(graphs[0])) {
        return 0;
    }
    graphs[index](&graph);
    put_int(&set, 2, 13);
    put_int(&model, 1, 8);
    put_text(&model, 7, &graph);
    put_text(&model, 8, &set);
    memcpy(data, model.bytes, model.count);
    return model.count;
}
