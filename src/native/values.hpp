// Plain values that the instruction sets, the threads and Python share.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <algorithm>
#include <new>
#include <vector>

namespace cprime {

template <class T>
struct Aligned {
  using value_type = T;
  Aligned() = default;
  template <class U>
  Aligned(const Aligned<U>&) {}
  T* allocate(size_t n) {
    return static_cast<T*>(::operator new(n * sizeof(T), std::align_val_t(64)));
  }
  void deallocate(T* p, size_t) { ::operator delete(p, std::align_val_t(64)); }
  bool operator==(const Aligned&) const { return true; }
  bool operator!=(const Aligned&) const { return false; }
};

template <class T>
using Buffer = std::vector<T, Aligned<T>>;

// Where rows come from: a strided array, or CSR. Values are multiplied by `scale`.
struct Rows {
  int64_t n = 0;
  int D = 0;
  double scale = 1.0;
  const void* values = nullptr;
  bool is_double = false;
  int64_t row_stride = 0, column_stride = 0;  // in values; dense only
  const void* starts = nullptr;               // CSR only
  const void* columns = nullptr;
  bool wide_starts = false, wide_columns = false;
};

// Squares are summed over features padded with zeros to whole vectors of eight.
inline int padded(int D) { return (D + 7) / 8 * 8; }

// A lower triangle lies in blocks of eight rows, of which block b has columns 0 .. 8 b + 7, each
// with its eight values together.
inline int triangle_size(int Dp) { return Dp / 8 * (Dp / 8 + 1) / 2 * 64; }
// Where the value in this row and column lies.
inline int triangle_place(int row, int column) {
  const int block = row / 8;
  return 64 * (block * (block + 1) / 2) + 8 * column + row % 8;
}

// Origin and unit of the float32 world: value -> (value - origin) * shrink.
struct Frame {
  Buffer<double> origin;
  double shrink = 1.0;
};

// Means row by row, as `score_listed` reads them: in the frame, times -2.
struct MeanRows {
  Buffer<float> values;
  int stride = 0;  // a multiple of sixteen
};

// Clusters rounded to bytes, each with a unit of its own, as `lowest_two_of_bytes` reads them; empty where
// that does not pay.
struct BytePanels {
  // As in Panels, but with the bytes of four features together; counted from 128.
  Buffer<uint8_t> values;
  Buffer<float> units, constants;  // times -2; squares of the rounded means, infinite in padding
  double reach = 0.0;              // longest mean, in the frame
  double blur = 0.0;               // how far a mean is from its bytes, at most,
  double share = 0.0;              // and as a share of its length
  MeanRows means;                  // to look more closely at some

  bool is_empty() const { return values.empty(); }
};

// Clusters as `score_tile` reads them, with what is needed to bound its rounding errors.
struct Panels {
  int n = 0, width = 0;  // clusters, and the same padded to a multiple of 16
  Buffer<float> values, constants;
  double reach = 0.0;  // longest mean, in the frame
  double level = 0.0;  // largest constant
  BytePanels bytes;
};

// For a quick look at clusters whitened feature by feature.
struct Screen {
  // In groups of sixteen, for every feature their whitenings, and their means, less the frame's
  // origin, times those. Empty if they are beyond float32.
  Buffer<float> values;
  Buffer<float> penalty;  // inf in padding
  double reach = 0.0;     // longest mean
};

// The clusters of one sweep.
struct Clusters {
  int C = 0, D = 0, Dp = 0;
  Buffer<double> means;    // C x Dp
  Buffer<double> penalty;  // what each squared distance is handicapped by; inf in padding
  bool handicapped = false;
  Frame frame;
  Panels panels;
  Buffer<double> columns;  // means in groups of eight, feature by feature; on demand
  // What differences are multiplied by before they are squared: nothing, a number for each
  // cluster (C, padded), one for each of its features (C x Dp, and as columns), or a lower
  // triangle for each cluster (C x `triangle_size`).
  enum class Whitening { NONE, OF_CLUSTERS, OF_FEATURES, TRIANGLES } whitened = Whitening::NONE;
  Buffer<double> whitening, whitening_columns;
  Screen screen;

  bool is_whitened() const { return whitened != Whitening::NONE; }
  // Numbers of scatter that each cluster has of its own.
  int scatter_size() const {
    switch (whitened) {
      case Whitening::NONE:
        return 0;
      case Whitening::OF_CLUSTERS:
        return 1;
      case Whitening::OF_FEATURES:
        return Dp;
      default:
        return triangle_size(Dp);
    }
  }
  const double* mean(int c) const { return means.data() + size_t(c) * Dp; }
};

// Means about the frame's origin, for distances from products.
struct Centred {
  Buffer<double> means, columns;  // as of Clusters
  Buffer<double> squares;         // of the means, and penalties; inf in padding
  double reach = 0.0;             // longest mean
};

// Which clusters are near which of some anchors, the clusters themselves or others: no cluster far from
// an anchor that is close to a row is as close to the row.
struct Neighbours {
  int n = 0;               // anchors
  Buffer<uint16_t> codes;  // of squared distances from each of them to all clusters, `width` each
  int width = 0;
  Buffer<double> squares;  // of anchors, in the frame
  MeanRows means;

  // What the score of an anchor of this square comes to, in half of a float: the higher the score, the
  // higher, or the same.
  static uint16_t code(float score, float square) {
    const float squared = std::max(score + square, 0.0f);
    uint32_t bits;
    std::memcpy(&bits, &squared, sizeof bits);
    return uint16_t(bits >> 16);
  }
};

// What one leaf, or a tree of leaves, adds up to. Only clusters that were met take part
// in additions, so a leaf of few rows among many clusters stays cheap.
struct Sums {
  Buffer<double> counts, shifts;  // C padded to eight, C x Dp
  Buffer<double> scatters;        // C padded to eight, times what each cluster has
  std::vector<int32_t> met;
  std::vector<uint8_t> is_met;
  double scatter = 0, quantization_error = 0, entropy = 0, free_energy = 0, weight = 0;
  int64_t evaluations = 0, changed = 0;

  void prepare(int C, int Dp, int scatter_size) {
    scatters.assign(size_t(padded(C)) * scatter_size, 0.0);
    counts.assign(size_t(padded(C)), 0.0);
    shifts.assign(size_t(C) * Dp, 0.0);
    is_met.assign(size_t(C), 0);
    met.clear();
  }

  void meet(int c) {
    if (is_met[c]) return;
    is_met[c] = 1;
    met.push_back(c);
  }

  // Adds what `right` holds, and leaves it empty.
  void take(Sums& right, int Dp, int scatter_size) {
    const auto move = [](Buffer<double>& to, Buffer<double>& from, size_t begin, int n) {
      for (size_t i = begin; i < begin + size_t(n); ++i) {
        to[i] += from[i];
        from[i] = 0.0;
      }
    };
    for (int c : right.met) {
      meet(c);
      move(counts, right.counts, size_t(c), 1);
      move(shifts, right.shifts, size_t(c) * Dp, Dp);
      move(scatters, right.scatters, size_t(c) * scatter_size, scatter_size);
      right.is_met[c] = 0;
    }
    right.met.clear();
    const auto move_one = [](auto& to, auto& from) {
      to += from;
      from = 0;
    };
    move_one(scatter, right.scatter);
    move_one(quantization_error, right.quantization_error);
    move_one(entropy, right.entropy);
    move_one(free_energy, right.free_energy);
    move_one(weight, right.weight);
    move_one(evaluations, right.evaluations);
    move_one(changed, right.changed);
  }
};

constexpr int LISTED = 8;

// What rows remember of clusters they do not keep, to prove in the next sweep that none
// of them came close enough. Distances are lower bounds, in units of 1 / `unit`.
struct Hints {
  // LISTED clusters a row, as uint16 or (wide) int32, each at least `nearer` away; all that
  // are neither kept nor listed are at least `rest` away, or it is < 0: unknown.
  bool wide = false;
  void* listed = nullptr;
  float* nearer = nullptr;
  float* rest = nullptr;
  float* reach = nullptr;  // of rows that keep one cluster: it is at most this far
  double unit = 1.0;
  // How far clusters moved since: each, the farthest, the farthest but for a handful of fast
  // ones, and the farthest not in `movers`.
  const float* step = nullptr;
  float step_any = 0, step_slow = 0, step_others = 0;
  std::vector<float> nearest_fast;  // from each cluster to the nearest of the fast ones
  Panels movers;
  std::vector<int32_t> mover_of;  // place of a cluster among the movers, or -1
};

struct Sweep {
  Rows rows;
  const double* weights = nullptr;
  int64_t weight_stride = 1;
  const int32_t* before = nullptr;  // n x n_before, or null
  int n_before = 1;
  int32_t* after = nullptr;   // n x C_prime
  bool is_decided = false;    // whether rows are to keep what is there already
  bool continued = false;  // whether there was a sweep before, even if it left nothing behind
  const Clusters* clusters = nullptr;
  const Neighbours* neighbours = nullptr;  // or null
  int C_prime = 1;
  double reluctance = 1.0, sharpness = 0.5, highest_bias = 0.0;
  Hints* hints = nullptr;
  bool use_hints = false;  // false with hints: fill them in
};

}  // namespace cprime
