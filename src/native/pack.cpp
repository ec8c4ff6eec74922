// Clusters in the layouts in which they are searched.
#include <cmath>

#include "bytes.hpp"
#include "exact.hpp"
#include "isa.hpp"
#include "tile.hpp"

namespace cprime::CPRIME_ISA {

void pack_mean_rows(const Clusters& clusters, MeanRows& rows) {
  const int C = clusters.C, D = clusters.D;
  rows.stride = (D + SIXTEEN - 1) / SIXTEEN * SIXTEEN;
  rows.values.assign(size_t(C) * rows.stride, 0.0f);
  for (int c = 0; c < C; ++c)
    for (int d = 0; d < D; ++d)
      rows.values[size_t(c) * rows.stride + d] =
          float(-2.0 * ((clusters.mean(c)[d] - clusters.frame.origin[d]) * clusters.frame.shrink));
}

namespace {

// Fewer clusters, or features, take less time than it does to make bytes of rows.
constexpr int FEWEST_CLUSTERS = 48, FEWEST_FEATURES = 12;

bool bytes_pay(const Clusters& clusters) {
  return HAS_BYTE_PRODUCTS && !clusters.handicapped && clusters.C >= FEWEST_CLUSTERS &&
         clusters.D >= FEWEST_FEATURES && clusters.D <= MOST_BYTE_FEATURES;
}

void pack_bytes(const Clusters& clusters, int width, BytePanels& panels) {
  const int D = clusters.D, stride = words_of(D) * BYTES_OF_WORD;
  panels.values.assign(size_t(width) * stride, 128);
  panels.units.assign(size_t(width), 0.0f);
  panels.constants.assign(size_t(width), INFINITY);
  panels.reach = panels.blur = panels.share = 0.0;
  pack_mean_rows(clusters, panels.means);
  Buffer<double> mean(static_cast<size_t>(D));
  for (int c = 0; c < clusters.C; ++c) {
    double largest = 0.0, length = 0.0;
    for (int d = 0; d < D; ++d) {
      mean[d] = (clusters.mean(c)[d] - clusters.frame.origin[d]) * clusters.frame.shrink;
      largest = std::max(largest, std::abs(mean[d]));
      length += mean[d] * mean[d];
    }
    length = std::sqrt(length);
    const double unit = float(largest / MOST_OF_BYTE), per_unit = unit > 0.0 ? 1.0 / unit : 0.0;
    const int begin = c / PANEL * PANEL, in_panel = std::min(PANEL, width - begin);
    uint8_t* panel = panels.values.data() + size_t(begin) * stride;
    double difference = 0.0, square = 0.0;
    for (int d = 0; d < D; ++d) {
      const double byte = std::clamp(std::nearbyint(mean[d] * per_unit), -double(MOST_OF_BYTE), double(MOST_OF_BYTE));
      panel[(size_t(d / BYTES_OF_WORD) * in_panel + (c - begin)) * BYTES_OF_WORD + d % BYTES_OF_WORD] =
          uint8_t(int(byte) + 128);
      const double rounded = byte * unit;
      difference += (mean[d] - rounded) * (mean[d] - rounded);
      square += rounded * rounded;
    }
    difference = std::sqrt(difference) + 1e-9 * length;
    panels.units[c] = float(-2.0 * unit);
    panels.constants[c] = float(square);
    panels.reach = std::max(panels.reach, length);
    panels.blur = std::max(panels.blur, difference);
    panels.share = std::max(panels.share, length > 0.0 ? difference / length : 0.0);
  }
}

}  // namespace

void pack_panels(const Clusters& clusters, const int32_t* which, int n, Panels& panels) {
  const int D = clusters.D;
  panels.n = n;
  panels.width = (n + SIXTEEN - 1) / SIXTEEN * SIXTEEN;
  panels.values.assign(size_t(panels.width) * D, 0.0f);
  panels.constants.assign(size_t(panels.width), INFINITY);
  panels.reach = panels.level = 0.0;
  for (int begin = 0; begin < panels.width; begin += PANEL) {
    const int width = std::min(PANEL, panels.width - begin);
    float* panel = panels.values.data() + size_t(begin) * D;
    for (int i = begin; i < begin + width && i < n; ++i) {
      const int c = which == nullptr ? i : which[i];
      const double* mu = clusters.mean(c);
      double square = 0.0;
      for (int d = 0; d < D; ++d) {
        const double value = (mu[d] - clusters.frame.origin[d]) * clusters.frame.shrink;
        square += value * value;
        panel[size_t(d) * width + (i - begin)] = float(-2.0 * value);
      }
      const double constant =
          square + clusters.penalty[c] * clusters.frame.shrink * clusters.frame.shrink;
      panels.constants[i] = float(std::min(constant, 1e30));
      panels.reach = std::max(panels.reach, std::sqrt(square));
      panels.level = std::max(panels.level, std::min(constant, 1e30));
    }
  }
}

void pack(Clusters& clusters) {
  const int C = clusters.C, Dp = clusters.Dp;
  auto& origin = clusters.frame.origin;
  origin.assign(Dp, 0.0);
  for (int c = 0; c < C; ++c)
    for (int d = 0; d < Dp; ++d) origin[d] += clusters.means[size_t(c) * Dp + d] / C;
  double longest = 0.0;
  for (int c = 0; c < C; ++c)
    longest = std::max(longest, distance(clusters.mean(c), origin.data(), Dp));
  clusters.frame.shrink = longest > 0.0 ? std::ldexp(1.0, -std::ilogb(std::sqrt(longest)) - 1) : 1.0;
  pack_panels(clusters, nullptr, C, clusters.panels);
  if (bytes_pay(clusters)) pack_bytes(clusters, clusters.panels.width, clusters.panels.bytes);
}

void pack_columns(Clusters& clusters) {
  const int C = clusters.C, D = clusters.D, groups = (C + LANES - 1) / LANES;
  clusters.columns.assign(size_t(groups) * LANES * D, 0.0);
  for (int c = 0; c < C; ++c)
    for (int d = 0; d < D; ++d)
      clusters.columns[(size_t(c / LANES) * D + d) * LANES + c % LANES] =
          clusters.means[size_t(c) * clusters.Dp + d];
  if (clusters.whitened != Clusters::Whitening::OF_FEATURES) return;
  clusters.whitening_columns.assign(size_t(groups) * LANES * D, 0.0);
  for (int c = 0; c < C; ++c)
    for (int d = 0; d < D; ++d)
      clusters.whitening_columns[(size_t(c / LANES) * D + d) * LANES + c % LANES] =
          clusters.whitening[size_t(c) * clusters.Dp + d];
}

void pack_centred(const Clusters& clusters, Centred& centred) {
  const int C = clusters.C, D = clusters.D, Dp = clusters.Dp, stride = padded(C);
  const auto& origin = clusters.frame.origin;
  centred.means.assign(size_t(C) * Dp, 0.0);
  centred.columns.assign(size_t(stride) * D, 0.0);
  centred.squares.assign(size_t(stride), INFINITY);
  for (int c = 0; c < C; ++c) {
    double* mean = centred.means.data() + size_t(c) * Dp;
    for (int d = 0; d < D; ++d) {
      mean[d] = clusters.mean(c)[d] - origin[d];
      centred.columns[(size_t(c / LANES) * D + d) * LANES + c % LANES] = mean[d];
    }
    const double square = distance(clusters.mean(c), origin.data(), Dp);
    centred.squares[c] = square + clusters.penalty[c];
    centred.reach = std::max(centred.reach, std::sqrt(square));
  }
}

void pack_neighbours(const Clusters& clusters, int n_anchors, Neighbours& neighbours) {
  const int C = clusters.C;
  pack_mean_rows(clusters, neighbours.means);
  neighbours.width = (C + 2 * SIXTEEN - 1) / (2 * SIXTEEN) * (2 * SIXTEEN);
  neighbours.n = n_anchors;
  neighbours.codes.resize(size_t(n_anchors) * neighbours.width);
  neighbours.squares.resize(size_t(n_anchors));
}

void pack_screen(Clusters& clusters) {
  // With numbers in this range nothing but a row can overflow, no product is 0 * inf, and what
  // a row loses by underflow is nothing beside a standard deviation.
  constexpr double LEAST = 1e-30, MOST = 1e15, FARTHEST = 1e15;
  constexpr int MOST_FEATURES = 1 << 16;  // rounding errors add up with them
  const int C = clusters.C, D = clusters.D, Dp = clusters.Dp, groups = (C + SIXTEEN - 1) / SIXTEEN;
  auto& origin = clusters.frame.origin;
  origin.assign(Dp, 0.0);
  for (int c = 0; c < C; ++c)
    for (int d = 0; d < D; ++d) origin[d] += clusters.means[size_t(c) * Dp + d] / C;
  Screen& screen = clusters.screen;
  screen.values.assign(size_t(groups) * D * 2 * SIXTEEN, 0.0f);
  screen.penalty.assign(size_t(groups) * SIXTEEN, INFINITY);
  std::copy_n(clusters.penalty.begin(), C, screen.penalty.begin());
  screen.reach = 0.0;
  bool fits = D <= MOST_FEATURES;
  for (int c = 0; c < C; ++c) {
    double square = 0.0;
    for (int d = 0; d < D; ++d) {
      const size_t place = size_t(c) * Dp + d;
      const double w = clusters.whitening[place], mean = (clusters.means[place] - origin[d]) * w;
      float* to = screen.values.data() + (size_t(c / SIXTEEN) * D + d) * 2 * SIXTEEN + c % SIXTEEN;
      to[0] = float(w);
      to[SIXTEEN] = float(mean);
      fits = fits && w >= LEAST && w <= MOST && std::abs(mean) <= FARTHEST;
      square += mean * mean;
    }
    screen.reach = std::max(screen.reach, std::sqrt(square));
  }
  if (!fits) screen.values.clear();
}

double nearest_of(const Clusters& clusters, int c, const int32_t* others, int n) {
  const double* mu = clusters.mean(c);
  double nearest = INFINITY;
  for (int i = 0; i < n; ++i)
    if (others[i] != c)
      nearest = std::min(nearest, distance(mu, clusters.mean(others[i]),
                                           clusters.Dp));
  return std::sqrt(nearest);
}

}  // namespace cprime::CPRIME_ISA
