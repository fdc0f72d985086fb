// The operating system, its memory and its load, from the kernel's text files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace precbench {

struct OsFacts {
  std::optional<std::string> name;      // "Debian GNU/Linux 12 (bookworm)"
  std::optional<std::string> kernel;    // "6.1.0-18-amd64"
  std::optional<int64_t> memory_bytes;  // of the machine
  std::optional<double> load_average;   // over the last minute, in runnable tasks
  std::optional<std::string>
      container;  // docker | podman | kubernetes | lxc | kaggle | colab | ...
};

// PRETTY_NAME of /etc/os-release, else NAME and VERSION_ID (os-release(5)).
std::optional<std::string> parse_os_release(std::string_view text);

// MemTotal of /proc/meminfo, in bytes.
std::optional<int64_t> parse_meminfo_total(std::string_view text);

// First figure of /proc/loadavg.
std::optional<double> parse_loadavg(std::string_view text);

// What tells a container from a machine of its own.
struct ContainerSigns {
  bool dockerenv = false;               // /.dockerenv exists
  bool containerenv = false;            // /run/.containerenv exists (podman)
  bool kaggle = false, colab = false;   // KAGGLE_KERNEL_RUN_TYPE, COLAB_RELEASE_TAG are set
  bool kubernetes = false;              // KUBERNETES_SERVICE_HOST is set
  std::optional<std::string> variable;  // $container, which systemd-nspawn, LXC and podman set
  std::string cgroup;                   // text of /proc/1/cgroup
};

// The most telling sign; nothing when there is none, which proves nothing.
std::optional<std::string> container_hint(const ContainerSigns& signs);

OsFacts read_os_facts();

}  // namespace precbench
