#include <gtest/gtest.h>

#include "bench/worker/event_stream.h"
#include "common/version.h"

namespace precbench::worker_event_stream_test {
namespace {

std::string hello() {
  return R"({"type":"hello","protocol":1,"version":")" + tool_version() +
         R"(","git_sha":null,"libtorch":"2.11.0"})" + "\n";
}

struct Fed {
  std::vector<Event> events;
  EventStream stream{[this](const Event& event) { events.push_back(event); }};
};

TEST(EventStream, EventsMayArriveInAnyPieces) {
  Fed fed;
  const std::string text = hello() + R"({"type":"phase","name":"train"})" + "\n";
  for (const char byte : text) fed.stream.feed(std::string_view(&byte, 1));
  ASSERT_EQ(fed.events.size(), 2U);
  EXPECT_EQ(std::get<PhaseEvent>(fed.events[1]).name, "train");
  EXPECT_FALSE(fed.stream.fault());
}

TEST(EventStream, AWorkerOfAnotherVersionIsRefusedWithBothNamed) {
  Fed fed;
  fed.stream.feed(R"({"type":"hello","protocol":1,"version":"9.9.9","libtorch":"2.11.0"})"
                  "\n");
  ASSERT_TRUE(fed.stream.refused());
  EXPECT_NE(fed.stream.fault()->find("9.9.9"), std::string::npos);
  EXPECT_NE(fed.stream.fault()->find(tool_version()), std::string::npos);
  EXPECT_TRUE(fed.events.empty());
}

TEST(EventStream, AnotherProtocolIsRefused) {
  Fed fed;
  fed.stream.feed(R"({"type":"hello","protocol":2,"version":")" + tool_version() + "\"}\n");
  EXPECT_TRUE(fed.stream.refused());
}

TEST(EventStream, GarbageIsQuotedWithoutItsEscapeSequences) {
  Fed fed;
  fed.stream.feed(hello() + "\x1b[2Jboom\n");
  ASSERT_TRUE(fed.stream.fault());
  EXPECT_NE(fed.stream.fault()->find("'?[2Jboom'"), std::string::npos) << *fed.stream.fault();
}

TEST(EventStream, HelloMustComeFirst) {
  Fed fed;
  fed.stream.feed(R"({"type":"phase","name":"train"})"
                  "\n");
  ASSERT_TRUE(fed.stream.fault());
  EXPECT_NE(fed.stream.fault()->find("hello"), std::string::npos);
}

TEST(EventStream, HalfALineAtTheEndIsAFault) {
  Fed fed;
  fed.stream.feed(hello() + R"({"type":"res)");
  fed.stream.end();
  ASSERT_TRUE(fed.stream.fault());
  EXPECT_NE(fed.stream.fault()->find("middle of an event"), std::string::npos);
}

TEST(EventStream, NothingAfterTheResultMatters) {
  Fed fed;
  fed.stream.feed(hello() + R"({"type":"failed","kind":"oom","message":"no memory"})"
                            "\ngarbage\n{\"half");
  fed.stream.end();
  EXPECT_FALSE(fed.stream.fault());
  ASSERT_TRUE(fed.stream.failed());
  EXPECT_EQ(fed.stream.failed()->kind, FailureKind::oom);
}

TEST(EventStream, AMalformedEventNamesTheMember) {
  Fed fed;
  fed.stream.feed(hello() + R"({"type":"steps","epoch":"one","epochs":1,"step":1,"steps":4})"
                            "\n");
  ASSERT_TRUE(fed.stream.fault());
  EXPECT_NE(fed.stream.fault()->find("epoch must be a whole number, not string"), std::string::npos)
      << *fed.stream.fault();
}

TEST(EventStream, AnAccuracyOverOneIsRefused) {
  Fed fed;
  fed.stream.feed(hello() + R"({"type":"epoch","epoch":1,"test_accuracy":47.5})"
                            "\n");
  ASSERT_TRUE(fed.stream.fault());
  EXPECT_NE(fed.stream.fault()->find("fraction between 0 and 1"), std::string::npos);
}

}  // namespace
}  // namespace precbench::worker_event_stream_test
