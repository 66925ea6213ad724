/* SPDX-License-Identifier: Apache-2.0 */
/* Clusters of kernels in BANG C, as the runtime lays their memory out and device code finds it.
 * Behind the lines by which cores meet, each cluster has its bytes. */
#pragma once

enum {
    LEO_CLUSTER_CORES = 4,
    /* Of a cluster: a line for each of its cores and one of their release, then the same of a
     * union, of 64 cores at most. */
    LEO_CLUSTER_LINES = LEO_CLUSTER_CORES + 1,
    LEO_UNION_LINES = 64 + 1,
    LEO_LINE_BYTES = 64
};
