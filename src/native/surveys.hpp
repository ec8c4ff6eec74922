// The door to what a fit asks of all rows before it begins.
#pragma once

#include <nanobind/nanobind.h>

namespace cprime {

void bind_surveys(nanobind::module_& m);

}  // namespace cprime
