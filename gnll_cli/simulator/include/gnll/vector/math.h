// Mathematical functions of the high-level interface that are made of several instructions: Sign, Log.
#pragma once

#include "gnll/vector/common.h"
#include "gnll/vector/unary.h"

namespace gnll {

// `shared` is the caller's scratch buffer; it must have room for one piece of work and holds rubbish afterwards.
template <typename T>
inline void SignCount(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint8_t> *shared,
                      uint32_t count, Where where)
{
    if (count == 0) {
        return;
    }
    const T *from = src.Data();
    T *to = dst.Data();
    if (!Require(to + count <= from || from + count <= to, "Sign", "source and destination must not overlap", where)) {
        return;
    }
    Operands operands;
    operands.Add(dst.Writes(count));
    operands.Add(src.Reads(count));
    if (shared != nullptr) {
        // Two buffers of bits and two of elements, in pieces of 32 elements.
        const uint64_t pieces = shared->GetSize() / sizeof(T) / 3 / 32;
        if (!Require(pieces > 0, "Sign", "sharedTmpBuffer is too small: it needs 96 elements at least", where)) {
            return;
        }
        operands.Add(shared->Writes(shared->GetSize()));
    }
    if (operands.Begin("Sign", where)) {
        MapElements(UnaryElement<op::Sign>(), count, to, from);
    }
}

}  // namespace gnll

namespace AscendC {

template <typename T, bool isReuseSource = false>
inline void Sign(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor,
                 const LocalTensor<uint8_t> &sharedTmpBuffer, const uint32_t calCount,
                 ::gnll::Where where = GNLL_HERE)
{
    static_assert(::gnll::OneOf<T, half, float>, "Sign takes half and float");
    ::gnll::SignCount(dstTensor, srcTensor, &sharedTmpBuffer, calCount, where);
}

template <typename T, bool isReuseSource = false>
inline void Sign(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor,
                 const LocalTensor<uint8_t> &sharedTmpBuffer, ::gnll::Where where = GNLL_HERE)
{
    static_assert(::gnll::OneOf<T, half, float>, "Sign takes half and float");
    ::gnll::SignCount(dstTensor, srcTensor, &sharedTmpBuffer, srcTensor.GetSize(), where);
}

template <typename T, bool isReuseSource = false>
inline void Sign(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor, const uint32_t calCount,
                 ::gnll::Where where = GNLL_HERE)
{
    static_assert(::gnll::OneOf<T, half, float>, "Sign takes half and float");
    ::gnll::SignCount<T>(dstTensor, srcTensor, nullptr, calCount, where);
}

template <typename T, bool isReuseSource = false>
inline void Sign(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor, ::gnll::Where where = GNLL_HERE)
{
    static_assert(::gnll::OneOf<T, half, float>, "Sign takes half and float");
    ::gnll::SignCount<T>(dstTensor, srcTensor, nullptr, srcTensor.GetSize(), where);
}

template <typename T, bool isReuseSource = false>
inline void Log(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor, uint32_t calCount,
                ::gnll::Where where = GNLL_HERE)
{
    static_assert(::gnll::OneOf<T, half, float>, "Log takes half and float");
    ::gnll::UnaryCount<::gnll::op::Ln>("Log", dstTensor, srcTensor, calCount, where);
}

template <typename T, bool isReuseSource = false>
inline void Log(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor, ::gnll::Where where = GNLL_HERE)
{
    Log<T, isReuseSource>(dstTensor, srcTensor, srcTensor.GetSize(), where);
}

}  // namespace AscendC
