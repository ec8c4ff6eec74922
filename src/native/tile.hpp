// Scores of a tile of rows against panels of clusters: what ranks, never what is reported.
#pragma once

#include "lanes.hpp"

namespace cprime::CPRIME_ISA {

constexpr int MAX_GROUP = 480;  // clusters scored at once

// Clusters lie in panels of D x PANEL values, of which the last may be narrower. A column of a
// panel is those of its clusters, up to VECTORS, that are FLOATS apart.
struct Scores {
  alignas(64) float of_clusters[TILE][MAX_GROUP];
  // The lowest of each column; infinite behind the last, up to a multiple of sixteen.
  alignas(64) float of_columns[TILE][MAX_GROUP / VECTORS];
  // The lowest of each of BINS disjoint sets of clusters.
  alignas(64) float of_sets[TILE][BINS];
};

// How many columns so many clusters have, in sixteens.
constexpr int columns_of(int width) {
  const int columns = (width + PANEL - 1) / PANEL * FLOATS;
  return (columns + SIXTEEN - 1) / SIXTEEN * SIXTEEN;
}

// scores of row r, cluster c = constants[c] + sum_d rows[r * row_stride + d] * panel[c][d],
// for TILE rows and `width` clusters, a multiple of sixteen.
void score_tile(const float* rows, int row_stride, int D, const float* panels,
                const float* constants, int width, Scores& scores);

// The two lowest scores of one row in each of BINS disjoint sets of clusters.
struct LowestTwo {
  alignas(64) float lowest[BINS], second[BINS];
  int32_t vector[BINS];  // the first of the FLOATS clusters among which the lowest is

  // The cluster of the lowest score in a set.
  int cluster(int set) const { return vector[set] + set % FLOATS; }
};

// Takes the same scores into account, without storing them: much faster where they would push
// the panels out of the first cache. The clusters are number `first` and following.
void lowest_two_of_tile(const float* rows, int row_stride, int D, const float* panels,
                        const float* constants, int width, int first, LowestTwo* of_rows);

constexpr int MOST_IN_LANES = 16;  // lowest scores of a row that stay in a lane of as many registers
constexpr int MOST_NAMED = 10;     // up to here it pays to keep their clusters as well
constexpr int NAMES = 12;          // room for those, the next one, and one more
constexpr int LANES_GROUP = 240;   // clusters whose scores of sixteen rows stay in the first cache

// The scores of sixteen rows, one in each lane.
struct LaneScores {
  alignas(64) float of_clusters[LANES_GROUP][SIXTEEN];
};

// Scores sixteen rows, given feature by feature, against `width` clusters, a multiple of sixteen,
// and keeps the `wanted` lowest scores of each row so far, in order. With `clusters`, also the next one, and
// which clusters they are of: at most MOST_NAMED are wanted then.
void score_lanes(const float* columns, int D, const float* panels, const float* constants, int width,
                 int wanted, LaneScores& scores, float (*lowest)[SIXTEEN], int32_t (*clusters)[SIXTEEN]);

constexpr int LISTED_AT_ONCE = 8;

// The same scores of one row and n listed clusters, whose means are rows of `stride`, a multiple of
// sixteen. The list goes on to a multiple of LISTED_AT_ONCE with clusters there are, and so does `out`.
void score_listed(const float* row, const float* means, int stride, const float* constants,
                  const int32_t* listed, int n, float* out);

// Runs multiply-adds on registers alone; returns how many floating point operations.
double multiply_adds(int64_t rounds);

}  // namespace cprime::CPRIME_ISA
