/* SPDX-License-Identifier: Apache-2.0 */
/* Damaged files of models (.om). Sizes and checksums are made to fit, so that what is behind them
 * is reached; what is read must be written as the same bytes. */
#include "fuzz.h"

#include "model_file.h"
#include <leo/alloc.h>
#include <leo/model.h>
#include <stdlib.h>
#include <string.h>

static void mend_header(uint8_t *data, size_t bytes)
{
    const uint64_t all = bytes,
                   sum = model_file_checksum(data + MODEL_FILE_HEADER, bytes - MODEL_FILE_HEADER);
    memcpy(data + MODEL_FILE_BYTES_AT, &all, sizeof(all));
    memcpy(data + MODEL_FILE_SUM_AT, &sum, sizeof(sum));
}

// Bytes of the header that mean nothing are not kept.
static void check_written(const struct leo_model *model, const uint8_t *data, size_t bytes)
{
    uint8_t *written;
    size_t count;
    fuzz_check(leo_model_write(model, &written, &count) == LEO_OK, "it cannot be written");
    fuzz_check(count == bytes && memcmp(written + MODEL_FILE_HEADER, data + MODEL_FILE_HEADER,
                                        bytes - MODEL_FILE_HEADER) == 0,
               "it is written in another way than it was read");
    leo_free(written);
}

static void read_bytes(const uint8_t *data, size_t bytes)
{
    struct leo_model model;
    char error[LEO_MODEL_ERROR] = "";
    const leo_status status = leo_model_read(data, bytes, &model, error);
    fuzz_check(memchr(error, 0, sizeof(error)) != NULL, "message does not end");
    fuzz_check((status == LEO_OK) == (error[0] == '\0'), "status and reason differ");
    if (status == LEO_OK) {
        check_written(&model, data, bytes);
    }
    leo_model_free(&model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    uint8_t *copy = malloc(bytes ? bytes : 1);
    fuzz_check(copy != NULL, "out of memory");
    if (bytes) {
        memcpy(copy, data, bytes);
    }
    read_bytes(copy, bytes);
    if (bytes >= MODEL_FILE_HEADER) {
        mend_header(copy, bytes);
        read_bytes(copy, bytes);
    }
    free(copy);
    return 0;
}

/* The parts of a seed; they point to each other, so it is made where it stays. */
struct seed {
    struct leo_model_io inputs[2], output;
    struct leo_model_value values[5];
    struct leo_model_node nodes[2];
    struct leo_model_aipp aipp;
    struct leo_model_arg args[8];
    struct leo_model_call call;
    struct leo_model variants[2], model;
    uint32_t tensors[3];
    int64_t ints[2], gears[2];
    bool bools[3];
    char text[8];
    uint8_t weights[64];
};

static void make_parts(struct seed *seed)
{
    *seed = (struct seed){
        .inputs = {{.name = "in", .dtype = LEO_DTYPE_F32, .rank = 2, .dim = {2, 3}}},
        .output = {.name = "out", .dtype = LEO_DTYPE_F16, .rank = 1, .dim = {6}},
        .values = {{.region = LEO_MODEL_INPUT,
                    .dtype = LEO_DTYPE_F32,
                    .rank = 2,
                    .dim = {2, 3},
                    .stride = {3, 1}},
                   {.region = LEO_MODEL_OUTPUT,
                    .dtype = LEO_DTYPE_F16,
                    .rank = 1,
                    .dim = {6},
                    .stride = {1}},
                   {.region = LEO_MODEL_WEIGHT,
                    .dtype = LEO_DTYPE_S8,
                    .rank = 1,
                    .dim = {16},
                    .stride = {1}},
                   {.region = LEO_MODEL_WORK,
                    .dtype = LEO_DTYPE_S64,
                    .rank = 1,
                    .dim = {4},
                    .stride = {2}},
                   {.region = LEO_MODEL_WORK,
                    .dtype = LEO_DTYPE_F16,
                    .rank = 4,
                    .dim = {1, 3, 2, 2},
                    .stride = {12, 4, 2, 1}}},
        .nodes = {{.name = "a", .type = "Conv", .into = 1},
                  {.name = "b", .type = "Relu", .into = 1}},
        .aipp = {.input = 1, .dim = {1, 3, 2, 2}, .settings.at = {[LEO_AIPP_FORMAT] = 3}},
        .tensors = {0, 2, 3},
        .ints = {1, -1},
        .gears = {1, 2},
        .bools = {true, false, true},
        .text = "mean",
        .weights = {1, 2, 3}};
}

/* A call with an argument of each kind. */
static void make_call(struct seed *seed)
{
    const struct leo_model_arg args[] = {
        {.kind = LEO_OP_TENSOR, .value = 1},
        {.kind = LEO_OP_NUMBER, .number = 0.5},
        {.kind = LEO_OP_NONE},
        {.kind = LEO_OP_DTYPE, .value = LEO_DTYPE_F16},
        {.kind = LEO_OP_TENSORS, .count = 3, .list = seed->tensors},
        {.kind = LEO_OP_INTS, .count = 2, .list = seed->ints},
        {.kind = LEO_OP_BOOLS, .count = 3, .list = seed->bools},
        {.kind = LEO_OP_TEXT, .count = 5, .list = seed->text},
    };
    memcpy(seed->args, args, sizeof(args));
    seed->call = (struct leo_model_call){
        .op = "Add", .node = 1, .arg_count = sizeof(args) / sizeof(args[0]), .args = seed->args};
}

static struct leo_model model_of(struct seed *seed, uint32_t calls)
{
    return (struct leo_model){.soc = "Ascend910A",
                              .name = "net",
                              .input_count = 1,
                              .output_count = 1,
                              .value_count = 5,
                              .node_count = 2,
                              .call_count = calls,
                              .inputs = seed->inputs,
                              .outputs = &seed->output,
                              .values = seed->values,
                              .nodes = seed->nodes,
                              .calls = &seed->call,
                              .work_bytes = 64,
                              .weight_bytes = sizeof(seed->weights),
                              .weights = seed->weights,
                              .aipp_count = 1,
                              .aipps = &seed->aipp};
}

// Each input more is the last one.
static void make_gears(struct seed *seed)
{
    struct leo_model whole = model_of(seed, 0);
    seed->inputs[1] = (struct leo_model_io){
        .name = LEO_MODEL_GEAR_INPUT, .dtype = LEO_DTYPE_S64, .rank = 1, .dim = {1}};
    for (int i = 0; i < 2; i++) {
        seed->variants[i] = model_of(seed, 1);
    }
    whole.input_count = 2;
    whole.value_count = whole.node_count = 0;
    whole.gear_kind = LEO_MODEL_BATCHES;
    whole.gear_count = 2;
    whole.gear_width = 1;
    whole.gears = seed->gears;
    whole.variants = seed->variants;
    seed->model = whole;
}

static void make_dynamic(struct seed *seed)
{
    seed->model = model_of(seed, 1);
    seed->inputs[0] =
        (struct leo_model_io){.name = "in", .dtype = LEO_DTYPE_U8, .rank = 1, .dim = {24}};
    seed->inputs[1] = (struct leo_model_io){
        .name = LEO_AIPP_INPUT, .dtype = LEO_DTYPE_U8, .rank = 1, .dim = {LEO_AIPP_PICTURE_BYTES}};
    seed->model.input_count = 2;
    seed->model.aipp_count = 0;
    seed->model.aipp_input = 1;
    seed->model.aipp_value = 4;
    seed->values[0] = (struct leo_model_value){
        .region = LEO_MODEL_INPUT, .dtype = LEO_DTYPE_U8, .rank = 1, .dim = {24}, .stride = {1}};
}

size_t fuzz_seed(unsigned index, uint8_t *data)
{
    static struct seed seed;
    uint8_t *written;
    size_t bytes;
    char error[LEO_MODEL_ERROR];
    struct leo_model read;
    if (index > 3) {
        return 0;
    }
    make_parts(&seed);
    make_call(&seed);
    if (index < 2) {
        seed.model = model_of(&seed, index);
    } else if (index == 2) {
        make_gears(&seed);
    } else {
        make_dynamic(&seed);
    }
    fuzz_check(leo_model_write(&seed.model, &written, &bytes) == LEO_OK && bytes <= FUZZ_MAX_BYTES,
               "the seed cannot be written");
    // One that is no model would test nothing behind the first checks.
    fuzz_check(leo_model_read(written, bytes, &read, error) == LEO_OK, "the seed is no model");
    leo_model_free(&read);
    memcpy(data, written, bytes);
    leo_free(written);
    return bytes;
}
