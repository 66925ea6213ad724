/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What can go wrong in a call of a vendor face: the core's status codes, and these beyond them.
 * Each face translates both into its own numbers; the text is leo_rt_last_error().
 */
#pragma once

#include <leo/status.h>

enum front_code {
    FRONT_LAST = -1100,      /**< no code is lower */
    FRONT_BAD_ARGUMENT,      /**< NULL, or a value no enumeration has */
    FRONT_REPEATED,          /**< initialized before */
    FRONT_FINALIZED,         /**< and not initialized since */
    FRONT_NONE_VISIBLE,      /**< the process may see no device */
    FRONT_NO_CONTEXT,        /**< the thread has none, or it has ended */
    FRONT_NOT_SET,           /**< the device is not in use */
    FRONT_BAD_STREAM,        /**< no live stream of the current context */
    FRONT_BAD_HANDLE,        /**< no live object of this kind */
    FRONT_NO_STREAMS,        /**< the device has no more */
    FRONT_NO_EVENTS,         /**< the device has no more */
    FRONT_EVENT_TIMEOUT,     /**< the event was not reached in time */
    FRONT_WAIT_TIMEOUT,      /**< a stream waited longer than it may */
    FRONT_NO_TIME,           /**< the event has no time */
    FRONT_TIME_REVERSED,     /**< the end was before the start */
    FRONT_REPORT_BOUND,      /**< a thread runs the stream's callbacks already */
    FRONT_REPORT_NOT_BOUND,  /**< not that thread does */
    FRONT_REPORT_NO_THREAD,  /**< no thread does */
    FRONT_REPORT_LATE,       /**< no callback was due in time */
    FRONT_REGISTERED,        /**< the memory is pinned already */
    FRONT_NOT_REGISTERED,    /**< the memory is not pinned */
    FRONT_STOPPED,           /**< not done, as something before it failed */
    FRONT_FAULT_CUBE,        /**< on a core that has a Cube */
    FRONT_FAULT_CUBE_TRAP,   /**< the kernel ended itself */
    FRONT_FAULT_CUBE_TIME,   /**< the watchdog did */
    FRONT_FAULT_VECTOR,      /**< the same three on a vector core */
    FRONT_FAULT_VECTOR_TRAP, //
    FRONT_FAULT_VECTOR_TIME, //
    FRONT_FAULT_DMA,         /**< a copy */
    FRONT_CAPTURED,          /**< not possible with a stream that is being captured */
    FRONT_CAPTURING,         /**< not possible while anybody captures */
    FRONT_CAPTURE_DEFAULT,   /**< a default stream cannot be */
    FRONT_CAPTURE_NONE,      /**< the stream is not being captured */
    FRONT_CAPTURE_ELSEWHERE, /**< it began on another stream */
    FRONT_CAPTURE_THREAD,    /**< it began in another thread */
    FRONT_CAPTURE_INVALID,   /**< something made it so */
    FRONT_CAPTURE_UNJOINED,  /**< a stream that takes part was not waited for */
    FRONT_GROUP_STATE,       /**< a group of tasks is open, or is not */
    FRONT_GRAPH_STATE,       /**< it cannot be executed */
    FRONT_GRAPH_RUNNING,     /**< it cannot be changed */
    FRONT_GRAPH_UPDATE,      /**< other tasks than the group's */
    FRONT_CODES_END,
};
