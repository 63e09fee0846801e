#include "hw/rendezvous/status_board.hpp"

#include <new>
#include <utility>

#include "hw/rendezvous/call_text.hpp"
#include "hw/rendezvous/shared_memory.hpp"

namespace lanecast {

StatusBoard::StatusBoard(Exchange& exchange) : rank_(exchange.rank()) {
  SharedMemory own = SharedMemory::create(kPageBytes, "the status page");
  new (own.data()) StatusPage();
  std::vector<OwnedFile> files = exchange.all_gather_files(own.descriptor(), "status pages");
  std::vector<SharedMemory> memories;
  for (OwnedFile& file : files) {
    memories.push_back(SharedMemory::open(std::move(file), kPageBytes, "the status page"));
  }
  for (SharedMemory& memory : memories) {
    pages_.push_back(std::launder(static_cast<StatusPage*>(memory.release())));
  }
}

StatusBoard::~StatusBoard() {
  for (StatusPage* page : pages_) SharedMemory::unmap(page, kPageBytes);
}

std::uint64_t StatusBoard::enter(CallEntry call) {
  StatusPage& page = own();
  call.number = page.calls.load(std::memory_order_relaxed) + 1;
  publish(page.entries[call.number % StatusPage::kEntries], call);
  page.calls.store(call.number, std::memory_order_release);
  return call.number;
}

void StatusBoard::abort_all() {
  for (StatusPage* page : pages_) page->abort.store(1, std::memory_order_release);
}

}  // namespace lanecast
