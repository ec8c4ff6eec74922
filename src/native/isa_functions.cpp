// The functions of one instruction set, as the rest of the code finds them.
#include "isa.hpp"
#include "load.hpp"
#include "tile.hpp"

namespace cprime::CPRIME_ISA {

namespace {

void load(const Rows& rows, int64_t row, double* out) { load_row(rows, row, out, padded(rows.D)); }

}  // namespace

std::shared_ptr<void> make_scratch();
void pack(Clusters&);
void pack_panels(const Clusters&, const int32_t* which, int n, Panels&);
void pack_columns(Clusters&);
void pack_centred(const Clusters&, Centred&);
void pack_neighbours(const Clusters&, int n_anchors, Neighbours&);
void score_neighbours(const Clusters&, const double* anchors, int first, int count, Neighbours&, void* scratch);
void pack_screen(Clusters&);
double nearest_of(const Clusters&, int c, const int32_t* others, int n);
void sweep_leaf(const Sweep&, int64_t first, int count, Sums&, void* scratch);
void pack_mean_rows(const Clusters&, MeanRows&);
int64_t search_partly(const Sweep&, const Partial&, int64_t begin, int64_t end, void* scratch);
int64_t list_clusters(const Clusters&, const int32_t* lists, int n_listed, int n_spread, int wanted, int first,
                      int count, int32_t* out, void* scratch);
void closest(const Rows&, const Clusters&, int C_prime, int64_t first, int count, int32_t* K,
             double* distances, void* scratch);
void nearer(const Rows&, const Clusters&, const Neighbours*, int32_t number, int64_t first, int count, double* nearest,
            int32_t* owner, void* scratch);
void gaps(const Rows&, const Clusters&, const Centred&, const int32_t* K, int C_prime, double sharpness,
          int64_t first, int count, double* gaps, void* scratch);
void distances_of(const Rows&, const Clusters&, int64_t first, int count, double* out,
                  void* scratch);

void log_sums(const double* table, int n_columns, int64_t first, int count, double* out);
double magnitude(const void* values, bool is_double, int64_t first, int64_t count);

extern const Isa isa;
const Isa isa = {
    CPRIME_NAME,     make_scratch,     load,
    pack,            pack_panels,      pack_columns,
    pack_centred,    pack_neighbours,  score_neighbours,
    pack_screen,     nearest_of,       sweep_leaf,
    pack_mean_rows,  search_partly,    list_clusters,
    closest,         nearer,           gaps,
    distances_of,    set_trials,       try_trials,
    accept_trial,    list_followers,   log_sums,
    magnitude,       multiply_adds,
};

}  // namespace cprime::CPRIME_ISA
