// Scores of rows and clusters that are rounded to bytes: four times as many products an instruction,
// and sums of integers without any error. What the rounding blurs is known, so they rank as safely.
#pragma once

#include <cmath>

#include "tile.hpp"
#include "values.hpp"

namespace cprime::CPRIME_ISA {

#if defined(__AVX512VNNI__)
constexpr bool HAS_BYTE_PRODUCTS = true;
#else
constexpr bool HAS_BYTE_PRODUCTS = false;
#endif

constexpr int BYTES_OF_WORD = 4;       // multiplied and added at once
constexpr int MOST_OF_BYTE = 127;
constexpr int MOST_BYTE_FEATURES = 1 << 15;  // sums of more may not fit into 32 bits
constexpr int GROUP_BYTES = 20 * 1024;  // bytes of a group's panels that stay in the first cache
constexpr int HALVES = 2;               // panels by turns, so that fewer candidates meet in one bin

inline int words_of(int D) { return (D + BYTES_OF_WORD - 1) / BYTES_OF_WORD; }

// A batch of rows as bytes, each with a unit of its own.
class ByteRows {
 public:
  // Makes room for n rows, which are zero.
  void prepare(int n, int D) {
    stride_ = words_of(D) * BYTES_OF_WORD;
    values_.resize(size_t(n) * stride_);
    for (auto* numbers : {&squares_, &lengths_, &blurs_}) numbers->resize(size_t(n));
    units_.resize(size_t(n));
    offsets_.resize(size_t(n));
  }

  // Takes row `i`, of D features and this length.
  void set(int i, const float* row, int D, double length);

  const int8_t* row(int i) const { return values_.data() + size_t(i) * stride_; }
  int stride() const { return stride_; }
  const float* units() const { return units_.data(); }
  const int32_t* offsets() const { return offsets_.data(); }

  // If `lowest` is the lowest score of row `i`, that of the closest cluster is no higher than this.
  [[gnu::always_inline]] double limit(int i, double lowest, const BytePanels& panels) const {
    const double near = std::sqrt(std::max(0.0, lowest + squares_[i]) + error(i, panels.reach));
    const double blur_of_lowest = std::min(panels.blur, panels.share * (lengths_[i] + near) * ROOM);
    // The cluster of the lowest score is at most so far, and so is the closest.
    return highest_within(i, near + blurs_[i] + blur_of_lowest, panels);
  }

  // Scores of clusters at most this far are no higher.
  [[gnu::always_inline]] double highest_within(int i, double distance, const BytePanels& panels) const {
    const double mean = std::min(panels.reach, lengths_[i] + distance);
    const double blurred = distance + blurs_[i] + std::min(panels.blur, panels.share * mean);
    return blurred * blurred * (1.0 + 1e-12) - squares_[i] + error(i, mean);
  }

  // Clusters of this score, or a higher one, are at least so far.
  double at_least(int i, double score, const BytePanels& panels) const {
    const double seen = std::sqrt(std::max(0.0, score + squares_[i]));
    const double mean = std::min(panels.reach, (lengths_[i] + seen) * ROOM);
    const double blurred = std::sqrt(std::max(0.0, score + squares_[i] - error(i, mean)));
    return std::max(0.0, blurred * (1.0 - 1e-9) - blurs_[i] - std::min(panels.blur, panels.share * mean));
  }

 private:
  // A row or mean of some length becomes bytes that are a little longer, if anything.
  static constexpr double ROOM = 1.2;

  // How much the score of a mean of this length is off: it is rounded to float32 in a few steps.
  [[gnu::always_inline]] double error(int i, double mean) const {
    constexpr double STEPS = 8.0 * ROOM * ROOM / (1 << 24);
    return STEPS * (mean + lengths_[i]) * (mean + lengths_[i]);
  }

  int stride_ = 0;
  Buffer<int8_t> values_;
  Buffer<double> squares_;   // of the rows that the bytes stand for
  Buffer<double> lengths_;   // of the rows themselves
  Buffer<double> blurs_;     // how far the one is from the other, at most
  Buffer<float> units_;
  Buffer<int32_t> offsets_;  // what sums start with, because bytes of clusters are counted from 128
};

// `lowest_two_of_tile` of rows i, i + 1, ... as bytes; each row has one result for every half of the panels.
void lowest_two_of_bytes(const ByteRows& rows, int i, const BytePanels& panels, int begin, int width,
                         LowestTwo (*of_rows)[HALVES]);

}  // namespace cprime::CPRIME_ISA
