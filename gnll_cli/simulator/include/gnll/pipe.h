// TPipe, TBuf, TQue and TQueBind: the buffers of the unified buffer and the queues that order the pipes over them.
#pragma once

#include <cstdint>

#include "gnll/core.h"
#include "gnll/sync.h"
#include "gnll/tensor.h"

namespace gnll {

// A buffer of the core that runs now. `data` null: there is no such buffer.
struct BufferView {
    uint8_t *data;
    uint32_t bytes;
    int32_t id;
};

// The runtime's side of TPipe, TBuf and TQue; ids belong to the core that runs now.
void PipeReset(Where where);
void PipeEnd(Where where);
int32_t BufferCreate(uint32_t bytes, Where where);
BufferView BufferGet(int32_t buffer);
// Pipes that fill (`from`) and drain (`to`) the buffers of a queue; `depth` 0: as many as there are buffers.
int32_t QueueCreate(uint32_t buffers, uint32_t bytes, Pipe from, Pipe to, int32_t depth, Where where);
BufferView QueueAlloc(int32_t queue, Where where);
bool QueuePush(int32_t queue, int32_t buffer, Where where);
BufferView QueuePop(int32_t queue, Where where);
void QueueRelease(int32_t queue, int32_t buffer, Where where);
int32_t QueueCount(int32_t queue);
bool QueueHasIdle(int32_t queue);
bool QueueHasRoom(int32_t queue);
// Event ids 0 to 7 of a pair of pipes: the lowest that is not allocated (-1: none left).
int8_t EventFetch(Pipe from, Pipe to, bool allocate, Where where);
void EventRelease(Pipe from, Pipe to, int8_t id, Where where);

}  // namespace gnll

namespace AscendC {

class TPipe;

template <TPosition position> constexpr bool IsUnifiedBuffer()
{
    return position == TPosition::VECIN || position == TPosition::VECOUT || position == TPosition::VECCALC;
}

// `source` and `destination` name where the data of the queue's buffers come from and go to.
template <TPosition source, TPosition destination, int32_t depth, auto mask = 0> class TQueBind {
    static_assert(source == TPosition::GM || IsUnifiedBuffer<source>(), "queues of the cube core are not simulated");
    static_assert(destination == TPosition::GM || IsUnifiedBuffer<destination>(),
                  "queues of the cube core are not simulated");
    static_assert(mask == 0, "TQue with an ND2NZ or NZ2ND mask is not simulated");

public:
    template <typename T> LocalTensor<T> AllocTensor(::gnll::Where where = GNLL_HERE)
    {
        return View<T>(::gnll::QueueAlloc(queue_, where));
    }
    template <typename T> void AllocTensor(LocalTensor<T> &tensor, ::gnll::Where where = GNLL_HERE)
    {
        tensor = AllocTensor<T>(where);
    }
    template <typename T> void FreeTensor(const LocalTensor<T> &tensor, ::gnll::Where where = GNLL_HERE)
    {
        ::gnll::QueueRelease(queue_, tensor.Buffer(), where);
    }
    template <typename T> bool EnQue(const LocalTensor<T> &tensor, ::gnll::Where where = GNLL_HERE)
    {
        return ::gnll::QueuePush(queue_, tensor.Buffer(), where);
    }
    template <typename T> LocalTensor<T> DeQue(::gnll::Where where = GNLL_HERE)
    {
        return View<T>(::gnll::QueuePop(queue_, where));
    }
    template <typename T> void DeQue(LocalTensor<T> &tensor, ::gnll::Where where = GNLL_HERE)
    {
        tensor = DeQue<T>(where);
    }
    bool VacantInQue() { return ::gnll::QueueHasRoom(queue_); }
    bool HasTensorInQue() { return ::gnll::QueueCount(queue_) > 0; }
    int32_t GetTensorCountInQue() { return ::gnll::QueueCount(queue_); }
    bool HasIdleBuffer() { return ::gnll::QueueHasIdle(queue_); }

private:
    friend class TPipe;

    static constexpr TPosition Position() { return destination == TPosition::GM ? source : destination; }
    static constexpr ::gnll::Pipe From()
    {
        if (source == TPosition::GM) {
            return ::gnll::Pipe::MTE2;
        }
        if (destination == TPosition::GM || source == TPosition::VECCALC) {
            return ::gnll::Pipe::V;
        }
        return ::gnll::Pipe::MTE2;
    }
    static constexpr ::gnll::Pipe To()
    {
        if (source == TPosition::GM || destination == TPosition::VECCALC) {
            return ::gnll::Pipe::V;
        }
        return ::gnll::Pipe::MTE3;
    }
    template <typename T> static LocalTensor<T> View(const ::gnll::BufferView &view)
    {
        return LocalTensor<T>(reinterpret_cast<T *>(view.data), static_cast<uint32_t>(view.bytes / sizeof(T)),
                              Position(), view.id);
    }

    int32_t queue_ = -1;
};

template <TPosition position> constexpr TPosition QueueSource()
{
    return position == TPosition::VECIN ? TPosition::GM : position;
}
template <TPosition position> constexpr TPosition QueueDestination()
{
    return position == TPosition::VECOUT ? TPosition::GM : position;
}

template <TPosition position, int32_t depth, auto mask = 0>
class TQue : public TQueBind<QueueSource<position>(), QueueDestination<position>(), depth, mask> {
};

// A buffer without a queue: only flags and barriers order the pipes over it.
template <TPosition position = TPosition::VECCALC> class TBuf {
    static_assert(IsUnifiedBuffer<position>(), "buffers of the cube core are not simulated");

public:
    template <typename T> LocalTensor<T> Get() const
    {
        const ::gnll::BufferView view = ::gnll::BufferGet(buffer_);
        return LocalTensor<T>(reinterpret_cast<T *>(view.data), static_cast<uint32_t>(view.bytes / sizeof(T)), position,
                              view.id);
    }
    // The first `count` elements.
    template <typename T> LocalTensor<T> Get(uint32_t count) const
    {
        const ::gnll::BufferView view = ::gnll::BufferGet(buffer_);
        return LocalTensor<T>(reinterpret_cast<T *>(view.data), count, position, view.id);
    }
    // The whole buffer; nothing waits, since a buffer without a queue has no events.
    template <typename T> LocalTensor<T> AllocTensor() const { return Get<T>(); }
    template <typename T> void FreeTensor(const LocalTensor<T> &) const {}
    // `count` elements from byte `offset` on.
    template <typename T> LocalTensor<T> GetWithOffset(uint32_t count, uint32_t offset) const
    {
        const ::gnll::BufferView view = ::gnll::BufferGet(buffer_);
        return LocalTensor<T>(reinterpret_cast<T *>(view.data + offset), count, position, view.id);
    }

private:
    friend class TPipe;

    int32_t buffer_ = -1;
};

// The memory of a core. One at a time; its end frees all buffers.
class TPipe {
public:
    explicit TPipe(::gnll::Where where = GNLL_HERE);
    ~TPipe();
    TPipe(const TPipe &) = delete;
    TPipe &operator=(const TPipe &) = delete;

    // `count` buffers of `bytes` each (rounded up to 32) for a queue. False: reported (unified buffer full, or over
    // 64).
    template <TPosition source, TPosition destination, int32_t depth, auto mask>
    bool InitBuffer(TQueBind<source, destination, depth, mask> &queue, uint8_t count, uint32_t bytes,
                    ::gnll::Where where = GNLL_HERE)
    {
        using Queue = TQueBind<source, destination, depth, mask>;
        queue.queue_ = ::gnll::QueueCreate(count, bytes, Queue::From(), Queue::To(), depth, where);
        return queue.queue_ >= 0;
    }
    template <TPosition position>
    bool InitBuffer(TBuf<position> &buffer, uint32_t bytes, ::gnll::Where where = GNLL_HERE)
    {
        buffer.buffer_ = ::gnll::BufferCreate(bytes, where);
        return buffer.buffer_ >= 0;
    }
    // Forgets all buffers, so that InitBuffer can divide the memory anew.
    void Reset(::gnll::Where where = GNLL_HERE) { ::gnll::PipeReset(where); }
    // Ends the use of the memory before the object's own end.
    void Destroy(::gnll::Where where = GNLL_HERE);

    TEventID FetchEventID(HardEvent event, ::gnll::Where where = GNLL_HERE)
    {
        return ::gnll::EventFetch(FromPipe(event), ToPipe(event), false, where);
    }
    template <HardEvent event> TEventID FetchEventID(::gnll::Where where = GNLL_HERE)
    {
        return FetchEventID(event, where);
    }
    template <HardEvent event> TEventID AllocEventID(::gnll::Where where = GNLL_HERE)
    {
        return ::gnll::EventFetch(FromPipe(event), ToPipe(event), true, where);
    }
    template <HardEvent event> void ReleaseEventID(TEventID id, ::gnll::Where where = GNLL_HERE)
    {
        ::gnll::EventRelease(FromPipe(event), ToPipe(event), id, where);
    }

private:
    bool ended_ = false;
    ::gnll::Where where_;
};

// The TPipe of the core that runs now (null: it has none).
TPipe *GetTPipePtr();

}  // namespace AscendC
