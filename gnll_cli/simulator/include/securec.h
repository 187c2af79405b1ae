// The bounded memory and string functions that host code uses instead of those of the C library.
#pragma once

#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstring>

using errno_t = int;
#ifndef EOK
#define EOK 0
#endif

// The memory functions return EOK, EINVAL for a null pointer or ERANGE where the target is too small (and do nothing).
inline errno_t memset_s(void *target, size_t size, int value, size_t count)
{
    if (target == nullptr) {
        return EINVAL;
    }
    if (count > size) {
        return ERANGE;
    }
    std::memset(target, value, count);
    return EOK;
}

inline errno_t memcpy_s(void *target, size_t size, const void *source, size_t count)
{
    if (target == nullptr || source == nullptr) {
        return EINVAL;
    }
    if (count > size) {
        return ERANGE;
    }
    std::memcpy(target, source, count);
    return EOK;
}

inline errno_t memmove_s(void *target, size_t size, const void *source, size_t count)
{
    if (target == nullptr || source == nullptr) {
        return EINVAL;
    }
    if (count > size) {
        return ERANGE;
    }
    std::memmove(target, source, count);
    return EOK;
}

inline errno_t strcpy_s(char *target, size_t size, const char *source)
{
    if (target == nullptr || source == nullptr) {
        return EINVAL;
    }
    return memcpy_s(target, size, source, std::strlen(source) + 1);
}

inline errno_t strncpy_s(char *target, size_t size, const char *source, size_t count)
{
    if (target == nullptr || source == nullptr) {
        return EINVAL;
    }
    const size_t length = ::strnlen(source, count);
    if (length + 1 > size) {
        return ERANGE;
    }
    std::memcpy(target, source, length);
    target[length] = '\0';
    return EOK;
}

// The print functions return the number of characters, or -1 where they do not fit.
__attribute__((format(printf, 3, 4))) inline int sprintf_s(char *target, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length = std::vsnprintf(target, size, format, arguments);
    va_end(arguments);
    return length < 0 || static_cast<size_t>(length) >= size ? -1 : length;
}

__attribute__((format(printf, 4, 5))) inline int snprintf_s(char *target, size_t size, size_t count, const char *format,
                                                            ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length = std::vsnprintf(target, size < count + 1 ? size : count + 1, format, arguments);
    va_end(arguments);
    return length < 0 || static_cast<size_t>(length) >= size || static_cast<size_t>(length) > count ? -1 : length;
}
