// What a device does with a precision mode, known before it runs. Compute capability, CPU flags and
// the kernels that the LibTorch holds decide; names of GPUs never do.
#pragma once

#include "bench/platform/device_facts.h"
#include "bench/result/document.h"
#include "common/modes.h"

namespace precbench {

// native        the type is computed by the hardware; `why` names the unit, or is empty
// no_fast_path  native, but without tensor cores or at a reduced rate; `why` says which
// emulated      computed in another type and converted; `why` says what would be native
// unsupported   cannot run here; `why` says what it needs
// `why` fits on one line. A mode that runs as another (--cpu-fp16 fabric) is asked about as that
// other.
Support verdict(const ModeTraits& mode, const DeviceFacts& device);

}  // namespace precbench
