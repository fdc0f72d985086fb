#include "bench/platform/os.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <locale>
#include <sstream>

#include "bench/files/text_file.h"

namespace precbench {
namespace {

// A value of os-release: shell syntax, of which distributions use quotes and backslashes.
std::string unquoted(std::string_view value) {
  if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'') &&
      value.back() == value.front()) {
    value = value.substr(1, value.size() - 2);
  }
  std::string text;
  for (size_t i = 0; i < value.size(); ++i) {
    if (value[i] == '\\' && i + 1 < value.size()) ++i;
    text += value[i];
  }
  return text;
}

std::optional<std::string> variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

bool exists(const char* path) { return access(path, F_OK) == 0; }

ContainerSigns read_container_signs() {
  ContainerSigns signs;
  signs.dockerenv = exists("/.dockerenv");
  signs.containerenv = exists("/run/.containerenv");
  signs.kaggle = variable("KAGGLE_KERNEL_RUN_TYPE").has_value();
  signs.colab = variable("COLAB_RELEASE_TAG").has_value();
  signs.kubernetes = variable("KUBERNETES_SERVICE_HOST").has_value();
  signs.variable = variable("container");
  signs.cgroup = read_text_file("/proc/1/cgroup").value_or("");
  return signs;
}

}  // namespace

std::optional<std::string> parse_os_release(std::string_view text) {
  std::string pretty, name, version;
  for (const std::string_view line : lines_of(text)) {
    const size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view key = trimmed(line.substr(0, equals));
    const std::string value = unquoted(trimmed(line.substr(equals + 1)));
    if (key == "PRETTY_NAME") pretty = value;
    if (key == "NAME") name = value;
    if (key == "VERSION_ID") version = value;
  }
  if (!pretty.empty()) return pretty;
  if (name.empty()) return std::nullopt;
  return version.empty() ? name : name + " " + version;
}

std::optional<int64_t> parse_meminfo_total(std::string_view text) {
  for (const std::string_view line : lines_of(text)) {
    const auto words = words_of(line);
    if (words.size() != 3 || words[0] != "MemTotal:" || words[2] != "kB") continue;
    const auto kibibytes = whole_number(words[1]);  // the kernel's "kB" is 1024 bytes
    if (kibibytes && *kibibytes > 0 && *kibibytes < (int64_t{1} << 50)) return *kibibytes * 1024;
  }
  return std::nullopt;
}

std::optional<double> parse_loadavg(std::string_view text) {
  std::istringstream stream{std::string(text)};
  stream.imbue(std::locale::classic());
  double load = 0;
  if (!(stream >> load) || !std::isfinite(load) || load < 0) return std::nullopt;
  return load;
}

std::optional<std::string> container_hint(const ContainerSigns& signs) {
  if (signs.kaggle) return "kaggle";
  if (signs.colab) return "colab";
  const auto in_cgroup = [&](const char* word) {
    return signs.cgroup.find(word) != std::string::npos;
  };
  if (signs.kubernetes || in_cgroup("kubepods")) return "kubernetes";
  if (signs.containerenv || in_cgroup("libpod")) return "podman";
  if (signs.dockerenv || in_cgroup("/docker")) return "docker";
  if (in_cgroup("/lxc")) return "lxc";
  return signs.variable;
}

OsFacts read_os_facts() {
  OsFacts facts;
  auto release = read_text_file("/etc/os-release");
  if (!release) release = read_text_file("/usr/lib/os-release");
  facts.name = parse_os_release(release.value_or(""));
  utsname system{};
  if (uname(&system) == 0) facts.kernel = system.release;
  facts.memory_bytes = parse_meminfo_total(read_text_file("/proc/meminfo").value_or(""));
  facts.load_average = parse_loadavg(read_text_file("/proc/loadavg").value_or(""));
  facts.container = container_hint(read_container_signs());
  return facts;
}

}  // namespace precbench
