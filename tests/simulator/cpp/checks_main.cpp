// checks_main NAME clean|faulty [KEY=VALUE ...]: runs one case and prints its return code, findings and output bytes.
#include <cmath>
#include <numeric>

#include "checks_harness.h"

int main(int argc, char **argv)
{
    for (int i = 3; i < argc; ++i) {
        const std::string setting = argv[i];
        const size_t at = setting.find('=');
        gnllSimConfigure(setting.substr(0, at).c_str(), setting.substr(at + 1).c_str());
    }
    for (const Case &found : Cases()) {
        if (argc < 3 || found.name != std::string(argv[1])) {
            continue;
        }
        std::vector<float> values(ELEMENTS);
        std::iota(values.begin(), values.end(), 0.0f);
        const uint64_t bytes = ELEMENTS * sizeof(float);
        const Tiling tiling = {ELEMENTS, 2.0f};
        uint8_t *input = gnll::DeviceAllocate(bytes);
        uint8_t *output = gnll::DeviceAllocate(bytes);
        uint8_t *workspace = gnll::DeviceAllocate(bytes);
        uint8_t *data = gnll::DeviceAllocate(sizeof(Tiling));
        int copied = gnll::DeviceCopy(input, bytes, values.data(), bytes, gnll::CopyKind::HOST_TO_DEVICE);
        copied += gnll::DeviceCopy(data, sizeof(Tiling), &tiling, sizeof(Tiling), gnll::CopyKind::HOST_TO_DEVICE);
        copied += gnll::DeviceSet(output, bytes, 0, bytes);
        const auto entry = std::string(argv[2]) == "faulty" ? found.faulty : found.clean;
        const gnll::Launch launch = {found.blocks, 7, {input, output, workspace, data}, data, sizeof(Tiling), entry,
                                     found.name,
                                     {bytes, bytes, bytes / 2, UINT64_MAX}};
        const int code = gnll::RunKernel(launch);
        copied += gnll::DeviceCopy(values.data(), bytes, output, bytes, gnll::CopyKind::DEVICE_TO_HOST);
        std::printf("{\"code\": %d, \"copied\": %d, \"findings\": %s, \"output\": [", code, copied,
                    gnllSimDiagnostics());
        for (uint32_t i = 0; i < ELEMENTS; ++i) {
            const char *comma = i == 0 ? "" : ", ";
            std::isnan(values[i]) ? std::printf("%snull", comma) : std::printf("%s%.9g", comma, values[i]);
        }
        std::printf("]}\n");
        return 0;
    }
    for (const Case &found : Cases()) {
        std::printf("%s\n", found.name);
    }
    return argc == 1 ? 0 : 2;
}
