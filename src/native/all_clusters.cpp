// The E-step of rows that keep all clusters (C' = C): no search, only arithmetic.
#include <cmath>

#include "all_clusters.hpp"
#include "block.hpp"
#include "load.hpp"

namespace cprime::CPRIME_ISA {
namespace {

constexpr int BLOCK_VALUES = 12 * 1024;  // shares, or values, of a block of rows: they stay in cache
// Vectors of sums that fit into registers, each with one of means, or of means and squares.
template <bool SQUARED>
constexpr int SUMS = CPRIME_BYTES == 64 ? (SQUARED ? 9 : 10) : (SQUARED ? 1 : 2);
template <bool SQUARED>
constexpr int MOST_VECTORS = std::min(SUMS<SQUARED>, SQUARED ? 3 : 5);

class AllClusters : public Block {
 public:
  using Block::Block;

  void run() {
    work_.rows.resize(size_t(n_ + ROWS_AT_ONCE) * Dp_);
    for (int r = 0; r < n_; ++r) load_row(sweep_.rows, first_ + r, row(r), Dp_);
    const int C = clusters_.C, stride = padded(C);
    auto& shares = work_.everything;
    shares.resize(size_t(n_ + ROWS_AT_ONCE) * stride);
    const auto shares_of = [&](int r) { return shares.data() + size_t(r) * stride; };
    if (clusters_.whitened == Clusters::Whitening::TRIANGLES)
      triangle_distances_to_all(row(0), n_, clusters_, shares.data(), stride, work_.difference);
    else
      for (int r = 0; r < n_; r += ROWS_AT_ONCE)
        whitened_distances_to_all<ROWS_AT_ONCE>(row(r), clusters_, shares_of(r), stride);
    for (int c = 0; c < C; ++c) sums_.meet(c);
    for (int r = 0; r < n_; ++r) normalise(r, shares_of(r), stride);
    if (clusters_.whitened == Clusters::Whitening::OF_FEATURES)
      add_products<true>(shares.data(), stride);
    else
      add_products<false>(shares.data(), stride);
    if (clusters_.whitened == Clusters::Whitening::TRIANGLES) add_triangles(shares.data(), stride);
    for (int r = 0; r < n_; ++r)
      if (weight(r) > 0.0 && !sweep_.continued) ++sums_.changed;
    sums_.evaluations += int64_t(n_) * C;
  }

 private:
  // Turns a row's distances into its shares w q, in place.
  void normalise(int r, double* values, int stride) {
    const double w = weight(r);
    if (w == 0.0) {
      std::fill_n(values, stride, 0.0);
      return;
    }
    const auto score = [&](int c) {
      return load<Doubles>(values + c) + load<Doubles>(clusters_.penalty.data() + c);
    };
    Doubles low = score(0);
    for (int c = LANES; c < stride; c += LANES) low = lower(score(c), low);
    const double best = lowest(low);
    double nearest = best;
    if (clusters_.handicapped)
      for (int c = clusters_.C - 1; c >= 0; --c)
        if (values[c] + clusters_.penalty[c] == best) nearest = values[c];
    Doubles total{}, surprise{}, scatter{};
    work_.relative.resize(stride);
    double* e = work_.relative.data();
    for (int c = 0; c < stride; c += LANES) {
      Doubles relative = sweep_.sharpness * (best - score(c));
      // What has no probability has no surprise either; keep the product finite.
      const Doubles hopeless = all<Doubles>(-1000.0);
      relative = relative > hopeless ? relative : hopeless;
      const Doubles weight_of = exponential(relative);
      total += weight_of;
      surprise += weight_of * relative;
      scatter += weight_of * load<Doubles>(values + c);
      store(e + c, weight_of);
    }
    const double sum = folded(total), log_total = std::log(sum), share = w / sum;
    double* counts = sums_.counts.data();
    const bool of_clusters = clusters_.whitened == Clusters::Whitening::OF_CLUSTERS;
    double* scatters = sums_.scatters.data();
    for (int c = 0; c < stride; c += LANES) {
      const Doubles shares = load<Doubles>(e + c) * share;
      if (of_clusters) store(scatters + c, load<Doubles>(scatters + c) + shares * load<Doubles>(values + c));
      store(values + c, shares);
      store(counts + c, load<Doubles>(counts + c) + shares);
    }
    sums_.scatter += share * folded(scatter);
    sums_.quantization_error += w * nearest;
    sums_.entropy += w * (log_total - folded(surprise) / sum);
    sums_.free_energy += w * (sweep_.highest_bias - sweep_.sharpness * best + log_total);
    sums_.weight += w;
  }

  // Adds up shares * (rows - means), and times its square, with as many sums as fit into registers.
  template <bool SQUARED>
  void add_products(const double* shares, int stride) {
    constexpr int MOST = MOST_VECTORS<SQUARED>;
    const int vectors = Dp_ / LANES, parts = (vectors + MOST - 1) / MOST;
    for (int part = 0; part < parts; ++part) {
      const int first = vectors * part / parts, last = vectors * (part + 1) / parts;
      add_features<MOST, SQUARED>(last - first, shares, stride, first * LANES);
    }
  }

  void add_triangles(const double* shares, int stride) {
    for (int c = 0; c < clusters_.C; ++c) {
      TriangleSum sum(clusters_, c, sums_.scatters.data() + size_t(c) * triangle_size(Dp_), work_.difference);
      for (int r = 0; r < n_; ++r) {
        const double share = shares[size_t(r) * stride + c];
        if (share != 0.0) sum.add(share, row(r));
      }
      sum.finish();
    }
  }

  // Finds the template for a number of vectors of features.
  template <int N, bool SQUARED>
  void add_features(int vectors, const double* shares, int stride, int d) {
    if constexpr (N > 1) {
      if (vectors < N) return add_features<N - 1, SQUARED>(vectors, shares, stride, d);
    }
    constexpr int AT_ONCE = std::min(SUMS<SQUARED> / N, 8);
    int c = 0;
    for (; c + AT_ONCE <= clusters_.C; c += AT_ONCE) add_tile<AT_ONCE, N, SQUARED>(c, shares, stride, d);
    for (; c < clusters_.C; ++c) add_tile<1, N, SQUARED>(c, shares, stride, d);
  }

  template <int AT_ONCE, int N, bool SQUARED>
  void add_tile(int c, const double* shares, int stride, int d) {
    double* shift = sums_.shifts.data() + size_t(c) * Dp_ + d;
    double* scatter = SQUARED ? sums_.scatters.data() + size_t(c) * Dp_ + d : nullptr;
    const double* mu = mean(c) + d;
    Doubles sum[AT_ONCE][N], squares[AT_ONCE][N], origin[AT_ONCE][N];
#pragma GCC unroll 8
    for (int i = 0; i < AT_ONCE; ++i)
#pragma GCC unroll 8
      for (int v = 0; v < N; ++v) {
        const size_t place = size_t(i) * Dp_ + v * LANES;
        sum[i][v] = load<Doubles>(shift + place);
        if constexpr (SQUARED) squares[i][v] = load<Doubles>(scatter + place);
        origin[i][v] = load<Doubles>(mu + place);
      }
    for (int r = 0; r < n_; ++r) {
      const double* share = shares + size_t(r) * stride + c;
#pragma GCC unroll 8
      for (int v = 0; v < N; ++v) {
        const Doubles value = load<Doubles>(row(r) + d + v * LANES);
#pragma GCC unroll 8
        for (int i = 0; i < AT_ONCE; ++i) {
          const Doubles difference = value - origin[i][v];
          if constexpr (SQUARED) {
            // The product is needed twice: an addition is then as good as a multiply-add, or better.
            const Doubles shared = share[i] * difference;
            sum[i][v] += shared;
            squares[i][v] = fused(shared, difference, squares[i][v]);
          } else {
            sum[i][v] = fused(all<Doubles>(share[i]), difference, sum[i][v]);
          }
        }
      }
    }
#pragma GCC unroll 8
    for (int i = 0; i < AT_ONCE; ++i)
#pragma GCC unroll 8
      for (int v = 0; v < N; ++v) {
        const size_t place = size_t(i) * Dp_ + v * LANES;
        store(shift + place, sum[i][v]);
        if constexpr (SQUARED) store(scatter + place, squares[i][v]);
      }
  }
};

// What `AllClusters` finds of one round cluster, to the bit: nothing is to be shared out.
class OneCluster : public Block {
 public:
  using Block::Block;

  void run() {
    if (lie_in_place(sweep_.rows)) {
      with_rows_in_place(sweep_.rows, [&](auto row_of) {
        for (int r = 0; r < n_; ++r) add(r, row_of(first_ + r));
      });
    } else {
      work_.rows.resize(size_t(Dp_));
      for (int r = 0; r < n_; ++r) {
        load_row(sweep_.rows, first_ + r, row(0), Dp_);
        add(r, LoadedRow{row(0)});
      }
    }
    sums_.meet(0);
    sums_.evaluations += n_;
  }

 private:
  template <class Row>
  void add(int r, const Row& y) {
    const double w = weight(r);
    if (w == 0.0) return;
    Doubles squares{};
    for (int d = 0; d < Dp_; d += LANES) {
      const Doubles difference = y.at(d) - load<Doubles>(mean(0) + d);
      squares += difference * difference;
      double* shift = sums_.shifts.data() + d;
      store(shift, fused(all<Doubles>(w), difference, load<Doubles>(shift)));
    }
    const double squared = folded(squares), score = squared + clusters_.penalty[0];
    sums_.counts[0] += w;
    sums_.scatter += w * squared;
    sums_.quantization_error += w * squared;
    sums_.free_energy += w * (sweep_.highest_bias - sweep_.sharpness * score);
    sums_.weight += w;
    sums_.changed += !sweep_.continued;
  }
};

}  // namespace

void sweep_all_clusters(const Sweep& sweep, int64_t first, int count, Sums& sums, Workspace& work) {
  const Clusters& clusters = *sweep.clusters;
  if (clusters.C == 1 && !clusters.is_whitened()) {
    OneCluster(sweep, first, count, sums, work).run();
    return;
  }
  const int at_once = std::max(1, BLOCK_VALUES / std::max(clusters.Dp, clusters.C) / ROWS_AT_ONCE) * ROWS_AT_ONCE;
  for (int begin = 0; begin < count && !stopping(); begin += at_once)
    AllClusters(sweep, first + begin, std::min(at_once, count - begin), sums, work).run();
}

}  // namespace cprime::CPRIME_ISA
