#include "targets.h"

#include <algorithm>
#include <stdexcept>

#include "bench/plan/config_file.h"
#include "bench/platform/contention.h"
#include "bench/platform/cpu.h"
#include "bench/platform/os.h"
#include "bench/result/document.h"
#include "bench/worker/event_stream.h"
#include "common/errors.h"
#include "common/job.h"
#include "common/json_input.h"
#include "common/version.h"
#include "data/cifar.h"
#include "data/idx.h"
#include "data/text.h"
#include "input_file.h"
#include "samples.h"

namespace precbench::fuzz {
namespace {

void promise(bool kept, const char* what) {
  if (!kept) throw std::logic_error(std::string("broken promise: ") + what);
}

// Runs `read` on the bytes as a file; true unless it refuses them as `Refusal`, naming the file.
template <typename Refusal, typename Read>
bool accepts_file(std::string_view bytes, Read read) {
  const InputFile input(bytes);
  try {
    read(input.path());
    return true;
  } catch (const Refusal& refusal) {
    promise(std::string_view(refusal.what()).find(input.path()) != std::string_view::npos,
            "the message names the file");
    return false;
  }
}

void check_images(const data::ImageSet& set, int64_t classes) {
  promise(set.count > 0 && set.channels > 0 && set.height > 0 && set.width > 0, "sizes above 0");
  const auto pixels = static_cast<size_t>(set.count * set.channels * set.height * set.width);
  promise(set.pixels.size() == pixels, "as many pixels as the sizes say");
  promise(set.labels.size() == static_cast<size_t>(set.count), "one label per image");
  promise(*std::max_element(set.labels.begin(), set.labels.end()) < classes, "labels in range");
}

bool read_images(std::string_view bytes) {
  const InputFile labels(sample_idx_labels());
  return accepts_file<FileError>(bytes, [&](const std::string& path) {
    check_images(data::read_idx(path, labels.path(), 10), 10);
  });
}

bool read_labels(std::string_view bytes) {
  const InputFile images(sample_idx_images());
  return accepts_file<FileError>(bytes, [&](const std::string& path) {
    check_images(data::read_idx(images.path(), path, 10), 10);
  });
}

bool read_cifar_archive(std::string_view bytes) {
  return accepts_file<FileError>(bytes, [](const std::string& path) {
    const data::CifarSplits splits = data::read_cifar(*data::find_cifar("cifar10"), path);
    check_images(splits.train, 10);
    check_images(splits.test, 10);
  });
}

bool read_text_file(std::string_view bytes) {
  constexpr int64_t kContext = 8;
  return accepts_file<FileError>(bytes, [](const std::string& path) {
    const data::TextSet text = data::read_text(path, kContext);
    promise(text.test.size() > kContext && text.train.size() > kContext, "a sequence in each part");
  });
}

// A result that loads can be written, and what is written loads.
bool read_result(std::string_view bytes) {
  return accepts_file<FileError>(bytes, [](const std::string& path) {
    const std::string text = to_json(load_result(path)).dump();
    const InputFile again(text);
    promise(to_json(load_result(again.path())).dump() == text, "the same when read again");
  });
}

bool read_config(std::string_view bytes) {
  return accepts_file<UsageError>(bytes, [](const std::string& path) { load_config(path); });
}

bool read_job(std::string_view bytes) {
  json document;
  try {
    document = json_from_text(bytes);
  } catch (const JsonLimitError&) {
    return false;
  } catch (const json::exception&) {  // not JSON, or a number beyond double
    return false;
  }
  try {
    const Job job = job_from_json(document);
    promise(to_json(job_from_json(to_json(job))) == to_json(job), "the same when read again");
    return true;
  } catch (const JsonFieldError&) {
    return false;
  }
}

// In pieces as a pipe gives them; never an exception, whatever a worker writes.
bool read_events(std::string_view bytes) {
  EventStream stream([](const Event&) {});
  constexpr size_t kPieceBytes = 7;
  for (size_t i = 0; i < bytes.size(); i += kPieceBytes) stream.feed(bytes.substr(i, kPieceBytes));
  stream.end();
  return stream.finished() && !stream.fault();
}

bool read_kernel_texts(std::string_view bytes) {
  CpuFacts facts = parse_cpuinfo(bytes);
  parse_os_release(bytes);
  parse_meminfo_total(bytes);
  parse_loadavg(bytes);
  parse_proc_stat(bytes, 100);
  return facts.flags_known;
}

std::string line(const Event& event) { return to_json(event).dump() + "\n"; }

std::string hello() {
  return line(HelloEvent{kProtocolVersion, tool_version(), std::nullopt, "2.11.0"});
}

std::string small_result() {
  ResultDocument document;
  ModeRecord mode;
  mode.mode = mode.effective_mode = "16-mixed";
  mode.support = Support{SupportLevel::emulated, "native from Volta, 7.0"};
  mode.pilot.emplace();
  mode.pilot->steps = 3;
  mode.pilot->projected_s = 1.5;
  mode.pilot->peak_allocated_bytes = 1 << 20;
  mode.marks = {{"n=1", "one run"}};
  RunRecord run;
  run.seed = 42;
  run.test_accuracy = 0.5;
  run.time.total_s = 1.25;
  run.scaler = ScalerRecord{65536, 32768, 1};
  run.loss_trace = {2.3, std::nullopt, 1.0};
  run.epochs.emplace_back();
  mode.runs = {run, run};
  document.modes = {mode, mode};
  document.modes[1].mode = document.modes[1].effective_mode = document.reference = "32-true";
  return to_json(document).dump();
}

}  // namespace

const std::vector<Target>& targets() {
  using Inputs = std::vector<std::string>;
  static const std::vector<Target> all = {
      {"idx_images",
       [] {
         return Inputs{sample_idx_images(), gzipped(sample_idx_images())};
       },
       read_images},
      {"idx_labels",
       [] {
         return Inputs{sample_idx_labels(), gzipped(sample_idx_labels())};
       },
       read_labels},
      {"cifar",
       [] {
         return Inputs{sample_cifar_tar(), gzipped(sample_cifar_tar())};
       },
       read_cifar_archive},
      {"text",
       [] {
         return Inputs{std::string(100, 'x'), gzipped(std::string(100, 'x'))};
       },
       read_text_file},
      {"result", [] { return Inputs{small_result()}; }, read_result},
      {"config",
       [] {
         return Inputs{R"({"about": "x", "model": "cnn", "batch_size": 64, "lr": 0.05, "modes": )"
                       R"("16-mixed,32-true"})"};
       },
       read_config},
      {"job", [] { return Inputs{to_json(Job{}).dump()}; }, read_job},
      {"events",
       [] {
         return Inputs{hello() + line(PhaseEvent{"train"}) + line(StepsEvent{1, 1, 2, 3, 0.5}) +
                           line(EpochEvent{}) + line(ResultEvent{json::object(), TrainResult{}}),
                       hello() + line(FailedEvent{})};
       },
       read_events},
      {"kernel_texts",
       [] {
         return Inputs{
             "processor\t: 0\nmodel name\t: AMD EPYC\nphysical id\t: 0\ncore id\t: 0\n"
             "flags\t\t: fpu avx2 avx512f avx512_bf16\n",
             "processor\t: 0\nFeatures\t: fp asimd fphp asimdhp bf16\nCPU implementer\t: "
             "0x41\nCPU part\t: 0xd40\n",
             "cpu  10 20 30 40 50 60 70 80 90 100\ncpu0 1 2 3 4\n",
             "PRETTY_NAME=\"Debian GNU/Linux 12\"\nNAME='Debian'\n",
             "MemTotal:       16384 kB\n",
             "0.50 0.40 0.30 1/100 1234\n"};
       },
       read_kernel_texts},
  };
  return all;
}

}  // namespace precbench::fuzz
