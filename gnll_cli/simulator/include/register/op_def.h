// ops::OpDef: the prototype of an operator, and OP_ADD, which registers it.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "gnll/host.h"
#include "graph/types.h"

namespace ops {

enum Option { IGNORE = 0, OPTIONAL = 1, REQUIRED = 2, DYNAMIC = 3, VIRTUAL = 4 };
enum class FollowType { ALL, DTYPE, FORMAT, SHAPE, INVALID_TYPE };
enum class DependScope { ALL, TILING, INVALID_SCOPE };

// An input or output.
class OpParamDef {
public:
    explicit OpParamDef(const char *name) { parameter_.name = name; }

    // DYNAMIC takes a list of tensors.
    OpParamDef &ParamType(Option option)
    {
        parameter_.presence = option == OPTIONAL  ? ::gnll::Presence::OPTIONAL
                              : option == DYNAMIC ? ::gnll::Presence::DYNAMIC
                                                  : ::gnll::Presence::REQUIRED;
        known_ = option == OPTIONAL || option == DYNAMIC || option == REQUIRED;
        return *this;
    }
    // One entry per dtype column.
    OpParamDef &DataType(std::vector<ge::DataType> types)
    {
        parameter_.types = types;
        return *this;
    }
    OpParamDef &Format(std::vector<ge::Format> formats)
    {
        parameter_.formats = formats;
        return *this;
    }
    // Formats while the shape is not known; a tensor of the ACLNN interface always has a shape.
    OpParamDef &UnknownShapeFormat(std::vector<ge::Format>) { return *this; }
    OpParamDef &AutoContiguous()
    {
        parameter_.autoContiguous = true;
        return *this;
    }
    OpParamDef &IgnoreContiguous()
    {
        parameter_.ignoreContiguous = true;
        return *this;
    }
    // The tiling looks at the values of this input.
    OpParamDef &ValueDepend(Option)
    {
        parameter_.hostValue = true;
        return *this;
    }
    OpParamDef &ValueDepend(Option option, DependScope) { return ValueDepend(option); }
    // Data types (and formats) as those of the parameter with this name.
    OpParamDef &Follow(const char *name)
    {
        follow_ = name;
        return *this;
    }
    OpParamDef &Follow(const char *name, FollowType type)
    {
        if (type == FollowType::ALL || type == FollowType::DTYPE) {
            follow_ = name;
        }
        return *this;
    }

private:
    friend class OpDef;
    ::gnll::Parameter parameter_;
    std::string follow_;
    bool known_ = true;
};

class OpAttrDef {
public:
    explicit OpAttrDef(const char *name) { attribute_.name = name; }

    OpAttrDef &AttrType(Option option)
    {
        attribute_.required = option == REQUIRED;
        return *this;
    }
    OpAttrDef &Bool() { return Type(::gnll::AttributeType::BOOL); }
    OpAttrDef &Bool(bool value)
    {
        attribute_.value.integer = value ? 1 : 0;
        return Default(::gnll::AttributeType::BOOL);
    }
    OpAttrDef &Float() { return Type(::gnll::AttributeType::FLOAT); }
    OpAttrDef &Float(float value)
    {
        attribute_.value.real = value;
        return Default(::gnll::AttributeType::FLOAT);
    }
    OpAttrDef &Int() { return Type(::gnll::AttributeType::INT); }
    OpAttrDef &Int(int64_t value)
    {
        attribute_.value.integer = value;
        return Default(::gnll::AttributeType::INT);
    }
    OpAttrDef &String() { return Type(::gnll::AttributeType::STRING); }
    OpAttrDef &String(const char *value)
    {
        attribute_.value.text = value;
        return Default(::gnll::AttributeType::STRING);
    }
    OpAttrDef &ListBool() { return Type(::gnll::AttributeType::LIST_BOOL); }
    OpAttrDef &ListBool(std::vector<bool> value)
    {
        attribute_.value.integers.assign(value.begin(), value.end());
        return Default(::gnll::AttributeType::LIST_BOOL);
    }
    OpAttrDef &ListInt() { return Type(::gnll::AttributeType::LIST_INT); }
    OpAttrDef &ListInt(std::vector<int64_t> value)
    {
        attribute_.value.integers = value;
        return Default(::gnll::AttributeType::LIST_INT);
    }
    OpAttrDef &ListFloat() { return Type(::gnll::AttributeType::LIST_FLOAT); }
    OpAttrDef &ListFloat(std::vector<float> value)
    {
        attribute_.value.reals.assign(value.begin(), value.end());
        return Default(::gnll::AttributeType::LIST_FLOAT);
    }

private:
    friend class OpDef;
    OpAttrDef &Type(::gnll::AttributeType type)
    {
        attribute_.value.type = type;
        return *this;
    }
    OpAttrDef &Default(::gnll::AttributeType type)
    {
        attribute_.hasDefault = true;
        return Type(type);
    }

    ::gnll::Attribute attribute_;
};

// What a SoC has of its own: inputs and outputs that replace those of the operator, and settings of the toolkit's
// compiler.
class OpAICoreConfig {
public:
    OpAICoreConfig() = default;
    explicit OpAICoreConfig(const char *) {}
    OpParamDef &Input(const char *name) { return inputs_.emplace_back(name); }
    OpParamDef &Output(const char *name) { return outputs_.emplace_back(name); }

    // How the toolkit compiles for known and unknown shapes. One kernel serves both here.
    OpAICoreConfig &DynamicCompileStaticFlag(bool) { return *this; }
    OpAICoreConfig &DynamicFormatFlag(bool) { return *this; }
    OpAICoreConfig &DynamicRankSupportFlag(bool) { return *this; }
    OpAICoreConfig &DynamicShapeSupportFlag(bool) { return *this; }
    OpAICoreConfig &NeedCheckSupportFlag(bool) { return *this; }
    OpAICoreConfig &PrecisionReduceFlag(bool) { return *this; }
    // "opFile.value" names the kernel's source file.
    OpAICoreConfig &ExtendCfgInfo(const char *key, const char *value)
    {
        values_[key] = value;
        return *this;
    }

private:
    friend class OpDef;
    std::deque<OpParamDef> inputs_;
    std::deque<OpParamDef> outputs_;
    std::map<std::string, std::string> values_;
};

class OpAICoreDef {
public:
    OpAICoreDef &AddConfig(const char *soc)
    {
        configurations_.emplace_back(soc, OpAICoreConfig());
        return *this;
    }
    OpAICoreDef &AddConfig(const char *soc, OpAICoreConfig &configuration)
    {
        configurations_.emplace_back(soc, configuration);
        return *this;
    }
    OpAICoreDef &SetTiling(::gnll::TilingFunction function)
    {
        tiling_ = function;
        return *this;
    }

private:
    friend class OpDef;
    std::vector<std::pair<std::string, OpAICoreConfig>> configurations_;
    ::gnll::TilingFunction tiling_ = nullptr;
};

class OpDef {
public:
    explicit OpDef(const char *type) : type_(type) {}
    virtual ~OpDef() = default;

    OpParamDef &Input(const char *name) { return Find(inputs_, name); }
    OpParamDef &Output(const char *name) { return Find(outputs_, name); }
    OpAttrDef &Attr(const char *name)
    {
        for (auto &attribute : attributes_) {
            if (attribute.attribute_.name == name) {
                return attribute;
            }
        }
        return attributes_.emplace_back(name);
    }
    OpAICoreDef &AICore() { return core_; }
    OpDef &SetInferShape(::gnll::InferShapeFunction function)
    {
        inferShape_ = function;
        return *this;
    }
    OpDef &SetInferDataType(::gnll::InferDataTypeFunction function)
    {
        inferDataType_ = function;
        return *this;
    }

    // Registers the prototype with the runtime. `file` holds the OP_ADD; `owner` is an address in its library.
    void Register(const char *file, const void *owner) const;

private:
    static OpParamDef &Find(std::deque<OpParamDef> &parameters, const char *name)
    {
        for (auto &parameter : parameters) {
            if (parameter.parameter_.name == name) {
                return parameter;
            }
        }
        return parameters.emplace_back(name);
    }

    std::string type_;
    std::deque<OpParamDef> inputs_;
    std::deque<OpParamDef> outputs_;
    std::deque<OpAttrDef> attributes_;
    OpAICoreDef core_;
    ::gnll::InferShapeFunction inferShape_ = nullptr;
    ::gnll::InferDataTypeFunction inferDataType_ = nullptr;
};

} // namespace ops
