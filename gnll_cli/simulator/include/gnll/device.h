// Device memory of the simulator and the launch of a kernel: what the host side and the ACL layer call.
#pragma once

#include <cstdint>
#include <vector>

namespace gnll {

// Global memory. Every allocation starts at a multiple of 512 bytes and has guard bytes on both sides. Null: no memory.
uint8_t *DeviceAllocate(uint64_t bytes);
// False: not the start of an allocation.
bool DeviceFree(void *address);
// Whether the address lies in an allocation (or is the end of one); its offset in it and the allocation's size in
// bytes.
bool DeviceFind(const void *address, uint64_t *offset, uint64_t *bytes);

// The memcpy kinds of ACL.
enum class CopyKind : int { HOST_TO_HOST = 0, HOST_TO_DEVICE = 1, DEVICE_TO_HOST = 2, DEVICE_TO_DEVICE = 3 };

// Copies `bytes` and marks device bytes as written. 0, or 107000 when the kind does not fit the addresses, `bytes` is
// more than `destinationBytes`, or a device side leaves its allocation; nothing is copied then.
int DeviceCopy(void *destination, uint64_t destinationBytes, const void *source, uint64_t bytes, CopyKind kind);
// Sets device bytes to a value; return codes as DeviceCopy.
int DeviceSet(void *destination, uint64_t destinationBytes, int value, uint64_t bytes);
// Marks bytes of device memory as written, for code that wrote them through the address.
void DeviceWritten(const void *address, uint64_t bytes);

using KernelEntry = void (*)(uint8_t **arguments);

// One kernel launch. `argumentBytes`, when given, bounds each argument to what its tensor holds (the allocation may be
// larger); an empty vector or UINT64_MAX bounds it by its allocation.
struct Launch {
    uint32_t blockDim;
    uint64_t tilingKey;
    std::vector<uint8_t *> arguments;
    const uint8_t *tiling;
    uint64_t tilingBytes;
    KernelEntry entry;
    const char *name;
    std::vector<uint64_t> argumentBytes = {};
};

// Runs all blocks to the end. 0; 507034 when the blocks wait for each other for ever; 507035 when a block was stopped
// by a failed ASSERT or Trap; 107000 when the launch itself is impossible. Findings are in gnllSimDiagnostics().
int RunKernel(const Launch &launch);

// Vector cores of the simulated device (gnllSimConfigure "cores"; 48 at first).
uint32_t CoreCount();

}  // namespace gnll

extern "C" {
// Keys: "checks" (all | memory | none), "cores" (1 to 65535), "shuffle" (a seed, or empty for the order of block
// numbers), "auto-sync" (on | off). An unknown key or value is reported as a finding of kind "configuration".
void gnllSimConfigure(const char *key, const char *value);
// Findings since the last reset as a JSON array; valid until the next call.
const char *gnllSimDiagnostics(void);
void gnllSimReset(void);
}
