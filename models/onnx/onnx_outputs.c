/* SPDX-License-Identifier: Apache-2.0 */
#include "outputs.h"

#include <leo/alloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What is behind the last colon of an item, which ends there then; NULL: there is none.
static const char *cut_last(char *item)
{
    char *colon = strrchr(item, ':');
    if (colon) {
        *colon = '\0';
    }
    return colon ? colon + 1 : NULL;
}

static bool is_called(const OnnxFile__Node *node, const char *name)
{
    const bool named = node->name && *node->name;
    return strcmp(named ? node->name : node->n_output ? node->output[0] : "", name) == 0;
}

// The tensor that "node:index" tells; fails if there is none.
static const char *output_of(struct onnx_import *import, const char *option, char *item)
{
    for (size_t i = 0; i < import->graph->n_output; i++) {
        if (strcmp(import->graph->output[i]->name, item) == 0) {
            return import->graph->output[i]->name; // it is called like this
        }
    }
    const char *text = cut_last(item);
    char *end = NULL;
    const unsigned long index = text ? strtoul(text, &end, 10) : 0;
    if (!text || end == text || *end) {
        onnx_bad_option(import, "--%s: '%s' is not like node:0", option, item);
        return NULL;
    }
    for (size_t i = 0; i < import->graph->n_node; i++) {
        const OnnxFile__Node *node = import->graph->node[i];
        if (is_called(node, item) && index < node->n_output && *node->output[index]) {
            return node->output[index];
        }
    }
    onnx_bad_option(import, "--%s: the model has no output %lu of a node %s", option, index, item);
    return NULL;
}

static void name_outputs(struct onnx_import *import)
{
    char item[ONNX_ITEM];
    const OnnxFile__Graph *graph = import->graph;
    for (size_t i = 0; !import->options->out_nodes && i < graph->n_output; i++) {
        import->outputs[import->output_count++] = graph->output[i]->name;
    }
    for (const char *at = import->options->out_nodes;
         !import->build.failed && onnx_next_item(&at, item);) {
        import->outputs[import->output_count++] = output_of(import, "out_nodes", item);
    }
}

static bool is_made_for(const OnnxFile__Node *node, const char *name)
{
    for (size_t i = 0; i < node->n_output; i++) {
        if (strcmp(node->output[i], name) == 0) {
            return true;
        }
    }
    return false;
}

// Nodes stand behind what they read, so one walk from the end finds all that is needed.
static void skip_unneeded(struct onnx_import *import)
{
    const OnnxFile__Graph *graph = import->graph;
    for (size_t i = graph->n_node; i-- > 0;) {
        bool needed = false;
        for (uint32_t k = 0; !needed && k < import->output_count; k++) {
            needed = is_made_for(graph->node[i], import->outputs[k]);
        }
        for (size_t k = i + 1; !needed && k < graph->n_node; k++) {
            for (size_t n = 0; !import->skipped[k] && !needed && n < graph->node[k]->n_input; n++) {
                needed = is_made_for(graph->node[i], graph->node[k]->input[n]);
            }
        }
        import->skipped[i] = !needed;
    }
}

void onnx_choose_outputs(struct onnx_import *import)
{
    struct leo_model *model = &import->build.model;
    size_t count = import->graph->n_output + 1;
    for (const char *at = import->options->out_nodes; at && *at; at++) {
        count += *at == ';';
    }
    model->outputs = leo_calloc(count, sizeof(*model->outputs));
    import->outputs = leo_calloc(count, sizeof(*import->outputs));
    if (!model->outputs || !import->outputs) {
        onnx_fail(import, "out of host memory");
        return;
    }
    name_outputs(import);
    if (import->options->out_nodes && !import->build.failed) {
        skip_unneeded(import);
    }
}

static const struct {
    const char *name;
    enum leo_dtype dtype;
} types[] = {
    {"FP32", LEO_DTYPE_F32},   {"FP16", LEO_DTYPE_F16},   {"UINT8", LEO_DTYPE_U8},
    {"INT8", LEO_DTYPE_S8},    {"INT16", LEO_DTYPE_S16},  {"UINT16", LEO_DTYPE_U16},
    {"INT32", LEO_DTYPE_S32},  {"UINT32", LEO_DTYPE_U32}, {"INT64", LEO_DTYPE_S64},
    {"UINT64", LEO_DTYPE_U64},
};

static bool type_called(const char *name, enum leo_dtype *dtype)
{
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (strcmp(types[i].name, name) == 0) {
            *dtype = types[i].dtype;
            return true;
        }
    }
    return false;
}

// "node:0:FP16": the tensor and its type.
static const char *typed_output(struct onnx_import *import, char *item, enum leo_dtype *dtype)
{
    const char *type = cut_last(item);
    if (!type || !type_called(type, dtype)) {
        onnx_bad_option(import, "--output_type: '%s' is none of %s, nor node:0 and one of them",
                        type ? type : item, LEO_IMPORT_TYPES);
        return NULL;
    }
    return output_of(import, "output_type", item);
}

/* Type by the option, if it tells one for this output. */
static void apply_output_type(struct onnx_import *import, const char *name, enum leo_dtype made,
                              enum leo_dtype *dtype)
{
    enum leo_dtype told;
    char item[ONNX_ITEM];
    const char *option = import->options->output_type;
    if (option && type_called(option, &told)) {
        *dtype = made == LEO_DTYPE_F32 ? told : *dtype;
        return;
    }
    for (const char *at = option; !import->build.failed && onnx_next_item(&at, item);) {
        const char *output = typed_output(import, item, &told);
        if (output && strcmp(output, name) == 0) {
            *dtype = told;
        }
    }
}

static const OnnxFile__TensorType *type_in_file(const struct onnx_import *import, const char *name)
{
    for (size_t i = 0; i < import->graph->n_output; i++) {
        const OnnxFile__ValueInfo *info = import->graph->output[i];
        if (strcmp(info->name, name) == 0) {
            return info->type ? info->type->tensor_type : NULL;
        }
    }
    return NULL;
}

// The type that the file tells, or if it leaves it open the tensor's.
static bool take_type(struct onnx_import *import, const char *name, enum leo_dtype *dtype)
{
    const OnnxFile__TensorType *type = type_in_file(import, name);
    const enum leo_dtype made = *dtype;
    if (type && type->elem_type && !onnx_take_io_type(import, "output", name, type, false, dtype)) {
        return false;
    }
    if (*dtype != made && !(*dtype == LEO_DTYPE_F16 && made == LEO_DTYPE_F32)) {
        onnx_fail(import, "output %s is not of the type that the file says", name);
        return false;
    }
    apply_output_type(import, name, made, dtype);
    return !import->build.failed;
}

static void take_output(struct onnx_import *import, const char *name)
{
    struct leo_model *model = &import->build.model;
    struct leo_model_io *io = &model->outputs[model->output_count];
    struct onnx_tensor *tensor = onnx_find(import, name);
    if (!tensor) {
        onnx_fail(import, "output %s is made by no node", name);
        return;
    }
    enum leo_dtype dtype = tensor->dtype;
    if (!take_type(import, name, &dtype)) {
        return;
    }
    const uint32_t value = onnx_value(import, tensor);
    snprintf(io->name, sizeof(io->name), "%s", name);
    io->dtype = dtype;
    io->rank = tensor->rank;
    memcpy(io->dim, tensor->dim, sizeof(io->dim));
    model->output_count++;
    MODEL_BUILD_CALL(&import->build, "InplaceCopy",
                     model_build_tensor(
                         model_build_io(&import->build, LEO_MODEL_OUTPUT, model->output_count - 1)),
                     model_build_tensor(value));
}

void onnx_take_outputs(struct onnx_import *import)
{
    for (uint32_t i = 0; i < import->output_count && !import->build.failed; i++) {
        take_output(import, import->outputs[i]);
    }
}
