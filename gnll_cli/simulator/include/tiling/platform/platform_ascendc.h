// platform_ascendc::PlatformAscendC: core counts and memory sizes of the device, as a tiling function asks for them.
#pragma once

#include <cstdint>

#include "platform/platform_infos_def.h"
#include "platform/soc_spec.h"

namespace platform_ascendc {

enum class CoreMemType { L0_A = 0, L0_B = 1, L0_C = 2, L1 = 3, L2 = 4, UB = 5, HBM = 6, FB = 7, BT = 8, RESERVED };

enum class SocVersion {
    ASCEND910 = 0,
    ASCEND910B = 1,
    ASCEND310P = 2,
    ASCEND310B = 3,
    ASCEND950 = 4,
    ASCEND910_95 = ASCEND950,
    ASCEND910_93 = 13,
    RESERVED_VERSION = 99999
};

// The simulated device is an ascend910b1: two vector cores to a cube core, 196,608 bytes of unified buffer, of which
// 256 are reserved, and 16 MiB of workspace for the library.
class PlatformAscendC {
public:
    explicit PlatformAscendC(fe::PlatFormInfos *infos) : infos_(infos) {}

    uint32_t GetCoreNum() const { return GetCoreNumAic(); }
    uint32_t GetCoreNumAic() const { return infos_ == nullptr ? 0 : (infos_->GetVectorCores() + 1) / 2; }
    uint32_t GetCoreNumAiv() const { return infos_ == nullptr ? 0 : infos_->GetVectorCores(); }
    // Vector cores beside the AI cores, which only other architectures have.
    uint32_t GetCoreNumVector() const { return 0; }

    // Blocks for a kernel that uses `aic` cube and `aiv` vector cores (0: none of that kind) on `slices` slices of
    // data.
    uint32_t CalcTschBlockDim(uint32_t slices, uint32_t aic, uint32_t aiv) const
    {
        if (aic == 0 || aiv == 0 || aic >= aiv) {
            return slices;
        }
        const uint32_t ratio = aiv / aic;
        return (slices + ratio - 1) / ratio;
    }
    uint32_t CalcTschNumBlocks(uint32_t slices, uint32_t aic, uint32_t aiv) const
    {
        return CalcTschBlockDim(slices, aic, aiv);
    }

    uint32_t GetLibApiWorkSpaceSize() const { return 16U * 1024U * 1024U; }

    // 0 for a memory that is not known here.
    void GetCoreMemSize(const CoreMemType &type, uint64_t &size) const
    {
        constexpr uint64_t RESERVED = 256;
        switch (type) {
            case CoreMemType::L0_A:
            case CoreMemType::L0_B:
                size = 64U * 1024U;
                break;
            case CoreMemType::L0_C:
                size = 128U * 1024U;
                break;
            case CoreMemType::L1:
                size = 512U * 1024U;
                break;
            case CoreMemType::L2:
                size = 192ULL * 1024U * 1024U;
                break;
            case CoreMemType::HBM:
                size = 64ULL * 1024U * 1024U * 1024U;
                break;
            case CoreMemType::UB: {
                const uint64_t whole = infos_ == nullptr ? 0 : infos_->GetUnifiedBuffer();
                size = whole > RESERVED ? whole - RESERVED : 0;
                break;
            }
            default:
                size = 0;
                break;
        }
    }

    SocVersion GetSocVersion() const { return SocVersion::ASCEND910B; }
    NpuArch GetCurNpuArch() const { return NpuArch::DAV_2201; }

private:
    fe::PlatFormInfos *infos_;
};

} // namespace platform_ascendc
