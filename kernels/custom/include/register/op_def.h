/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptions of custom operators: parameters, types, formats, attributes, the tiling function.
 * C++ only. */
#pragma once

#include <exe_graph/runtime/infer_shape_context.h>
#include <exe_graph/runtime/tiling_context.h>
#include <graph/types.h>

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace gert
{
using LeoTilingFunc = ge::graphStatus (*)(TilingContext *);
using LeoInferShapeFunc = ge::graphStatus (*)(InferShapeContext *);
using LeoInferTypeFunc = ge::graphStatus (*)(InferDataTypeContext *);
} // namespace gert

namespace ops
{

enum Option { IGNORE = 0, OPTIONAL = 1, REQUIRED = 2, DYNAMIC = 3, VIRTUAL = 4 };
enum class DependScope { ALL, TILING, INVALID };
enum class FollowType { ALL, DTYPE, FORMAT, SHAPE, INVALID_TYPE };
enum class HcclServerType { AICPU, AICORE, CCU, MAX };

/** An input or output. What only graphs need is taken and changes nothing. */
class OpParamDef
{
  public:
    explicit OpParamDef(const char *name) : name_(name)
    {
    }
    OpParamDef &ParamType(Option option)
    {
        option_ = option;
        return *this;
    }
    OpParamDef &DataType(std::vector<ge::DataType> types)
    {
        types_ = types;
        return *this;
    }
    OpParamDef &DataTypeList(std::vector<ge::DataType> types)
    {
        each_type_ = types;
        return *this;
    }
    OpParamDef &Format(std::vector<ge::Format> formats)
    {
        formats_ = formats;
        return *this;
    }
    OpParamDef &FormatList(std::vector<ge::Format> formats)
    {
        each_format_ = formats;
        return *this;
    }
    OpParamDef &DataTypeForBinQuery(std::vector<ge::DataType>)
    {
        return *this;
    }
    OpParamDef &FormatForBinQuery(std::vector<ge::Format>)
    {
        return *this;
    }
    OpParamDef &UnknownShapeFormat(std::vector<ge::Format>)
    {
        return *this;
    }
    OpParamDef &ValueDepend(Option option)
    {
        needs_value_ = option != IGNORE;
        return *this;
    }
    OpParamDef &ValueDepend(Option option, DependScope)
    {
        return ValueDepend(option);
    }
    OpParamDef &IgnoreContiguous()
    {
        any_strides_ = true;
        return *this;
    }
    OpParamDef &AutoContiguous()
    {
        return *this;
    }
    OpParamDef &Scalar()
    {
        return refuse("Scalar");
    }
    OpParamDef &ScalarList()
    {
        return refuse("ScalarList");
    }
    OpParamDef &OutputShapeDependOnCompute()
    {
        return refuse("OutputShapeDependOnCompute");
    }
    OpParamDef &InitValue(uint64_t)
    {
        return refuse("InitValue");
    }
    OpParamDef &Follow(const char *)
    {
        return refuse("Follow");
    }
    OpParamDef &Follow(const char *, FollowType)
    {
        return refuse("Follow");
    }
    OpParamDef &Version(uint32_t)
    {
        return *this;
    }

    const std::string &name() const
    {
        return name_;
    }
    Option option() const
    {
        return option_;
    }
    bool needs_value() const
    {
        return needs_value_;
    }
    bool any_strides() const
    {
        return any_strides_;
    }
    const std::vector<ge::DataType> &types() const
    {
        return types_.empty() ? each_type_ : types_;
    }
    const std::vector<ge::Format> &formats() const
    {
        return formats_.empty() ? each_format_ : formats_;
    }
    /** True if its list stands for itself: every type goes with every combination of the others. */
    bool has_list() const
    {
        return types_.empty() && !each_type_.empty();
    }
    /** The word of the description that is not there; "" if all are. */
    const std::string &refused() const
    {
        return refused_;
    }

  private:
    OpParamDef &refuse(const char *word)
    {
        refused_ = word;
        return *this;
    }
    std::string name_, refused_;
    Option option_ = REQUIRED;
    std::vector<ge::DataType> types_, each_type_;
    std::vector<ge::Format> formats_, each_format_;
    bool needs_value_ = false, any_strides_ = false;
};

/** An attribute: its kind is that of its default, or of the last call that gave one. */
class OpAttrDef
{
  public:
    enum Kind { INT, FLOAT, BOOL, TEXT, INTS, FLOATS, BOOLS, OTHER };

    explicit OpAttrDef(const char *name) : name_(name)
    {
    }
    OpAttrDef &AttrType(Option option)
    {
        option_ = option;
        return *this;
    }
    OpAttrDef &Int(int64_t = 0)
    {
        return be(INT);
    }
    OpAttrDef &Float(float = 0)
    {
        return be(FLOAT);
    }
    OpAttrDef &Bool(bool = false)
    {
        return be(BOOL);
    }
    OpAttrDef &String(const char * = "")
    {
        return be(TEXT);
    }
    OpAttrDef &ListInt(std::vector<int64_t> = {})
    {
        return be(INTS);
    }
    OpAttrDef &ListFloat(std::vector<float> = {})
    {
        return be(FLOATS);
    }
    OpAttrDef &ListBool(std::vector<bool> = {})
    {
        return be(BOOLS);
    }
    OpAttrDef &ListListInt(std::vector<std::vector<int64_t>> = {})
    {
        return be(OTHER);
    }
    OpAttrDef &Version(uint32_t)
    {
        return *this;
    }

    const std::string &name() const
    {
        return name_;
    }
    Kind kind() const
    {
        return kind_;
    }

  private:
    OpAttrDef &be(Kind kind)
    {
        kind_ = kind;
        return *this;
    }
    std::string name_;
    Option option_ = REQUIRED;
    Kind kind_ = INT;
};

/** Parameters in the order of their first mention; a deque, for the references that are given out.
 */
using LeoParams = std::deque<OpParamDef>;
inline OpParamDef &leo_param(LeoParams &all, const char *name)
{
    for (OpParamDef &param : all) {
        if (param.name() == name) {
            return param;
        }
    }
    all.emplace_back(name);
    return all.back();
}

/** What is different on one family of chips: parameters given here replace those of the operator.
 */
class OpAICoreConfig
{
  public:
    OpAICoreConfig() = default;
    explicit OpAICoreConfig(const char *)
    {
    }
    OpParamDef &Input(const char *name)
    {
        return leo_param(inputs, name);
    }
    OpParamDef &Output(const char *name)
    {
        return leo_param(outputs, name);
    }
    OpAICoreConfig &DynamicCompileStaticFlag(bool)
    {
        return *this;
    }
    OpAICoreConfig &DynamicFormatFlag(bool)
    {
        return *this;
    }
    OpAICoreConfig &DynamicRankSupportFlag(bool)
    {
        return *this;
    }
    OpAICoreConfig &DynamicShapeSupportFlag(bool)
    {
        return *this;
    }
    OpAICoreConfig &NeedCheckSupportFlag(bool)
    {
        return *this;
    }
    OpAICoreConfig &PrecisionReduceFlag(bool)
    {
        return *this;
    }
    OpAICoreConfig &ExtendCfgInfo(const char *key, const char *value)
    {
        extended[key] = value;
        return *this;
    }

    LeoParams inputs, outputs;
    std::map<std::string, std::string> extended;
};

class OpAICoreDef
{
  public:
    OpAICoreDef &SetTiling(gert::LeoTilingFunc function)
    {
        tiling = function;
        return *this;
    }
    OpAICoreDef &AddConfig(const char *soc)
    {
        configs[soc];
        return *this;
    }
    OpAICoreDef &AddConfig(const char *soc, const OpAICoreConfig &config)
    {
        configs[soc] = config;
        return *this;
    }
    template <typename T> OpAICoreDef &SetCheckSupport(T)
    {
        return *this;
    }
    template <typename T> OpAICoreDef &SetOpSelectFormat(T)
    {
        return *this;
    }
    template <typename T> OpAICoreDef &SetGeneralize(T)
    {
        return *this;
    }

    gert::LeoTilingFunc tiling = nullptr;
    std::map<std::string, OpAICoreConfig> configs;
};

class OpMC2Def
{
  public:
    OpMC2Def &HcclGroup(const char *name)
    {
        groups.push_back(name);
        return *this;
    }
    OpMC2Def &HcclGroup(std::vector<const char *> names)
    {
        groups.insert(groups.end(), names.begin(), names.end());
        return *this;
    }
    OpMC2Def &HcclServerType(enum HcclServerType, const char * = nullptr)
    {
        return *this;
    }
    std::vector<std::string> groups;
};

class OpDef
{
  public:
    explicit OpDef(const char *type) : type_(type)
    {
    }
    OpParamDef &Input(const char *name)
    {
        return leo_param(inputs_, name);
    }
    OpParamDef &Output(const char *name)
    {
        return leo_param(outputs_, name);
    }
    OpAttrDef &Attr(const char *name)
    {
        for (OpAttrDef &attr : attrs_) {
            if (attr.name() == name) {
                return attr;
            }
        }
        attrs_.emplace_back(name);
        return attrs_.back();
    }
    OpDef &Comment(const char *)
    {
        return *this;
    }
    OpDef &SetInferShape(gert::LeoInferShapeFunc)
    {
        return *this;
    }
    OpDef &SetInferDataType(gert::LeoInferTypeFunc)
    {
        return *this;
    }
    template <typename T> OpDef &SetInferShapeRange(T)
    {
        return *this;
    }
    OpDef &EnableFallBack()
    {
        return *this;
    }
    OpAICoreDef &AICore()
    {
        return aicore_;
    }
    OpMC2Def &MC2()
    {
        return mc2_;
    }

    const std::string &type() const
    {
        return type_;
    }
    const LeoParams &inputs() const
    {
        return inputs_;
    }
    const LeoParams &outputs() const
    {
        return outputs_;
    }
    const std::deque<OpAttrDef> &attrs() const
    {
        return attrs_;
    }
    const OpMC2Def &mc2() const
    {
        return mc2_;
    }

  private:
    std::string type_;
    LeoParams inputs_, outputs_;
    std::deque<OpAttrDef> attrs_;
    OpAICoreDef aicore_;
    OpMC2Def mc2_;
};

} // namespace ops
