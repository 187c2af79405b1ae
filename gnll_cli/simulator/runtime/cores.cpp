// The blocks of a launch: fibers that run one after the other and wait for each other only in SyncAll.
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "gnll/kernel.h"
#include "internal.h"

namespace gnll {

Core *current = nullptr;
const Launch *currentLaunch = nullptr;
uint32_t coreCount = 48;
std::string shuffleSeed;
uint32_t epoch = 1;

namespace {

constexpr uint64_t STACK_BYTES = 1024 * 1024;
constexpr uint64_t PAGE = 4096;
constexpr int TIMEOUT = 507034;
constexpr int EXCEPTION = 507035;
constexpr int PARAMETER_ERROR = 107000;

struct StopRequest {
};

// Memory of one fiber, kept for the next: the stack with a page below it that faults, and the unified buffer.
struct Memory {
    uint8_t *stack;
    uint8_t *ub;
};

std::vector<Memory> spare;

Memory TakeMemory()
{
    if (!spare.empty()) {
        const Memory memory = spare.back();
        spare.pop_back();
        return memory;
    }
    const uint64_t bytes = PAGE + STACK_BYTES + UB_RESERVED;
    void *block = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (block == MAP_FAILED) {
        return Memory{nullptr, nullptr};
    }
    mprotect(block, PAGE, PROT_NONE);
    auto *base = static_cast<uint8_t *>(block);
    return Memory{base + PAGE, base + PAGE + STACK_BYTES};
}

struct Fiber {
    enum State : uint8_t { NEW, RUNNING, WAITING, DONE } state = NEW;
    Memory memory = {nullptr, nullptr};
    std::unique_ptr<ucontext_t> context;
    std::unique_ptr<Core> core;
    Where waitsAt = {"", 0};
};

ucontext_t scheduler;
Fiber *running = nullptr;
bool stopped = false;

void FiberMain()
{
    Fiber &fiber = *running;
    try {
        std::vector<uint8_t *> arguments = currentLaunch->arguments;
        currentLaunch->entry(arguments.data());
        EndCore(*fiber.core);
    } catch (const StopRequest &) {
        stopped = true;
    }
    fiber.state = Fiber::DONE;
    swapcontext(fiber.context.get(), &scheduler);
}

void Resume(Fiber &fiber)
{
    running = &fiber;
    current = fiber.core.get();
    fiber.state = Fiber::RUNNING;
    swapcontext(&scheduler, fiber.context.get());
    current = nullptr;
    running = nullptr;
    if (fiber.state == Fiber::DONE) {
        spare.push_back(fiber.memory);
    }
}

bool Start(Fiber &fiber, uint32_t block)
{
    fiber.memory = TakeMemory();
    if (fiber.memory.stack == nullptr) {
        return false;
    }
    fiber.core = std::make_unique<Core>();
    fiber.context = std::make_unique<ucontext_t>();
    fiber.core->block = block;
    fiber.core->ub = fiber.memory.ub;
    StartCore(*fiber.core);
    getcontext(fiber.context.get());
    fiber.context->uc_stack.ss_sp = fiber.memory.stack;
    fiber.context->uc_stack.ss_size = STACK_BYTES;
    fiber.context->uc_link = nullptr;
    makecontext(fiber.context.get(), FiberMain, 0);
    Resume(fiber);
    return true;
}

// A generator of its own (splitmix64), so that a seed means one order with every library.
uint64_t Next(uint64_t *state)
{
    *state += 0x9E3779B97F4A7C15ULL;
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
}

void Shuffle(std::vector<uint32_t> *order, uint64_t *state)
{
    for (size_t i = order->size(); i > 1; --i) {
        std::swap((*order)[i - 1], (*order)[Next(state) % i]);
    }
}

}  // namespace

uint32_t CoreCount()
{
    return coreCount;
}

int RunKernel(const Launch &launch)
{
    if (launch.entry == nullptr || launch.blockDim == 0 || current != nullptr) {
        return PARAMETER_ERROR;
    }
    currentLaunch = &launch;
    stopped = false;
    StartChecks();
    if (checksLevel != CHECKS_NONE && launch.blockDim > coreCount) {
        Report("block_dim", true, "launch", Where{"", 0}, Address{nullptr, 0, 0},
               "the kernel was launched on " + std::to_string(launch.blockDim) + " blocks, the device has " +
                   std::to_string(coreCount) + " vector cores");
    }
    std::vector<Fiber> fibers(launch.blockDim);
    std::vector<uint32_t> order(launch.blockDim);
    std::iota(order.begin(), order.end(), 0U);
    uint64_t seed = shuffleSeed.empty() ? 0 : std::strtoull(shuffleSeed.c_str(), nullptr, 10);
    int code = 0;
    uint32_t done = 0;
    while (code == 0) {
        if (!shuffleSeed.empty()) {
            Shuffle(&order, &seed);
        }
        for (const uint32_t block : order) {
            Fiber &fiber = fibers[block];
            if (fiber.state == Fiber::NEW) {
                if (!Start(fiber, block)) {
                    code = PARAMETER_ERROR;
                    break;
                }
            } else if (fiber.state == Fiber::WAITING) {
                Resume(fiber);
            }
            if (fiber.state == Fiber::DONE) {
                fiber.core.reset();
                fiber.context.reset();
            }
        }
        const auto isDone = [](const Fiber &fiber) { return fiber.state == Fiber::DONE; };
        done = static_cast<uint32_t>(std::count_if(fibers.begin(), fibers.end(), isDone));
        if (code != 0 || done == launch.blockDim) {
            break;
        }
        if (done != 0 && stopped) {
            break;  // the others wait for a block that was stopped, which is reported already
        }
        if (done != 0) {
            const auto waiting = std::find_if_not(fibers.begin(), fibers.end(), isDone);
            current = waiting->core.get();
            Report("sync_all", true, "SyncAll", waiting->waitsAt, Address{nullptr, 0, 0},
                   std::to_string(launch.blockDim - done) + " of " + std::to_string(launch.blockDim) +
                       " blocks wait in SyncAll for blocks that have ended");
            current = nullptr;
            code = TIMEOUT;
        }
        ++epoch;
    }
    // Blocks that still wait are given up: their stacks are kept, the objects on them are not destroyed.
    for (Fiber &fiber : fibers) {
        if (fiber.state == Fiber::WAITING) {
            spare.push_back(fiber.memory);
        }
    }
    currentLaunch = nullptr;
    return code == 0 && stopped ? EXCEPTION : code;
}

void SyncBlocks(Where where)
{
    Barrier(Pipe::ALL, where);
    running->waitsAt = where;
    running->state = Fiber::WAITING;
    swapcontext(running->context.get(), &scheduler);
}

void StopBlock(const char *kind, const char *instruction, const char *message, Where where)
{
    Report(kind, true, instruction, where, Address{nullptr, 0, 0}, message);
    throw StopRequest();
}

uint64_t TilingKey()
{
    return currentLaunch->tilingKey;
}

void ReadTiling(void *destination, const void *tiling, uint64_t bytes, Where where)
{
    const auto *from = static_cast<const uint8_t *>(tiling);
    const uint8_t *begin = currentLaunch->tiling;
    uint64_t available = currentLaunch->tilingBytes;
    if (from != begin || begin == nullptr) {
        // Not the launch's own tiling argument: the kernel made the pointer, and nothing is known of its bounds.
        available = from == nullptr ? 0 : bytes;
    }
    const uint64_t copied = std::min(bytes, available);
    if (copied != 0) {
        std::memcpy(destination, from, copied);
    }
    if (copied < bytes) {
        std::memset(static_cast<uint8_t *>(destination) + copied, 0xA5, bytes - copied);
        Report("tiling_overread", true, "GET_TILING_DATA", where,
               Address{"tiling", static_cast<int64_t>(copied), static_cast<int64_t>(bytes)},
               "the kernel reads " + std::to_string(bytes) + " bytes of tiling data, the tiling function wrote " +
                   std::to_string(available));
    }
}

AtomicMode &CurrentAtomic()
{
    return current->atomic;
}

}  // namespace gnll

namespace AscendC {

int64_t GetBlockIdx()
{
    return ::gnll::current->block;
}

int64_t GetBlockNum()
{
    return ::gnll::currentLaunch->blockDim;
}

}  // namespace AscendC
