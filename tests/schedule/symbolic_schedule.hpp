#pragma once
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/schedule/schedule.hpp"
#include "tests/support/channel_works.hpp"

namespace lanecast::support {

/// One part of a loop as it travels: whose data it contains, and how often.
struct SymbolicPart {
  std::vector<int> times;  // [position of the contributor]
  int finishes = 0;        // how often the operation after the last combination was applied

  bool operator==(const SymbolicPart&) const = default;
};

SymbolicPart everyones_once(int ranks, int finishes);
SymbolicPart only_of(int position, int ranks);

/// Runs one loop of one channel symbolically: queues without limit in place of FIFOs, contributions in place
/// of data. Parts are those of geometry.hpp; where the data are in blocks, part p is the block of position p.
class SymbolicSchedule {
 public:
  /// @param strands  every strand of the channel, by position: strands_of
  explicit SymbolicSchedule(std::vector<ChannelWork> strands);

  /// What went wrong, empty when nothing did: a strand that is stuck; a message that nobody took, or that was
  /// about another region than the receiver's turn; a region outside of the loop; the input of a part that
  /// the output (which may be the same memory) had been written over, or the output of one that was never
  /// written.
  std::string run();

  /// Parts in the largest buffer of a loop.
  int parts() const { return parts_; }
  /// What the output of the rank at `position` holds; nothing where it was not written.
  std::optional<SymbolicPart> output(int position, int part) const;
  int writes(int position, int part) const;
  int parts_sent(int position) const { return sent_.at(index(position)); }
  int parts_received(int position) const { return received_.at(index(position)); }
  int parts_sent(int from, int to) const;
  /// The longest chain of messages that had to wait for one another.
  int flights() const { return flights_; }

 private:
  struct Message {
    int part = 0;
    int flight = 0;  // flights that end with its arrival
    std::vector<SymbolicPart> values;
  };
  struct Strand {
    ChannelWork work;
    int step = 0;
    int flight = 0;  // flights that its turns so far had to wait for
  };
  struct Written {
    SymbolicPart value;
    int times = 0;
  };

  static std::size_t index(int i) { return static_cast<std::size_t>(i); }
  bool ready(const Strand& strand, const Turn& turn) const;
  void take_turn(Strand& strand, const Turn& turn);
  std::vector<SymbolicPart> own(const Strand& strand, const Turn& turn);
  void receive(Strand& strand, const Turn& turn, std::vector<SymbolicPart>& values);
  void write(int position, const Turn& turn, const std::vector<SymbolicPart>& values);
  void send(const Strand& strand, const Turn& turn, const std::vector<SymbolicPart>& values);
  void complain(const Strand& strand, const std::string& what);

  std::vector<Strand> strands_;
  int ranks_;
  int parts_;
  std::map<std::pair<int, int>, std::deque<Message>> queues_;  // by (sender, receiver)
  std::map<std::pair<int, int>, int> parts_between_;
  std::map<std::pair<int, int>, Written> outputs_;  // by (position, part)
  std::vector<int> sent_;
  std::vector<int> received_;
  int flights_ = 0;
  std::string fault_;
};

/// Every strand of one channel in plain order, so that rank r is position r.
std::vector<ChannelWork> channel_of(const ScheduleShape& shape, Collective collective, int ranks,
                                    int root = 0, bool in_place = false);

/// What a failed test prints.
std::string describe(const ScheduleShape& shape, Collective collective, int ranks);

}  // namespace lanecast::support
