// Order between the pipes of a core and between cores: barriers, flags, SyncAll, and the atomic mode of stores.
#pragma once

#include <cstdint>

#include "gnll/core.h"
#include "gnll/tensor.h"

// Names the device compiler has without a header.
enum pipe_t { PIPE_S, PIPE_V, PIPE_MTE2, PIPE_MTE3, PIPE_M, PIPE_MTE1, PIPE_FIX, PIPE_ALL };
enum event_t { EVENT_ID0, EVENT_ID1, EVENT_ID2, EVENT_ID3, EVENT_ID4, EVENT_ID5, EVENT_ID6, EVENT_ID7 };

namespace gnll {

void Barrier(Pipe pipe, Where where);
void FlagSet(Pipe from, Pipe to, int32_t id, Where where);
void FlagWait(Pipe from, Pipe to, int32_t id, Where where);
// Waits until every block of the launch is here, with all pipes of each done.
void SyncBlocks(Where where);
void CacheFlush(const void *address, uint64_t bytes, bool entire, Where where);

enum class Atomic : uint8_t { NONE, ADD, MAX, MIN };
struct AtomicMode {
    Atomic operation;
    const void *type;
};
// The mode of UB to GM moves of the core that runs now, and the id of the element type it was set for.
AtomicMode &CurrentAtomic();
template <typename T> const void *TypeId()
{
    static const char id = 0;
    return &id;
}

constexpr Pipe ToGnll(pipe_t pipe)
{
    return static_cast<Pipe>(static_cast<uint8_t>(pipe));
}

}  // namespace gnll

namespace AscendC {

using TEventID = int8_t;

// Events of a vector core, named from_to. The cube core's events are not simulated.
enum class HardEvent : uint8_t {
    MTE2_V,
    V_MTE2,
    MTE3_V,
    V_MTE3,
    V_V,
    MTE3_MTE2,
    MTE2_MTE3,
    S_V,
    V_S,
    S_MTE2,
    MTE2_S,
    S_MTE3,
    MTE3_S,
    MAX
};

constexpr ::gnll::Pipe FromPipe(HardEvent event)
{
    switch (event) {
        case HardEvent::MTE2_V:
        case HardEvent::MTE2_MTE3:
        case HardEvent::MTE2_S:
            return ::gnll::Pipe::MTE2;
        case HardEvent::MTE3_V:
        case HardEvent::MTE3_MTE2:
        case HardEvent::MTE3_S:
            return ::gnll::Pipe::MTE3;
        case HardEvent::S_V:
        case HardEvent::S_MTE2:
        case HardEvent::S_MTE3:
            return ::gnll::Pipe::S;
        default:
            return ::gnll::Pipe::V;
    }
}

constexpr ::gnll::Pipe ToPipe(HardEvent event)
{
    switch (event) {
        case HardEvent::V_MTE2:
        case HardEvent::MTE3_MTE2:
        case HardEvent::S_MTE2:
            return ::gnll::Pipe::MTE2;
        case HardEvent::V_MTE3:
        case HardEvent::MTE2_MTE3:
        case HardEvent::S_MTE3:
            return ::gnll::Pipe::MTE3;
        case HardEvent::V_S:
        case HardEvent::MTE2_S:
        case HardEvent::MTE3_S:
            return ::gnll::Pipe::S;
        default:
            return ::gnll::Pipe::V;
    }
}

template <pipe_t pipe> void PipeBarrier(::gnll::Where where = GNLL_HERE)
{
    static_assert(pipe == PIPE_V || pipe == PIPE_MTE2 || pipe == PIPE_MTE3 || pipe == PIPE_ALL,
                  "PipeBarrier takes PIPE_V, PIPE_MTE2, PIPE_MTE3 or PIPE_ALL on a vector core");
    ::gnll::Barrier(::gnll::ToGnll(pipe), where);
}

template <HardEvent event> void SetFlag(int32_t id, ::gnll::Where where = GNLL_HERE)
{
    ::gnll::FlagSet(FromPipe(event), ToPipe(event), id, where);
}
template <HardEvent event> void WaitFlag(int32_t id, ::gnll::Where where = GNLL_HERE)
{
    ::gnll::FlagWait(FromPipe(event), ToPipe(event), id, where);
}

template <bool isAIVOnly = true> void SyncAll(::gnll::Where where = GNLL_HERE)
{
    static_assert(isAIVOnly, "SyncAll of vector and cube cores together is not simulated");
    ::gnll::SyncBlocks(where);
}
// The form with work spaces; it waits for all blocks of the launch.
template <bool isAIVOnly = true>
void SyncAll(const GlobalTensor<int32_t> &workspace, const LocalTensor<int32_t> &local, ::gnll::Where where = GNLL_HERE)
{
    static_assert(isAIVOnly, "SyncAll of vector and cube cores together is not simulated");
    (void)workspace;
    (void)local;
    ::gnll::SyncBlocks(where);
}

// From here on UB to GM moves of this core add to what global memory holds.
template <typename T> void SetAtomicAdd()
{
    ::gnll::CurrentAtomic() = {::gnll::Atomic::ADD, ::gnll::TypeId<T>()};
}
template <typename T> void SetAtomicMax()
{
    ::gnll::CurrentAtomic() = {::gnll::Atomic::MAX, ::gnll::TypeId<T>()};
}
template <typename T> void SetAtomicMin()
{
    ::gnll::CurrentAtomic() = {::gnll::Atomic::MIN, ::gnll::TypeId<T>()};
}
inline void SetAtomicNone()
{
    ::gnll::CurrentAtomic() = {::gnll::Atomic::NONE, nullptr};
}

enum class CacheLine : uint64_t { SINGLE_CACHE_LINE, ENTIRE_DATA_CACHE };
enum class DcciDst : uint64_t { CACHELINE_ALL, CACHELINE_UB, CACHELINE_OUT, CACHELINE_ATOMIC };

// Writes the 64-byte line at the tensor's start (or all lines) of the scalar unit's data cache back to global memory.
template <typename T, CacheLine entire, DcciDst destination = DcciDst::CACHELINE_OUT>
void DataCacheCleanAndInvalid(const GlobalTensor<T> &tensor, ::gnll::Where where = GNLL_HERE)
{
    ::gnll::CacheFlush(tensor.Data(), 64, entire == CacheLine::ENTIRE_DATA_CACHE, where);
}

}  // namespace AscendC

inline void pipe_barrier(pipe_t pipe, ::gnll::Where where = GNLL_HERE)
{
    ::gnll::Barrier(::gnll::ToGnll(pipe), where);
}
inline void set_flag(pipe_t from, pipe_t to, int32_t id, ::gnll::Where where = GNLL_HERE)
{
    ::gnll::FlagSet(::gnll::ToGnll(from), ::gnll::ToGnll(to), id, where);
}
inline void wait_flag(pipe_t from, pipe_t to, int32_t id, ::gnll::Where where = GNLL_HERE)
{
    ::gnll::FlagWait(::gnll::ToGnll(from), ::gnll::ToGnll(to), id, where);
}
