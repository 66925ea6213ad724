/* SPDX-License-Identifier: Apache-2.0 */
/* What stands in the tables of abstract C++ classes. Called while such an object is constructed;
 * the fault names it as the function it happened in. */
void __cxa_pure_virtual(void);

void __cxa_pure_virtual(void)
{
    __builtin_trap();
}
