/* SPDX-License-Identifier: Apache-2.0 */
/* Models that are compiled for several sizes of their inputs. */
#include <leo/model_import.h>

#include <leo/alloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A row of numbers up to `stop`; batches end at a comma. NULL: it is none.
static const char *read_row(const char *at, char stop, struct leo_import_gears *gears)
{
    uint32_t width = 0;
    for (;;) {
        char *next;
        const long long size = strtoll(at, &next, 10);
        if (next == at || size < 1 || width == LEO_IMPORT_GEAR_WIDTH ||
            gears->count == LEO_IMPORT_GEARS) {
            return NULL;
        }
        gears->rows[gears->count][width++] = size;
        at = next;
        if (*at == '\0' || *at == stop) {
            break;
        }
        if (*at++ != ',') {
            return NULL;
        }
    }
    if (gears->count && width != gears->width) {
        return NULL;
    }
    gears->width = width;
    gears->count++;
    return at;
}

static bool are_distinct(const struct leo_import_gears *gears)
{
    for (uint32_t i = 0; i < gears->count; i++) {
        for (uint32_t k = 0; k < i; k++) {
            if (memcmp(gears->rows[i], gears->rows[k], sizeof(gears->rows[i])) == 0) {
                return false;
            }
        }
    }
    return true;
}

bool leo_import_read_gears(enum leo_model_gears kind, const char *text,
                           struct leo_import_gears *gears)
{
    const char stop = kind == LEO_MODEL_BATCHES ? ',' : ';';
    memset(gears, 0, sizeof(*gears));
    gears->kind = kind;
    for (const char *at = text;; at++) {
        at = read_row(at, stop, gears);
        if (!at) {
            return false;
        }
        if (*at == '\0') {
            break;
        }
    }
    return gears->count >= 2 && are_distinct(gears) &&
           (kind != LEO_MODEL_IMAGES || gears->width == 2);
}

/* The shapes of a gear: its numbers instead of -1. False, with a text: they are not where the kind
 * has them. */
static bool fill_shapes(const struct leo_import_options *options,
                        const struct leo_import_gears *gears, uint32_t gear,
                        struct leo_import_shape *shapes, char error[LEO_MODEL_ERROR])
{
    const int64_t *row = gears->rows[gear];
    uint32_t open = 0;
    bool good = true;
    for (uint32_t i = 0; i < options->shape_count; i++) {
        shapes[i] = options->shapes[i];
        for (uint32_t d = 0; d < shapes[i].rank; d++) {
            if (shapes[i].dim[d] != -1) {
                continue;
            }
            const uint32_t which = gears->kind == LEO_MODEL_DIMS     ? open
                                   : gears->kind == LEO_MODEL_IMAGES ? d - 2
                                                                     : d;
            good = good && which < gears->width;
            shapes[i].dim[d] = good ? row[which] : 1;
            open++;
        }
    }
    if (!good || open == 0 || (gears->kind == LEO_MODEL_DIMS && open != gears->width)) {
        snprintf(
            error, LEO_MODEL_ERROR,
            "--input_shape: of batches only the first sizes may be -1, of images the third and "
            "fourth, of dims as many as a gear has numbers");
        return false;
    }
    return true;
}

static leo_status import_gear(const void *data, size_t bytes,
                              const struct leo_import_options *options,
                              const struct leo_import_gears *gears, uint32_t gear,
                              struct leo_model *model, char error[LEO_MODEL_ERROR])
{
    struct leo_import_options own = *options;
    struct leo_import_shape *shapes = leo_calloc(options->shape_count + 1, sizeof(*shapes));
    leo_status status = LEO_ERR_NO_MEMORY;
    snprintf(error, LEO_MODEL_ERROR, "out of host memory");
    if (shapes) {
        own.shapes = shapes;
        status = fill_shapes(options, gears, gear, shapes, error)
                     ? leo_import_onnx(data, bytes, &own, model, error)
                     : LEO_ERR_INVALID_ARG;
    }
    leo_free(shapes);
    return status;
}

// A variant's weights join the whole's, or are the same as the first's.
static bool join_weights(struct leo_model *whole, struct leo_model *variant, uint64_t first_bytes)
{
    uint64_t at = 0;
    const bool same = variant->weight_bytes == first_bytes && whole->weights &&
                      memcmp(whole->weights, variant->weights, first_bytes) == 0;
    if (!same && variant->weight_bytes) {
        uint8_t *larger = leo_realloc(whole->weights, whole->weight_bytes + variant->weight_bytes);
        if (!larger) {
            return false;
        }
        at = whole->weight_bytes;
        memcpy(larger + at, variant->weights, variant->weight_bytes);
        whole->weights = larger;
        whole->weight_bytes += variant->weight_bytes;
    }
    for (uint32_t i = 0; i < variant->value_count; i++) {
        variant->values[i].offset += variant->values[i].region == LEO_MODEL_WEIGHT ? at : 0;
    }
    leo_free(variant->weights);
    variant->weights = NULL;
    variant->weight_bytes = 0;
    return true;
}

static void take_larger(struct leo_model_io *to, const struct leo_model_io *from, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (to[i].name[0] == '\0' || leo_model_io_bytes(&from[i]) > leo_model_io_bytes(&to[i])) {
            to[i] = from[i];
        }
    }
}

// Inputs, outputs and work area of the whole.
static bool describe_whole(struct leo_model *whole)
{
    struct leo_model *first = &whole->variants[0];
    whole->inputs = leo_calloc((size_t)first->input_count + 1, sizeof(*whole->inputs));
    whole->outputs = leo_calloc((size_t)first->output_count + 1, sizeof(*whole->outputs));
    if (!whole->inputs || !whole->outputs) {
        return false;
    }
    memcpy(whole->soc, first->soc, sizeof(whole->soc));
    memcpy(whole->name, first->name, sizeof(whole->name));
    whole->aipps = first->aipps; // sizes are those of the first
    whole->aipp_count = first->aipp_count;
    first->aipps = NULL;
    first->aipp_count = 0;
    whole->input_count = first->input_count + 1;
    whole->output_count = first->output_count;
    for (uint32_t i = 0; i < whole->gear_count; i++) {
        const struct leo_model *variant = &whole->variants[i];
        take_larger(whole->inputs, variant->inputs, first->input_count);
        take_larger(whole->outputs, variant->outputs, first->output_count);
        if (variant->work_bytes > whole->work_bytes) {
            whole->work_bytes = variant->work_bytes;
        }
    }
    struct leo_model_io *last = &whole->inputs[first->input_count];
    *last = (struct leo_model_io){.name = LEO_MODEL_GEAR_INPUT,
                                  .dtype = LEO_DTYPE_S64,
                                  .rank = 1,
                                  .dim = {whole->gear_width}};
    return true;
}

leo_status leo_import_with_gears(const void *data, size_t bytes,
                                 const struct leo_import_options *options,
                                 const struct leo_import_gears *gears, struct leo_model *model,
                                 char error[LEO_MODEL_ERROR])
{
    leo_status status = LEO_OK;
    uint64_t first_bytes = 0;
    memset(model, 0, sizeof(*model));
    model->gear_kind = gears->kind;
    model->gear_width = gears->width;
    model->gears = leo_calloc((size_t)gears->count * gears->width, sizeof(*model->gears));
    model->variants = leo_calloc(gears->count, sizeof(*model->variants));
    for (uint32_t i = 0; i < gears->count && status == LEO_OK && model->gears && model->variants;
         i++) {
        status = import_gear(data, bytes, options, gears, i, &model->variants[i], error);
        if (status == LEO_OK && model->variants[i].aipp_input) {
            snprintf(error, LEO_MODEL_ERROR,
                     "--insert_op_conf: dynamic AIPP with gears is not served");
            leo_model_free(&model->variants[i]);
            status = LEO_ERR_INVALID_ARG;
        }
        if (status == LEO_OK) {
            memcpy(model->gears + (size_t)i * gears->width, gears->rows[i],
                   gears->width * sizeof(*model->gears));
            model->gear_count++;
            first_bytes = i ? first_bytes : model->variants[0].weight_bytes;
            status =
                join_weights(model, &model->variants[i], first_bytes) ? LEO_OK : LEO_ERR_NO_MEMORY;
        }
    }
    if (status == LEO_OK && (model->gear_count < gears->count || !describe_whole(model))) {
        status = LEO_ERR_NO_MEMORY;
    }
    if (status != LEO_OK) {
        leo_model_free(model);
    }
    return status;
}
