/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Subcommands of leo: one file each, listed in main.c. Each answers --help and returns 0 good, 1
 * the thing asked for failed, 2 wrong use. argv[0] is the subcommand's name.
 */
#pragma once

int leo_cmd_cc(int argc, char **argv);
int leo_cmd_objdump(int argc, char **argv);
int leo_cmd_run(int argc, char **argv);
int leo_cmd_run_bare(int argc, char **argv); /* of leo run */
int leo_cmd_gdb(int argc, char **argv);
int leo_cmd_smi(int argc, char **argv);
int leo_cmd_exec(int argc, char **argv);
int leo_cmd_report(int argc, char **argv);
int leo_cmd_accuracy(int argc, char **argv);
int leo_cmd_sweep(int argc, char **argv);
int leo_cmd_replay(int argc, char **argv);
int leo_cmd_diff(int argc, char **argv);
int leo_cmd_doctor(int argc, char **argv);
int leo_cmd_study(int argc, char **argv);
int leo_cmd_chakra(int argc, char **argv);
int leo_cmd_topology(int argc, char **argv);
/* The page of a study's folder, by its script. */
int leo_cmd_study_page(const char *folder);
/** The same for leo study --dask. */
int leo_cmd_study_dask(const char *const *words, int count);
