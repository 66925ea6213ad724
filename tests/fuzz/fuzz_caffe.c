/* SPDX-License-Identifier: Apache-2.0 */
/* Damaged networks of Caffe, a text, a NUL and weights: refused, or an ONNX file that the importer
 * of ONNX takes or refuses. */
#include "fuzz.h"

#include <leo/alloc.h>
#include <leo/model_import.h>
#include <string.h>

static void import_onnx(const uint8_t *onnx, size_t bytes)
{
    struct leo_import_options options = {.soc = "Ascend910A"};
    struct leo_model model;
    char error[LEO_MODEL_ERROR] = "";
    const leo_status status = leo_import_onnx(onnx, bytes, &options, &model, error);
    fuzz_check((status == LEO_OK) == (error[0] == '\0'), "status and reason differ");
    leo_model_free(&model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    const uint8_t *end = memchr(data, 0, bytes);
    const size_t text = end ? (size_t)(end - data) : bytes, rest = end ? bytes - text - 1 : 0;
    const struct leo_import_bytes net = {data, text}, weights = {end ? end + 1 : data, rest};
    char error[LEO_MODEL_ERROR] = "";
    uint8_t *onnx = NULL;
    size_t onnx_bytes = 0;
    const leo_status status = leo_caffe_to_onnx(&net, &weights, NULL, &onnx, &onnx_bytes, error);
    fuzz_check((status == LEO_OK) == (error[0] == '\0'), "status and reason differ");
    if (status == LEO_OK) {
        import_onnx(onnx, onnx_bytes);
    }
    leo_free(onnx);
    return 0;
}

#define START "input: 'x' input_shape { dim: 1 dim: 2 dim: 6 dim: 5 }\n"
#define LAYER(type, rest)                                                                          \
    "layer { name: 'l' type: '" type "' bottom: 'x' top: 'y' " rest " }\n"                         \
    "layer { name: 'm' type: 'ReLU' bottom: 'y' top: 'y' }\n"

/* Layer l with two blobs, each two numbers of the shape [2]. */
#define BLOB 58, 15, 58, 3, 10, 1, 2, 42, 8, 0, 0, 128, 63, 0, 0, 0, 64
static const uint8_t weights_of_l[] = {0xa2, 6, 37, 10, 1, 'l', BLOB, BLOB};

size_t fuzz_seed(unsigned index, uint8_t *data)
{
    static const char *const texts[] = {
        START LAYER("Pooling", "pooling_param { kernel_size: 3 stride: 2 pad: 1 }"),
        START LAYER("Scale", "scale_param { bias_term: true axis: 1 }"),
        START LAYER("Reshape", "reshape_param { shape { dim: 0 dim: -1 dim: 5 } axis: 1 }"),
        START LAYER("Flatten", "flatten_param { axis: 1 end_axis: 2 }"),
        START LAYER("Convolution",
                    "convolution_param { num_output: 1 kernel_size: 1 bias_term: false }"),
        START LAYER("PriorBox", "bottom: 'x' prior_box_param { min_size: 3 aspect_ratio: 2 }"),
        START LAYER("Tile", "tile_param { axis: 2 tiles: 3 }"),
        START LAYER("ArgMax", "argmax_param { top_k: 2 axis: 1 out_max_val: true }"),
        START LAYER("Crop", "bottom: 'x' crop_param { axis: 2 offset: 1 offset: 0 }"),
        "input: 'x' input_dim: 1 input_dim: 2 input_dim: 3 input_dim: 4 "
        "layers { name: 'l' type: LRN bottom: 'x' top: 'y' lrn_param { local_size: 3 } }",
    };
    if (index >= sizeof(texts) / sizeof(texts[0])) {
        return 0;
    }
    const size_t text = strlen(texts[index]) + 1;
    memcpy(data, texts[index], text);
    memcpy(data + text, weights_of_l, sizeof(weights_of_l));
    return text + sizeof(weights_of_l);
}
