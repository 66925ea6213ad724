/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of a kernel from its DWARF. */
#include "kernels.h"

#include <dwarf.h>
#include <stdbool.h>

/* Letter, size and alignment of a parameter's type. */
struct shape {
    char letter;
    uint64_t bytes, align;
};

static bool find_function(Dwarf_Die *parent, uint64_t addr, Dwarf_Die *found)
{
    Dwarf_Die die;
    if (dwarf_child(parent, &die) != 0) {
        return false;
    }
    do {
        Dwarf_Addr low = 0;
        int tag = dwarf_tag(&die);
        if (tag == DW_TAG_subprogram && dwarf_lowpc(&die, &low) == 0 && low == addr) {
            *found = die;
            return true;
        }
        if (tag == DW_TAG_namespace && find_function(&die, addr, found)) {
            return true;
        }
    } while (dwarf_siblingof(&die, &die) == 0);
    return false;
}

static bool find_in_units(Dwarf *dwarf, uint64_t addr, Dwarf_Die *found)
{
    Dwarf_CU *unit = NULL;
    Dwarf_Die top;
    while (dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &top, NULL) == 0) {
        if (find_function(&top, addr, found)) {
            return true;
        }
    }
    return false;
}

static bool type_of(Dwarf_Die *die, Dwarf_Die *type)
{
    Dwarf_Attribute attr;
    Dwarf_Die named;
    return dwarf_attr_integrate(die, DW_AT_type, &attr) && dwarf_formref_die(&attr, &named) &&
           dwarf_peel_type(&named, type) == 0;
}

static bool shape_of_type(Dwarf_Die *type, struct shape *shape);

/* DWARF gives a structure's size; its alignment is the strictest of its members, or what alignas
 * says. */
static uint64_t align_of_members(Dwarf_Die *type)
{
    uint64_t align = 1;
    Dwarf_Die member;
    if (dwarf_child(type, &member) != 0) {
        return align;
    }
    do {
        Dwarf_Die inner;
        struct shape shape;
        int tag = dwarf_tag(&member);
        if ((tag == DW_TAG_member || tag == DW_TAG_inheritance) &&
            !dwarf_hasattr(&member, DW_AT_external) && type_of(&member, &inner) &&
            shape_of_type(&inner, &shape) && shape.align > align) {
            align = shape.align;
        }
        Dwarf_Attribute attr;
        Dwarf_Word asked = 0;
        if (dwarf_attr(&member, DW_AT_alignment, &attr) && dwarf_formudata(&attr, &asked) == 0 &&
            asked > align) {
            align = asked;
        }
    } while (dwarf_siblingof(&member, &member) == 0);
    return align;
}

static bool shape_of_base(Dwarf_Die *type, struct shape *shape)
{
    Dwarf_Attribute attr;
    Dwarf_Word encoding = 0;
    if (!dwarf_attr(type, DW_AT_encoding, &attr) || dwarf_formudata(&attr, &encoding) != 0) {
        return false;
    }
    shape->align = shape->bytes;
    if (shape->bytes > 8) {
        shape->letter = 'b'; /* __int128 and long double travel as a pair of slots */
        return true;
    }
    switch (encoding) {
    case DW_ATE_float:
        shape->letter = 'f';
        return true;
    case DW_ATE_signed:
    case DW_ATE_signed_char:
        shape->letter = 's';
        return true;
    case DW_ATE_complex_float:
        shape->letter = 'b';
        shape->align = shape->bytes / 2;
        return true;
    default:
        shape->letter = 'u';
        return true;
    }
}

static bool shape_of_enum(Dwarf_Die *type, struct shape *shape)
{
    Dwarf_Die base;
    if (type_of(type, &base) && dwarf_tag(&base) == DW_TAG_base_type) {
        return shape_of_type(&base, shape);
    }
    shape->letter = 'u';
    shape->align = shape->bytes;
    return true;
}

static bool shape_of_type(Dwarf_Die *type, struct shape *shape)
{
    Dwarf_Die element;
    int bytes = dwarf_bytesize(type);
    *shape = (struct shape){'b', bytes > 0 ? (uint64_t)bytes : 0, 1};
    switch (dwarf_tag(type)) {
    case DW_TAG_pointer_type:
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
        *shape = (struct shape){'p', 8, 8};
        return true;
    case DW_TAG_base_type:
        return shape_of_base(type, shape);
    case DW_TAG_enumeration_type:
        return shape_of_enum(type, shape);
    case DW_TAG_array_type:
        return type_of(type, &element) && shape_of_type(&element, shape);
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type: {
        Dwarf_Attribute attr;
        Dwarf_Word asked = 0;
        shape->align = align_of_members(type);
        if (dwarf_attr(type, DW_AT_alignment, &attr) && dwarf_formudata(&attr, &asked) == 0 &&
            asked > shape->align) {
            shape->align = asked;
        }
        if (shape->bytes % shape->align != 0) {
            shape->align = 1; /* packed */
        }
        return bytes >= 0;
    }
    default:
        return false;
    }
}

static leo_status describe_param(Dwarf_Die *param, const char *kernel, struct cc_text *out,
                                 const struct cc_fail *fail)
{
    const char *name = dwarf_diename(param);
    Dwarf_Die type;
    struct shape shape;
    if (!type_of(param, &type) || !shape_of_type(&type, &shape)) {
        return cc_fail(fail, LEO_ERR_UNSUPPORTED,
                       "kernel %s: the type of parameter '%s' cannot be passed to a kernel", kernel,
                       name ? name : "?");
    }
    if (shape.bytes == 0) {
        return LEO_OK; /* an empty C structure takes no slot */
    }
    cc_text_add(out, " %s%s%c%llua%llu", name ? name : "", name ? ":" : "", shape.letter,
                (unsigned long long)shape.bytes, (unsigned long long)shape.align);
    return LEO_OK;
}

leo_status cc_params_describe(Dwarf *dwarf, uint64_t addr, const char *name, struct cc_text *out,
                              const struct cc_fail *fail)
{
    Dwarf_Die function, origin, child;
    Dwarf_Attribute attr;
    if (!find_in_units(dwarf, addr, &function)) {
        return cc_fail(fail, LEO_ERR_UNSUPPORTED,
                       "kernel %s has no debug information (-g0?): its parameters are unknown",
                       name);
    }
    if (dwarf_hasattr_integrate(&function, DW_AT_type)) {
        return cc_fail(fail, LEO_ERR_UNSUPPORTED,
                       "kernel %s returns a value: a kernel must return void", name);
    }
    // A function that was also inlined keeps its full parameter list in the abstract instance.
    if (dwarf_attr(&function, DW_AT_abstract_origin, &attr) && dwarf_formref_die(&attr, &origin)) {
        function = origin;
    }
    if (dwarf_child(&function, &child) != 0) {
        return LEO_OK;
    }
    do {
        leo_status status = LEO_OK;
        if (dwarf_tag(&child) == DW_TAG_formal_parameter) {
            status = describe_param(&child, name, out, fail);
        } else if (dwarf_tag(&child) == DW_TAG_unspecified_parameters) {
            status = cc_fail(fail, LEO_ERR_UNSUPPORTED,
                             "kernel %s takes '...': list its parameters", name);
        }
        if (status != LEO_OK) {
            return status;
        }
    } while (dwarf_siblingof(&child, &child) == 0);
    return LEO_OK;
}
