// Faults of order: pipes, flags and queues of one core, and cores among each other.
#include "checks_harness.h"

using namespace AscendC;
using namespace testing;

constexpr uint32_t UB_ALL = 196608;

CASE(hazard_mte2_v, 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 512);
    LocalTensor<float> tensor = buffer.Get<float>();
    DataCopy(tensor, Global(input), 64);
    if (!FAULT) {
        SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
        WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
    }
    Adds(tensor, tensor, 1.0f, 64);  // FAULT: hazard failure
}

CASE(hazard_v_mte3, 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 512);
    LocalTensor<float> tensor = buffer.Get<float>();
    Duplicate(tensor, 1.0f, 64);
    if (FAULT) {
        PipeBarrier<PIPE_V>();
    } else {
        PipeBarrier<PIPE_ALL>();
    }
    DataCopy(Global(output), tensor, 64);  // FAULT: hazard failure
}

CASE(hazard_mte3_mte2, 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 512);
    LocalTensor<float> tensor = buffer.Get<float>();
    Duplicate(tensor, 1.0f, 64);
    PipeBarrier<PIPE_ALL>();
    DataCopy(Global(output), tensor, 64);
    if (FAULT) {
        PipeBarrier<PIPE_MTE3>();
    } else {
        const TEventID id = GetTPipePtr()->FetchEventID(HardEvent::MTE3_MTE2);
        SetFlag<HardEvent::MTE3_MTE2>(id);
        WaitFlag<HardEvent::MTE3_MTE2>(id);
    }
    DataCopy(tensor, Global(input), 64);  // FAULT: hazard failure
}

CASE(hazard_v_mte2, 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    TBuf<TPosition::VECCALC> result;
    pipe.InitBuffer(buffer, 512);
    pipe.InitBuffer(result, 512);
    LocalTensor<float> tensor = buffer.Get<float>();
    DataCopy(tensor, Global(input), 64);
    PipeBarrier<PIPE_ALL>();
    Adds(result.Get<float>(), tensor, 1.0f, 64);
    // Another part of the tensor, or the same one.
    DataCopy(tensor[FAULT ? 56 : 64], Global(input), 64);  // FAULT: hazard failure
}

CASE(hazard_mte2_mte2, 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 512);
    LocalTensor<float> tensor = buffer.Get<float>();
    DataCopy(tensor, Global(input), 64);
    if (!FAULT) {
        PipeBarrier<PIPE_MTE2>();
    }
    DataCopy(tensor[8], Global(input), 64);  // FAULT: hazard failure
}

CASE(hazard_global_memory, 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 512);
    LocalTensor<float> tensor = buffer.Get<float>();
    Duplicate(tensor, 1.0f, 64);
    PipeBarrier<PIPE_ALL>();
    DataCopy(Global(workspace), tensor, 64);
    if (!FAULT) {
        PipeBarrier<PIPE_ALL>();
    }
    DataCopy(tensor[64], Global(workspace), 64);  // FAULT: hazard failure
}

// GlobalTensor::SetValue is not covered by the automatic synchronisation.
CASE(hazard_global_set_value, 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 512);
    LocalTensor<float> tensor = buffer.Get<float>();
    Global(output).SetValue(3, 1.0f);
    if (!FAULT) {
        SetFlag<HardEvent::S_MTE2>(EVENT_ID1);
        WaitFlag<HardEvent::S_MTE2>(EVENT_ID1);
    }
    DataCopy(tensor, Global(output), 64);  // FAULT: hazard failure
}

// Clean with the automatic synchronisation, a hazard without it.
CASE(automatic, 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 512);
    LocalTensor<float> tensor = buffer.Get<float>();
    Duplicate(tensor, 1.0f, 64);
    if (!FAULT) {
        PipeBarrier<PIPE_V>();
    }
    Adds(tensor, tensor, 1.0f, 64);  // FAULT: hazard failure
}

CASE(automatic_scalar, 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 512);
    LocalTensor<float> tensor = buffer.Get<float>();
    Duplicate(tensor, 1.0f, 64);
    if (!FAULT) {
        SetFlag<HardEvent::V_S>(EVENT_ID0);
        WaitFlag<HardEvent::V_S>(EVENT_ID0);
    }
    Global(output).SetValue(0, tensor.GetValue(5));  // FAULT: hazard failure
}

CASE(flag_set_twice, 1)
{
    SetFlag<HardEvent::V_MTE3>(EVENT_ID2);
    if (FAULT) {
        SetFlag<HardEvent::V_MTE3>(EVENT_ID2);  // FAULT: flag_set_twice failure
    }
    WaitFlag<HardEvent::V_MTE3>(EVENT_ID2);
}

CASE(flag_never_set, 1)
{
    SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
    WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
    if (FAULT) {
        WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);  // FAULT: flag_never_set failure
    }
}

CASE(flag_left_set, 1)
{
    SetFlag<HardEvent::MTE2_MTE3>(EVENT_ID5);  // FAULT: flag_left_set failure
    if (!FAULT) {
        WaitFlag<HardEvent::MTE2_MTE3>(EVENT_ID5);
    }
}

CASE(limit_event_ids, 1)
{
    TPipe pipe;
    for (int i = 0; i < (FAULT ? 9 : 8); ++i) {
        pipe.AllocEventID<HardEvent::MTE2_V>();  // FAULT: limit failure
    }
    pipe.ReleaseEventID<HardEvent::MTE2_V>(3);
    const TEventID next = pipe.FetchEventID(HardEvent::MTE2_V);
    Global(output).SetValue(0, static_cast<float>(next));
}

CASE(pipe_twice, 1)
{
    TPipe pipe;
    if (!FAULT) {
        pipe.Destroy();
    }
    TPipe other;  // FAULT: pipe_twice failure
}

CASE(queue_unready, 1)
{
    TPipe pipe;
    TQue<TPosition::VECIN, 1> queue;
    if (!FAULT) {
        pipe.InitBuffer(queue, 1, 256);
    }
    LocalTensor<float> tensor = queue.AllocTensor<float>();  // FAULT: queue_unready failure
    queue.FreeTensor(tensor);
}

// What a buffer held is gone after Reset.
CASE(pipe_reset, 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 256);
    Duplicate(buffer.Get<float>(), 1.0f, 64);
    pipe.Reset();
    pipe.InitBuffer(buffer, UB_ALL);
    LocalTensor<float> tensor = buffer.Get<float>();
    if (!FAULT) {
        Duplicate(tensor, 1.0f, 64);
    }
    Adds(tensor, tensor, 1.0f, 64);  // FAULT: uninitialised failure
}

CASE(queue_underflow, 1)
{
    TPipe pipe;
    TQue<TPosition::VECIN, 1> queue;
    pipe.InitBuffer(queue, 1, 256);
    LocalTensor<float> tensor = queue.AllocTensor<float>();
    DataCopy(tensor, Global(input), 64);
    if (!FAULT) {
        queue.EnQue(tensor);
    }
    tensor = queue.DeQue<float>();  // FAULT: queue_underflow failure
    queue.FreeTensor(tensor);
}

CASE(queue_overflow, 1)
{
    TPipe pipe;
    TQue<TPosition::VECOUT, 2> queue;
    pipe.InitBuffer(queue, 2, 256);
    for (int i = 0; i < 3; ++i) {
        LocalTensor<float> tensor = queue.AllocTensor<float>();  // FAULT: queue_overflow failure
        if (!FAULT) {
            queue.FreeTensor(tensor);
        }
    }
}

CASE(queue_depth, 1)
{
    TPipe pipe;
    TQue<TPosition::VECOUT, FAULT ? 1 : 2> queue;
    pipe.InitBuffer(queue, 2, 256);
    for (int i = 0; i < 2; ++i) {
        LocalTensor<float> tensor = queue.template AllocTensor<float>();
        Duplicate(tensor, 1.0f, 64);
        queue.EnQue(tensor);  // FAULT: queue_overflow failure
    }
    for (int i = 0; i < 2; ++i) {
        LocalTensor<float> tensor = queue.template DeQue<float>();
        queue.FreeTensor(tensor);
    }
}

CASE(tensor_not_freed, 1)
{
    TPipe pipe;
    TQue<TPosition::VECIN, 1> queue;
    pipe.InitBuffer(queue, 1, 256);
    LocalTensor<float> tensor = queue.AllocTensor<float>();  // FAULT: tensor_not_freed failure
    if (!FAULT) {
        queue.FreeTensor(tensor);
    }
}

CASE(tensor_freed_twice, 1)
{
    TPipe pipe;
    TQue<TPosition::VECIN, 1> queue;
    pipe.InitBuffer(queue, 1, 256);
    LocalTensor<float> tensor = queue.AllocTensor<float>();
    queue.FreeTensor(tensor);
    if (FAULT) {
        queue.FreeTensor(tensor);  // FAULT: queue_state failure
    }
}

CASE(queue_foreign, 1)
{
    TPipe pipe;
    TQue<TPosition::VECIN, 1> queue;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(queue, 1, 256);
    pipe.InitBuffer(buffer, 256);
    LocalTensor<float> tensor = queue.AllocTensor<float>();
    if (FAULT) {
        queue.FreeTensor(buffer.Get<float>());  // FAULT: queue_foreign failure
    }
    queue.FreeTensor(tensor);
}

// The pipeline that most kernels are: two queues, double buffers. The fault computes into what is still being read.
CASE(pipeline, 2)
{
    TPipe pipe;
    TQue<TPosition::VECIN, 2> in;
    TQue<TPosition::VECOUT, 2> out;
    pipe.InitBuffer(in, 2, 256);
    pipe.InitBuffer(out, 2, 256);
    const uint64_t begin = static_cast<uint64_t>(GetBlockIdx()) * ELEMENTS / 2;
    for (uint64_t at = begin; at < begin + ELEMENTS / 2; at += 64) {
        LocalTensor<float> x = in.AllocTensor<float>();
        DataCopy(x, Global(input)[at], 64);
        in.EnQue(x);
        LocalTensor<float> a = in.DeQue<float>();
        LocalTensor<float> b = out.AllocTensor<float>();
        Adds(b, a, 1.0f, 64);
        out.EnQue(b);
        in.FreeTensor(a);
        LocalTensor<float> y = out.DeQue<float>();
        DataCopy(Global(output)[at], y, 64);
        if (FAULT) {
            Adds(y, y, 1.0f, 64);  // FAULT: hazard failure
        }
        out.FreeTensor(y);
    }
}

// MTE2 to MTE3 through a queue that binds both. The fault frees a buffer before it is read.
CASE(bound_queue, 1)
{
    TPipe pipe;
    TQueBind<TPosition::VECIN, TPosition::VECOUT, 2> queue;
    pipe.InitBuffer(queue, 2, 256);
    for (uint64_t at = 0; at < ELEMENTS; at += 64) {
        LocalTensor<float> x = queue.AllocTensor<float>();
        DataCopy(x, Global(input)[at], 64);  // FAULT: hazard failure
        queue.EnQue(x);
        LocalTensor<float> y = queue.DeQue<float>();
        if (FAULT) {
            queue.FreeTensor(y);
        }
        DataCopy(Global(output)[at], y, 64);
        if (!FAULT) {
            queue.FreeTensor(y);
        }
    }
}

CASE(cores_write, 4)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 512);
    LocalTensor<float> tensor = buffer.Get<float>();
    Duplicate(tensor, 1.0f, 64);
    PipeBarrier<PIPE_ALL>();
    DataCopyPad(Global(output)[GetBlockIdx() * 9], tensor, Bytes(FAULT ? 10 : 9));  // FAULT: cores_write failure
}

CASE(cores_atomic, 4)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 512);
    LocalTensor<float> tensor = buffer.Get<float>();
    Duplicate(tensor, 1.0f, 64);
    PipeBarrier<PIPE_ALL>();
    if (!FAULT) {
        SetAtomicAdd<float>();
    }
    DataCopyPad(Global(output), tensor, Bytes(10));  // FAULT: cores_write failure
    SetAtomicNone();
}

CASE(cores_cache_line, 4)
{
    GlobalTensor<float> global = Global(output);
    global.SetValue(static_cast<uint64_t>(GetBlockIdx()) * (FAULT ? 4 : 16), 1.0f);  // FAULT: cores_cache_line failure
}

// Each core writes its number to the work space; core 0 adds them up after all are there.
CASE(cores_read, 4)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 512);
    LocalTensor<float> tensor = buffer.Get<float>();
    const int64_t last = GetBlockNum() - 1;
    Duplicate(tensor, static_cast<float>(GetBlockIdx() + 1), 8);
    PipeBarrier<PIPE_ALL>();
    DataCopy(Global(workspace)[GetBlockIdx() * 8], tensor, 8);
    if (FAULT) {
        PipeBarrier<PIPE_ALL>();
    } else {
        SyncAll();
    }
    if (GetBlockIdx() == last) {
        DataCopy(tensor[32], Global(workspace), 32);  // FAULT: cores_read failure
        float sum = 0.0f;
        for (uint32_t i = 0; i < 4; ++i) {
            sum += tensor.GetValue(32 + 8 * i);
        }
        Global(output).SetValue(0, sum);
    }
}

CASE(sync_all, 4)
{
    if (!FAULT || GetBlockIdx() != 2) {
        SyncAll();  // FAULT: sync_all failure
    }
}

CASE(assertion, 2)
{
    ASSERT(GetBlockIdx() < (FAULT ? 1 : 2));  // FAULT: assertion failure
    SyncAll();
}

CASE(key, 1)
{
    if (TILING_KEY_IS(FAULT ? 8 : 7)) {
        Global(output).SetValue(0, 1.0f);
    }
}
