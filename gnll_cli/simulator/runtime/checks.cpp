// The checks: bounds, alignment, what was written, the order of pipes and of cores, and the findings they make.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <tuple>

#include "gnll/kernel.h"
#include "internal.h"

namespace gnll {

int checksLevel = CHECKS_ALL;
bool autoSync = true;

namespace {

constexpr int SCALAR = static_cast<int>(Pipe::S);
constexpr int VECTOR = static_cast<int>(Pipe::V);
constexpr size_t MAX_FINDINGS = 1000;
constexpr uint64_t CACHE_LINE = 64;

struct Finding {
    std::string kind;
    bool failure;
    std::string message;
    int64_t core;
    int64_t tile;
    std::string instruction;
    std::string file;
    int line;
    std::string memory;
    int64_t begin;
    int64_t end;
    std::string kernel;
    uint64_t count;
};

std::vector<Finding> findings;
std::map<std::tuple<std::string, std::string, int, std::string>, size_t> known;
uint64_t dropped = 0;

struct SiteEntry {
    const char *instruction;
    Where where;
};

std::vector<SiteEntry> sites = {{"", {"", 0}}};
std::map<std::tuple<const char *, const char *, int>, uint32_t> siteNumbers;
constexpr size_t SITE_CACHE = 256;
uint32_t siteCache[SITE_CACHE];

std::string Hex(const void *address)
{
    char text[32];
    std::snprintf(text, sizeof(text), "%p", address);
    return text;
}

void AppendText(std::string *out, const std::string &text)
{
    *out += '"';
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            *out += '\\';
            *out += c;
        } else if (static_cast<unsigned char>(c) < 0x20) {
            char escaped[8];
            std::snprintf(escaped, sizeof(escaped), "\\u%04x", static_cast<unsigned>(static_cast<unsigned char>(c)));
            *out += escaped;
        } else {
            *out += c;
        }
    }
    *out += '"';
}

std::string RangeText(int64_t begin, int64_t end)
{
    return "[" + std::to_string(begin) + ", " + std::to_string(end) + ")";
}

void AppendFinding(std::string *out, const Finding &finding)
{
    const auto text = [out](const char *key, const std::string &value) {
        *out += ", \"" + std::string(key) + "\": ";
        AppendText(out, value);
    };
    *out += "{\"kind\": ";
    AppendText(out, finding.kind);
    text("severity", finding.failure ? "failure" : "warning");
    text("message", finding.message);
    *out += ", \"core\": " + std::to_string(finding.core) + ", \"tile\": " + std::to_string(finding.tile);
    text("instruction", finding.instruction);
    text("file", finding.file);
    *out += ", \"line\": " + std::to_string(finding.line);
    text("memory", finding.memory);
    text("address", finding.memory.empty() ? "" : finding.memory + " " + RangeText(finding.begin, finding.end));
    *out += ", \"begin\": " + std::to_string(finding.begin) + ", \"end\": " + std::to_string(finding.end);
    text("kernel", finding.kernel);
    *out += ", \"count\": " + std::to_string(finding.count) + "}";
}

// What is the same for all spans that one instruction touches.
struct Access {
    int pipe;
    uint32_t number;
    bool write;
    bool checkWritten;
    bool automatic;
    bool local;
    uint32_t site;

    const char *Memory() const { return local ? "UB" : "GM"; }
};

bool Ordered(Core &core, const Access &access, int pipe, uint32_t number, bool automatic)
{
    Clock &clock = core.clocks[access.pipe];
    if (access.pipe == pipe) {
        return number == access.number || pipe == SCALAR || (pipe == VECTOR && autoSync) || clock.at[pipe] >= number;
    }
    if (clock.at[pipe] >= number) {
        return true;
    }
    if (autoSync && ((pipe == SCALAR && automatic) || (access.pipe == SCALAR && access.automatic))) {
        clock.at[pipe] = number;
        return true;
    }
    return false;
}

// Counts a finding that is known already, so that a fault in a loop does not write its message again and again.
bool Repeated(const char *kind, uint32_t site)
{
    const Where where = SiteWhere(site);
    const auto found = known.find(std::make_tuple(kind, where.file, where.line, SiteInstruction(site)));
    if (found == known.end()) {
        return false;
    }
    ++findings[found->second].count;
    return true;
}

void ReportHazard(const Access &access, int pipe, uint32_t site, bool wrote, uint64_t begin, uint64_t end)
{
    if (Repeated("hazard", access.site)) {
        return;
    }
    const std::string first = PipeName(pipe);
    const std::string second = PipeName(access.pipe);
    std::string cure = pipe == access.pipe
                           ? "PipeBarrier<PIPE_" + first + ">"
                           : "EnQue/DeQue or FreeTensor/AllocTensor of a queue, SetFlag/WaitFlag<HardEvent::" + first +
                                 "_" + second + ">, or PipeBarrier<PIPE_ALL>";
    Report("hazard", true, SiteInstruction(access.site), SiteWhere(access.site),
           Address{access.Memory(), static_cast<int64_t>(begin), static_cast<int64_t>(end)},
           std::string(SiteInstruction(access.site)) + " (" + second + ") " + (access.write ? "writes" : "reads") +
               " memory that " + SiteText(site) + " (" + first + ") " + (wrote ? "writes" : "reads") +
               ", and nothing orders them; needed: " + cure);
}

// Numbers up to which the instructions of a pipe are done for every other pipe that could touch the same memory.
void Floors(const Core &core, bool local, uint32_t *floors)
{
    for (int pipe = 0; pipe < PIPES; ++pipe) {
        uint32_t floor = UINT32_MAX;
        for (int other = 0; other < PIPES; ++other) {
            const bool never = local ? other == SCALAR && autoSync : other == VECTOR;
            const bool inOrder = other == pipe && (pipe == SCALAR || (pipe == VECTOR && autoSync));
            if (!never && !inOrder) {
                floor = std::min(floor, core.clocks[other].at[pipe]);
            }
        }
        floors[pipe] = floor;
    }
}

void Settle(Span *span, const uint32_t *floors)
{
    if (span->writer != 0 && ((span->automatic && autoSync) || span->writer <= floors[span->writerPipe])) {
        span->writer = 0;
    }
    for (int pipe = 0; pipe < PIPES; ++pipe) {
        if (span->readers[pipe] <= floors[pipe] || (pipe == SCALAR && autoSync)) {
            span->readers[pipe] = 0;
        }
    }
}

bool Same(const Span &a, const Span &b)
{
    return a.written == b.written && a.writer == b.writer &&
           (a.writer == 0 || (a.writerPipe == b.writerPipe && a.automatic == b.automatic)) &&
           std::equal(a.readers, a.readers + PIPES, b.readers);
}

// Joins span `at` with the one before it when nothing tells them apart any more.
bool Join(Spans *spans, size_t at, const uint32_t *floors)
{
    auto &list = spans->list;
    // The last span is the end mark.
    if (at == 0 || at + 1 >= list.size()) {
        return false;
    }
    Settle(&list[at - 1], floors);
    Settle(&list[at], floors);
    if (!Same(list[at - 1], list[at])) {
        return false;
    }
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(at));
    return true;
}

// Checks one span against an access; false: something was reported.
bool CheckSpan(Core &core, const Span &span, const Access &access, uint64_t begin, uint64_t end)
{
    bool clean = true;
    if (access.checkWritten && !span.written) {
        Report("uninitialised", true, SiteInstruction(access.site), SiteWhere(access.site),
               Address{access.Memory(), static_cast<int64_t>(begin), static_cast<int64_t>(end)},
               std::string(SiteInstruction(access.site)) + " reads " + std::to_string(end - begin) +
                   " bytes that nobody wrote");
        clean = false;
    }
    if (checksLevel != CHECKS_ALL) {
        return clean;
    }
    if (span.writer != 0 && !Ordered(core, access, span.writerPipe, span.writer, span.automatic)) {
        ReportHazard(access, span.writerPipe, span.writerSite, true, begin, end);
        clean = false;
    }
    if (access.write) {
        for (int pipe = 0; pipe < PIPES; ++pipe) {
            if (span.readers[pipe] != 0 && !Ordered(core, access, pipe, span.readers[pipe], true)) {
                ReportHazard(access, pipe, span.readerSites[pipe], false, begin, end);
                clean = false;
            }
        }
    }
    return clean;
}

void Record(Span *span, const Access &access)
{
    if (access.write) {
        span->writer = access.number;
        span->writerSite = access.site;
        span->writerPipe = static_cast<uint8_t>(access.pipe);
        span->automatic = access.pipe == SCALAR && access.automatic;
        span->written = true;
        std::fill(span->readers, span->readers + PIPES, 0U);
    } else {
        span->readers[access.pipe] = access.number;
        span->readerSites[access.pipe] = access.site;
    }
}

void TouchSpans(Core &core, Spans &spans, uint64_t begin, uint64_t end, const Access &access, bool check)
{
    if (begin >= end) {
        return;
    }
    auto &list = spans.list;
    size_t at = spans.Find(begin);
    if (check) {
        for (size_t i = at; list[i].begin < end; ++i) {
            CheckSpan(core, list[i], access, std::max(begin, list[i].begin), std::min(end, list[i + 1].begin));
        }
    }
    at = spans.Split(at, begin);
    size_t after = at;
    while (list[after].begin < end) {
        ++after;
    }
    if (list[after].begin != end) {
        after = spans.Split(after - 1, end);
    }
    if (access.write && after > at + 1) {
        list.erase(list.begin() + static_cast<std::ptrdiff_t>(at + 1),
                   list.begin() + static_cast<std::ptrdiff_t>(after));
    }
    const size_t last = access.write ? at + 1 : after;
    for (size_t i = at; i < last; ++i) {
        Record(&list[i], access);
    }
    uint32_t floors[PIPES];
    Floors(core, access.local, floors);
    Join(&spans, last, floors);
    Join(&spans, at, floors);
}

Spans &GlobalSpans(Core &core, Allocation *allocation)
{
    for (auto &entry : core.global) {
        if (entry.first == allocation) {
            return *entry.second;
        }
    }
    core.global.emplace_back(allocation, std::make_unique<Spans>());
    Spans &spans = *core.global.back().second;
    spans.Start(0, true);
    return spans;
}

// An operand with the memory it lies in: `allocation` null is the unified buffer, offsets from there.
struct Place {
    Allocation *allocation;
    uint64_t begin;
    uint64_t valid;  // bytes beyond this offset hold nothing that is recorded
};

bool Fail(const char *kind, const char *instruction, Where where, const char *memory, int64_t begin, int64_t end,
          const std::string &message)
{
    Report(kind, true, instruction, where, Address{memory, begin, end}, message);
    return false;
}

bool PlaceLocal(Core &core, const char *instruction, const Operand &operand, const uint8_t *high, Where where,
                Place *place)
{
    const auto *address = static_cast<const uint8_t *>(operand.address);
    const auto begin = address - core.ub;
    const auto end = high - core.ub;
    const auto *limit = static_cast<const uint8_t *>(operand.limit);
    const char *verb = operand.write ? " writes " : " reads ";
    if (begin % operand.alignment != 0 || (operand.blocks > 1 && operand.stride % operand.alignment != 0)) {
        return Fail("misaligned", instruction, where, "UB", begin, end,
                    std::string(instruction) + verb + "at UB byte " + std::to_string(begin) +
                        ", which is no multiple of " + std::to_string(operand.alignment));
    }
    const Buffer *buffer = nullptr;
    auto after = std::upper_bound(
        core.buffers.begin(), core.buffers.end(), begin,
        [](std::ptrdiff_t at, const Buffer &b) { return at < static_cast<int64_t>(b.begin); });
    if (after != core.buffers.begin()) {
        buffer = &*std::prev(after);
    }
    const int64_t bufferEnd = buffer == nullptr ? 0 : static_cast<int64_t>(buffer->begin) + buffer->bytes;
    if (limit != nullptr && high > limit && end <= bufferEnd) {
        return Fail("out_of_tensor", instruction, where, "UB", begin, end,
                    std::string(instruction) + verb + std::to_string(high - limit) +
                        " bytes beyond the end of the LocalTensor");
    }
    if (begin >= bufferEnd) {
        return Fail("out_of_buffer", instruction, where, "UB", begin, end,
                    std::string(instruction) + verb + "where no buffer is");
    }
    if (end > bufferEnd) {
        return Fail("out_of_buffer", instruction, where, "UB", begin, end,
                    std::string(instruction) + verb + std::to_string(end - bufferEnd) +
                        " bytes beyond the end of the " + std::to_string(buffer->bytes) + "-byte buffer");
    }
    if (limit != nullptr && high > limit) {
        return Fail("out_of_tensor", instruction, where, "UB", begin, end,
                    std::string(instruction) + verb + "beyond the end of the LocalTensor");
    }
    place->allocation = nullptr;
    place->begin = static_cast<uint64_t>(begin);
    place->valid = UB_RESERVED;
    return true;
}

// The end of the tensor at the address: that of the launch's argument, or of the allocation when no argument with a
// size lies in it. Null: the address is in front of the arguments of its allocation. `workspace`: the argument is the
// work space, which is the last but one of every kernel.
const uint8_t *TensorEnd(const Allocation &allocation, const uint8_t *address, bool *workspace)
{
    const uint8_t *allocationEnd = allocation.base + allocation.bytes;
    const uint8_t *base = nullptr;
    const uint8_t *end = nullptr;
    bool sized = false;
    for (size_t i = 0; i < currentLaunch->argumentBytes.size() && i < currentLaunch->arguments.size(); ++i) {
        const uint8_t *argument = currentLaunch->arguments[i];
        if (argument < allocation.base || argument > allocationEnd || currentLaunch->argumentBytes[i] == UINT64_MAX) {
            continue;
        }
        sized = true;
        if (argument <= address && argument >= base) {
            const uint8_t *argumentEnd = std::min(allocationEnd, argument + currentLaunch->argumentBytes[i]);
            end = argument == base ? std::max(end, argumentEnd) : argumentEnd;
            base = argument;
            *workspace = i + 2 == currentLaunch->arguments.size();
        }
    }
    return sized ? end : allocationEnd;
}

bool PlaceGlobal(const char *instruction, const Operand &operand, const uint8_t *high, Where where, Place *place)
{
    const auto *address = static_cast<const uint8_t *>(operand.address);
    const char *verb = operand.write ? " writes " : " reads ";
    Allocation *allocation = AllocationBelow(address);
    if (allocation == nullptr || address >= static_cast<uint8_t *>(allocation->block) + allocation->blockBytes) {
        return Fail(operand.write ? "gm_write_outside" : "gm_read_outside", instruction, where, "GM", 0, 0,
                    std::string(instruction) + verb + "at " + Hex(address) +
                        ", which is neither a buffer of this core nor device memory");
    }
    bool workspace = false;
    const uint8_t *end = TensorEnd(*allocation, address, &workspace);
    if (end == nullptr) {
        return Fail(operand.write ? "gm_write_outside" : "gm_read_outside", instruction, where, "GM",
                    address - allocation->base, high - allocation->base,
                    std::string(instruction) + verb + "in front of the start of the tensor in global memory");
    }
    const auto *limit = static_cast<const uint8_t *>(operand.limit);
    const int64_t begin = address - allocation->base;
    const int64_t stop = high - allocation->base;
    if (workspace && high > end) {
        return Fail("workspace", instruction, where, "GM", begin, stop,
                    std::string(instruction) + verb + std::to_string(high - end) +
                        " bytes beyond the work space that the tiling function asked for");
    }
    if (operand.write && high > end) {
        return Fail("gm_write_outside", instruction, where, "GM", begin, stop,
                    std::string(instruction) + " writes " + std::to_string(high - end) +
                        " bytes beyond the end of the tensor in global memory");
    }
    if (operand.write && limit != nullptr && high > limit) {
        return Fail("out_of_global", instruction, where, "GM", begin, stop,
                    std::string(instruction) + " writes " + std::to_string(high - limit) +
                        " bytes beyond the size given to SetGlobalBuffer");
    }
    if (!operand.write) {
        const bool beyondTensor = high > end;
        const uint8_t *bound = limit != nullptr && limit < end ? limit : end;
        const int64_t over = high - bound;
        if (over > 0) {
            const std::string message = std::string(instruction) + " reads " + std::to_string(over) + " bytes beyond " +
                                        (beyondTensor ? "the end of the tensor in global memory"
                                                      : "the size given to SetGlobalBuffer");
            if (over > static_cast<int64_t>(GM_READ_SLACK)) {
                return Fail(beyondTensor ? "gm_read_outside" : "out_of_global", instruction, where, "GM", begin, stop,
                            message);
            }
            Report("gm_read_past", false, instruction, where, Address{"GM", begin, stop},
                   message + " (device allocations are padded, so it goes well by luck)");
        }
    }
    place->allocation = allocation;
    place->begin = static_cast<uint64_t>(begin);
    place->valid = static_cast<uint64_t>(end - allocation->base);
    return true;
}

bool FindPlace(Core &core, const char *instruction, const Operand &operand, Where where, Place *place)
{
    const auto *address = static_cast<const uint8_t *>(operand.address);
    if (operand.stride < 0 && operand.blocks > 1) {
        return Fail("limit", instruction, where, nullptr, 0, 0,
                    std::string(instruction) + " goes backwards through memory");
    }
    const uint8_t *high = address + static_cast<uint64_t>(operand.blocks - 1) * static_cast<uint64_t>(operand.stride) +
                          operand.bytes;
    if (address >= core.ub && address < core.ub + UB_RESERVED) {
        return PlaceLocal(core, instruction, operand, high, where, place);
    }
    return PlaceGlobal(instruction, operand, high, where, place);
}

void TouchGlobal(Core &core, Allocation *allocation, uint64_t begin, uint64_t end, const Access &access, bool check)
{
    if (begin >= end) {
        return;
    }
    const bool atomic = core.atomic.operation != Atomic::NONE && access.pipe == static_cast<int>(Pipe::MTE3);
    if (check && access.checkWritten) {
        const uint64_t missing = allocation->written.FirstMissing(begin, end);
        if (missing < end) {
            Report("uninitialised", true, SiteInstruction(access.site), SiteWhere(access.site),
                   Address{"GM", static_cast<int64_t>(missing), static_cast<int64_t>(end)},
                   std::string(SiteInstruction(access.site)) + " reads global memory that nobody wrote");
        }
    }
    if (currentLaunch->blockDim > 1) {
        if (check) {
            const Owner *other = allocation->owners.Conflict(begin, end, core.block, epoch, access.write && atomic);
            if (other != nullptr) {
                const std::string message = std::string(SiteInstruction(access.site)) +
                                            (access.write ? " writes" : " reads") + " what core " +
                                            std::to_string(other->core) + " writes at " + SiteText(other->site) +
                                            ", with no SyncAll between them";
                Report(access.write ? "cores_write" : "cores_read", true, SiteInstruction(access.site),
                       SiteWhere(access.site),
                       Address{"GM", static_cast<int64_t>(std::max(begin, other->begin)),
                               static_cast<int64_t>(std::min(end, other->end))},
                       message);
            }
        }
        if (access.write) {
            allocation->owners.Set(Owner{begin, end, core.block, access.site, epoch, atomic});
        }
    }
    if (access.write) {
        allocation->written.Add(begin, end);
    }
    if (checksLevel == CHECKS_ALL) {
        Access ordered = access;
        ordered.checkWritten = false;
        TouchSpans(core, GlobalSpans(core, allocation), begin, end, ordered, check);
    }
}

void TouchOperand(Core &core, const Operand &operand, const Place &place, const Access &access)
{
    uint64_t begin = place.begin;
    uint64_t bytes = operand.bytes;
    uint32_t blocks = operand.blocks;
    if (blocks > 1 && operand.stride == static_cast<int64_t>(bytes)) {
        bytes *= blocks;
        blocks = 1;
    }
    for (uint32_t block = 0; block < blocks; ++block) {
        const uint64_t end = std::min(begin + bytes, place.valid);
        if (place.allocation == nullptr) {
            TouchSpans(core, core.local, begin, end, access, true);
        } else {
            TouchGlobal(core, place.allocation, begin, end, access, true);
        }
        begin += static_cast<uint64_t>(operand.stride);
    }
}

uint32_t ScalarNumber(Core &core)
{
    if (!core.scalarRuns) {
        ++core.issued[SCALAR];
        core.scalarRuns = true;
    }
    return core.issued[SCALAR];
}

void FlushStretch(Core &core, Core::Stretch *stretch, bool write)
{
    if (stretch->windowEnd == nullptr) {
        return;
    }
    if (stretch->begin != stretch->end) {
        const Access access{SCALAR, core.issued[SCALAR],           write,        false,
                            true,   stretch->allocation == nullptr, stretch->site};
        if (stretch->allocation == nullptr) {
            TouchSpans(core, core.local, static_cast<uint64_t>(stretch->begin - core.ub),
                  static_cast<uint64_t>(stretch->end - core.ub), access, false);
        } else {
            TouchGlobal(core, stretch->allocation, static_cast<uint64_t>(stretch->begin - stretch->allocation->base),
                        static_cast<uint64_t>(stretch->end - stretch->allocation->base), access, false);
        }
    }
    *stretch = Core::Stretch();
}

// Opens a stretch at [begin, end) when one span holds it, so that its neighbours need no check of their own.
bool OpenLocal(Core &core, Core::Stretch *stretch, uint64_t begin, uint64_t end, const Access &access)
{
    const auto &list = core.local.list;
    const size_t at = core.local.Find(begin);
    if (end > list[at + 1].begin || !CheckSpan(core, list[at], access, begin, end)) {
        return false;
    }
    auto after = std::upper_bound(core.buffers.begin(), core.buffers.end(), begin,
                                  [](uint64_t offset, const Buffer &b) { return offset < b.begin; });
    const Buffer &buffer = *std::prev(after);
    stretch->windowBegin = core.ub + std::max<uint64_t>(list[at].begin, buffer.begin);
    stretch->windowEnd = core.ub + std::min<uint64_t>(list[at + 1].begin, buffer.begin + buffer.bytes);
    stretch->begin = core.ub + begin;
    stretch->end = core.ub + end;
    stretch->site = access.site;
    return true;
}

void ScalarLine(Core &core, Allocation *allocation, uint64_t offset, uint32_t site)
{
    const uint64_t line = offset / CACHE_LINE;
    const auto inserted = allocation->lines.emplace(line, core.block);
    if (!inserted.second && inserted.first->second != core.block) {
        Report("cores_cache_line", true, SiteInstruction(site), SiteWhere(site),
               Address{"GM", static_cast<int64_t>(line * CACHE_LINE), static_cast<int64_t>((line + 1) * CACHE_LINE)},
               "the scalar units of cores " + std::to_string(inserted.first->second) + " and " +
                   std::to_string(core.block) +
                   " write one 64-byte cache line: each holds its own copy, and the one written back last wins");
    }
}

bool ScalarSlow(Core &core, const char *instruction, const uint8_t *address, uint32_t bytes, Touch touch,
                const void *limit, bool automatic, Where where)
{
    const bool write = touch != Touch::READ;
    const Operand operand{address, bytes, write, 1, limit};
    Place place{};
    if (!FindPlace(core, instruction, operand, where, &place)) {
        return false;
    }
    const uint32_t number = ScalarNumber(core);
    const uint32_t site = Site(instruction, where);
    const Access access{SCALAR, number, write, touch == Touch::READ, automatic, place.allocation == nullptr, site};
    core.clocks[SCALAR].at[SCALAR] = number;
    if (place.allocation == nullptr) {
        FlushStretch(core, &core.localWrites, true);
        FlushStretch(core, &core.localReads, false);
        Core::Stretch *stretch = write ? &core.localWrites : &core.localReads;
        if (!OpenLocal(core, stretch, place.begin, place.begin + bytes, access)) {
            TouchSpans(core, core.local, place.begin, place.begin + bytes, access, true);
        }
        return true;
    }
    FlushStretch(core, &core.globalReads, false);
    Allocation *allocation = place.allocation;
    const uint64_t end = std::min(place.begin + bytes, place.valid);
    if (write) {
        ScalarLine(core, allocation, place.begin, site);
    }
    TouchGlobal(core, allocation, place.begin, end, access, true);
    return true;
}

}  // namespace

const char *PipeName(int pipe)
{
    static const char *const names[] = {"S", "V", "MTE2", "MTE3"};
    return names[pipe];
}

uint32_t Site(const char *instruction, Where where)
{
    const size_t slot = (reinterpret_cast<uintptr_t>(instruction) / 4 + static_cast<size_t>(where.line) * 31 +
                         reinterpret_cast<uintptr_t>(where.file)) %
                        SITE_CACHE;
    const SiteEntry &cached = sites[siteCache[slot]];
    if (cached.instruction == instruction && cached.where.line == where.line && cached.where.file == where.file) {
        return siteCache[slot];
    }
    const auto next = static_cast<uint32_t>(sites.size());
    const auto inserted = siteNumbers.emplace(std::make_tuple(instruction, where.file, where.line), next);
    if (inserted.second) {
        sites.push_back(SiteEntry{instruction, where});
    }
    siteCache[slot] = inserted.first->second;
    return inserted.first->second;
}

const char *SiteInstruction(uint32_t site)
{
    return sites[site].instruction;
}

Where SiteWhere(uint32_t site)
{
    return sites[site].where;
}

std::string SiteText(uint32_t site)
{
    const SiteEntry &entry = sites[site];
    return std::string(entry.instruction) + " at " + entry.where.file + ":" + std::to_string(entry.where.line);
}

void Report(const char *kind, bool failure, const char *instruction, Where where, const Address &address,
            const std::string &message)
{
    const auto inserted = known.emplace(std::make_tuple(kind, where.file, where.line, instruction), findings.size());
    if (!inserted.second) {
        ++findings[inserted.first->second].count;
        return;
    }
    if (findings.size() >= MAX_FINDINGS) {
        known.erase(inserted.first);
        ++dropped;
        return;
    }
    findings.push_back(Finding{kind, failure, message, current == nullptr ? -1 : static_cast<int64_t>(current->block),
                               current == nullptr ? -1 : current->tile, instruction, where.file, where.line,
                               address.memory == nullptr ? "" : address.memory, address.begin, address.end,
                               currentLaunch == nullptr || currentLaunch->name == nullptr ? "" : currentLaunch->name,
                               1});
}

void LimitBroken(const char *instruction, const char *message, Where where)
{
    if (checksLevel != CHECKS_NONE) {
        Report("limit", true, instruction, where, Address{nullptr, 0, 0}, std::string(instruction) + ": " + message);
    }
}

void StartChecks()
{
    // Sites point into kernel libraries, which may have been closed since the last launch.
    sites.erase(sites.begin() + 1, sites.end());
    siteNumbers.clear();
    std::fill(siteCache, siteCache + SITE_CACHE, 0U);
    ForgetOwners();
    ++epoch;
}

void StartCore(Core &core)
{
    core.local.list.reserve(64);
    core.local.Start(0, false);
}

void EndCore(Core &core)
{
    if (checksLevel == CHECKS_NONE) {
        return;
    }
    FlushScalar(core);
    for (int from = 0; from < PIPES; ++from) {
        for (int to = 0; to < PIPES; ++to) {
            for (int id = 0; id < EVENT_IDS; ++id) {
                const Flag &flag = core.flags[from][to][id];
                if (flag.set) {
                    Report("flag_left_set", true, SiteInstruction(flag.site), SiteWhere(flag.site),
                           Address{nullptr, 0, 0},
                           std::string("flag ") + PipeName(from) + "_" + PipeName(to) + " " + std::to_string(id) +
                               " is still set at the end of the kernel: a WaitFlag is missing");
                }
            }
        }
    }
}

void FlushScalar(Core &core)
{
    FlushStretch(core, &core.localWrites, true);
    FlushStretch(core, &core.localReads, false);
    FlushStretch(core, &core.globalReads, false);
    core.scalarRuns = false;
}

bool BeginChecked(const char *instruction, Pipe pipe, const Operand *operands, int count, Where where)
{
    if (current == nullptr) {
        return true;
    }
    Core &core = *current;
    FlushScalar(core);
    constexpr int MAX_OPERANDS = 8;
    Place places[MAX_OPERANDS];
    if (count > MAX_OPERANDS || static_cast<int>(pipe) >= PIPES) {
        StopBlock("internal", instruction, "an instruction of more than 8 operands or of no vector core pipe", where);
    }
    bool whole = true;
    for (int i = 0; i < count; ++i) {
        if (operands[i].bytes != 0 && operands[i].blocks != 0) {
            whole = FindPlace(core, instruction, operands[i], where, &places[i]) && whole;
        }
    }
    if (!whole) {
        return false;
    }
    const int index = static_cast<int>(pipe);
    const uint32_t number = ++core.issued[index];
    // The scalar unit issues every instruction: what it has waited for is done for all that comes after.
    if (index != SCALAR) {
        const uint32_t own = core.clocks[index].at[SCALAR];
        core.clocks[index].Join(core.clocks[SCALAR]);
        core.clocks[index].at[SCALAR] = own;
    }
    const uint32_t site = Site(instruction, where);
    for (const bool write : {false, true}) {
        for (int i = 0; i < count; ++i) {
            if (operands[i].write != write || operands[i].bytes == 0 || operands[i].blocks == 0) {
                continue;
            }
            if (write && pipe == Pipe::MTE2 && core.tileQueue < 0 && places[i].allocation == nullptr) {
                core.tileAddress = core.tileAddress == nullptr ? operands[i].address : core.tileAddress;
                core.tile += core.tileAddress == operands[i].address ? 1 : 0;
            }
            const Access access{index, number, write, !write, false, places[i].allocation == nullptr, site};
            TouchOperand(core, operands[i], places[i], access);
        }
    }
    return true;
}

bool ScalarChecked(const char *instruction, const void *address, uint32_t bytes, Touch touch, const void *limit,
                   bool automatic, Where where)
{
    if (current == nullptr) {
        return true;
    }
    Core &core = *current;
    const auto *begin = static_cast<const uint8_t *>(address);
    const uint8_t *end = begin + bytes;
    Core::Stretch &stretch = touch == Touch::READ ? core.localReads : core.localWrites;
    if (begin >= stretch.windowBegin && end <= stretch.windowEnd &&
        (limit == nullptr || end <= static_cast<const uint8_t *>(limit))) {
        if (begin == stretch.end) {
            stretch.end = end;
            return true;
        }
        if (begin >= stretch.begin && end <= stretch.end) {
            return true;
        }
    }
    return ScalarSlow(core, instruction, begin, bytes, touch, limit, automatic, where);
}

void Barrier(Pipe pipe, Where where)
{
    (void)where;
    Core &core = *current;
    if (checksLevel == CHECKS_NONE) {
        return;
    }
    FlushScalar(core);
    if (pipe == Pipe::ALL) {
        for (Clock &clock : core.clocks) {
            std::copy(core.issued, core.issued + PIPES, clock.at);
        }
    } else {
        const int index = static_cast<int>(pipe);
        core.clocks[index].at[index] = core.issued[index];
    }
}

namespace {

bool CheckFlag(const char *instruction, Pipe from, Pipe to, int32_t id, Where where)
{
    if (from == Pipe::ALL || to == Pipe::ALL || static_cast<int>(from) >= PIPES || static_cast<int>(to) >= PIPES) {
        LimitBroken(instruction, "only the pipes S, V, MTE2 and MTE3 have flags on a vector core", where);
        return false;
    }
    return Require(id >= 0 && id < EVENT_IDS, instruction, "the event id is not 0 to 7", where);
}

std::string FlagText(Pipe from, Pipe to, int32_t id)
{
    return std::string("flag ") + PipeName(static_cast<int>(from)) + "_" + PipeName(static_cast<int>(to)) + " " +
           std::to_string(id);
}

}  // namespace

void FlagSet(Pipe from, Pipe to, int32_t id, Where where)
{
    Core &core = *current;
    if (checksLevel == CHECKS_NONE || !CheckFlag("SetFlag", from, to, id, where)) {
        return;
    }
    FlushScalar(core);
    const int source = static_cast<int>(from);
    Flag &flag = core.flags[source][static_cast<int>(to)][id];
    if (flag.set) {
        Report("flag_set_twice", true, "SetFlag", where, Address{nullptr, 0, 0},
               FlagText(from, to, id) + " is set again before WaitFlag; first set by " + SiteText(flag.site));
    }
    flag.set = true;
    flag.clock = core.clocks[source];
    if (source != SCALAR) {
        const uint32_t own = flag.clock.at[SCALAR];
        flag.clock.Join(core.clocks[SCALAR]);
        flag.clock.at[SCALAR] = own;
    }
    flag.clock.at[source] = core.issued[source];
    flag.site = Site("SetFlag", where);
}

void FlagWait(Pipe from, Pipe to, int32_t id, Where where)
{
    Core &core = *current;
    if (checksLevel == CHECKS_NONE || !CheckFlag("WaitFlag", from, to, id, where)) {
        return;
    }
    FlushScalar(core);
    Flag &flag = core.flags[static_cast<int>(from)][static_cast<int>(to)][id];
    if (!flag.set) {
        Report("flag_never_set", true, "WaitFlag", where, Address{nullptr, 0, 0},
               FlagText(from, to, id) + " is waited for and was not set: the core would wait for ever");
        return;
    }
    flag.set = false;
    core.clocks[static_cast<int>(to)].Join(flag.clock);
}

void CacheFlush(const void *address, uint64_t bytes, bool entire, Where where)
{
    (void)where;
    if (checksLevel == CHECKS_NONE) {
        return;
    }
    FlushScalar(*current);
    if (entire) {
        for (auto &entry : current->global) {
            auto &lines = entry.first->lines;
            for (auto line = lines.begin(); line != lines.end();) {
                line = line->second == current->block ? lines.erase(line) : std::next(line);
            }
        }
        return;
    }
    Allocation *allocation = AllocationBelow(address);
    if (allocation != nullptr) {
        const auto offset = static_cast<uint64_t>(static_cast<const uint8_t *>(address) - allocation->base);
        for (uint64_t line = offset / CACHE_LINE; line <= (offset + bytes - 1) / CACHE_LINE; ++line) {
            const auto found = allocation->lines.find(line);
            if (found != allocation->lines.end() && found->second == current->block) {
                allocation->lines.erase(found);
            }
        }
    }
}

}  // namespace gnll

extern "C" {

void gnllSimConfigure(const char *key, const char *value)
{
    using namespace gnll;
    const std::string name = key == nullptr ? "" : key;
    const std::string text = value == nullptr ? "" : value;
    if (name == "checks" && (text == "all" || text == "memory" || text == "none")) {
        checksLevel = text == "all" ? CHECKS_ALL : text == "memory" ? CHECKS_MEMORY : CHECKS_NONE;
        return;
    }
    if (name == "auto-sync" && (text == "on" || text == "off")) {
        autoSync = text == "on";
        return;
    }
    const bool number = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos && text.size() <= 19;
    if (name == "cores" && number && std::strtoul(text.c_str(), nullptr, 10) >= 1 &&
        std::strtoul(text.c_str(), nullptr, 10) <= 65535) {
        coreCount = static_cast<uint32_t>(std::strtoul(text.c_str(), nullptr, 10));
        return;
    }
    if (name == "shuffle" && (number || text.empty())) {
        shuffleSeed = text;
        return;
    }
    Report("configuration", true, "gnllSimConfigure", Where{"", 0}, Address{nullptr, 0, 0},
           "the simulator has no setting " + name + "=" + text);
}

const char *gnllSimDiagnostics(void)
{
    static std::string text;
    text = "[";
    for (size_t i = 0; i < gnll::findings.size(); ++i) {
        text += i == 0 ? "" : ",\n ";
        gnll::AppendFinding(&text, gnll::findings[i]);
    }
    if (gnll::dropped != 0) {
        gnll::Finding more{};
        more.kind = "more";
        more.message = std::to_string(gnll::dropped) + " more findings were not kept";
        more.core = -1;
        more.tile = -1;
        more.count = gnll::dropped;
        text += ",\n ";
        gnll::AppendFinding(&text, more);
    }
    text += "]";
    return text.c_str();
}

void gnllSimReset(void)
{
    gnll::findings.clear();
    gnll::known.clear();
    gnll::dropped = 0;
}
}
