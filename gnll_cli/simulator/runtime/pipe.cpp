// TPipe, buffers, queues and event ids.
#include "gnll/pipe.h"

#include <algorithm>
#include <cstring>
#include <exception>

#include "gnll/kernel.h"
#include "internal.h"

namespace gnll {
namespace {

constexpr BufferView NO_BUFFER = {nullptr, 0, -1};

Queue *FindQueue(int32_t queue, const char *instruction, Where where)
{
    if (queue < 0 || static_cast<size_t>(queue) >= current->queues.size()) {
        StopBlock("queue_unready", instruction, "the queue was not given memory by TPipe::InitBuffer", where);
    }
    return &current->queues[static_cast<size_t>(queue)];
}

BufferView View(int32_t buffer)
{
    const Buffer &found = current->buffers[static_cast<size_t>(buffer)];
    return BufferView{current->ub + found.begin, found.bytes, buffer};
}

// The buffer if it belongs to the queue and is in one of two states; null: reported.
Buffer *Held(const Queue &queue, int32_t buffer, const char *instruction, Where where, Buffer::State one,
             Buffer::State other)
{
    const bool own = buffer >= queue.first && buffer < queue.first + static_cast<int32_t>(queue.count);
    Buffer *found = own ? &current->buffers[static_cast<size_t>(buffer)] : nullptr;
    if (found == nullptr) {
        Report("queue_foreign", true, instruction, where, Address{nullptr, 0, 0},
               std::string(instruction) + " of a tensor that this queue did not allocate");
        return nullptr;
    }
    if (found->state != one && found->state != other) {
        const char *state = found->state == Buffer::IDLE ? "was already freed" : "is waiting in the queue";
        Report("queue_state", true, instruction, where,
               Address{"UB", found->begin, static_cast<int64_t>(found->begin) + found->bytes},
               std::string(instruction) + " of a tensor that " + state);
        return nullptr;
    }
    return found;
}

// The time of everything a pipe has been given so far.
Clock Now(Pipe pipe)
{
    const int index = static_cast<int>(pipe);
    Clock clock = current->clocks[index];
    const uint32_t scalar = clock.at[0];
    clock.Join(current->clocks[0]);
    clock.at[0] = scalar;
    clock.at[index] = current->issued[index];
    return clock;
}

void CheckFreed(Where where)
{
    if (std::uncaught_exceptions() > 0) {
        return;  // the block was stopped in the middle: what it had not come to is no fault of its own
    }
    for (const Buffer &buffer : current->buffers) {
        if (buffer.queue >= 0 && buffer.state != Buffer::IDLE) {
            const char *missing = buffer.state == Buffer::QUEUED
                                      ? "is still in its queue: DeQue and FreeTensor are missing"
                                      : "was never freed: FreeTensor is missing";
            Report("tensor_not_freed", true, SiteInstruction(buffer.site), SiteWhere(buffer.site),
                   Address{"UB", buffer.begin, static_cast<int64_t>(buffer.begin) + buffer.bytes},
                   std::string("the tensor of ") + SiteText(buffer.site) + " " + missing +
                       " before the TPipe ends at " + where.file + ":" + std::to_string(where.line));
        }
    }
}

// At most 8 tensors of one position may be allocated at a time: each holds an event of the pipes it goes between.
void CheckAllocated(const Queue &queue, Where where)
{
    uint32_t allocated = 0;
    for (const Buffer &buffer : current->buffers) {
        if (buffer.queue >= 0 && buffer.state != Buffer::IDLE) {
            const Queue &other = current->queues[static_cast<size_t>(buffer.queue)];
            allocated += other.from == queue.from && other.to == queue.to ? 1 : 0;
        }
    }
    Require(allocated <= MAX_TENSORS, "AllocTensor", "more than 8 tensors of one position are allocated", where);
}

}  // namespace

void PipeReset(Where where)
{
    if (checksLevel != CHECKS_NONE) {
        FlushScalar(*current);
        CheckFreed(where);
        // Barrier of all pipes, as the library does before the memory is divided anew.
        Barrier(Pipe::ALL, where);
    }
    current->buffers.clear();
    current->queues.clear();
    current->used = 0;
    current->local.Start(0, false);
    current->tileQueue = -1;
}

void PipeEnd(Where where)
{
    PipeReset(where);
}

int32_t BufferCreate(uint32_t bytes, Where where)
{
    Core &core = *current;
    const uint64_t rounded = (static_cast<uint64_t>(bytes) + 31) / 32 * 32;
    if (checksLevel != CHECKS_NONE) {
        FlushScalar(core);
        if (bytes == 0) {
            LimitBroken("InitBuffer", "a buffer of 0 bytes", where);
        }
        if (core.buffers.size() == MAX_BUFFERS) {
            LimitBroken("InitBuffer", "more than 64 buffers", where);
        }
        if (core.used + rounded > UB_BYTES) {
            Report("ub_overflow", true, "InitBuffer", where,
                   Address{"UB", core.used, static_cast<int64_t>(core.used + rounded)},
                   "InitBuffer of " + std::to_string(rounded) + " bytes goes " +
                       std::to_string(core.used + rounded - UB_BYTES) + " bytes beyond the unified buffer of " +
                       std::to_string(UB_BYTES) + " bytes");
        }
    }
    if (core.used + rounded > UB_RESERVED) {
        return -1;
    }
    Buffer buffer{};
    buffer.begin = core.used;
    buffer.bytes = static_cast<uint32_t>(rounded);
    buffer.queue = -1;
    core.buffers.push_back(buffer);
    core.used += buffer.bytes;
    // What the unified buffer holds at first is not defined: bits that are NaN in every float type.
    std::memset(core.ub + buffer.begin, 0xFF, buffer.bytes);
    return static_cast<int32_t>(core.buffers.size()) - 1;
}

BufferView BufferGet(int32_t buffer)
{
    if (buffer < 0 || static_cast<size_t>(buffer) >= current->buffers.size()) {
        return NO_BUFFER;
    }
    return View(buffer);
}

int32_t QueueCreate(uint32_t buffers, uint32_t bytes, Pipe from, Pipe to, int32_t depth, Where where)
{
    Core &core = *current;
    Queue queue{};
    queue.first = static_cast<int32_t>(core.buffers.size());
    queue.from = from;
    queue.to = to;
    for (uint32_t i = 0; i < buffers; ++i) {
        if (BufferCreate(bytes, where) < 0) {
            break;
        }
        core.buffers.back().queue = static_cast<int32_t>(core.queues.size());
        ++queue.count;
    }
    queue.capacity = depth > 0 ? static_cast<uint32_t>(depth) : queue.count;
    if (queue.count == 0) {
        return -1;
    }
    core.queues.push_back(queue);
    return static_cast<int32_t>(core.queues.size()) - 1;
}

BufferView QueueAlloc(int32_t queue, Where where)
{
    Core &core = *current;
    Queue &found = *FindQueue(queue, "AllocTensor", where);
    if (checksLevel != CHECKS_NONE) {
        FlushScalar(core);
    }
    if (core.tileQueue < 0) {
        core.tileQueue = queue;
        core.tile = -1;
    }
    core.tile += core.tileQueue == queue ? 1 : 0;
    for (uint32_t i = 0; i < found.count; ++i) {
        const uint32_t slot = (found.cursor + i) % found.count;
        Buffer &buffer = core.buffers[static_cast<size_t>(found.first) + slot];
        if (buffer.state == Buffer::IDLE) {
            found.cursor = (slot + 1) % found.count;
            buffer.state = Buffer::ALLOCATED;
            if (checksLevel != CHECKS_NONE) {
                CheckAllocated(found, where);
                buffer.site = Site("AllocTensor", where);
                core.clocks[static_cast<int>(found.from)].Join(buffer.drained);
            }
            return View(found.first + static_cast<int32_t>(slot));
        }
    }
    StopBlock("queue_overflow", "AllocTensor",
              "no free buffer in the queue: FreeTensor is missing, and the core would wait for ever", where);
}

bool QueuePush(int32_t queue, int32_t buffer, Where where)
{
    Core &core = *current;
    Queue &found = *FindQueue(queue, "EnQue", where);
    if (checksLevel != CHECKS_NONE) {
        FlushScalar(core);
    }
    Buffer *held = Held(found, buffer, "EnQue", where, Buffer::ALLOCATED, Buffer::DEQUEUED);
    if (held == nullptr) {
        return false;
    }
    if (found.waiting.size() >= found.capacity) {
        Report("queue_overflow", true, "EnQue", where, Address{nullptr, 0, 0},
               "the queue already holds the " + std::to_string(found.capacity) + " tensors of its depth");
    }
    held->state = Buffer::QUEUED;
    held->filled = Now(found.from);
    found.waiting.push_back(buffer);
    return true;
}

BufferView QueuePop(int32_t queue, Where where)
{
    Core &core = *current;
    Queue &found = *FindQueue(queue, "DeQue", where);
    if (found.waiting.empty()) {
        StopBlock("queue_underflow", "DeQue", "the queue is empty: EnQue is missing", where);
    }
    if (checksLevel != CHECKS_NONE) {
        FlushScalar(core);
    }
    const int32_t buffer = found.waiting.front();
    found.waiting.erase(found.waiting.begin());
    Buffer &held = core.buffers[static_cast<size_t>(buffer)];
    held.state = Buffer::DEQUEUED;
    core.clocks[static_cast<int>(found.to)].Join(held.filled);
    return View(buffer);
}

void QueueRelease(int32_t queue, int32_t buffer, Where where)
{
    Queue &found = *FindQueue(queue, "FreeTensor", where);
    if (checksLevel != CHECKS_NONE) {
        FlushScalar(*current);
    }
    Buffer *held = Held(found, buffer, "FreeTensor", where, Buffer::ALLOCATED, Buffer::DEQUEUED);
    if (held != nullptr) {
        held->state = Buffer::IDLE;
        held->drained = Now(found.to);
    }
}

int32_t QueueCount(int32_t queue)
{
    const Queue &found = *FindQueue(queue, "GetTensorCountInQue", Where{"", 0});
    return static_cast<int32_t>(found.waiting.size());
}

bool QueueHasIdle(int32_t queue)
{
    const Queue &found = *FindQueue(queue, "HasIdleBuffer", Where{"", 0});
    const auto first = current->buffers.begin() + found.first;
    return std::any_of(first, first + found.count, [](const Buffer &buffer) { return buffer.state == Buffer::IDLE; });
}

bool QueueHasRoom(int32_t queue)
{
    const Queue &found = *FindQueue(queue, "VacantInQue", Where{"", 0});
    return found.waiting.size() < found.capacity;
}

int8_t EventFetch(Pipe from, Pipe to, bool allocate, Where where)
{
    uint8_t &used = current->events[static_cast<int>(from)][static_cast<int>(to)];
    for (int8_t id = 0; id < EVENT_IDS; ++id) {
        if ((used & (1U << id)) == 0) {
            used = static_cast<uint8_t>(used | (allocate ? 1U << id : 0U));
            return id;
        }
    }
    LimitBroken(allocate ? "AllocEventID" : "FetchEventID", "all 8 event ids of these two pipes are allocated", where);
    return -1;
}

void EventRelease(Pipe from, Pipe to, int8_t id, Where where)
{
    uint8_t &used = current->events[static_cast<int>(from)][static_cast<int>(to)];
    if (Require(id >= 0 && id < EVENT_IDS && (used & (1U << id)) != 0, "ReleaseEventID",
                "the event id was not allocated", where)) {
        used = static_cast<uint8_t>(used & ~(1U << id));
    }
}

}  // namespace gnll

namespace AscendC {

TPipe::TPipe(::gnll::Where where) : where_(where)
{
    if (::gnll::current->pipe != nullptr) {
        ::gnll::StopBlock("pipe_twice", "TPipe", "a core has one TPipe at a time", where);
    }
    ::gnll::current->pipe = this;
}

TPipe::~TPipe()
{
    Destroy(where_);
}

void TPipe::Destroy(::gnll::Where where)
{
    if (!ended_) {
        ended_ = true;
        ::gnll::PipeEnd(where);
        ::gnll::current->pipe = nullptr;
    }
}

TPipe *GetTPipePtr()
{
    return ::gnll::current->pipe;
}

}  // namespace AscendC
