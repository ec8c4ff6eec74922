// Which vector units does this machine have, and which one is used?
#include <stdexcept>

#include "isa.hpp"

namespace cprime {

#if defined(CPRIME_HAS_AVX512)
namespace avx512vnni { extern const Isa isa; }
namespace avx512 { extern const Isa isa; }
#endif
#if defined(CPRIME_HAS_AVX2)
namespace avx2 { extern const Isa isa; }
#endif
namespace baseline { extern const Isa isa; }

namespace {

std::vector<const Isa*> detect() {
  std::vector<const Isa*> isas;
#if defined(CPRIME_HAS_AVX512) || defined(CPRIME_HAS_AVX2)
  __builtin_cpu_init();
#endif
#if defined(CPRIME_HAS_AVX512)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) {
    if (__builtin_cpu_supports("avx512vnni")) isas.push_back(&avx512vnni::isa);
    isas.push_back(&avx512::isa);
  }
#endif
#if defined(CPRIME_HAS_AVX2)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    isas.push_back(&avx2::isa);
#endif
  isas.push_back(&baseline::isa);
  return isas;
}

const std::vector<const Isa*>& available_isas() {
  static const std::vector<const Isa*> isas = detect();
  return isas;
}

std::atomic<const Isa*> chosen{nullptr};

}  // namespace

const Isa& isa() {
  const Isa* isa = chosen.load();
  return isa != nullptr ? *isa : *available_isas().front();
}

void use_isa(const std::string& name) {
  for (const Isa* isa : available_isas())
    if (name == isa->name) {
      chosen = isa;
      return;
    }
  throw std::invalid_argument("this machine has no vector unit " + name);
}

std::vector<std::string> isa_names() {
  std::vector<std::string> names;
  for (const Isa* isa : available_isas()) names.push_back(isa->name);
  return names;
}

}  // namespace cprime
