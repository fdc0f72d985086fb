// The worker as its coordinator sees it: a job on stdin, events on stdout, an exit code.
#include "train/worker.h"

#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "common/event.h"
#include "support.h"

namespace precbench::train::worker_test {
namespace {

struct Answer {
  std::vector<json> events;
  int exit_code = -1;

  std::string type(size_t i) const { return events.at(i).at("type"); }
};

// Runs worker_main in a child process. The pipes' buffers hold these small jobs and answers.
Answer ask(const std::string& job) {
  int in[2], out[2];
  EXPECT_EQ(pipe(in), 0);
  EXPECT_EQ(pipe(out), 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(in[0], STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    for (const int descriptor : {in[0], in[1], out[0], out[1]}) close(descriptor);
    _exit(worker_main());
  }
  close(in[0]);
  close(out[1]);
  EXPECT_EQ(write(in[1], job.data(), job.size()), static_cast<ssize_t>(job.size()));
  close(in[1]);
  std::string text;
  char block[4096];
  for (ssize_t count = 0; (count = read(out[0], block, sizeof block)) > 0;) {
    text.append(block, static_cast<size_t>(count));
  }
  close(out[0]);
  int status = 0;
  waitpid(child, &status, 0);
  Answer answer;
  if (WIFEXITED(status)) answer.exit_code = WEXITSTATUS(status);
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    answer.events.push_back(json::parse(text.substr(begin, end - begin)));
    if (end == std::string::npos) break;
    begin = end + 1;
  }
  return answer;
}

TEST(Worker, SaysHelloThenWhatItKnows) {
  const Answer answer = ask(R"({"kind": "describe"})");
  EXPECT_EQ(answer.exit_code, 0);
  ASSERT_EQ(answer.events.size(), 2U);
  EXPECT_EQ(answer.type(0), "hello");
  EXPECT_EQ(answer.events[0].at("protocol"), kProtocolVersion);
  const json& facts = answer.events[1].at("facts");
  EXPECT_EQ(facts.at("libtorch").at("version"), answer.events[0].at("libtorch"));
  EXPECT_EQ(facts.at("devices").at(0).at("kind"), "cpu");
}

TEST(Worker, RefusesAJobThatItCannotRead) {
  for (const char* job : {"", "nonsense", "[1]", R"({"kind": "knit"})",
                          R"({"kind": "train", "train": {"batch_size": 0}})"}) {
    const Answer answer = ask(job);
    EXPECT_EQ(answer.exit_code, 2) << job;
    ASSERT_EQ(answer.events.size(), 2U) << job;
    EXPECT_EQ(answer.type(1), "failed") << job;
    EXPECT_EQ(answer.events[1].at("kind"), "error") << job;
  }
}

TEST(Worker, EndsWithExactlyOneResultOrFailure) {
  Job small;
  small.kind = JobKind::train;
  small.train = small_job("32-true");
  const json job = to_json(small);
  const Answer trained = ask(job.dump());
  EXPECT_EQ(trained.exit_code, 0);
  EXPECT_EQ(trained.events.back().at("type"), "result");
  EXPECT_EQ(trained.events.back().at("train").at("run").at("status"), "ok");

  for (const auto& [change, kind] : std::vector<std::pair<json, std::string>>{
           {{{"mode", "tf32"}}, "unsupported"},
           {{{"memory_limit_bytes", 1000}}, "oom"},
           {{{"mode", "17-mixed"}}, "error"},
           {{{"dataset", {{"name", "mnist"}, {"dir", "/nonexistent"}}}}, "input"}}) {
    json changed = job;
    changed["train"].update(change);
    const Answer failed = ask(changed.dump());
    EXPECT_EQ(failed.exit_code, 0) << change;
    EXPECT_EQ(failed.events.back().at("type"), "failed") << change;
    EXPECT_EQ(failed.events.back().at("kind"), kind) << change << failed.events.back();
  }
}

TEST(Worker, AnUnknownDeviceIsNamed) {
  const Answer answer = ask(R"({"kind": "describe", "device": "warp:0"})");
  EXPECT_EQ(answer.type(1), "failed");
  EXPECT_EQ(answer.events[1].at("message"),
            "unknown device 'warp:0'; devices: cpu cuda:N simulated:NAME");
}

TEST(Worker, DoesNotOutliveTheParentThatItWasGiven) {
  const Answer answer = ask(R"({"kind": "describe", "parent_pid": 1})");
  EXPECT_NE(answer.exit_code, 0);
  EXPECT_EQ(answer.events.size(), 1U);  // hello, and no answer for nobody
  EXPECT_EQ(
      ask(R"({"kind": "describe", "parent_pid": )" + std::to_string(getpid()) + "}").exit_code, 0);
}

}  // namespace
}  // namespace precbench::train::worker_test
