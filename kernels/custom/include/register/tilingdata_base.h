/* SPDX-License-Identifier: Apache-2.0 */
/* Tiling data of custom operators on the host: classes whose fields are set by name and written to
 * one buffer, each at a multiple of its size, as the kernel's structure of the same name has them.
 * C++ only. */
#pragma once

#include <exe_graph/runtime/tiling_context.h>
#include <graph/types.h>

#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace optiling
{

class TilingDef
{
  public:
    struct Field {
        std::string type, name;
        size_t at, bytes, count; /**< count 0: one, no array */
        bool is_structure;
        ptrdiff_t member; /**< of a structure: where it is in the object */
    };

    explicit TilingDef(const char *name) : leo_name(name)
    {
    }
    size_t GetDataSize() const
    {
        return leo_up(leo_bytes.size(), 8);
    }
    void SaveToBuffer(void *to, size_t capacity) const
    {
        const std::string bytes = leo_packed();
        if (to && bytes.size() <= capacity) {
            memcpy(to, bytes.data(), bytes.size());
        }
    }
    const char *GetTilingClassName() const
    {
        return leo_name;
    }

    /* What the macros below are made of. */
    static size_t leo_up(size_t bytes, size_t unit)
    {
        return (bytes + unit - 1) / unit * unit;
    }
    template <typename T> size_t leo_add(const char *type, const char *name, size_t count)
    {
        const size_t at = leo_up(leo_bytes.size(), alignof(T));
        const size_t bytes = sizeof(T) * (count ? count : 1);
        leo_fields.push_back({type, name, at, bytes, count, false, 0});
        leo_bytes.resize(at + bytes);
        leo_align = alignof(T) > leo_align ? alignof(T) : leo_align;
        return at;
    }
    size_t leo_add_structure(const char *type, const char *name, const TilingDef &member)
    {
        const size_t at = leo_up(leo_bytes.size(), member.leo_align);
        const size_t bytes = leo_up(member.leo_bytes.size(), member.leo_align);
        const ptrdiff_t place =
            reinterpret_cast<const char *>(&member) - reinterpret_cast<const char *>(this);
        leo_fields.push_back({type, name, at, bytes, 0, true, place});
        leo_bytes.resize(at + bytes);
        leo_align = member.leo_align > leo_align ? member.leo_align : leo_align;
        return at;
    }
    template <typename T> T leo_get(size_t at) const
    {
        T value;
        memcpy(&value, leo_bytes.data() + at, sizeof(value));
        return value;
    }
    void leo_set(size_t at, const void *value, size_t bytes)
    {
        memcpy(&leo_bytes[at], value, bytes);
    }
    std::string leo_packed() const
    {
        std::string bytes = leo_bytes;
        for (const Field &field : leo_fields) {
            if (field.is_structure) {
                const TilingDef *member = reinterpret_cast<const TilingDef *>(
                    reinterpret_cast<const char *>(this) + field.member);
                bytes.replace(field.at, field.bytes, member->leo_packed(), 0, field.bytes);
            }
        }
        bytes.resize(GetDataSize());
        return bytes;
    }

    const char *leo_name;
    std::vector<Field> leo_fields;
    size_t leo_align = 1;

  protected:
    std::string leo_bytes;
};

/** Classes by the operator's name (or that of a structure's own registration), for the device's
 * header. */
using LeoTilingClasses = std::map<std::string, std::function<std::unique_ptr<TilingDef>()>>;
inline LeoTilingClasses &leo_tiling_classes()
{
    static LeoTilingClasses classes;
    return classes;
}
template <typename T> struct LeoTilingClass {
    explicit LeoTilingClass(const char *name)
    {
        leo_tiling_classes()[name] = [] { return std::unique_ptr<TilingDef>(new T); };
    }
};

} // namespace optiling

// clang-format off
#define BEGIN_TILING_DATA_DEF(type)                                                                \
    class type : public ::optiling::TilingDef { public: type() : ::optiling::TilingDef(#type) {}
#define TILING_DATA_FIELD_DEF(type, name)                                                          \
    type get_##name() const { return this->leo_get<type>(leo_at_##name); }                         \
    void set_##name(type value) { this->leo_set(leo_at_##name, &value, sizeof(value)); }           \
    size_t leo_at_##name = this->leo_add<type>(#type, #name, 0);
#define TILING_DATA_FIELD_DEF_ARR(type, count, name)                                               \
    type *get_##name() { return reinterpret_cast<type *>(&this->leo_bytes[leo_at_##name]); }       \
    void set_##name(const type *values) { this->leo_set(leo_at_##name, values, sizeof(type) * (count)); } \
    size_t leo_at_##name = this->leo_add<type>(#type, #name, count);
#define TILING_DATA_FIELD_DEF_STRUCT(type, name)                                                   \
    type name;                                                                                     \
    size_t leo_at_##name = this->leo_add_structure(#type, #name, name);
#define END_TILING_DATA_DEF };
#define REGISTER_TILING_DATA_CLASS(operator_name, type)                                            \
    static const ::optiling::LeoTilingClass<type> leo_tiling_of_##operator_name(#operator_name);
// clang-format on
