// Which paths can this machine run, and which one does it?
#include <stdexcept>

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

const std::vector<const Path*>& available_paths() {
  static const std::vector<const Path*> paths = detect();
  return paths;
}

std::atomic<const Path*> chosen{nullptr};

}  // namespace

const Path& path() {
  const Path* path = chosen.load();
  return path != nullptr ? *path : *available_paths().front();
}

void use_path(const std::string& name) {
  for (const Path* path : available_paths())
    if (name == path->name) {
      chosen = path;
      return;
    }
  throw std::invalid_argument("this machine has no path " + name);
}

std::vector<std::string> path_names() {
  std::vector<std::string> names;
  for (const Path* path : available_paths()) names.push_back(path->name);
  return names;
}

}  // namespace cprime
