/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

const char atc_help[] =
    "usage: atc --framework=5 --model=NET.onnx --output=NAME --soc_version=Ascend910A [options]\n"
    "       atc --framework=0 --model=NET.prototxt --weight=NET.caffemodel --output=NAME ...\n"
    "       atc --framework=3 --model=NET.pb --output=NAME ...\n"
    "       atc --singleop=OPERATORS.json --output=FOLDER --soc_version=Ascend910A\n"
    "Compiles a network to NAME.om, which aclmdlLoadFromFile loads.\n"
    "\n"
    "  --model FILE            the network\n"
    "  --framework 0|3|5       0: Caffe, 3: TensorFlow (a frozen graph), 5: ONNX\n"
    "  --weight FILE           the weights of a Caffe network\n"
    "  --output NAME           the file to write; .om is appended\n"
    "  --soc_version NAME      the chip: Ascend910A, Ascend910B1 to Ascend910B4\n"
    "  --input_shape \"n:1,3,224,224;m:1,8\"  shapes of inputs; needed for those that the file "
    "leaves open\n"
    "  --input_format NCHW|NHWC|ND  read and kept as the file has it\n"
    "  --precision_mode MODE   force_fp16 (default), allow_fp32_to_fp16, allow_mix_precision: "
    "floats are\n"
    "                          computed in half precision; force_fp32, cube_fp16in_fp32out,\n"
    "                          must_keep_origin_dtype: in single precision\n"
    "  --dynamic_batch_size \"1,2,4\", --dynamic_image_size \"h,w;h2,w2\", --dynamic_dims "
    "\"a,b;c,d\"\n"
    "                          gears: sizes for each -1 of --input_shape; 2 to 100 of one kind\n"
    "  --insert_op_conf FILE   AIPP: inputs are pictures of bytes (static mode)\n"
    "  --out_nodes \"node:0;node2:1\"  the outputs, instead of the network's own\n"
    "  --input_fp16_nodes \"a;b\"  these float inputs are given in half precision\n"
    "  --output_type TYPE      of float outputs: FP32 (default), FP16, UINT8, INT8, INT32 ...; or\n"
    "                          \"node:0:FP16\" with the outputs of --out_nodes\n"
    "  --fusion_switch_file FILE  fusions to leave out: {\"Switch\": {\"GraphFusion\": {\"ALL\": "
    "\"off\"}}}\n"
    "  --log LEVEL             debug, info: tells what is done; warning, error, null (default)\n"
    "  --op_select_implmode MODE, --optypelist_for_implmode TYPES  accepted\n"
    "  --singleop FILE         operators as JSON; each becomes FOLDER/INDEX_TYPE_TENSORS.om, for\n"
    "                          aclopSetModelDir and aclopLoad\n"
    "  --mode 1 --om FILE --json FILE  writes a compiled model as JSON\n"
    "  --mode 6 --om FILE      tells what a compiled model holds\n"
    "\n"
    "Exit code: 0 good, 255 an error.\n";

/* Options with a value. Those without a place are checked for one of their values, then ignored. */
static const struct option {
    const char *name;
    size_t place;
    const char *values; /* "|a|b|", NULL: any */
} table[] = {
    {"model", offsetof(struct atc_options, model), NULL},
    {"weight", offsetof(struct atc_options, weight), NULL},
    {"output", offsetof(struct atc_options, output), NULL},
    {"soc_version", offsetof(struct atc_options, soc), NULL},
    {"framework", offsetof(struct atc_options, framework), "|0|1|3|5|"},
    {"input_shape", offsetof(struct atc_options, input_shape), NULL},
    {"precision_mode", offsetof(struct atc_options, precision_mode), LEO_IMPORT_PRECISIONS},
    {"output_type", offsetof(struct atc_options, output_type), NULL},
    {"input_fp16_nodes", offsetof(struct atc_options, input_fp16_nodes), NULL},
    {"out_nodes", offsetof(struct atc_options, out_nodes), NULL},
    {"insert_op_conf", offsetof(struct atc_options, insert_op_conf), NULL},
    {"dynamic_batch_size", offsetof(struct atc_options, batches), NULL},
    {"dynamic_image_size", offsetof(struct atc_options, images), NULL},
    {"dynamic_dims", offsetof(struct atc_options, dims), NULL},
    {"mode", offsetof(struct atc_options, mode), "|0|1|6|"},
    {"om", offsetof(struct atc_options, om), NULL},
    {"json", offsetof(struct atc_options, json), NULL},
    {"input_format", offsetof(struct atc_options, format), "|NCHW|NHWC|ND|"},
    {"fusion_switch_file", offsetof(struct atc_options, fusion_switch_file), NULL},
    {"singleop", offsetof(struct atc_options, singleop), NULL},
    {"log", offsetof(struct atc_options, log), "|debug|info|warning|error|null|"},
    {"op_select_implmode", SIZE_MAX, "|high_precision|high_performance|"},
    {"optypelist_for_implmode", SIZE_MAX, NULL},
};

static bool is_among(const char *values, const char *value)
{
    const size_t length = strlen(value);
    for (const char *at = values; (at = strstr(at, value)) != NULL; at++) {
        if (at > values && at[-1] == '|' && at[length] == '|' && length) {
            return true;
        }
    }
    return false;
}

static const char gears_instead[] =
    " Networks are not compiled for ranges of sizes: give -1 in --input_shape, and each size in "
    "--dynamic_batch_size=\"1,8\", --dynamic_image_size=\"224,224;448,448\" or "
    "--dynamic_dims=\"1,64;8,128\".";

static int set_option(struct atc_options *options, const char *name, size_t length,
                      const char *value, char *error)
{
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        const struct option *option = &table[i];
        if (strlen(option->name) != length || strncmp(option->name, name, length) != 0) {
            continue;
        }
        if (option->values && !is_among(option->values, value)) {
            snprintf(error, ATC_ERROR,
                     "E10001: Value [%s] for parameter [%s] is invalid. Reason: it is "
                     "none of %s.",
                     value, option->name, option->values);
            return -1;
        }
        if (option->place != SIZE_MAX) {
            memcpy((char *)options + option->place, &value, sizeof(value));
        }
        return 0;
    }
    const bool range =
        length == strlen("input_shape_range") && strncmp(name, "input_shape_range", length) == 0;
    snprintf(error, ATC_ERROR, "E10003: atc has no parameter --%.*s, or does not serve it.%s",
             (int)length, name, range ? gears_instead : "");
    return -1;
}

// "name:1,2,3;name:4"
static int parse_shapes(struct atc_options *options, char *error)
{
    if (options->input_shape && !leo_import_read_shapes(options->input_shape, &options->shapes)) {
        snprintf(
            error, ATC_ERROR,
            "E10001: Value [%s] for parameter [input_shape] is invalid. Reason: it must be like "
            "\"name:1,3,224,224;name2:1,8\".%s",
            options->input_shape, strchr(options->input_shape, '~') ? gears_instead : "");
        return -1;
    }
    return 0;
}

// -1 stands for the numbers of gears.
static int check_open_sizes(const struct atc_options *options, char *error)
{
    for (uint32_t i = 0; i < options->shapes.count; i++) {
        const struct leo_import_shape *shape = &options->shapes.list[i];
        for (uint32_t d = 0; d < shape->rank; d++) {
            if (shape->dim[d] == -1 && options->gears.kind == LEO_MODEL_NO_GEARS) {
                snprintf(error, ATC_ERROR,
                         "E10001: Value [%.200s] for parameter [input_shape] is invalid. Reason: "
                         "-1 needs the sizes it stands for.%s",
                         options->input_shape, gears_instead);
                return -1;
            }
        }
    }
    return 0;
}

bool atc_mode_is(const struct atc_options *options, const char *mode)
{
    return options->mode && strcmp(options->mode, mode) == 0;
}

// The first option that the mode needs and that is not there; NULL: all are.
static const char *missing_option(const struct atc_options *options)
{
    static const struct {
        const char *modes, *name;
        size_t place;
    } needed[] = {
        {"0", "model", offsetof(struct atc_options, model)},
        {"0s", "output", offsetof(struct atc_options, output)},
        {"0", "framework", offsetof(struct atc_options, framework)},
        {"0s", "soc_version", offsetof(struct atc_options, soc)},
        {"16", "om", offsetof(struct atc_options, om)},
        {"1", "json", offsetof(struct atc_options, json)},
    };
    const char mode = options->singleop ? 's' : options->mode ? options->mode[0] : '0';
    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
        const char *value;
        memcpy(&value, (const char *)options + needed[i].place, sizeof(value));
        if (!value && strchr(needed[i].modes, mode)) {
            return needed[i].name;
        }
    }
    return NULL;
}

static int parse_gears(struct atc_options *options, char *error)
{
    const struct {
        const char *name, *text;
        enum leo_model_gears kind;
    } kinds[] = {
        {"dynamic_batch_size", options->batches, LEO_MODEL_BATCHES},
        {"dynamic_image_size", options->images, LEO_MODEL_IMAGES},
        {"dynamic_dims", options->dims, LEO_MODEL_DIMS},
    };
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (!kinds[i].text) {
            continue;
        }
        if (options->gears.kind != LEO_MODEL_NO_GEARS) {
            snprintf(error, ATC_ERROR, "E10001: --%s: there are gears of another kind already.",
                     kinds[i].name);
            return -1;
        }
        if (!leo_import_read_gears(kinds[i].kind, kinds[i].text, &options->gears)) {
            snprintf(
                error, ATC_ERROR,
                "E10001: Value [%.200s] for parameter [%s] is invalid. Reason: it must be 2 to "
                "100 different gears like \"1,2,4\" (batches) or \"224,224;448,448\".",
                kinds[i].text, kinds[i].name);
            return -1;
        }
    }
    if (options->dims && options->insert_op_conf) {
        snprintf(error, ATC_ERROR,
                 "E10001: --insert_op_conf and --dynamic_dims exclude each other.");
        return -1;
    }
    return 0;
}

static int check(const struct atc_options *options, char *error)
{
    if (options->singleop && options->model) {
        snprintf(error, ATC_ERROR, "E10001: --singleop and --model exclude each other.");
        return -1;
    }
    const char *missing = missing_option(options);
    if (missing) {
        snprintf(error, ATC_ERROR, "E10007: [--%s] is required.", missing);
        return -1;
    }
    if (atc_mode_is(options, "1") || atc_mode_is(options, "6")) {
        return 0;
    }
    if (options->framework && strcmp(options->framework, "1") == 0) {
        snprintf(error, ATC_ERROR,
                 "E10001: Value [%s] for parameter [framework] is invalid. Reason: "
                 "only 0 (Caffe), 3 (TensorFlow) and 5 (ONNX) are served.",
                 options->framework);
        return -1;
    }
    if (options->framework && strcmp(options->framework, "0") == 0 && !options->weight) {
        snprintf(error, ATC_ERROR,
                 "E10008: [--weight] is required when [--framework] is 0 (Caffe).");
        return -1;
    }
    if (!leo_import_knows_chip(options->soc)) {
        snprintf(error, ATC_ERROR,
                 "E10001: Value [%s] for parameter [soc_version] is invalid. Reason: "
                 "the chips are Ascend910A and Ascend910B1 to Ascend910B4.",
                 options->soc);
        return -1;
    }
    return 0;
}

int atc_options_parse(int argc, char **argv, struct atc_options *options, char error[ATC_ERROR])
{
    memset(options, 0, sizeof(*options));
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i] + strspn(argv[i], "-"), *equals = strchr(name, '=');
        const size_t length = equals ? (size_t)(equals - name) : strlen(name);
        if (argv[i][0] != '-') {
            snprintf(error, ATC_ERROR, "E10003: '%s' is no parameter.", argv[i]);
            return -1;
        }
        if (strcmp(name, "help") == 0 || strcmp(name, "h") == 0) {
            options->help = true;
            return 0;
        }
        if (!equals && i + 1 == argc) {
            snprintf(error, ATC_ERROR, "E10003: parameter --%s has no value.", name);
            return -1;
        }
        if (set_option(options, name, length, equals ? equals + 1 : argv[++i], error) != 0) {
            return -1;
        }
    }
    if (check(options, error) != 0 || parse_shapes(options, error) != 0 ||
        parse_gears(options, error) != 0 || check_open_sizes(options, error) != 0) {
        return -1;
    }
    return options->fusion_switch_file ? atc_read_switches(options, error) : 0;
}
