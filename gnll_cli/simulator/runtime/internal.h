// Shared by the runtime's own files: device allocations, the core that runs now, and the records of the checks.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "gnll/core.h"
#include "gnll/device.h"
#include "gnll/pipe.h"
#include "gnll/sync.h"

namespace gnll {

constexpr uint32_t UB_BYTES = 196608;
// Buffers beyond the end of the unified buffer are reported and still get memory up to here, so that the run goes on.
constexpr uint32_t UB_RESERVED = UB_BYTES + 1024 * 1024;
constexpr uint32_t MAX_BUFFERS = 64;
constexpr uint32_t MAX_TENSORS = 8;
constexpr uint64_t GM_READ_SLACK = 256;
constexpr int PIPES = 4;
constexpr int EVENT_IDS = 8;

// A set of byte ranges, kept as sorted, disjoint and not touching intervals.
class Ranges {
public:
    void Add(uint64_t begin, uint64_t end);
    // The first byte of [begin, end) that is not in the set; `end` when all are.
    uint64_t FirstMissing(uint64_t begin, uint64_t end);
    void Clear() { list_.clear(); }

private:
    struct Range {
        uint64_t begin;
        uint64_t end;
    };
    std::vector<Range> list_;
    size_t last_ = 0;
};

// Which core wrote which bytes of global memory since the last SyncAll.
struct Owner {
    uint64_t begin;
    uint64_t end;
    uint32_t core;
    uint32_t site;
    uint32_t epoch;
    bool atomic;
};

class Owners {
public:
    // The first conflicting owner of [begin, end), or null.
    const Owner *Conflict(uint64_t begin, uint64_t end, uint32_t core, uint32_t epoch, bool atomic) const;
    void Set(const Owner &owner);
    void Clear() { list_.clear(); }

private:
    size_t Find(uint64_t begin) const;
    std::vector<Owner> list_;
};

struct Allocation {
    uint8_t *base;
    uint64_t bytes;
    void *block;
    uint64_t blockBytes;
    Ranges written;
    Owners owners;
    // 64-byte line -> core that wrote it with the scalar unit and has not flushed it.
    std::unordered_map<uint64_t, uint32_t> lines;
};

// The allocation with the highest base at or below the address; null: none.
Allocation *AllocationBelow(const void *address);
// Forgets what the cores of the last launch wrote where.
void ForgetOwners();

// How far each pipe is known to have come, by number of its instructions.
struct Clock {
    uint32_t at[PIPES] = {0, 0, 0, 0};

    void Join(const Clock &other)
    {
        for (int i = 0; i < PIPES; ++i) {
            at[i] = at[i] < other.at[i] ? other.at[i] : at[i];
        }
    }
};

// Last touches of the bytes from `begin` to the begin of the next span.
struct Span {
    uint64_t begin;
    uint32_t writer;      // number of the instruction of writerPipe; 0: none that still matters
    uint32_t writerSite;
    uint32_t readers[PIPES];
    uint32_t readerSites[PIPES];
    uint8_t writerPipe;
    bool automatic;       // the writer is a scalar access that the automatic synchronisation covers
    bool written;
};

struct Spans {
    std::vector<Span> list;

    void Start(uint64_t begin, bool written);
    size_t Find(uint64_t at) const;
    // Makes a span begin at `at`, which lies in span `found`; the number of that span.
    size_t Split(size_t found, uint64_t at);
};

struct Buffer {
    uint32_t begin;
    uint32_t bytes;
    int32_t queue;
    enum State : uint8_t { IDLE, ALLOCATED, QUEUED, DEQUEUED } state;
    Clock filled;
    Clock drained;
    uint32_t site;
};

struct Queue {
    int32_t first;
    uint32_t count;
    uint32_t cursor;
    uint32_t capacity;
    Pipe from;
    Pipe to;
    std::vector<int32_t> waiting;
};

struct Flag {
    bool set;
    Clock clock;
    uint32_t site;
};

// One block of a launch while it runs.
struct Core {
    uint32_t block = 0;
    uint8_t *ub = nullptr;
    uint32_t used = 0;
    std::vector<Buffer> buffers;
    std::vector<Queue> queues;
    Spans local;
    std::vector<std::pair<Allocation *, std::unique_ptr<Spans>>> global;
    Clock clocks[PIPES];
    uint32_t issued[PIPES] = {0, 0, 0, 0};
    bool scalarRuns = false;    // the last instruction was the scalar unit's: the next one of its continues it
    Flag flags[PIPES][PIPES][EVENT_IDS] = {};
    uint8_t events[PIPES][PIPES] = {};
    AtomicMode atomic = {Atomic::NONE, nullptr};
    AscendC::TPipe *pipe = nullptr;
    int64_t tile = -1;
    const void *tileAddress = nullptr;
    int32_t tileQueue = -1;
    // Scalar accesses that go on inside a range which was checked once; recorded when another instruction comes.
    struct Stretch {
        const uint8_t *windowBegin = nullptr;
        const uint8_t *windowEnd = nullptr;
        const uint8_t *begin = nullptr;
        const uint8_t *end = nullptr;
        uint32_t site = 0;
        Allocation *allocation = nullptr;
    } localReads, localWrites, globalReads;
};

extern Core *current;
extern bool autoSync;
extern uint32_t coreCount;
extern std::string shuffleSeed;
extern uint32_t epoch;
extern const Launch *currentLaunch;

// A line of the package with the instruction called there, by number.
uint32_t Site(const char *instruction, Where where);
const char *SiteInstruction(uint32_t site);
Where SiteWhere(uint32_t site);
std::string SiteText(uint32_t site);

// Bytes that a finding is about; UB offsets or offsets in an allocation. `memory` null: about no memory.
struct Address {
    const char *memory;
    int64_t begin;
    int64_t end;
};

void Report(const char *kind, bool failure, const char *instruction, Where where, const Address &address,
            const std::string &message);
void StartChecks();
void StartCore(Core &core);
void EndCore(Core &core);
void FlushScalar(Core &core);
const char *PipeName(int pipe);

}  // namespace gnll
