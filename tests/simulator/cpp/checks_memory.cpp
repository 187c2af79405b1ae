// Faults of bounds, alignment, limits and bytes that nobody wrote.
#include "checks_harness.h"

using namespace AscendC;
using namespace testing;

CASE(ub_overflow, 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> first;
    TBuf<TPosition::VECCALC> second;
    pipe.InitBuffer(first, 131072);
    pipe.InitBuffer(second, FAULT ? 65537 : 65536);  // FAULT: ub_overflow failure
}

CASE(out_of_buffer, 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    TBuf<TPosition::VECCALC> next;
    pipe.InitBuffer(buffer, 256);
    pipe.InitBuffer(next, 256);
    LocalTensor<float> tensor = buffer.Get<float>(72);
    Duplicate(tensor, 1.0f, FAULT ? 72 : 64);  // FAULT: out_of_buffer failure
}

CASE(scalar_out_of_buffer, 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 256);
    LocalTensor<float> tensor = buffer.Get<float>();
    for (uint32_t i = 0; i < (FAULT ? 65U : 64U); ++i) {
        tensor.SetValue(i, 1.0f);  // FAULT: out_of_buffer failure
    }
}

CASE(out_of_tensor, 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 256);
    LocalTensor<float> tensor = buffer.Get<float>(32);
    Duplicate(tensor, 1.0f, 32);
    Adds(tensor[16], tensor[16], 1.0f, FAULT ? 17 : 16);  // FAULT: out_of_tensor failure
}

CASE(copy_out_of_tensor, 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 256);
    LocalTensor<float> tensor = buffer.Get<float>(32);
    DataCopyPad(tensor, Global(input), Bytes(FAULT ? 33 : 31), {true, 0, 0, 0.0f});  // FAULT: out_of_tensor failure
}

CASE(slice_beyond_tensor, 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 512);
    LocalTensor<float> tensor = buffer.Get<float>(64);
    Duplicate(tensor[FAULT ? 72 : 56], 1.0f, 8);  // FAULT: out_of_tensor failure
}

CASE(out_of_global, 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 512);
    LocalTensor<float> tensor = buffer.Get<float>();
    Duplicate(tensor, 1.0f, 128);
    PipeBarrier<PIPE_ALL>();
    GlobalTensor<float> global = Global(output, 64);
    DataCopyPad(global[32], tensor, Bytes(FAULT ? 33 : 32));  // FAULT: out_of_global failure
}

CASE(read_out_of_global, 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 1024);
    GlobalTensor<float> global = Global(input, 64);
    DataCopy(buffer.Get<float>(), global, FAULT ? 136 : 64);  // FAULT: out_of_global failure
}

CASE(gm_write_outside, 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 512);
    LocalTensor<float> tensor = buffer.Get<float>();
    Duplicate(tensor, 1.0f, 128);
    PipeBarrier<PIPE_ALL>();
    GlobalTensor<float> global;
    global.SetGlobalBuffer(reinterpret_cast<float *>(output));
    DataCopyPad(global[ELEMENTS - 3], tensor, Bytes(FAULT ? 4 : 3));  // FAULT: gm_write_outside failure
}

CASE(scalar_gm_write_outside, 1)
{
    GlobalTensor<float> global;
    global.SetGlobalBuffer(reinterpret_cast<float *>(output));
    global.SetValue(FAULT ? ELEMENTS : ELEMENTS - 1, 1.0f);  // FAULT: gm_write_outside failure
}

CASE(write_before_tensor, 1)
{
    GlobalTensor<float> global;
    global.SetGlobalBuffer(reinterpret_cast<float *>(output));
    global.SetValue(FAULT ? static_cast<uint64_t>(-1) : 0, 1.0f);  // FAULT: gm_write_outside failure
}

CASE(gm_read_past, 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 512);
    GlobalTensor<float> global = Global(input);
    DataCopy(buffer.Get<float>(), global[ELEMENTS - 8], FAULT ? 72 : 8);  // FAULT: gm_read_past warning
}

CASE(gm_read_outside, 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 512);
    GlobalTensor<float> global = Global(input);
    DataCopy(buffer.Get<float>(), global[ELEMENTS - 8], FAULT ? 80 : 8);  // FAULT: gm_read_outside failure
}

CASE(strided_read_outside, 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 512);
    DataCopyExtParams copy(2, 32, FAULT ? 4 * ELEMENTS + 256 : 4 * ELEMENTS - 64, 0, 0);
    DataCopyPad(buffer.Get<float>(), Global(input), copy, {});  // FAULT: gm_read_outside failure
}

CASE(misaligned, 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 512);
    LocalTensor<float> tensor = buffer.Get<float>();
    Duplicate(tensor[FAULT ? 4 : 8], 1.0f, 8);  // FAULT: misaligned failure
}

CASE(copy_misaligned, 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 512);
    LocalTensor<float> tensor = buffer.Get<float>();
    DataCopyPad(tensor[FAULT ? 1 : 8], Global(input), Bytes(5), {});  // FAULT: misaligned failure
}

CASE(limit_block_count, 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 131104);
    DataCopyExtParams copy(FAULT ? 4096 : 4095, 4, 0, 0, 0);
    GlobalTensor<float> global;
    global.SetGlobalBuffer(reinterpret_cast<float *>(input));
    if (FAULT) {
        DataCopyPad(buffer.Get<float>(), global, copy, {});  // FAULT: limit failure
    }
}

CASE(limit_block_length, 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 512);
    DataCopyExtParams copy(1, FAULT ? 6 : 8, 0, 0, 0);
    DataCopyPad(buffer.Get<float>(), Global(input), copy, {});  // FAULT: limit failure
}

CASE(limit_padding, 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 512);
    DataCopyPad(buffer.Get<float>(), Global(input), Bytes(8), {true, 0, FAULT ? 9 : 8, 0.0f});  // FAULT: limit failure
}

CASE(limit_event_id, 1)
{
    SetFlag<HardEvent::MTE2_V>(FAULT ? 8 : 7);  // FAULT: limit failure
    if (!FAULT) {
        WaitFlag<HardEvent::MTE2_V>(7);
    }
}

CASE(limit_buffers, 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffers[65];
    for (uint32_t i = 0; i < (FAULT ? 65U : 64U); ++i) {
        pipe.InitBuffer(buffers[i], 32);  // FAULT: limit failure
    }
}

CASE(limit_tensors, 1)
{
    TPipe pipe;
    TQue<TPosition::VECIN, 1> queue;
    pipe.InitBuffer(queue, 9, 32);
    LocalTensor<float> tensors[9];
    const uint32_t count = FAULT ? 9 : 8;
    for (uint32_t i = 0; i < count; ++i) {
        tensors[i] = queue.AllocTensor<float>();  // FAULT: limit failure
    }
    for (uint32_t i = 0; i < count; ++i) {
        queue.FreeTensor(tensors[i]);
    }
}

CASE(uninitialised, 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 512);
    LocalTensor<float> tensor = buffer.Get<float>();
    Duplicate(tensor, 1.0f, FAULT ? 56 : 64);
    Adds(tensor, tensor, 1.0f, 64);  // FAULT: uninitialised failure
}

CASE(scalar_uninitialised, 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 512);
    LocalTensor<float> tensor = buffer.Get<float>();
    float sum = 0.0f;
    for (uint32_t i = 0; i < 32; ++i) {
        tensor.SetValue(i, 1.0f);
    }
    for (uint32_t i = 0; i < (FAULT ? 33U : 32U); ++i) {
        sum += tensor.GetValue(i);  // FAULT: uninitialised failure
    }
    Global(output).SetValue(0, sum);
}

CASE(workspace_uninitialised, 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 512);
    LocalTensor<float> tensor = buffer.Get<float>();
    if (!FAULT) {
        InitGlobalMemory(Global(workspace), 16, 0.0f);
        PipeBarrier<PIPE_ALL>();
    }
    DataCopy(tensor, Global(workspace), 16);  // FAULT: uninitialised failure
}

CASE(workspace_too_small, 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 512);
    LocalTensor<float> tensor = buffer.Get<float>();
    Duplicate(tensor, 1.0f, 64);
    PipeBarrier<PIPE_ALL>();
    DataCopy(Global(workspace)[ELEMENTS / 2 - (FAULT ? 56 : 64)], tensor, 64);  // FAULT: workspace failure
}

CASE(tiling_overread, 1)
{
    if constexpr (FAULT) {
        GET_TILING_DATA_WITH_STRUCT(LongTiling, data, tiling);  // FAULT: tiling_overread failure
        Global(output).SetValue(0, data.head.scale);
    } else {
        REGISTER_TILING_DEFAULT(Tiling);
        GET_TILING_DATA(data, tiling);
        Global(output).SetValue(0, data.scale);
    }
}

CASE(block_dim, 49)
{
}

// Not a fault of the memory checks: the process must die of it.
CASE(null_write, 1)
{
    volatile int *nothing = nullptr;
    if (FAULT) {
        *nothing = 1;
    }
}

// DataCopyPad by the byte, seen in the output: padding, dummies, gaps, and rounding down of DataCopy.
CASE(copy_values, 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 4096);
    LocalTensor<float> tensor = buffer.Get<float>();
    Duplicate(tensor, -1.0f, 1024);
    PipeBarrier<PIPE_ALL>();
    // Two blocks of 3 floats, 1 float apart in memory, 1 block of 32 bytes apart here, 2 pads left and 1 right.
    DataCopyPad(tensor, Global(input)[100], DataCopyExtParams(2, 12, 4, 1, 0), {true, 2, 1, 7.0f});
    // No padding: the dummies hold the first element.
    DataCopyPad(tensor[32], Global(input)[200], Bytes(5), {true, 0, 0, 9.0f});
    // 15 floats are one whole block.
    DataCopy(tensor[48], Global(input)[300], 15);
    // Two blocks of one unit, 2 units apart there, 1 here.
    DataCopy(tensor[64], Global(input)[400], DataCopyParams(2, 1, 2, 1));
    PipeBarrier<PIPE_ALL>();
    DataCopy(Global(output), tensor, 96);
    // Blocks of 3 floats from every second unit, 2 floats apart.
    PipeBarrier<PIPE_ALL>();
    DataCopyPad(Global(output)[96], tensor[48], DataCopyExtParams(2, 12, 1, 8, 0));
    // Nothing to move.
    DataCopy(Global(output)[200], tensor, 7);
    DataCopyPad(Global(output)[200], tensor, DataCopyExtParams(0, 4, 0, 0, 0));
    if (FAULT) {
        DataCopyPad(Global(output)[200], tensor[1], DataCopyExtParams(1, 0, 0, 0, 0));
    }
}
