// The records of byte ranges: what was written, which core wrote it, and which instructions touched it last.
#include <algorithm>

#include "internal.h"

namespace gnll {

void Ranges::Add(uint64_t begin, uint64_t end)
{
    if (begin >= end) {
        return;
    }
    if (last_ < list_.size() && list_[last_].begin <= begin && begin <= list_[last_].end) {
        if (end <= list_[last_].end) {
            return;
        }
        if (last_ + 1 == list_.size() || end < list_[last_ + 1].begin) {
            list_[last_].end = end;
            return;
        }
    }
    auto first = std::lower_bound(list_.begin(), list_.end(), begin,
                                  [](const Range &range, uint64_t at) { return range.end < at; });
    auto after = first;
    while (after != list_.end() && after->begin <= end) {
        begin = std::min(begin, after->begin);
        end = std::max(end, after->end);
        ++after;
    }
    last_ = static_cast<size_t>(first - list_.begin());
    if (first == after) {
        list_.insert(first, Range{begin, end});
        return;
    }
    *first = Range{begin, end};
    list_.erase(first + 1, after);
}

uint64_t Ranges::FirstMissing(uint64_t begin, uint64_t end)
{
    if (last_ >= list_.size() || begin < list_[last_].begin || begin >= list_[last_].end) {
        auto after = std::upper_bound(list_.begin(), list_.end(), begin,
                                      [](uint64_t at, const Range &range) { return at < range.begin; });
        if (after == list_.begin() || begin >= std::prev(after)->end) {
            return begin;
        }
        last_ = static_cast<size_t>(std::prev(after) - list_.begin());
    }
    return std::min(end, list_[last_].end);
}

size_t Owners::Find(uint64_t begin) const
{
    return static_cast<size_t>(
        std::upper_bound(list_.begin(), list_.end(), begin,
                         [](uint64_t at, const Owner &owner) { return at < owner.end; }) -
        list_.begin());
}

const Owner *Owners::Conflict(uint64_t begin, uint64_t end, uint32_t core, uint32_t now, bool atomic) const
{
    for (size_t i = Find(begin); i < list_.size() && list_[i].begin < end; ++i) {
        if (list_[i].core != core && list_[i].epoch == now && !(atomic && list_[i].atomic)) {
            return &list_[i];
        }
    }
    return nullptr;
}

void Owners::Set(const Owner &owner)
{
    const size_t first = Find(owner.begin);
    // The usual case: a core goes on where it stopped.
    if (first > 0 && list_[first - 1].end == owner.begin && list_[first - 1].core == owner.core &&
        list_[first - 1].epoch == owner.epoch && list_[first - 1].atomic == owner.atomic &&
        (first == list_.size() || list_[first].begin >= owner.end)) {
        list_[first - 1].end = owner.end;
        return;
    }
    std::vector<Owner> replaced;
    size_t after = first;
    while (after < list_.size() && list_[after].begin < owner.end) {
        Owner left = list_[after];
        Owner right = list_[after];
        left.end = std::min(left.end, owner.begin);
        right.begin = std::max(right.begin, owner.end);
        if (left.begin < left.end) {
            replaced.push_back(left);
        }
        if (right.begin < right.end) {
            replaced.push_back(right);
        }
        ++after;
    }
    const auto at = std::find_if(replaced.begin(), replaced.end(),
                                 [&owner](const Owner &other) { return other.begin >= owner.end; });
    replaced.insert(at, owner);
    const auto where = list_.erase(list_.begin() + static_cast<std::ptrdiff_t>(first),
                                   list_.begin() + static_cast<std::ptrdiff_t>(after));
    list_.insert(where, replaced.begin(), replaced.end());
}

void Spans::Start(uint64_t begin, bool written)
{
    list.clear();
    Span span{};
    span.begin = begin;
    span.written = written;
    list.push_back(span);
    span.begin = UINT64_MAX;
    list.push_back(span);
}

size_t Spans::Find(uint64_t at) const
{
    const auto after = std::upper_bound(list.begin(), list.end(), at,
                                        [](uint64_t offset, const Span &span) { return offset < span.begin; });
    return static_cast<size_t>(after - list.begin()) - 1;
}

size_t Spans::Split(size_t found, uint64_t at)
{
    if (list[found].begin == at) {
        return found;
    }
    Span right = list[found];
    right.begin = at;
    list.insert(list.begin() + static_cast<std::ptrdiff_t>(found + 1), right);
    return found + 1;
}

}  // namespace gnll
