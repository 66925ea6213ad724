/* SPDX-License-Identifier: Apache-2.0 */
#include "show.h"

#include <string.h>

static void put_dims(FILE *to, uint32_t rank, const int64_t *dim)
{
    fputc('[', to);
    for (uint32_t d = 0; d < rank; d++) {
        fprintf(to, "%s%lld", d ? ", " : "", (long long)dim[d]);
    }
    fputc(']', to);
}

// Names come from files: what JSON or a terminal reads in another way is escaped.
static void put_text(FILE *to, const char *text)
{
    fputc('"', to);
    for (; *text; text++) {
        const unsigned char byte = (unsigned char)*text;
        if (byte < 0x20 || byte == '"' || byte == '\\') {
            fprintf(to, "\\u%04x", byte);
        } else {
            fputc(byte, to);
        }
    }
    fputc('"', to);
}

static void show_ios(const char *what, const struct leo_model_io *ios, uint32_t count, FILE *to)
{
    for (uint32_t i = 0; i < count; i++) {
        fprintf(to, "%s %u: ", what, i);
        put_text(to, ios[i].name);
        fprintf(to, ", %s, ", leo_dtype_name((enum leo_dtype)ios[i].dtype));
        put_dims(to, ios[i].rank, ios[i].dim);
        fprintf(to, ", %llu bytes\n", (unsigned long long)leo_model_io_bytes(&ios[i]));
    }
}

static uint32_t count_calls(const struct leo_model *model, uint32_t from, const char *op)
{
    uint32_t count = 0;
    for (uint32_t i = from; i < model->call_count; i++) {
        count += strcmp(model->calls[i].op, op) == 0;
    }
    return count;
}

static void show_calls(const struct leo_model *model, FILE *to)
{
    fprintf(to, "calls: %u\n", model->call_count);
    for (uint32_t i = 0; i < model->call_count; i++) {
        const char *op = model->calls[i].op;
        const uint32_t behind = count_calls(model, i, op);
        if (behind == count_calls(model, 0, op)) {
            fprintf(to, "  %s: %u\n", op, behind);
        }
    }
}

// What has no calls of its own, because those of another node do its work.
static void show_fused(const struct leo_model *model, FILE *to)
{
    for (uint32_t i = 0; i < model->node_count; i++) {
        bool first = true;
        for (uint32_t k = 0; k < model->node_count; k++) {
            if (k != i && model->nodes[k].into == i + 1) {
                fputs(first ? "fused into " : ", ", to);
                if (first) {
                    put_text(to, model->nodes[i].name);
                    fprintf(to, " (%s): ", model->nodes[i].type);
                }
                put_text(to, model->nodes[k].name);
                fprintf(to, " (%s)", model->nodes[k].type);
                first = false;
            }
        }
        fputs(first ? "" : "\n", to);
    }
}

static const int64_t *gear_row(const struct leo_model *model, uint32_t gear)
{
    return model->gears + (size_t)gear * model->gear_width;
}

void show_model(const struct leo_model *model, FILE *to)
{
    fprintf(to, "compiled for: %s\nwork memory: %llu bytes and the operators' workspace\n",
            model->soc, (unsigned long long)model->work_bytes);
    fprintf(to, "weights: %llu bytes\n", (unsigned long long)model->weight_bytes);
    show_ios("input", model->inputs, model->input_count, to);
    show_ios("output", model->outputs, model->output_count, to);
    for (uint32_t i = 0; i < model->gear_count; i++) {
        fprintf(to, "gear %u: ", i);
        put_dims(to, model->gear_width, gear_row(model, i));
        fputs(", ", to);
        show_calls(&model->variants[i], to);
    }
    if (model->gear_count == 0) {
        show_calls(model, to);
    }
    show_fused(model->gear_count ? &model->variants[0] : model, to);
}

static void put_ios(FILE *to, const char *what, const struct leo_model_io *ios, uint32_t count)
{
    fprintf(to, "  \"%s\": [", what);
    for (uint32_t i = 0; i < count; i++) {
        fputs(i ? ",\n    {\"name\": " : "\n    {\"name\": ", to);
        put_text(to, ios[i].name);
        fprintf(to, ", \"type\": \"%s\", \"dims\": ", leo_dtype_name((enum leo_dtype)ios[i].dtype));
        put_dims(to, ios[i].rank, ios[i].dim);
        fputc('}', to);
    }
    fputs("],\n", to);
}

static void put_value(FILE *to, const struct leo_model *model, uint32_t index)
{
    static const char *const regions[LEO_MODEL_REGIONS] = {[LEO_MODEL_INPUT] = "input",
                                                           [LEO_MODEL_OUTPUT] = "output",
                                                           [LEO_MODEL_WEIGHT] = "weights",
                                                           [LEO_MODEL_WORK] = "work"};
    const struct leo_model_value *value = &model->values[index];
    fprintf(to, "{\"in\": \"%s\", \"index\": %u, \"offset\": %llu, \"type\": \"%s\", \"dims\": ",
            regions[value->region], value->index, (unsigned long long)value->offset,
            leo_dtype_name((enum leo_dtype)value->dtype));
    put_dims(to, value->rank, value->dim);
    fputs(", \"strides\": ", to);
    put_dims(to, value->rank, value->stride);
    fputc('}', to);
}

static void put_list(FILE *to, const struct leo_model *model, const struct leo_model_arg *arg)
{
    const bool *bools = arg->list;
    const uint32_t *values = arg->list;
    fputc('[', to);
    for (uint32_t i = 0; i < arg->count; i++) {
        fputs(i ? ", " : "", to);
        if (arg->kind == LEO_OP_TENSORS) {
            put_value(to, model, values[i]);
        } else {
            fputs(bools[i] ? "true" : "false", to);
        }
    }
    fputc(']', to);
}

static void put_arg(FILE *to, const struct leo_model *model, const struct leo_model_arg *arg)
{
    switch (arg->kind) {
    case LEO_OP_TENSOR:
        put_value(to, model, arg->value);
        break;
    case LEO_OP_NUMBER:
        // JSON has no numbers that are not finite.
        fprintf(to, arg->number - arg->number == 0 ? "%.17g" : "\"%g\"", arg->number);
        break;
    case LEO_OP_INTS:
        put_dims(to, arg->count, arg->list);
        break;
    case LEO_OP_TENSORS:
    case LEO_OP_BOOLS:
        put_list(to, model, arg);
        break;
    case LEO_OP_DTYPE:
        fprintf(to, "\"%s\"", leo_dtype_name((enum leo_dtype)arg->value));
        break;
    case LEO_OP_TEXT:
        put_text(to, arg->list);
        break;
    default:
        fputs("null", to);
    }
}

static void put_call(FILE *to, const struct leo_model *model, const struct leo_model_call *call)
{
    fputs("    {\"op\": ", to);
    put_text(to, call->op);
    fputs(", \"node\": ", to);
    put_text(to, call->node ? model->nodes[call->node - 1].name : "");
    fputs(", \"args\": [", to);
    for (uint32_t i = 0; i < call->arg_count; i++) {
        fputs(i ? ", " : "", to);
        put_arg(to, model, &call->args[i]);
    }
    fputs("]}", to);
}

static void put_body(FILE *to, const struct leo_model *model)
{
    put_ios(to, "inputs", model->inputs, model->input_count);
    put_ios(to, "outputs", model->outputs, model->output_count);
    fputs("  \"nodes\": [", to);
    for (uint32_t i = 0; i < model->node_count; i++) {
        const struct leo_model_node *node = &model->nodes[i];
        fputs(i ? ",\n    {\"name\": " : "\n    {\"name\": ", to);
        put_text(to, node->name);
        fputs(", \"type\": ", to);
        put_text(to, node->type);
        fputs(", \"into\": ", to);
        put_text(to, node->into ? model->nodes[node->into - 1].name : "");
        fputc('}', to);
    }
    fputs("],\n  \"calls\": [\n", to);
    for (uint32_t i = 0; i < model->call_count; i++) {
        put_call(to, model, &model->calls[i]);
        fputs(i + 1 < model->call_count ? ",\n" : "\n", to);
    }
    fputs("  ]", to);
}

bool show_json(const struct leo_model *model, FILE *to)
{
    fputs("{\n  \"soc\": ", to);
    put_text(to, model->soc);
    fprintf(to, ",\n  \"work_bytes\": %llu,\n  \"weight_bytes\": %llu,\n",
            (unsigned long long)model->work_bytes, (unsigned long long)model->weight_bytes);
    put_body(to, model);
    fputs(",\n  \"gears\": [", to);
    for (uint32_t i = 0; i < model->gear_count; i++) {
        fputs(i ? ", {\"sizes\": " : "{\"sizes\": ", to);
        put_dims(to, model->gear_width, gear_row(model, i));
        fputs(",\n", to);
        put_body(to, &model->variants[i]);
        fputc('}', to);
    }
    fputs("]\n}\n", to);
    return !ferror(to);
}
