// What every instruction of the simulator calls: pipes, source positions, operands and the check before memory is
// touched.
#pragma once

#include <cstdint>

namespace gnll {

// The units of an AI core that execute instructions on their own queues. S is the scalar unit, which issues all others.
enum class Pipe : uint8_t { S, V, MTE2, MTE3, M, MTE1, FIX, ALL };

// The line of the package that called an instruction.
struct Where {
    const char *file;
    int line;

    // A constructor, and called with parentheses: in the braces of an aggregate g++ takes the line of the declaration.
    constexpr Where(const char *callerFile, int callerLine) : file(callerFile), line(callerLine) {}
};

// Default of the last parameter of every API function: the caller's file and line.
#define GNLL_HERE ::gnll::Where(__builtin_FILE(), __builtin_LINE())

// Memory that one instruction touches: `blocks` ranges of `bytes` each, `stride` bytes from the start of one to the
// start of the next. `limit` is the end of the LocalTensor or GlobalTensor the address came from (null: only the
// buffer is checked). Local addresses must be multiples of `alignment` bytes. LocalTensor::Reads and ::Writes fill
// all of it.
struct Operand {
    const void *address;
    uint64_t bytes;
    bool write;
    uint32_t alignment = 32;
    const void *limit = nullptr;
    uint32_t blocks = 1;
    int64_t stride = 0;
};

enum : int { CHECKS_NONE = 0, CHECKS_MEMORY = 1, CHECKS_ALL = 2 };

// The level in force; set by gnllSimConfigure("checks", ...).
extern int checksLevel;

bool BeginChecked(const char *instruction, Pipe pipe, const Operand *operands, int count, Where where);

// Checks every operand of an instruction (bounds, alignment, initialised, hazards) and records it as touched.
// False: a failure was reported and the instruction must not touch memory. Operands of zero bytes are not looked at.
inline bool Begin(const char *instruction, Pipe pipe, const Operand *operands, int count, Where where)
{
    return __builtin_expect(checksLevel == CHECKS_NONE, 1) || BeginChecked(instruction, pipe, operands, count, where);
}

// One element of LocalTensor or GlobalTensor touched by the scalar unit. `automatic`: the compiler's automatic
// synchronisation covers this kind of access.
enum class Touch : uint8_t { READ, WRITE, REFERENCE };
bool ScalarChecked(const char *instruction, const void *address, uint32_t bytes, Touch touch, const void *limit,
                   bool automatic, Where where);

inline bool Scalar(const char *instruction, const void *address, uint32_t bytes, Touch touch, const void *limit,
                   bool automatic, Where where)
{
    return __builtin_expect(checksLevel == CHECKS_NONE, 1) ||
           ScalarChecked(instruction, address, bytes, touch, limit, automatic, where);
}

// A parameter outside of what the instruction takes (repeat times, mask, stride, block count, event id ...). Reports
// kind "limit" with the message and returns false when `holds` is false; also with checks off, where it says nothing.
void LimitBroken(const char *instruction, const char *message, Where where);

inline bool Require(bool holds, const char *instruction, const char *message, Where where)
{
    if (__builtin_expect(!holds, 0)) {
        LimitBroken(instruction, message, where);
    }
    return holds;
}

}  // namespace gnll
