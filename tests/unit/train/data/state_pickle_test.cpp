#include "train/data/state_pickle.h"

#include <gmock/gmock.h>

namespace precbench::train::state_pickle_test {
namespace {

using namespace std::string_literals;  // literals with zeros in them
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

// What Python's torch.save writes for OrderedDict(w=torch.zeros(2, 3)), operation by operation
// (pickletools).
std::string state_dictionary(const std::string& storage_type = "FloatStorage") {
  std::string pickle =
      "\x80\x02"
      "ccollections\nOrderedDict\nq\0)Rq\x01X\x01\0\0\0wq\x02"s;
  pickle += "ctorch._utils\n_rebuild_tensor_v2\nq\x03((X\x07\0\0\0storageq\x04"s;
  pickle += "ctorch\n" + storage_type;
  pickle +=
      "\nq\x05X\x01\0\0\0"
      "0q\x06X\x03\0\0\0"
      "cpuq\x07K\x06tq\x08QK\0"s;
  pickle += "K\x02K\x03\x86q\tK\x03K\x01\x86q\n\x89h\0)Rq\x0btq\x0cRq\rs."s;
  return pickle;
}

// `operation` many times, as the end of a pickle.
std::string repeated(char operation) {
  std::string pickle = ")";
  pickle.append(100000, operation).append(1, '.');
  return pickle;
}

std::string error_of(std::string_view pickle) {
  try {
    parse_state_pickle(pickle);
  } catch (const StatePickleError& error) {
    return error.what();
  }
  return "";
}

TEST(StatePickle, FindsTheTensorsOfAnOrderedDict) {
  const auto state = parse_state_pickle(state_dictionary());
  ASSERT_THAT(state, SizeIs(1));
  const StoredTensor& tensor = state.at("w");
  EXPECT_EQ(tensor.storage, "0");
  EXPECT_EQ(tensor.dtype, at::kFloat);
  EXPECT_EQ(tensor.offset, 0);
  EXPECT_THAT(tensor.sizes, ElementsAre(2, 3));
  EXPECT_THAT(tensor.strides, ElementsAre(3, 1));
}

TEST(StatePickle, KnowsTheStorageTypes) {
  EXPECT_EQ(parse_state_pickle(state_dictionary("BFloat16Storage")).at("w").dtype, at::kBFloat16);
  EXPECT_THAT(error_of(state_dictionary("ComplexFloatStorage")),
              HasSubstr("torch.ComplexFloatStorage"));
}

TEST(StatePickle, EveryCutIsAnErrorOfItsOwn) {
  const std::string whole = state_dictionary();
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_NE(error_of(std::string_view(whole).substr(0, size)), "") << size;
  }
}

TEST(StatePickle, EveryFlippedByteIsReadOrRefused) {
  for (size_t at = 0; at < state_dictionary().size(); ++at) {
    for (int value = 0; value < 256; ++value) {
      std::string changed = state_dictionary();
      changed[at] = static_cast<char>(value);
      error_of(changed);  // neither crashes nor runs on
    }
  }
}

// pickletools.dis(pickle.dumps({"w": [1.5, b"x"], "v": 258}, protocol=4))
TEST(StatePickle, ReadsFramesAndWhatStandsBesideTensors) {
  const std::string pickle =
      "\x80\x04\x95\x18\0\0\0\0\0\0\0}\x94(\x8c\x01w\x94]\x94(G?\xf8\0\0\0\0\0\0"
      "C\x01x\x94\x65\x8c\x01v\x94M\x02\x01u."s;
  EXPECT_THAT(error_of(pickle), HasSubstr("member 'v' is not a tensor but a number"));
  EXPECT_THAT(parse_state_pickle(pickle, {"another"}), SizeIs(0));
}

// A tensor of so many dimensions, `times` over, from values that are recalled.
std::string tensors_of(size_t dimensions, int times) {
  std::string pickle =
      "\x80\x02"
      "ctorch._utils\n_rebuild_tensor_v2\nq\x03(X\x07\0\0\0storage"s;
  pickle +=
      "ctorch\nFloatStorage\nX\x01\0\0\0"
      "0X\x03\0\0\0"
      "cpuK\x06tQq\x08("s;
  for (size_t i = 0; i < dimensions; ++i) pickle += "K\x01";
  pickle += "tq\x09";
  for (int i = 0; i < times; ++i) pickle += "h\x03(h\x08K\0h\x09h\x09tR0"s;
  return pickle + "}.";
}

TEST(StatePickle, GrowsLittleBeyondItsOwnSize) {
  EXPECT_EQ(error_of(tensors_of(64, 100)), "");
  EXPECT_THAT(error_of(tensors_of(64, 20000)), HasSubstr("16 times its own size"));
  EXPECT_THAT(error_of(tensors_of(65, 1)), HasSubstr("65 dimensions"));
}

TEST(StatePickle, CallsNothingElse) {
  EXPECT_THAT(error_of("\x80\x02"
                       "cos\nsystem\nX\x02\0\0\0ls\x85R."s),
              HasSubstr("it holds a os.system"));
}

TEST(StatePickle, OtherThingsThanADictionaryOfTensorsAreNamed) {
  EXPECT_THAT(error_of("\x80\x02N."s), HasSubstr("does not hold a dictionary"));
  EXPECT_THAT(error_of("\x80\x02}X\x01\0\0\0"
                       "aK\x01s."s),
              HasSubstr("member 'a' is not a tensor"));
  EXPECT_THAT(error_of(repeated(')')), HasSubstr("does not hold a dictionary"));
  EXPECT_THAT(error_of(repeated('\x85')), HasSubstr("nested"));
}

}  // namespace
}  // namespace precbench::train::state_pickle_test
