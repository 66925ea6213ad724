# SPDX-License-Identifier: Apache-2.0
# That it works shows where something is compiled: a kernel and a program for the host take a second.
set(CMAKE_ASC_COMPILER_WORKS 1 CACHE INTERNAL "")
