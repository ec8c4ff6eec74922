// The door to fits that run whole in compiled code.
#pragma once

#include <nanobind/nanobind.h>

namespace cprime {

void bind_many_fits(nanobind::module_& m);

}  // namespace cprime
