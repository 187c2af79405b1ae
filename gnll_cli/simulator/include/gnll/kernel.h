// What a kernel file itself uses: function qualifiers, block numbers, tiling data, keys, work space, prints and
// assertions.
#pragma once

#include <cstdint>
#include <cstdio>
#include <type_traits>

#include "gnll/core.h"

#define __aicore__
#define __global__
#define __gm__
#define __ubuf__
#define GM_ADDR uint8_t *

namespace gnll {

// Copies `bytes` of the tiling data of this launch; reading more than the tiling function wrote is reported.
void ReadTiling(void *destination, const void *tiling, uint64_t bytes, Where where);
uint64_t TilingKey();
// Stops the block that runs now after reporting it.
[[noreturn]] void StopBlock(const char *kind, const char *instruction, const char *message, Where where);

}  // namespace gnll

namespace AscendC {

int64_t GetBlockIdx();
int64_t GetBlockNum();
constexpr int64_t GetSubBlockIdx()
{
    return 0;
}
constexpr int64_t GetTaskRation()
{
    return 1;
}

// The package's part of the work space, behind the 16 MiB that the library keeps to itself.
inline uint8_t *GetUserWorkspace(uint8_t *workspace)
{
    return workspace == nullptr ? nullptr : workspace + 16 * 1024 * 1024;
}
// Tells the library where its own part is; nothing simulated uses it.
inline void SetSysWorkspace(uint8_t *) {}

// Bytes of the unit of the unified buffer.
constexpr uint32_t GetDataBlockSizeInBytes()
{
    return 32;
}

namespace Std {
template <typename T, typename U> constexpr T min(const T &left, const U &right)
{
    return right < left ? static_cast<T>(right) : left;
}
template <typename T, typename U> constexpr T max(const T &left, const U &right)
{
    return left < right ? static_cast<T>(right) : left;
}
}  // namespace Std

template <typename T, typename U> struct IsSameType : std::is_same<T, U> {
};
template <typename T, typename... Others> constexpr bool SupportType()
{
    return (std::is_same_v<T, Others> || ...);
}

template <typename... Values> void printf(const char *format, Values... values)
{
    std::fprintf(stderr, format, values...);
}
template <typename... Values> void PRINTF(const char *format, Values... values)
{
    std::fprintf(stderr, format, values...);
}

inline void Trap(::gnll::Where where = GNLL_HERE)
{
    ::gnll::StopBlock("trap", "Trap", "the kernel stopped itself", where);
}

}  // namespace AscendC

// Tiling data as the tiling function wrote them, copied into a variable of the type.
#define GET_TILING_DATA_WITH_STRUCT(type, name, tiling) \
    type name;                                          \
    ::gnll::ReadTiling(&name, tiling, sizeof(type), GNLL_HERE)
// The type of a kernel that names none is the one of REGISTER_TILING_DEFAULT, or the builder's GnllTilingDefault.
#define REGISTER_TILING_DEFAULT(type) [[maybe_unused]] typedef type GnllTilingDefault
#define GET_TILING_DATA(name, tiling) GET_TILING_DATA_WITH_STRUCT(GnllTilingDefault, name, tiling)
#define GET_TILING_DATA_MEMBER(type, member, name, tiling)                             \
    decltype(type::member) name;                                                       \
    do {                                                                               \
        type gnllWhole;                                                                \
        ::gnll::ReadTiling(&gnllWhole, tiling, sizeof(type), GNLL_HERE);               \
        name = gnllWhole.member;                                                       \
    } while (false)

#define TILING_KEY_IS(key) (::gnll::TilingKey() == static_cast<uint64_t>(key))

// Only kernels on vector cores alone are simulated.
enum KernelMetaType { KERNEL_TYPE_AIV_ONLY, KERNEL_TYPE_AIC_ONLY, KERNEL_TYPE_MIX_AIV_1_0, KERNEL_TYPE_MIX_AIC_1_0,
                      KERNEL_TYPE_MIX_AIC_1_1, KERNEL_TYPE_MIX_AIC_1_2 };
#define KERNEL_TASK_TYPE_DEFAULT(type)                                                    \
    static_assert((type) == KERNEL_TYPE_AIV_ONLY || (type) == KERNEL_TYPE_MIX_AIV_1_0,    \
                  #type " is not simulated: only kernels on vector cores are")
#define KERNEL_TASK_TYPE(key, type) KERNEL_TASK_TYPE_DEFAULT(type)

#ifndef ASSERT
#define ASSERT(condition)                                                                        \
    do {                                                                                         \
        if (!(condition)) {                                                                      \
            ::gnll::StopBlock("assertion", "ASSERT", "failed: " #condition, GNLL_HERE);          \
        }                                                                                        \
    } while (false)
#endif
