// Where a job's events go.
#pragma once

#include <functional>

#include "common/event.h"

namespace precbench::train {

using EventSink = std::function<void(const Event&)>;

}  // namespace precbench::train
