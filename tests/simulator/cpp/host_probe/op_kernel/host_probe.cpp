#include "kernel_operator.h"

struct HostProbeData {
    uint8_t flag;
    uint32_t length;
    int64_t count;
    float scale;
    int64_t axes[3];
    uint16_t tail;
};

extern "C" __global__ __aicore__ void host_probe(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    (void)workspace;
    GET_TILING_DATA_WITH_STRUCT(HostProbeData, data, tiling);
    AscendC::GlobalTensor<DTYPE_X> from;
    AscendC::GlobalTensor<DTYPE_Y> more;
    AscendC::GlobalTensor<DTYPE_Z> to;
    from.SetGlobalBuffer((__gm__ DTYPE_X *)x, data.length);
    to.SetGlobalBuffer((__gm__ DTYPE_Z *)z, data.length);
    if (data.tail != 0) {
        more.SetGlobalBuffer((__gm__ DTYPE_Y *)y, data.length);
    }
    for (uint32_t i = 0; i < data.length; ++i) {
        const DTYPE_X value = from.GetValue(i);
        to.SetValue(i, data.tail == 0 ? value : static_cast<DTYPE_Z>(value + more.GetValue(i)));
    }
    AscendC::DataCacheCleanAndInvalid<DTYPE_Z, AscendC::CacheLine::ENTIRE_DATA_CACHE>(to);
}
