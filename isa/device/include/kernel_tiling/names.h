/* SPDX-License-Identifier: Apache-2.0 */
/** Members of the enumerations that host and device both have, in the order of their numbers. */
#pragma once

/** Places of tensors, in the order of their numbers. */
#define LEO_TPOSITIONS                                                                             \
    GM, A1, A2, B1, B2, C1, C2, CO1, CO2, VECIN, VECOUT, VECCALC, LCM = VECCALC, SPM, SHM = SPM,   \
                                                                  TSCM, C2PIPE2GM, MAX

/** Layouts of a Matmul object's operands. VECTOR: one row. ND_ALIGN: rows of a result padded to 32
 * bytes. */
#define LEO_CUBE_FORMATS ND = 0, NZ, ZN, ZZ, NN, VECTOR, SCALAR, ND_ALIGN
