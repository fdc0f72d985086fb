#include "train/base/threads.h"

#include "train/base/torch.h"

namespace precbench::train {

void use_threads(int64_t threads) {
  at::set_num_threads(static_cast<int>(threads));
  at::ones({4}, at::kDouble).sqrt_();
}

}  // namespace precbench::train
