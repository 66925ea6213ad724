/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of a tape is compressed behind its head (format.h): zstd, in parts that each end, so
 * that what a process left that ended without closing its chip, with exit(), is whole. A file that
 * ends inside a part is refused.
 */
#pragma once

#include <stdio.h>

/** A stream that compresses into a file, which is closed with it. What the program leaves in it at
 * its exit is written as of any stream. NULL: out of memory; the file is closed. */
FILE *sim_tape_pack(int file);
