// Which clusters are near one that a row is close to? No other can be as close to the row.
#pragma once

#include "search.hpp"

namespace cprime::CPRIME_ISA {

constexpr int CODES = 2 * SIXTEEN;  // that are compared at once
constexpr int NEAR_OF = 3;  // more than a third of all clusters are as soon all looked at

// Lists the clusters that may be as near as this to an anchor, in the frame; returns how many. There is
// room for a few more behind them.
inline int list_near(const Neighbours& neighbours, const Search& search, int anchor, double distance,
                     std::vector<int32_t>& near) {
  const double square = neighbours.squares[size_t(anchor)];
  const float highest = search.highest_within(distance * distance, square, std::sqrt(square));
  const uint16_t limit = Neighbours::code(highest, float(square));
  const uint16_t* codes = neighbours.codes.data() + size_t(anchor) * neighbours.width;
  near.resize(size_t(neighbours.width) + CODES);
  int n = 0;
  for (int c = 0; c < neighbours.width; c += CODES) n += list_at_most(codes + c, limit, c, near.data() + n);
  return n;
}

// Asks for what is near an anchor: it lies anywhere.
inline void prefetch_near(const Neighbours& neighbours, int anchor) {
  const uint16_t* codes = neighbours.codes.data() + size_t(anchor) * neighbours.width;
  for (int c = 0; c < neighbours.width; c += CODES) __builtin_prefetch(codes + c);
}

}  // namespace cprime::CPRIME_ISA
