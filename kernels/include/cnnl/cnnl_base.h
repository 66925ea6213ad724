/* SPDX-License-Identifier: Apache-2.0 */
/* CNNL: what all its functions share. */
#pragma once

#include <cnnl_enums.h>
#include <cnrt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CNNL_FUNC_VISIBILITY __attribute__((visibility("default")))

/** Most dimensions of a tensor. */
#define CNNL_DIM_MAX 8

/** A library for one device and one queue; used by one thread at a time. */
typedef struct cnnlContext *cnnlHandle_t;
/** Shape, type and layout of a tensor; without its memory. */
typedef struct cnnlTensorStruct cnnlTensorStruct;
typedef struct cnnlTensorStruct *cnnlTensorDescriptor_t;

/** A sparse tensor; none can be made yet. */
typedef struct cnnlSparseTensorStruct cnnlSparseTensorStruct;
typedef struct cnnlSparseTensorStruct *cnnlSparseTensorDescriptor_t;

/** An algorithm of a convolution as a search tells it. */
typedef struct {
    cnnlConvolutionForwardAlgo_t algo;
    cnnlStatus_t status;
    float time;    /**< in ms; 0: it was not measured */
    size_t memory; /**< of its workspace, in bytes */
    cnnlDeterministicMode_t determinism;
} cnnlConvolutionFwdAlgoPerf_t;
