/* SPDX-License-Identifier: Apache-2.0 */
/* Capture of streams into a model that runs again and again. */
#include "acl_internal.h"

#include "../api_common/stream/graph_handle.h"

static const enum api_capture_mode modes[] = {
    [ACL_MODEL_RI_CAPTURE_MODE_GLOBAL] = API_CAPTURE_MODE_GLOBAL,
    [ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL] = API_CAPTURE_MODE_THREAD,
    [ACL_MODEL_RI_CAPTURE_MODE_RELAXED] = API_CAPTURE_MODE_RELAXED,
};

static bool mode_is_known(aclmdlRICaptureMode mode)
{
    return (int)mode >= 0 && (size_t)mode < sizeof(modes) / sizeof(modes[0]);
}

aclError aclmdlRICaptureBegin(aclrtStream stream, aclmdlRICaptureMode mode)
{
    return mode_is_known(mode)
               ? acl_result(__func__, api_capture_begin(stream, modes[mode]))
               : acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "mode %d is unknown", (int)mode);
}

aclError aclmdlRICaptureGetInfo(aclrtStream stream, aclmdlRICaptureStatus *status,
                                aclmdlRI *modelRI)
{
    static const aclmdlRICaptureStatus states[] = {
        [API_CAPTURE_STATE_NONE] = ACL_MODEL_RI_CAPTURE_STATUS_NONE,
        [API_CAPTURE_STATE_ACTIVE] = ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE,
        [API_CAPTURE_STATE_INVALID] = ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED,
    };
    enum api_capture_state state;
    if (!status || !modelRI) {
        return acl_null(__func__, "an argument");
    }
    aclError error = acl_result(__func__, api_capture_info(stream, &state, modelRI));
    if (!error) {
        *status = states[state];
    }
    return error;
}

bool acl_is_captured(aclrtStream stream)
{
    enum api_capture_state state;
    aclmdlRI graph;
    return stream && !api_capture_info(stream, &state, &graph) && state == API_CAPTURE_STATE_ACTIVE;
}

aclError aclmdlRICaptureEnd(aclrtStream stream, aclmdlRI *modelRI)
{
    return modelRI ? acl_result(__func__, api_capture_end(stream, modelRI))
                   : acl_null(__func__, "modelRI");
}

aclError aclmdlRIDestroy(aclmdlRI modelRI)
{
    return acl_result(__func__, api_graph_destroy(modelRI));
}

aclError aclmdlRIExecuteAsync(aclmdlRI modelRI, aclrtStream stream)
{
    return acl_result(__func__, api_graph_execute(modelRI, stream));
}

aclError aclmdlRIExecute(aclmdlRI modelRI, int32_t timeout)
{
    aclError error = acl_timeout_check(__func__, timeout);
    if (!error) {
        error = aclmdlRIExecuteAsync(modelRI, NULL);
    }
    return error ? error : aclrtSynchronizeStreamWithTimeout(NULL, timeout);
}

aclError aclmdlRIGetId(aclmdlRI modelRI, uint32_t *modelRIId)
{
    return modelRIId ? acl_result(__func__, api_graph_id(modelRI, modelRIId))
                     : acl_null(__func__, "modelRIId");
}

aclError aclmdlRIDebugPrint(aclmdlRI modelRI)
{
    return acl_result(__func__, api_graph_write(modelRI, NULL));
}

aclError aclmdlRIDebugJsonPrint(aclmdlRI modelRI, const char *path, uint32_t flags)
{
    (void)flags; // a summary is all there is
    return path ? acl_result(__func__, api_graph_write(modelRI, path)) : acl_null(__func__, "path");
}

aclError aclmdlRICaptureThreadExchangeMode(aclmdlRICaptureMode *mode)
{
    if (!mode || !mode_is_known(*mode)) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "mode is NULL or unknown");
    }
    enum api_capture_mode before = api_capture_exchange_mode(modes[*mode]);
    for (int i = 0; (size_t)i < sizeof(modes) / sizeof(modes[0]); i++) {
        *mode = modes[i] == before ? (aclmdlRICaptureMode)i : *mode;
    }
    return ACL_SUCCESS;
}

aclError aclmdlRICaptureTaskGrpBegin(aclrtStream stream)
{
    return acl_result(__func__, api_group_begin(stream));
}

aclError aclmdlRICaptureTaskGrpEnd(aclrtStream stream, aclrtTaskGrp *handle)
{
    return handle ? acl_result(__func__, api_group_end(stream, handle))
                  : acl_null(__func__, "handle");
}

aclError aclmdlRICaptureTaskUpdateBegin(aclrtStream stream, aclrtTaskGrp handle)
{
    return acl_result(__func__, api_group_update_begin(stream, handle));
}

aclError aclmdlRICaptureTaskUpdateEnd(aclrtStream stream)
{
    return acl_result(__func__, api_group_update_end(stream));
}
