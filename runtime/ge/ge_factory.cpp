/* SPDX-License-Identifier: Apache-2.0 */
/* Operators by type: standard ones, and those that programs define with a creator. */
#include "ge_data.hpp"

#include <mutex>

namespace ge
{

// Made on first use: constructors of other libraries' static objects register before ours.
struct Creators {
    std::mutex lock;
    std::map<std::string, OperatorCreator> by_type;
};

static Creators &TheCreators()
{
    static Creators *creators = new Creators; // programs' destructors may still ask
    return *creators;
}

static OperatorCreator FindCreator(const std::string &type)
{
    Creators &creators = TheCreators();
    std::lock_guard<std::mutex> guard(creators.lock);
    auto at = creators.by_type.find(type);
    return at == creators.by_type.end() ? nullptr : at->second;
}

OperatorCreatorRegister::OperatorCreatorRegister(const std::string &type,
                                                 const OperatorCreator &creator)
{
    Creators &creators = TheCreators();
    std::lock_guard<std::mutex> guard(creators.lock);
    creators.by_type[type] = creator;
}

OperatorCreatorRegister::OperatorCreatorRegister(const char *type, const OperatorCreatorV2 &creator)
    : OperatorCreatorRegister(TextOf(type), [creator](const std::string &name) {
          return creator(AscendString(name.c_str()));
      })
{
}

/* Shapes are inferred by a graph engine only. */
InferShapeFuncRegister::InferShapeFuncRegister(const std::string &, const Operator::InferFunc &)
{
}
InferShapeFuncRegister::InferShapeFuncRegister(const char *, const Operator::InferFunc &)
{
}

Operator OperatorFactory::CreateOperator(const std::string &name, const std::string &type)
{
    OperatorCreator creator = FindCreator(type);
    return creator ? creator(name) : IsStandardType(type) ? Operator(name, type) : Operator();
}

Operator OperatorFactory::CreateOperator(const char *name, const char *type)
{
    return CreateOperator(TextOf(name), TextOf(type));
}

bool OperatorFactory::IsExistOp(const std::string &type)
{
    return IsStandardType(type) || FindCreator(type) != nullptr;
}

bool OperatorFactory::IsExistOp(const char *type)
{
    return type && IsExistOp(std::string(type));
}

StatusFactory *StatusFactory::Instance()
{
    static StatusFactory *factory = new StatusFactory;
    return factory;
}

} // namespace ge
