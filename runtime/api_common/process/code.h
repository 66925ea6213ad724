/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What can go wrong in a call of a vendor face: the core's status codes, and these beyond them.
 * Each face translates both into its own numbers; the text is leo_rt_last_error().
 */
#pragma once

#include <leo/status.h>

enum api_code {
    API_LAST = -1100,      /**< no code is lower */
    API_BAD_ARGUMENT,      /**< NULL, or a value no enumeration has */
    API_REPEATED,          /**< initialized before */
    API_FINALIZED,         /**< and not initialized since */
    API_NONE_VISIBLE,      /**< the process may see no device */
    API_NO_CONTEXT,        /**< the thread has none, or it has ended */
    API_NOT_SET,           /**< the device is not in use */
    API_BAD_STREAM,        /**< no live stream of the current context */
    API_BAD_HANDLE,        /**< no live object of this kind */
    API_NO_STREAMS,        /**< the device has no more */
    API_NO_EVENTS,         /**< the device has no more */
    API_EVENT_TIMEOUT,     /**< the event was not reached in time */
    API_WAIT_TIMEOUT,      /**< a stream waited longer than it may */
    API_NO_TIME,           /**< the event has no time */
    API_TIME_REVERSED,     /**< the end was before the start */
    API_REPORT_BOUND,      /**< a thread runs the stream's callbacks already */
    API_REPORT_NOT_BOUND,  /**< not that thread does */
    API_REPORT_NO_THREAD,  /**< no thread does */
    API_REPORT_LATE,       /**< no callback was due in time */
    API_REGISTERED,        /**< the memory is pinned already */
    API_NOT_REGISTERED,    /**< the memory is not pinned */
    API_STOPPED,           /**< not done, as something before it failed */
    API_FAULT_CUBE,        /**< on a core that has a Cube */
    API_FAULT_CUBE_TRAP,   /**< the kernel ended itself */
    API_FAULT_CUBE_TIME,   /**< the watchdog did */
    API_FAULT_VECTOR,      /**< the same three on a vector core */
    API_FAULT_VECTOR_TRAP, //
    API_FAULT_VECTOR_TIME, //
    API_FAULT_DMA,         /**< a copy */
    API_PEER_LOST,         /**< a process that a task of a stream works with is gone */
    API_CAPTURED,          /**< not possible with a stream that is being captured */
    API_CAPTURING,         /**< not possible while anybody captures */
    API_CAPTURE_DEFAULT,   /**< a default stream cannot be */
    API_CAPTURE_NONE,      /**< the stream is not being captured */
    API_CAPTURE_ELSEWHERE, /**< it began on another stream */
    API_CAPTURE_THREAD,    /**< it began in another thread */
    API_CAPTURE_INVALID,   /**< something made it so */
    API_CAPTURE_UNJOINED,  /**< a stream that takes part was not waited for */
    API_GROUP_STATE,       /**< a group of tasks is open, or is not */
    API_GRAPH_STATE,       /**< it cannot be executed */
    API_GRAPH_RUNNING,     /**< it cannot be changed */
    API_GRAPH_UPDATE,      /**< other tasks than the group's */
    API_WORK_LOST,         /**< work was refused where no caller may have looked */
    API_CODES_END,
};
