/* SPDX-License-Identifier: Apache-2.0 */
/* From an ONNX file to a model: weights, inputs, nodes in order, outputs. */
#include "fusions.h"
#include "outputs.h"
#include "pictures.h"

#include <leo/alloc.h>
#include <stdio.h>
#include <string.h>

static bool is_initializer(const OnnxFile__Graph *graph, const char *name)
{
    for (size_t i = 0; i < graph->n_initializer; i++) {
        if (graph->initializer[i]->name && strcmp(graph->initializer[i]->name, name) == 0) {
            return true;
        }
    }
    return false;
}

static void take_initializers(struct onnx_import *import)
{
    for (size_t i = 0; i < import->graph->n_initializer && !import->build.failed; i++) {
        const OnnxFile__Tensor *from = import->graph->initializer[i];
        struct onnx_tensor *to =
            onnx_add(import, from->name ? from->name : "", LEO_DTYPE_F32, 0, NULL);
        if (to) {
            onnx_take_data(import, from, to);
        }
    }
}

static const struct leo_import_shape *option_shape(const struct leo_import_options *options,
                                                   const char *name)
{
    for (uint32_t i = 0; i < options->shape_count; i++) {
        if (strcmp(options->shapes[i].input, name) == 0) {
            return &options->shapes[i];
        }
    }
    return NULL;
}

static void take_io_shape(struct onnx_import *import, const OnnxFile__ValueInfo *info,
                          struct leo_model_io *io)
{
    const OnnxFile__TensorType *type = info->type ? info->type->tensor_type : NULL;
    const struct leo_import_shape *shape = option_shape(import->options, info->name);
    if (shape) {
        if (type && type->shape && type->shape->n_dim != shape->rank) {
            onnx_fail(import, "input %s has %zu dimensions, --input_shape gives it %u", info->name,
                      type->shape->n_dim, shape->rank);
        }
        io->rank = shape->rank;
        memcpy(io->dim, shape->dim, sizeof(io->dim));
        return;
    }
    if (!type || !type->shape || type->shape->n_dim > LEO_OP_RANK_MAX) {
        onnx_fail(import, "input %s has no shape of at most 8 dimensions: give --input_shape",
                  info->name);
        return;
    }
    io->rank = (uint32_t)type->shape->n_dim;
    for (uint32_t d = 0; d < io->rank; d++) {
        io->dim[d] = type->shape->dim[d]->has_dim_value ? type->shape->dim[d]->dim_value : -1;
    }
}

// An input that is not a weight: floats become what the model computes in.
static void take_input(struct onnx_import *import, const OnnxFile__ValueInfo *info)
{
    struct leo_model *model = &import->build.model;
    struct leo_model_io *io = &model->inputs[model->input_count];
    enum leo_dtype dtype;
    const bool half = onnx_is_listed(import->options->half_inputs, info->name);
    if (!onnx_take_io_type(import, "input", info->name, info->type ? info->type->tensor_type : NULL,
                           half, &dtype)) {
        return;
    }
    snprintf(io->name, sizeof(io->name), "%s", info->name);
    take_io_shape(import, info, io);
    io->dtype = dtype;
    io->is_nhwc = import->options->nhwc && io->rank == 4;
    dtype = dtype == LEO_DTYPE_F16 ? LEO_DTYPE_F32 : dtype;
    struct onnx_tensor *tensor = onnx_add(import, info->name, dtype, io->rank, io->dim);
    if (!tensor) {
        return;
    }
    uint32_t value = 0;
    if (onnx_take_picture(import, model->input_count++, &value)) {
        onnx_set_value(tensor, value);
        return;
    }
    value = model_build_io(&import->build, LEO_MODEL_INPUT, model->input_count - 1);
    if (dtype == LEO_DTYPE_F32 && io->dtype != import->floats) {
        const uint32_t cast = model_build_value(&import->build, import->floats, io->rank, io->dim);
        MODEL_BUILD_CALL(&import->build, "InplaceCopy", model_build_tensor(cast),
                         model_build_tensor(value));
        value = cast;
    }
    onnx_set_value(tensor, value);
}

static void check_input(struct onnx_import *import, const char *option, const char *name)
{
    bool found = false;
    for (size_t i = 0; i < import->graph->n_input; i++) {
        found = found || strcmp(import->graph->input[i]->name, name) == 0;
    }
    if (!found) {
        onnx_bad_option(import, "--%s names input %s, which the model has not", option, name);
    }
}

static void check_inputs(struct onnx_import *import)
{
    char item[ONNX_ITEM];
    for (size_t i = 0; i < import->options->shape_count; i++) {
        check_input(import, "input_shape", import->options->shapes[i].input);
    }
    for (const char *at = import->options->half_inputs; onnx_next_item(&at, item);) {
        check_input(import, "input_fp16_nodes", item);
    }
}

static void take_inputs(struct onnx_import *import)
{
    struct leo_model *model = &import->build.model;
    const OnnxFile__Graph *graph = import->graph;
    model->inputs = leo_calloc(graph->n_input + 1, sizeof(*model->inputs));
    if (!model->inputs) {
        onnx_fail(import, "out of host memory");
        return;
    }
    check_inputs(import);
    for (size_t i = 0; i < graph->n_input && !import->build.failed; i++) {
        // Old files list weights among the inputs.
        if (!is_initializer(graph, graph->input[i]->name)) {
            take_input(import, graph->input[i]);
        }
    }
    onnx_end_pictures(import);
}

static void take_node(struct onnx_import *import, size_t index, OnnxFile__Node *node)
{
    const char *op = node->op_type ? node->op_type : "";
    const onnx_handler handler = onnx_find_handler(op);
    import->node = node;
    import->build.node = (uint32_t)index + 1;
    import->build.model.nodes[index].into = (uint32_t)index + 1;
    if (!handler || (node->domain && *node->domain && strcmp(node->domain, "ai.onnx") != 0)) {
        onnx_fail(import, "no operator of the library serves this type%s",
                  handler ? " of its domain" : "");
    } else if (node->n_output == 0) {
        onnx_fail(import, "it has no output");
    } else {
        handler(import);
    }
}

// Numbers that stand among the nodes come first: fusions look at them.
static void take_constants(struct onnx_import *import)
{
    const OnnxFile__Graph *graph = import->graph;
    for (size_t i = 0; i < graph->n_node && !import->build.failed; i++) {
        OnnxFile__Node *node = graph->node[i];
        if (!import->skipped[i] && node->op_type && strcmp(node->op_type, "Constant") == 0) {
            take_node(import, i, node);
            import->skipped[i] = true;
        }
    }
}

// All it reads is single numbers that are known.
static bool reads_numbers(struct onnx_import *import, const OnnxFile__Node *node)
{
    bool known = node->n_input > 0 && node->op_type &&
                 (strcmp(node->op_type, "Sqrt") == 0 || strcmp(node->op_type, "Cast") == 0 ||
                  strcmp(node->op_type, "Div") == 0 || strcmp(node->op_type, "Mul") == 0);
    for (size_t k = 0; known && k < node->n_input; k++) {
        const struct onnx_tensor *in = onnx_find(import, node->input[k]);
        known = in && in->known && onnx_count(in) == 1;
    }
    return known;
}

// Exporters write a number of a pattern between its nodes: those are computed before it is looked
// for.
static void take_numbers_ahead(struct onnx_import *import, size_t index)
{
    enum { AHEAD = 8 };
    const OnnxFile__Graph *graph = import->graph;
    for (size_t i = index + 1; i < graph->n_node && i <= index + AHEAD && !import->build.failed;
         i++) {
        if (!import->skipped[i] && reads_numbers(import, graph->node[i])) {
            take_node(import, i, graph->node[i]);
            import->skipped[i] = true;
        }
    }
}

static void take_nodes(struct onnx_import *import)
{
    const OnnxFile__Graph *graph = import->graph;
    take_constants(import);
    for (size_t i = 0; i < graph->n_node && !import->build.failed; i++) {
        if (!import->skipped[i]) {
            take_numbers_ahead(import, i);
            onnx_fuse_from(import, i);
        }
        if (!import->skipped[i] && !import->build.failed) {
            OnnxFile__Node *fused = onnx_fused_at(import, i);
            take_node(import, i, fused ? fused : graph->node[i]);
        }
    }
    import->node = NULL;
    import->build.node = 0;
}

// Nodes without a name are called by type and place.
static bool name_nodes(struct onnx_import *import)
{
    const OnnxFile__Graph *graph = import->graph;
    struct leo_model *model = &import->build.model;
    model->nodes = leo_calloc(graph->n_node + 1, sizeof(*model->nodes));
    for (size_t i = 0; model->nodes && i < graph->n_node; i++) {
        const OnnxFile__Node *node = graph->node[i];
        struct leo_model_node *to = &model->nodes[i];
        snprintf(to->type, sizeof(to->type), "%s", node->op_type ? node->op_type : "");
        if (node->name && *node->name) {
            snprintf(to->name, sizeof(to->name), "%s", node->name);
        } else {
            snprintf(to->name, sizeof(to->name), "%s_%zu", to->type, i);
        }
        model->node_count++;
    }
    return model->nodes;
}

// Every input and output has a name.
static bool has_names(const OnnxFile__Graph *graph)
{
    bool good = true;
    for (size_t i = 0; i < graph->n_input; i++) {
        good = good && graph->input[i]->name;
    }
    for (size_t i = 0; i < graph->n_output; i++) {
        good = good && graph->output[i]->name;
    }
    return good;
}

static bool prepare(struct onnx_import *import, const OnnxFile__Model *file)
{
    size_t tensors = import->graph->n_initializer + import->graph->n_input;
    for (size_t i = 0; i < file->n_opset_import; i++) {
        const char *domain = file->opset_import[i]->domain;
        if (!domain || !*domain || strcmp(domain, "ai.onnx") == 0) {
            import->opset = file->opset_import[i]->version;
        }
    }
    for (size_t i = 0; i < import->graph->n_node; i++) {
        tensors += import->graph->node[i]->n_output;
    }
    import->tensor_room = (uint32_t)tensors;
    import->tensors = leo_calloc(tensors + 1, sizeof(*import->tensors));
    import->skipped = leo_calloc(import->graph->n_node + 1, sizeof(*import->skipped));
    return import->tensors && import->skipped && name_nodes(import);
}

static void run_import(struct onnx_import *import, const OnnxFile__Model *file)
{
    if (!prepare(import, file)) {
        onnx_fail(import, "out of host memory");
        return;
    }
    onnx_choose_outputs(import);
    onnx_read_pictures(import);
    take_initializers(import);
    take_inputs(import);
    take_nodes(import);
    onnx_take_outputs(import);
    model_build_finish(&import->build);
}

leo_status leo_import_onnx(const void *data, size_t bytes, const struct leo_import_options *options,
                           struct leo_model *model, char error[LEO_MODEL_ERROR])
{
    struct onnx_import import = {.options = options,
                                 .floats = options->keep_f32 ? LEO_DTYPE_F32 : LEO_DTYPE_F16};
    memset(model, 0, sizeof(*model));
    OnnxFile__Model *file = onnx_file__model__unpack(NULL, bytes, data);
    if (!file || !file->graph || file->graph->n_node == 0 || !has_names(file->graph)) {
        snprintf(error, LEO_MODEL_ERROR, "the file is no ONNX model, or has no nodes or names");
        if (file) {
            onnx_file__model__free_unpacked(file, NULL);
        }
        return LEO_ERR_PARSE;
    }
    import.graph = file->graph;
    snprintf(import.build.model.soc, sizeof(import.build.model.soc), "%s", options->soc);
    snprintf(import.build.model.name, sizeof(import.build.model.name), "%s",
             options->name ? options->name : "");
    run_import(&import, file);
    for (uint32_t i = 0; i < import.tensor_count; i++) {
        leo_free(import.tensors[i].known);
    }
    leo_free(import.tensors);
    leo_free(import.skipped);
    leo_free(import.outputs);
    leo_free(import.aipp);
    onnx_fused_free(import.fused);
    const bool failed = import.build.failed;
    if (failed) {
        snprintf(error, LEO_MODEL_ERROR, "%s", import.build.error);
    } else {
        *model = import.build.model;
        memset(&import.build.model, 0, sizeof(import.build.model));
    }
    model_build_free(&import.build);
    onnx_file__model__free_unpacked(file, NULL);
    return !failed ? LEO_OK : import.bad_option ? LEO_ERR_INVALID_ARG : LEO_ERR_UNSUPPORTED;
}
