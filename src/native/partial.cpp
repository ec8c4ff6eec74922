// Rows that look at few clusters: those of one best cluster share a panel of what is on its list.
#include "partial.hpp"

#include "isa.hpp"
#include "load.hpp"
#include "products.hpp"
#include "ranking.hpp"

namespace cprime::CPRIME_ISA {
namespace {

constexpr int AHEAD = 6;           // rows between asking for one and looking at it
constexpr int FEWEST_IN_PANEL = 12;  // fewer rows are done sooner than a panel is packed

// Rows of one sweep, one best cluster after the other.
class PartialSearch {
 public:
  PartialSearch(const Sweep& sweep, const Partial& partial, Workspace& work)
      : sweep_(sweep), partial_(partial), clusters_(*sweep.clusters), work_(work), wanted_(sweep.C_prime) {
    if (work_.place.size() < size_t(clusters_.C)) work_.place.resize(size_t(clusters_.C), -1);
    work_.rows.resize(size_t(clusters_.Dp));
    capacity_ = std::max(CAPACITY, 4 * wanted_);
    extras_.resize(size_t(sweep.n_before + partial.n_explore + LISTED_AT_ONCE));
    scores_.resize(extras_.size());
  }

  // Rows order[begin] .. order[end], all of this best cluster.
  template <class RowOf>
  void run(int cluster, int64_t begin, int64_t end, RowOf row_of) {
    list_ = partial_.lists + size_t(cluster) * partial_.n_listed;
    n_listed_ = partial_.n_listed;
    for (int j = 0; j < n_listed_; ++j) work_.place[list_[j]] = j;
    if (clusters_.is_whitened() || wanted_ > MOST_IN_LANES || n_listed_ == 0)
      for (int64_t k = begin; k < end && !stopping(); ++k) rank_everything(row(k), row_of);
    else
      screen(begin, end, row_of);
    for (int j = 0; j < n_listed_; ++j) work_.place[list_[j]] = -1;
  }

  int64_t evaluations() const { return evaluations_; }

 private:
  int64_t row(int64_t k) const { return partial_.order[k]; }
  int32_t* found(int64_t n) const { return sweep_.after + n * wanted_; }

  // Scores in float32 narrow it down, within a bound on their errors.
  template <class RowOf>
  void screen(int64_t begin, int64_t end, RowOf row_of) {
    Search& search = work_.search;
    search.prepare(clusters_.Dp, capacity_);
    const bool packed = end - begin >= FEWEST_IN_PANEL;
    if (packed) pack_panel();
    const Panels& panels = packed ? panels_ : clusters_.panels;
    for (int64_t k = begin; k < end && !stopping(); k += Search::BATCH) {
      const int n = int(std::min<int64_t>(end - k, Search::BATCH));
      for (int i = 0; i < n; ++i) {
        if constexpr (!std::is_same_v<std::invoke_result_t<RowOf, int64_t>, LoadedRow>)
          if (k + i + AHEAD < end) prefetch(row_of(row(k + i + AHEAD)));
        search.set_row(i, row_of(row(k + i)), clusters_.frame);
      }
      packed ? search.run(n, clusters_.D, panels, wanted_) : search.face(n, clusters_.D, panels);
      if (stopping()) return;
      for (int i = 0; i < n; ++i) {
        if (!packed && search.is_scored(i)) {
          work_.near.assign(list_, list_ + n_listed_);
          work_.near.resize(size_t(n_listed_ + LISTED_AT_ONCE));
          search.run_on(i, panels, partial_.means, work_.near.data(), n_listed_, wanted_);
        }
        decide(i, row(k + i), packed, row_of);
      }
    }
  }

  // Clusters of the list in the layout of a search; what bounds their errors is that of all.
  void pack_panel() {
    const int D = clusters_.D;
    panels_.n = n_listed_;
    panels_.width = (n_listed_ + SIXTEEN - 1) / SIXTEEN * SIXTEEN;
    panels_.values.resize(size_t(panels_.width) * D);
    panels_.constants.assign(size_t(panels_.width), INFINITY);
    panels_.reach = clusters_.panels.reach;
    panels_.level = clusters_.panels.level;
    for (int begin = 0; begin < panels_.width; begin += PANEL) {
      const int width = std::min(PANEL, panels_.width - begin);
      float* panel = panels_.values.data() + size_t(begin) * D;
      for (int i = 0; i < width; ++i) {
        // Padding repeats a cluster, infinitely far.
        const int c = list_[std::min(begin + i, n_listed_ - 1)];
        const float* mean = partial_.means.values.data() + size_t(c) * partial_.means.stride;
        for (int d = 0; d < D; ++d) panel[size_t(d) * width + i] = mean[d];
        if (begin + i < n_listed_) panels_.constants[begin + i] = clusters_.panels.constants[c];
      }
    }
  }

  // Lists what row `n` looks at beside the list: clusters it keeps, and others drawn for it.
  int find_extras(int64_t n) {
    int count = 0;
    const auto add = [&](int32_t c) {
      const auto end = extras_.begin() + count;
      if (work_.place[c] < 0 && std::find(extras_.begin(), end, c) == end) extras_[count++] = c;
    };
    const int32_t* before = sweep_.before + n * sweep_.n_before;
    for (int j = 0; j < sweep_.n_before; ++j) add(before[j]);
    for (int e = 0; e < partial_.n_explore; ++e) add(partial_.drawn(n, e, clusters_.C));
    evaluations_ += n_listed_ + count;
    return count;
  }

  template <class RowOf>
  void decide(int i, int64_t n, bool packed, RowOf row_of) {
    Search& search = work_.search;
    if (!search.decided(i)) {
      rank_everything(n, row_of);
      return;
    }
    const int n_extras = find_extras(n);
    const Candidate* candidates = search.candidates(i);
    const int n_found = search.count(i);
    int n_near = 0;
    if (n_extras > 0) {
      const float limit = search.limit_of_found(i, wanted_);
      std::fill_n(extras_.begin() + n_extras, LISTED_AT_ONCE, extras_[0]);
      search.score_few(i, clusters_.panels, partial_.means, extras_.data(), n_extras, scores_.data());
      for (int j = 0; j < n_extras; ++j)
        if (scores_[j] <= limit) extras_[n_near++] = extras_[j];
    }
    const auto cluster_of = [&](int j) { return packed ? list_[candidates[j].cluster] : candidates[j].cluster; };
    if (wanted_ == 1 && n_found == 1 && n_near == 0) {
      found(n)[0] = cluster_of(0);
      return;
    }
    begin_ranking(n_found + n_near, row_of(n));
    for (int j = 0; j < n_found; ++j) rank(cluster_of(j));
    for (int j = 0; j < n_near; ++j) rank(extras_[j]);
    take(n);
  }

  template <class RowOf>
  void rank_everything(int64_t n, RowOf row_of) {
    const int n_extras = find_extras(n);
    begin_ranking(n_listed_ + n_extras, row_of(n));
    for (int j = 0; j < n_listed_; ++j) rank(list_[j]);
    for (int j = 0; j < n_extras; ++j) rank(extras_[j]);
    take(n);
  }

  template <class Row>
  void begin_ranking(int count, const Row& y) {
    work_.ranking.clear();
    work_.ranking.reserve(size_t(count));
    double* to = work_.rows.data();
    for (int d = 0; d < clusters_.Dp; d += LANES) store(to + d, y.at(d));
  }

  void rank(int32_t c) {
    const double* y = work_.rows.data();
    const double squared = clusters_.is_whitened() ? whitened_distance(y, clusters_, c)
                                                 : distance(y, clusters_.mean(c), clusters_.Dp);
    work_.ranking.push_back({squared + clusters_.penalty[c], c});
  }

  void take(int64_t n) {
    auto& ranking = work_.ranking;
    std::partial_sort(ranking.begin(), ranking.begin() + wanted_, ranking.end());
    for (int j = 0; j < wanted_; ++j) found(n)[j] = ranking[j].cluster;
  }

  const Sweep& sweep_;
  const Partial& partial_;
  const Clusters& clusters_;
  Workspace& work_;
  const int wanted_;
  int capacity_ = 0, n_listed_ = 0;
  const int32_t* list_ = nullptr;
  Panels panels_;
  std::vector<int32_t> extras_;
  Buffer<float> scores_;
  int64_t evaluations_ = 0;
};

}  // namespace

int64_t search_partly(const Sweep& sweep, const Partial& partial, int64_t begin, int64_t end, void* scratch) {
  Workspace& work = *static_cast<Workspace*>(scratch);
  PartialSearch search(sweep, partial, work);
  const auto best = [&](int64_t k) { return sweep.before[partial.order[k] * sweep.n_before]; };
  const auto run_on = [&](auto row_of) {
    for (int64_t first = begin, last = begin; first < end && !stopping(); first = last) {
      while (last < end && best(last) == best(first)) ++last;
      search.run(best(first), first, last, row_of);
    }
  };
  Buffer<double> loaded(size_t(sweep.clusters->Dp));
  if (lie_in_place(sweep.rows))
    with_rows_in_place(sweep.rows, run_on);
  else
    run_on([&](int64_t n) {
      load_row(sweep.rows, n, loaded.data(), sweep.clusters->Dp);
      return LoadedRow{loaded.data()};
    });
  return search.evaluations();
}

int64_t list_clusters(const Clusters& clusters, const int32_t* lists, int n_listed, int n_spread, int wanted,
                      int first, int count, int32_t* out, void* scratch) {
  Workspace& work = *static_cast<Workspace*>(scratch);
  auto& place = work.place;
  if (place.size() < size_t(clusters.C)) place.resize(size_t(clusters.C), -1);
  auto& near = work.near;
  auto& ranking = work.ranking;
  int64_t evaluations = 0;
  for (int c = first; c < first + count && !stopping(); ++c) {
    near.clear();
    const auto add = [&](const int32_t* list) {
      for (int j = 0; j < n_listed; ++j)
        if (place[list[j]] < 0) {
          place[list[j]] = 0;
          near.push_back(list[j]);
        }
    };
    const int32_t* list = lists + size_t(c) * n_listed;
    add(list);
    for (int j = 0; j < n_spread; ++j) add(lists + size_t(list[j]) * n_listed);
    const int n = int(near.size());
    work.scores.resize(size_t(n));
    if (clusters.is_whitened())
      for (int j = 0; j < n; ++j)
        work.scores[j] = whitened_distance(clusters.mean(c), clusters, near[j]) + clusters.penalty[near[j]];
    else
      scores_of(clusters.mean(c), clusters, near.data(), n, work.scores.data());
    ranking.resize(size_t(n));
    for (int j = 0; j < n; ++j) {
      ranking[j] = {work.scores[j], near[j]};
      place[near[j]] = -1;
    }
    std::partial_sort(ranking.begin(), ranking.begin() + wanted, ranking.end());
    for (int j = 0; j < wanted; ++j) out[size_t(c) * wanted + j] = ranking[j].cluster;
    evaluations += n;
  }
  return evaluations;
}

}  // namespace cprime::CPRIME_ISA
