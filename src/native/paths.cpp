// Which paths can this machine run?
#include "path.hpp"

namespace cprime {

#if defined(CPRIME_HAS_AVX512)
namespace avx512 { extern const Path path; }
#endif
#if defined(CPRIME_HAS_AVX2)
namespace avx2 { extern const Path path; }
#endif
namespace baseline { extern const Path path; }

namespace {

std::vector<const Path*> detect() {
  std::vector<const Path*> paths;
#if defined(CPRIME_HAS_AVX512) || defined(CPRIME_HAS_AVX2)
  __builtin_cpu_init();
#endif
#if defined(CPRIME_HAS_AVX512)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
    paths.push_back(&avx512::path);
#endif
#if defined(CPRIME_HAS_AVX2)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    paths.push_back(&avx2::path);
#endif
  paths.push_back(&baseline::path);
  return paths;
}

}  // namespace

const std::vector<const Path*>& available_paths() {
  static const std::vector<const Path*> paths = detect();
  return paths;
}

}  // namespace cprime
