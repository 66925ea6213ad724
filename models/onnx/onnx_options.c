/* SPDX-License-Identifier: Apache-2.0 */
/* What options say of inputs and outputs: lists of names, element types. */
#include "outputs.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { HALF = 10, DOUBLE = 11 }; // the format's numbers of types

void onnx_bad_option(struct onnx_import *import, const char *format, ...)
{
    char text[ONNX_ITEM];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    import->bad_option = import->bad_option || !import->build.failed;
    onnx_fail(import, "%s", text);
}

bool onnx_next_item(const char **at, char item[ONNX_ITEM])
{
    const size_t length = *at ? strcspn(*at, ";") : 0;
    if (!*at || !**at || length >= ONNX_ITEM) {
        return false;
    }
    memcpy(item, *at, length);
    item[length] = '\0';
    *at += length + ((*at)[length] == ';');
    return true;
}

bool onnx_is_listed(const char *list, const char *name)
{
    char item[ONNX_ITEM];
    for (const char *at = list; onnx_next_item(&at, item);) {
        if (strcmp(item, name) == 0) {
            return true;
        }
    }
    return false;
}

bool onnx_take_io_type(struct onnx_import *import, const char *what, const char *name,
                       const OnnxFile__TensorType *type, bool half, enum leo_dtype *dtype)
{
    if (!type || type->elem_type == DOUBLE || !onnx_take_type(type->elem_type, dtype)) {
        onnx_fail(import, "%s %s has element type %d, which is not served", what, name,
                  type ? type->elem_type : 0);
        return false;
    }
    if (*dtype == LEO_DTYPE_F32 && (half || type->elem_type == HALF)) {
        *dtype = LEO_DTYPE_F16;
    }
    return true;
}
