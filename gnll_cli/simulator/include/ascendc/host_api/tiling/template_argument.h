// ASCENDC_TPL_*: template arguments of a kernel and the tiling key that stands for a choice of them.
//
// A package's header of this kind is included by its tiling function and by its kernel. The host registers what it
// declares, so that the builder can instantiate the kernel; a kernel is compiled with ASCENDC_TPL_KERNEL and needs
// nothing of it.
#pragma once

#include <cstdint>

// Kernel types.
#define ASCENDC_TPL_AIV_ONLY 0
#define ASCENDC_TPL_AIC_ONLY 1
#define ASCENDC_TPL_MIX_AIV_1_0 4
#define ASCENDC_TPL_MIX_AIC_1_0 5
#define ASCENDC_TPL_MIX_AIC_1_1 6
#define ASCENDC_TPL_MIX_AIC_1_2 7

// Bits of the key.
#define ASCENDC_TPL_1_BW 1
#define ASCENDC_TPL_2_BW 2
#define ASCENDC_TPL_4_BW 4
#define ASCENDC_TPL_8_BW 8

// How the numbers of a UINT are written: ranges (their count, then first and last of each), a list, or ranges and then
// a list.
#define ASCENDC_TPL_UI_RANGE 0
#define ASCENDC_TPL_UI_LIST 1
#define ASCENDC_TPL_UI_MIX 2

#ifdef ASCENDC_TPL_KERNEL

#define ASCENDC_TPL_ARGS_DECL(...)
#define ASCENDC_TPL_SEL(...)

#else

#include <string>
#include <vector>

namespace gnll {

struct TemplateParameter {
    enum class Kind : uint8_t { DTYPE, FORMAT, UINT, BOOL, KERNEL_TYPE, DETERMINISTIC, TILING_STRUCT };
    const char *name;
    Kind kind;
    uint8_t bits;
    std::vector<uint64_t> values; // of a UINT: as they are written, with ranges expanded
    const char *text = "";        // of a TILING_STRUCT
};
using TemplateParameters = std::vector<TemplateParameter>;

constexpr uint64_t INVALID_TILING_KEY = ~0ULL;

TemplateParameter UintParameter(const char *name, uint8_t bits, const std::vector<uint64_t> &written);
// `owner` is an address in the library that registers; selections belong to what it declared last.
void AddTemplate(const char *name, const TemplateParameters &declared, const void *owner);
void AddTemplateSelections(const std::vector<TemplateParameters> &selections, const void *owner);
// The key of a choice of values, in the order of the declaration: parameter by parameter from the lowest bit, a UINT by
// its position in the declaration, the others by value. INVALID_TILING_KEY, and an error in the log, for a choice that
// was not declared or that no selection has, since the device has no kernel for it.
uint64_t TemplateKey(const TemplateParameters &declared, const std::vector<TemplateParameters> &selections,
                     const std::vector<uint64_t> &values);

struct TemplateRegister {
    TemplateRegister(const char *name, const TemplateParameters &declared) { AddTemplate(name, declared, this); }
    explicit TemplateRegister(const std::vector<TemplateParameters> &selections)
    {
        AddTemplateSelections(selections, this);
    }
};

template <typename... Values> std::vector<uint64_t> TemplateValues(Values... values)
{
    return {static_cast<uint64_t>(values)...};
}

} // namespace gnll

#define GNLL_TPL(name, kind, bits, ...)                                                                          \
    ::gnll::TemplateParameter                                                                                    \
    {                                                                                                            \
        name, ::gnll::TemplateParameter::Kind::kind, bits, { __VA_ARGS__ }                                       \
    }
#define GNLL_TPL_UINT(name, bits, ...) ::gnll::UintParameter(name, bits, {__VA_ARGS__})

#define ASCENDC_TPL_DTYPE_DECL(x, ...) GNLL_TPL(#x, DTYPE, 8, __VA_ARGS__)
#define ASCENDC_TPL_DATATYPE_DECL(x, ...) GNLL_TPL(#x, DTYPE, 8, __VA_ARGS__)
#define ASCENDC_TPL_FORMAT_DECL(x, ...) GNLL_TPL(#x, FORMAT, 8, __VA_ARGS__)
#define ASCENDC_TPL_UINT_DECL(x, bits, ...) GNLL_TPL_UINT(#x, bits, __VA_ARGS__)
#define ASCENDC_TPL_BOOL_DECL(x, ...) GNLL_TPL(#x, BOOL, 1, __VA_ARGS__)
#define ASCENDC_TPL_ARGS_DECL(x, ...)                                              \
    static const ::gnll::TemplateParameters gnll_template_declared{__VA_ARGS__};   \
    [[maybe_unused]] static const ::gnll::TemplateRegister gnll_template_register( \
        #x, gnll_template_declared)

#define ASCENDC_TPL_DTYPE_SEL(x, ...) GNLL_TPL(#x, DTYPE, 8, __VA_ARGS__)
#define ASCENDC_TPL_DATATYPE_SEL(x, ...) GNLL_TPL(#x, DTYPE, 8, __VA_ARGS__)
#define ASCENDC_TPL_FORMAT_SEL(x, ...) GNLL_TPL(#x, FORMAT, 8, __VA_ARGS__)
#define ASCENDC_TPL_UINT_SEL(x, ...) GNLL_TPL_UINT(#x, 0, __VA_ARGS__)
#define ASCENDC_TPL_BOOL_SEL(x, ...) GNLL_TPL(#x, BOOL, 1, __VA_ARGS__)
#define ASCENDC_TPL_KERNEL_TYPE_SEL(...) GNLL_TPL("", KERNEL_TYPE, 0, __VA_ARGS__)
#define ASCENDC_TPL_DETERMINISTIC_SEL(...) GNLL_TPL("", DETERMINISTIC, 0, __VA_ARGS__)
#define ASCENDC_TPL_TILING_STRUCT_SEL(x)                                                       \
    ::gnll::TemplateParameter                                                                  \
    {                                                                                          \
        "", ::gnll::TemplateParameter::Kind::TILING_STRUCT, 0, {}, #x                          \
    }
#define ASCENDC_TPL_ARGS_SEL(...) \
    ::gnll::TemplateParameters { __VA_ARGS__ }
#define ASCENDC_TPL_SEL(...)                                                                   \
    static const std::vector<::gnll::TemplateParameters> gnll_template_selected{__VA_ARGS__};  \
    [[maybe_unused]] static const ::gnll::TemplateRegister gnll_template_select_register(      \
        gnll_template_selected)

#define GET_TPL_TILING_KEY(...) \
    ::gnll::TemplateKey(gnll_template_declared, gnll_template_selected, ::gnll::TemplateValues(__VA_ARGS__))
#define ASCENDC_TPL_SEL_PARAM(context, ...) (context)->SetTilingKey(GET_TPL_TILING_KEY(__VA_ARGS__))

#endif
