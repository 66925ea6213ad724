/* SPDX-License-Identifier: Apache-2.0 */
/* Values of an operator's attributes, in the order of its description. C++ only. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace gert
{

/** A list attribute. */
class ContinuousVector
{
  public:
    ContinuousVector(const void *data = nullptr, size_t count = 0) : data_(data), count_(count)
    {
    }
    size_t GetSize() const
    {
        return count_;
    }
    const void *GetData() const
    {
        return data_;
    }

  private:
    const void *data_;
    size_t count_;
};

template <typename T> class TypedContinuousVector : public ContinuousVector
{
  public:
    const T *GetData() const
    {
        return static_cast<const T *>(ContinuousVector::GetData());
    }
};

class RuntimeAttrs
{
  public:
    size_t GetAttrNum() const
    {
        return values_.size();
    }
    /** T: int64_t (narrower ones see its low bytes), float, bool, char (a text), ContinuousVector.
     */
    template <typename T> const T *GetAttrPointer(size_t index) const
    {
        return index < values_.size() ? static_cast<const T *>(values_[index].at()) : nullptr;
    }
    const int64_t *GetInt(size_t index) const
    {
        return GetAttrPointer<int64_t>(index);
    }
    const float *GetFloat(size_t index) const
    {
        return GetAttrPointer<float>(index);
    }
    const bool *GetBool(size_t index) const
    {
        return GetAttrPointer<bool>(index);
    }
    const char *GetStr(size_t index) const
    {
        return GetAttrPointer<char>(index);
    }
    const TypedContinuousVector<int64_t> *GetListInt(size_t index) const
    {
        return GetAttrPointer<TypedContinuousVector<int64_t>>(index);
    }
    const TypedContinuousVector<float> *GetListFloat(size_t index) const
    {
        return GetAttrPointer<TypedContinuousVector<float>>(index);
    }

    /* Filled by the operator's two phases. */
    void add(int64_t value)
    {
        Value one;
        one.bytes.assign(reinterpret_cast<const char *>(&value), sizeof(value));
        values_.push_back(one);
    }
    void add(float value)
    {
        Value one;
        one.bytes.assign(reinterpret_cast<const char *>(&value), sizeof(value));
        values_.push_back(one);
    }
    void add(const std::string &text)
    {
        Value one;
        one.bytes = text;
        values_.push_back(one);
    }
    void add(const void *items, size_t count, size_t item_bytes)
    {
        Value one;
        one.bytes.assign(static_cast<const char *>(items), count * item_bytes);
        one.is_list = true;
        one.count = count;
        values_.push_back(one);
        values_.back().list = ContinuousVector(values_.back().bytes.data(), count);
    }

  private:
    struct Value {
        std::string bytes;
        bool is_list = false;
        size_t count = 0;
        ContinuousVector list;
        const void *at() const
        {
            return is_list ? static_cast<const void *>(&list) : bytes.c_str();
        }
    };
    std::deque<Value> values_; // elements stay where they are
};

} // namespace gert
