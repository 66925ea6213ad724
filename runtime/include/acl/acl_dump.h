/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dumps of operators' tensors beyond acl.h (aclmdlInitDump, aclmdlSetDump, aclmdlFinalizeDump):
 * pieces for a function of the program instead of files, where files go, and tensors that a program
 * saves itself.
 */
#pragma once

#include <acl/acl_base.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ACL_DUMP_MAX_FILE_PATH_LENGTH 4096
#define ACL_DUMP_MAX_SHAPE_NUM        25
#define ACL_OP_DUMP_OP_AICORE_ARGS    0x00000001U

typedef enum {
    AIC_ERR_BRIEF_DUMP = 1,
    AIC_ERR_NORM_DUMP = 2,
    AIC_ERR_DETAIL_DUMP = 3,
    DATA_DUMP = 4,
    OVERFLOW_DUMP = 5
} acldumpType;

typedef enum {
    ACL_DUMP_TENSOR_INPUT = 0,
    ACL_DUMP_TENSOR_OUTPUT = 1,
    ACL_DUMP_TENSOR_WORKSPACE = 2
} acldumpTensorType;

typedef enum {
    ACL_DUMP_ADDR_PTR = 0,     /**< tensorAddr is the tensor's address */
    ACL_DUMP_ADDR_PTR_PTR = 1, /**< it points to a word with that address */
    ACL_DUMP_ADDR_RAW = 2      /**< as the first */
} acldumpTensorAddressType;

typedef enum {
    ACL_DUMP_PLACEMENT_DEVICE = 0,
    ACL_DUMP_PLACEMENT_HOST = 1,
    ACL_DUMP_PLACEMENT_END = 2
} acldumpTensorPlacement;

typedef struct acldumpChunk {
    char fileName[ACL_DUMP_MAX_FILE_PATH_LENGTH];
    uint32_t bufLen;
    uint32_t isLastChunk;
    int64_t offset;
    int32_t flag;
    uint8_t dataBuf[];
} acldumpChunk;

typedef struct acldumpTensorInfo {
    acldumpTensorType type;
    size_t tensorSize;
    int32_t format;
    int32_t dataType;
    int64_t *tensorAddr;
    acldumpTensorAddressType addrType;
    acldumpTensorPlacement placement;
    uint32_t argsOffset;
    uint32_t shapeNum;
    uint32_t originShapeNum;
    uint64_t shape[ACL_DUMP_MAX_SHAPE_NUM];
    uint64_t originShape[ACL_DUMP_MAX_SHAPE_NUM];
} acldumpTensorInfo;

/** Files of dumps go to `messageCallback` piece by piece from now on. */
ACL_FUNC_VISIBILITY aclError
acldumpRegCallback(int32_t (*const messageCallback)(const acldumpChunk *, int32_t), int32_t flag);
/** They are written again. */
ACL_FUNC_VISIBILITY void acldumpUnregCallback(void);
/** The folder of DATA_DUMP while it is on; NULL for kinds that are off. */
ACL_FUNC_VISIBILITY const char *acldumpGetPath(acldumpType dumpType);
/** Writes tensors to `fileName` in the folder that acldumpGetExceptionInfoPath names. */
ACL_FUNC_VISIBILITY aclError acldumpSaveExceptionInfo(const char *fileName, const char *userTag,
                                                      const acldumpTensorInfo *tensors,
                                                      size_t tensorCount);
/** <place>/extra-info/data-dump/<device>; place is NPU_COLLECT_PATH, ASCEND_DUMP_PATH,
 * ASCEND_WORK_PATH or the working directory. */
ACL_FUNC_VISIBILITY aclError acldumpGetExceptionInfoPath(char *path, size_t maxLen);

/** 207000: what an operator compiler is fed with; there is none. */
ACL_FUNC_VISIBILITY aclError aclopStartDumpArgs(uint32_t dumpType, const char *path);
ACL_FUNC_VISIBILITY aclError aclopStopDumpArgs(uint32_t dumpType);

#ifdef __cplusplus
}
#endif
