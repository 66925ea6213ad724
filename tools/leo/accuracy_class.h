/* SPDX-License-Identifier: Apache-2.0 */
/* Classes of workloads, by which leo accuracy tells errors. */
#pragma once

/** Rows of tools/toolkit/report/classes.csv, a row of NULL behind them. */
struct accuracy_class_row {
    const char *start, *class;
};
extern const struct accuracy_class_row accuracy_class_rows[];

/** The class of a workload of a row: "products", "sorting", ...; "instructions" for kernels of this
 * project, "other" for an operator in none. Lasts. */
const char *accuracy_class(const char *workload);
