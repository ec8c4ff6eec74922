// Scores of a tile of rows against panels of clusters: what ranks, never what is reported.
#pragma once

#include "lanes.hpp"

namespace cprime::CPRIME_PATH {

// scores[r * stride + c] = constants[c] + sum_d rows[r * row_stride + d] * panel[c][d]
//
// There are TILE rows and `width` clusters, a multiple of FLOATS. They lie in panels of
// D x PANEL values, of which the last may be narrower. bins[r * BINS + b] becomes the
// lowest score of row r in the b-th of BINS disjoint sets of clusters.
void score_tile(const float* rows, int row_stride, int D, const float* panels,
                const float* constants, int width, float* scores, int stride, float* bins);

// Runs multiply-adds on registers alone; returns how many floating point operations.
double multiply_adds(int64_t rounds);

}  // namespace cprime::CPRIME_PATH
