#include "hw/rendezvous/shared_memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "hw/rendezvous/message_channel.hpp"
#include "model/error.hpp"

namespace lanecast {
namespace {

TEST(SharedMemory, IsZeroAndTheSameInEachMapping) {
  const SharedMemory memory = SharedMemory::create(10'000, "the test");
  auto* bytes = static_cast<char*>(memory.data());
  EXPECT_TRUE(std::all_of(bytes, bytes + 10'000, [](char byte) { return byte == 0; }));
  const SharedMemory other = SharedMemory::open(duplicate(memory.descriptor()), 10'000, "the test");
  EXPECT_NE(other.data(), memory.data());
  bytes[9'999] = 'x';
  EXPECT_EQ(static_cast<char*>(other.data())[9'999], 'x');
}

TEST(SharedMemory, OutlivesItsFile) {
  SharedMemory memory = SharedMemory::create(1, "the test");
  memory.close_file();
  EXPECT_EQ(memory.descriptor(), -1);
  *static_cast<char*>(memory.data()) = 'x';
  const SharedMemory moved = std::move(memory);
  EXPECT_EQ(*static_cast<char*>(moved.data()), 'x');
}

TEST(SharedMemory, OfAFileThatIsTooSmallIsRefused) {
  const SharedMemory memory = SharedMemory::create(100, "the test");
  try {
    SharedMemory::open(duplicate(memory.descriptor()), 101, "the test");
    FAIL() << "it was mapped";
  } catch (const Error& error) {
    EXPECT_EQ(
        std::string(error.what()).rfind("no shared memory for the test: the other rank's has 100 B\n", 0), 0U)
        << error.what();
  }
}

TEST(SharedMemory, ThatTheMachineDoesNotHaveIsAnError) {
  EXPECT_THROW(SharedMemory::create(std::size_t(1) << 63U, "the test"), Error);
}

}  // namespace
}  // namespace lanecast
