// Device memory: allocations known by their address, guarded on both sides, with a record of what was written.
#include <sys/mman.h>

#include <cstring>
#include <map>

#include "internal.h"

namespace gnll {
namespace {

constexpr uint64_t GUARD = 4096;
constexpr uint64_t SMALL = 1024 * 1024;
constexpr int PARAMETER_ERROR = 107000;

std::map<const uint8_t *, std::unique_ptr<Allocation>> &Table()
{
    static std::map<const uint8_t *, std::unique_ptr<Allocation>> table;
    return table;
}

// Blocks of small allocations that were freed, by size: a case needs the same few sizes again and again.
std::map<uint64_t, std::vector<void *>> &Spare()
{
    static std::map<uint64_t, std::vector<void *>> spare;
    return spare;
}

uint64_t BlockBytes(uint64_t bytes)
{
    const uint64_t needed = bytes + 2 * GUARD;
    if (needed > SMALL) {
        return (needed + GUARD - 1) / GUARD * GUARD;
    }
    uint64_t size = 4 * GUARD;
    while (size < needed) {
        size *= 2;
    }
    return size;
}

bool OnDevice(const void *address, uint64_t bytes)
{
    const Allocation *allocation = AllocationBelow(address);
    if (allocation == nullptr) {
        return false;
    }
    const auto offset = static_cast<uint64_t>(static_cast<const uint8_t *>(address) - allocation->base);
    return offset <= allocation->bytes && bytes <= allocation->bytes - offset;
}

bool TouchesDevice(const void *address)
{
    const Allocation *allocation = AllocationBelow(address);
    return allocation != nullptr &&
           static_cast<const uint8_t *>(address) < static_cast<uint8_t *>(allocation->block) + allocation->blockBytes;
}

}  // namespace

Allocation *AllocationBelow(const void *address)
{
    auto &table = Table();
    auto after = table.upper_bound(static_cast<const uint8_t *>(address));
    return after == table.begin() ? nullptr : std::prev(after)->second.get();
}

void ForgetOwners()
{
    for (auto &entry : Table()) {
        entry.second->owners.Clear();
        entry.second->lines.clear();
    }
}

uint8_t *DeviceAllocate(uint64_t bytes)
{
    if (bytes > UINT64_MAX / 4) {
        return nullptr;
    }
    const uint64_t size = BlockBytes(bytes);
    void *block = nullptr;
    auto &spare = Spare()[size];
    if (size <= SMALL && !spare.empty()) {
        block = spare.back();
        spare.pop_back();
    } else {
        block = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (block == MAP_FAILED) {
            return nullptr;
        }
    }
    auto allocation = std::make_unique<Allocation>();
    allocation->base = static_cast<uint8_t *>(block) + GUARD;
    allocation->bytes = bytes;
    allocation->block = block;
    allocation->blockBytes = size;
    uint8_t *base = allocation->base;
    // What a read past the end finds; small allocations that nobody wrote hold no old values either.
    std::memset(base + bytes, 0xA5, 512);
    if (size <= SMALL) {
        std::memset(base, 0xA5, bytes);
    }
    Table()[base] = std::move(allocation);
    return base;
}

bool DeviceFree(void *address)
{
    auto &table = Table();
    auto found = table.find(static_cast<uint8_t *>(address));
    if (found == table.end()) {
        return false;
    }
    const Allocation &allocation = *found->second;
    if (allocation.blockBytes <= SMALL) {
        Spare()[allocation.blockBytes].push_back(allocation.block);
    } else {
        munmap(allocation.block, allocation.blockBytes);
    }
    table.erase(found);
    return true;
}

bool DeviceFind(const void *address, uint64_t *offset, uint64_t *bytes)
{
    if (!OnDevice(address, 0)) {
        return false;
    }
    const Allocation *allocation = AllocationBelow(address);
    *offset = static_cast<uint64_t>(static_cast<const uint8_t *>(address) - allocation->base);
    *bytes = allocation->bytes;
    return true;
}

void DeviceWritten(const void *address, uint64_t bytes)
{
    Allocation *allocation = AllocationBelow(address);
    if (allocation != nullptr && bytes != 0) {
        const auto offset = static_cast<uint64_t>(static_cast<const uint8_t *>(address) - allocation->base);
        allocation->written.Add(offset, offset + bytes);
    }
}

int DeviceCopy(void *destination, uint64_t destinationBytes, const void *source, uint64_t bytes, CopyKind kind)
{
    const bool toDevice = kind == CopyKind::HOST_TO_DEVICE || kind == CopyKind::DEVICE_TO_DEVICE;
    const bool fromDevice = kind == CopyKind::DEVICE_TO_HOST || kind == CopyKind::DEVICE_TO_DEVICE;
    if (static_cast<int>(kind) < 0 || static_cast<int>(kind) > 3 || bytes > destinationBytes ||
        (bytes != 0 && (destination == nullptr || source == nullptr))) {
        return PARAMETER_ERROR;
    }
    if ((toDevice ? !OnDevice(destination, bytes) : TouchesDevice(destination)) ||
        (fromDevice ? !OnDevice(source, bytes) : TouchesDevice(source))) {
        return PARAMETER_ERROR;
    }
    if (bytes != 0) {
        std::memmove(destination, source, bytes);
    }
    if (toDevice) {
        DeviceWritten(destination, bytes);
    }
    return 0;
}

int DeviceSet(void *destination, uint64_t destinationBytes, int value, uint64_t bytes)
{
    if (bytes > destinationBytes || destination == nullptr || !OnDevice(destination, bytes)) {
        return PARAMETER_ERROR;
    }
    std::memset(destination, value, bytes);
    DeviceWritten(destination, bytes);
    return 0;
}

}  // namespace gnll
