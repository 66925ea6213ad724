/* SPDX-License-Identifier: Apache-2.0 */
/* The text of --insert_op_conf. */
#include "aipp.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A setting's name, place, values and default. A list's names end with the number. */
static const struct key {
    const char *name;
    uint32_t place;
    double least, most, otherwise;
} keys[] = {
    {"aipp_mode", LEO_AIPP_MODE, LEO_AIPP_STATIC, LEO_AIPP_DYNAMIC, 0},
    {"related_input_rank", LEO_AIPP_INPUT_RANK, 0, 1e9, 0},
    {"input_edge_idx", LEO_AIPP_INPUT_EDGE, 0, 1e9, 0},
    {"input_format", LEO_AIPP_FORMAT, 1, LEO_AIPP_FORMATS - 1, 0},
    {"src_image_size_w", LEO_AIPP_SOURCE_W, 0, 4096, 0},
    {"src_image_size_h", LEO_AIPP_SOURCE_H, 0, 4096, 0},
    {"crop", LEO_AIPP_CROP, 0, 1, 0},
    {"load_start_pos_w", LEO_AIPP_CROP_X, 0, 4095, 0},
    {"load_start_pos_h", LEO_AIPP_CROP_Y, 0, 4095, 0},
    {"crop_size_w", LEO_AIPP_CROP_W, 0, 4096, 0},
    {"crop_size_h", LEO_AIPP_CROP_H, 0, 4096, 0},
    {"padding", LEO_AIPP_PADDING, 0, 1, 0},
    {"left_padding_size", LEO_AIPP_LEFT, 0, 32, 0},
    {"right_padding_size", LEO_AIPP_RIGHT, 0, 32, 0},
    {"top_padding_size", LEO_AIPP_TOP, 0, 32, 0},
    {"bottom_padding_size", LEO_AIPP_BOTTOM, 0, 32, 0},
    {"padding_value", LEO_AIPP_PADDING_VALUE, -65504, 65504, 0},
    {"csc_switch", LEO_AIPP_CSC, 0, 1, 0},
    {"rbuv_swap_switch", LEO_AIPP_SWAP_RB, 0, 1, 0},
    {"ax_swap_switch", LEO_AIPP_SWAP_AX, 0, 1, 0},
    {"matrix_r0c0", LEO_AIPP_MATRIX + 0, INT16_MIN, INT16_MAX, 298},
    {"matrix_r0c1", LEO_AIPP_MATRIX + 1, INT16_MIN, INT16_MAX, 516},
    {"matrix_r0c2", LEO_AIPP_MATRIX + 2, INT16_MIN, INT16_MAX, 0},
    {"matrix_r1c0", LEO_AIPP_MATRIX + 3, INT16_MIN, INT16_MAX, 298},
    {"matrix_r1c1", LEO_AIPP_MATRIX + 4, INT16_MIN, INT16_MAX, -100},
    {"matrix_r1c2", LEO_AIPP_MATRIX + 5, INT16_MIN, INT16_MAX, -208},
    {"matrix_r2c0", LEO_AIPP_MATRIX + 6, INT16_MIN, INT16_MAX, 298},
    {"matrix_r2c1", LEO_AIPP_MATRIX + 7, INT16_MIN, INT16_MAX, 0},
    {"matrix_r2c2", LEO_AIPP_MATRIX + 8, INT16_MIN, INT16_MAX, 409},
    {"output_bias_0", LEO_AIPP_OUTPUT_BIAS + 0, 0, 255, 16},
    {"output_bias_1", LEO_AIPP_OUTPUT_BIAS + 1, 0, 255, 128},
    {"output_bias_2", LEO_AIPP_OUTPUT_BIAS + 2, 0, 255, 128},
    {"input_bias_0", LEO_AIPP_INPUT_BIAS + 0, 0, 255, 16},
    {"input_bias_1", LEO_AIPP_INPUT_BIAS + 1, 0, 255, 128},
    {"input_bias_2", LEO_AIPP_INPUT_BIAS + 2, 0, 255, 128},
    {"mean_chn_0", LEO_AIPP_MEAN + 0, 0, 255, 0},
    {"mean_chn_1", LEO_AIPP_MEAN + 1, 0, 255, 0},
    {"mean_chn_2", LEO_AIPP_MEAN + 2, 0, 255, 0},
    {"mean_chn_3", LEO_AIPP_MEAN + 3, 0, 255, 0},
    {"min_chn_0", LEO_AIPP_MIN + 0, 0, 255, 0},
    {"min_chn_1", LEO_AIPP_MIN + 1, 0, 255, 0},
    {"min_chn_2", LEO_AIPP_MIN + 2, 0, 255, 0},
    {"min_chn_3", LEO_AIPP_MIN + 3, 0, 255, 0},
    {"var_reci_chn_0", LEO_AIPP_VAR_RECI + 0, -65504, 65504, 1},
    {"var_reci_chn_1", LEO_AIPP_VAR_RECI + 1, -65504, 65504, 1},
    {"var_reci_chn_2", LEO_AIPP_VAR_RECI + 2, -65504, 65504, 1},
    {"var_reci_chn_3", LEO_AIPP_VAR_RECI + 3, -65504, 65504, 1},
    // What the vendor reserves is only taken if it asks for nothing.
    {"resize", LEO_AIPP_UNSERVED, 0, 0, 0},
    {"resize_output_w", LEO_AIPP_UNSERVED, 0, 0, 0},
    {"resize_output_h", LEO_AIPP_UNSERVED, 0, 0, 0},
    {"rotation_angle", LEO_AIPP_UNSERVED, 0, 0, 0},
    {"support_rotation", LEO_AIPP_UNSERVED, 0, 0, 0},
    {"cpadding_value", LEO_AIPP_UNSERVED, 0, 0, 0},
    {"single_line_mode", LEO_AIPP_UNSERVED, 0, 0, 0},
    {"max_src_image_size", LEO_AIPP_MAX_BYTES, 0, UINT32_MAX, 0},
};

/* Words that stand for numbers. */
static const struct {
    const char *word;
    double number;
} words[] = {
    {"static", LEO_AIPP_STATIC},
    {"dynamic", LEO_AIPP_DYNAMIC},
    {"true", 1},
    {"false", 0},
    {"YUV420SP_U8", LEO_AIPP_YUV420SP},
    {"XRGB8888_U8", LEO_AIPP_XRGB8888},
    {"RGB888_U8", LEO_AIPP_RGB888},
    {"YUV400_U8", LEO_AIPP_YUV400},
};

enum { TOKEN = LEO_MODEL_NAME };

// The next word, number, text in quotes or sign; false: the end, or one that is too long.
static bool next_token(const char **at, char token[TOKEN])
{
    for (;;) {
        *at += strspn(*at, " \t\r\n,;");
        if (**at != '#') {
            break;
        }
        *at += strcspn(*at, "\n");
    }
    const bool quoted = **at == '"';
    const char *start = *at + quoted;
    size_t length = quoted                        ? strcspn(start, "\"\n")
                    : **at && strchr("{}:", **at) ? 1
                                                  : strcspn(start, " \t\r\n,;{}:#\"");
    *at = start + length + (quoted && start[length] == '"');
    if (length >= TOKEN || (length == 0 && !quoted)) {
        return false;
    }
    memcpy(token, start, length);
    token[length] = '\0';
    return true;
}

static bool is_next(const char **at, const char *sign)
{
    char token[TOKEN];
    return next_token(at, token) && strcmp(token, sign) == 0;
}

static bool take_number(const char *text, double *number)
{
    char *end;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(text, words[i].word) == 0) {
            *number = words[i].number;
            return true;
        }
    }
    *number = strtod(text, &end);
    return *text && !*end;
}

static bool set_key(struct leo_aipp *aipp, const char *name, const char *value,
                    char error[LEO_MODEL_ERROR])
{
    double number;
    if (strcmp(name, "related_input_name") == 0) {
        snprintf(aipp->input, sizeof(aipp->input), "%s", value);
        return true;
    }
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (strcmp(keys[i].name, name) != 0) {
            continue;
        }
        if (!take_number(value, &number) || !(number >= keys[i].least && number <= keys[i].most)) {
            snprintf(error, LEO_MODEL_ERROR, "aipp_op: %s is %s; it must be from %g to %g", name,
                     value, keys[i].least, keys[i].most);
            return false;
        }
        aipp->at[keys[i].place] = number;
        return true;
    }
    snprintf(error, LEO_MODEL_ERROR, "aipp_op: the setting %s is not served", name);
    return false;
}

static bool read_op(const char **at, struct leo_aipp *aipp, char error[LEO_MODEL_ERROR])
{
    char name[TOKEN], value[TOKEN];
    memset(aipp, 0, sizeof(*aipp));
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        aipp->at[keys[i].place] = keys[i].otherwise;
    }
    while (next_token(at, name) && strcmp(name, "}") != 0) {
        if (!is_next(at, ":") || !next_token(at, value)) {
            snprintf(error, LEO_MODEL_ERROR, "aipp_op: %s has no ': value'", name);
            return false;
        }
        if (!set_key(aipp, name, value, error)) {
            return false;
        }
    }
    const bool dynamic = aipp->at[LEO_AIPP_MODE] == LEO_AIPP_DYNAMIC;
    const char *fault = (*at)[-1] != '}'               ? "it has no end"
                        : aipp->at[LEO_AIPP_MODE] == 0 ? "aipp_mode is required"
                        : dynamic && aipp->at[LEO_AIPP_MAX_BYTES] == 0
                            ? "max_src_image_size is required"
                        : !dynamic && aipp->at[LEO_AIPP_FORMAT] == 0 ? "input_format is required"
                                                                     : NULL;
    if (fault) {
        snprintf(error, LEO_MODEL_ERROR, "aipp_op: %s", fault);
        return false;
    }
    return true;
}

bool model_aipp_read(const char *text, struct leo_aipp_list *list, char error[LEO_MODEL_ERROR])
{
    char token[TOKEN];
    memset(list, 0, sizeof(*list));
    for (const char *at = text; next_token(&at, token);) {
        if (strcmp(token, "aipp_op") != 0 || !is_next(&at, "{") || list->count == LEO_AIPP_INPUTS) {
            snprintf(error, LEO_MODEL_ERROR, "'%s' is not the begin of one of at most %d aipp_op {",
                     token, LEO_AIPP_INPUTS);
            return false;
        }
        if (!read_op(&at, &list->list[list->count], error)) {
            return false;
        }
        list->count++;
    }
    if (list->count == 0) {
        snprintf(error, LEO_MODEL_ERROR, "there is no aipp_op");
    }
    return list->count > 0;
}
