/* SPDX-License-Identifier: Apache-2.0 */
/* What AscendCL is to the common API, and aclInit, aclFinalize. */
#include "model/acl_op_model.h"

#include <jansson.h>
#include <stdlib.h>
#include <unistd.h>

static void log_from_core(void *user, int level, const char *text)
{
    (void)user;
    acl_log(level, "leo", "%s", text);
}

const struct api_face api_face = {
    .visible = "ASCEND_RT_VISIBLE_DEVICES",
    .set_device = "aclrtSetDevice",
    .default_device = API_DEFAULT_NONE,
    .log = log_from_core,
    .forked = acl_process_forget,
    .device_opened = acl_prof_device_opened,
    .finalizing = acl_prof_finalize,
    .faulted = acl_exception_tell,
};

static int json_depth(const json_t *node)
{
    int deepest = 0;
    const char *key;
    json_t *value;
    size_t index;
    if (json_is_object(node)) {
        // jansson's macro walks the object; it does not change it.
        json_object_foreach((json_t *)(uintptr_t)node, key, value)
        {
            int depth = json_depth(value);
            deepest = depth > deepest ? depth : deepest;
        }
    } else if (json_is_array(node)) {
        json_array_foreach(node, index, value)
        {
            int depth = json_depth(value);
            deepest = depth > deepest ? depth : deepest;
        }
    } else {
        return 0;
    }
    return deepest + 1;
}

// How many operators of one type and different shapes are kept: here all are, so it is only
// checked.
static bool is_queue_num(const json_t *value)
{
    if (json_is_string(value)) {
        char *end;
        const char *text = json_string_value(value);
        return *text >= '0' && *text <= '9' && strtoll(text, &end, 10) > 0 && !*end;
    }
    return json_is_integer(value) && json_integer_value(value) > 0;
}

static aclError check_config(const char *path, const json_t *root)
{
    const json_t *count = json_object_get(root, "max_opqueue_num");
    if (!json_is_object(root) || json_depth(root) > 10) {
        return acl_fail(ACL_ERROR_PARSE_FILE, "aclInit",
                        "%s: expected an object nested at most 10 deep", path);
    }
    return count && !is_queue_num(count)
               ? acl_fail(ACL_ERROR_INVALID_MAX_OPQUEUE_NUM_CONFIG, "aclInit",
                          "%s: max_opqueue_num must be a whole number above 0, as \"20000\"", path)
               : ACL_SUCCESS;
}

// `text`: the file's JSON, to be freed.
static aclError read_config(const char *path, int *default_device, char **text)
{
    json_error_t error;
    if (access(path, R_OK) != 0) {
        return acl_fail(
            ACL_ERROR_INVALID_FILE, "aclInit",
            "cannot read the configuration file '%s': pass NULL or the path of a JSON file", path);
    }
    json_t *root = json_load_file(path, 0, &error);
    if (!root) {
        return acl_fail(ACL_ERROR_PARSE_FILE, "aclInit", "%s:%d: %s", path, error.line, error.text);
    }
    aclError result = check_config(path, root);
    if (!result) {
        const json_t *id =
            json_object_get(json_object_get(root, "defaultDevice"), "default_device");
        if (json_is_string(id)) {
            *default_device = atoi(json_string_value(id));
        } else if (json_is_integer(id)) {
            *default_device = (int)json_integer_value(id);
        }
        *text = json_dumps(root, JSON_COMPACT);
    }
    json_decref(root);
    return result;
}

aclError aclInit(const char *configPath)
{
    int default_device = API_DEFAULT_NONE;
    char *text = NULL;
    if (configPath && *configPath) {
        aclError error = read_config(configPath, &default_device, &text);
        if (error) {
            return error;
        }
    }
    acl_check_home();
    aclError error = acl_result(__func__, api_initialize(default_device));
    if (!error && text) {
        error = acl_dump_configure(__func__, configPath, false);
        if (error) {
            (void)api_finalize(false, NULL);
        }
    }
    if (!error) {
        error = acl_life_started(text);
    }
    free(text);
    return error;
}

aclError aclFinalize(void)
{
    aclError error = api_is_initialized() ? acl_life_ends() : ACL_SUCCESS;
    api_dump_stop();
    acl_op_models_drop();
    aclError ended = acl_result(__func__, api_finalize(true, NULL));
    return ended ? ended : error;
}

aclError aclFinalizeReference(uint64_t *refCount)
{
    return acl_result(__func__, api_finalize(false, refCount));
}
