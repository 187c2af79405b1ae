// fe::PlatFormInfos: what is known of the device, by section and key.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace fe {

class PlatFormInfos {
public:
    // Vector cores of the device; the cube cores are half as many.
    uint32_t GetVectorCores() const { return vectorCores_; }
    // Bytes of the unified buffer of a vector core.
    uint64_t GetUnifiedBuffer() const { return unifiedBuffer_; }
    void SetVectorCores(uint32_t count) { vectorCores_ = count; }
    void SetUnifiedBuffer(uint64_t bytes) { unifiedBuffer_ = bytes; }

    // Values by section and key, set by whoever makes the context (unit tests do).
    bool GetPlatformRes(const std::string &section, const std::string &key, std::string &value) const
    {
        const auto found = values_.find(section);
        if (found == values_.end() || found->second.count(key) == 0) {
            return false;
        }
        value = found->second.at(key);
        return true;
    }
    void SetPlatformRes(const std::string &section, std::map<std::string, std::string> &values)
    {
        values_[section] = values;
    }

private:
    uint32_t vectorCores_ = 48;
    uint64_t unifiedBuffer_ = 196608;
    std::map<std::string, std::map<std::string, std::string>> values_;
};

} // namespace fe
